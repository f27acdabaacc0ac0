package server

import (
	"math"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/loop"
	"poise/robot/load"
	"poise/servo"
	"poise/spatial"
)

// snapshotOf returns a robot that stands in its rest pose: measured and commanded differ
// by where the base is.
func snapshotOf(t *testing.T, name string) (*posture, *loop.Snapshot) {
	t.Helper()
	r, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	n, chains := len(m.Joints()), len(m.Chains())
	now := &loop.Snapshot{Command: control.NewMotion(n, chains, 0), Measured: control.NewMeasured(n, chains, servo.Sensors{})}
	copy(now.Command.Q, m.RestPositions())
	copy(now.Measured.Q, m.RestPositions())
	for i, c := range m.Chains() {
		now.Command.Support[i] = control.Support{Weight: 1, Contact: c.Contact}
		now.Measured.Support[i] = now.Command.Support[i]
	}
	ground, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	X, _ := ground.Settle(now.Command.Q, ground.DefaultFeetTo(nil))
	now.Command.Base = control.BaseRef{Pose: X, Has: true}
	X.P.X += 1
	now.Measured.Base = control.BaseRef{Pose: X, Has: true}
	return &posture{model: m}, now
}

// TestWhatIsAskedForAgreesWithWhatIsTold: the base for the joints that are there is the
// base of the snapshot, and the feet that carry do not move when a joint of the neck does.
func TestWhatIsAskedForAgreesWithWhatIsTold(t *testing.T) {
	p, now := snapshotOf(t, "pony")
	m := p.model
	p.of(m, false, now)
	if p.base.P.X != 1 {
		t.Errorf("a measured robot is at %v", p.base.P)
	}
	p.of(m, true, now)
	if len(p.feet) != 4 || p.base != now.Command.Base.Pose {
		t.Fatalf("it stands on %d feet at %v", len(p.feet), p.base.P)
	}
	near := func(a, b spatial.Pose) bool { return a.P.Sub(b.P).Norm() < 1e-6 }
	joints := m.RestPositions()
	for _, by := range []float64{0, 0.3} {
		neck, _ := m.Joint("joint52")
		joints[neck] += by
		if got, err := p.with(joints); err != nil || !near(got, p.base) {
			t.Errorf("with the neck at %g the base is at %v, told it was at %v", joints[neck], got.P, p.base.P)
		}
	}
	leg, _ := m.Chain("leg1")
	now.Command.Support[leg].Weight = 0
	if p.of(m, true, now); len(p.feet) != 3 {
		t.Errorf("with a hoof in the air it stands on %d feet", len(p.feet))
	}
}

// TestABoltedRobotStaysWhereItIs: there is no base to be found.
func TestABoltedRobotStaysWhereItIs(t *testing.T) {
	p, now := snapshotOf(t, "arm6")
	p.of(p.model, true, now)
	full := []float64{math.Pi}
	X, err := p.with(p.joints)
	setBase(full, p.model, X)
	if err != nil || X != spatial.IdentityPose || full[0] != math.Pi {
		t.Error("it moved")
	}
}
