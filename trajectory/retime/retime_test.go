package retime_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/trajectory"
	"poise/trajectory/retime"
)

// tolLimit is the promise: no limit exceeded by more, relatively.
const tolLimit = 1e-8

func solve(t testing.TB, p *retime.Problem) *retime.Law {
	t.Helper()
	var w retime.Solver
	var law retime.Law
	if err := w.Solve(&law, p); err != nil {
		t.Fatal(err)
	}
	return &law
}

// trapezoid is the fastest way of length d from rest to rest.
func trapezoid(d, v, a, dec float64) float64 {
	if full := v*v/(2*a) + v*v/(2*dec); full > d {
		v = math.Sqrt(2 * d * a * dec / (a + dec))
	}
	return v/a + v/dec + (d-v*v/(2*a)-v*v/(2*dec))/v
}

func TestStraightLineIsTheTrapezoid(t *testing.T) {
	r := rng(1)
	n := 200
	if testing.Short() {
		n = 20
	}
	for range n {
		d, v, a, dec := math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64())
		l := trajectory.Limits{Velocity: []float64{v, 1e9}, Acceleration: []float64{a, 1e9}, Deceleration: []float64{dec, 1e9}}
		law := solve(t, &retime.Problem{Path: line(d), Limits: []trajectory.Limits{l}})
		// a switch falls inside an interval; that costs less than the interval lasts
		approx.Scalar(t, "duration", law.Duration()/trapezoid(d, v, a, dec), 1, approx.Tol{Abs: 2e-3})
		if law.Duration() < trapezoid(d, v, a, dec)*(1-1e-12) {
			t.Errorf("faster than the limits allow: %g, trapezoid %g", law.Duration(), trapezoid(d, v, a, dec))
		}
		// the same through the measure
		m := trajectory.Limits{Velocity: []float64{1e9, v}, Acceleration: []float64{1e9, a}, Deceleration: []float64{1e9, dec}}
		same := solve(t, &retime.Problem{Path: line(d), Limits: []trajectory.Limits{m}})
		approx.Scalar(t, "duration by measure", same.Duration(), law.Duration(), approx.Tol{Rel: 1e-12})
	}
}

// Random paths with random limits: nothing is exceeded at any of many instants,
// the ends are met, and some limit is always active.
func TestRandomPathsHoldTheirLimits(t *testing.T) {
	n, dense := 1500, 2000
	switch {
	case os.Getenv("POISE_SOAK") != "":
		n = 200_000
	case testing.Short():
		n = 30
	}
	r := rng(2)
	var w retime.Solver
	var law retime.Law
	least, slowed := 1.0, 0
	for i := range n {
		joints := 1 + r.IntN(7)
		path := randomPath(t, r, 2+r.IntN(7), joints, i%2)
		limits := []trajectory.Limits{randomLimits(r, joints)}
		if i%5 == 0 { // other limits on every piece
			limits = nil
			for range len(path.Breaks()) - 1 {
				limits = append(limits, randomLimits(r, joints))
			}
		}
		p := &retime.Problem{Path: path, Limits: limits, Grid: []int{0, 20, 1000}[r.IntN(3)]}
		if err := w.Solve(&law, p); err != nil {
			t.Fatalf("seed %d case %d: %v", seed, i, err)
		}
		if d := check(path, &law, limits, dense); d.vel > 1+tolLimit || d.acc > 1+tolLimit {
			t.Fatalf("seed %d case %d: velocity %.12g, acceleration %.12g of the limit at %g s of %g s", seed, i, d.vel, d.acc, d.time, law.Duration())
		}
		meetsEnds(t, path, &law)
		least = min(least, law.Active())
		if law.Slowed() != 1 {
			slowed++
		}
	}
	t.Logf("%d paths × %d instants; some limit active along at least %.1f %% of each; %d slowed as a whole", n, dense, 100*least, slowed)
	if slowed > n/100 {
		t.Errorf("%d of %d had to be slowed as a whole", slowed, n)
	}
}

func meetsEnds(t testing.TB, path retime.Path, law *retime.Law) {
	t.Helper()
	b := path.Breaks()
	s0, _, _ := law.At(0)
	s1, _, _ := law.At(law.Duration())
	if s0 != b[0] || math.Abs(s1-b[len(b)-1]) > 1e-12*(b[len(b)-1]-b[0]) {
		t.Fatalf("runs from %g to %g, want %g to %g", s0, s1, b[0], b[len(b)-1])
	}
}

// A start speed that can be kept is kept, one that cannot is refused with the
// largest that can; both ends, on random paths.
func TestRandomStartAndEndSpeeds(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 40
	}
	r := rng(3)
	var w retime.Solver
	var law retime.Law
	started, refused := 0, 0
	for i := range n {
		joints := 1 + r.IntN(4)
		path := randomPath(t, r, 2+r.IntN(5), joints, 0)
		p := &retime.Problem{Path: path, Limits: []trajectory.Limits{randomLimits(r, joints)}, StartSpeed: 0.6 * r.Float64(), EndSpeed: 0.3 * r.Float64() * float64(i%2)}
		err := w.Solve(&law, p)
		var speed *retime.SpeedError
		switch {
		case err == nil:
			started++
			_, v0, _ := law.At(0)
			_, v1, _ := law.At(law.Duration())
			if math.Abs(v0-p.StartSpeed) > 1e-9 || math.Abs(v1-p.EndSpeed) > 1e-8 {
				t.Fatalf("seed %d case %d: speeds %g, %g, want %g, %g", seed, i, v0, v1, p.StartSpeed, p.EndSpeed)
			}
			if d := check(path, &law, p.Limits, 2000); d.vel > 1+tolLimit || d.acc > 1+tolLimit {
				t.Fatalf("seed %d case %d: velocity %.12g, acceleration %.12g", seed, i, d.vel, d.acc)
			}
		case errors.As(err, &speed):
			refused++
			if speed.End {
				p.EndSpeed = 0
			} else {
				p.StartSpeed = speed.Max * 0.999
			}
			if err := w.Solve(&law, p); err != nil && errors.Is(err, retime.ErrSpeed) == false {
				t.Fatalf("seed %d case %d: after %v: %v", seed, i, speed, err)
			}
		case errors.Is(err, retime.ErrBroken):
			refused++
		default:
			t.Fatalf("seed %d case %d: %v", seed, i, err)
		}
	}
	t.Logf("%d started moving, %d refused", started, refused)
	if started == 0 || refused == 0 {
		t.Error("one side was not tested")
	}
}

func TestStartSpeedTooHighIsRefusedWithTheNumber(t *testing.T) {
	// 1 m to go, braking at 2 m/s²: at most 2 m/s
	l := trajectory.Limits{Acceleration: []float64{2, 1e9}}
	p := &retime.Problem{Path: line(1), Limits: []trajectory.Limits{l}, StartSpeed: 2.5}
	var w retime.Solver
	var law retime.Law
	err := w.Solve(&law, p)
	var speed *retime.SpeedError
	if !errors.As(err, &speed) || speed.End || math.Abs(speed.Max-2) > 1e-9 || err.Error() != "start speed 2.5 is not possible, at most 2" {
		t.Fatalf("error %v", err)
	}
	p.StartSpeed = 2
	if err := w.Solve(&law, p); err != nil || math.Abs(law.Duration()-1) > 1e-9 {
		t.Errorf("at the limit: %v, %g s, want 1 s", err, law.Duration())
	}
	p.StartSpeed, p.EndSpeed = 0, 2.1
	if err := w.Solve(&law, p); !errors.As(err, &speed) || !speed.End || math.Abs(speed.Max-2) > 1e-9 {
		t.Errorf("end speed: %v", err)
	}
}

func TestCurvatureJumpsAndCorners(t *testing.T) {
	l := trajectory.Limits{Velocity: []float64{1, 1, 1}, Acceleration: []float64{2, 2, 2}}
	path := bend(0.5, 0.02)
	law := solve(t, &retime.Problem{Path: path, Limits: []trajectory.Limits{l}})
	if d := check(path, law, []trajectory.Limits{l}, 50000); d.vel > 1+tolLimit || d.acc > 1+tolLimit {
		t.Errorf("velocity %.12g, acceleration %.12g of the limit", d.vel, d.acc)
	}
	// around the bend the speed is that of the circle, not rest
	tight, ok := law.Tightest()
	if want := math.Sqrt(2 * 0.02); !ok || tight.At < 0.4 || tight.At > 0.7 || tight.Slowest < 0.8*want || tight.Slowest > 1.2*want {
		t.Errorf("tightest %v at %g m with %g m/s, want about %g m/s in the bend", tight, tight.At, tight.Slowest, want)
	}

	// a corner is passed at rest: the time is that of the two sides
	corner := &formula{joints: 2, breaks: []float64{0, 1, 2}, at: func(q, dq, ddq []float64, piece int, s float64) {
		clear(ddq)
		q[0], q[1], dq[0], dq[1] = min(s, 1), max(s-1, 0), float64(1-piece), float64(piece)
	}}
	two := trajectory.Limits{Velocity: []float64{1, 1}, Acceleration: []float64{2, 2}}
	law = solve(t, &retime.Problem{Path: corner, Limits: []trajectory.Limits{two}})
	approx.Scalar(t, "duration", law.Duration(), 2*trapezoid(1, 1, 2, 2), approx.Tol{Rel: 1e-6})
	s, v, _ := law.At(law.Duration() / 2)
	approx.Equal(t, "at the corner", []float64{s, v}, []float64{1, 0}, approx.Tol{Abs: 1e-6})
}

func TestDegeneratePathsAreNamed(t *testing.T) {
	l := []trajectory.Limits{{Velocity: []float64{1, 1}, Acceleration: []float64{1, 1}}}
	still := line(1)
	still.breaks = []float64{3, 3}
	var w retime.Solver
	var law retime.Law
	if err := w.Solve(&law, &retime.Problem{Path: still, Limits: l}); err != nil || law.Duration() != 0 || law.Active() != 1 {
		t.Errorf("no length: %v, %g s", err, law.Duration())
	}
	if s, v, a := law.At(0); s != 3 || v != 0 || a != 0 {
		t.Errorf("no length: at %g, %g, %g", s, v, a)
	}
	withBreaks := func(b ...float64) *formula { f := line(1); f.breaks = b; return f }
	nan := line(1)
	nan.at = func(q, dq, ddq []float64, _ int, s float64) {
		dq[0], dq[1], ddq[0], ddq[1] = 1, 1, 0, 0
		if s > 0.5 {
			ddq[1] = math.NaN()
		}
	}
	hold := line(1)
	hold.at = func(q, dq, ddq []float64, _ int, s float64) { clear(dq); clear(ddq) }
	for _, c := range []struct {
		name string
		p    retime.Problem
		is   error
		says string
	}{
		{"one break", retime.Problem{Path: withBreaks(1), Limits: l}, retime.ErrPath, "number of breaks"},
		{"falling breaks", retime.Problem{Path: withBreaks(0, 2, 1), Limits: l}, retime.ErrPath, "break 2"},
		{"NaN break", retime.Problem{Path: withBreaks(0, math.NaN()), Limits: l}, retime.ErrPath, "break 1"},
		{"piece without length", retime.Problem{Path: withBreaks(0, 1, 1+1e-15, 2), Limits: l}, retime.ErrPath, "break 2"},
		{"NaN derivative", retime.Problem{Path: nan, Limits: l}, retime.ErrPath, "second derivative of row 1"},
		{"nothing moves", retime.Problem{Path: hold, Limits: l}, retime.ErrFree, "no row with an acceleration limit moves"},
		{"no acceleration limit", retime.Problem{Path: line(1), Limits: []trajectory.Limits{{Velocity: []float64{1, 1}}}}, retime.ErrFree, "no row with an acceleration limit"},
		{"start moving on no length", retime.Problem{Path: still, Limits: l, StartSpeed: 1}, retime.ErrSpeed, "start speed 1"},
		{"negative speed", retime.Problem{Path: line(1), Limits: l, StartSpeed: -1}, retime.ErrSpeed, "start speed -1"},
		{"NaN end speed", retime.Problem{Path: line(1), Limits: l, EndSpeed: math.NaN()}, retime.ErrSpeed, "end speed NaN"},
		{"too few limits", retime.Problem{Path: line(1), Limits: []trajectory.Limits{{Velocity: []float64{1}}}}, nil, "velocity limits: 1 entries, want 2"},
		{"no limits", retime.Problem{Path: line(1)}, nil, "sets of limits: 0 entries, want 1"},
		{"zero limit", retime.Problem{Path: line(1), Limits: []trajectory.Limits{{Acceleration: []float64{1, 0}}}}, nil, "acceleration limit of joint 1 is 0"},
		{"tiny limit", retime.Problem{Path: line(1), Limits: []trajectory.Limits{{Acceleration: []float64{1, 1e-200}}}}, nil, "acceleration limit of joint 1 is 1e-200"},
		{"bad period", retime.Problem{Path: line(1), Limits: l, Period: -1}, nil, "period -1"},
		{"tiny period", retime.Problem{Path: line(1), Limits: l, Period: 1e-12}, nil, "samples"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := w.Solve(&law, &c.p)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

// Backwards in time accelerating is braking: the reversed path with the two
// limits swapped takes as long. Mirrored joints take exactly as long.
func TestTimeReversalAndSignSymmetry(t *testing.T) {
	r := rng(4)
	n := 200
	if testing.Short() {
		n = 20
	}
	for i := range n {
		joints := 1 + r.IntN(5)
		forth := randomPath(t, r, 2+r.IntN(4), joints, 0)
		l := randomLimits(r, joints)
		if l.Deceleration == nil {
			l.Deceleration = l.Acceleration
		}
		swapped := l
		swapped.Acceleration, swapped.Deceleration = l.Deceleration, l.Acceleration
		b := forth.Breaks()
		end := b[len(b)-1]
		back := &formula{joints: joints, at: func(q, dq, ddq []float64, piece int, s float64) {
			forth.StateTo(q, dq, ddq, len(b)-2-piece, end-s)
			for j := range dq {
				dq[j] = -dq[j]
			}
		}}
		for k := range b {
			back.breaks = append(back.breaks, end-b[len(b)-1-k])
		}
		mirror := &formula{joints: joints, breaks: b, at: func(q, dq, ddq []float64, piece int, s float64) {
			forth.StateTo(q, dq, ddq, piece, s)
			for j := range dq {
				q[j], dq[j], ddq[j] = -q[j], -dq[j], -ddq[j]
			}
		}}
		one := solve(t, &retime.Problem{Path: forth, Limits: []trajectory.Limits{l}})
		other := solve(t, &retime.Problem{Path: back, Limits: []trajectory.Limits{swapped}})
		// both solve the same discrete problem; only what certification tightens may differ
		approx.Scalar(t, "reversed duration", other.Duration(), one.Duration(), approx.Tol{Rel: 2e-3})
		same := solve(t, &retime.Problem{Path: mirror, Limits: []trajectory.Limits{l}})
		plain := solve(t, &retime.Problem{Path: &formula{joints: joints, breaks: b, at: forth.StateTo}, Limits: []trajectory.Limits{l}})
		if same.Duration() != plain.Duration() {
			t.Fatalf("seed %d case %d: mirrored takes %v, want %v", seed, i, same.Duration(), plain.Duration())
		}
		// what the solver knows of cubic pieces is what it finds by asking
		approx.Scalar(t, "cubic pieces", one.Duration(), plain.Duration(), approx.Tol{Rel: 1e-9})
	}
}

// Paths made to slip between the places that are looked at: coarse grids, fine
// wiggles, sharp bumps, turning joints with very different limits.
func TestCertifyAgainstAdversarialPaths(t *testing.T) {
	ripple := func(amplitude, waves, phase float64) *formula {
		return &formula{joints: 2, breaks: []float64{0, 1}, at: func(q, dq, ddq []float64, _ int, s float64) {
			k := 2 * math.Pi * waves
			sin, cos := math.Sincos(k*s + phase)
			q[0], dq[0], ddq[0] = s, 1, 0
			q[1], dq[1], ddq[1] = amplitude*sin, amplitude*k*cos, -amplitude*k*k*sin
		}}
	}
	bump := func(at, width float64) *formula {
		return &formula{joints: 2, breaks: []float64{0, 1}, at: func(q, dq, ddq []float64, _ int, s float64) {
			x := (s - at) / width
			e := 0.05 * math.Exp(-x*x)
			q[0], dq[0], ddq[0] = s, 1, 0
			q[1], dq[1], ddq[1] = e, -2*x/width*e, (4*x*x-2)/(width*width)*e
		}}
	}
	grids, dense := []int{2, 7, 64, 0}, 40000
	if testing.Short() {
		grids, dense = []int{7}, 4000
	}
	for _, grid := range grids {
		for i, path := range []*formula{
			ripple(0.01, 20, 0), ripple(0.001, 61, 0.3), ripple(0.1, 3, 1), ripple(0.002, 37, 2),
			bump(0.5, 0.02), bump(0.3127, 0.011), bump(0.77, 0.05), elbow(0.9999, 0.01), elbow(0.98, 0.15),
		} {
			for k, l := range []trajectory.Limits{
				{Velocity: []float64{1, 1, 1}, Acceleration: []float64{3, 3, 3}},
				{Velocity: []float64{5, 1, 5}, Acceleration: []float64{9, 1, 9}, Deceleration: []float64{9, 20, 9}},
				{Acceleration: []float64{1, 9, 1}, Deceleration: []float64{1, 2, 2}},
			} {
				rows := path.joints + path.measures
				cut := func(x []float64) []float64 {
					if x == nil {
						return nil
					}
					return x[:rows]
				}
				l = trajectory.Limits{Velocity: cut(l.Velocity), Acceleration: cut(l.Acceleration), Deceleration: cut(l.Deceleration)}
				law := solve(t, &retime.Problem{Path: path, Limits: []trajectory.Limits{l}, Grid: grid})
				if d := check(path, law, []trajectory.Limits{l}, dense); d.vel > 1+tolLimit || d.acc > 1+tolLimit {
					t.Errorf("grid %d path %d limits %d: velocity %.12g, acceleration %.12g of the limit at %g s", grid, i, k, d.vel, d.acc, d.time)
				}
			}
		}
	}
}

// The solver against dynamic programming over speeds, which knows nothing of
// reachability: on a fine lattice of (s, x) the fastest way whose steps keep the
// limits. The lattice can only be slower, by its coarseness.
func TestOptimalAgainstDynamicProgramming(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); minutes under the race detector")
	}
	limits := trajectory.Limits{Velocity: []float64{1, 1, 1}, Acceleration: []float64{3, 3, 3}, Deceleration: []float64{3, 2, 3}}
	for _, c := range []struct {
		name string
		path *formula
	}{{"elbow", elbow(0.97, 0.2)}, {"bend", bend(0.2, 0.05)}, {"wiggle", wiggle()}} {
		law := solve(t, &retime.Problem{Path: c.path, Limits: []trajectory.Limits{limits}})
		slow := dynamicProgramming(c.path, &limits, 160, 320, law)
		t.Logf("%s: %.5f s, lattice %.5f s", c.name, law.Duration(), slow)
		if law.Duration() > slow*(1+1e-3) || law.Duration() < slow*0.9 {
			t.Errorf("%s: %g s, the lattice finds %g s", c.name, law.Duration(), slow)
		}
	}
}

// dynamicProgramming returns the least time over a lattice of n steps and m
// speeds, up to a little above the speeds of a given law.
func dynamicProgramming(path *formula, l *trajectory.Limits, n, m int, law *retime.Law) float64 {
	rows := path.joints + path.measures
	b := path.breaks
	length := b[len(b)-1] - b[0]
	top := 0.0
	for i := range 1000 {
		_, v, _ := law.At(law.Duration() * float64(i) / 1000)
		top = max(top, v*v)
	}
	top *= 1.05
	q, dq, ddq := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	type at struct{ d, dd []float64 }
	states := func(i int) (out [3]at) {
		for k := range out {
			s := b[0] + length*(float64(i)+[3]float64{1e-9, 0.5, 1 - 1e-9}[k])/float64(n)
			piece := 0
			for piece+2 < len(b) && s >= b[piece+1] {
				piece++
			}
			path.StateTo(q, dq, ddq, piece, s)
			out[k] = at{append([]float64(nil), dq...), append([]float64(nil), ddq...)}
		}
		return out
	}
	allowed := func(st *[3]at, x0, x1, h float64) bool {
		u := (x1 - x0) / (2 * h)
		for k := range st {
			x := x0 + (x1-x0)*float64(k)/2
			for r := range rows {
				d, dd := st[k].d[r], st[k].dd[r]
				_, _, vel, acc, dec, _ := l.Of(r)
				g := d*u + dd*x
				if g*d < 0 {
					acc = dec
				}
				if math.Abs(g) > acc || d*d*x > vel*vel {
					return false
				}
			}
		}
		return true
	}
	h := length / float64(n)
	x := func(k int) float64 { y := float64(k) / float64(m); return y * y * top }
	best := make([]float64, m+1)
	for k := range best {
		best[k] = math.Inf(1)
	}
	best[0] = 0
	for i := range n {
		st := states(i)
		next := make([]float64, m+1)
		for k := range next {
			next[k] = math.Inf(1)
		}
		for from, t := range best {
			if math.IsInf(t, 1) {
				continue
			}
			for to := range next {
				if from+to == 0 || !allowed(&st, x(from), x(to), h) {
					continue
				}
				if dt := 2 * h / (math.Sqrt(x(from)) + math.Sqrt(x(to))); t+dt < next[to] {
					next[to] = t + dt
				}
			}
		}
		best = next
	}
	return best[0]
}

// Replanning from any sample, with the speed it has, gives what remains of the
// duration.
func TestRandomReplanningGivesTheRemainingDuration(t *testing.T) {
	n := 300
	switch {
	case os.Getenv("POISE_SOAK") != "":
		n = 50_000
	case testing.Short():
		n = 10
	}
	r := rng(5)
	var w retime.Solver
	var law, rest retime.Law
	worst := 0.0
	for i := range n {
		joints := 1 + r.IntN(5)
		path := randomPath(t, r, 2+r.IntN(4), joints, 0)
		p := &retime.Problem{Path: path, Limits: []trajectory.Limits{randomLimits(r, joints)}, Grid: 1000}
		if err := w.Solve(&law, p); err != nil {
			t.Fatal(err)
		}
		at := law.Duration() * (0.05 + 0.85*r.Float64())
		s, v, _ := law.At(at)
		b := path.Breaks()
		first := 0
		for s >= b[first+1] {
			first++
		}
		// what is left of the path; where the law rides on a limit the new grid may
		// not allow the last digits of its speed
		part := &formula{joints: joints, breaks: append([]float64{s}, b[first+1:]...),
			at: func(q, dq, ddq []float64, piece int, s float64) { path.StateTo(q, dq, ddq, first+piece, s) }}
		err := w.Solve(&rest, &retime.Problem{Path: part, Limits: p.Limits, StartSpeed: v * (1 - 1e-3), Grid: 1000})
		if err != nil {
			t.Fatalf("seed %d case %d: at %g of %g s: %v", seed, i, at, law.Duration(), err)
		}
		off := math.Abs(rest.Duration()-(law.Duration()-at)) / law.Duration()
		worst = max(worst, off)
		if off > 5e-3 {
			t.Errorf("seed %d case %d: %g s from %g s on, want %g s", seed, i, rest.Duration(), at, law.Duration()-at)
		}
	}
	t.Logf("%d replannings, at most %.2g of the duration off", n, worst)
}

// The point of it all: where only a part is hard, slowing there beats slowing
// everything. The rival is the best trapezoid along the whole path, at any ratio
// of speed and acceleration, slowed until every limit holds.
func TestBeatsUniformSlowing(t *testing.T) {
	for _, c := range []struct {
		name   string
		path   *formula
		limits trajectory.Limits
	}{
		{"arm stretched past its elbow", elbow(0.985, 0.17), trajectory.Limits{Velocity: []float64{2, 2, 0.5}, Acceleration: []float64{8, 8, 2}}},
		{"tight bend between straights", bend(0.6, 0.01), trajectory.Limits{Velocity: []float64{1, 1, 1}, Acceleration: []float64{4, 4, 4}}},
		{"one joint wiggles", wiggle(), trajectory.Limits{Velocity: []float64{2, 2, 2}, Acceleration: []float64{10, 10, 10}}},
	} {
		law := solve(t, &retime.Problem{Path: c.path, Limits: []trajectory.Limits{c.limits}})
		rival := uniform(c.path, &c.limits)
		gain := 1 - law.Duration()/rival
		t.Logf("%s: %.3f s, slowed as a whole %.3f s: %.0f %% less; some limit active along %.1f %%", c.name, law.Duration(), rival, 100*gain, 100*law.Active())
		if gain < 0.2 || law.Active() < 0.9 {
			t.Errorf("%s: %.1f %% faster, limits active along %.1f %%; want 20 %% and 90 %%", c.name, 100*gain, 100*law.Active())
		}
		if d := check(c.path, law, []trajectory.Limits{c.limits}, 50000); d.vel > 1+tolLimit || d.acc > 1+tolLimit {
			t.Errorf("%s: velocity %.12g, acceleration %.12g of the limit", c.name, d.vel, d.acc)
		}
	}
}

// uniform returns the duration of the best trapezoid along s that keeps all
// limits: for each shape, the shortest time to which it can be scaled.
func uniform(path *formula, l *trajectory.Limits) float64 {
	rows := path.joints + path.measures
	q, dq, ddq := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	b := path.breaks
	length := b[len(b)-1] - b[0]
	best := math.Inf(1)
	for ramp := 0.02; ramp <= 0.5; ramp += 0.02 { // share of the time spent speeding up
		peak := 1 / (1 - ramp) // of a trapezoid of length and duration one
		scale := 0.0           // of time
		for i := range 4000 {
			t := (float64(i) + 0.5) / 4000
			var s, v, a float64
			switch {
			case t < ramp:
				a = peak / ramp
				v = a * t
				s = v * t / 2
			case t <= 1-ramp:
				v = peak
				s = peak * (t - ramp/2)
			default:
				a = -peak / ramp
				v = -a * (1 - t)
				s = 1 - v*(1-t)/2
			}
			at := b[0] + s*length
			piece := 0
			for piece+2 < len(b) && at >= b[piece+1] {
				piece++
			}
			path.StateTo(q, dq, ddq, piece, at)
			v, a = v*length, a*length
			for r := range rows {
				_, _, vel, acc, _, _ := l.Of(r)
				scale = max(scale, math.Abs(dq[r]*v)/vel, math.Sqrt(math.Abs(ddq[r]*v*v+dq[r]*a)/acc))
			}
		}
		best = min(best, scale)
	}
	return best
}

func TestReportNamesTheBottleneck(t *testing.T) {
	l := trajectory.Limits{Velocity: []float64{9, 9, 2}, Acceleration: []float64{90, 40, 2}, Deceleration: []float64{90, 40, 1}}
	law := solve(t, &retime.Problem{Path: wiggle(), Limits: []trajectory.Limits{l}})
	end := 0.0
	for _, s := range law.LimitSpans() {
		if s.From != end || s.To <= s.From {
			t.Fatalf("span %v does not follow %g", s, end)
		}
		end = s.To
	}
	if end != 4 {
		t.Errorf("spans end at %g, want 4", end)
	}
	first, last := law.LimitSpans()[0], law.LimitSpans()[len(law.LimitSpans())-1]
	if first.Limit != retime.Acceleration || first.Row != 2 || last.Limit != retime.Deceleration || last.Row != 2 {
		t.Errorf("begins with %v and ends with %v, want acceleration and deceleration of the measure", first, last)
	}
	for _, rows := range [][]int{nil, {1}, {0, 1}} {
		tight, ok := law.Tightest(rows...)
		if !ok || math.Abs(tight.At-2) > 0.2 || tight.Row != 1 || tight.Limit == retime.Velocity {
			t.Errorf("tightest of rows %v: %v at %g, want an acceleration of row 1 near 2", rows, tight, tight.At)
		}
	}
	if _, ok := law.Tightest(7); ok {
		t.Error("a row that is not there is the bottleneck")
	}
	if got := first.String(); !strings.Contains(got, "acceleration of row 2") {
		t.Errorf("says %q", got)
	}
	// without a bottleneck it is what holds the top speed
	straight := solve(t, &retime.Problem{Path: line(4), Limits: []trajectory.Limits{{Velocity: []float64{1, 3}, Acceleration: []float64{2, 9}}}})
	if tight, ok := straight.Tightest(); !ok || tight.Limit != retime.Velocity || tight.Row != 0 {
		t.Errorf("tightest of a straight line: %v, want its velocity", tight)
	}
}

func TestSolveNoAlloc(t *testing.T) {
	p := thousand(t)
	var w retime.Solver
	var law retime.Law
	if err := w.Solve(&law, p); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		if err := w.Solve(&law, p); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
	m := retime.NewMotion(p.Path, &law)
	q, v, a := make([]float64, 7), make([]float64, 7), make([]float64, 7)
	at := 0.0
	if n := testing.AllocsPerRun(100, func() { m.StateTo(q, v, a, at); at += 0.01 }); n != 0 {
		t.Errorf("StateTo: %v allocations, want 0", n)
	}
}

// Any finite path and limits give a law of numbers or a typed error.
func FuzzSolveNeverNaN(f *testing.F) {
	f.Add(uint64(1), 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
	f.Add(uint64(2), 1e-30, 1e30, 1e-9, 1.0, 1e9, 0.01)
	f.Add(uint64(3), 1e6, 1e-6, 0.1, 0.0, 5.0, 0.2)
	f.Fuzz(func(t *testing.T, from uint64, size, vel, acc, start, jerk, period float64) {
		if !(math.Abs(size) < 1e12) || period < 1e-3 && period != 0 || period > 10 {
			return
		}
		r := rand.New(rand.NewPCG(from, 1))
		c := [8]float64{}
		for i := range c {
			c[i] = r.NormFloat64() * size
		}
		path := &formula{joints: 2, breaks: []float64{0, 1}, at: func(q, dq, ddq []float64, _ int, s float64) {
			for j := range 2 {
				p := c[4*j : 4*j+4]
				q[j], dq[j], ddq[j] = p[0]+s*(p[1]+s*(p[2]+s*p[3])), p[1]+s*(2*p[2]+s*3*p[3]), 2*p[2]+s*6*p[3]
			}
		}}
		l := trajectory.Limits{Velocity: []float64{vel, vel}, Acceleration: []float64{acc, acc}}
		if jerk > 0 {
			l.Jerk = []float64{jerk, jerk}
		}
		var w retime.Solver
		var law retime.Law
		p := &retime.Problem{Path: path, Limits: []trajectory.Limits{l}, StartSpeed: start, Period: period, Grid: 16}
		if period > 0 && acc > 0 && size != 0 {
			// keep the samples countable
			if x := math.Sqrt(math.Abs(size)/acc) + math.Abs(size)/vel; x/period > 1e4 {
				p.Period = 0
			}
		}
		if err := w.Solve(&law, p); err != nil {
			return
		}
		for i := range 50 {
			s, v, a := law.At(law.Duration() * float64(i) / 49)
			if !(s >= 0 && s <= 1) || math.IsNaN(v) || math.IsNaN(a) || math.IsInf(v, 0) || math.IsInf(a, 0) {
				t.Fatalf("law at %d/49 of %g: %g %g %g", i, law.Duration(), s, v, a)
			}
		}
	})
}
