package onfeet

import (
	"math"
	"testing"

	"poise/control/follow"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
	"poise/trajectory/move"
)

const (
	amplitude = 0.03 // m
	frequency = 0.5  // Hz
	begins    = 0.5  // s until the first point
)

// planarLeg is hip, knee and ankle of a leg that moves in its plane.
type planarLeg struct {
	tip              kinematics.Place
	hip, knee, ankle int // in q
	rest             spatial.Vec3
}

// Squat returns the motion by which it is judged how well a robot on four legs is driven: its body
// goes down and up by ±30 mm at 0.5 Hz, its hooves stay where they are. The robot has the legs of the
// pony, and goes from its rest pose to one that is lower by 30 mm, about which it moves. Points have
// velocities and accelerations; the motion takes some seconds, begins and ends at rest.
func Squat(t testing.TB, m *robot.Model, seconds float64) follow.Goal {
	t.Helper()
	goal := follow.Goal{GoalTime: -1}
	b := newBody(m, &goal)
	at := func(s float64) []float64 {
		grow := move.MinimumJerk(min(s, seconds-s), 1).P
		return b.pose(t, -amplitude*move.MinimumJerk(s, 1).P+amplitude*grow*math.Sin(2*math.Pi*frequency*s))
	}
	const h = 1e-3
	for s := 0.0; s <= seconds+1e-9; s += every {
		now, before, after := at(s), at(math.Max(s-h, 0)), at(math.Min(s+h, seconds))
		v, a := make([]float64, len(now)), make([]float64, len(now))
		if s > h && s < seconds-h {
			for i := range now {
				v[i], a[i] = (after[i]-before[i])/(2*h), (after[i]-2*now[i]+before[i])/(h*h)
			}
		}
		goal.Points = append(goal.Points, trajectory.Point{Time: s + begins, Position: now, Velocity: v, Acceleration: a})
	}
	return goal
}

// body is a robot whose base is moved by its legs.
type body struct {
	k    *kinematics.Data
	q    []float64
	legs []planarLeg
}

func newBody(m *robot.Model, goal *follow.Goal) *body {
	b := &body{k: kinematics.NewData(m), q: make([]float64, m.NumQ())}
	kinematics.NewSpace(m).NeutralTo(b.q)
	for i, x := range m.RestPositions() {
		b.q[m.Joints()[i].Q] = x
	}
	b.k.UpdatePosition(b.q)
	for n := '1'; n <= '4'; n++ {
		id, _ := m.Chain("leg" + string(n))
		l := planarLeg{tip: b.k.At(m.Chains()[id].Tip)}
		for i, at := range []*int{&l.hip, &l.knee, &l.ankle} {
			name := "joint" + string(n) + string(rune('2'+i))
			j, _ := m.Joint(name)
			*at = m.Joints()[j].Q
			goal.Joints = append(goal.Joints, name)
		}
		l.rest = b.k.Pose(l.tip).P
		b.legs = append(b.legs, l)
	}
	for _, name := range []string{"leg1", "leg2", "leg3", "leg4"} {
		goal.Joints = append(goal.Joints, follow.SupportPrefix+name)
	}
	return b
}

// pose returns the joints with which the body is higher by some metres than at rest, and the
// supports: all stand.
func (b *body) pose(t testing.TB, height float64) (out []float64) {
	t.Helper()
	q := b.q
	for _, l := range b.legs {
		// Newton's method; the hoof stays upright: hip + knee + ankle is constant
		sum := q[l.hip] + q[l.knee] + q[l.ankle]
		miss := func(hip, knee float64) (x, z float64) {
			q[l.hip], q[l.knee], q[l.ankle] = hip, knee, sum-hip-knee
			b.k.UpdatePosition(q)
			p := b.k.Pose(l.tip).P
			return p.X - l.rest.X, p.Z - l.rest.Z + height
		}
		hip, knee := q[l.hip], q[l.knee]
		for range 20 {
			const h = 1e-6
			x, z := miss(hip, knee)
			xa, za := miss(hip+h, knee)
			xb, zb := miss(hip, knee+h)
			j11, j12, j21, j22 := (xa-x)/h, (xb-x)/h, (za-z)/h, (zb-z)/h
			det := j11*j22 - j12*j21
			hip, knee = hip-(j22*x-j12*z)/det, knee-(j11*z-j21*x)/det
		}
		if x, z := miss(hip, knee); math.Hypot(x, z) > 1e-9 {
			t.Fatalf("the hoof misses by %g", math.Hypot(x, z))
		}
		out = append(out, hip, knee, sum-hip-knee)
	}
	return append(out, 1, 1, 1, 1)
}
