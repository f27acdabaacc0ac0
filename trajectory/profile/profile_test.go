package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"poise/internal/approx"
	"poise/internal/golden"
	"poise/trajectory/move"
)

// Tolerances relative to the size of what is compared.
const (
	tolGolden = 1e-10 // of the original's own tests
	tolLimit  = 1e-8
	tolEnd    = 1e-8
)

func bounds(t testing.TB, vel, acc, dec float64) Bounds {
	t.Helper()
	b, err := NewBounds(vel, acc, dec)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGoldenTrapezoids compares with results of the original planner's own code.
// One of its results is a known bug and is expected to differ.
func TestGoldenTrapezoids(t *testing.T) {
	var file struct {
		Cases []struct {
			Mode     string
			MaxVel   float64 `json:"max_vel"`
			MaxAcc   float64 `json:"max_acc"`
			MaxDec   float64 `json:"max_dec"`
			Start    float64
			Goal     float64
			Args     []float64
			OK       bool
			Duration float64
			Phases   [3]float64
			Samples  [][4]float64
		}
	}
	if err := json.Unmarshal(golden.Read(t, "golden/pilz/atrap.json"), &file); err != nil {
		t.Fatal(err)
	}
	tol := approx.Tol{Abs: tolGolden, Rel: tolGolden}
	for _, c := range file.Cases {
		t.Run(fmt.Sprintf("%s %g to %g with %v", c.Mode, c.Start, c.Goal, c.Args), func(t *testing.T) {
			b := bounds(t, c.MaxVel, c.MaxAcc, c.MaxDec)
			var p Trapezoid
			var err error
			switch c.Mode {
			case "SetProfile":
				p, err = b.Fastest(c.Start, c.Goal)
			case "SetProfileDuration":
				p, err = b.Within(c.Start, c.Goal, c.Args[0])
			case "setProfileAllDurations":
				p, err = b.InPhases(c.Start, c.Goal, c.Args[0], c.Args[1], c.Args[2])
			case "setProfileStartVelocity":
				p, err = b.FromVelocity(c.Start, c.Goal, c.Args[0])
			default:
				t.Fatalf("mode %q is not known", c.Mode)
			}
			if (err == nil) != c.OK {
				t.Fatalf("refused: %v, original accepted: %v", err, c.OK)
			}
			if c.Mode == "setProfileStartVelocity" && c.Goal < c.Start && c.Duration == 8 {
				// the original forgets the sign when it cruises to a lower goal
				approx.Scalar(t, "duration", p.Duration(), 6, tol)
				return
			}
			approx.Scalar(t, "duration", p.Duration(), c.Duration, tol)
			phases := p.Phases()
			approx.Equal(t, "phases", phases[:], c.Phases[:], tol)
			for _, s := range c.Samples {
				got := []float64{p.Position(s[0]), p.Velocity(s[0]), p.Acceleration(s[0])}
				approx.Equal(t, fmt.Sprintf("position, velocity, acceleration at %g", s[0]), got, s[1:], tol)
			}
		})
	}
	t.Logf("%d cases", len(file.Cases))
}

// TestFromVelocityTowardsLowerGoal: the mirror image of a motion with a cruise,
// which the original gets wrong.
func TestFromVelocityTowardsLowerGoal(t *testing.T) {
	b := bounds(t, 4, 2, 1)
	up, err := b.FromVelocity(3, 18, 2)
	if err != nil {
		t.Fatal(err)
	}
	down, err := b.FromVelocity(18, 3, -2)
	if err != nil {
		t.Fatal(err)
	}
	if up.Duration() != 6 || down.Phases() != up.Phases() {
		t.Errorf("phases %v up, %v down", up.Phases(), down.Phases())
	}
	for i := 0; i <= 60; i++ {
		s := float64(i) / 10
		approx.Scalar(t, "mirrored position", down.Position(s), 21-up.Position(s), approx.Tol{Abs: 1e-12})
	}
}

// TestProfilesAreValues: copies are equal, and equal means the same in all parts.
func TestProfilesAreValues(t *testing.T) {
	b := bounds(t, 4, 2, 1)
	p, err := b.Fastest(3, 35)
	if err != nil {
		t.Fatal(err)
	}
	q := p
	if q != p {
		t.Error("a copy differs")
	}
	if q, err = b.Within(3, 35, 11); err != nil || q != p {
		t.Errorf("stretched by one it is %v, %v", q, err)
	}
	if q, err = b.Within(3, 35, 12); err != nil || q == p {
		t.Errorf("a longer one is the same, %v", err)
	}
	if q, err = b.InPhases(3, 35, 2, 5, 4); err != nil || q != p {
		t.Errorf("with its own phases it is %v, %v", q, err)
	}
}

// shape is what all profiles have in common.
type shape interface {
	Duration() float64
	Start() float64
	Goal() float64
	Position(t float64) float64
	Velocity(t float64) float64
	Acceleration(t float64) float64
}

// corner is what a phase begins or ends with.
type corner struct{ t, p, v, a float64 }

func (p *Trapezoid) corners() (c []corner) {
	t := 0.0
	for i := range p.phases {
		q := &p.phases[i]
		c = append(c, corner{t, q.p, q.v, q.a})
		t += q.duration
		c = append(c, corner{t, q.position(q.duration), q.velocity(q.duration), q.a})
	}
	return c
}

func (p *SCurve) corners() (c []corner) {
	t := 0.0
	for i := range p.phases {
		q := &p.phases[i]
		c = append(c, corner{t, q.p, q.v, q.a})
		t += q.duration
		c = append(c, corner{t, q.position(q.duration), q.velocity(q.duration), q.acceleration(q.duration)})
	}
	return c
}

// verify checks a profile exactly: velocities and accelerations are monotone
// within a phase, so what holds at the corners holds in between.
func verify(b Bounds, jerk float64, p shape, corners []corner, phases []cubic) error {
	size := math.Abs(p.Start()) + math.Abs(p.Goal())
	sign := 1.0
	if p.Goal() < p.Start() {
		sign = -1
	}
	last := corners[0]
	for i, c := range corners {
		v, a := sign*c.v, sign*c.a
		switch {
		case math.IsNaN(c.p) || math.IsNaN(c.v) || math.IsNaN(c.a) || math.IsInf(c.t, 0):
			return fmt.Errorf("not a number in %+v", c)
		case v < -tolLimit*b.vel || v > b.vel*(1+tolLimit):
			return fmt.Errorf("velocity %g beyond %g", c.v, b.vel)
		case a > b.acc*(1+tolLimit) || a < -b.dec*(1+tolLimit):
			return fmt.Errorf("acceleration %g beyond %g and %g", c.a, b.acc, b.dec)
		case i%2 == 0 && math.Abs(c.p-last.p) > tolEnd*size+1e-300, i%2 == 0 && math.Abs(c.v-last.v) > tolEnd*b.vel:
			return fmt.Errorf("jump from %+v to %+v", last, c)
		}
		last = c
	}
	for _, q := range phases {
		if math.Abs(q.j) > jerk*(1+tolLimit) {
			return fmt.Errorf("jerk %g beyond %g", q.j, jerk)
		}
	}
	if math.Abs(last.p-p.Goal()) > tolEnd*size+1e-300 || math.Abs(last.v) > tolEnd*b.vel {
		return fmt.Errorf("ends at %g with %g, not at %g", last.p, last.v, p.Goal())
	}
	if T := p.Duration(); p.Position(-1) != p.Start() || p.Position(T*1.01+1) != p.Goal() || p.Velocity(T*1.01+1) != 0 {
		return errors.New("not at rest outside the motion")
	}
	return nil
}

func count(normal, short, soak int) int {
	switch {
	case os.Getenv("POISE_SOAK") != "":
		return soak
	case testing.Short():
		return short
	}
	return normal
}

// TestRandomProfiles: every generator keeps its limits and reaches its goal.
func TestRandomProfiles(t *testing.T) {
	n := count(1_000_000, 20_000, 100_000_000)
	r := rand.New(rand.NewPCG(1, 2))
	size := func() float64 { return math.Exp(r.Float64()*16 - 8) } // 3e-4 … 3e3
	for i := range n {
		b := bounds(t, size(), size(), -size())
		if i%3 == 0 {
			b.dec = b.acc
		}
		start := r.NormFloat64()
		goal := start + r.NormFloat64()*size()
		var p Trapezoid
		var err error
		switch i % 4 {
		case 0:
			p, err = b.Fastest(start, goal)
		case 1:
			p, err = b.Within(start, goal, size())
		case 2:
			// the phases of another axis, a little slower than possible
			p, err = b.Fastest(start, goal)
			if ph := p.Phases(); err == nil && ph[0] > 2*smallest && ph[2] > 2*smallest {
				k := 1 + r.Float64()
				p, err = b.InPhases(start, goal, ph[0]*k, ph[1]*k, ph[2]*k)
			}
		case 3:
			if err := checkSCurve(r, b, start, goal, size()); err != nil {
				t.Fatalf("seed (1, 2), case %d: %v; bounds %+v from %g to %g", i, err, b, start, goal)
			}
			continue
		}
		if err == nil {
			err = verify(b, math.Inf(1), &p, p.corners(), nil)
		}
		if err != nil {
			t.Fatalf("seed (1, 2), case %d: %v; bounds %+v from %g to %g", i, err, b, start, goal)
		}
	}
	t.Logf("%d profiles", n)
}

func checkSCurve(r *rand.Rand, b Bounds, start, goal, jerk float64) error {
	s, err := b.WithJerk(jerk)
	if err != nil {
		return err
	}
	p, err := s.Fastest(start, goal)
	if err == nil && r.IntN(2) == 0 {
		p, err = s.Within(start, goal, p.Duration()*(1+r.Float64()))
	}
	if err != nil {
		return err
	}
	return verify(b, jerk, &p, p.corners(), p.phases[:])
}

// TestRandomFromVelocity: a moving start ends at the goal at rest, however far
// it has to come back.
func TestRandomFromVelocity(t *testing.T) {
	n := count(200_000, 10_000, 20_000_000)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		b := bounds(t, 0.1+5*r.Float64(), 0.1+5*r.Float64(), 0.1+5*r.Float64())
		start, goal := r.NormFloat64(), r.NormFloat64()
		v := b.vel * r.Float64()
		if goal < start {
			v = -v
		}
		p, err := b.FromVelocity(start, goal, v)
		if err != nil {
			t.Fatal(err)
		}
		end := p.corners()[5]
		T := p.Duration()
		if p.Velocity(0) != v || p.Position(0) != start || math.Abs(end.p-goal) > 1e-12*(1+T) || math.Abs(end.v) > 1e-12 {
			t.Fatalf("case %d: from %g with %g to %g ends at %+v", i, start, v, goal, end)
		}
		for _, c := range p.corners() {
			if math.Abs(c.v) > b.vel*(1+tolLimit) || math.Abs(c.a) > max(b.acc, b.dec)*(1+tolLimit) {
				t.Fatalf("case %d: %+v beyond %+v", i, c, b)
			}
		}
	}
	t.Logf("%d profiles", n)
}

// TestRandomProfilesAgainstStateToState: the profiles are the fastest motions from rest to rest,
// found by an independent algorithm.
func TestRandomProfilesAgainstStateToState(t *testing.T) {
	n := count(50_000, 2_000, 5_000_000)
	r := rand.New(rand.NewPCG(5, 6))
	m, err := move.New([]move.Limits{move.Symmetric(1, 1, 1)})
	if err != nil {
		t.Fatal(err)
	}
	states := make([]move.State, 1)
	for i := range n {
		b := bounds(t, 0.1+5*r.Float64(), 0.1+5*r.Float64(), 0.1+5*r.Float64())
		jerk := 0.1 + 5*r.Float64()
		if i%5 == 0 {
			jerk = math.Inf(1)
		}
		s, err := b.WithJerk(jerk)
		if err != nil {
			t.Fatal(err)
		}
		dist := 5 * r.NormFloat64()
		p, err := s.Fastest(1, 1+dist)
		if err != nil {
			t.Fatal(err)
		}
		l := move.Limits{VelMin: -b.vel, VelMax: b.vel, AccMin: -b.dec, AccMax: b.acc, Jerk: jerk}
		if dist < 0 {
			l.AccMin, l.AccMax = -b.acc, b.dec
		}
		if err := m.SetLimits([]move.Limits{l}); err != nil {
			t.Fatal(err)
		}
		if err := m.Reach([]move.State{{P: 1}}, []move.State{{P: 1 + dist}}, move.Options{}); err != nil {
			t.Fatal(err)
		}
		T := p.Duration()
		if math.Abs(T-m.Duration()) > 1e-10*(1+T) {
			t.Fatalf("case %d: %.17g, state to state %.17g; %+v, jerk %g, over %g", i, T, m.Duration(), b, jerk, dist)
		}
		at := T * r.Float64()
		m.StatesTo(states, at)
		if math.Abs(p.Position(at)-states[0].P) > 1e-9*(1+math.Abs(dist)) || math.Abs(p.Velocity(at)-states[0].V) > 1e-8*b.vel {
			t.Fatalf("case %d: at %g of %g: %g, %g against %+v", i, at, T, p.Position(at), p.Velocity(at), states[0])
		}
		if math.IsInf(jerk, 1) {
			if q, err := b.Fastest(1, 1+dist); err != nil || math.Abs(q.Duration()-T) > 1e-10*(1+T) {
				t.Fatalf("case %d: without jerk limit %.17g, trapezoid %.17g, %v", i, T, q.Duration(), err)
			}
		}
	}
	t.Logf("%d profiles", n)
}

// TestRandomDenseProfiles looks at profiles as a user would: sample by sample. No
// limit is exceeded, nothing jumps that should not, and the goal is reached.
func TestRandomDenseProfiles(t *testing.T) {
	n := count(2_000, 200, 200_000)
	r := rand.New(rand.NewPCG(7, 8))
	for i := range n {
		b := bounds(t, 0.1+5*r.Float64(), 0.1+5*r.Float64(), 0.1+5*r.Float64())
		jerk := 0.1 + 20*r.Float64()
		s, err := b.WithJerk(jerk)
		if err != nil {
			t.Fatal(err)
		}
		start, goal := r.NormFloat64(), 3*r.NormFloat64()
		duration := 5 * r.Float64() // stretched, or the fastest if that is longer
		trapezoid, err := b.Within(start, goal, duration)
		if err != nil {
			t.Fatal(err)
		}
		scurve, err := s.Within(start, goal, duration)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []shape{&trapezoid, &scurve} {
			const steps = 500
			h := p.Duration() / steps
			sign := math.Copysign(1, goal-start)
			last, lastAcc := p.Position(0), p.Acceleration(0)
			for k := 1; k <= steps; k++ {
				at := float64(k) * h
				x, v, a := p.Position(at), sign*p.Velocity(at), sign*p.Acceleration(at)
				if v < -tolLimit || v > b.vel*(1+tolLimit) || a > b.acc*(1+tolLimit) || a < -b.dec*(1+tolLimit) {
					t.Fatalf("case %d: %T has %g, %g at %g; bounds %+v", i, p, v, a, at, b)
				}
				if step := sign * (x - last); step < -tolEnd || step > b.vel*h*(1+tolLimit) {
					t.Fatalf("case %d: %T steps by %g at %g", i, p, step, at)
				}
				if step := math.Abs(a - sign*lastAcc); p == shape(&scurve) && step > jerk*h*(1+tolLimit)+tolLimit {
					t.Fatalf("case %d: acceleration steps by %g at %g", i, step, at)
				}
				last, lastAcc = x, sign*a
			}
			if math.Abs(last-goal) > tolEnd*(1+math.Abs(goal)) {
				t.Fatalf("case %d: %T ends at %g, not %g", i, p, last, goal)
			}
		}
	}
	t.Logf("%d trapezoids and S-curves of 500 samples", n)
}

// TestDenseDerivatives: each curve is the derivative of the one before it.
func TestDenseDerivatives(t *testing.T) {
	b := bounds(t, 2, 3, 1)
	s, err := b.WithJerk(5)
	if err != nil {
		t.Fatal(err)
	}
	trapezoid, err := b.Within(-1, 4, 7)
	if err != nil {
		t.Fatal(err)
	}
	scurve, err := s.Within(4, -1, 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []shape{&trapezoid, &scurve} {
		const steps = 10_000
		h := p.Duration() / steps
		for i := range steps {
			t0, t1 := float64(i)*h, float64(i+1)*h
			// the trapezoidal rule is exact to h²·jerk/12 per unit of time
			if d := p.Position(t1) - p.Position(t0) - h*(p.Velocity(t0)+p.Velocity(t1))/2; math.Abs(d) > 5*h*h {
				t.Fatalf("%T: position is off by %g at %g", p, d, t0)
			}
			if d := p.Velocity(t1) - p.Velocity(t0) - h*(p.Acceleration(t0)+p.Acceleration(t1))/2; math.Abs(d) > 5*h {
				t.Fatalf("%T: velocity is off by %g at %g", p, d, t0)
			}
		}
	}
	if j := scurve.Jerk(0); j >= 0 || scurve.Jerk(-1) != 0 || scurve.Jerk(scurve.Duration()+1) != 0 {
		t.Errorf("jerk %g at the start", j)
	}
}

// TestRefusals: what cannot be is refused by name.
func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	b := bounds(t, 4, 2, 1)
	s, err := b.WithJerk(1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err  error
		kind error
		want string
	}{
		"bounds":                      {second(NewBounds(0, nan, inf)), ErrInput, "profile: velocity is 0, must be between 1e-15 and 1e+15\nprofile: acceleration is NaN, must be between 1e-15 and 1e+15\nprofile: deceleration is +Inf, must be between 1e-15 and 1e+15"},
		"jerk":                        {second(b.WithJerk(-1)), ErrInput, "profile: jerk is -1, must be between 1e-15 and 1e+15, or infinite"},
		"ends":                        {second(b.Fastest(nan, inf)), ErrInput, "profile: start is NaN, must be at most 1e+15 in size\nprofile: goal is +Inf, must be at most 1e+15 in size"},
		"ends of an S-curve":          {second(s.Fastest(0, nan)), ErrInput, "profile: goal is NaN, must be at most 1e+15 in size"},
		"duration":                    {second(b.Within(0, 1, nan)), ErrInput, "profile: duration is NaN, must be at most 1e15"},
		"duration of an S-curve":      {second(s.Within(0, 1, inf)), ErrInput, "profile: duration is +Inf, must be at most 1e15"},
		"phases":                      {second(b.InPhases(0, 1, 0, -1, nan)), ErrInput, "profile: first phase is 0, must be between 1e-15 and 1e+15\nprofile: last phase is NaN, must be between 1e-15 and 1e+15\nprofile: middle phase is -1, must be between 0 and 1e15"},
		"phases too short":            {second(b.InPhases(3, 35, 3, 2, 5)), ErrLimit, "profile: duration of 10, at least 11 is possible"},
		"phases need too much":        {second(b.InPhases(3, 35, 7, 4, 1)), ErrLimit, "profile: deceleration of 4, at most 1 is possible"},
		"away from the goal":          {second(b.FromVelocity(3, 5, -1)), ErrLimit, "profile: start velocity towards the goal of -1, at least 0 is possible"},
		"faster than the limit":       {second(b.FromVelocity(3, 50, 5)), ErrLimit, "profile: start velocity of 5, at most 4 is possible"},
		"start velocity not a number": {second(b.FromVelocity(3, 50, nan)), ErrInput, "profile: start velocity is NaN, must be at most 1e+15 in size"},
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(c.err, c.kind) || c.err.Error() != c.want {
				t.Errorf("%v\nwant %s", c.err, c.want)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// FuzzProfiles: any numbers give a refusal or a motion without NaN.
func FuzzProfiles(f *testing.F) {
	f.Add(4.0, 2.0, 1.0, 3.0, 3.0, 35.0, 2.0)
	f.Add(-4.0, 1e-15, 1e15, math.Inf(1), 1e15, -1e15, 0.0)
	f.Add(1e-15, 1e15, 1e-15, 1e-15, 0.0, 1e-300, 1e15)
	f.Fuzz(func(t *testing.T, vel, acc, dec, jerk, start, goal, extra float64) {
		b, err := NewBounds(vel, acc, dec)
		if err != nil {
			return
		}
		check := func(p shape, err error) {
			if err != nil && !errors.Is(err, ErrInput) && !errors.Is(err, ErrLimit) {
				t.Fatalf("refused with %v", err)
			}
			T := p.Duration()
			for i := -1; i < 20; i++ {
				at := T * float64(i) / 16
				for _, x := range []float64{T, p.Position(at), p.Velocity(at), p.Acceleration(at)} {
					if math.IsNaN(x) || math.IsInf(x, 0) {
						t.Fatalf("%T is %g at %g of %g", p, x, at, T)
					}
				}
			}
		}
		for _, make := range []func() (Trapezoid, error){
			func() (Trapezoid, error) { return b.Fastest(start, goal) },
			func() (Trapezoid, error) { return b.Within(start, goal, extra) },
			func() (Trapezoid, error) { return b.InPhases(start, goal, extra, jerk, extra) },
			func() (Trapezoid, error) { return b.FromVelocity(start, goal, extra) },
		} {
			p, err := make()
			check(&p, err)
		}
		s, err := b.WithJerk(jerk)
		if err != nil {
			return
		}
		p, err := s.Fastest(start, goal)
		check(&p, err)
		p, err = s.Within(start, goal, extra)
		check(&p, err)
	})
}

// TestNoAlloc: making and evaluating profiles does not allocate.
func TestNoAlloc(t *testing.T) {
	b := bounds(t, 4, 2, 1)
	s, err := b.WithJerk(3)
	if err != nil {
		t.Fatal(err)
	}
	var sink float64
	if n := testing.AllocsPerRun(100, func() {
		p, _ := b.Fastest(0, 3)
		q, _ := s.Within(0, 3, 5)
		sink += p.Position(1) + p.Acceleration(1) + q.Velocity(1) + q.Jerk(2)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkProfiles(b *testing.B) {
	lim := bounds(b, 4, 2, 1)
	s, err := lim.WithJerk(3)
	if err != nil {
		b.Fatal(err)
	}
	p, _ := lim.Fastest(0, 3)
	b.Run("trapezoid", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p, _ = lim.Fastest(0, 3)
		}
	})
	b.Run("scurve", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Fastest(0, 3)
		}
	})
	b.Run("position", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Position(1.5)
		}
	})
}
