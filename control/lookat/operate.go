package lookat

import (
	"errors"

	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// ahead is where a robot looks that has no target yet: straight on, in the base's frame.
var ahead = spatial.Vec3{X: 10}

// Operate returns the program that looks straight on with the eyes and the head of a set.
func Operate(m *robot.Model, set robot.Set) (control.Program, error) {
	p, err := At(m, ahead)
	if err != nil {
		return nil, err
	}
	p.Target.InBase = true
	p.Needs, p.Wants = p.Needs.Intersect(set), p.Wants.Intersect(set)
	if p.Needs.Empty() {
		p.Needs, p.Wants = p.Wants, robot.Set{}
	}
	if p.Needs.Empty() {
		return nil, errors.New("neither eyes nor head are among the resources")
	}
	return p, nil
}

// Resources names what turns eyes or head.
func Resources(m *robot.Model) (names []string) {
	p, err := At(m, ahead)
	res, err2 := m.Resources()
	if err != nil || err2 != nil {
		return nil // such a robot does not look
	}
	all := p.Needs.Union(p.Wants)
	for _, r := range res.List() {
		if r.Set.Overlaps(all) {
			names = append(names, r.Name)
		}
	}
	return names
}
