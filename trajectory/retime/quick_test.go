package retime_test

import (
	"math"
	"testing"

	"poise/trajectory"
	"poise/trajectory/retime"
)

// bumps is a long way of two joints with a bend in every other piece, none like
// another. It counts how often it is evaluated.
func bumps(pieces int, calls *int) *formula {
	f := &formula{joints: 2}
	for i := range pieces + 1 {
		f.breaks = append(f.breaks, float64(i))
	}
	f.at = func(q, dq, ddq []float64, piece int, s float64) {
		*calls++
		q[0], dq[0], ddq[0] = s, 1, 0
		q[1], dq[1], ddq[1] = 0, 0, 0
		if piece%2 == 1 {
			// a·(1 − cos 2πx)²: its first three derivatives are zero at both ends
			a, w := 0.1+0.05*math.Sin(float64(piece)), 2*math.Pi
			x := s - float64(piece)
			c, d := 1-math.Cos(w*x), w*math.Sin(w*x)
			q[1], dq[1], ddq[1] = a*c*c, 2*a*c*d, 2*a*(d*d+c*w*w*math.Cos(w*x))
		}
	}
	return f
}

// A quick law takes no more evaluations for each piece of a long path than of a short
// one, keeps its limits but for what it may exceed, and is not slower than with care.
func TestQuickLawsGrowWithTheirPathAndNoFaster(t *testing.T) {
	limits := []trajectory.Limits{{Velocity: repeat(2, 2), Acceleration: repeat(6, 2), Jerk: repeat(60, 2)}}
	solve := func(pieces int, quick bool) (path *formula, law *retime.Law, each float64) {
		calls := 0
		path, law = bumps(pieces, &calls), &retime.Law{}
		if err := new(retime.Solver).Solve(law, &retime.Problem{Path: path, Limits: limits, Quick: quick}); err != nil {
			t.Fatal(err)
		}
		return path, law, float64(calls) / float64(pieces)
	}
	_, careful, _ := solve(60, false)
	_, law, _ := solve(60, true)
	if took, best := law.Duration(), careful.Duration(); took > 1.05*best {
		t.Errorf("quick: %g s, with care %g s", took, best)
	}
	_, _, few := solve(240, true)
	path, law, many := solve(1920, true)
	t.Logf("evaluations of a piece: %.0f among 240, %.0f among 1920", few, many)
	if many > 1.5*few {
		t.Errorf("a piece is evaluated %.0f times among 240, %.0f times among 1920", few, many)
	}
	const most = 1 + 2*retime.QuickExcess + 0.01
	if c := check(path, law, limits, 200_000); c.vel > most || c.acc > most || c.jerk > most {
		t.Errorf("velocity %.4g, acceleration %.4g, jerk %.4g of the limit", c.vel, c.acc, c.jerk)
	}
}
