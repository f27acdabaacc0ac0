package dynamixel

import (
	"math"

	"poise/servo/bus"
)

// Registers of the X series, by the e-Manual.
const (
	addrModel         = 0
	addrFirmware      = 6
	addrReturnDelay   = 9
	addrDriveMode     = 10
	addrMode          = 11
	addrVoltages      = 32 // most, least: 4 bytes
	addrCurrentLimit  = 38
	addrVelocityLimit = 44
	addrMaxPosition   = 48
	addrTorque        = 64
	addrHardwareErr   = 70
	addrWatchdog      = 98
	addrGoalCurrent   = 102
	addrGoalVelocity  = 104
	addrGoal          = 116
	addrPresent       = 126 // current, velocity, position: 10 bytes
	addrPresentInput  = 144 // voltage, temperature: 3 bytes
)

// registers is the control table of the X series as far as people use it.
func registers() []bus.Register {
	return []bus.Register{
		{Name: "model", Address: 0, Size: 2, Saved: true, ReadOnly: true},
		{Name: "firmware", Address: 6, Size: 1, Saved: true, ReadOnly: true},
		{Name: "id", Address: 7, Size: 1, Saved: true},
		{Name: "baud", Address: 8, Size: 1, Saved: true, Unit: "code"},
		{Name: "return_delay", Address: 9, Size: 1, Saved: true, Unit: "2 µs"},
		{Name: "drive_mode", Address: 10, Size: 1, Saved: true, Shifts: true, Unit: "bits"},
		{Name: "mode", Address: 11, Size: 1, Saved: true, Shifts: true, Unit: "code"},
		{Name: "homing_offset", Address: 20, Size: 4, Sign: bus.Twos, Saved: true, Shifts: true, Unit: "step"},
		{Name: "temperature_limit", Address: 31, Size: 1, Saved: true, Unit: "°C"},
		{Name: "max_voltage", Address: 32, Size: 2, Saved: true, Unit: "0.1 V"},
		{Name: "min_voltage", Address: 34, Size: 2, Saved: true, Unit: "0.1 V"},
		{Name: "pwm_limit", Address: 36, Size: 2, Saved: true, Unit: "0.113 %"},
		{Name: "current_limit", Address: 38, Size: 2, Saved: true},
		{Name: "velocity_limit", Address: 44, Size: 4, Saved: true, Unit: "0.229 rpm"},
		{Name: "max_position", Address: 48, Size: 4, Saved: true, Shifts: true, Unit: "step"},
		{Name: "min_position", Address: 52, Size: 4, Saved: true, Shifts: true, Unit: "step"},
		{Name: "shutdown", Address: 63, Size: 1, Saved: true, Unit: "bits"},
		{Name: "torque", Address: 64, Size: 1, Moves: true},
		{Name: "led", Address: 65, Size: 1},
		{Name: "reply_level", Address: 68, Size: 1},
		{Name: "hardware_error", Address: 70, Size: 1, ReadOnly: true, Unit: "bits"},
		{Name: "velocity_i", Address: 76, Size: 2},
		{Name: "velocity_p", Address: 78, Size: 2},
		{Name: "position_d", Address: 80, Size: 2},
		{Name: "position_i", Address: 82, Size: 2},
		{Name: "position_p", Address: 84, Size: 2},
		{Name: "watchdog", Address: 98, Size: 1, Sign: bus.Twos, Unit: "20 ms"},
		{Name: "goal_pwm", Address: 100, Size: 2, Sign: bus.Twos, Moves: true},
		{Name: "goal_current", Address: 102, Size: 2, Sign: bus.Twos, Moves: true},
		{Name: "goal_velocity", Address: 104, Size: 4, Sign: bus.Twos, Moves: true},
		{Name: "profile_acceleration", Address: 108, Size: 4, Unit: "214.577 rev/min²"},
		{Name: "profile_velocity", Address: 112, Size: 4, Unit: "0.229 rpm"},
		{Name: "goal_position", Address: 116, Size: 4, Sign: bus.Twos, Moves: true, Unit: "step"},
		{Name: "present_current", Address: 126, Size: 2, Sign: bus.Twos, ReadOnly: true},
		{Name: "present_velocity", Address: 128, Size: 4, Sign: bus.Twos, ReadOnly: true, Unit: "0.229 rpm"},
		{Name: "present_position", Address: 132, Size: 4, Sign: bus.Twos, ReadOnly: true, Unit: "step"},
		{Name: "present_voltage", Address: 144, Size: 2, ReadOnly: true, Unit: "0.1 V"},
		{Name: "present_temperature", Address: 146, Size: 1, ReadOnly: true, Unit: "°C"},
	}
}

// velocityUnit is that of velocities, rad/s: 0.229 rev/min.
const velocityUnit = 0.229 * 2 * math.Pi / 60

// models of the X series. Effort is the slope of the performance graph times the unit of
// current, where there is one; XL430 says a load in 0.1 % of its stall torque.
var models = func() []bus.Model {
	all := []bus.Model{
		{Name: "xl430-w250", Number: 1060, Effort: 0.001 * 1.5, EffortOf: "load"},
		{Name: "xc430-w150", Number: 1070, Effort: 0.001 * 1.6, EffortOf: "load"},
		{Name: "xc430-w240", Number: 1080, Effort: 0.001 * 1.9, EffortOf: "load"},
		{Name: "xm430-w350", Number: 1020, Effort: 0.00269 * 1.8, EffortOf: "current"},
		{Name: "xm430-w210", Number: 1030, Effort: 0.00269 * 1.3, EffortOf: "current"},
		{Name: "xm540-w270", Number: 1120, Effort: 0.00269 * 2.4, EffortOf: "current"},
		{Name: "xm540-w150", Number: 1130, Effort: 0.00269 * 1.6, EffortOf: "current"},
		{Name: "xl330-m288", Number: 1200, Effort: 0.001 * 0.35, EffortOf: "current"},
		{Name: "xl330-m077", Number: 1190, Effort: 0.001 * 0.15, EffortOf: "current"},
		{Name: "xc330-m288", Number: 1240, Effort: 0.001 * 0.5, EffortOf: "current"},
		{Name: "xc330-t288", Number: 1220, Effort: 0.001 * 0.6, EffortOf: "current"},
	}
	table := registers()
	for i := range all {
		m := &all[i]
		m.Family, m.Step, m.Low, m.High, m.Centre, m.Registers = Name, 2*math.Pi/4096, 0, 4095, 2048, table
	}
	return all
}()
