package dynamixel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"poise/servo"
	"poise/servo/bus"
)

// Operating modes.
const (
	modeVelocity        = 1
	modePosition        = 3
	modeExtended        = 4
	modeCurrentPosition = 5
)

// Modes implements bus.Moder. The operating mode lies in EEPROM, which only commands write: so it is declared in
// robot.yaml, and a servo has the modes that follow from it. Position is among them always, since a robot that
// stops holds its joints.
func (Family) Modes(m *bus.Model, operating int) servo.Modes {
	switch {
	case operating == modeVelocity:
		return servo.ModesOf(servo.Position, servo.Velocity)
	case operating == modeCurrentPosition && hasCurrent(m):
		return servo.ModesOf(servo.Position, servo.Effort)
	}
	return servo.ModesOf(servo.Position)
}

// hasCurrent reports whether a model measures its current, and can be told one.
func hasCurrent(m *bus.Model) bool { return m.EffortOf == "current" }

// found is what the registers of a servo said, and what it was told since.
type found struct {
	mode     byte
	velocity int32 // most, units of velocity
	current  int16 // most, units of current
	told     int16 // goal current
}

func (f *found) byVelocity() bool { return f != nil && f.mode == modeVelocity }

func foundOf(s *bus.Servo) *found {
	f, _ := s.Set.(*found)
	return f
}

// byCurrent reports whether a servo is told currents, too.
func byCurrent(s *bus.Servo) bool {
	return s.Modes.Has(servo.Effort) && foundOf(s) != nil
}

// operate reads the operating mode with its limits and refuses those that cannot be used.
func (t *talker) operate(s *bus.Servo, mode, drive byte) error {
	f := &found{mode: mode}
	s.Set = f
	switch {
	case mode == modeVelocity && !s.Modes.Has(servo.Velocity):
		return errors.New("its operating mode is 1, velocity, of which robot.yaml says nothing (registers: {mode: 1}): poise bus write … mode 3")
	case mode != modeVelocity && mode != modePosition && mode != modeExtended && mode != modeCurrentPosition:
		return fmt.Errorf("its operating mode is %d, must be 3, 4 or 5, a position mode, or 1, velocity: poise bus write … mode 3", mode)
	case drive&8 != 0:
		return errors.New("a goal switches its torque on by itself (drive mode bit 3): poise bus write … drive_mode clears it")
	}
	if mode == modeVelocity {
		data, err := t.read(s.ID, addrVelocityLimit, 4)
		if err != nil {
			return err
		}
		f.velocity = int32(number(data))
	}
	if s.Modes.Has(servo.Effort) {
		data, err := t.read(s.ID, addrCurrentLimit, 2)
		if err != nil {
			return err
		}
		f.current = int16(number(data))
		f.told = f.current
	}
	return nil
}

// Range of a servo whose position counts on and on, steps.
const endless = 1 << 30

// limits reads between which positions a servo goes.
func (t *talker) limits(s *bus.Servo) error {
	switch foundOf(s).mode {
	case modeVelocity:
		s.Low, s.High, s.Turn = -endless, endless, turn
	case modePosition:
		data, err := t.read(s.ID, addrMaxPosition, 8)
		if err != nil {
			return err
		}
		s.High, s.Low, s.Turn = int32(number(data[:4])), int32(number(data[4:])), 0
	default:
		s.Low, s.High, s.Turn = -256*turn, 256*turn, turn
	}
	return nil
}

// Goals implements bus.Talker: one packet for all positions, one for all velocities; currents are written before the
// positions of servos that give an effort, and after those of servos that hold.
func (t *talker) Goals(goals []bus.Goal) error {
	t.turn++
	if err := t.sync(goals, addrGoalCurrent, 2, t.appendEffort); err != nil {
		return err
	}
	if err := t.sync(goals, addrGoal, 4, appendPosition); err != nil {
		return err
	}
	if err := t.sync(goals, addrGoalVelocity, 4, appendVelocity); err != nil {
		return err
	}
	return t.sync(goals, addrGoalCurrent, 2, t.appendHold)
}

// sync writes a register of those servos for which there is something to append.
func (t *talker) sync(goals []bus.Goal, address, size int, value func(dst []byte, g *bus.Goal) []byte) error {
	t.params = append(t.params[:0], byte(address), 0, byte(size), 0)
	for i := range goals {
		before := len(t.params)
		t.params = append(t.params, byte(goals[i].Servo.ID))
		if t.params = value(t.params, &goals[i]); len(t.params) == before+1 {
			t.params = t.params[:before]
		}
	}
	if len(t.params) == 4 {
		return nil
	}
	t.packet = Append(t.packet[:0], broadcast, insSyncWrite, t.params)
	return t.line.Send(t.packet)
}

// lead is how far ahead of a servo its goal is when it gives an effort, steps: so far that its current is all that
// holds it back, and no further than a joint may move before the watchdog stops it.
const lead = turn / 8

// appendPosition adds the goal of a servo that has a position, or gives an effort: then one in the direction of it,
// within its limits.
func appendPosition(dst []byte, g *bus.Goal) []byte {
	if g.Still || foundOf(g.Servo).byVelocity() {
		return dst
	}
	at := g.Position
	if g.Mode == servo.Effort {
		ahead := int32(0)
		if g.Effort != 0 {
			ahead = int32(math.Copysign(lead, g.Effort))
		}
		at = max(g.Low, min(g.Servo.State.Position+ahead, g.High))
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(at))
}

// appendEffort adds the current of an effort; a servo that is to stop gets none.
func (t *talker) appendEffort(dst []byte, g *bus.Goal) []byte {
	if g.Mode != servo.Effort || !byCurrent(g.Servo) {
		return dst
	}
	f := foundOf(g.Servo)
	f.told = 0
	if !g.Still {
		f.told = int16(math.Min(math.Round(math.Abs(g.Effort)/g.Servo.Model.Effort), float64(f.current)))
	}
	return binary.LittleEndian.AppendUint16(dst, uint16(f.told))
}

// again is after how many packets a current that has not changed is written again: one may be lost.
const again = 16

// appendHold adds the full current of a servo that is told a position.
func (t *talker) appendHold(dst []byte, g *bus.Goal) []byte {
	if g.Mode == servo.Effort || g.Still || !byCurrent(g.Servo) {
		return dst
	}
	f := foundOf(g.Servo)
	if f.told == f.current && t.turn%again != 0 {
		return dst
	}
	f.told = f.current
	return binary.LittleEndian.AppendUint16(dst, uint16(f.told))
}

// approach is how fast a servo that is told velocities goes to a position, and brakes before its limits: 1/s, and a share
// of the distance in the time between two goals, which arrive late by about as much.
const (
	approach      = 4.0
	approachShare = 0.25
)

// appendVelocity adds that of a servo in velocity mode. Its own limits do not count there, so it brakes before them here.
func appendVelocity(dst []byte, g *bus.Goal) []byte {
	f := foundOf(g.Servo)
	if !f.byVelocity() {
		return dst
	}
	v := 0.0
	if !g.Still {
		gain := math.Min(approach, approachShare/math.Max(g.PlayTime, 0.001))
		at := g.Servo.State.Position
		toward := func(to int32) float64 { return gain * g.Servo.Model.Step * (float64(to) - float64(at)) }
		if v = g.Velocity; g.Mode == servo.Position {
			v += toward(g.Position)
		}
		v = math.Max(math.Min(0, toward(g.Low)), math.Min(v, math.Max(0, toward(g.High))))
	}
	most := float64(f.velocity)
	return binary.LittleEndian.AppendUint32(dst, uint32(int32(math.Max(-most, math.Min(math.Round(v/velocityUnit), most)))))
}

// settle lets a servo hold where it is, before its torque comes and when the program leaves: an old goal would be driven to.
func (t *talker) settle(s *bus.Servo) error {
	if foundOf(s).byVelocity() {
		return t.write(s.ID, addrGoalVelocity, 0, 0, 0, 0)
	}
	if err := t.write(s.ID, addrGoal, bytesOf(uint64(uint32(s.State.Position)), 4)...); err != nil {
		return err
	}
	if !byCurrent(s) {
		return nil
	}
	f := foundOf(s)
	f.told = f.current
	return t.write(s.ID, addrGoalCurrent, bytesOf(uint64(uint16(f.told)), 2)...)
}
