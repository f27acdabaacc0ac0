package herkulex

import (
	"math"

	"poise/servo/bus"
)

// Registers in RAM.
const (
	ramPolicy   = 1
	ramVoltages = 6  // least, most: 2 bytes
	ramLimits   = 20 // least, most: 4 bytes
	ramStatus   = 48 // error, detail
	ramTorque   = 52 // torque, LED, voltage, temperature … PWM: 14 bytes
	ramPosition = 58 // calibrated and absolute position, velocity: 6 bytes
)

// Values of torque_control.
const (
	torqueFree  = 0x00
	torqueBrake = 0x40
	torqueOn    = 0x60
)

// registers is the control table. What is saved lies in EEPROM and counts after a reboot; the
// values in use lie in RAM.
func registers() []bus.Register {
	saved := func(name string, address, size int) bus.Register {
		return bus.Register{Name: name, Address: address, Size: size, Saved: true}
	}
	ram := func(name string, address, size int) bus.Register {
		return bus.Register{Name: name, Address: address, Size: size}
	}
	read := func(name string, address, size int, unit string) bus.Register {
		return bus.Register{Name: name, Address: address, Size: size, ReadOnly: true, Unit: unit}
	}
	all := []bus.Register{
		{Name: "model", Address: 0, Size: 2, Saved: true, ReadOnly: true},
		{Name: "firmware", Address: 2, Size: 2, Saved: true, ReadOnly: true},
		saved("baud", 4, 1), saved("id", 6, 1), saved("saved_ack_policy", 7, 1),
		saved("saved_min_voltage", 12, 1), saved("saved_max_voltage", 13, 1),
		saved("saved_acceleration_ratio", 14, 1), saved("saved_max_pwm", 22, 2),
		saved("saved_min_position", 26, 2), saved("saved_max_position", 28, 2),
		saved("saved_position_kp", 30, 2), saved("saved_position_kd", 32, 2), saved("saved_position_ki", 34, 2),
		{Name: "saved_calibration_difference", Address: 53, Size: 1, Sign: bus.Twos, Saved: true, Unit: "step"},
		ram("ack_policy", 1, 1), ram("alarm_led_policy", 2, 1), ram("torque_policy", 3, 1),
		ram("max_temperature", 5, 1), ram("min_voltage", 6, 1), ram("max_voltage", 7, 1),
		ram("acceleration_ratio", 8, 1), ram("max_acceleration_time", 9, 1), ram("dead_zone", 10, 1),
		ram("max_pwm", 16, 2), ram("overload_pwm_threshold", 18, 2),
		{Name: "min_position", Address: 20, Size: 2, Shifts: true}, {Name: "max_position", Address: 22, Size: 2, Shifts: true},
		ram("position_kp", 24, 2), ram("position_kd", 26, 2), ram("position_ki", 28, 2),
		ram("inposition_margin", 44, 1),
		{Name: "calibration_difference", Address: 47, Size: 1, Sign: bus.Twos, Shifts: true, Unit: "step"},
		ram("status_error", 48, 1), ram("status_detail", 49, 1),
		{Name: "torque_control", Address: 52, Size: 1, Moves: true, Unit: "96 on, 64 brake, 0 off"},
		ram("led_control", 53, 1),
		read("voltage", 54, 1, "0.074 V"), read("temperature", 55, 1, "code"),
		read("control_mode", 56, 1, ""), read("calibrated_position", 58, 2, "step"), read("absolute_position", 60, 2, "step"),
		{Name: "velocity", Address: 62, Size: 2, Sign: bus.Twos, ReadOnly: true},
		{Name: "pwm", Address: 64, Size: 2, Sign: bus.Twos, ReadOnly: true, Unit: "1/1023"},
		read("goal", 68, 2, "step"),
	}
	return all
}

// voltageUnit is that of registers, V.
const voltageUnit = 0.074075

// timeUnit is that of play times, s; a play time has one byte, and 255 means no play time.
const (
	timeUnit    = 0.0112
	longestPlay = 254
)

// pwmFull is full power.
const pwmFull = 1023

// models of the series. Torque is what the motor would give at standstill, a share of the
// stall torque: nothing better is to be had of these servos.
var models = func() []bus.Model {
	degree := math.Pi / 180
	all := []bus.Model{
		{Name: "drs-0101", Number: 0x0101, Step: 0.325 * degree, Low: 21, High: 1002, Centre: 512, Effort: 1.2 / pwmFull},
		{Name: "drs-0201", Number: 0x0201, Step: 0.325 * degree, Low: 21, High: 1002, Centre: 512, Effort: 2.4 / pwmFull},
		{Name: "drs-0401", Number: 0x0401, Step: 0.163 * degree, Low: 0, High: 2047, Centre: 1024, Effort: 4.3 / pwmFull},
		{Name: "drs-0601", Number: 0x0601, Step: 0.163 * degree, Low: 0, High: 2047, Centre: 1024, Effort: 7.6 / pwmFull},
	}
	table := registers()
	for i := range all {
		m := &all[i]
		m.Family, m.EffortOf, m.Registers = Name, "pwm", table
	}
	return all
}()

// temperatures are points of the vendor's curve: register value and °C.
var temperatures = [][2]float64{{0, -45}, {66, 0.05}, {100, 14.07}, {128, 25.2}, {150, 34.53}, {180, 49.52}, {200, 62.63},
	{215, 75.96}, {230, 96.13}, {240, 119.49}, {255, 160}}

// celsius looks a temperature up.
func celsius(raw byte) float64 {
	x := float64(raw)
	for i := 1; i < len(temperatures); i++ {
		if a, b := temperatures[i-1], temperatures[i]; x <= b[0] {
			return a[1] + (b[1]-a[1])*(x-a[0])/(b[0]-a[0])
		}
	}
	return temperatures[len(temperatures)-1][1]
}
