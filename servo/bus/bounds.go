package bus

import (
	"errors"
	"fmt"
	"math/bits"

	"poise/robot"
	"poise/servo"
)

// Readings returns which positions a servo of a model can read within a turn, steps: some read a little further than they
// can be told to go.
func (m *Model) Readings() (low, high int) {
	return min(0, int(m.Low)), 1<<bits.Len32(uint32(m.High)) - 1
}

// CheckReading wants a value of robot.yaml, such as zero, to be one that a servo can read; turns says that its position
// counts them.
func (m *Model) CheckReading(name string, v float64, turns bool) error {
	low, high := m.Readings()
	what := fmt.Sprintf("a %s reads", m.Name)
	if turns {
		low, high = m.farthest()
		what += " over all its turns"
	}
	if v < float64(low) || v > float64(high) {
		return fmt.Errorf("%s %v: %s %d … %d", name, v, what, low, high)
	}
	return nil
}

// farthest returns between which positions a servo can be whose position counts turns: what its register holds. Models
// that count none have no sign in it.
func (m *Model) farthest() (low, high int) {
	r, ok := m.Register("present_position")
	switch {
	case !ok || r.Sign == Unsigned:
		return m.Readings()
	case r.Sign == Twos:
		return -1 << (8*r.Size - 1), 1<<(8*r.Size-1) - 1
	}
	return -1<<r.Sign + 1, 1<<r.Sign - 1
}

// checkRange wants zero, min and max of robot.yaml to be readings of a servo. A zero that the joint's limits keep it away
// from need not be one.
func checkRange(j *robot.Joint, a robot.Servo, m *Model, turns bool) error {
	var errs []error
	if l := j.Limits; !l.Lower.Has || !l.Upper.Has || l.Lower.Value <= 0 && l.Upper.Value >= 0 {
		errs = append(errs, m.CheckReading("zero", a.Zero, turns))
	}
	if a.HasLow {
		errs = append(errs, m.CheckReading("min", float64(a.Low), turns))
	}
	if a.HasHigh {
		errs = append(errs, m.CheckReading("max", float64(a.High), turns))
	}
	return errors.Join(errs...)
}

// within returns between which positions a servo can be told to be, rad: by its registers and robot.yaml.
func (u *unit) within() (low, high float64) {
	low, high = u.scale.Position(u.Low), u.scale.Position(u.High)
	return min(low, high), max(low, high)
}

// outside reports whether a servo stands where it cannot be told to be: it would move by itself when it gets torque.
func (u *unit) outside() bool {
	low, high := u.within()
	at := u.scale.Position(u.State.Position + u.turns)
	return at < low-servo.StandingSlack || at > high+servo.StandingSlack
}

// powers reports whether the cycle wants a servo to have torque.
func (w *worker) powers(i int) bool {
	return i < len(w.commands) && (servo.ModesOf(servo.Position, servo.Velocity, servo.Effort)).Has(w.commands[i].Mode)
}

// limits returns between which positions a joint may be: those of the joint, and those of its servo. They do not meet if
// low is above high.
func (d *Driver) limits(u *unit) (low, high float64) {
	low, high = u.within()
	j := &d.model.Joints()[u.joint]
	if l := j.Limits; j.Kind != robot.Continuous && l.Lower.Has && l.Upper.Has {
		low, high = max(low, l.Lower.Value), min(high, l.Upper.Value)
	}
	return low, high
}

// beyond says that a servo stands beyond its limits: those of the joint, and those of the servo by its registers and
// robot.yaml.
func (d *Driver) beyond(w *worker, u *unit) string {
	if u.seq == 0 {
		return ""
	}
	low, high := d.limits(u)
	at := u.scale.Position(u.doubt)
	if at >= low-servo.StandingSlack && at <= high+servo.StandingSlack {
		return ""
	}
	limits := fmt.Sprintf("its limits are %.3f … %.3f rad", low, high)
	if low > high {
		l := d.model.Joints()[u.joint].Limits
		least, most := u.within()
		limits = fmt.Sprintf("its limits %.3f … %.3f rad and those of its servo, %.3f … %.3f rad, do not meet", l.Lower.Value, l.Upper.Value, least, most)
	}
	return fmt.Sprintf("joint %q: servo %d on %s stands at %.3f rad, %s: it gets no torque until it is moved back by hand, or calibrated (poise bus calibrate)", u.name, u.ID, w.line.String(), at, limits)
}

// Within implements servo.Bounded.
func (d *Driver) Within() (all []servo.Within) {
	for _, w := range d.workers {
		for _, u := range w.units {
			low, high := d.limits(u)
			if u.wrong != nil { // it may be found later; the line knows its own limits then
				l := d.model.Joints()[u.joint].Limits
				low, high = l.Lower.Value, l.Upper.Value
			}
			if u.wrong == nil || low < high {
				all = append(all, servo.Within{Joint: u.joint, Low: low, High: high})
			}
		}
	}
	return all
}
