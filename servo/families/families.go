// Package families lists the makes of servos that Poise speaks with, and is the driver of
// robots that have them.
package families

import (
	"poise/robot"
	"poise/servo"
	"poise/servo/bus"
	"poise/servo/dynamixel"
	"poise/servo/feetech"
	"poise/servo/herkulex"
)

// All are the families.
var All = []bus.Family{herkulex.Family{}, dynamixel.Family{}, dynamixel.Old{}, feetech.Family{}}

// Named finds those of a name, the newest protocol first.
func Named(name string) (all []bus.Family) {
	for _, f := range All {
		if f.Name() == name {
			all = append(all, f)
		}
	}
	return all
}

// Settings are those of the driver.
type Settings = bus.Settings

// DefaultSettings are those of the driver.
func DefaultSettings() bus.Settings { return bus.DefaultSettings() }

// NewDriver returns the driver of a robot whose cycle has some period, s.
func NewDriver(m *robot.Model, period float64, s bus.Settings) (servo.Driver, error) {
	return bus.New(m, period, s, All)
}
