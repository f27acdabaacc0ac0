package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"poise/internal/golden"
	"poise/internal/walks"
)

// These tests start the program that people start, and use it as they do.

var built struct {
	once sync.Once
	path string
	err  error
}

// programVariable names the program that another process of the tests has built.
const programVariable = "POISE_TEST_PROGRAM"

// binary builds poise, once for all tests.
func binary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(programVariable); path != "" {
		return path
	}
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "poise-test-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "poise")
		if out, err := exec.Command("go", "build", "-o", built.path, ".").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func TestMain(m *testing.M) {
	if address := os.Getenv(readersVariable); address != "" {
		os.Exit(readers(address))
	}
	if os.Getenv(crashVariable) != "" {
		crashNow()
	}
	if os.Getenv(wiredVariable) != "" {
		os.Exit(wired())
	}
	state, err := os.MkdirTemp("", "poise-test-state-")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_STATE_HOME", state)
	completePatience = time.Minute
	code := m.Run()
	os.RemoveAll(state)
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

// running is a server under test.
type running struct {
	t       *testing.T
	path    string
	cmd     *exec.Cmd
	address string
	banner  string
	log     *lockedBuffer
	ended   chan error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// hang is how long a program may take before it is taken for one that hangs.
const hang = 5 * time.Minute

// unhurried is the configuration of a server that takes no offence when a busy machine
// stops its cycle for a while, or an external controller.
const unhurried = "loop: {silence: 600, remote_timeout: 10, lease: 60}\nfaults: {cycle_gap: {severity: ignore}}\n"

func unhurriedFile(t *testing.T) string {
	t.Helper()
	return writtenFile(t, unhurried)
}

// writtenFile writes a configuration.
func writtenFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "poise.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// needsProgram skips a test of the built program in short runs: it is not built for them. They
// are for the race detector, which sees this process alone.
func needsProgram(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("absent with -short: the built program")
	}
}

// serveIt starts a server on a free port and waits for its banner.
func serveIt(t *testing.T, args ...string) *running {
	t.Helper()
	needsProgram(t)
	if !slices.Contains(args, "--config") {
		args = append([]string{"--config", unhurriedFile(t)}, args...)
	}
	return serveThrough(t, nil, nil, args...)
}

// serveThrough starts a server by another program, if one is given, and with a log that is
// not r.log, if one is given.
func serveThrough(t *testing.T, through []string, log *os.File, args ...string) *running {
	t.Helper()
	needsProgram(t)
	line := append(slices.Clone(through), binary(t), "serve", "--listen", "127.0.0.1:0", "--motions", t.TempDir())
	line = append(line, args...)
	return begin(t, exec.Command(line[0], line[1:]...), log)
}

// serveBy starts a server by a program that is not the one that people start, with more
// variables.
func serveBy(t *testing.T, program string, variables []string, args ...string) *running {
	t.Helper()
	cmd := exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--motions", t.TempDir()}, args...)...)
	cmd.Env = append(os.Environ(), variables...)
	return begin(t, cmd, nil)
}

// begin starts a server and waits for its banner.
func begin(t *testing.T, cmd *exec.Cmd, log *os.File) *running {
	t.Helper()
	r := &running{t: t, path: binary(t), cmd: cmd, log: &lockedBuffer{}, ended: make(chan error, 1)}
	if r.cmd.Stderr = r.log; log != nil {
		r.cmd.Stderr = log
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.stop(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("log:\n%s", r.log)
		}
	})
	lines := bufio.NewReader(out)
	for !strings.Contains(r.banner, "Ctrl-C stops") {
		line, err := lines.ReadString('\n')
		if r.banner += line; err != nil {
			t.Fatalf("no banner: %v\n%s%s", err, r.banner, r.log)
		}
		if _, rest, ok := strings.Cut(line, "http://"); ok && r.address == "" { // a ROS 1 master stands below
			r.address, _, _ = strings.Cut(rest, " ")
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		r.ended <- r.cmd.Wait()
	}()
	return r
}

// stop ends the server by a signal. That it takes no longer than 3 s is proven in
// stepped time, by package server.
func (r *running) stop(s os.Signal) {
	_ = r.cmd.Process.Signal(s) // it may be over already
	select {
	case err := <-r.ended:
		r.ended <- err
		if err != nil {
			r.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(hang):
		_ = r.cmd.Process.Kill()
		r.ended <- <-r.ended
		r.t.Error("the server does not end")
	}
}

// cli runs a command of the program against the server. One that could not connect in
// time has done nothing, and is run again: the machine is busy.
func (r *running) cli(args ...string) (out, errs string, code int) {
	r.t.Helper()
	for end := time.Now().Add(hang); ; {
		cmd := exec.Command(r.path, append(args, "--server", r.address)...)
		var o, e bytes.Buffer
		cmd.Stdout, cmd.Stderr = &o, &e
		err := cmd.Run()
		if _, exited := err.(*exec.ExitError); err != nil && !exited {
			r.t.Fatal(err)
		}
		late := strings.Contains(e.String(), "no Poise server") && strings.Contains(e.String(), "did not answer within")
		if !late || time.Now().After(end) {
			return o.String(), e.String(), cmd.ProcessState.ExitCode()
		}
	}
}

// until looks again and again until something is so.
func (r *running) until(what string, so func() bool) {
	r.t.Helper()
	for end := time.Now().Add(hang); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("still waiting until %s", what)
		}
	}
}

// do wants a command to do what it is asked, and to say something.
func (r *running) do(want string, args ...string) string {
	r.t.Helper()
	out, errs, code := r.cli(args...)
	if code != exitOK || !strings.Contains(out, want) {
		r.t.Fatalf("poise %s: code %d, %q, %q; want %q", strings.Join(args, " "), code, out, errs, want)
	}
	return out
}

// fails wants a command to be refused, and why on standard error.
func (r *running) fails(code int, why string, args ...string) {
	r.t.Helper()
	out, errs, got := r.cli(args...)
	if got != code || !strings.Contains(errs, why) || !strings.HasPrefix(errs, "poise: "+args[0]) {
		r.t.Errorf("poise %s: code %d, %q, %q; want code %d and %q", strings.Join(args, " "), got, out, errs, code, why)
	}
}

func TestServeAndItsClientsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	r := serveIt(t, "--with-real-sim")
	for _, want := range []string{"pony", "http://127.0.0.1:", "ws://127.0.0.1:", "simulated", "real time"} {
		if !strings.Contains(r.banner, want) {
			t.Errorf("the banner does not say %q:\n%s", want, r.banner)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/"} {
		res, err := http.Get("http://" + r.address + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s answers %s", path, res.Status)
		}
	}
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.do("nod: done", "play", "nod", "--robot", "real", "--speed", "200")
	if lines := strings.Split(strings.TrimSpace(r.do(`"status":4`, "play", "nod", "--speed", "200", "--json")), "\n"); len(lines) < 2 || !json.Valid([]byte(lines[0])) {
		t.Errorf("play --json says %q", lines)
	}
	r.fails(exitFailure, "nod", "play", "nodd")
	r.do("power enabled", "state")
	r.do(`"power":"enabled"`, "state", "--json")
	r.do("trajectory", "controllers")
	r.do("50 %", "speed", "50")
	r.do("100 %", "speed", "100%")
	r.fails(exitFailure, "300", "speed", "30000")
	r.fails(exitUsage, "percent", "speed", "fast")
	r.do("done", "pause")
	r.do("speed 0 %", "state")
	r.fails(exitFailure, "paused on the way", "walk", "--x", "0.05", "--for", "0.3")
	r.do("done", "resume")
	r.do("done", "switch", "--stop", "pose")
	r.do("done", "switch", "--start", "pose")
	r.fails(exitFailure, "poze", "switch", "--start", "poze")
	r.fails(exitUsage, "neither", "switch")
	r.do("it stands; it came 0.", "walk", "--x", "0.05", "--gait", "crawl", "--for", "0.5")
	var walk struct {
		Success           bool
		Distance, Seconds float64
		Slower            []struct{ Value, Limit float64 }
	}
	if out := r.do("asked for 1000 m/s, it walks at", "walk", "--x", "1000", "--gait", "trot", "--for", "4", "--json"); json.Unmarshal([]byte(out), &walk) != nil ||
		!walk.Success || !(walk.Seconds > 4) || !(walk.Distance > 0) || len(walk.Slower) != 1 || walk.Slower[0].Limit != 1000 || !(walk.Slower[0].Value > 0.05) {
		t.Errorf("walk --json says %q", out)
	}
	r.fails(exitUsage, "crawl", "walk", "--gait", "craw")
	r.fails(exitUsage, "--for is -1: a time is above 0", "walk", "--for", "-1")
	r.fails(exitUsage, "--for is 0: a time is above 0; without --for it walks until Ctrl-C", "walk", "--for", "0")
	r.fails(exitUsage, "--for is 1e+300: a time is at most 1e+09 s", "walk", "--for", "1e300") // which is less than nothing in nanoseconds
	r.fails(exitUsage, "--yaw is NaN, which is no speed", "walk", "--yaw", "nan")
	r.fails(exitUsage, "there are crawl, amble, trot, in_place", "walk", "--gait", "gallop-like-the-wind")
	r.fails(exitFailure, "get-up", "get-up")
	r.fails(exitUsage, "left, right and belly", "get-up", "lefft")
	r.do("/joint_states", "topic", "list")
	if out := r.do("joint11", "topic", "echo", "/joint_states", "--count", "2", "--json"); strings.Count(out, "\n") != 2 {
		t.Errorf("topic echo --count 2 says %q", out)
	}
	r.do(`"version"`, "call", "motions/get", `{"name":"nod"}`)
	r.fails(exitFailure, "no_such_service", "call", "no_such_service")
	r.fails(exitUsage, "JSON", "call", "motions/get", "{name")
	r.do("stands after", "stop", "1")
	r.fails(exitFailure, "reset", "play", "nod")
	r.do("set_torque", "reset")
	r.fails(exitFailure, "set_torque", "play", "nod")
	r.do("done", "torque", "on")
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.fails(exitUsage, `"3" was taken as 2`, "stop", "3")
	r.fails(exitFailure, "reset", "play", "nod") // it has stopped all the same
	r.stop(syscall.SIGTERM)
	if _, errs, code := r.cli("state"); code != exitFailure || !strings.Contains(errs, "poise serve") {
		t.Errorf("without a server: code %d, %q", code, errs)
	}
}

// TestAFlightOfTheServerReplays: what serve --record wrote while people played, stopped
// and placed comes out the same, tick by tick and bit by bit.
func TestAFlightOfTheServerReplays(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flight.rec")
	r := serveIt(t, "--record", file, "--period", "0.002")
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.do("success", "call", "joints_virtual_set", `{"joints":{"name":["joint52"],"position":[0.1]}}`)
	r.do("crouched: done", "pose", "crouched")
	r.do("stands after", "stop")
	r.do("done", "reset")
	r.stop(syscall.SIGTERM)
	var out, errs bytes.Buffer
	if code := run(&env{out: &out, err: &errs}, []string{"replay", file, "--json"}); code != exitOK {
		t.Fatalf("code %d, %s %s", code, out.String(), errs.String())
	}
	t.Logf("%s", out.String())
}

// TestInterruptedClientCallsItsGoalOff: Ctrl-C at poise play ramps down, and the server
// goes on.
func TestInterruptedClientCallsItsGoalOff(t *testing.T) {
	t.Parallel()
	r := serveIt(t)
	cmd := exec.Command(r.path, "play", "wag_tail", "--loop", "--server", r.address)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.until("the motion begins", func() bool { return strings.Contains(r.do("power", "state"), "moving") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code is looked at
	if cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(errs.String(), "cancelled") {
		t.Errorf("code %d, %q", cmd.ProcessState.ExitCode(), errs.String())
	}
	if out := r.do("power enabled", "state"); strings.Contains(out, "goal") {
		t.Errorf("a goal is left: %s", out)
	}
	r.until("the audit tells how it ended", func() bool {
		return strings.Contains(r.log.String(), `result="preempted: its client called it off"`)
	})
}

func TestPlanAndExecuteOnTheCommandLine(t *testing.T) {
	t.Parallel()
	r := serveIt(t, "--robot", "arm6")
	file := filepath.Join(golden.Root(t), "examples/plan/lin_half_speed.yaml")
	r.do("LIN: done", "plan", "--execute", file)
	r.do("LIN: done", "plan", "--execute", file) // it is there already
	r.do("sequence: done", "plan", "--execute", filepath.Join(golden.Root(t), "examples/plan/sequence_blended.json"))
	r.do("LIN: done", "plan", file, "--execute", "--compat", "pilz")
	r.fails(exitUsage, `so none is named before it, got ["arm6" "`, "plan", "arm6", "--execute", file)
	r.fails(exitFailure, "half.json: line 1: ", "plan", "--execute", save(t, filepath.Join(t.TempDir(), "half.json"), `{"planner_id":`))
	r.fails(exitFailure, "item 1", "plan", "--execute", filepath.Join(golden.Root(t), "examples/plan/sequence_out_of_reach.yaml"))
	r.do("saved", "call", "motions/save_last", `{"name":"kept"}`)
	r.do("kept: done", "play", "kept")
}

func TestServeRefusesWhatItCannotDo(t *testing.T) {
	needsProgram(t)
	file := filepath.Join(t.TempDir(), "poise.yaml")
	if err := os.WriteFile(file, []byte("robot: pony\nlop:\n  period: 1\nrates: {tf: -1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		want []string
		args []string
	}{
		{exitFailure, []string{"0.0.0.0:8080", "no authentication"}, []string{"--listen", "0.0.0.0:8080"}},
		{exitFailure, []string{"unicorn"}, []string{"--robot", "unicorn"}},
		{exitFailure, []string{"loop.period"}, []string{"--period", "7"}},
		{exitFailure, []string{":2", "lop"}, []string{"--config", file}},
		{exitUsage, []string{"usage: poise serve"}, []string{"pony"}},
		{exitUsage, []string{"usage: poise serve"}, []string{"--fast"}},
	} {
		var out, errs bytes.Buffer
		code := run(&env{in: strings.NewReader(""), out: &out, err: &errs}, append([]string{"serve"}, c.args...))
		for _, want := range c.want {
			if code != c.code || !strings.Contains(errs.String(), want) {
				t.Errorf("poise serve %v: code %d, %q; want %d and %q", c.args, code, errs.String(), c.code, want)
			}
		}
	}
}

func TestServeReadsTheFileThatConfigPrints(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(&env{out: &out, err: &errs}, []string{"config"}); code != exitOK {
		t.Fatal(errs.String())
	}
	file := filepath.Join(t.TempDir(), "poise.yaml")
	text := strings.Replace(out.String(), "robot: pony", "robot: arm6", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := serveIt(t, "--config", file, "--period", "0.002")
	if !strings.Contains(r.banner, "arm6") || !strings.Contains(r.banner, "2ms") {
		t.Errorf("the banner is\n%s", r.banner)
	}
}

// TestConfigListsTheDrivers: each with its settings and their defaults.
func TestConfigListsTheDrivers(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(&env{out: &out, err: &errs}, []string{"config", "--drivers"}); code != exitOK {
		t.Fatal(errs.String())
	}
	for _, want := range []string{"\nsim:\n", "\n  lag: 0\n", "  # s; time constant of a servo\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
	if code := run(&env{out: &out, err: &errs}, []string{"config", "--drivers", "--config", "x.yaml"}); code != exitUsage {
		t.Errorf("with a file as well: code %d", code)
	}
}

// clients returns the folder with the clients of others, as tools/clients/setup.sh
// fills it.
func clients(t *testing.T, need string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("absent with -short: clients of others")
	}
	folder := os.Getenv("POISE_CLIENTS")
	if folder == "" {
		folder = filepath.Join(golden.Root(t), ".tools/clients")
	}
	if _, err := os.Stat(filepath.Join(folder, need)); err != nil {
		golden.Missing(t, "%s is missing; tools/clients/setup.sh installs it", need)
	}
	return folder
}

// foreign runs a client of another project's library.
func (r *running) foreign(folder, want, program string, args ...string) {
	r.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "POISE_CLIENTS="+folder)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		r.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	r.t.Logf("%s", out)
}

func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		golden.Missing(t, "node is missing: %v", err)
	}
	return path
}

func TestRoslibOnTheRealProgram(t *testing.T) {
	t.Parallel()
	folder, program := clients(t, "node_modules/roslib"), node(t)
	r := serveIt(t, "--with-real-sim")
	r.foreign(folder, "all ok", program, "testdata/serve.mjs", "ws://"+r.address+"/rosbridge")
}

func TestRoslibpyOnTheRealProgram(t *testing.T) {
	t.Parallel()
	folder := clients(t, "venv/bin/python")
	r := serveIt(t)
	_, port, _ := strings.Cut(r.address, ":")
	r.foreign(folder, "all ok", filepath.Join(folder, "venv/bin/python"), "testdata/serve.py", port)
}

// TestExamplesThatDriveAServer runs what examples/ shows.
func TestExamplesThatDriveAServer(t *testing.T) {
	t.Parallel()
	folder, program := clients(t, "node_modules/roslib"), node(t)
	clients(t, "venv/bin/python")
	r := serveIt(t)
	root := golden.Root(t)
	url := "ws://" + r.address + "/rosbridge" // in every language
	r.foreign(folder, "over, status 4", "go", "run", "poise/examples/03-play", url, "nod")
	r.foreign(folder, "called off at", filepath.Join(folder, "venv/bin/python"), filepath.Join(root, "examples/python/play.py"), url)
	r.foreign(folder, "done", program, filepath.Join(root, "examples/web/play.mjs"), url)
	const wagged = "wagged, yawned and wagged again"
	r.foreign(folder, wagged, "go", "run", "poise/examples/04-wag", url)
	r.foreign(folder, wagged, filepath.Join(folder, "venv/bin/python"), filepath.Join(root, "examples/python/wag.py"), url)
	r.foreign(folder, wagged, program, filepath.Join(root, "examples/web/wag.mjs"), url)
}

// TestPlayTellsThatItIsPaused: who waits for a motion that something else paused is told, without a terminal, too.
func TestPlayTellsThatItIsPaused(t *testing.T) {
	t.Parallel()
	s := serveIt(t, "--robot", "arm6")
	play := exec.Command(binary(t), "play", "wave", "--speed", "50", "--server", s.address) // so that it is not over before the pause
	var out, errs lockedBuffer
	play.Stdout, play.Stderr = &out, &errs
	if err := play.Start(); err != nil {
		t.Fatal(err)
	}
	s.until("it moves", func() bool { o, _, _ := s.cli("state"); return strings.Contains(o, "moving") })
	s.do("done", "pause")
	s.until("it is told", func() bool {
		return strings.Contains(errs.String(), "wave is paused; poise resume --server "+s.address+" lets it go on")
	})
	s.do("done", "resume")
	if err := play.Wait(); err != nil || !strings.Contains(out.String(), "wave: done") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("%v, %q, %q", err, out.String(), errs.String())
	}
}

// TestAGoalThatCannotBeginTellsWhy: on a robot that is paused, or whose speed is 0 %, before it moved at all; and what holds a robot
// whose speed is set.
func TestAGoalThatCannotBeginTellsWhy(t *testing.T) {
	t.Parallel()
	s := serveIt(t, "--robot", "arm6")
	at := " --server " + s.address + " lets it go on"
	for _, c := range []struct {
		hold, wait []string
		why        string
		free       []string
	}{
		{[]string{"pause"}, []string{"pose", "upright"}, "upright is paused; poise resume" + at, []string{"resume"}},
		{[]string{"speed", "0"}, []string{"play", "wave"}, "wave stands: the speed is 0 %; poise speed 100" + at, []string{"speed", "100"}},
	} {
		s.do("", c.hold...)
		if c.hold[0] == "pause" {
			s.do("0 %: the robot is paused; poise resume"+at, "speed", "100")
		}
		wait := exec.Command(s.path, append(c.wait, "--server", s.address)...)
		var out, errs lockedBuffer
		wait.Stdout, wait.Stderr = &out, &errs
		if err := wait.Start(); err != nil {
			t.Fatal(err)
		}
		s.until("it is told", func() bool { return strings.Contains(errs.String(), c.why) })
		s.do("", c.free...)
		if err := wait.Wait(); err != nil || !strings.Contains(out.String(), "done") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: %v, %q, %q", c.wait, err, out.String(), errs.String())
		}
	}
}

// TestLegsThatDoNotWalk: check, serve and walk of a robot on legs that do not reach around their places say why it does not walk.
func TestLegsThatDoNotWalk(t *testing.T) {
	t.Parallel()
	folder := walks.Hexapod(t).Folder
	file := filepath.Join(folder, "hexapod.urdf")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	save(t, file, strings.ReplaceAll(string(text), `lower="-0.9" upper="0.9"`, `lower="-0.001" upper="0.001"`))
	const why = "feet of hexapod reach only"
	out, errs, code := poise("", "check", folder)
	if code != exitOK || !strings.Contains(out+errs, "stands on legs and does not walk") || !strings.Contains(out+errs, why) {
		t.Errorf("check: code %d, %s%s", code, out, errs)
	}
	r := serveIt(t, "--robot", folder)
	if !strings.Contains(r.banner, why) {
		t.Errorf("the banner does not say why it does not walk:\n%s", r.banner)
	}
	r.fails(exitFailure, why, "walk", "--x", "0.03")
}

// TestWhatARobotDoesNotDo: an arm neither walks nor gets up, and the refusal says why.
func TestWhatARobotDoesNotDo(t *testing.T) {
	t.Parallel()
	r := serveIt(t, "--robot", "arm6")
	r.fails(exitFailure, "it does not walk: walk does not fit the robot: the base of arm6 does not move", "walk", "--x", "0.03")
	r.fails(exitFailure, "it cannot get up: get_up does not fit the robot: robot.yaml of arm6 does not say how", "get-up")
	if out, _, _ := poise("", "walk", "--x", "0.03", "--json", "--server", r.address); !strings.HasPrefix(out, `{"success":false,"message":"it does not walk`) {
		t.Errorf("walk --json says %q", out)
	}
}
