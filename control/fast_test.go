package control

import (
	"math"
	"testing"

	"poise/robot/load"
	"poise/trajectory/move"
)

// TestFastLegsAreHandedOverHarder: at an animation's speed the legs of the pony are handed over
// and stopped as gently as its neck, which has no acceleration limit; a leg that is faster
// already uses up to 100 rad/s², and the gate allows what its servo can do.
func TestFastLegsAreHandedOverHarder(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	moves, gates, err := JointLimits(m, Transition{})
	if err != nil {
		t.Fatal(err)
	}
	legID, _ := m.Joint("joint13")
	neckID, _ := m.Joint("joint51")
	leg, neck := int(legID), int(neckID)
	if gates[leg].Velocity != 9 || gates[leg].Acceleration != 200 || moves[leg] != moves[neck] || moves[leg].AccMax != 8 {
		t.Fatalf("leg %+v, %+v; neck %+v", moves[leg], gates[leg], moves[neck])
	}
	fast := fastLimits(m, Transition{}, moves)
	if fast[leg].AccMax != 100 || fast[leg].VelMax != 9 || fast[neck] != moves[neck] {
		t.Errorf("fast: leg %+v, neck %+v", fast[leg], fast[neck])
	}
	h, err := NewHolder(moves)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBridge(BridgeConfig{}, moves, Wraps(m))
	if err != nil {
		t.Fatal(err)
	}
	h.fast, b.fast = fast, fast
	// stop returns how long it takes to rest, and the hardest acceleration on the way
	stop := func(joint int, v float64) (takes, hardest float64) {
		h.Begin(joint, move.State{V: v}, 0)
		for s := 0.0; s < 3; s += 0.0005 {
			x := h.At(joint, s)
			if hardest = math.Max(hardest, math.Abs(x.A)); x.V != 0 {
				takes = s
			}
		}
		return takes, hardest
	}
	for _, v := range []float64{0.3, 1, 1.57} {
		legTakes, legAcc := stop(leg, v)
		neckTakes, neckAcc := stop(neck, v)
		if legTakes != neckTakes || legAcc != neckAcc || legAcc > 8+1e-9 {
			t.Errorf("from %g rad/s a leg takes %g s at %g rad/s², the neck %g s at %g", v, legTakes, legAcc, neckTakes, neckAcc)
		}
	}
	if takes, hardest := stop(leg, 9); takes > 0.25 || hardest > 100+1e-9 || hardest < 50 {
		t.Errorf("from 9 rad/s a leg takes %g s at %g rad/s²", takes, hardest)
	}
	command, reference := make([]move.State, len(moves)), make([]move.State, len(moves))
	command[leg], command[neck] = move.State{P: 0.1, V: 1}, move.State{P: 0.1, V: 1}
	if a, c := b.Begin(0, []int{leg}, command, reference, 0), b.Begin(0, []int{neck}, command, reference, 0); a != c {
		t.Errorf("a slow hand-over takes %g s of a leg, %g s of the neck", a, c)
	}
	command[leg].V = 8
	if took := b.Begin(0, []int{leg}, command, reference, 0); took > 0.6 {
		t.Errorf("a hand-over at 8 rad/s takes %g s", took)
	}
	if n := testing.AllocsPerRun(50, func() { h.Begin(leg, move.State{V: 9}, 0); b.Begin(0, []int{leg}, command, reference, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestASwingingLegDoesNotRunAway: a leg whose reference accelerates as in a swing, and which the gate cut there,
// is back on it soon and was never far from it, however slow it was just then.
func TestASwingingLegDoesNotRunAway(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	moves, _, err := JointLimits(m, Transition{})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := m.Joint("joint13")
	leg := int(id)
	b, err := NewBridge(BridgeConfig{}, moves, Wraps(m))
	if err != nil {
		t.Fatal(err)
	}
	b.fast = fastLimits(m, Transition{}, moves)
	command, reference := make([]move.State, len(moves)), make([]move.State, len(moves))
	for _, c := range []struct{ command, reference move.State }{
		{move.State{V: 0.5, A: -20}, move.State{P: 0.01, A: 40}},
		{move.State{V: 1.2, A: 60}, move.State{P: -0.02, V: 0.8, A: -60}},
		{move.State{V: -1.5, A: 90}, move.State{P: 0.03, V: -1, A: 30}},
		{move.State{V: 0.6, A: 20}, move.State{V: 0.6, A: -20}},
	} {
		command[leg], reference[leg] = c.command, c.reference
		takes := b.Begin(0, []int{leg}, command, reference, 0.9)
		far := 0.0
		for s := 0.0; s < takes; s += 0.001 {
			far = max(far, math.Abs(b.Offset(leg, s).P))
		}
		t.Logf("%+v: %.3f rad away at most, for %.2f s", c, far, takes)
		if far > 0.1 || takes > 0.8 {
			t.Errorf("%+v: it runs %.3f rad away, for %.2f s", c, far, takes)
		}
	}
}
