package standing

import (
	"slices"
	"testing"

	"poise/contact"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

// TestHandsLiftOneHoof checks that a hoof that is dragged up leaves the base where it
// is, and stands again when it comes back; and that a robot put into another pose at
// once stands level.
func TestHandsLiftOneHoof(t *testing.T) {
	r, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	ground, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	feet := ground.DefaultFeetTo(nil)
	q := m.RestPositions()
	base, ok := ground.Settle(q, feet)
	if !ok || len(feet) != 4 {
		t.Fatalf("the pony has %d feet", len(feet))
	}
	begun := base
	knee, _ := m.Joint("joint13")
	leg, _ := m.Chain("leg1")
	h := hands{ground: ground}
	if down := h.stand(q, feet, nil, base); down != nil || len(h.air) > 0 {
		t.Fatalf("at rest the feet %v are in the air", h.air)
	}
	for range 40 { // slowly, a tick at a time
		q[knee] += 0.02
		if down := h.stand(q, feet, nil, base); down != nil {
			base = *down
		}
	}
	if moved := base.P.Sub(begun.P).Norm(); moved > slack {
		t.Errorf("the base moved by %.4f m", moved)
	}
	if want := []robot.ChainID{leg}; !slices.Equal(h.air, want) {
		t.Errorf("in the air are %v, want %v", h.air, want)
	}
	q[knee] -= 0.8
	if h.stand(q, feet, nil, base); len(h.air) > 0 {
		t.Errorf("the hoof is back and yet %v are in the air", h.air)
	}
	for _, j := range []string{"joint13", "joint23", "joint33", "joint43"} {
		id, _ := m.Joint(j)
		q[id] += 0.3
	}
	for _, j := range []string{"joint14", "joint34"} {
		id, _ := m.Joint(j)
		q[id] -= 0.3
	}
	down := h.stand(q, feet, nil, base)
	if down == nil {
		t.Fatal("feet that moved apart do not put the robot down")
	}
	if up := down.R.MulVec(spatial.Vec3{Z: 1}); up.Z < 0.9 {
		t.Errorf("it lies: its back points along %v", up)
	}
}
