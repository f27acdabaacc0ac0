package bus

import (
	"math"
	"time"

	"poise/robot"
	"poise/servo"
)

// A joint whose gain robot.yaml declares, position_p or position_kp among its registers, has it at stiffness 1, and less
// with less: in memory that is forgotten without power, never in EEPROM.
const (
	gainPause = 100 * time.Millisecond // between two writes to a servo
	gainStep  = 5                      // part of the gain by which one changes it at most: a limb does not jerk
	gainLeast = 50                     // part of it that is worth one
)

// isGain reports whether a register is the gain of a servo's position.
func isGain(name string) bool { return name == "position_p" || name == "position_kp" }

// declaresGain reports whether a servo has a gain that follows the stiffness of its setpoints.
func declaresGain(m *Model, wanted robot.Servo) bool {
	for _, r := range wanted.Registers {
		if at, ok := m.Register(r.Name); ok && isGain(r.Name) && !at.ReadOnly && (at.Shadow || !at.Saved) && r.Value > 0 {
			return true
		}
	}
	return false
}

// gain is that of a servo.
type gain struct {
	register *Register // nil if it stays as it is
	full     int64     // at stiffness 1
	now      int64
	again    time.Time
}

// hold takes over what a servo that holds has: with another gain it would move before it is told where to.
func (u *unit) hold(r *Register, full, now int64) (held bool) {
	u.gain = gain{register: r, full: full, now: now}
	return u.State.Torque == TorqueOn && now != full
}

// aim is where the goal of a servo is to be with the gain that it has: that comes later than it is asked for, in steps, and
// as coarse as its register. The correction is as much greater as the gain is smaller than the one it is for, so that the
// torque is what the motion needs all the while.
func (u *unit) aim(s *servo.Setpoint) float64 {
	g := &u.gain
	if g.register == nil || g.now <= 0 || g.full <= 0 || !(s.Gain > 0) {
		return s.Position
	}
	return s.Position + s.Correction*(s.Gain*float64(g.full)/float64(g.now)-1)
}

// stiffen writes the gain of one servo that is to have another stiffness.
func (w *worker) stiffen(now time.Time) error {
	for i, u := range w.units {
		g := &u.gain
		if g.register == nil || !u.present || u.misses > 0 || u.unsure || now.Before(g.again) {
			continue
		}
		want := g.full
		switch s := &w.commands[i]; {
		case u.on && s.Mode == servo.Position:
			want = max(1, int64(math.Round(float64(g.full)*max(0, min(s.Stiffness, 1)))))
		case u.State.Torque != TorqueOff:
			continue // it holds by itself
		}
		far := want - g.now
		if far == 0 || want != g.full && max(far, -far)*gainLeast < g.full {
			continue
		}
		step := max(1, g.full/gainStep)
		next := g.now + max(-step, min(far, step))
		g.again = now.Add(gainPause)
		volatile := *g.register
		volatile.Saved = false
		err := w.talk.Write(u.ID, u.Model, &volatile, next)
		if err == nil {
			g.now = next
		} else if !answered(err) {
			return err
		}
		return nil // one a cycle
	}
	return nil
}
