package server

import (
	"testing"
	"time"

	"poise/server/config"
	"poise/servo"
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
