package control

import (
	"math"
	"testing"

	"poise/trajectory/move"
)

func TestHolderStopsByTheShortestWay(t *testing.T) {
	l := []move.Limits{move.Symmetric(2, 4, 40), move.Symmetric(2, 4, 40)}
	h, err := NewHolder(l)
	if err != nil {
		t.Fatal(err)
	}
	h.Begin(1, move.State{P: 1, V: 1.5}, 10)
	if s := h.At(1, 10); s != (move.State{P: 1, V: 1.5}) {
		t.Errorf("begins at %+v", s)
	}
	end := h.At(1, 20)
	// v/2 · (v/a + a/j) is how far a stop goes that has to build up its deceleration
	if want := 1 + 1.5/2*(1.5/4+4.0/40); math.Abs(end.P-want) > 1e-9 || end.V != 0 || end.A != 0 {
		t.Errorf("ends at %+v, want %g", end, want)
	}
	if h.At(1, 30) != end {
		t.Error("is not held")
	}
}

// TestHolderShedsAcceleration: a joint let go while its motion speeds it up beyond the limits of
// transitions does not run on for as long as their jerk would take.
func TestHolderShedsAcceleration(t *testing.T) {
	h, err := NewHolder([]move.Limits{move.Symmetric(3, 4, 40)})
	if err != nil {
		t.Fatal(err)
	}
	h.Begin(0, move.State{V: -0.6, A: -20}, 0)
	fastest := 0.0
	for k := range 1000 {
		fastest = min(fastest, h.At(0, float64(k)*1e-3).V)
	}
	// V + A·shedTime/2; with the jerk of transitions it would be V − A²/2/40 = −5.6
	if end := h.At(0, 10); fastest < -0.6-20*shedTime/2-1e-9 || end.P < -0.2 || end.V != 0 {
		t.Errorf("it gets %g rad/s fast and ends at %+v", fastest, end)
	}
	h.Begin(0, move.State{V: -0.6, A: -4}, 0) // within limits: as gently as they say
	if a := h.At(0, 0.05).A; math.Abs(a+2) > 1e-9 {
		t.Errorf("after 50 ms it still has %g rad/s²", a)
	}
}

func TestHolderSurvivesNonFinite(t *testing.T) {
	h, err := NewHolder([]move.Limits{move.Symmetric(2, 4, 40)})
	if err != nil {
		t.Fatal(err)
	}
	h.Begin(0, move.State{P: 0.5, V: math.NaN()}, 0)
	if s := h.At(0, 1); s != (move.State{P: 0.5}) {
		t.Errorf("%+v", s)
	}
	h.Put(0, 0.7)
	if !h.Placed(0) || h.At(0, 5) != (move.State{P: 0.7}) {
		t.Errorf("%+v", h.At(0, 5))
	}
	h.End(0)
	if h.Placed(0) {
		t.Error("still has a place")
	}
	if n := testing.AllocsPerRun(100, func() { h.Begin(0, move.State{V: 1}, 0); h.At(0, 0.1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
