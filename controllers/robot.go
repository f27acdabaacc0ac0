package controllers

import (
	"errors"
	"fmt"
	"strings"

	"poise/control"
	"poise/executive"
	"poise/loop"
	"poise/robot"
)

// Tuning is what a configuration may say of a controller: how many run side by side,
// and with which priorities.
type Tuning struct {
	Seats       int
	Pending     float64
	Operational float64
}

// Seat is the place of one controller of a robot: how the cycle runs it, and what the executive
// knows of it.
type Seat struct {
	Declaration *Declaration
	Loop        loop.Registration
	Executive   executive.Controller
}

// For makes the controllers of a robot, as its tuning says: a controller that tuning
// does not name keeps what its declaration says. A kind that does not suit the robot,
// such as a stance for an arm, is left out; what else goes wrong is reported, all of it.
func For(m *robot.Model, assumed control.Transition, tuning map[string]Tuning) (all []Seat, err error) {
	all, _, err = Fit(m, assumed, tuning)
	return all, err
}

// Fit does so and says why each kind, by its name, that is left out does not suit the robot.
func Fit(m *robot.Model, assumed control.Transition, tuning map[string]Tuning) (all []Seat, unfit map[string]error, err error) {
	resources, err := m.Resources()
	if err != nil {
		return nil, nil, err
	}
	unfit = map[string]error{}
	var everything []string
	for _, r := range resources.List() {
		everything = append(everything, r.Name)
	}
	var errs []error
	for i := range Table {
		d := &Table[i]
		t, tuned := tuning[d.Name]
		if !tuned {
			t = d.Tuning()
		}
		for n := range t.Seats {
			c, err := d.Kind.New(m, assumed)
			if errors.Is(err, control.ErrUnfit) {
				unfit[d.Kind.Name] = err
				break
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("controller %s: %w", d.Name, err))
				break
			}
			all = append(all, d.seat(m, n, c, t, everything))
		}
	}
	return all, unfit, errors.Join(errs...)
}

// Tuning returns what a declaration says of seats and priorities.
func (d *Declaration) Tuning() Tuning {
	return Tuning{Seats: d.Seats, Pending: float64(d.Pending), Operational: float64(d.Operational)}
}

func (d *Declaration) seat(m *robot.Model, number int, c control.Controller, t Tuning, everything []string) Seat {
	name := d.Name
	if number > 0 {
		name = fmt.Sprintf("%s_%d", name, number+1)
	}
	s := Seat{Declaration: d,
		Loop:      loop.Registration{Name: name, Kind: d.Kind.Name, Controller: c, Pending: float32(t.Pending), Operational: float32(t.Operational), Supports: d.Supports, Remote: d.Outside},
		Executive: executive.Controller{Name: name, Kind: d.Kind.Name, Short: strings.ReplaceAll(d.Short(), "`", ""), Remote: d.Outside, KeepsBalance: d.KeepsBalance, Replaces: d.Replaces}}
	if d.Operate != nil {
		s.Executive.Operate = func(set robot.Set, _ *loop.Snapshot) (control.Program, error) { return d.Operate.Program(m, set) }
		s.Executive.Resources = everything
		if d.Operate.Resources != nil {
			s.Executive.Resources = d.Operate.Resources(m)
		}
	}
	return s
}
