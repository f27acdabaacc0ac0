package feetech

import (
	"math"

	"poise/servo/bus"
)

// Registers that are the same in both tables.
const (
	addrModel    = 3
	addrDelay    = 7
	addrMin      = 9 // least, most: 4 bytes
	addrVoltages = 14
	addrPhase    = 18
	addrMode     = 33
	addrTorque   = 40
	addrRamp     = 41 // acceleration, goal, time, speed: 7 bytes
	addrGoal     = 42 // goal, time, speed: 6 bytes
	addrPresent  = 56 // position, speed, load, voltage, temperature: 8 bytes
)

// Variants: which table and word order a model has.
const (
	sts = "sts"
	scs = "scs"
)

func stsRegisters() []bus.Register {
	return []bus.Register{
		{Name: "firmware_major", Address: 0, Size: 1, Saved: true, ReadOnly: true},
		{Name: "firmware_minor", Address: 1, Size: 1, Saved: true, ReadOnly: true},
		{Name: "model", Address: 3, Size: 2, Saved: true, ReadOnly: true},
		{Name: "id", Address: 5, Size: 1, Saved: true},
		{Name: "baud", Address: 6, Size: 1, Saved: true, Unit: "code"},
		{Name: "return_delay", Address: 7, Size: 1, Saved: true, Unit: "2 µs"},
		{Name: "reply_level", Address: 8, Size: 1, Saved: true},
		{Name: "min_position", Address: 9, Size: 2, Saved: true, Shifts: true, Unit: "step"},
		{Name: "max_position", Address: 11, Size: 2, Saved: true, Shifts: true, Unit: "step"},
		{Name: "temperature_limit", Address: 13, Size: 1, Saved: true, Unit: "°C"},
		{Name: "max_voltage", Address: 14, Size: 1, Saved: true, Unit: "0.1 V"},
		{Name: "min_voltage", Address: 15, Size: 1, Saved: true, Unit: "0.1 V"},
		{Name: "max_torque", Address: 16, Size: 2, Saved: true, Unit: "0.1 %"},
		{Name: "phase", Address: 18, Size: 1, Saved: true, Shifts: true, Unit: "bits"},
		{Name: "unload", Address: 19, Size: 1, Saved: true, Unit: "bits"},
		{Name: "position_p", Address: 21, Size: 1, Saved: true, Shadow: true},
		{Name: "position_d", Address: 22, Size: 1, Saved: true, Shadow: true},
		{Name: "position_i", Address: 23, Size: 1, Saved: true, Shadow: true},
		{Name: "protection_current", Address: 28, Size: 2, Saved: true, Unit: "6.5 mA"},
		{Name: "homing_offset", Address: 31, Size: 2, Sign: 11, Saved: true, Shifts: true, Unit: "step"},
		{Name: "mode", Address: 33, Size: 1, Saved: true, Shifts: true, Unit: "code"},
		{Name: "protective_torque", Address: 34, Size: 1, Saved: true, Unit: "%"},
		{Name: "protection_time", Address: 35, Size: 1, Saved: true, Unit: "10 ms"},
		{Name: "overload_torque", Address: 36, Size: 1, Saved: true, Unit: "%"},
		{Name: "torque", Address: 40, Size: 1, Moves: true},
		{Name: "acceleration", Address: 41, Size: 1, Unit: "100 step/s²"},
		{Name: "goal_position", Address: 42, Size: 2, Sign: 15, Moves: true, Unit: "step"},
		{Name: "goal_time", Address: 44, Size: 2, Moves: true, Unit: "ms"},
		{Name: "goal_speed", Address: 46, Size: 2, Sign: 15, Moves: true},
		{Name: "torque_limit", Address: 48, Size: 2, Unit: "0.1 %"},
		{Name: "lock", Address: 55, Size: 1},
		{Name: "present_position", Address: 56, Size: 2, Sign: 15, ReadOnly: true, Unit: "step"},
		{Name: "present_speed", Address: 58, Size: 2, Sign: 15, ReadOnly: true},
		{Name: "present_load", Address: 60, Size: 2, Sign: 10, ReadOnly: true, Unit: "0.1 %"},
		{Name: "present_voltage", Address: 62, Size: 1, ReadOnly: true, Unit: "0.1 V"},
		{Name: "present_temperature", Address: 63, Size: 1, ReadOnly: true, Unit: "°C"},
		{Name: "status", Address: 65, Size: 1, ReadOnly: true, Unit: "bits"},
		{Name: "moving", Address: 66, Size: 1, ReadOnly: true},
		{Name: "present_current", Address: 69, Size: 2, Sign: 15, ReadOnly: true, Unit: "6.5 mA"},
	}
}

// scsRegisters is the older table: no offset, no mode, no sign of a position, the lock
// elsewhere.
func scsRegisters() (all []bus.Register) {
	for _, r := range stsRegisters() {
		switch r.Name {
		case "phase", "protection_current", "homing_offset", "mode", "acceleration", "torque_limit", "present_current",
			"protective_torque", "protection_time", "overload_torque":
			continue
		case "lock":
			r.Address = 48
		case "goal_position", "present_position", "goal_speed":
			r.Sign = bus.Unsigned
		}
		all = append(all, r)
	}
	return all
}

// models that are known. An HLS has a torque limit where an STS has its goal time, so what
// is not known is refused.
var models = func() []bus.Model {
	all := []bus.Model{
		{Name: "sts3215", Number: 777, Variant: sts, Effort: 0.001 * 1.9},
		{Name: "sts3250", Number: 2825, Variant: sts, Effort: 0.001 * 4.9},
		{Name: "sm8512bl", Number: 11272, Variant: sts, Effort: 0.001 * 8.3},
		{Name: "scs0009", Number: 1284, Variant: scs, Effort: 0.001 * 0.22},
	}
	table, old := stsRegisters(), scsRegisters()
	for i := range all {
		m := &all[i]
		m.Family, m.EffortOf = Name, "load"
		if m.Variant == scs {
			m.Step, m.High, m.Centre, m.Registers = 300*math.Pi/180/1024, 1023, 512, old
		} else {
			m.Step, m.High, m.Centre, m.Registers = 2*math.Pi/4096, 4095, 2048, table
		}
	}
	return all
}()
