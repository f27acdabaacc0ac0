package bus

import (
	"errors"
	"fmt"
	"math"
	"time"

	"poise/internal/rt"
	"poise/robot"
	"poise/servo"
)

// unit is a servo of the robot on its line.
type unit struct {
	Servo
	joint  int
	of     *robot.Joint
	name   string
	scale  Scale
	wanted robot.Servo // as robot.yaml has it
	gain   gain

	firmware string

	present bool      // it answers
	misses  int       // in a row
	heard   time.Time // when it last answered
	unsure  bool      // it was silent for so long that it may have started anew: no goals until its torque is known
	again   time.Time // when it is looked for again, or switched again
	seq     uint64    // of its readings
	agree   int       // readings in a row that agree: a position to begin from
	doubt   int32     // the last reading, turns included, though it was too far from the one before to be believed
	doubted bool
	turns   int32 // steps of whole turns that the servo has forgotten
	recount bool  // it may have forgotten its turns: they follow from where it was before
	before  int32 // that

	mode      servo.Mode // that it was told last
	on        bool       // it has torque by our doing
	braked    bool
	foundOn   bool // it had torque when it was found
	obeyed    bool // it was told a position once: from then on off means off
	offset    float64
	tripped   bool      // its watchdog has stopped it
	restarted time.Time // it lost its torque by itself: until when that is told
	wrong     error     // why Open did not find it
	cut       bool      // it was lost with its whole line, while it had torque
	limp      time.Time // it came back from that without torque: until when it gets none, and the cycle may tell it off
}

// place says where a servo is.
func (w *worker) place(u *unit) string { return fmt.Sprintf("servo %d on %s", u.ID, w.line.String()) }

// report is what a worker knows of its servos.
type report struct {
	units []unitReport
	alive bool // something was heard lately
}

type unitReport struct {
	reading servo.Reading // without its age
	seq     uint64
}

// worker speaks with the servos of a line, in a rhythm of its own.
type worker struct {
	line     Planned
	dial     func(name string, baud int) (Port, error)
	period   time.Duration
	settings Settings
	units    []*unit
	stop     chan struct{}
	done     chan struct{}

	port     Port
	conn     *Line
	talk     Talker
	fresh    bool      // goals have come since the last cycle
	freshAt  time.Time // when the cycle last said something
	sent     time.Time // when goals were last sent
	began    time.Time // of the last cycle
	took     float64   // s of a cycle, of some in the mean
	last     float64   // s of the last one
	turn     int       // whose slow values are next
	slowAt   time.Time // when they are read
	silent   int       // cycles in which nothing was heard
	closing  bool      // Close was called: nothing gets torque any more
	commands []servo.Setpoint
	group    []*Servo
	batch    []Goal

	goals  *rt.Latest[[]servo.Setpoint] // from the cycle
	states *rt.Latest[report]           // to the cycle

	told []servo.Setpoint // the cycle's own: the last that could be obeyed
	seen []uint64         // the cycle's own: the readings that it knows
	bad  []bool           // the cycle's own: told a mode that there is not
}

// exchange is the cycle's half. Loop-safe.
func (w *worker) exchange(readings []servo.Reading, src []servo.Setpoint, unpowered servo.Modes) (alive bool) {
	r, _ := w.states.Load()
	for i, u := range w.units {
		to, from := &readings[u.joint], &r.units[i]
		if from.seq != w.seen[i] {
			w.seen[i] = from.seq
			*to = from.reading
		}
		to.Fault |= from.reading.Fault
		switch s := &src[u.joint]; {
		case !(unpowered | u.Modes).Has(s.Mode):
			to.Fault |= servo.BadMode
		case s.Finite():
			w.told[i] = *s
		}
	}
	copy(*w.goals.Slot(), w.told)
	w.goals.Publish()
	return r.alive
}

// connect opens the port.
func (w *worker) connect() error {
	port, err := w.dial(w.line.Port, w.line.Baud)
	if err != nil {
		return fmt.Errorf("%s: %w", w.line.String(), err)
	}
	w.port = port
	w.conn = NewLine(port, w.line.Baud, w.line.Family)
	w.conn.Patience = time.Duration(w.settings.Patience * float64(time.Second))
	w.talk = w.line.Family.Talk(w.conn)
	return nil
}

// hangUp closes the port.
func (w *worker) hangUp() error {
	if w.port == nil {
		return nil
	}
	err := w.port.Close()
	w.port = nil
	return err
}

const (
	agreement   = 3                      // readings that agree before torque comes
	lostAfter   = 8                      // misses in a row, then it is looked for
	lookAgain   = 250 * time.Millisecond // between two looks
	tellRestart = 500 * time.Millisecond
	resend      = 50 * time.Millisecond  // goals, though none are new
	quiet       = 5                      // cycles without a word, then the line is down
	silence     = 100 * time.Millisecond // and two cycles: after it a servo is asked for its torque first, since a start takes longer

	longestSilence = 250 * time.Millisecond // unless a cycle takes about as long
)

// run speaks until it is told to stop. A port that is gone is opened again when it is back.
func (w *worker) run() {
	defer close(w.done)
	defer w.leave()
	next := time.Now()
	for {
		wait := time.Duration(0)
		if w.port == nil {
			if w.connect() != nil {
				wait = lookAgain
			}
		}
		if w.port != nil {
			if w.cycle() != nil {
				_ = w.hangUp() // it is gone; what went wrong shows when it cannot be opened
				w.lose()
				wait = lookAgain
			}
		}
		now := time.Now()
		if next = next.Add(w.period); next.Before(now) {
			next = now
		}
		if wait == 0 {
			wait = next.Sub(now)
		}
		if !w.sleep(wait) {
			w.finish()
			return
		}
	}
}

// leave tells servos that the program ends in order.
func (w *worker) leave() {
	leaver, ok := w.talk.(Leaver)
	if !ok || w.port == nil {
		return
	}
	w.group = w.group[:0]
	for _, u := range w.units {
		if u.present && u.on {
			w.group = append(w.group, &u.Servo)
		}
	}
	if len(w.group) > 0 {
		_ = leaver.Leave(w.group) // a line that breaks now is one on which servos stop by themselves
		w.conn.drain()
	}
}

// sleep waits, and reports false if the worker has to stop.
func (w *worker) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.stop:
		return false
	case <-timer.C:
		return true
	}
}

// lose marks all servos as gone.
func (w *worker) lose() {
	for _, u := range w.units {
		u.cut = u.cut || u.on
		u.present, u.on, u.again = false, false, time.Time{}
	}
	w.silent = quiet
	w.publish()
	w.began = time.Time{} // what passes until it is back is no cycle
}

// cycle is one turn: torque, goals, states, slow values of one, a look for what is lost.
func (w *worker) cycle() error {
	now := time.Now()
	if !w.began.IsZero() {
		w.last = now.Sub(w.began).Seconds()
		w.took += 0.2 * (w.last - w.took)
	}
	w.began = now
	goals, fresh := w.goals.Load()
	w.commands, w.fresh = *goals, w.fresh || fresh
	w.freshen(now)
	if w.commands != nil && w.fresh || !w.sent.IsZero() {
		if err := w.stiffen(now); err != nil { // right before the goals that suit the gain
			return err
		}
		if err := w.command(now); err != nil {
			return err
		}
	}
	if err := w.read(); err != nil {
		return err
	}
	if err := w.slow(); err != nil {
		return err
	}
	if err := w.look(now); err != nil {
		return err
	}
	w.publish()
	return nil
}

// command switches torque and sends goals.
func (w *worker) command(now time.Time) error {
	w.group, w.batch = w.group[:0], w.batch[:0]
	switched := false
	for i, u := range w.units {
		s := &w.commands[i]
		if !u.present {
			continue
		}
		switch s.Mode {
		case servo.Position, servo.Velocity, servo.Effort:
			u.obeyed = true
			u.braked = false
			u.change(s)
			if u.on {
				break
			}
			if !switched && w.mayEnergise(u, now) {
				switched = true
				if err := w.energise(u, s, now); err != nil {
					return err
				}
			}
		case servo.Brake:
			if u.obeyed && !u.braked {
				if err := w.talk.Brake(&u.Servo); err == nil {
					u.on, u.braked = false, true
				} else if !answered(err) {
					return err
				}
			}
		default:
			u.limp = time.Time{}
			if u.obeyed && (u.on || u.braked || u.State.Torque != TorqueOff) {
				w.group = append(w.group, &u.Servo)
				u.on, u.braked = false, false
				u.State.Torque = TorqueUnknown // until it is read back
			}
		}
		switch {
		case !u.on:
		case u.keeps() && w.still(u, now):
			w.batch = append(w.batch, Goal{Servo: &u.Servo, Mode: s.Mode, Still: true})
		case u.misses == 0 && !u.unsure && !w.longAgo(u): // a goal may switch the torque of a servo on that has started anew
			w.batch = append(w.batch, w.goal(u, s))
		}
	}
	if len(w.group) > 0 {
		if err := w.talk.Release(w.group); err != nil {
			return err
		}
	}
	if len(w.batch) > 0 && (w.fresh || now.Sub(w.sent) > resend) {
		w.sent = now
		if err := w.talk.Goals(w.batch); err != nil {
			return err
		}
	}
	w.fresh = false
	return nil
}

// mayEnergise reports whether a servo can get its torque: it says nothing bad of itself, its position is known,
// it stands where it can be told to stay, and the cycle that wants it runs.
func (w *worker) mayEnergise(u *unit, now time.Time) bool {
	return !w.closing && !now.Before(u.limp) && !w.hangs(now) && !u.outside() && u.agree >= agreement && !now.Before(u.again) && u.State.Fault&^(servo.BadPacket|servo.OutOfRange) == 0
}

// energise gives torque at the present position; from there the joint goes slowly to where
// it is told to be. One servo at a time, or their currents add up.
func (w *worker) energise(u *unit, s *servo.Setpoint, now time.Time) error {
	if sure, err := w.confirmed(u); err != nil || !sure {
		return err
	}
	err := w.talk.SwitchOn(&u.Servo)
	u.again = now.Add(lookAgain)
	switch {
	case err != nil && !answered(err):
		return err
	case err != nil || u.State.Torque == TorqueOff:
		return nil // it is tried again
	}
	u.on, u.foundOn = true, false
	u.offset = u.scale.Position(u.State.Position+u.turns) - u.aim(s)
	return nil
}

// confirmed asks a servo some times more where it is, right before its torque comes: a reading of another servo, or an old
// one, would be its first goal, and a busy machine lets readings be so far apart that those of a cycle cannot tell.
func (w *worker) confirmed(u *unit) (bool, error) {
	one := [...]*Servo{&u.Servo}
	for range agreement {
		before, asked := u.State.Position, time.Now()
		u.Variant = !u.Variant
		if err := w.talk.States(one[:]); err != nil {
			return false, err
		}
		far := math.Abs(float64(u.State.Position-before)) * u.Model.Step
		if !u.Heard || far > near+fastest*min(time.Since(asked).Seconds(), soon) {
			u.agree = 0
			return false, nil
		}
	}
	return true, nil
}

// goal returns where a servo is to go now.
func (w *worker) goal(u *unit, s *servo.Setpoint) Goal {
	step := w.settings.Ramp * min(w.took, w.last) // a program that was held up does not make up for it
	u.offset -= math.Max(-step, math.Min(u.offset, step))
	at := u.scale.Steps(u.aim(s) + u.offset)
	return Goal{Servo: &u.Servo, Mode: s.Mode, Position: max(u.Low, min(at, u.High)) - u.turns, PlayTime: max(s.PlayTime, w.took),
		Velocity: u.scale.Shaft(s.Velocity, u.Model.Step), Effort: u.scale.Load(s.Effort, u.Model.Step),
		Low: u.Low - u.turns, High: u.High - u.turns}
}

// answered tells what a servo says, or that it says nothing, from a line that is broken.
func answered(err error) bool {
	var refused *StatusError
	return errors.Is(err, ErrSilent) || errors.As(err, &refused) || errors.Is(err, ErrNoBrake)
}

// publish hands over what is known.
func (w *worker) publish() {
	r := w.states.Slot()
	r.alive = w.silent < quiet
	for i, u := range w.units {
		s := &u.State
		to := &r.units[i]
		to.seq = u.seq
		to.reading = servo.Reading{Position: u.scale.Position(u.doubt), Velocity: u.scale.Velocity(s.Velocity, u.Model.Step),
			Effort: u.scale.Effort(s.Effort, u.Model.Step), Voltage: s.Voltage, Temperature: s.Temperature, Fault: s.Fault}
		if !u.present || u.misses > 0 {
			to.reading.Fault |= servo.NoAnswer
		}
		if !u.on && u.present && u.agree > 0 && w.powers(i) && u.outside() {
			to.reading.Fault |= servo.OutOfRange // it gets no torque there
		}
		if w.began.Before(u.restarted) {
			to.reading.Fault |= servo.Restarted
		}
		if w.began.Before(u.limp) {
			to.reading.Fault |= servo.Unpowered
		}
	}
	w.states.Publish()
}
