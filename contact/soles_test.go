package contact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestHullOfSoles: the hull of discs and points is that of all their corners, at most the sagitta
// of a side smaller; margins are those of the discs themselves within that.
func TestHullOfSoles(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 9))
	var s Soles
	for trial := range 300 {
		s.Clear()
		var all []Point
		n, least := 1+rng.IntN(6), 0.0
		type round struct {
			p Point
			r float64
		}
		for range n {
			d := round{Point{rng.Float64(), rng.Float64()}, 0}
			if rng.IntN(3) > 0 {
				d.r = 0.05 + 0.1*rng.Float64()
			}
			least = max(least, d.r*(1-math.Cos(math.Pi/SoleSides)))
			s.Add(d.p, d.r)
			for k := range 720 {
				sin, cos := math.Sincos(float64(k) * math.Pi / 360)
				all = append(all, Point{d.p.X + d.r*cos, d.p.Y + d.r*sin})
			}
		}
		var got, want Polygon
		s.Hull(&got)
		want.Hull(all)
		for _, c := range got.Corners { // none outside
			if m := want.Margin(c); m < -1e-5 {
				t.Fatalf("trial %d: corner %v is %g m outside of the discs", trial, c, -m)
			}
		}
		for _, c := range want.Corners { // and little left out
			if m := got.Margin(c); m < -least-1e-5 {
				t.Fatalf("trial %d: %v of the discs is %g m outside, at most %g is left out", trial, c, -m, least)
			}
		}
		if a := got.Area(); len(got.Corners) > 2 && !(a > 0) {
			t.Fatalf("trial %d: area %g: not counter-clockwise", trial, a)
		}
	}
	var p Polygon
	s.Clear()
	s.Add(Point{1, 2}, 0.02)
	s.Hull(&p)
	if m := p.Margin(Point{1.0196, 2}); !(m > 0 && m < 0.0005) {
		t.Errorf("0.4 mm inside of one sole the margin is %g", m)
	}
	if allocs := testing.AllocsPerRun(20, func() { s.Hull(&p) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	s.Clear()
	if s.Hull(&p); len(p.Corners) != 0 {
		t.Errorf("without soles there is a polygon %v", p.Corners)
	}
}
