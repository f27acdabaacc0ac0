package smooth

import (
	"errors"
	"math"
	"testing"

	"poise/internal/randbot"
	"poise/robot"
	"poise/robot/load"
	"poise/trajectory"
	"poise/trajectory/spline"
)

const lawSeed = 4

func arm(t *testing.T) (*robot.Model, []robot.JointID) {
	t.Helper()
	r, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := r.Model.Group("manipulator")
	return r.Model, r.Model.Groups()[id].Joints
}

func all(n int, x float64) []float64 {
	out := make([]float64, n+measures)
	for i := range out {
		out[i] = x
	}
	return out
}

// wave is a smooth path of all joints, as a piece of unit rates.
func wave(joints int, length, amplitude, phase float64) *piece {
	const nodes = 40
	var s []float64
	var q, d1, d2 [][]float64
	for i := range nodes + 1 {
		x := length * float64(i) / nodes
		a, b, c := make([]float64, joints), make([]float64, joints), make([]float64, joints)
		for j := range joints {
			k := 1 + float64(j)
			a[j], b[j], c[j] = amplitude*math.Sin(k*x+phase)/k, amplitude*math.Cos(k*x+phase), -amplitude*k*math.Sin(k*x+phase)
		}
		s, q, d1, d2 = append(s, x), append(q, a), append(d1, b), append(d2, c)
	}
	c, err := spline.Quintic(s, q, d1, d2)
	if err != nil {
		panic(err)
	}
	return &piece{Curve: c, To: length, Scale: 1, Rate: [2]float64{1, 0}, Link: robot.NoFrame}
}

// Random paths with random limits: samples are even, at rest at both ends, and the
// quintic through them keeps the joints' limits.
func TestSamplesKeepTheLimitsBetweenThem(t *testing.T) {
	m, joints := arm(t)
	n := len(joints)
	rng := randbot.New(lawSeed)
	for k := range 60 {
		p := wave(n, 0.5+rng.Float64(), 0.2+rng.Float64(), 6*rng.Float64())
		l := &p.Limits
		l.Velocity, l.Acceleration, l.Deceleration = all(n, 1+rng.Float64()), all(n, 1+5*rng.Float64()), all(n, 1+5*rng.Float64())
		if k%3 == 2 {
			l.Jerk = all(n, 20+50*rng.Float64())
			for i := range measures {
				l.Jerk[n+i] = math.Inf(1)
			}
		}
		run := timedRun{route: newRoute(m, joints, []*piece{p}, make([]float64, m.NumQ())), period: []float64{0.001, 0.004, 0.02}[rng.IntN(3)]}
		out, err := run.solve()
		if err != nil {
			t.Fatalf("seed %d, %d: %v", lawSeed, k, err)
		}
		pts := out.Points
		for i := 1; i < len(pts); i++ {
			if math.Abs(pts[i].Time-pts[i-1].Time-run.period) > 1e-9 {
				t.Fatalf("seed %d, %d: step %d of %g s", lawSeed, k, i, pts[i].Time-pts[i-1].Time)
			}
		}
		for _, end := range []trajectory.Point{pts[0], pts[len(pts)-1]} {
			for j := range n {
				if math.Abs(end.Velocity[j]) > 1e-12 || math.Abs(end.Acceleration[j]) > 1e-8 {
					t.Fatalf("seed %d, %d: %v at an end", lawSeed, k, end)
				}
			}
		}
		curve, err := out.Interpolant()
		if err != nil {
			t.Fatal(err)
		}
		limits := trajectory.Limits{Velocity: l.Velocity[:n], Acceleration: l.Acceleration[:n], Deceleration: l.Deceleration[:n]}
		if l.Jerk != nil {
			limits.Jerk = l.Jerk[:n]
		}
		if v := limits.Violations(curve, 1e-6); len(v) > 0 {
			t.Fatalf("seed %d, %d: %v", lawSeed, k, v)
		}
		// half way between samples the route is where it says it is
		q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
		row := make([]float64, 3*(n+measures))
		for i := 0; i+1 < len(pts); i += 17 {
			curve.StateTo(q, v, a, (pts[i].Time+pts[i+1].Time)/2)
			run.route.StateTo(row[:n+measures], row[n+measures:2*(n+measures)], row[2*(n+measures):], 0, run.half(i))
			for j := range n {
				if math.Abs(q[j]-row[j]) > 1e-3*run.period {
					t.Fatalf("seed %d, %d: half way after sample %d joint %d is at %g, the route at %g", lawSeed, k, i, j, q[j], row[j])
				}
			}
		}
	}
}

func TestToolSpeedAndAccelerationAreThoseAskedFor(t *testing.T) {
	m, joints := arm(t)
	n := len(joints)
	p := wave(n, 1, 0.05, 0)
	p.Limits = trajectory.Limits{Velocity: all(n, 100), Acceleration: all(n, 1000), Deceleration: all(n, 1000)}
	p.Limits.Velocity[n+wayRow], p.Limits.Acceleration[n+wayRow], p.Limits.Deceleration[n+wayRow] = 0.5, 1, 2
	run := timedRun{route: newRoute(m, joints, []*piece{p}, make([]float64, m.NumQ())), period: 0.001}
	out, err := run.solve()
	if err != nil {
		t.Fatal(err)
	}
	// 0.5 s up, 0.25 s down, the rest of the metre at full speed
	want := 0.5 + 0.25 + (1-0.125-0.0625)/0.5
	if d := out.Points[len(out.Points)-1].Time; d < want || d > want+0.003+1e-9 {
		t.Errorf("takes %g s, want %g", d, want)
	}
}

func TestMoreSamplesThanMemoryHoldsAreRefused(t *testing.T) {
	m, joints := arm(t)
	n := len(joints)
	p := wave(n, 1, 0.1, 0)
	p.Limits = trajectory.Limits{Velocity: all(n, 1e-3), Acceleration: all(n, 1), Deceleration: all(n, 1)}
	run := timedRun{route: newRoute(m, joints, []*piece{p}, make([]float64, m.NumQ())), period: 1e-5}
	_, err := run.solve()
	var long *longError
	if !errors.As(err, &long) || !(long.Duration > 20) {
		t.Errorf("%v", err)
	}
}
