package gait

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Places of feet: of the pony, of a robot with six legs, and of one with two.
var (
	four = []Point{{X: 0.08, Y: 0.0386}, {X: -0.08, Y: 0.0386}, {X: -0.08, Y: -0.0386}, {X: 0.08, Y: -0.0386}}
	six  = []Point{{X: 0.1, Y: 0.08}, {X: 0, Y: 0.1}, {X: -0.1, Y: 0.08}, {X: -0.1, Y: -0.08}, {X: 0, Y: -0.1}, {X: 0.1, Y: -0.08}}
	two  = []Point{{X: 0, Y: 0.04}, {X: 0, Y: -0.04}}
)

const tick = 0.0112 // s

// zmp is the zero-moment point of the planned motion.
func (p *Planner) zmp() Point {
	x, y := p.com(p.t)
	return Point{X: p.preview.zmp(x), Y: p.preview.zmp(y)}
}

// margin is how far the zero-moment point is inside the hull of the feet on the ground; of two
// feet and one it is its distance from them, negative.
func (p *Planner) margin() float64 {
	points := p.future.points[:0]
	for i := range p.feet {
		s := &p.feet[i].swing
		if flies := s.land > s.lift && p.t > s.lift && p.t < s.land; !flies {
			m, _, _, _ := p.Foot(i, 0)
			points = append(points, Point{X: m.P.X, Y: m.P.Y})
		}
	}
	p.future.hull.Hull(points)
	return p.future.hull.Margin(p.zmp())
}

// walker is a planner with somebody who watches it.
type walker struct {
	t *testing.T
	*Planner
	name    string
	least   float64 // margin inside the polygon, or distance from the line, negative
	jump    float64 // of the acceleration of the centre of mass within a tick, beyond what its jerk explains
	reach   float64 // of a standing foot from its place under the nominal body
	kick    float64 // the same of feet
	fastest float64
	before  Motion
	feet    []Motion
	began   bool
}

func newWalker(t *testing.T, legs []Point, gait string) *walker {
	t.Helper()
	p, err := New(Config{Legs: legs, Height: 0.174})
	if err != nil {
		t.Fatal(err)
	}
	w := &walker{t: t, Planner: p, name: gait, least: math.Inf(1), feet: make([]Motion, len(legs))}
	w.use(gait)
	p.Place(Point{}, 0, legs, Point{})
	return w
}

func (w *walker) use(gait string) {
	w.t.Helper()
	g, err := Derive(gait, w.cfg.Legs, w.cfg.Height, 9.81)
	if err == nil {
		err = w.SetGait(&g)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// run steps for some seconds and judges every tick.
func (w *walker) run(seconds float64) { w.t.Helper(); w.runBy(seconds, tick) }

func (w *walker) runBy(seconds, dt float64) {
	w.t.Helper()
	for range int(seconds / dt) {
		w.Advance(dt)
		com := w.Com(0)
		if w.began {
			// mean velocity and acceleration agree with places: nothing jumps
			if d := com.P.Sub(w.before.P).Scale(1 / dt).Sub(com.V.Add(w.before.V).Scale(0.5)).Norm(); d > 40*dt*dt {
				w.t.Fatalf("%s at %.3f s: the centre of mass jumps: %g m/s", w.name, w.Planner.t, d)
			}
			w.jump = max(w.jump, com.A.Sub(w.before.A).Norm())
		}
		w.before, w.fastest = com, max(w.fastest, math.Hypot(com.V.X, com.V.Y))
		w.least = min(w.least, w.margin())
		standing := 0
		for i := range w.feet {
			m, _, _, _ := w.Foot(i, 0)
			if w.Weight(i) > 0 {
				standing++
				if w.began && m.V.Norm() > 0 {
					w.t.Fatalf("%s at %.3f s: foot %d carries %g and moves at %g m/s", w.name, w.Planner.t, i, w.Weight(i), m.V.Norm())
				}
			}
			if w.began && w.feet[i].V == (Motion{}).V && m.V == (Motion{}).V && w.feet[i].P != m.P {
				w.t.Fatalf("%s at %.3f s: foot %d stands and moved by %v", w.name, w.Planner.t, i, m.P.Sub(w.feet[i].P))
			}
			w.kick = max(w.kick, m.A.Sub(w.feet[i].A).Norm())
			w.feet[i] = m
			under := w.now.apply(w.cfg.Legs[i])
			w.reach = max(w.reach, math.Hypot(under.X-m.P.X, under.Y-m.P.Y))
		}
		if standing == 0 {
			w.t.Fatalf("%s at %.3f s: no foot stands", w.name, w.Planner.t)
		}
		w.began = true
	}
}

// TestWalks: every derived gait on two, four and six legs walks at four fifths of its fastest speed, in all
// directions; the zero-moment point of the planned motion keeps to its supports.
func TestWalks(t *testing.T) {
	for _, c := range []struct {
		legs  []Point
		gait  string
		least float64 // m
	}{
		{four, "crawl", 0.006}, {six, "crawl", 0.02}, {four, "trot", -0.001}, {six, "trot", 0.02}, {four, "amble", -0.003},
		{two, "trot", -0.002}, {four, "in_place", -0.001},
	} {
		for _, v := range []Velocity{{X: 0.8}, {X: -0.8}, {Y: 0.4}, {Yaw: 6}, {X: 0.4, Yaw: 4}} {
			w := newWalker(t, c.legs, c.gait)
			s := w.Fastest()
			v = Velocity{v.X * s, v.Y * s, v.Yaw * s}
			w.Command(v)
			w.run(max(4, 2*w.gait.Period))
			from, yaw := w.Com(0).P, w.now.yaw
			n := math.Ceil(1/w.gait.Period) * w.gait.Period
			w.run(n)
			to := w.Com(0).P
			t.Logf("%d legs, %s, %.3v: margin %.1f mm, reach %.0f mm, change of acceleration %.2f m/s² in a tick", len(c.legs), c.gait, v, 1e3*w.least, 1e3*w.reach, w.jump)
			if !(w.least >= c.least) {
				t.Errorf("%d legs, %s, %+v: the zero-moment point is %.1f mm inside", len(c.legs), c.gait, v, 1e3*w.least)
			}
			if v.Yaw == 0 {
				made := math.Hypot(to.X-from.X, to.Y-from.Y) / n
				if want := math.Hypot(v.X, v.Y); math.Abs(made-want) > 0.1*want+0.002 {
					t.Errorf("%d legs, %s, %+v: %.4f m/s", len(c.legs), c.gait, v, made)
				}
			} else if made := (w.now.yaw - yaw) / n; math.Abs(made-w.target.Yaw) > 0.05*math.Abs(made) {
				t.Errorf("%d legs, %s, %+v: turns at %g rad/s", len(c.legs), c.gait, v, made)
			}
			if w.reach > 1.6*w.cfg.Reach {
				t.Errorf("%d legs, %s, %+v: a foot is %g m from its place", len(c.legs), c.gait, v, w.reach)
			}
			w.Command(Velocity{})
			w.gait.Always = false
			w.run(4 * w.gait.Period)
			if w.Phase() != Stands {
				t.Errorf("%d legs, %s, %+v: it %v in the end", len(c.legs), c.gait, v, w.Phase())
			}
			for i, at := range c.legs {
				if d := w.now.apply(at); math.Hypot(d.X-w.feet[i].P.X, d.Y-w.feet[i].P.Y) > 0.006 {
					t.Errorf("%d legs, %s, %+v: foot %d stands %v, its place is %v", len(c.legs), c.gait, v, i, w.feet[i].P, d)
				}
			}
		}
	}
}

// TestFeetAreOverTheirPlacesEarly: with a shape of swings a foot is as high as it is lifted, and over its place, when it says so, and rests at
// both ends of its way; over the edges of boxes that are known it goes ahead until it lands.
func TestFeetAreOverTheirPlacesEarly(t *testing.T) {
	const over, rise, dt = 0.72, 0.4, 0.001
	box := func(at, length, width, height float64) []Box {
		return []Box{{At: Point{X: at}, Length: length, Width: width, Height: height}}
	}
	// on the ground, far from a box, within a large one, and along the edges of one that is as narrow as the feet are apart
	for k, boxes := range [][]Box{nil, box(3, 1, 1, 0.01), box(0, 4, 2, 0.01), box(0, 4, 0.1, 0.01)} {
		w := newWalker(t, four, "crawl")
		g := w.gait
		g.Over, g.Rise = over, rise
		if err := w.SetGait(&g); err != nil {
			t.Fatal(err)
		}
		w.Terrain(boxes, 0.02)
		w.Command(Velocity{X: 0.05})
		swings, early, high, was := 0, 0, 0, make([]Motion, len(four))
		for range int(12 / dt) {
			w.Advance(dt)
			for i := range was {
				m, _, _, _ := w.Foot(i, 0)
				s := &w.Planner.feet[i].swing
				share := (w.Planner.t - s.lift) / (s.land - s.lift)
				if w.Planner.t > 6 && s.land > s.lift && share > 0 && share < 1 {
					swings++
					if share > over && math.Abs(m.V.X) < 1e-6 && math.Abs(m.P.X-s.to.X) < 1e-9 {
						early++
					}
					if math.Abs(share-rise) < 0.01 && m.P.Z-s.height > 0.99*g.Lift {
						high++
					}
				}
				if jump := m.V.Sub(was[i].V).Norm(); jump > 0.02 {
					t.Fatalf("a foot's velocity jumps by %g m/s", jump)
				}
				was[i] = m
			}
		}
		want, top := 1-over, 0.02
		if k == 3 {
			want, top = 0, 0
		}
		if got := float64(early) / float64(swings); math.Abs(got-want) > 0.01 {
			t.Errorf("boxes %v: feet are over their places for %g of their swings, want %g", boxes, got, want)
		}
		if got := float64(high) / float64(swings); math.Abs(got-top) > 0.01 {
			t.Errorf("boxes %v: feet are at their height at %g for %g of their swings, want %g", boxes, rise, got, top)
		}
	}
	for _, g := range []Gait{{Over: 1.1}, {Over: -0.1}, {Rise: 1}, {Rise: math.NaN()}} {
		x, err := Derive("crawl", four, 0.174, 9.81)
		if err != nil {
			t.Fatal(err)
		}
		x.Over, x.Rise = g.Over, g.Rise
		if x.Check(4) == nil {
			t.Errorf("over %g, rise %g is taken", g.Over, g.Rise)
		}
	}
}

// TestAnythingAtAnyTime: commands that jump, stops and new gaits at random instants; it keeps its
// supports, stands within the time that a stop may take, and goes on.
func TestAnythingAtAnyTime(t *testing.T) {
	runs := 24
	if testing.Short() {
		runs = 4
	}
	worst, slowest, reach := map[string]float64{}, 0.0, 0.0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(24, seed))
		name := []string{"crawl", "trot"}[seed%2]
		legs := [][]Point{four, four, six}[seed%3]
		w := newWalker(t, legs, name)
		for range 12 {
			s := w.Fastest()
			v := Velocity{s * rng.NormFloat64(), s * rng.NormFloat64() / 2, s * 5 * rng.NormFloat64()}
			switch rng.IntN(8) {
			case 0:
				v = Velocity{}
			case 1:
				v.X = math.NaN()
			case 2:
				v = v.scaled(1e9)
			}
			w.Command(v)
			w.run(3 * rng.Float64())
			if rng.IntN(3) == 0 {
				w.Stop(true)
				begin := w.Planner.t
				for w.Phase() != Stands {
					w.run(2 * tick)
					if w.Planner.t-begin > 1.5 {
						t.Fatalf("seed %d: %s %v %.2f s after a stop", seed, name, w.Phase(), w.Planner.t-begin)
					}
				}
				slowest = max(slowest, w.Planner.t-begin)
				w.run(0.2)
				if w.before.V.Norm() != 0 || w.before.A.Norm() != 0 {
					t.Fatalf("seed %d: it stands and moves %+v", seed, w.before)
				}
				w.Stop(false)
			}
		}
		key := fmt.Sprintf("%d legs, %s", len(legs), name)
		worst[key] = min(worst[key], w.least-0.1)
		reach = max(reach, w.reach/w.cfg.Reach)
	}
	// of a trot the distance from the line between two feet, of a crawl that of feet which were just put far
	// to one side: flat soles of the pony carry 21 mm beside it
	allowed := map[string]float64{"4 legs, crawl": -0.003, "4 legs, trot": -0.012, "6 legs, crawl": 0.02, "6 legs, trot": 0.01}
	for key, m := range worst {
		t.Logf("%s: least margin %.1f mm", key, 1e3*(m+0.1))
		if !(m+0.1 >= allowed[key]) {
			t.Errorf("%s: the zero-moment point is %.1f mm inside", key, 1e3*(m+0.1))
		}
	}
	t.Logf("stops take %.2f s at most, feet are %.2f of their reach from their places", slowest, reach)
	if slowest > 1 || reach > 2 {
		t.Errorf("a stop takes %g s; a foot is %g of its reach from its place", slowest, reach)
	}
}

// TestAccelerationsAreContinuous: looked at every fifth of a millisecond, the acceleration of the centre of
// mass and of every foot changes by what a bounded jerk makes of that time, through starts, commands that
// jump, stops and gaits.
func TestAccelerationsAreContinuous(t *testing.T) {
	const fine = 0.0002
	for _, name := range []string{"crawl", "trot"} {
		w := newWalker(t, four, name)
		s := w.Fastest()
		for _, c := range []struct {
			v    Velocity
			stop bool
			time float64
		}{{Velocity{X: s}, false, 1.3}, {Velocity{X: -s, Yaw: 5 * s}, false, 1.1}, {Velocity{}, false, 0.7}, {Velocity{Y: s}, false, 1}, {Velocity{Y: s}, true, 1.2}} {
			w.Command(c.v)
			w.Stop(c.stop)
			w.runBy(c.time, fine)
		}
		if w.Phase() != Stands {
			t.Errorf("%s: it %v in the end", name, w.Phase())
		}
		t.Logf("%s: jerk of the centre of mass %.0f m/s³, of feet %.0f m/s³", name, w.jump/fine, w.kick/fine)
		if w.jump > 300*fine || w.kick > 3000*fine {
			t.Errorf("%s: accelerations step by %g m/s², of feet by %g m/s²", name, w.jump, w.kick)
		}
	}
}

// TestSwingsBeginAndEndAtRest: a foot leaves the ground and comes to it without speed and acceleration, in all gaits, ahead, to the side
// and turning.
func TestSwingsBeginAndEndAtRest(t *testing.T) {
	const moment = 1e-9 // s, inside of the swing
	for _, name := range Names {
		w := newWalker(t, four, name)
		s, swings := w.Fastest(), map[[2]float64]bool{}
		for _, v := range []Velocity{{X: s}, {X: -s / 2, Yaw: 3 * s}, {Y: s}, {}} {
			w.Command(v)
			for range 300 {
				w.Advance(grid)
				for leg := range four {
					lift, land, now := w.Swing(leg)
					if !(lift < now && now < land) {
						continue
					}
					swings[[2]float64{float64(leg), lift}] = true
					for _, end := range []float64{lift + moment - now, land - moment - now} {
						m, _, rate, acceleration := w.Foot(leg, end)
						if v, a := m.V.Norm()+math.Abs(rate), m.A.Norm()+math.Abs(acceleration); !(v < 1e-6 && a < 1e-3) {
							t.Fatalf("%s, leg %d: %g m/s and %g m/s² at an end of its swing", name, leg, v, a)
						}
					}
				}
			}
		}
		if len(swings) < 10 {
			t.Errorf("%s: %d swings", name, len(swings))
		}
	}
}

// TestNothingIsAllocated: advancing, commands and answers.
func TestNothingIsAllocated(t *testing.T) {
	w := newWalker(t, six, "crawl")
	w.Command(Velocity{X: 0.03})
	w.Advance(2)
	if n := testing.AllocsPerRun(200, func() {
		w.Command(Velocity{X: 0.03, Yaw: 0.1})
		w.Advance(tick)
		w.Com(0)
		w.Foot(1, 0)
		w.margin()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkAdvance is a point of the grid for four legs, once in 5 ms.
func BenchmarkAdvance(b *testing.B) {
	p, _ := New(Config{Legs: four, Height: 0.174})
	g, _ := Derive("crawl", four, 0.174, 9.81)
	_ = p.SetGait(&g)
	p.Place(Point{}, 0, four, Point{})
	p.Command(Velocity{X: 0.05})
	b.ReportAllocs()
	for b.Loop() {
		p.Advance(grid)
	}
}

// TestFootstepsAreTaken: random footsteps around the places of feet are taken one by one, each where it was to be, with
// the zero-moment point over its supports; whatever the pace; a stop on the way ends in a stand, and the rest is taken after it.
func TestFootstepsAreTaken(t *testing.T) {
	for _, legs := range [][]Point{four, six} {
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(24, seed))
			w := newWalker(t, legs, "crawl")
			var steps []Footstep
			order := Order(legs)
			at := make([]Point, len(legs))
			for k := range 4 * len(legs) {
				leg, ahead := order[k%len(legs)], 0.02*float64(1+k/len(legs))
				at[leg] = Point{X: legs[leg].X + ahead + 0.008*(rng.Float64()-0.5), Y: legs[leg].Y + 0.008*(rng.Float64()-0.5)}
				steps = append(steps, Footstep{Leg: leg, At: at[leg], Yaw: 0.04 * (rng.Float64() - 0.5)})
			}
			w.Footsteps(steps)
			if seed%2 == 1 {
				w.run(1.5 + rng.Float64())
				w.Stop(true)
				w.run(1.5)
				if w.Phase() != Stands || w.Left() == 0 {
					t.Fatalf("%d legs, seed %d: stopped, it %v with %d steps left", len(legs), seed, w.Phase(), w.Left())
				}
				w.Stop(false)
			}
			for range 20 * (seed / 2) { // how often they are taken changes at any instant
				w.Pace(1.5 * rng.Float64())
				w.run(0.5 * rng.Float64())
			}
			w.Pace(1)
			w.run(12)
			if w.Phase() != Stands || w.Left() != 0 {
				t.Errorf("%d legs, seed %d: it %v with %d steps left", len(legs), seed, w.Phase(), w.Left())
			}
			for i := range legs {
				if m, _, _, _ := w.Foot(i, 0); math.Hypot(m.P.X-at[i].X, m.P.Y-at[i].Y) > 1e-12 {
					t.Errorf("%d legs, seed %d: foot %d is at %v, it was to be at %v", len(legs), seed, i, m.P, at[i])
				}
			}
			t.Logf("%d legs, seed %d: margin %.1f mm, change of acceleration %.2f m/s² in a tick", len(legs), seed, 1e3*w.least, w.jump)
			if w.least < 0.005 {
				t.Errorf("%d legs, seed %d: the zero-moment point is %.1f mm inside", len(legs), seed, 1e3*w.least)
			}
		}
	}
}

// TestPlanningIsBounded: a tick plans as many points of the grid as it has periods of it, rounded up, whatever is commanded: each of them
// looks at a horizon of a fixed length. docs/benchmarks.md has what one takes.
func TestPlanningIsBounded(t *testing.T) {
	p, err := New(Config{Legs: corners(), Height: 0.19})
	if err != nil {
		t.Fatal(err)
	}
	g, err := Derive("crawl", corners(), 0.19, 9.81)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SetGait(&g); err != nil {
		t.Fatal(err)
	}
	p.Place(Point{}, 0, corners(), Point{})
	rng := rand.New(rand.NewPCG(24, 11))
	for _, dt := range []float64{0.001, 0.01, 0.0224, 0.056} {
		for range 400 {
			p.Command(Velocity{X: 0.2 * rng.NormFloat64(), Y: 0.1 * rng.NormFloat64(), Yaw: rng.NormFloat64()})
			was := p.last
			p.Advance(dt)
			if n := math.Round((p.last - was) / grid); n > math.Ceil(dt/grid) {
				t.Fatalf("%g s: %g points of the grid", dt, n)
			}
		}
	}
}

// TestLoadsFadeAsLongAsTheyShould: where none is given, feet take their load within 30 … 60 ms.
func TestLoadsFadeAsLongAsTheyShould(t *testing.T) {
	p, err := New(Config{Legs: corners(), Height: 0.19})
	if err != nil {
		t.Fatal(err)
	}
	if f := p.cfg.Fade; f < 0.03 || f > 0.06 {
		t.Errorf("loads fade in %g s", f)
	}
}

// TestCrawlsAreSlowed: feet of a crawl swing longer for a cycle of few setpoints, as far as its order allows; a trot, and times that were given, stay.
func TestCrawlsAreSlowed(t *testing.T) {
	legs := []Point{{X: 0.08, Y: 0.04}, {X: 0.08, Y: -0.04}, {X: -0.08, Y: -0.04}, {X: -0.08, Y: 0.04}}
	derived := func(name string) Gait {
		g, err := Derive(name, legs, 0.162, 9.81)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	swing := func(g *Gait) float64 { return (1 - g.Duty) * g.Period }
	for _, c := range []struct{ ask, want, period float64 }{{0.1, 0.321, 1.606}, {0.35, 0.35, 1.606}, {0.4, 0.4, 1.739}, {2, 0.406, 1.767}} {
		g := derived("crawl")
		g.Slow(c.ask)
		if math.Abs(swing(&g)-c.want) > 1e-3 || math.Abs(g.Period-c.period) > 1e-3 || g.Check(len(legs)) != nil {
			t.Errorf("asked for %g s: swings of %g s, a period of %g s, %v", c.ask, swing(&g), g.Period, g.Check(len(legs)))
		}
	}
	for _, given := range []bool{false, true} {
		g := derived(map[bool]string{false: "trot", true: "crawl"}[given])
		g.Given = given
		was := swing(&g)
		if g.Slow(0.4); swing(&g) != was {
			t.Errorf("%s, given %v: swings of %g s, were %g s", g.Name, given, swing(&g), was)
		}
	}
}

// TestGaitsWithoutSupportAreRefused: feet that would all be in the air at once, or a crawl that is not stable at rest.
func TestGaitsWithoutSupportAreRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		legs  []Point
		duty  float64
		phase []float64
		want  string
	}{
		{"crawl", four, 0.2, nil, "at times 0 of 4 feet stand, and 3 are needed"},
		{"crawl", four, 0.6, nil, "at times 2 of 4 feet stand, and 3 are needed"},
		{"crawl", four, 0.78, []float64{0, 0, 0, 0}, "at times 0 of 4 feet stand"},
		{"trot", four, 0.6, []float64{0, 0, 0, 0}, "at times 0 of 4 feet stand, and 2 are needed"},
		{"crawl", six, 0.6, nil, ""},
		{"crawl", six, 0.4, nil, "at times 2 of 6 feet stand"},
	} {
		g, err := Derive(c.name, c.legs, 0.174, 9.81)
		if err != nil {
			t.Fatal(err)
		}
		if g.Duty = c.duty; c.phase != nil {
			g.Phase = c.phase
		}
		if err := g.Check(len(c.legs)); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %d legs, duty %g, phases %v: %v, it should say %q", c.name, len(c.legs), c.duty, g.Phase, err, c.want)
		}
	}
}

// TestHugeVelocitiesAreScaled: however large a velocity is, its direction counts.
func TestHugeVelocitiesAreScaled(t *testing.T) {
	w := newWalker(t, four, "crawl")
	w.Command(Velocity{2, 1, -0.5})
	want := w.target
	for _, by := range []float64{1e3, 1e6, 1e9, 1e300} {
		w.Command(Velocity{2 * by, by, -0.5 * by})
		if v := w.target; math.Abs(v.X-want.X) > 1e-9 || math.Abs(v.Y-want.Y) > 1e-9 || math.Abs(v.Yaw-want.Yaw) > 1e-9 {
			t.Errorf("%g times as fast: %+v, want %+v", by, v, want)
		}
	}
}
