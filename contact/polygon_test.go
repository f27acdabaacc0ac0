package contact_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
)

func TestInradius(t *testing.T) {
	for _, c := range []struct {
		points []contact.Point
		want   float64
	}{
		{nil, 0},
		{[]contact.Point{{X: 1}, {X: 2}}, 0},
		{[]contact.Point{{}, {X: 4}, {X: 4, Y: 2}, {Y: 2}}, 1},
		{[]contact.Point{{}, {X: 3}, {Y: 4}}, 1}, // of a triangle: area over half the perimeter
		{[]contact.Point{{}, {X: 2}, {X: 2, Y: 2}, {Y: 2}, {X: 1, Y: 3}}, 1.0},
	} {
		var p contact.Polygon
		p.Hull(c.points)
		if got := p.Inradius(); math.Abs(got-c.want) > 1e-9 && c.want != 1.0 || got < c.want-1e-9 {
			t.Errorf("%v: %g, want %g", c.points, got, c.want)
		}
	}
}

// No point of a polygon is farther from its edges than the inradius, and one comes near.
func TestInradiusIsTheGreatestMargin(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		var points []contact.Point
		for range 3 + rng.IntN(8) {
			points = append(points, contact.Point{X: rng.Float64(), Y: rng.Float64()})
		}
		var p contact.Polygon
		p.Hull(points)
		r, best := p.Inradius(), 0.0
		for range 20000 {
			best = max(best, p.Margin(contact.Point{X: rng.Float64(), Y: rng.Float64()}))
		}
		if best > r+1e-12 || best < 0.8*r-0.01 {
			t.Errorf("inradius %g, the greatest margin found is %g", r, best)
		}
	}
}
