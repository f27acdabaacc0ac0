package crew

import (
	"errors"
	"fmt"
	"slices"

	"poise/control"
	"poise/control/hold"
	"poise/control/kind"
	"poise/control/lookat"
	"poise/control/stance"
	"poise/control/stream"
	"poise/control/torqueoff"
	"poise/loop"
	"poise/robot"
	"poise/spatial"
)

// Member is a controller of a robot: how the cycle runs it, what the executive knows of
// it.
type Member struct {
	loop.Registration
	Operate   func(set robot.Set, now *loop.Snapshot) (control.Program, error) // nil for one that is not switched on, but given goals
	Resources []string                                                         // that it can work on
	Remote    bool                                                             // a seat for controllers outside the process
}

// Priorities of controllers: what people do by hand wins over what was asked for,
// which wins over what goes on by itself.
const (
	byHand     = 90
	asked      = 50
	fromStream = 40
	background = 20
)

// trajectories is how many trajectories can run side by side, each on other joints;
// remotes how many controllers outside can work at a time.
const (
	trajectories = 4
	remotes      = 4
)

// Of lists the controllers of a robot. A robot that a kind does not suit, such
// as an arm that cannot stand, goes without it.
func Of(m *robot.Model, assumed control.Transition) (all []Member, err error) {
	resources, err := m.Resources()
	if err != nil {
		return nil, err
	}
	var everything, legs []string
	for _, r := range resources.List() {
		everything = append(everything, r.Name)
	}
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			legs = append(legs, c.Name)
		}
	}
	var errs []error
	add := func(p Member, kindName string, priority float32) {
		k, ok := kind.Find(kindName)
		if !ok {
			errs = append(errs, fmt.Errorf("there is no kind of controllers %q", kindName))
			return
		}
		c, err := k.New(m, assumed)
		switch {
		case errors.Is(err, control.ErrUnfit):
		case err != nil:
			errs = append(errs, fmt.Errorf("controller %s: %w", p.Name, err))
		default:
			p.Kind, p.Controller, p.Pending, p.Operational = kindName, c, priority, priority
			all = append(all, p)
		}
	}
	named := func(name string) loop.Registration { return loop.Registration{Name: name} }
	for i := range trajectories {
		add(Member{Registration: named(numbered("trajectory", i))}, "follow", asked)
	}
	add(Member{Registration: named("pose")}, "pose", asked)
	add(Member{Registration: named("joint_state"), Resources: everything,
		Operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
			return &stream.Program{Wants: set}, nil
		}}, "stream", fromStream)
	for i := range remotes {
		add(Member{Registration: named(numbered("remote", i)), Remote: true,
			Operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
				return &stream.Program{Needs: set}, nil
			}}, "stream", fromStream)
	}
	add(Member{Registration: named("hold"), Resources: everything,
		Operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) { return &hold.Program{Wants: set}, nil }}, "hold", background)
	add(Member{Registration: named("torque_off"), Resources: everything,
		Operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
			return &torqueoff.Program{Needs: set}, nil
		}}, "torque_off", byHand)
	add(Member{Registration: named("stance"), Resources: legs,
		Operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) { return stand(m, set) }}, "stance", background)
	add(Member{Registration: named("look_at"), Resources: face(m),
		Operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) { return look(m, set) }}, "look_at", background)
	if len(legs) > 0 {
		add(Member{Registration: named("step")}, "step", asked)
	}
	return all, errors.Join(errs...)
}

// stand returns the program that stands on the legs of which all joints are in a set.
func stand(m *robot.Model, set robot.Set) (control.Program, error) {
	resources, err := m.Resources()
	if err != nil {
		return nil, err
	}
	var legs []string
	for _, c := range m.Chains() {
		missing := func(j robot.JointID) bool { return !set.Has(resources.OfJoint(j)) }
		if c.Contact != robot.NoContact && !slices.ContainsFunc(c.Joints, missing) {
			legs = append(legs, c.Name)
		}
	}
	if len(legs) == 0 {
		return nil, errors.New("no whole leg is among the resources")
	}
	return stance.Stand(m, legs...)
}

// ahead is where a robot looks that nobody has shown anything: straight on.
var ahead = spatial.Vec3{X: 10}

// look returns the program that looks straight on with some of eyes and head.
func look(m *robot.Model, set robot.Set) (control.Program, error) {
	p, err := lookat.At(m, ahead)
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

// face names the resources that look: all of which a part can turn eyes or head.
func face(m *robot.Model) (names []string) {
	p, err := lookat.At(m, ahead)
	resources, err2 := m.Resources()
	if err != nil || err2 != nil {
		return nil // such a robot does not look
	}
	all := p.Needs.Union(p.Wants)
	for _, r := range resources.List() {
		if r.Set.Overlaps(all) {
			names = append(names, r.Name)
		}
	}
	return names
}

func numbered(name string, i int) string {
	if i == 0 {
		return name
	}
	return fmt.Sprintf("%s_%d", name, i+1)
}
