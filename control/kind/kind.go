// Package kind is the table of controllers: what kinds there are, how one is made
// for a robot, and how its recorded programs are read.
//
// Adding a controller is one package and one line here. The loop, the recorder, the
// replay and the server find it by its name; examples/02-controller shows how.
package kind

import (
	"errors"
	"fmt"

	"poise/control"
	"poise/control/follow"
	"poise/control/hold"
	"poise/control/lookat"
	"poise/control/pose"
	"poise/control/stance"
	"poise/control/step"
	"poise/control/stream"
	"poise/control/swing"
	"poise/control/torqueoff"
	"poise/robot"
)

// Kind is one kind of controllers.
type Kind struct {
	Name  string // in records, configurations and on wires
	Short string // what it does, in a line

	// New makes a controller for a robot; assumed stands in for limits that the
	// robot does not give. An error that is control.ErrUnfit says that such a robot
	// has no use for it.
	New func(m *robot.Model, assumed control.Transition) (control.Controller, error)

	// Decode reads a program as the flight recorder has it.
	Decode func(record []byte) (control.Program, error)
}

// Table lists all kinds.
var Table = []Kind{
	{"follow", "plays a joint trajectory, with events and supports", newFollow, follow.Decode},
	{"pose", "goes to a named pose, or to any", made(pose.New), pose.Decode},
	{"hold", "keeps joints where they are", made(hold.New), hold.Decode},
	{"stream", "follows joint states from outside", made(stream.New), stream.Decode},
	{"torque_off", "lets limbs go, to be posed by hand", made(torqueoff.New), torqueoff.Decode},
	{"stance", "moves the body over hooves that stay", made(stance.New), stance.Decode},
	{"look_at", "looks at a point with eyes and head", made(lookat.New), lookat.Decode},
	{"step", "plays Cartesian steps of limbs and base, with contacts", made(step.New), step.Decode},
	{"swing", "swings joints, for tests and identification", newSwing, swing.Decode},
}

// made turns a constructor into one of the table.
func made[C control.Controller](f func(*robot.Model, control.Transition) (C, error)) func(*robot.Model, control.Transition) (control.Controller, error) {
	return func(m *robot.Model, assumed control.Transition) (control.Controller, error) {
		c, err := f(m, assumed)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

func newFollow(m *robot.Model, _ control.Transition) (control.Controller, error) {
	return follow.New(m), nil
}

func newSwing(m *robot.Model, assumed control.Transition) (control.Controller, error) {
	limits, _, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	return swing.New(limits), nil
}

// Find returns a kind by its name.
func Find(name string) (Kind, bool) {
	for _, k := range Table {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Made is a controller and its kind.
type Made struct {
	Kind       Kind
	Controller control.Controller
}

// For makes one controller of every kind that a robot has a use for. Kinds that do
// not fit are left out; what else goes wrong is reported, all of it.
func For(m *robot.Model, assumed control.Transition) (all []Made, err error) {
	var errs []error
	for _, k := range Table {
		switch c, err := k.New(m, assumed); {
		case errors.Is(err, control.ErrUnfit):
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", k.Name, err))
		default:
			all = append(all, Made{k, c})
		}
	}
	return all, errors.Join(errs...)
}
