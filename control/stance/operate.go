package stance

import (
	"errors"
	"slices"

	"poise/control"
	"poise/robot"
)

// Operate returns the program that stands on the legs of which all joints are in a set.
func Operate(m *robot.Model, set robot.Set) (control.Program, error) {
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	var legs []string
	for _, c := range m.Chains() {
		missing := func(j robot.JointID) bool { return !set.Has(res.OfJoint(j)) }
		if c.Contact != robot.NoContact && !slices.ContainsFunc(c.Joints, missing) {
			legs = append(legs, c.Name)
		}
	}
	if len(legs) == 0 {
		return nil, errors.New("no whole leg is among the resources")
	}
	return Stand(m, legs...)
}

// Resources names the legs that a robot can stand on.
func Resources(m *robot.Model) (legs []string) {
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			legs = append(legs, c.Name)
		}
	}
	return legs
}
