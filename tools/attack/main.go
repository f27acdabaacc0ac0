// Attack measures what clients can do to the cycle of a running server, beside what two
// foreign processes do that burn the same cores. For every attack it starts the server
// anew, reads how many periods passed without a cycle and how much memory the process
// took, and prints the medians of all rounds as a table.
//
//	go run ./tools/attack -poise .build/poise -rounds 5 -seconds 4
//
// Everything runs in a network namespace of its own, without which the attacks of ROS 2 are left out.
// The attacks run in this process, which costs cores too: compare with the burners of the
// same run, not with other machines.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	poise := flag.String("poise", ".build/poise", "the binary under attack")
	rounds := flag.Int("rounds", 5, "rounds, of which medians are taken")
	seconds := flag.Float64("seconds", 4, "duration of each attack")
	only := flag.String("only", "", "run only attacks whose names hold this")
	burn := flag.Bool("burn", false, "burn a core until killed")
	flag.Parse()
	if *burn {
		for {
			runtime.Gosched()
		}
	}
	if os.Getenv(inside) == "" && goInside() {
		return
	}
	if err := run(*poise, *rounds, time.Duration(*seconds*float64(time.Second)), *only); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

// figures are those of one attack in one round.
type figures struct {
	missed float64 // periods without a cycle, of 1,000
	ticks  float64
	memory float64 // MB, the most that the process had resident
}

func run(poise string, rounds int, duration time.Duration, only string) error {
	all := map[string][]figures{}
	attacks := slices.Concat(attacks, ros1Attacks)
	if os.Getenv(inside) != "" {
		attacks = append(attacks, ros2Attacks...)
	}
	for range rounds {
		for _, a := range attacks {
			if only != "" && !strings.Contains(a.name, only) && !strings.Contains(a.name, "burners") {
				continue
			}
			f, err := measure(poise, a, duration)
			if err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			fmt.Fprintf(os.Stderr, "%-32s %8.1f of 1,000 missed, %.0f cycles, %6.0f MB\n", a.name, f.missed, f.ticks, f.memory)
			all[a.name] = append(all[a.name], f)
		}
	}
	burners := median(all["two burners"], func(f figures) float64 { return f.missed })
	bound := 1.5*burners + 1
	fmt.Printf("| attack | cycles missed, of 1,000 | bound | memory, MB |\n|---|---|---|---|\n")
	for _, a := range attacks {
		if len(all[a.name]) == 0 {
			continue
		}
		missed := median(all[a.name], func(f figures) float64 { return f.missed })
		verdict := fmt.Sprintf("%.1f, held", bound)
		switch {
		case a.free:
			verdict = "–"
		case missed > bound:
			verdict = fmt.Sprintf("%.1f, **not held**", bound)
		}
		fmt.Printf("| %s | %.1f | %s | %.0f |\n", a.name, missed, verdict, median(all[a.name], func(f figures) float64 { return f.memory }))
	}
	return nil
}

func median(all []figures, of func(figures) float64) float64 {
	values := make([]float64, len(all))
	for i, f := range all {
		values[i] = of(f)
	}
	slices.Sort(values)
	if len(values) == 0 {
		return 0
	}
	return values[len(values)/2]
}

// measure runs one attack on a new server.
func measure(poise string, a attack, duration time.Duration) (f figures, err error) {
	folder, err := os.MkdirTemp("", "attack")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(folder)
	joins := "" // the master of another
	if h := masters[a.name]; h != nil {
		foreign := httptest.NewServer(h)
		defer foreign.Close()
		defer foreign.CloseClientConnections() // of one that hangs
		joins = foreign.URL
	}
	s, err := startServer(poise, folder, joins, strings.HasPrefix(a.name, ros2))
	if err != nil {
		return f, err
	}
	defer s.end()
	time.Sleep(time.Second)
	before, err := s.cycles()
	if err != nil {
		return f, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), duration)
	defer cancel()
	var work sync.WaitGroup
	work.Go(func() { a.run(ctx, s) })
	for ctx.Err() == nil {
		f.memory = max(f.memory, s.resident())
		time.Sleep(20 * time.Millisecond)
	}
	after, err := s.cycles()
	work.Wait()
	f.ticks = after.ticks - before.ticks
	f.missed = 1000 * (after.missed - before.missed) / max(1, after.ticks+after.missed-before.ticks-before.missed)
	return f, err
}

// process is a server under attack.
type process struct {
	cmd     *exec.Cmd
	address string
	master  string // of ROS 1, which it is itself
}

var listening = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`)

// startServer starts a server that is a master of ROS 1 itself, or joins that of another, and is in a
// domain of ROS 2 perhaps.
func startServer(poise, folder, joins string, dds bool) (*process, error) {
	flag, master := "--ros1-master", "http://127.0.0.1:0"
	if joins != "" {
		flag, master = "--ros1", joins
	}
	s := &process{cmd: exec.Command(poise, "serve", "--listen", "127.0.0.1:0", "--motions", folder, flag)}
	if dds {
		s.cmd.Args = append(s.cmd.Args, "--ros2")
	}
	s.cmd.Env = append(os.Environ(), "ROS_MASTER_URI="+master, "XDG_STATE_HOME="+folder) // it records, as by default, and leaves nothing
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stderr = s.cmd.Stdout
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for s.master == "" && lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil && s.address == "" {
			s.address = m[1]
		} else if s.address != "" {
			s.master = masterAt(lines.Text())
		}
	}
	if s.master == "" {
		return nil, fmt.Errorf("the server did not say where it listens: %v", s.cmd.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s, nil
}

func (s *process) end() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = s.cmd.Process.Kill()
	}
}

type cycles struct{ ticks, missed float64 }

// cycles reads the figures of the cycle.
func (s *process) cycles() (c cycles, err error) {
	for range 100 {
		var text []byte
		var r *http.Response
		if r, err = http.Get("http://" + s.address + "/metrics"); err == nil {
			text, err = io.ReadAll(r.Body)
			r.Body.Close()
			if err == nil && r.StatusCode == http.StatusOK {
				return cycles{sum(text, "poise_cycle_ticks_total"), sum(text, "poise_cycle_missed_total")}, nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return c, fmt.Errorf("the figures of the cycle cannot be read: %v", err)
}

func sum(text []byte, name string) (total float64) {
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, name+"{") {
			v, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			total += v
		}
	}
	return total
}

// resident returns how much memory the process has, MB.
func (s *process) resident() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()) / 1e6
}
