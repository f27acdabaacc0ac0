package server

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/robot"
	"poise/server/config"
	"poise/servo"
	"poise/servo/driver"
	"poise/servo/sim"
)

// TestTheLeadIsWhatTheDriverAsksFor, unless the configuration says one.
func TestTheLeadIsWhatTheDriverAsksFor(t *testing.T) {
	line, virtual := &servo.Capabilities{Lead: 1}, &servo.Capabilities{}
	period := 11200 * time.Microsecond
	usual := config.Default().Loop.Lead
	for _, c := range []struct {
		configured float64
		can        *servo.Capabilities
		want       float64
	}{{usual, line, 0.0112}, {usual, virtual, 0}, {0, line, 0}, {0.02, line, 0.02}, {0.02, virtual, 0.02}} {
		if got := leadOf(c.configured, c.can, period); got != c.want {
			t.Errorf("configured %g, driver %g periods: %g s, want %g", c.configured, c.can.Lead, got, c.want)
		}
	}
}

// slowLine is a driver whose setpoints act two periods late.
type slowLine struct{ servo.Driver }

func (d slowLine) Capabilities() servo.Capabilities {
	c := d.Driver.Capabilities()
	c.Lead = 2
	return c
}

// TestTheLeadIsTold: of every robot, where it comes from, and a lead of 0 as well.
func TestTheLeadIsTold(t *testing.T) {
	drivers := append(slices.Clone(driver.Standard), driver.Row("line", "a slow line", sim.DefaultSettings, func(m *robot.Model, period float64, s sim.Settings) (servo.Driver, error) {
		d, err := sim.NewDriver(m, period, s)
		return slowLine{d}, err
	}))
	for _, c := range []struct {
		configured float64
		a, b       string // what is told of a robot whose setpoints act at once, and of one on the line
	}{
		{config.Default().Loop.Lead, `lead=0 periods=0 why="setpoints of its driver act at once"`, `lead=0.01 periods=2 why="what its driver asks for"`},
		{0.02, `lead=0.02 periods=4 why="as configured"`, `lead=0.02 periods=4 why="as configured"`},
		{0, `lead=0 periods=0 why="as configured"`, `lead=0 periods=0 why="as configured"`},
	} {
		cfg := config.Default()
		cfg.Listen, cfg.Motions, cfg.Loop.Period, cfg.Loop.Lead = "127.0.0.1:0", t.TempDir(), 0.005, c.configured
		cfg.Robots = []config.Robot{{Name: "a", Driver: "sim"}, {Name: "b", Driver: "line"}}
		var log bytes.Buffer
		s, err := New(t.Context(), cfg, Options{Drivers: drivers, Log: &log})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := s.Run(ctx); err != nil {
			t.Fatal(err)
		}
		for robot, want := range map[string]string{"a": c.a, "b": c.b} {
			if line := `msg="setpoints aim ahead" robot=` + robot + " " + want; !strings.Contains(log.String(), line) {
				t.Errorf("configured %g: no line %s in\n%s", c.configured, line, log.String())
			}
		}
	}
}
