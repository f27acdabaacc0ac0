package dynamixel

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/protocol1"
)

// Old is the family of Dynamixel servos with Protocol 1.0: AX, and MX as they came first.
type Old struct{}

var _ bus.Family = Old{}

// Name implements bus.Family.
func (Old) Name() string { return Name }

// oldBauds are the usual ones of 2,000,000/(code + 1), that of AX servos first.
var oldBauds = []int{1_000_000, 57_600, 115_200, 500_000, 400_000, 250_000, 200_000, 19_200, 9_600}

// Bauds implements bus.Family.
func (Old) Bauds() []int { return oldBauds }

// BaudCode returns the code of a rate.
func (Old) BaudCode(baud int) (int64, bool) {
	for _, b := range oldBauds {
		if b == baud {
			return int64(math.Round(2e6/float64(baud))) - 1, true
		}
	}
	return 0, false
}

// Models implements bus.Family.
func (Old) Models() []bus.Model { return oldModels }

// LastID implements bus.Family.
func (Old) LastID() int { return 253 }

// Split implements bus.Family.
func (Old) Split(data []byte) (bus.Packet, int, bool) { return protocol1.Split(data) }

// Talk implements bus.Family.
func (Old) Talk(l *bus.Line) bus.Talker { return old.Talk(l) }

// Registers of AX and MX.
const (
	oldModel      = 0
	oldID         = 3
	oldDelay      = 5
	oldLimits     = 6
	oldVoltages   = 12
	oldMaxTorque  = 14
	oldTorque     = 24
	oldGoal       = 30
	oldTorqueMost = 34
	oldPresent    = 36
	feetechID     = 5
)

// Variants.
const (
	ax = "ax"
	mx = "mx"
)

var old = protocol1.Family{Layout: func(*bus.Model) *protocol1.Layout { return &oldLayout }, Identify: identifyOld, Single: true}

// oldLayout: words little-endian, speed and load with a sign bit; EEPROM needs no key.
var oldLayout = protocol1.Layout{Delay: oldDelay, Limits: oldLimits, Voltages: oldVoltages, Torque: oldTorque, Present: oldPresent, Goal: oldGoal,
	SpeedSign: 10, LoadSign: 10, Prepare: prepareOld, Unit: oldUnit, Ramp: rampOld, BulkRead: func(m *bus.Model) bool { return m.Variant == mx }, BeforeTorque: allowTorque, Faults: oldFaults}

// identifyOld reads what a servo is. Feetech servos answer, too, and have their id elsewhere.
func identifyOld(t *protocol1.Talker, id int) (bus.Identity, error) {
	data, err := t.ReadBytes(id, oldModel, feetechID+1)
	if err != nil {
		return bus.Identity{}, err
	}
	if int(data[oldID]) != id && int(data[feetechID]) == id {
		return bus.Identity{}, fmt.Errorf("servo %d is a Feetech servo", id)
	}
	return bus.Identity{ID: id, Number: int(data[0]) | int(data[1])<<8, Firmware: strconv.Itoa(int(data[2]))}, nil
}

// prepareOld refuses what is no position mode.
func prepareOld(_ *protocol1.Talker, s *bus.Servo) error {
	switch {
	case s.Low == 0 && s.High == 0:
		return errors.New("both its position limits are 0, wheel mode: poise bus write … max_position sets one")
	case s.Low == s.High:
		return fmt.Errorf("both its position limits are %d, several turns: poise bus write … min_position 0", s.Low)
	}
	return nil
}

// oldUnit is that of speeds, rad/s.
func oldUnit(s *bus.Servo) float64 {
	if s.Model.Variant == ax {
		return 0.111 * 2 * math.Pi / 60
	}
	return 0.114 * 2 * math.Pi / 60
}

// allowTorque undoes what a servo does when it protects itself: its torque limit is 0 then.
func allowTorque(t *protocol1.Talker, s *bus.Servo) error {
	data, err := t.ReadBytes(s.ID, oldTorqueMost, 2)
	if err != nil || data[0] != 0 || data[1] != 0 {
		return err
	}
	if data, err = t.ReadBytes(s.ID, oldMaxTorque, 2); err != nil {
		return err
	}
	return t.WriteBytes(s.ID, oldTorqueMost, data[0], data[1])
}

// rampOld appends goal and speed: 0 would be the fastest.
func rampOld(l *protocol1.Layout, dst []byte, g *bus.Goal) []byte {
	speed := protocol1.Speed(g)*g.Servo.Model.Step/oldUnit(g.Servo) + 2
	dst = l.Word(dst, uint16(max(g.Position, 0)))
	return l.Word(dst, uint16(max(1, min(math.Ceil(speed), 1023))))
}

// oldFaults turns the error bits of a reply into faults.
func oldFaults(s *bus.Servo, bits byte) (f servo.Fault) {
	if bits&0x01 != 0 {
		f |= s.VoltageFault()
	}
	if bits&0x0A != 0 { // beyond its limits, beyond a register's range
		f |= servo.OutOfRange
	}
	if bits&0x04 != 0 {
		f |= servo.OverTemperature
	}
	if bits&0x50 != 0 { // check sum, instruction
		f |= servo.BadPacket
	}
	if bits&0x20 != 0 {
		f |= servo.Overload
	}
	return f
}

// oldRegisters is the control table of AX and MX; mx has gains and an offset besides.
func oldRegisters(variant string) []bus.Register {
	all := []bus.Register{
		{Name: "model", Address: 0, Size: 2, Saved: true, ReadOnly: true},
		{Name: "firmware", Address: 2, Size: 1, Saved: true, ReadOnly: true},
		{Name: "id", Address: 3, Size: 1, Saved: true},
		{Name: "baud", Address: 4, Size: 1, Saved: true, Unit: "code"},
		{Name: "return_delay", Address: 5, Size: 1, Saved: true, Unit: "2 µs"},
		{Name: "min_position", Address: 6, Size: 2, Saved: true, Shifts: true, Unit: "step"},
		{Name: "max_position", Address: 8, Size: 2, Saved: true, Shifts: true, Unit: "step"},
		{Name: "temperature_limit", Address: 11, Size: 1, Saved: true, Unit: "°C"},
		{Name: "min_voltage", Address: 12, Size: 1, Saved: true, Unit: "0.1 V"},
		{Name: "max_voltage", Address: 13, Size: 1, Saved: true, Unit: "0.1 V"},
		{Name: "max_torque", Address: 14, Size: 2, Saved: true, Unit: "0.1 %"},
		{Name: "reply_level", Address: 16, Size: 1, Saved: true},
		{Name: "shutdown", Address: 18, Size: 1, Saved: true, Unit: "bits"},
		{Name: "torque", Address: 24, Size: 1, Moves: true},
		{Name: "led", Address: 25, Size: 1},
		{Name: "goal_position", Address: 30, Size: 2, Moves: true, Unit: "step"},
		{Name: "goal_speed", Address: 32, Size: 2, Moves: true},
		{Name: "torque_limit", Address: 34, Size: 2, Unit: "0.1 %"},
		{Name: "present_position", Address: 36, Size: 2, ReadOnly: true, Unit: "step"},
		{Name: "present_speed", Address: 38, Size: 2, Sign: 10, ReadOnly: true},
		{Name: "present_load", Address: 40, Size: 2, Sign: 10, ReadOnly: true, Unit: "0.1 %"},
		{Name: "present_voltage", Address: 42, Size: 1, ReadOnly: true, Unit: "0.1 V"},
		{Name: "present_temperature", Address: 43, Size: 1, ReadOnly: true, Unit: "°C"},
		{Name: "moving", Address: 46, Size: 1, ReadOnly: true},
	}
	if variant == mx {
		all = append(all, bus.Register{Name: "position_d", Address: 26, Size: 1}, bus.Register{Name: "position_i", Address: 27, Size: 1},
			bus.Register{Name: "position_p", Address: 28, Size: 1})
	}
	return all
}

// oldModels: a load is 0.1 % of the stall torque.
var oldModels = func() []bus.Model {
	all := []bus.Model{
		{Name: "ax-12a", Number: 12, Variant: ax, Effort: 0.001 * 1.5},
		{Name: "ax-18a", Number: 18, Variant: ax, Effort: 0.001 * 1.8},
		{Name: "mx-28", Number: 29, Variant: mx, Effort: 0.001 * 2.5},
		{Name: "mx-64", Number: 310, Variant: mx, Effort: 0.001 * 6.0},
		{Name: "mx-106", Number: 320, Variant: mx, Effort: 0.001 * 8.4},
	}
	tables := map[string][]bus.Register{ax: oldRegisters(ax), mx: oldRegisters(mx)}
	for i := range all {
		m := &all[i]
		m.Family, m.EffortOf, m.Registers = Name, "load", tables[m.Variant]
		if m.Variant == ax {
			m.Step, m.High, m.Centre, m.Baud = 300*math.Pi/180/1024, 1023, 512, 1_000_000
		} else {
			m.Step, m.High, m.Centre, m.Baud = 2*math.Pi/4096, 4095, 2048, 57_600
		}
	}
	return all
}()
