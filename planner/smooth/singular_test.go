package smooth_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"poise/internal/randbot"
	"poise/kinematics"
	"poise/planner"
	"poise/spatial"
)

// forward is where arm6 holds its tool in line with its forearm, so that axes 4
// and 6 are one line, or some way above.
func forward(b *bench, up float64) (spatial.Vec3, spatial.Quat) {
	X := tipAt(b.m, b.g, []float64{0, 0.3, -0.2, 0, -math.Pi / 2, 0, 0})
	return X.P.Add(X.R.Col(0).Scale(up)), X.R.Quat()
}

// A line across the place where the wrist is singular, or near it at any
// distance: the arm slows down and passes.
func TestLinesPassWristSingularities(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		heights := []float64{0, 1e-4, 0.01, 1e-9, 1e-6, 1e-3, 0.05}
		if testing.Short() {
			heights = heights[:3]
		}
		for _, up := range heights {
			p, q := forward(b, up)
			b.q = []float64{0, 0.3, -0.2, 0, -1.2, 0, 0}
			b.start(p.Add(at(0, -0.25, 0)), q)
			m := b.plan(b.lin(p.Add(at(0, 0.25, 0)), q))
			poses, _, _ := b.tool(m)
			for i, X := range poses {
				if math.Hypot(X.P.X-p.X, X.P.Z-p.Z) > tolPath {
					t.Fatalf("%s, %g m above: point %d off the line at %v", name, up, i, X.P)
				}
			}
			b.near(fmt.Sprintf("%s, %g m above", name, up), poses[len(poses)-1].P, p.Add(at(0, 0.25, 0)))
			t.Logf("%s, %g m above: %.3f s", name, up, duration(m))
			if n := kindOf(m, planner.Slowed); n == nil && up > 1e-7 {
				t.Errorf("%s, %g m above: does not say that it slowed down", name, up)
			}
		}
	}
}

func TestUnreachableStretchIsRefusedWithItsDistance(t *testing.T) {
	b := arm6(t)
	for _, x := range []float64{0, -0.05, 0.05} {
		b.q = make([]float64, b.m.NumQ())
		b.start(at(x, -0.5, 0.4), down)
		why := b.refused(b.lin(at(x, 0.5, 0.4), down), planner.NoSolution, "along the path")
		t.Log(why)
		if !(why.Distance > 0.01 && why.Distance < 0.99) {
			t.Errorf("%v at %g m", why, why.Distance)
		}
	}
}

func TestGoalInAnotherConfigurationIsRefused(t *testing.T) {
	b := arm6(t)
	b.start(at(0.5, -0.3, 0.5), down)
	// the goal's joints belong to the other way to bend the wrist
	end := b.plan(b.lin(at(0.5, 0.3, 0.5), down))
	q := b.end(end)
	r := b.request(planner.LIN)
	r.Goals = b.joints(q[0], q[1], q[2], q[3]+math.Pi, -math.Pi-q[4], q[5]-math.Pi)
	b.refused(r, planner.NoSolution, "another configuration")
}

// Lines that touch the edge of what the arm reaches can only be continued with the
// arm bent the other way.
func TestFlipsAreRefusedWithTheirDistance(t *testing.T) {
	b := arm6(t)
	rng := randbot.New(seed)
	found := 0
	for tries := 0; found < 3 && tries < 2000; tries++ {
		kinematics.NewSpace(b.m).RandomTo(b.q, rng)
		X := tipAt(b.m, b.g, b.q)
		r := b.lin(X.P.Add(randomVec(rng)), X.R.Quat())
		_, why := b.p.Plan(context.Background(), &r, b.q)
		if why == nil || !strings.Contains(why.Text, "flip") {
			continue
		}
		found++
		if why.Kind != planner.NoSolution || why.Joint == "" || !(why.Value > 0.5) || !(why.Distance > 0 && why.Distance < 2) {
			t.Errorf("%+v", why)
		}
		t.Log(why)
	}
	if found < 3 {
		t.Errorf("%d flips found", found)
	}
}
