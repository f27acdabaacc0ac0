package bus

import (
	"math"
	"time"
)

// read asks all servos for their states.
func (w *worker) read() error {
	w.group = w.group[:0]
	for _, u := range w.units {
		if u.present {
			w.group = append(w.group, &u.Servo)
		}
	}
	if err := w.talk.States(w.group); err != nil {
		return err
	}
	single := 0
	heard := false
	for _, u := range w.units {
		if !u.present {
			continue
		}
		if !u.Heard && single < 2 && len(w.group) > 1 { // it may only have been in the way of another
			single++
			one := [...]*Servo{&u.Servo}
			u.Variant = !u.Variant
			if err := w.talk.States(one[:]); err != nil {
				return err
			}
		}
		if u.Heard && (u.unsure || u.misses > 1 || w.longAgo(u)) {
			u.unsure = true
			u.count()
			if err := w.assure(u); err != nil {
				return err
			}
		}
		heard = heard || u.Heard
		w.judge(u)
	}
	if w.silent++; heard {
		w.silent = 0
	}
	return nil
}

// assure asks a servo that was silent whether it still has its torque and obeys, several times: one answer could be that of
// another servo. judge sees whether it does.
func (w *worker) assure(u *unit) error {
	for range agreement {
		if err := w.talk.Slow(&u.Servo); err != nil {
			if answered(err) {
				return nil // it stays unsure
			}
			return err
		}
		if u.State.Torque == TorqueOff {
			break
		}
	}
	if u.on && u.State.Torque != TorqueOff {
		if err := w.askWatchdog(u); err != nil {
			if answered(err) {
				return nil
			}
			return err
		}
	}
	u.unsure = false
	return nil
}

// askWatchdog asks a servo whether its watchdog has stopped it, until it says no.
func (w *worker) askWatchdog(u *unit) (err error) {
	dog, ok := w.talk.(Watchdog)
	for i := 0; ok && i < agreement; i++ {
		if u.tripped, err = dog.Tripped(&u.Servo); err != nil || !u.tripped {
			return err
		}
	}
	return nil
}

// longAgo reports whether a servo was last heard before so long that it may have started anew
// since: it, or this program, was held up.
func (w *worker) longAgo(u *unit) bool {
	cycle := time.Duration(w.took * float64(time.Second))
	return w.began.Sub(u.heard) > min(silence+2*cycle, max(longestSilence, cycle*3/2))
}

// judge takes a reading, unless it cannot be: check sums of one byte let some errors pass.
func (w *worker) judge(u *unit) {
	if !u.Heard {
		if u.misses++; u.misses >= lostAfter {
			u.cut = u.cut || u.on && w.silent >= quiet
			u.present, u.on, u.agree = false, false, 0
		}
		return
	}
	u.misses, u.heard = 0, w.began
	if u.on && (u.State.Torque == TorqueOff || u.tripped) { // it has lost its torque by itself, or obeys no goal
		u.on, u.tripped = false, false
		u.restarted = w.began.Add(tellRestart)
		u.present, u.again = false, time.Time{} // it is found and prepared anew
		return
	}
	last, now := u.doubt, u.reading()
	if u.agree > 0 || u.doubted {
		far := math.Abs(float64(now-last)) * u.Model.Step
		switch {
		case far <= believable:
			if u.doubted = false; far <= min(believable, near+fastest*w.took) {
				u.agree++
			} else {
				u.agree = 1
			}
		case !u.doubted:
			u.doubted, u.agree = true, 0
			u.doubt = now
			return // the next one shows whether it is there
		default:
			u.agree, u.doubted = 1, false
		}
	} else {
		u.agree = 1
	}
	u.doubt = now
	u.seq++
}

// believable is how far a servo can have turned between two readings, rad. Those that agree on a position for
// its torque to come at are nearer: near, and what a limb that sinks does at fastest, rad/s. Else the reading of
// another servo could pass for its own, and be its first goal.
const (
	believable = 0.35
	near       = 0.03
	fastest    = 3.0
	soon       = 0.01 // s in which two readings right after each other are made
)

// slowShare is how much more time there is than slow values take.
const slowShare = 25

// slow asks one servo for what does not change every cycle.
func (w *worker) slow() error {
	began := time.Now()
	if began.Before(w.slowAt) {
		return nil
	}
	defer func() { w.slowAt = began.Add(slowShare * time.Since(began)) }()
	for range w.units {
		u := w.units[w.turn%len(w.units)]
		w.turn++
		if !u.present {
			continue
		}
		if err := w.talk.Slow(&u.Servo); err != nil && !answered(err) {
			return err
		}
		return nil
	}
	return nil
}
