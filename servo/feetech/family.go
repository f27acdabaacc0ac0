// Package feetech is Feetech servos of the series STS, SMS and SCS: their registers, and how they differ from
// others that speak Protocol 1.0. Words are little-endian in STS and SMS, big-endian in SCS; numbers below zero
// have a sign bit.
package feetech

import (
	"fmt"
	"math"
	"strconv"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/protocol1"
)

// Name is that of the family.
const Name = "feetech"

// Family is that of Feetech servos.
type Family struct{}

var _ bus.Searcher = Family{}

// Name implements bus.Family.
func (Family) Name() string { return Name }

// bauds are in the order of their codes, that of the factory first.
var bauds = []int{1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400}

// Bauds implements bus.Family.
func (Family) Bauds() []int { return bauds }

// BaudCode returns the code of a rate.
func (Family) BaudCode(baud int) (int64, bool) {
	for code, b := range bauds {
		if b == baud {
			return int64(code), true
		}
	}
	return 0, false
}

// Models implements bus.Family.
func (Family) Models() []bus.Model { return models }

// LastID implements bus.Family.
func (Family) LastID() int { return 253 }

// Split implements bus.Family.
func (Family) Split(data []byte) (bus.Packet, int, bool) { return protocol1.Split(data) }

// Complete implements bus.Searcher: SCS servos do not answer.
func (Family) Complete() bool { return false }

// Talk implements bus.Family.
func (Family) Talk(l *bus.Line) bus.Talker { return protocol.Talk(l) }

var protocol = protocol1.Family{
	Layout: func(m *bus.Model) *protocol1.Layout {
		if m.Variant == scs {
			return &scsLayout
		}
		return &stsLayout
	},
	Identify: identify,
}

// stsLayout is that of STS and SMS: words little-endian, numbers below zero with a sign bit.
var stsLayout = protocol1.Layout{SyncRead: true, Delay: addrDelay, Limits: addrMin, Voltages: addrVoltages, Torque: addrTorque,
	Present: addrPresent, Goal: addrRamp, PositionSign: 15, SpeedSign: 15, LoadSign: 10,
	Lock: lock, Prepare: prepareSTS, Unit: unit, Ramp: rampSTS, Faults: faults}

// scsLayout is the older one, big-endian.
var scsLayout = protocol1.Layout{Big: true, Delay: addrDelay, Limits: addrMin, Voltages: addrVoltages, Torque: addrTorque,
	Present: addrPresent, Goal: addrGoal, PositionSign: 15, SpeedSign: 15, LoadSign: 10,
	Lock: lock, Prepare: anywhere, Unit: unit, Ramp: rampSCS, Faults: faults}

func lock(m *bus.Model) (address int, has bool) {
	r, has := m.Register("lock")
	return r.Address, has
}

// identify reads what a servo is. The number of a model is written in its own word order, so it
// is looked for in both. Dynamixel servos of Protocol 1.0 answer, too, and have their id elsewhere.
func identify(t *protocol1.Talker, id int) (bus.Identity, error) {
	data, err := t.ReadBytes(id, 0, addrModel+2)
	if err != nil {
		return bus.Identity{}, err
	}
	little, big := int(data[3])|int(data[4])<<8, int(data[4])|int(data[3])<<8
	number := little
	if m, ok := bus.ModelNumbered(Family{}, big); ok && m.Variant == scs {
		number = big
	}
	if _, known := bus.ModelNumbered(Family{}, number); !known && int(data[addrModel]) == id {
		return bus.Identity{}, fmt.Errorf("servo %d is a Dynamixel of Protocol 1.0", id)
	}
	return bus.Identity{ID: id, Number: number, Firmware: strconv.Itoa(int(data[0])) + "." + strconv.Itoa(int(data[1]))}, nil
}

// found is what the registers of a servo said.
type found struct {
	speed float64 // steps/s of a unit of speed
}

// Bits of the register phase: speeds in steps/s, and a position that counts turns.
const (
	phaseSpeed = 0x04
	phaseTurns = 0x10
	turn       = 4096
)

// anywhere: limits that are both 0 are none.
func anywhere(_ *protocol1.Talker, s *bus.Servo) error {
	if s.Low == 0 && s.High == 0 {
		s.High = s.Model.High
	}
	return nil
}

func prepareSTS(t *protocol1.Talker, s *bus.Servo) error {
	unlimited := s.Low == 0 && s.High == 0
	if err := anywhere(t, s); err != nil {
		return err
	}
	data, err := t.ReadBytes(s.ID, addrPhase, 1)
	if err != nil {
		return err
	}
	f := &found{speed: 1}
	s.Set = f
	if data[0]&phaseSpeed == 0 {
		f.speed = 50
	}
	if data[0]&phaseTurns != 0 {
		s.Turn = turn
		if unlimited {
			s.Low, s.High = -math.MaxInt16, math.MaxInt16
		}
	}
	if data, err = t.ReadBytes(s.ID, addrMode, 1); err != nil {
		return err
	}
	if data[0] != 0 {
		return fmt.Errorf("its mode is %d, must be 0, position: poise bus write … mode 0", data[0])
	}
	return nil
}

// stepsPerUnit is the unit of speeds, steps/s.
func stepsPerUnit(s *bus.Servo) float64 {
	if f, ok := s.Set.(*found); ok {
		return f.speed
	}
	return 1
}

func unit(s *bus.Servo) float64 { return s.Model.Step * stepsPerUnit(s) }

// faults turns the error bits of a reply into faults.
func faults(s *bus.Servo, bits byte) (f servo.Fault) {
	if bits&0x01 != 0 {
		f |= s.VoltageFault()
	}
	if bits&0x02 != 0 {
		f |= servo.SensorFault
	}
	if bits&0x04 != 0 {
		f |= servo.OverTemperature
	}
	if bits&0x28 != 0 { // current, load
		f |= servo.Overload
	}
	return f
}

// Speeds of a goal: it is never without any, since 0 may mean either extreme.
const (
	slowest = 50    // steps/s
	fastest = 32000 // units
)

// rampSTS appends acceleration, goal, time and speed.
func rampSTS(l *protocol1.Layout, dst []byte, g *bus.Goal) []byte {
	dst = append(dst, 0)
	dst = l.Word(dst, magnitude(g.Position))
	dst = l.Word(dst, 0)
	return l.Word(dst, uint16(min(math.Ceil((protocol1.Speed(g)+slowest)/stepsPerUnit(g.Servo)), fastest)))
}

// rampSCS appends goal, time and speed.
func rampSCS(l *protocol1.Layout, dst []byte, g *bus.Goal) []byte {
	dst = l.Word(dst, uint16(max(g.Position, 0)))
	dst = l.Word(dst, uint16(min(1000*g.PlayTime, 9999)))
	return l.Word(dst, 0)
}

// magnitude writes a word with sign bit 15.
func magnitude(v int32) uint16 {
	if v < 0 {
		return uint16(-v) | 1<<15
	}
	return uint16(v)
}
