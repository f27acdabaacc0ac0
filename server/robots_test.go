package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/executive"
	"poise/graph"
	"poise/loop"
	"poise/msgs"
	"poise/robot"
	"poise/server/config"
	"poise/servo"
	"poise/servo/driver"
	"poise/servo/sim"
)

// three is a configuration with three robots: an ideal one, one that plays hardware, and
// another ideal one.
func three(c *config.Config) {
	plays := sim.RealSettings()
	c.Loop.Period = 0.005
	c.Robots = []config.Robot{{Name: "left", Driver: "sim"}, {Name: "middle", Driver: "sim", Settings: &plays}, {Name: "right", Driver: "sim"}}
}

// TestThreeRobots: each lives under its name, names without one mean the first, what each
// can do is what its driver says, and a motion of one moves no other.
func TestThreeRobots(t *testing.T) {
	b := still(t, "middle", three)
	have := map[string]bool{}
	for _, x := range b.s.graph.Topics() {
		have[x.Name] = true
	}
	for _, x := range b.s.graph.Services() {
		have[x.Name] = true
	}
	for _, x := range b.s.graph.Actions() {
		have[x.Name] = true
	}
	for _, own := range []string{"joint_states", "tf", "stop", "set_torque", "robot_info", "play_motion", "compute_ik"} {
		for _, prefix := range []string{"/", "/left/", "/middle/", "/right/"} {
			if !have[prefix+own] {
				t.Errorf("%s%s is not there", prefix, own)
			}
		}
	}
	for name, want := range map[string]bool{
		"/joints_virtual_set": true, "/left/joints_virtual_set": true, "/right/joints_virtual_set": true, "/middle/joints_virtual_set": false,
		"/joints_hand_set": false, "/left/joints_hand_set": false, "/right/joints_hand_set": false, "/middle/joints_hand_set": true,
	} {
		if have[name] != want {
			t.Errorf("%s is there: %v, want %v", name, have[name], want)
		}
	}

	for _, bot := range b.s.robots {
		info, err := b.s.info(context.Background(), bot)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{
			"{left sim true true true true false false [off position velocity effort impedance brake] false false false}",
			"{middle sim true false true false true false [off position velocity effort impedance brake] false false false}",
			"{right sim true true true true false false [off position velocity effort impedance brake] false false false}",
		} {
			if got := fmt.Sprint(info.Robots[i]); got != want {
				t.Errorf("robot %d is %v, want %v", i, got, want)
			}
		}
		if info.Robot != bot.name || !info.Simulated || len(info.Robots) != 3 {
			t.Errorf("%s: info says %s, simulated %v, %d robots", bot.name, info.Robot, info.Simulated, len(info.Robots))
		}
	}

	frames, err := graph.Listen[msgs.TFMessage](b.s.graph, "middle/tf", graph.SubscribeOptions{QoS: graph.QoS{Depth: 10000}})
	if err != nil {
		t.Fatal(err)
	}
	b.commands() // the first tick reads where the others are
	before := b.commands()
	b.follow(0.5, map[string]float64{"joint52": 0.2}, func(executive.Feedback) {}, func() {})
	after := b.commands()
	for i, bot := range b.s.robots {
		if moved := !slices.Equal(before[i], after[i]); moved != (bot == b.bot) {
			t.Errorf("%s moved: %v", bot.name, moved)
		}
	}
	m, _, err := frames.Subscription.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range m.Value.(*msgs.TFMessage).Transforms {
		if !strings.HasPrefix(x.ChildFrameID, "middle/") {
			t.Fatalf("frame %s of robot middle has not its name", x.ChildFrameID)
		}
	}
}

// commands steps every robot but the one under test once, and returns where each is told
// to be.
func (b *stepped) commands() (all [][]float64) {
	for _, bot := range b.s.robots {
		if bot != b.bot {
			tick := servo.Tick{N: b.n, Time: int64(b.n) * int64(bot.period), Dt: b.s.cfg.Loop.Period}
			bot.loop.Step(tick)
			bot.exec.Pump(tick.Time)
		}
		var q []float64
		bot.exec.View(func(now *loop.Snapshot) { q = slices.Clone(now.Command.Q) })
		all = append(all, q)
	}
	return all
}

// TestNamespacesAreReserved: a robot cannot take a name that begins names of the graph
// which are not a robot's.
func TestNamespacesAreReserved(t *testing.T) {
	b := still(t, "virtual", func(*config.Config) {})
	spaces := map[string]bool{}
	note := func(name string) {
		if space, _, nested := strings.Cut(strings.TrimPrefix(name, "/"), "/"); nested && space != "virtual" {
			spaces[space] = true
		}
	}
	for _, x := range b.s.graph.Topics() {
		if x.Action == "" {
			note(x.Name)
		}
	}
	for _, x := range b.s.graph.Services() {
		note(x.Name)
	}
	for _, x := range b.s.graph.Actions() {
		note(x.Name)
	}
	if len(spaces) < 3 {
		t.Errorf("namespaces %v: the test sees too few", spaces)
	}
	for space := range spaces {
		c := config.Default()
		c.Robots[0].Name = space
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), `"`+space+`"`) {
			t.Errorf("a robot may be called %s: %v", space, err)
		}
	}
}

// watched is a driver whose life the test watches.
type watched struct {
	servo.Driver
	w    *watch
	name string
}

// watch says what shall fail, and what happened.
type watch struct {
	failOpen, failCalibrate, failClose string // by the driver's name
	hardware                           bool
	log                                []string
}

func (d watched) Capabilities() servo.Capabilities {
	c := d.Driver.Capabilities()
	c.Simulated = !d.w.hardware
	return c
}

func (d watched) step(what, failing string) error {
	d.w.log = append(d.w.log, what+" "+d.name)
	if failing == d.name {
		return errors.New("no answer from /dev/ttyUSB0")
	}
	return nil
}

func (d watched) Open(ctx context.Context) error {
	if err := d.step("open", d.w.failOpen); err != nil {
		return err
	}
	return d.Driver.Open(ctx)
}

func (d watched) Calibrate(context.Context) error { return d.step("calibrate", d.w.failCalibrate) }

func (d watched) Close() error { return errors.Join(d.step("close", d.w.failClose), d.Driver.Close()) }

// drivers are the standard ones and three that are watched: one, two and bad, which cannot
// even be constructed.
func (w *watch) drivers() driver.Table {
	table := slices.Clone(driver.Standard)
	for _, name := range []string{"one", "two", "bad"} {
		table = append(table, driver.Row(name, "a driver under test", sim.DefaultSettings, func(m *robot.Model, period float64, s sim.Settings) (servo.Driver, error) {
			if name == "bad" {
				return nil, errors.New("joint52 has no servo id")
			}
			d, err := sim.NewDriver(m, period, s)
			return watched{d, w, name}, err
		}))
	}
	return table
}

// TestDriversAreClosedAtEveryEnd: once each, whatever failed, and the error names robot,
// driver and thing.
func TestDriversAreClosedAtEveryEnd(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, c := range []struct {
		name   string
		w      watch
		second string // driver of the second robot
		change func(c *config.Config)
		want   string // in the error
		log    string
	}{
		{name: "all is well", second: "two", log: "open one, calibrate one, open two, calibrate two, close one, close two"},
		{name: "second does not open", w: watch{failOpen: "two"}, second: "two", want: `robot "b", driver two: no answer from /dev/ttyUSB0`,
			log: "open one, calibrate one, open two, close one"},
		{name: "first does not open", w: watch{failOpen: "one"}, second: "two", want: `robot "a", driver one: no answer`, log: "open one"},
		{name: "second cannot be calibrated", w: watch{failCalibrate: "two"}, second: "two", want: `robot "b", driver two: calibration: no answer`,
			log: "open one, calibrate one, open two, calibrate two, close two, close one"},
		{name: "second cannot be constructed", second: "bad", want: `robot "b", driver bad: joint52 has no servo id`, log: "open one, calibrate one, close one"},
		{name: "the port is taken", second: "two", change: func(c *config.Config) { c.Listen = busy.Addr().String() }, want: "another program listens there",
			log: "open one, calibrate one, open two, calibrate two, close one, close two"},
		{name: "the recording cannot be written", second: "two", change: func(c *config.Config) { c.Record.File = t.TempDir() }, want: "record: ",
			log: "open one, calibrate one, open two, calibrate two, close one, close two"},
		{name: "first does not close", w: watch{failClose: "one"}, second: "two", want: `robot "a": no answer`,
			log: "open one, calibrate one, open two, calibrate two, close one, close two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Listen, cfg.Motions, cfg.Loop.Period = "127.0.0.1:0", t.TempDir(), 0.005
			cfg.Robots = []config.Robot{{Name: "a", Driver: "one"}, {Name: "b", Driver: c.second}}
			if c.change != nil {
				c.change(&cfg)
			}
			s, err := New(t.Context(), cfg, Options{Drivers: c.w.drivers()})
			if err == nil {
				ctx, stop := context.WithCancel(t.Context())
				go func() {
					<-s.Ready()
					stop()
				}()
				err = s.Run(ctx)
			}
			if got := strings.Join(c.w.log, ", "); got != c.log {
				t.Errorf("got  %s\nwant %s", got, c.log)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestOpeningCanBeEnded: the context of New reaches the driver.
func TestOpeningCanBeEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	var saw error
	table := driver.Table{driver.Row("slow", "waits", sim.DefaultSettings, func(m *robot.Model, period float64, s sim.Settings) (servo.Driver, error) {
		d, err := sim.NewDriver(m, period, s)
		return opening{d, func(ctx context.Context) error {
			<-ctx.Done()
			saw = context.Cause(ctx)
			return saw
		}}, err
	})}
	cfg := config.Default()
	cfg.Listen, cfg.Motions = "127.0.0.1:0", t.TempDir()
	cfg.Robots[0] = config.Robot{Name: "virtual", Driver: "slow"}
	if _, err := New(ctx, cfg, Options{Drivers: table}); err == nil || saw == nil || !errors.Is(err, saw) {
		t.Errorf("got %v, the driver saw %v", err, saw)
	}
}

type opening struct {
	servo.Driver
	open func(ctx context.Context) error
}

func (d opening) Open(ctx context.Context) error { return d.open(ctx) }

// TestHardwareStaysLimp until it is told: a robot that says it is no simulation gets no
// torque by itself, and the server is ready nevertheless.
func TestHardwareStaysLimp(t *testing.T) {
	w := watch{hardware: true}
	cfg := config.Default()
	cfg.Listen, cfg.Motions, cfg.Loop.Period = "127.0.0.1:0", t.TempDir(), 0.005
	cfg.Loop.Silence, cfg.Faults.Gap.Severity = 600, "ignore" // a busy machine may stop the cycle for a while
	cfg.Robots = append(cfg.Robots, config.Robot{Name: "iron", Driver: "one"})
	s, err := New(t.Context(), cfg, Options{Drivers: w.drivers()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-s.Ready()
	iron := s.robots[1]
	for iron.exec.State().Power != loop.Ready {
		time.Sleep(time.Millisecond)
	}
	for from := iron.exec.State().Tick.N; iron.exec.State().Tick.N < from+20; { // time for torque to come
		time.Sleep(time.Millisecond)
	}
	if p := iron.exec.State().Power; p != loop.Ready {
		t.Errorf("hardware is %v, want %v", p, loop.Ready)
	}
	if p := s.robots[0].exec.State().Power; p != loop.Enabled {
		t.Errorf("the simulated robot is %v", p)
	}
	if o, err := waitFor(t.Context(), iron.exec.Power("test", true)); err != nil || !o.OK() {
		t.Errorf("torque on: %+v, %v", o, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestHardwareIsNotStartedPowered: a robot that says it is no simulation cannot be declared
// to start with torque, a gap of its cycle stops it unless it is declared to pause, and a
// pose to rest in has to be one of the robot's.
func TestHardwareIsNotStartedPowered(t *testing.T) {
	w := watch{hardware: true}
	with := func(r config.Robot) (*Server, error) {
		r.Name, r.Driver = "iron", "one"
		cfg := config.Default()
		cfg.Listen, cfg.Motions = "127.0.0.1:0", t.TempDir()
		cfg.Robots = []config.Robot{r}
		return New(t.Context(), cfg, Options{Drivers: w.drivers()})
	}
	for _, c := range []struct {
		r    config.Robot
		want string
	}{
		{config.Robot{Start: config.StartPowered}, "hardware, which starts limp"},
		{config.Robot{Leaving: config.Leaving{Do: "rest", Pose: "lyin"}}, `did you mean "lying"?`},
	} {
		if _, err := with(c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.r, err, c.want)
		}
	}
	for gap, pauses := range map[string]bool{"": false, config.GapStops: false, config.GapPauses: true} {
		s, err := with(config.Robot{AfterGap: gap})
		if err != nil {
			t.Fatal(err)
		}
		var settings loop.Settings
		if err := s.robots[0].live(&settings); err != nil || settings.GapPauses != pauses || s.robots[0].starts() {
			t.Errorf("after_gap %q: pauses %v, starts %v, %v", gap, settings.GapPauses, s.robots[0].starts(), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
