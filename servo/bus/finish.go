package bus

import (
	"fmt"
	"time"

	"poise/servo"
)

// finishTime is how long Close tries to carry out the last that the cycle said.
const finishTime = 400 * time.Millisecond

// finish carries out the last that the cycle said, which may have come right before Close: goals once, torque off until
// servos confirm that it is gone. Nothing gets torque any more.
func (w *worker) finish() {
	now := time.Now()
	over := now.Add(finishTime)
	goals, fresh := w.goals.Load()
	w.commands, w.fresh, w.closing = *goals, w.fresh || fresh, true
	if w.freshen(now); w.port == nil {
		return
	}
	for first := true; first || !w.released() && now.Before(over); first, now = false, time.Now() {
		w.began = now
		if w.command(now) != nil || w.readTorque(over) != nil {
			_ = w.hangUp() // it is gone: unconfirmed says of which servos nothing is known
			return
		}
	}
	w.conn.drain()
}

// readTorque asks the servos that were told to be off whether their torque is gone.
func (w *worker) readTorque(over time.Time) error {
	for i, u := range w.units {
		if !u.present || !w.mayHold(i) || time.Now().After(over) {
			continue
		}
		if err := w.talk.Slow(&u.Servo); err != nil && !answered(err) {
			return err
		}
	}
	return nil
}

// released reports whether nothing is left to be switched off.
func (w *worker) released() bool {
	for i, u := range w.units {
		if u.present && u.obeyed && w.mayHold(i) {
			return false
		}
	}
	return true
}

// mayHold reports whether a servo was told last to be off and may have torque all the same.
func (w *worker) mayHold(i int) bool {
	u := w.units[i]
	return w.commands[i].Mode == servo.Off && (u.obeyed || u.foundOn) && u.State.Torque != TorqueOff
}

// unconfirmed names the servos that were told to be off and may have torque all the same. The worker is done.
func (w *worker) unconfirmed() (all []string) {
	for i, u := range w.units {
		if !w.mayHold(i) {
			continue
		}
		how := "its torque is on"
		if u.State.Torque != TorqueOn || w.port == nil || !u.present {
			how = "no answer whether its torque is off"
		}
		all = append(all, fmt.Sprintf("joint %q: %s: %s", u.name, w.place(u), how))
	}
	return all
}
