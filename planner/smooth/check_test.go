package smooth_test

import (
	"math"
	"testing"

	"poise/kinematics"
	"poise/planner"
	"poise/planner/smooth"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
)

// What every plan keeps.
const (
	tolLimit = 1e-7 // relative excess over a limit: rounding of samples a millisecond apart
	tolPath  = 1e-6 // m, rad: how far a sample may be off its path
	tolTime  = 1e-9 // s
)

// limitsOf returns the limits of a motion's joints, scaled.
func limitsOf(m *robot.Model, joints []robot.JointID, vs, as float64) *trajectory.Limits {
	l := &trajectory.Limits{}
	jerk := false
	for _, j := range joints {
		limits := m.Joints()[j].Limits
		get := func(l robot.Limit, by float64) float64 {
			if !l.Has {
				return math.Inf(1)
			}
			return math.Abs(l.Value) * by
		}
		dec := limits.Deceleration
		if !dec.Has {
			dec = limits.Acceleration
		}
		low, high := math.Inf(-1), math.Inf(1)
		if m.Joints()[j].Kind != robot.Continuous {
			if limits.Lower.Has {
				low = limits.Lower.Value
			}
			if limits.Upper.Has {
				high = limits.Upper.Value
			}
		}
		l.Lower, l.Upper = append(l.Lower, low), append(l.Upper, high)
		l.Velocity = append(l.Velocity, get(limits.Velocity, vs))
		l.Acceleration = append(l.Acceleration, get(limits.Acceleration, as))
		l.Deceleration = append(l.Deceleration, get(dec, as))
		l.Jerk = append(l.Jerk, get(limits.Jerk, 1))
		jerk = jerk || limits.Jerk.Has
	}
	if !jerk {
		l.Jerk = nil
	}
	return l
}

// checkMotion checks what holds for every motion: even, strictly increasing times,
// rest at the end, and the limits of the joints at every instant of the quintic
// through the points.
func checkMotion(t *testing.T, m *robot.Model, mo *planner.Motion, period float64) {
	t.Helper()
	pts := mo.Trajectory.Points
	if err := mo.Trajectory.Check(); err != nil {
		t.Fatal(err)
	}
	last := pts[len(pts)-1]
	for j := range last.Position {
		if last.Velocity[j] != 0 || last.Acceleration[j] != 0 {
			t.Fatalf("ends with velocity %v and acceleration %v", last.Velocity, last.Acceleration)
		}
	}
	if len(pts) < 2 {
		return
	}
	step := pts[1].Time - pts[0].Time
	for i := 1; i < len(pts); i++ {
		if dt := pts[i].Time - pts[i-1].Time; math.Abs(dt-step) > tolTime || !(dt > 0) {
			t.Fatalf("step %d takes %.12g s, the first %.12g", i, dt, step)
		}
	}
	if step > period+tolTime {
		t.Fatalf("sampled every %g s, want at most %g", step, period)
	}
	if pts[0].Time != 0 {
		t.Fatalf("begins at %g", pts[0].Time)
	}
	curve, err := mo.Trajectory.Interpolant()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range limitsOf(m, mo.Joints, 1, 1).Violations(curve, tolLimit) {
		t.Errorf("%v (%.9g of it)", v, v.Ratio())
	}
}

// tracer tells where a link is along a motion.
type tracer struct {
	m     *robot.Model
	d     *kinematics.Data
	place kinematics.Place
	q, v  []float64
	js    []robot.JointID
}

func newTracer(m *robot.Model, mo *planner.Motion, link robot.FrameID) *tracer {
	d := kinematics.NewData(m)
	return &tracer{m: m, d: d, place: d.At(link), q: append([]float64(nil), mo.Start...), v: make([]float64, m.NumV()), js: mo.Joints}
}

func (x *tracer) at(q, v []float64) (spatial.Pose, spatial.Twist) {
	for k, j := range x.js {
		x.q[x.m.Joints()[j].Q], x.v[x.m.Joints()[j].V] = q[k], v[k]
	}
	x.d.UpdatePosition(x.q)
	x.d.UpdateVelocity(x.v)
	return x.d.Pose(x.place), x.d.Twist(x.place)
}

// each visits the samples of a motion, and places between them on the quintic.
func (x *tracer) each(t *testing.T, mo *planner.Motion, between int, visit func(time float64, sample bool, X spatial.Pose, V spatial.Twist)) {
	t.Helper()
	n := len(mo.Joints)
	q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
	curve, err := mo.Trajectory.Interpolant()
	if err != nil {
		t.Fatal(err)
	}
	pts := mo.Trajectory.Points
	for i := range pts {
		X, V := x.at(pts[i].Position, pts[i].Velocity)
		visit(pts[i].Time, true, X, V)
		if i+1 == len(pts) {
			break
		}
		for k := 1; k <= between; k++ {
			time := pts[i].Time + (pts[i+1].Time-pts[i].Time)*float64(k)/float64(between+1)
			curve.SegmentTo(q, v, a, i, time)
			X, V := x.at(q, v)
			visit(time, false, X, V)
		}
	}
}

func duration(all ...*planner.Motion) (sum float64) {
	for _, m := range all {
		if m != nil {
			sum += m.Trajectory.Points[len(m.Trajectory.Points)-1].Time
		}
	}
	return sum
}

var _ = smooth.DefaultSampling
