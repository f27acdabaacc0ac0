package server_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/server"
	"poise/server/config"
	"poise/servo"
	"poise/servo/bus"
	"poise/servo/driver"
	"poise/servo/emulator"
	"poise/servo/families"
	"poise/servo/imu"
	"poise/wire/rosbridge/client"
)

// lined is a server whose robot has emulated servos on a line in memory.
type lined struct {
	*bed
	mu     sync.Mutex
	servos *emulator.Emulator
	port   bus.Port
	felt   bool           // it has an inertial unit
	unit   *emulator.Unit // that
	pulled bool
	torque []string // what was switched: torque on or off, and the joint
}

// startLine runs a server with the shipped arm on a line, in fake time.
func startLine(t *testing.T, change func(c *config.Config)) *lined {
	t.Helper()
	return (&lined{}).start(t, change)
}

func (x *lined) start(t *testing.T, change func(c *config.Config)) *lined {
	t.Helper()
	row := driver.Row("line", "emulated servos", bus.DefaultSettings, func(m *robot.Model, period float64, s bus.Settings) (servo.Driver, error) {
		s.Lines, s.Patience = []string{"memory"}, 0.003
		if x.felt {
			s.IMU = "unit"
		}
		d, err := bus.New(m, period, s, families.All)
		if err == nil && x.servos == nil {
			x.servos, err = emulator.New(emulator.Config{Model: m, World: emulator.NewIdeal(make([]float64, len(m.Joints()))), Families: families.All, Baud: 1_000_000, Log: x.happens})
		}
		if err != nil {
			return nil, err
		}
		d.Dial = x.dialLine
		return d, nil
	})
	x.bed = start(t, func(c *config.Config) {
		c.Robot, c.Robots = "so101", []config.Robot{{Name: "real", Driver: "line"}}
		change(c)
	}, func(o *server.Options) { o.Drivers = append(driver.Table{row}, driver.Standard...) })
	return x
}

func (x *lined) happens(e emulator.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if strings.HasPrefix(e.What, "torque") {
		x.torque = append(x.torque, e.What+" "+e.Joint)
	}
}

func (x *lined) dialLine(port string, baud int) (bus.Port, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if port == "unit" {
		here, there := bus.Pipe(baud, 0)
		kind, _ := imu.Named("")
		x.unit = x.servos.Unit(there, kind)
		go func(u *emulator.Unit) { _ = u.Serve() }(x.unit)
		return here, nil
	}
	if x.pulled {
		return nil, errors.New("no adapter")
	}
	here, there := bus.Pipe(1_000_000, 0)
	line := x.servos.Line("", there, 1_000_000)
	go func() { _ = line.Serve() }()
	x.port = here
	return here, nil
}

// plug pulls the adapter out, or puts it back.
func (x *lined) plug(in bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pulled = !in; x.pulled {
		x.port.Close()
	}
}

// holding counts the servos with torque.
func (x *lined) holding() (n int) {
	x.servos.With(func() {
		for _, s := range x.servos.Servos() {
			if s.Mode() == servo.Position {
				n++
			}
		}
	})
	return n
}

// energise gives all servos torque.
func (x *lined) energise() {
	x.t.Helper()
	x.until("power is ready", func() bool { return x.state().Power == "ready" })
	x.must("/set_torque", &poisemsgs.SetTorqueRequest{On: true})
	x.until("all servos hold", func() bool { return x.holding() == len(x.servos.Servos()) })
}

// finish stops the server.
func (x *lined) finish() {
	x.t.Helper()
	x.stop()
	if err := <-x.ended; err != nil {
		x.t.Error(err)
	}
	x.ended <- nil // for the cleanup
}

// TestServosAreLeftAsDeclared: the servos themselves have the torque that the log says: none after off and rest, all of it
// after hold; what could not be confirmed is said.
func TestServosAreLeftAsDeclared(t *testing.T) {
	for _, c := range []struct {
		leaving config.Leaving
		holding int
		how     string
	}{
		{config.Leaving{Do: "hold"}, 6, "it holds its pose"},
		{config.Leaving{Do: "off"}, 0, "without torque"},
		{config.Leaving{Do: "rest", Pose: "rest"}, 0, "without torque"},
	} {
		t.Run(c.leaving.Do, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := startLine(t, func(cfg *config.Config) { cfg.Robots[0].Leaving = c.leaving })
				x.energise()
				x.finish()
				if n := x.holding(); n != c.holding {
					t.Errorf("%d servos hold, must be %d", n, c.holding)
				}
				if left := x.log.lines("robot is left"); len(left) != 1 || !strings.Contains(left[0], c.how) {
					t.Errorf("%q", left)
				}
			})
		})
	}
	t.Run("unconfirmed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := startLine(t, func(cfg *config.Config) { cfg.Robots[0].Leaving.Do = "off" })
			x.energise()
			x.servos.With(func() { x.servos.Servos()[2].Kill(true) })
			x.finish()
			name := x.servos.Servos()[2].Joint
			if left := x.log.lines("robot is left"); len(left) != 1 || !strings.Contains(left[0], "torque off is not confirmed") || !strings.Contains(left[0], name) || strings.Contains(left[0], "without torque") {
				t.Errorf("%q", left)
			}
		})
	})
}

// TestWhatServosDoNotConfirmIsSaid: stops and torque commands are sent to servos that do not answer, and do not succeed; they
// name these servos, and do not wait for long. What was sent is carried out when they answer again.
func TestWhatServosDoNotConfirmIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := startLine(t, func(*config.Config) {})
		x.energise()
		kill := func(dead bool, s *emulator.Servo) { x.servos.With(func() { s.Kill(dead) }) }
		all := x.servos.Servos()
		// said wants an answer soon, which names just the servos that are silent.
		said := func(what string, silent []*emulator.Servo, ask func() answer) {
			t.Helper()
			began := time.Now()
			a := ask()
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("%s: the answer came after %v", what, took)
			}
			if a.Success != (len(silent) == 0) || strings.Contains(a.Message, "not confirmed by") == a.Success {
				t.Errorf("%s: %+v", what, a)
			}
			for _, s := range all {
				if strings.Contains(a.Message, fmt.Sprintf("%s (servo %d on line memory)", s.Joint, s.ID)) != slices.Contains(silent, s) {
					t.Errorf("%s: %s: %s", what, s.Joint, a.Message)
				}
			}
		}
		torque := func(on bool, resources ...string) func() answer {
			return func() answer { return x.ask("/set_torque", &poisemsgs.SetTorqueRequest{On: on, Resources: resources}) }
		}
		stop := func(query string) func() answer {
			return func() answer { _, a := x.post("/stop"+query, "", "", nil); return a }
		}
		service := func() answer { return x.ask("/stop", &poisemsgs.StopRequest{Category: 0}) }
		last, one := all[len(all)-1], all[len(all)-1:]

		kill(true, last)
		said("torque off of one of two", one, torque(false, all[0].Joint, last.Joint))
		said("torque off of one that answers", nil, torque(false, all[1].Joint))
		said("a stop of the mildest category", one, stop("?until=stands"))
		x.plug(false)
		said("torque off", all, torque(false))
		for range 2 { // once the fault of the bus is there, too
			time.Sleep(2 * time.Second)
			said("stop 0", all, stop("?category=0"))
			said("stop 0 until it stands", all, stop("?category=0&until=stands"))
			said("stop 2", all, stop(""))
			said("the service", all, service)
		}
		if n := x.holding(); n != len(all)-3 {
			t.Errorf("%d servos hold: those that were not reached cannot have let go", n)
		}
		kill(false, last)
		x.plug(true)
		x.until("the servos have let go", func() bool { return x.holding() == 0 })
		said("stop 0 of servos that answer", nil, stop("?category=0"))
		said("and until they stand", nil, stop("?category=0&until=stands"))
		said("and the service", nil, service)
		x.must("/reset", &poisemsgs.ResetRequest{})
		said("torque on", nil, torque(true))
		x.plug(false)
		said("torque on of servos that do not answer", all, torque(true))
	})
}

// TestASilentInertialUnitIsNotPublished: its messages have the time of their measurement; a unit that says nothing any more
// is told once as a fault, and nothing is published of it until it is back.
func TestASilentInertialUnitIsNotPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := (&lined{felt: true}).start(t, func(*config.Config) {})
		// heard counts the messages of some seconds, and says how old the oldest was when it came.
		heard := func(seconds float64) (n int, oldest time.Duration) {
			s := x.subscribe("/imu")
			defer s.Close()
			ctx, cancel := context.WithTimeout(x.ctx, time.Duration(seconds*float64(time.Second)))
			defer cancel()
			for {
				text, _, err := s.Next(ctx)
				if err != nil {
					return n, oldest
				}
				var m msgs.Imu
				if err := client.Read(text, &m); err != nil {
					t.Fatal(err)
				}
				n++
				oldest = max(oldest, time.Since(time.Unix(int64(m.Header.Stamp.Sec), int64(m.Header.Stamp.Nanosec))))
			}
		}
		if n, oldest := heard(1); n < 50 || oldest > 50*time.Millisecond {
			t.Errorf("%d messages, the oldest %v old", n, oldest)
		}
		x.unit.Have(emulator.Trouble{Silent: true})
		if _, oldest := heard(1); oldest < 300*time.Millisecond || oldest > 600*time.Millisecond {
			t.Errorf("the last message of a unit that fell silent was %v old", oldest)
		}
		if n, _ := heard(2); n > 1 { // one that is kept for those who come later
			t.Errorf("%d messages of a silent unit", n)
		}
		if told := x.log.lines("inertial unit silent"); len(told) != 1 || !strings.Contains(told[0], "without a measurement") {
			t.Errorf("%q", told)
		}
		if f := x.state().Faults; len(f) != 1 || f[0].Kind != "inertial unit silent" {
			t.Errorf("%+v", f)
		}
		x.unit.Have(emulator.Trouble{})
		if n, _ := heard(1); n < 50 || len(x.state().Faults) > 0 {
			t.Errorf("back again: %d messages, faults %+v", n, x.state().Faults)
		}
	})
}

// TestAnArmHoldsThroughAReplug: a robot whose limbs hold as their safe state keeps its torque while its cable is unplugged,
// says so, and is not switched off when the cable is back; a servo that lost its torque meanwhile is limp, and said to be,
// until it is told to have torque.
func TestAnArmHoldsThroughAReplug(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			x := startLine(t, func(*config.Config) {})
			x.energise()
			x.mu.Lock()
			x.torque = nil
			x.mu.Unlock()
			x.plug(false)
			time.Sleep(time.Second)
			if st := x.state(); st.Power != "enabled" || len(st.Limp) > 0 || len(st.Faults) == 0 {
				t.Errorf("unplugged: power %s, limp %v, faults %+v", st.Power, st.Limp, st.Faults)
			}
			name, holding := x.servos.Servos()[2].Joint, 6
			if lost {
				x.servos.With(x.servos.Servos()[2].Reset)
				holding = 5
			}
			time.Sleep(time.Second)
			x.plug(true)
			time.Sleep(3 * time.Second)
			st := x.state()
			if n := x.holding(); n != holding || st.Power != "enabled" || lost != slices.Contains(st.Limp, name) || !lost && len(st.Limp) > 0 {
				t.Errorf("back again: %d servos hold, power %s, limp %v", n, st.Power, st.Limp)
			}
			x.mu.Lock()
			for _, what := range x.torque {
				if strings.HasPrefix(what, "torque off") && !strings.Contains(what, name) {
					t.Error(what)
				}
			}
			x.mu.Unlock()
			x.must("/reset", &poisemsgs.ResetRequest{})
			x.must("/set_torque", &poisemsgs.SetTorqueRequest{On: true})
			x.until("all servos hold", func() bool { return x.holding() == 6 })
			if st := x.state(); len(st.Faults) > 0 || len(st.Limp) > 0 {
				t.Errorf("after a reset: faults %+v, limp %v", st.Faults, st.Limp)
			}
		})
	}
}
