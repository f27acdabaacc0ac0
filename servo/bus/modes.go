package bus

import (
	"time"

	"poise/robot"
	"poise/servo"
)

// modesOf returns the powered modes of a servo. Where a dead program would let it turn for ever it is position
// alone; a family whose servos stop by themselves says which there are.
func modesOf(f Family, m *Model, wanted robot.Servo) servo.Modes {
	all := servo.ModesOf(servo.Position)
	if more, ok := f.(Moder); ok {
		operating := -1
		for _, r := range wanted.Registers {
			if r.Name == "mode" {
				operating = r.Value
			}
		}
		all |= more.Modes(m, operating)
	}
	return all
}

// stale is how long the cycle may say nothing before servos that keep a velocity or an effort are told to stop, unless
// ten periods are longer: this goroutine would keep their watchdogs quiet.
const stale = 200 * time.Millisecond

// freshen notes when the cycle last said something.
func (w *worker) freshen(now time.Time) {
	if w.fresh {
		w.freshAt = now
	}
}

// hangs reports whether the cycle says nothing.
func (w *worker) hangs(now time.Time) bool { return now.Sub(w.freshAt) > max(stale, 10*w.period) }

// still reports whether a servo must be told to stop: it was not heard, or the cycle says nothing.
func (w *worker) still(u *unit, now time.Time) bool {
	return u.misses > 0 || u.unsure || w.longAgo(u) || w.hangs(now)
}

// keeps reports whether a servo goes on by itself with what it was told last: one that has more than positions.
func (u *unit) keeps() bool { return u.Modes&^servo.ModesOf(servo.Position) != 0 }

// change lets a servo that gets another mode begin where it is, and go from there to its goal slowly.
func (u *unit) change(s *servo.Setpoint) {
	if s.Mode != u.mode && u.on {
		u.offset = u.scale.Position(u.State.Position+u.turns) - u.aim(s)
	}
	u.mode = s.Mode
}
