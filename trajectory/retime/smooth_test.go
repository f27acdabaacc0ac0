package retime_test

import (
	"math"
	"os"
	"testing"

	"poise/trajectory"
	"poise/trajectory/retime"
)

// sCurve is the shortest time of a way d from rest to rest within velocity,
// acceleration and jerk: the closed form, by bisection on the peak speed.
func sCurve(d, v, a, j float64) float64 {
	ramp := func(v float64) float64 { // time from rest to v
		if v*j < a*a {
			return 2 * math.Sqrt(v/j)
		}
		return v/a + a/j
	}
	if v*ramp(v) <= d {
		return 2*ramp(v) + (d-v*ramp(v))/v
	}
	low, high := 0.0, v
	for range 200 {
		if mid := (low + high) / 2; mid*ramp(mid) > d {
			high = mid
		} else {
			low = mid
		}
	}
	return 2 * ramp(low)
}

func TestJerkLimitedLineIsNearlyTheSCurve(t *testing.T) {
	r := rng(20)
	n, worst := 100, 0.0
	if testing.Short() {
		n = 5
	}
	for i := range n {
		d, v, a, j := math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), math.Exp(2+2*r.NormFloat64())
		l := trajectory.Limits{Velocity: []float64{v, 1e9}, Acceleration: []float64{a, 1e9}, Jerk: []float64{j, 1e12}}
		path := line(d)
		law := solve(t, &retime.Problem{Path: path, Limits: []trajectory.Limits{l}})
		best := sCurve(d, v, a, j)
		if c := check(path, law, []trajectory.Limits{l}, 20000); c.vel > 1+tolLimit || c.acc > 1+tolLimit || c.jerk > 1+tolLimit {
			t.Fatalf("seed %d case %d: velocity %.10g, acceleration %.10g, jerk %.10g of the limit", seed, i, c.vel, c.acc, c.jerk)
		}
		worst = max(worst, law.Duration()/best-1)
		if law.Duration() < best*(1-1e-9) || law.Duration() > best*1.08 {
			t.Errorf("seed %d case %d: %g s, S-curve %g s (d %g v %g a %g j %g)", seed, i, law.Duration(), best, d, v, a, j)
		}
	}
	t.Logf("%d lines, at most %.1f %% slower than the S-curve", n, 100*worst)
}

// Random smooth paths with jerk limits: nothing exceeded, jerk as a difference
// of accelerations included.
func TestRandomJerkLimitedPaths(t *testing.T) {
	n := 150
	switch {
	case os.Getenv("POISE_SOAK") != "":
		n = 20_000
	case testing.Short():
		n = 4
	}
	r := rng(21)
	var w retime.Solver
	var law, sharp retime.Law
	longer, slowed := 0.0, 0
	for i := range n {
		joints := 1 + r.IntN(6)
		path := randomPath(t, r, 2+r.IntN(5), joints, 0)
		l := randomLimits(r, joints)
		p := &retime.Problem{Path: path, Limits: []trajectory.Limits{l}}
		if err := w.Solve(&sharp, p); err != nil {
			t.Fatal(err)
		}
		l.Jerk = make([]float64, joints)
		for k := range l.Jerk {
			l.Jerk[k] = 30 * math.Exp(r.NormFloat64())
		}
		p.Limits[0] = l
		if err := w.Solve(&law, p); err != nil {
			t.Fatalf("seed %d case %d: %v", seed, i, err)
		}
		if c := check(path, &law, p.Limits, 4000); c.vel > 1+tolLimit || c.acc > 1+tolLimit || c.jerk > 1+tolLimit {
			t.Fatalf("seed %d case %d: velocity %.10g, acceleration %.10g, jerk %.10g of the limit", seed, i, c.vel, c.acc, c.jerk)
		}
		meetsEnds(t, path, &law)
		longer += law.Duration()/sharp.Duration() - 1
		if law.Slowed() != 1 {
			slowed++
		}
	}
	t.Logf("%d paths; jerk limits cost %.0f %% of time on average; %d slowed as a whole", n, 100*longer/float64(n), slowed)
}

// A law made for a period: the quintic through its samples obeys the limits of
// the joints at every instant, by its exact extremes.
func TestRandomSampledLawsHoldBetweenSamples(t *testing.T) {
	n := 150
	switch {
	case os.Getenv("POISE_SOAK") != "":
		n = 20_000
	case testing.Short():
		n = 4
	}
	r := rng(22)
	var w retime.Solver
	var law, sharp retime.Law
	later := 0.0
	for i := range n {
		joints := 1 + r.IntN(6)
		path := randomPath(t, r, 2+r.IntN(5), joints, i%2)
		l := randomLimits(r, joints)
		p := &retime.Problem{Path: path, Limits: []trajectory.Limits{l}}
		if err := w.Solve(&sharp, p); err != nil {
			t.Fatal(err)
		}
		p.Period = []float64{0.001, 0.004, 0.01, 0.05}[i%4]
		if err := w.Solve(&law, p); err != nil {
			t.Fatalf("seed %d case %d: %v", seed, i, err)
		}
		points, err := trajectory.Sample(retime.NewMotion(path, &law), p.Period)
		if err != nil {
			t.Fatal(err)
		}
		step := points.Points[1].Time
		if step > p.Period*(1+1e-9) || step < p.Period*0.5 {
			t.Fatalf("step %g, period %g", step, p.Period)
		}
		curve, err := points.Interpolant()
		if err != nil {
			t.Fatal(err)
		}
		if bad := l.Violations(curve, tolLimit); bad != nil {
			t.Fatalf("seed %d case %d, period %g: %v (%.10g times)", seed, i, p.Period, bad, bad[0].Ratio())
		}
		later += (law.Duration() - sharp.Duration()) / p.Period
	}
	t.Logf("%d paths: sampled laws end %.1f periods later on average", n, later/float64(n))
}

func TestSlackLimitsKeepTheSharpLaw(t *testing.T) {
	// the tool's trapezoid leaves the joint far from its limits: nothing to smooth
	l := trajectory.Limits{Velocity: []float64{10, 1}, Acceleration: []float64{100, 2}}
	path := line(1)
	sharp := solve(t, &retime.Problem{Path: path, Limits: []trajectory.Limits{l}})
	sampled := solve(t, &retime.Problem{Path: path, Limits: []trajectory.Limits{l}, Period: 0.1})
	if sampled.Duration() != sharp.Duration() {
		t.Errorf("%g s with a period, %g s without", sampled.Duration(), sharp.Duration())
	}
	// at its own limits it costs two periods and what rounds up to a whole one
	l = trajectory.Limits{Velocity: []float64{1, 10}, Acceleration: []float64{2, 100}}
	sampled = solve(t, &retime.Problem{Path: path, Limits: []trajectory.Limits{l}, Period: 0.01})
	if late := sampled.Duration() - trapezoid(1, 1, 2, 2); late < 0 || late > 0.03+1e-9 {
		t.Errorf("%g s later than the trapezoid, want at most 3 periods", late)
	}
}

func TestSmoothedLawsKeepStartSpeedAndCorners(t *testing.T) {
	path := line(1)
	for _, c := range []struct {
		name string
		p    retime.Problem
	}{
		{"period", retime.Problem{Period: 0.004, StartSpeed: 0.5, Limits: []trajectory.Limits{{Velocity: []float64{1, 9}, Acceleration: []float64{2, 9}}}}},
		{"jerk", retime.Problem{StartSpeed: 0.5, Limits: []trajectory.Limits{{Velocity: []float64{1, 9}, Acceleration: []float64{2, 9}, Jerk: []float64{20, 900}}}}},
		{"both ends", retime.Problem{Period: 0.004, StartSpeed: 0.5, EndSpeed: 0.25, Limits: []trajectory.Limits{{Velocity: []float64{1, 9}, Acceleration: []float64{2, 9}, Jerk: []float64{20, 900}}}}},
	} {
		c.p.Path = path
		law := solve(t, &c.p)
		_, v0, a0 := law.At(0)
		_, v1, a1 := law.At(law.Duration())
		if math.Abs(v0-c.p.StartSpeed) > 1e-12 || a0 != 0 || math.Abs(v1-c.p.EndSpeed) > 1e-9 || a1 != 0 {
			t.Errorf("%s: starts %g %g, ends %g %g", c.name, v0, a0, v1, a1)
		}
		meetsEnds(t, path, law)
		if d := check(path, law, c.p.Limits, 20000); d.vel > 1+tolLimit || d.acc > 1+tolLimit || c.p.Limits[0].Jerk != nil && d.jerk > 1+tolLimit {
			t.Errorf("%s: %v", c.name, d)
		}
	}
	// with a jerk limit a jump of curvature is passed at rest
	l := trajectory.Limits{Velocity: []float64{1, 1, 1}, Acceleration: []float64{4, 4, 4}, Jerk: []float64{50, 50, 50}}
	arc := bend(0.3, 0.1)
	law := solve(t, &retime.Problem{Path: arc, Limits: []trajectory.Limits{l}})
	for _, s := range arc.breaks[1:3] {
		slowest := math.Inf(1)
		for i := range law.Nodes() {
			at, where := law.Node(i)
			if _, v, _ := law.At(at); math.Abs(where-s) < 1e-9 {
				slowest = min(slowest, v)
			}
		}
		if slowest != 0 {
			t.Errorf("passes s = %g with %g, want rest", s, slowest)
		}
	}
	if d := check(arc, law, []trajectory.Limits{l}, 20000); d.acc > 1+tolLimit || d.jerk > 1+tolLimit {
		t.Errorf("acceleration %.10g, jerk %.10g of the limit", d.acc, d.jerk)
	}
}

// jerkyProblem is a random smooth path with limits of jerk.
func jerkyProblem(t *testing.T, stream uint64) *retime.Problem {
	r := rng(stream)
	path := randomPath(t, r, 6, 3, 0)
	l := randomLimits(r, 3)
	l.Jerk = repeat(20, 3)
	return &retime.Problem{Path: path, Limits: []trajectory.Limits{l}}
}

// A law that is slowed is the same motion, later.
func TestSlowedLawIsTheSameMotionLater(t *testing.T) {
	const by = 1.7
	law, slowed := solve(t, jerkyProblem(t, 25)), solve(t, jerkyProblem(t, 25))
	slowed.Slow(by)
	if got, want := slowed.Duration(), by*law.Duration(); math.Abs(got-want) > 1e-12*want {
		t.Errorf("lasts %g s, want %g s", got, want)
	}
	if got, want := slowed.Slowed(), by*law.Slowed(); math.Abs(got-want) > 1e-12 {
		t.Errorf("says it was slowed %g times, want %g", got, want)
	}
	for k := range 101 {
		time := law.Duration() * float64(k) / 100
		s, v, a := law.At(time)
		S, V, A := slowed.At(by * time)
		if math.Abs(S-s) > 1e-9 || math.Abs(V*by-v) > 1e-9 || math.Abs(A*by*by-a) > 1e-6 {
			t.Fatalf("at %g s: (%g, %g, %g), slowed (%g, %g, %g)", time, s, v, a, S, V, A)
		}
	}
}

// Patience pays: the law is never longer, and keeps the limits.
func TestPatientLawIsNotLonger(t *testing.T) {
	saved := 0.0
	streams := uint64(8)
	if testing.Short() {
		streams = 2
	}
	for stream := range streams {
		p := jerkyProblem(t, 30+stream)
		quick := solve(t, p)
		p.Patient = true
		patient := solve(t, p)
		if patient.Duration() > quick.Duration() {
			t.Errorf("stream %d: patient %g s, else %g s", stream, patient.Duration(), quick.Duration())
		}
		saved += quick.Duration() - patient.Duration()
		if c := check(p.Path, patient, p.Limits, 20000); c.vel > 1+tolLimit || c.acc > 1+tolLimit || c.jerk > 1+tolLimit {
			t.Errorf("stream %d: velocity %.10g, acceleration %.10g, jerk %.10g of the limit", stream, c.vel, c.acc, c.jerk)
		}
	}
	if saved == 0 && !testing.Short() {
		t.Error("it never paid")
	}
}
