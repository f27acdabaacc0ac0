package smooth

import (
	"math"
	"testing"

	"poise/internal/randbot"
	"poise/planner"
	"poise/trajectory"
	"poise/trajectory/spline"
)

const transferSeed = 3

// Random transfers, at rest and moving: samples keep all limits on the quintic
// through them, jerk too, and begin and end as asked for, bit for bit.
func TestSamplesKeepLimitsBetweenThem(t *testing.T) {
	m, joints := arm(t)
	rng := randbot.New(transferSeed)
	for n := range 300 {
		task := &planner.Task{Command: planner.PTP, Joints: joints, VelocityScaling: 0.1 + 0.9*rng.Float64(), AccelerationScaling: 0.1 + 0.9*rng.Float64(),
			Start: make([]float64, m.NumQ()), Goal: make([]float64, m.NumQ()), StartVelocity: make([]float64, len(joints)), Group: &m.Groups()[0]}
		var limits trajectory.Limits
		for k, j := range joints {
			l := m.Joints()[j].Limits
			task.Start[m.Joints()[j].Q], task.Goal[m.Joints()[j].Q] = rng.NormFloat64(), rng.NormFloat64()
			if n%2 == 1 {
				task.StartVelocity[k] = task.VelocityScaling * l.Velocity.Value * (2*rng.Float64() - 1)
			}
			limits.Velocity = append(limits.Velocity, l.Velocity.Value*task.VelocityScaling)
			limits.Acceleration = append(limits.Acceleration, l.Acceleration.Value*task.AccelerationScaling)
			limits.Jerk = append(limits.Jerk, l.Jerk.Value)
		}
		period := []float64{0.001, 0.01, 0.1}[rng.IntN(3)]
		x, why := newTransfer(m, task, period)
		if why != nil {
			t.Fatalf("seed %d, %d: %v", transferSeed, n, why)
		}
		out := x.Samples()
		pts := out.Points
		if d := pts[len(pts)-1].Time; math.Abs(d-x.Duration()-2*period) > 1e-9 {
			t.Fatalf("seed %d, %d: samples last %g s, the motion %g s", transferSeed, n, d, x.Duration())
		}
		for k, j := range joints {
			q := m.Joints()[j].Q
			last := pts[len(pts)-1]
			if pts[0].Position[k] != task.Start[q] && math.Abs(pts[0].Position[k]-task.Start[q]) > 1e-15 || pts[0].Velocity[k] != task.StartVelocity[k] ||
				last.Position[k] != task.Goal[q] || last.Velocity[k] != 0 || last.Acceleration[k] != 0 {
				t.Fatalf("seed %d, %d: joint %d goes from %v to %v", transferSeed, n, k, pts[0], last)
			}
		}
		curve, err := out.Interpolant()
		if err != nil {
			t.Fatal(err)
		}
		if v := limits.Violations(curve, 1e-6); len(v) > 0 {
			t.Fatalf("seed %d, %d: %v", transferSeed, n, v)
		}
	}
}

// The way of a transfer passes through its samples, at unit pace.
func TestWayPassesThroughTheSamples(t *testing.T) {
	m, joints := arm(t)
	task := &planner.Task{Command: planner.PTP, Joints: joints, VelocityScaling: 1, AccelerationScaling: 1,
		Start: make([]float64, m.NumQ()), Goal: []float64{1, 0.2, -0.7, 2, -0.4, 3, 0}, StartVelocity: make([]float64, len(joints)), Group: &m.Groups()[0]}
	x, why := newTransfer(m, task, 0.001)
	if why != nil {
		t.Fatal(why)
	}
	limits := make([]float64, len(joints))
	for k, j := range joints {
		limits[k] = m.Joints()[j].Limits.Velocity.Value
	}
	out := x.Samples()
	curve, most, start := wayOf(out, limits, false)
	if start != 0 || !(most > 0.5) {
		t.Errorf("pace %g at the start, %g at most", start, most)
	}
	n := len(joints)
	q, d1, d2 := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := 20; i < len(out.Points)-20; i += 37 {
		// find the place of the sample by its first joint, which goes one way
		p := out.Points[i]
		lo, hi := curve.Start(), curve.End()
		for range 60 {
			mid := (lo + hi) / 2
			curve.PositionTo(q, mid)
			if q[0] < p.Position[0] {
				lo = mid
			} else {
				hi = mid
			}
		}
		curve.StateTo(q, d1, d2, lo)
		pace := 0.0
		for k := range q {
			if math.Abs(q[k]-p.Position[k]) > 1e-8 {
				t.Fatalf("sample %d: joint %d at %g, the way at %g", i, k, p.Position[k], q[k])
			}
			pace += d1[k] / limits[k] * d1[k] / limits[k]
		}
		if math.Abs(math.Sqrt(pace)-1) > 1e-6 {
			t.Fatalf("sample %d: pace %g", i, math.Sqrt(pace))
		}
	}
}

func TestStopEndsAtRestOrBackAtTheStart(t *testing.T) {
	m, joints := arm(t)
	task := &planner.Task{Command: planner.LIN, Joints: joints, VelocityScaling: 0.1, AccelerationScaling: 0.1,
		Start: make([]float64, m.NumQ()), StartVelocity: []float64{1, -0.5, 0, 0, 2, 0}, Group: &m.Groups()[0]}
	for _, back := range []bool{false, true} {
		x, why := stopTransfer(m, task, 0.001, back)
		if why != nil {
			t.Fatal(why)
		}
		out := x.Samples()
		last := out.Points[len(out.Points)-1]
		for k := range joints {
			if v := task.StartVelocity[k]; back && last.Position[k] != 0 || !back && last.Position[k]*v < 0 || v == 0 && last.Position[k] != 0 {
				t.Errorf("back %v: joint %d ends at %g", back, k, last.Position[k])
			}
		}
		if curve, err := out.Interpolant(); err != nil || math.Abs(curve.Peak(2, spline.Position, 0, curve.End()).Value) != 0 {
			t.Errorf("a joint at rest moves: %v", err)
		}
	}
}

func TestNothingToDoIsNoTransfer(t *testing.T) {
	m, joints := arm(t)
	task := &planner.Task{Command: planner.PTP, Joints: joints, VelocityScaling: 1, AccelerationScaling: 1,
		Start: make([]float64, m.NumQ()), Goal: make([]float64, m.NumQ()), StartVelocity: make([]float64, len(joints)), Group: &m.Groups()[0]}
	if x, why := newTransfer(m, task, 0.001); x != nil || why != nil {
		t.Errorf("%v, %v", x, why)
	}
}
