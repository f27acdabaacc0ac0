package bus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// How servos are looked for at the start.
const (
	searchRounds    = 3 // at least
	searchTime      = 3 * time.Second
	longestPatience = 100 * time.Millisecond
)

// begin opens the port and finds the servos.
func (w *worker) begin(ctx context.Context) error {
	if err := w.connect(); err != nil {
		return err
	}
	missing, err := w.search(ctx)
	if err != nil {
		return err
	}
	if len(missing) == len(w.units) || len(missing) > 0 && !w.settings.Partial {
		return errors.Join(missing...)
	}
	for range agreement + 2 {
		if err := w.read(); err != nil {
			return err
		}
	}
	w.publish()
	return nil
}

// search looks for all servos, again and again and with growing patience for those that say nothing: the machine, or
// what is at the other end, may be busy, the line may lose packets, and a servo that just got its power starts.
func (w *worker) search(ctx context.Context) (missing []error, err error) {
	patience := w.conn.Patience
	defer func() { w.conn.Patience = patience }()
	began, unfound := time.Now(), append([]*unit(nil), w.units...)
	for round := 0; len(unfound) > 0 && (round < searchRounds || time.Since(began) < searchTime); round++ {
		if round > 1 {
			w.conn.Patience = max(patience, min(2*w.conn.Patience, longestPatience))
		}
		silent := unfound[:0]
		for _, u := range unfound {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var gone *portError
			switch u.wrong = w.find(u); {
			case errors.As(u.wrong, &gone):
				return nil, u.wrong
			case errors.Is(u.wrong, ErrSilent), u.wrong != nil && answered(u.wrong) && round+1 < searchRounds:
				silent = append(silent, u)
			}
		}
		unfound = silent
	}
	for _, u := range w.units {
		if u.wrong != nil {
			missing = append(missing, u.wrong)
		}
	}
	return missing, nil
}

// find asks whether a servo is there and is what it should be, and prepares it.
func (w *worker) find(u *unit) error {
	id, err := w.talk.Ping(u.ID)
	if err == nil && id.Number != u.Model.Number {
		err = fmt.Errorf("is %s, robot.yaml says %s", modelName(w.line.Family, id.Number), u.Model.Name)
	}
	if err == nil {
		err = w.talk.Prepare(&u.Servo)
	}
	if err == nil {
		err = w.declare(u)
	}
	if err != nil {
		return fmt.Errorf("joint %q: servo %d on %s: %w", u.name, u.ID, w.line.String(), err)
	}
	u.present, u.misses, u.agree, u.unsure, u.heard = true, 0, 0, false, w.began
	u.firmware = id.Firmware
	u.count()
	if u.State.Torque == TorqueOn && !u.obeyed {
		u.foundOn = true
	}
	u.on = u.on && u.State.Torque == TorqueOn
	if u.cut && u.State.Torque == TorqueOff {
		u.limp, u.restarted = w.began.Add(max(stale, 10*w.period)), w.began.Add(tellRestart)
	}
	u.cut = false
	return nil
}

// count lets the turns of a servo be counted again, which may have forgotten them: it is where
// it was before, or, if that is not known, where robot.yaml lets it be.
func (u *unit) count() {
	switch {
	case u.Turn == 0 || u.recount:
		return
	case u.seq > 0:
		u.before = u.doubt
	case u.wanted.Limited && u.High-u.Low < u.Turn:
		u.before = (u.Low + u.High) / 2
	default:
		return
	}
	u.recount, u.agree, u.doubted = true, 0, false
}

// reading returns where a servo is, with the turns that it has forgotten.
func (u *unit) reading() int32 {
	if u.recount {
		u.turns = u.Turn * int32(math.Round(float64(u.before-u.State.Position)/float64(u.Turn)))
		u.recount = u.agree+1 < agreement
	}
	return u.State.Position + u.turns
}

// declare brings a servo to what robot.yaml says of it: its limits, and registers that are
// forgotten without power. What differs and is kept without power is refused.
func (w *worker) declare(u *unit) error {
	if err := checkRange(u.of, u.wanted, u.Model, u.Turn != 0); err != nil {
		return fmt.Errorf("robot.yaml: %w", err)
	}
	if u.wanted.Limited {
		u.Low = int32(max(int(u.Low), u.wanted.Low))
		u.High = int32(min(int(u.High), u.wanted.High))
		if u.Low >= u.High {
			return fmt.Errorf("its range %d … %d of robot.yaml is outside what its registers allow", u.wanted.Low, u.wanted.High)
		}
	}
	for _, want := range u.wanted.Registers {
		r, ok := u.Model.Register(want.Name)
		if !ok || r.ReadOnly || r.Moves || r.Name == "id" || r.Name == "baud" {
			return fmt.Errorf("robot.yaml sets register %q, which a %s does not have, or which is not one to be set", want.Name, u.Model.Name)
		}
		now, err := w.talk.Read(u.ID, u.Model, r)
		if err != nil {
			return err
		}
		if _, several := w.line.Family.(Moder); r.Name == "mode" && !several && now != int64(want.Value) {
			return fmt.Errorf("robot.yaml sets mode %d, and a %s is driven in its position mode alone, which is %d: leave mode out", want.Value, u.Model.Name, now)
		}
		if r.Shifts && !r.Saved && now != int64(want.Value) && u.State.Torque != TorqueOff {
			return fmt.Errorf("register %s holds %d, robot.yaml says %d, and it would move a servo that has torque: let it go first (poise bus write PORT %d %s 0)", r.Name, now, want.Value, u.ID, torqueRegister(u.Model))
		}
		if isGain(r.Name) && want.Value > 0 && (r.Shadow || !r.Saved) {
			if err := w.lock(u); err != nil {
				return err
			}
			if u.hold(r, int64(want.Value), now) {
				continue
			}
		}
		if now == int64(want.Value) {
			continue
		}
		if r.Saved && !r.Shadow {
			return fmt.Errorf("register %s holds %d, robot.yaml says %d, and it is kept without power: poise bus write PORT %d %s %d", r.Name, now, want.Value, u.ID, r.Name, want.Value)
		}
		if r.Shadow {
			if err := w.lock(u); err != nil {
				return err
			}
		}
		volatile := *r
		volatile.Saved = false
		if err := w.talk.Write(u.ID, u.Model, &volatile, int64(want.Value)); err != nil {
			return err
		}
		if now, err = w.talk.Read(u.ID, u.Model, r); err != nil {
			return err
		}
		if now != int64(want.Value) {
			return fmt.Errorf("register %s holds %d after %d was written", r.Name, now, want.Value)
		}
		if u.gain.register == r {
			u.gain.now = now
		}
	}
	return nil
}

// torqueRegister names the register that switches the torque of a model.
func torqueRegister(m *Model) string {
	if _, ok := m.Register("torque_control"); ok {
		return "torque_control"
	}
	return "torque"
}

// lock locks the EEPROM of a servo that a program left open: what is written then holds until power is gone, and wears
// nothing.
func (w *worker) lock(u *unit) error {
	r, ok := u.Model.Register("lock")
	if !ok {
		return nil
	}
	if now, err := w.talk.Read(u.ID, u.Model, r); err != nil || now == 1 {
		return err
	}
	return w.talk.Write(u.ID, u.Model, r, 1)
}

func modelName(f Family, number int) string {
	if m, ok := ModelNumbered(f, number); ok {
		return "a " + m.Name
	}
	return fmt.Sprintf("of model %d, which is not known", number)
}

// look looks for one servo that is lost.
func (w *worker) look(now time.Time) error {
	var gone *portError
	for _, u := range w.units {
		if u.present || now.Before(u.again) {
			continue
		}
		u.again = now.Add(lookAgain)
		switch err := w.find(u); {
		case err == nil:
			u.again = time.Time{}
		case errors.As(err, &gone): // with all servos lost nothing else would notice
			return err
		}
		return nil
	}
	return nil
}
