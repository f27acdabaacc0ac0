package control

import "poise/robot"

// Kind is one kind of controllers: how one is made for a robot, and how its
// recorded programs are read again. Every package of a controller declares its own.
type Kind struct {
	Name  string // in records, configurations and on wires
	Short string // what it does, in a line

	// New makes a controller for a robot; assumed stands in for limits that the
	// robot does not give. An error that is ErrUnfit says that such a robot has no
	// use for it.
	New func(m *robot.Model, assumed Transition) (Controller, error)

	// Decode reads a program as the flight recorder has it.
	Decode func(record []byte) (Program, error)
}

// NewOf turns the constructor of a controller's own type into one for Kind.New.
func NewOf[C Controller](f func(*robot.Model, Transition) (C, error)) func(*robot.Model, Transition) (Controller, error) {
	return func(m *robot.Model, assumed Transition) (Controller, error) {
		c, err := f(m, assumed)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}
