// Package driver is the table of drivers: what the robots of a configuration can be
// driven by. A driver is a package of its own and one row here.
package driver

import (
	"fmt"

	"poise/robot"
	"poise/servo"
	"poise/servo/bus"
	"poise/servo/families"
	"poise/servo/physics"
	"poise/servo/sim"
	"poise/servo/topics"
)

// Standard is the drivers that Poise comes with.
var Standard = Table{
	Row("sim", "a robot without hardware: ideal, or as its settings say", sim.DefaultSettings, sim.NewDriver),
	Row("bus", "servos on serial lines: HerkuleX, Dynamixel, Feetech", bus.DefaultSettings, newBus),
	Row("topics", "another program that moves the robot, through its rosbridge, a ROS 1 network or ROS 2: setpoints on joint_commands, states on joint_states", topics.DefaultSettings, topics.NewDriver),
	Row("physics", "a robot without hardware that has mass, motors and ground", physics.DefaultSettings, physics.NewDriver),
}

// newBus gives the driver of serial lines all families of servos: package bus, which they implement, knows none.
func newBus(m *robot.Model, period float64, s bus.Settings) (servo.Driver, error) {
	return bus.New(m, period, s, families.All)
}

// Entry is one driver.
type Entry struct {
	Name string // in configurations
	Text string // what it drives, one line

	// Settings returns a pointer to a struct with the defaults. Its fields have the tags
	// yaml (the key), doc (what it means) and, if they are numbers with limits, range
	// ("least … most unit"). A method Check() error may refuse what a range cannot.
	Settings func() any

	// New constructs the driver of a robot whose cycle has some period, s, from settings
	// as Settings returns them. It touches no hardware.
	New func(m *robot.Model, period float64, settings any) (servo.Driver, error)
}

// Row makes an entry of a driver with settings of type S.
func Row[S any](name, text string, defaults func() S, construct func(m *robot.Model, period float64, settings S) (servo.Driver, error)) Entry {
	return Entry{
		Name: name, Text: text,
		Settings: func() any {
			s := defaults()
			return &s
		},
		New: func(m *robot.Model, period float64, settings any) (servo.Driver, error) {
			s, ok := settings.(*S)
			if !ok {
				return nil, fmt.Errorf("driver %s: settings are %T, must be %T", name, settings, s)
			}
			return construct(m, period, *s)
		},
	}
}

// Table is a list of drivers.
type Table []Entry

// Find returns the driver of a name.
func (t Table) Find(name string) (Entry, bool) {
	for _, e := range t {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Names lists the drivers.
func (t Table) Names() []string {
	names := make([]string, len(t))
	for i, e := range t {
		names[i] = e.Name
	}
	return names
}
