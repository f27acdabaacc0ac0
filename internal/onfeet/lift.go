package onfeet

import (
	"slices"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/control/follow"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
	"poise/trajectory/move"
)

// Key is a pose of a lift, reached at a time and left at rest.
type Key struct {
	At    float64            // s
	Shift spatial.Vec3       // of the base from where it stands, m
	Lift  map[string]float64 // m by which hooves are above the ground
	Free  []string           // chains that do not stand from here on
}

const every = 0.02 // s between points

// Lift returns the motion of some chains from the rest pose, by keys in the order of time. They begin
// and end at rest.
func Lift(t testing.TB, m *robot.Model, chains []string, keys ...Key) follow.Goal {
	t.Helper()
	goal := follow.Goal{GoalTime: -1}
	var legs []leg
	data := kinematics.NewData(m)
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	for i, x := range m.RestPositions() {
		q[m.Joints()[i].Q] = x
	}
	data.UpdatePosition(q)
	for _, name := range chains {
		id, ok := m.Chain(name)
		if !ok {
			t.Fatalf("no chain %s", name)
		}
		c := &m.Chains()[id]
		solver, err := control.NewLimbSolver(m, c)
		if err != nil {
			t.Fatal(err)
		}
		legs = append(legs, leg{name: name, chain: c, solver: solver, rest: data.Pose(data.At(c.VirtualTip))})
		for _, j := range c.Joints {
			goal.Joints = append(goal.Joints, m.Joints()[j].Name)
		}
		goal.Joints = append(goal.Joints, follow.SupportPrefix+name)
	}
	last := keys[len(keys)-1].At
	for s := 0.0; s <= last+1e-9; s += every {
		k := 0
		for k+2 < len(keys) && keys[k+1].At <= s {
			k++
		}
		from, to := keys[k], keys[k+1]
		x := move.MinimumJerk(s-from.At, to.At-from.At).P
		p := trajectory.Point{Time: s}
		shift := from.Shift.Add(to.Shift.Sub(from.Shift).Scale(x))
		for _, l := range legs {
			want := l.rest
			want.P = want.P.Sub(shift)
			want.P.Z += from.Lift[l.name] + x*(to.Lift[l.name]-from.Lift[l.name])
			if out := l.solver.PoseTo(q, want, q); out.Status != ik.Solved {
				t.Fatalf("%s at %g s: %+v", l.name, s, out)
			}
			for _, j := range l.chain.Joints {
				p.Position = append(p.Position, q[m.Joints()[j].Q])
			}
			stands := 1.0
			if s >= from.At && slices.Contains(from.Free, l.name) {
				stands = 0
			}
			p.Position = append(p.Position, stands)
		}
		goal.Points = append(goal.Points, p)
	}
	return goal
}

type leg struct {
	name   string
	chain  *robot.Chain
	solver *ik.Solver
	rest   spatial.Pose
}

// Over returns the shift that brings the centre of mass over the middle of the feet but one.
func Over(m *robot.Model, without string) spatial.Vec3 {
	data, q := kinematics.NewData(m), make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	for i, x := range m.RestPositions() {
		q[m.Joints()[i].Q] = x
	}
	data.UpdatePosition(q)
	var soles []contact.Point
	for _, c := range m.Chains() {
		if c.Contact == robot.NoContact || c.Name == without {
			continue
		}
		p := data.Pose(data.At(c.Tip)).Apply(m.Contacts()[c.Contact].Points[0])
		soles = append(soles, contact.Point{X: p.X, Y: p.Y})
	}
	var hull contact.Polygon
	hull.Hull(soles)
	mid, _ := hull.Centre()
	com, _ := data.Com()
	return spatial.Vec3{X: mid.X - com.X, Y: mid.Y - com.Y}
}
