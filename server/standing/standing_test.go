package standing

import (
	"math"
	"testing"

	"poise/control"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

func model(t *testing.T, name string) *robot.Model {
	t.Helper()
	r, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

// pony stands on all of its feet.
func pony(t *testing.T) (*robot.Model, *Standing, []control.Support) {
	t.Helper()
	m := model(t, "pony")
	s, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	supports := make([]control.Support, len(m.Chains()))
	for i := range supports {
		supports[i] = control.Support{Weight: 1}
	}
	return m, s, supports
}

// TestWhatIsAskedForAgreesWithWhatIsTold: Settle of the joints that are there is the base
// that Update told, and the feet that carry do not move when a joint of the neck does.
func TestWhatIsAskedForAgreesWithWhatIsTold(t *testing.T) {
	m, s, supports := pony(t)
	q := m.RestPositions()
	base := s.Update(q, supports, true)
	if len(s.Feet()) != 4 || s.Balance(q, base).Margin <= 0 {
		t.Fatalf("it stands on %d feet with a margin of %g m", len(s.Feet()), s.Balance(q, base).Margin)
	}
	near := func(a, b spatial.Pose) bool { return a.P.Sub(b.P).Norm() < 1e-6 }
	if got := s.Settle(q); !near(got, base) {
		t.Errorf("asked for, the base is at %v, told it was at %v", got.P, base.P)
	}
	neck, _ := m.Joint("joint52")
	q[neck] += 0.3
	if got := s.Settle(q); !near(got, base) {
		t.Errorf("the neck moves the base to %v", got.P)
	}
}

// TestABoltedRobotStaysWhereItIs: there is no base to be found out.
func TestABoltedRobotStaysWhereItIs(t *testing.T) {
	m := model(t, "arm6")
	s, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	q := m.RestPositions()
	full := []float64{math.Pi}
	SetBase(full, m, s.Update(q, nil, false))
	if s.Update(q, nil, false) != spatial.IdentityPose || s.Settle(q) != spatial.IdentityPose || full[0] != math.Pi {
		t.Error("it moved")
	}
}

// TestHandsPutDownWhatAMotionLifted: after a motion that ends with a hoof in the air the
// robot is placed in its rest pose, and stands on all four again.
func TestHandsPutDownWhatAMotionLifted(t *testing.T) {
	m, s, supports := pony(t)
	rest, lifted := m.RestPositions(), m.RestPositions()
	s.Update(rest, supports, true)
	leg, _ := m.Chain("leg1")
	knee, _ := m.Joint("joint13")
	supports[leg].Weight = 0
	lifted[knee] += 0.4
	s.Update(lifted, supports, true)
	for range 3 { // the motion is over, nobody has moved it
		if s.Update(lifted, supports, false); len(s.Feet()) != 3 {
			t.Fatalf("with a hoof in the air it stands on %d feet", len(s.Feet()))
		}
	}
	for range 3 {
		base := s.Update(rest, supports, false)
		if len(s.Feet()) != 4 || s.Balance(rest, base).Margin <= 0 {
			t.Fatalf("put down it stands on %d feet with a margin of %g m", len(s.Feet()), s.Balance(rest, base).Margin)
		}
	}
}
