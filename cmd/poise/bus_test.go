//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"poise/robot"
	"poise/robot/load"
	serial "poise/servo/bus"
	"poise/servo/dynamixel"
	"poise/servo/emulator"
	"poise/servo/families"
)

// emulated is servos of the hobby arm on a pseudo-terminal, and what happened to them.
type emulated struct {
	t      *testing.T
	port   string
	model  *robot.Model
	servos *emulator.Emulator
	world  *emulator.Ideal

	line *countedLine

	mu     sync.Mutex
	events []emulator.Event
}

// countedLine counts the requests that its servos hear: each comes as one piece.
type countedLine struct {
	*serial.Pseudo
	requests atomic.Int64
}

func (l *countedLine) Read(p []byte) (int, error) {
	n, err := l.Pseudo.Read(p)
	l.requests.Add(1)
	return n, err
}

// emulateServos puts servos of a family on a line; only those of the first n joints. With mixed an SCS is the last of
// STS servos.
func emulateServos(t *testing.T, family string, baud, n int) *emulated {
	t.Helper()
	bot, err := load.Robot("so101", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mixed := family == "mixed"
	if mixed {
		family = "feetech"
	}
	all := families.Named(family)
	if family == "ax" {
		all = []serial.Family{dynamixel.Old{}}
	}
	f := all[0]
	x := &emulated{t: t, model: bot.Model, world: emulator.NewIdeal(make([]float64, len(bot.Model.Joints())))}
	assign := emulator.AssignFamily(bot.Model, f)
	x.servos, err = emulator.New(emulator.Config{Model: bot.Model, World: x.world, Families: families.All, Baud: baud,
		Assign: func(j int) (a robot.Servo) {
			if j < n {
				a = assign(j)
			}
			if mixed && j == n-1 {
				a.Type, a.Zero = "scs0009", 512
			}
			return a
		},
		Log: func(e emulator.Event) {
			x.mu.Lock()
			x.events = append(x.events, e)
			x.mu.Unlock()
		}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := serial.OpenPseudo()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	x.port, x.line = p.Name, &countedLine{Pseudo: p}
	go func() { _ = x.servos.Line("", x.line, 0).Serve() }()
	return x
}

// happened lists the events of some kinds.
func (x *emulated) happened(kinds ...string) (all []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.events {
		for _, k := range kinds {
			if e.What == k {
				all = append(all, e.What+" "+e.Joint+" "+e.Text)
			}
		}
	}
	return all
}

// untouched wants that nothing has moved or been saved, and no servo has torque.
func (x *emulated) untouched(after string) {
	x.t.Helper()
	if all := x.happened("goal", "torque on", "saved", emulator.Violation, "brake", "reboot"); len(all) > 0 {
		x.t.Errorf("after %s: %v", after, all)
	}
	for j := range x.model.Joints() {
		if at := x.world.Read(j).Position; at != 0 {
			x.t.Errorf("after %s: joint %d is at %g", after, j, at)
		}
	}
}

// typing runs a command whose standard input is what a person types.
func typing(in io.Reader, words ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(&env{in: in, out: &o, err: &e}, words)
	return code, o.String(), e.String()
}

// patiently runs a command until it finds all servos: on a busy machine an answer may be late.
func patiently(t *testing.T, good func(out string) bool, words ...string) string {
	t.Helper()
	for n := 0; ; n++ {
		code, out, errs := runWords(words...)
		if code == exitOK && good(out) {
			return out
		}
		if n == 20 {
			t.Fatalf("poise %s: code %d, %q, %q", strings.Join(words, " "), code, out, errs)
		}
	}
}

// onTheLine runs a command, and again as long as it ends because a servo did not answer: on a busy machine an answer may
// be late.
func onTheLine(words ...string) (code int, out, errs string) {
	for range 20 {
		if code, out, errs = runWords(words...); code == exitOK || !strings.Contains(errs, "no answer") {
			break
		}
	}
	return code, out, errs
}

type scanAnswer struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Servos  []struct {
		ID       int     `json:"id"`
		Family   string  `json:"family"`
		Model    string  `json:"model"`
		Firmware string  `json:"firmware"`
		Baud     int     `json:"baud"`
		Voltage  float64 `json:"voltage"`
	} `json:"servos"`
}

// TestBusFindsDynamixelsOfProtocol1 beside Feetech servos, whose packets are the same: each is found as what it
// is, and speaks. Nothing is written.
func TestBusFindsDynamixelsOfProtocol1(t *testing.T) {
	t.Parallel()
	x := emulateServos(t, "ax", 1_000_000, 2)
	for _, args := range [][]string{{"--family", "dynamixel"}, {"--baud", "1000000"}} {
		patiently(t, func(out string) bool {
			return strings.Contains(out, "2 servos answer") && strings.Count(out, "dynamixel ax-12a, firmware 24, 1000000 baud, 7.4 V") == 2
		}, append([]string{"bus", "scan", x.port, "--ids", "1-3"}, args...)...)
	}
	patiently(t, func(out string) bool {
		return strings.Contains(out, "present_position") && strings.Contains(out, "512")
	},
		"bus", "read", x.port, "2", "present_position", "--family", "dynamixel", "--baud", "1000000")
	x.untouched("scan and read")
	y := emulateServos(t, "feetech", 1_000_000, 1)
	if _, _, errs := onTheLine("bus", "ping", y.port, "1", "--family", "dynamixel", "--baud", "1000000"); !strings.Contains(errs, "servo 1 is a Feetech servo") {
		t.Errorf("a Feetech servo asked as a Dynamixel: %q", errs)
	}
}

// TestBusScanFindsServosAtEveryRate with nothing but the port, and writes nothing.
func TestBusScanFindsServosAtEveryRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		family, model string
		baud          int
	}{{"feetech", "sts3215", 500_000}, {"dynamixel", "xl430-w250", 3_000_000}, {"herkulex", "drs-0101", 250_000}} {
		t.Run(c.family, func(t *testing.T) {
			t.Parallel()
			x := emulateServos(t, c.family, c.baud, 3)
			words := []string{"bus", "scan", x.port, "--json"}
			if c.family == "herkulex" { // each id of each rate is asked: seconds
				words = append(words, "--family", "herkulex", "--ids", "0-4")
			}
			var a scanAnswer
			patiently(t, func(out string) bool {
				d := json.NewDecoder(strings.NewReader(out))
				d.DisallowUnknownFields()
				a = scanAnswer{}
				return d.Decode(&a) == nil && len(a.Servos) == 3
			}, words...)
			if !a.Success || a.Message == "" {
				t.Errorf("%+v", a)
			}
			for i, s := range a.Servos {
				if s.ID != i+1 || s.Family != c.family || s.Model != c.model || s.Firmware == "" || s.Baud != c.baud || math.Abs(s.Voltage-7.4) > 0.1 {
					t.Errorf("servo %+v", s)
				}
			}
			x.untouched("a scan")
		})
	}
	x := emulateServos(t, "feetech", 1_000_000, 6)
	patiently(t, func(out string) bool { return strings.Contains(out, "2 servos answer") }, "bus", "scan", x.port, "--family", "feetech", "--baud", "1000000", "--ids", "2-3")
	if code, out, errs := runWords("bus", "scan", x.port, "--family", "dynamixel", "--baud", "57600"); code != exitOK || !strings.Contains(out, "no servo answers") || errs != "" {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
	if code, _, errs := runWords("bus", "scan", "/dev/nosuch"); code != exitFailure || !strings.Contains(errs, "there is no such port") {
		t.Errorf("code %d, %q", code, errs)
	}
}

// TestBusFindsSCSBesideSTS, which do not answer the question to all, at the rate at which others do; and no servo of such a
// line is alone.
func TestBusFindsSCSBesideSTS(t *testing.T) {
	t.Parallel()
	x := emulateServos(t, "mixed", 500_000, 3)
	for _, args := range [][]string{{"--family", "feetech"}, {"--baud", "500000"}} {
		out := patiently(t, func(out string) bool { return strings.Contains(out, "3 servos answer") }, append([]string{"bus", "scan", x.port, "--ids", "1-9"}, args...)...)
		if strings.Count(out, "sts3215") != 2 || strings.Count(out, "scs0009") != 1 {
			t.Errorf("%v: %s", args, out)
		}
	}
	x.untouched("a scan")
	staysBeside(t, "mixed", 2, "[2] are on the line")
}

// staysBeside wants set-id to refuse a servo beside others. Emulated servos that a busy machine keeps from
// answering in 6 ms are not there: the line is set up anew then.
func staysBeside(t *testing.T, family string, servos int, why string) {
	t.Helper()
	code, errs := exitOK, ""
	for range 5 {
		y := emulateServos(t, family, 0, servos)
		for n := 0; n < 20 && (n == 0 || code != exitOK); n++ {
			code, _, errs = runWords("bus", "set-id", y.port, "1", "7", "--yes", "--family", "feetech")
			if code == exitFailure && strings.Contains(errs, why) {
				y.untouched("set-id beside another")
				return
			}
		}
	}
	t.Errorf("%s, %d servos: code %d, %q, want %q", family, servos, code, errs, why)
}

// TestBusReadsAndWritesByName: what moves a servo only with --torque, what is kept without
// power only in words of its own, nothing that is not there.
func TestBusReadsAndWritesByName(t *testing.T) {
	t.Parallel()
	x := emulateServos(t, "feetech", 0, 6)
	bus := func(words ...string) []string { return append([]string{"bus"}, words...) }
	any := func(string) bool { return true }
	patiently(t, func(out string) bool { return strings.Contains(out, "servo 2 is a sts3215") }, bus("ping", x.port, "2", "--family", "feetech")...)
	out := patiently(t, any, bus("read", x.port, "2", "present_position", "position_p", "--family", "feetech", "--json")...)
	var read struct {
		Registers []struct {
			Register string
			Value    int64
			Saved    bool
		}
	}
	if err := json.Unmarshal([]byte(out), &read); err != nil || len(read.Registers) != 2 || read.Registers[0].Value != 2048 || !read.Registers[1].Saved {
		t.Errorf("%v %s", err, out)
	}
	if out := patiently(t, any, bus("read", x.port, "2", "--family", "feetech")...); strings.Count(out, "\n") < 30 {
		t.Errorf("all registers: %s", out)
	}
	out = patiently(t, func(out string) bool { return strings.Count(out, `"answers":true`) == 6 }, bus("monitor", x.port, "--count", "1", "--family", "feetech", "--baud", "1000000", "--json")...)
	if !strings.Contains(out, `"torque":"off"`) || !strings.Contains(out, `"position":2048`) {
		t.Errorf("monitor: %s", out)
	}
	x.untouched("reading")

	refused := func(why string, words ...string) {
		t.Helper()
		if code, out, errs := onTheLine(append(bus(words...), "--family", "feetech")...); code != exitFailure || !strings.Contains(errs, why) {
			t.Errorf("%v: code %d, %q, %q, want %q", words, code, out, errs, why)
		}
	}
	refused("--torque allows it", "write", x.port, "2", "goal_position", "2100")
	refused("--torque allows it", "write", x.port, "2", "goal_position", "0")
	refused("--torque allows it", "write", x.port, "2", "torque", "1")
	refused("--torque allows it", "write", x.port, "2", "goal_speed", "300")
	refused("--torque allows it", "write", x.port, "2", "goal_time", "0")
	refused("set-id", "write", x.port, "2", "id", "9")
	refused("set-baud", "write", x.port, "2", "baud", "3")
	refused("can only be read", "write", x.port, "2", "present_position", "3")
	refused("did you mean", "write", x.port, "2", "goal_positio", "3")
	refused("holds 0 … 255", "write", x.port, "2", "acceleration", "256")
	refused("no answer", "ping", x.port, "77")
	x.untouched("refusals")

	patiently(t, any, bus("write", x.port, "2", "acceleration", "30", "--family", "feetech")...)
	x.untouched("a write that moves nothing")
	patiently(t, any, bus("write", x.port, "3", "return_delay", "5", "--family", "feetech")...)
	if saved := x.happened("saved"); len(saved) == 0 {
		t.Error("return_delay was not saved")
	}
	patiently(t, any, bus("write", x.port, "2", "goal_position", "2100", "--torque", "--family", "feetech")...)
	if on := x.happened("torque on"); len(on) != 1 {
		t.Errorf("with --torque: %v", on)
	}
	for _, name := range []string{"mode", "homing_offset", "min_position", "max_position", "phase"} {
		refused("register "+name+" can move servo 2, which has torque: let it go first (poise bus write PORT 2 torque 0), or --torque allows it", "write", x.port, "2", name, "1")
	}
	patiently(t, any, bus("write", x.port, "2", "torque", "0", "--family", "feetech")...)
	patiently(t, any, bus("write", x.port, "2", "homing_offset", "5", "--family", "feetech")...)
}

// TestBusGivesServosIDsAndRates: with one servo on the line, and after two questions.
func TestBusGivesServosIDsAndRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		family string
		baud   int
	}{{"feetech", 500_000}, {"dynamixel", 1_000_000}, {"herkulex", 200_000}} {
		t.Run(c.family, func(t *testing.T) {
			t.Parallel()
			x := emulateServos(t, c.family, 0, 1)
			set := func(in string, words ...string) (int, string) {
				t.Helper()
				for n := 0; ; n++ {
					code, _, errs := typing(strings.NewReader(in), append(append([]string{"bus"}, words...), "--family", c.family)...)
					if !strings.Contains(errs, "no answer") || n == 20 {
						return code, errs
					}
				}
			}
			answers := []string{"yes\nno\n"}
			if c.family == "dynamixel" { // the others take seconds to see that a servo is alone
				answers = append(answers, "", "no\n", "yes\n")
			}
			for _, in := range answers {
				if code, errs := set(in, "set-id", x.port, "1", "7"); code != exitFailure || !strings.Contains(errs, "nothing was written") {
					t.Errorf("%q: code %d, %q", in, code, errs)
				}
			}
			x.untouched("no")
			if code, errs := set("yes\nyes\n", "set-id", x.port, "1", "7"); code != exitOK || strings.Count(errs, "(yes/no)") != 2 {
				t.Fatalf("code %d, %q", code, errs)
			}
			if id := x.servos.Servo("shoulder_pan").ID; id != 7 {
				t.Errorf("its id is %d", id)
			}
			rate := strconv.Itoa(c.baud)
			if code, errs := set("yes\nyes\n", "set-baud", x.port, "7", rate); code != exitOK || strings.Count(errs, "(yes/no)") != 2 {
				t.Fatalf("code %d, %q", code, errs)
			}
			if code, errs := set("", "ping", x.port, "7", "--baud", rate); code != exitOK {
				t.Errorf("at its new rate: code %d, %q", code, errs)
			}
			if code, errs := set("", "set-baud", x.port, "7", "123", "--yes", "--baud", rate); code != exitFailure || !strings.Contains(errs, "123 baud is not one of") {
				t.Errorf("code %d, %q", code, errs)
			}
			if all := x.happened("torque on", emulator.Violation); len(all) > 0 {
				t.Errorf("%v", all)
			}
		})
	}
	staysBeside(t, "feetech", 3, "[2 3] are on the line")
}

// TestBusEmulates: the command itself, its link, its log, a hand that moves a limp joint, and
// another program that finds the servos.
func TestBusEmulates(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	e := emulateIt(t, "feetech", "--robot", "so101")
	patiently(t, func(out string) bool { return strings.Contains(out, "6 servos answer") }, "bus", "scan", e.port, "--family", "feetech", "--baud", "1000000")
	e.hand("wrist_roll 0.5")
	e.until("the hand has moved it", func(log string) bool {
		return strings.Contains(log, `"joint":"wrist_roll"`) && regexp.MustCompile(`"joint":"wrist_roll".*"event":"state".*"position":0\.(4[5-9]|5)`).MatchString(log)
	})
	if strings.Contains(e.text(), "violation") || strings.Contains(e.text(), "torque on") {
		t.Error(e.text())
	}
}

// moved is a person who does what a calibration asks: a script of joints for each question.
type moved struct {
	x     *emulated
	steps []func()
	asked int
}

// Read gives an Enter for each question, after its step is done. A calibration asks on
// standard error before it reads.
func (m *moved) Read(p []byte) (int, error) {
	if m.asked >= len(m.steps) {
		return 0, io.EOF
	}
	m.steps[m.asked]()
	m.asked++
	p[0] = '\n'
	return 1, nil
}

// readings is a number of requests by which a program has read each of the servos that it watches, more than once.
const readings = 20

// hand moves joints of the arm and waits until they are there, and a program that watches them has read them there.
func (x *emulated) hand(at map[string]float64) {
	for name, q := range at {
		x.servos.With(func() { x.servos.Servo(name).Hand(q) })
	}
	arrived := int64(0)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		there := true
		x.servos.With(func() {
			for name, q := range at {
				j, _ := x.model.Joint(name)
				there = there && math.Abs(x.world.Read(int(j)).Position-q) < 1e-3
			}
		})
		if there && arrived == 0 {
			arrived = x.line.requests.Load()
		}
		if there && x.line.requests.Load() >= arrived+readings {
			return
		}
	}
	x.t.Error("the hand moves nothing")
}

// TestBusCalibrates: direction, zero and limits of two joints by hand into a copy of a robot,
// which keeps all else; a sloppy person is asked again.
func TestBusCalibrates(t *testing.T) {
	t.Parallel()
	x := emulateServos(t, "feetech", 0, 6)
	folder := filepath.Join(t.TempDir(), "mine")
	nudge := func(joint string, q float64) func() { return func() { x.hand(map[string]float64{joint: q}) } }
	person := &moved{x: x, steps: []func(){
		nudge("shoulder_pan", 0.01), nudge("shoulder_pan", 0.3), // too little at first
		nudge("elbow_flex", -0.3), // as if the servo were mounted the other way round
		func() { x.hand(map[string]float64{"shoulder_pan": 0.1, "elbow_flex": -0.2}) },
		func() {
			for _, at := range []float64{-1, 1.2, 0} {
				x.hand(map[string]float64{"shoulder_pan": at, "elbow_flex": at / 2})
			}
		},
	}}
	code, out, errs := typing(person, "bus", "calibrate", x.port, "--robot", "so101", "--save", folder, "--joints", "shoulder_pan,elbow_flex")
	if code != exitOK || !strings.Contains(out, "2 servos are calibrated") || strings.Count(errs, "[Enter]") != 5 || !strings.Contains(errs, "too little to tell") {
		t.Fatalf("code %d, %q, %q", code, out, errs)
	}
	bot, err := load.Robot(folder, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	step := 2 * math.Pi / 4096
	for _, c := range []struct {
		joint     string
		zero      float64
		reversed  bool
		low, high float64
	}{{"shoulder_pan", 2048 + 0.1/step, false, 2048 - 1/step, 2048 + 1.2/step}, {"elbow_flex", 2048 - 0.2/step, true, 2048 - 0.5/step, 2048 + 0.6/step}} {
		j, _ := bot.Model.Joint(c.joint)
		s := bot.Model.Servo(j)
		if math.Abs(s.Zero-c.zero) > 2 || s.Reversed != c.reversed || math.Abs(float64(s.Low)-c.low) > 3 || math.Abs(float64(s.High)-c.high) > 3 || !s.Limited {
			t.Errorf("%s: %+v, want %+v", c.joint, s, c)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "robot.yaml"))
	if err != nil || !strings.Contains(string(text), "# never drop what it carries") || !strings.Contains(string(text), "wrist_flex: {id: 4, type: sts3215, zero: 2048}\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if all := x.happened("goal", "torque on", "saved", emulator.Violation); len(all) > 0 {
		t.Errorf("a calibration has %v", all)
	}
	before := string(text)
	code, _, errs = typing(&moved{x: x, steps: []func(){nudge("wrist_roll", 1)}}, "bus", "calibrate", x.port, "--robot", folder, "--joints", "wrist_roll")
	if text, _ = os.ReadFile(filepath.Join(folder, "robot.yaml")); code != exitFailure || !strings.Contains(errs, "nothing was written") || string(text) != before {
		t.Errorf("broken off: code %d, %q", code, errs)
	}
}

// TestBusCalibrationIsRefused where it would be wrong.
func TestBusCalibrationIsRefused(t *testing.T) {
	t.Parallel()
	x := emulateServos(t, "feetech", 0, 6)
	for _, c := range []struct {
		code int
		why  string
		args []string
	}{
		{exitUsage, "--save FOLDER", []string{"--robot", "so101"}},
		{exitUsage, "whose servos?", nil},
		{exitUsage, "there are direction, zero and limits", []string{"--robot", "so101", "--save", "x", "--steps", "zeros"}},
		{exitFailure, `no joint "elbow"`, []string{"--robot", "so101", "--save", "x", "--joints", "elbow"}},
		{exitFailure, `no pose "hoem"`, []string{"--robot", "so101", "--save", "x", "--pose", "hoem"}},
		{exitUsage, "it is there already, and a copy of robot so101 goes into a new folder", []string{"--robot", "so101", "--save", t.TempDir()}},
		{exitUsage, "is no folder", []string{"--robot", "so101", "--save", writtenFile(t, "") + "/x"}},
	} {
		if code, out, errs := runWords(append([]string{"bus", "calibrate", x.port}, c.args...)...); code != c.code || !strings.Contains(errs, c.why) {
			t.Errorf("%v: code %d, %q, %q", c.args, code, out, errs)
		}
	}
	x.untouched("refusals")
	patiently(t, func(string) bool { return true }, "bus", "write", x.port, "6", "torque", "1", "--torque", "--family", "feetech")
	code, _, errs := onTheLine("bus", "calibrate", x.port, "--robot", "so101", "--save", filepath.Join(t.TempDir(), "y"))
	if code != exitFailure || !strings.Contains(errs, `joint "gripper": servo 6 has torque`) {
		t.Errorf("with torque: code %d, %q", code, errs)
	}
}

// follower is a calibration as LeRobot 0.4 writes it (draccus, indented JSON).
const follower = `{
    "shoulder_pan": {"id": 1, "drive_mode": 0, "homing_offset": -1621, "range_min": 739, "range_max": 3411},
    "shoulder_lift": {"id": 2, "drive_mode": 0, "homing_offset": 1124, "range_min": 832, "range_max": 3192},
    "elbow_flex": {"id": 3, "drive_mode": 0, "homing_offset": -1029, "range_min": 868, "range_max": 3080},
    "wrist_flex": {"id": 4, "drive_mode": 0, "homing_offset": 1489, "range_min": 881, "range_max": 3190},
    "wrist_roll": {"id": 5, "drive_mode": 1, "homing_offset": 86, "range_min": 0, "range_max": 4095},
    "gripper": {"id": 6, "drive_mode": 0, "homing_offset": 1236, "range_min": 1998, "range_max": 3484}
}
`

// TestBusTakesACalibrationOfLeRobotOver: middles become zeros, if the servos still have the
// offsets with which it was made.
func TestBusTakesACalibrationOfLeRobotOver(t *testing.T) {
	t.Parallel()
	x := emulateServos(t, "feetech", 0, 6)
	file := writtenFile(t, follower)
	folder := filepath.Join(t.TempDir(), "mine")
	words := []string{"bus", "calibrate", x.port, "--robot", "so101", "--save", folder, "--lerobot", file, "--json"}
	code, _, errs := onTheLine(words...)
	if code != exitFailure || !strings.Contains(errs, "its homing offset is 0, that of the file -1621: poise bus write PORT 1 homing_offset -1621") {
		t.Fatalf("without the offsets: code %d, %q", code, errs)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Error("a folder was written")
	}
	var all map[string]struct {
		ID     int
		Offset int64 `json:"homing_offset"`
	}
	if err := json.Unmarshal([]byte(follower), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		patiently(t, func(string) bool { return true }, "bus", "write", x.port, strconv.Itoa(s.ID), "homing_offset", strconv.FormatInt(s.Offset, 10), "--family", "feetech")
	}
	patiently(t, func(out string) bool { return strings.Contains(out, `"success":true`) }, words...)
	bot, err := load.Robot(folder, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	step := 2 * math.Pi / 4096
	for joint, want := range map[string]robot.Servo{
		"shoulder_pan": {Zero: 2075, Low: 739, High: 3411},
		"wrist_roll":   {Zero: 2047.5, Low: 0, High: 4095, Reversed: true},
		"gripper":      {Zero: 2741 - 0.79/step, Low: 1998, High: 3484},
	} {
		j, _ := bot.Model.Joint(joint)
		if s := bot.Model.Servo(j); math.Abs(s.Zero-want.Zero) > 0.1 || s.Low != want.Low || s.High != want.High || s.Reversed != want.Reversed {
			t.Errorf("%s: %+v, want %+v", joint, s, want)
		}
	}
	for old, c := range map[string][2]string{
		`"range_max": 3411`: {`"range_max": 99999`, `joint "shoulder_pan": servo 1: range_max 99999: a sts3215 reads 0 … 4095`},
		`"range_min": 739`:  {`"range_min": -5`, `joint "shoulder_pan": servo 1: range_min -5: a sts3215 reads 0 … 4095`},
		`"id": 2`:           {`"id": 1`, `id 1 is that of joint "shoulder_lift" already`},
	} {
		bad := strings.Replace(follower, old, c[0], 1)
		code, _, errs := onTheLine("bus", "calibrate", x.port, "--robot", "so101", "--save", folder+"-bad", "--lerobot", writtenFile(t, bad))
		if _, err := os.Stat(folder + "-bad"); code != exitFailure || !strings.Contains(errs, c[1]) || err == nil {
			t.Errorf("%s: code %d, %q, want %q", c[0], code, errs, c[1])
		}
	}
	alone := writtenFile(t, `{"gripper": {"id": 3, "drive_mode": 0, "homing_offset": 1236, "range_min": 1998, "range_max": 3484}}`)
	if code, _, errs := onTheLine("bus", "calibrate", x.port, "--robot", folder, "--lerobot", alone); code != exitFailure || !strings.Contains(errs, `joint "gripper": id 3 is that of joint "elbow_flex" in robot.yaml`) {
		t.Errorf("the id of another joint: code %d, %q", code, errs)
	}
	for _, bad := range []string{"{", "{}", `{"shoulder_pan": {"id": 1, "range_min": 5, "range_max": 4}}`, `{"nose": {"id": 1, "range_min": 5, "range_max": 4000}}`, `{"shoulder_pan": {"iid": 1}}`} {
		if code, _, errs := runWords("bus", "calibrate", x.port, "--robot", folder, "--lerobot", writtenFile(t, bad)); code != exitFailure {
			t.Errorf("%s: code %d, %q", bad, code, errs)
		}
	}
}

// TestBusFlagsThatCannotBe are refused with their value and their limit, before a port is touched.
func TestBusFlagsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		args []string
	}{
		{"--baud -1 is not within 1 … 10000000", []string{"scan", "/dev/null", "--baud", "-1"}},
		{"12 baud is not one of [9600 19200 ", []string{"scan", "/dev/null", "--baud", "12", "--ids", "1-3"}},
		{"12 baud is not one of [57600 115200 200000 250000 400000 500000 666666]", []string{"ping", "/dev/null", "1", "--baud", "12", "--family", "herkulex"}},
		{"12 baud is not one of ", []string{"monitor", "/dev/null", "--baud", "12"}},
		{"--count -1 is below 0", []string{"monitor", "/dev/null", "--count", "-1"}},
		{`robot "so101" has no joint "griper"; did you mean "gripper"?`, []string{"emulate", "feetech", "--robot", "so101", "--joints", "griper"}},
		{"--hand /nodir/x: there is no folder /nodir", []string{"emulate", "feetech", "--robot", "so101", "--hand", "/nodir/x"}},
	} {
		if code, out, errs := runWords(append([]string{"bus"}, c.args...)...); code != exitUsage || !strings.Contains(errs, c.why) {
			t.Errorf("%v: code %d, %q, %q, want %q", c.args, code, out, errs, c.why)
		}
	}
}
