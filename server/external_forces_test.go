package server_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
)

// TestExternalForcesOnTheGraph: what `external_forces` tells of a pony that stands in physics is what the engine has: of each joint in the
// order of joint_states, a band of friction and three deviations; of each limb the force of the floor, as far as friction leaves it known, where
// it acts; on the whole robot its weight. A push on the head is on the neck, and unexplained at the tip that it is beside.
func TestExternalForcesOnTheGraph(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, heavy(t, ""))
		time.Sleep(2 * time.Second)
		b.must("/switch_cycle", &poisemsgs.SwitchCycleRequest{Cycle: 1})
		time.Sleep(2 * time.Second)
		names := next[msgs.JointState](b, b.subscribe("/joint_states")).Name
		f := next[poisemsgs.ExternalForces](b, b.subscribe("/external_forces"))
		wholeForces(t, &f, names)

		truth := b.physicsNow()
		weight := 9.81 * truth.Mass
		if z := f.Base.Force.Z; math.Abs(z-weight) > 0.03*weight || math.Hypot(f.Base.Force.X, f.Base.Force.Y) > 0.03*weight {
			t.Errorf("the world pushes a pony of %.1f N with %+v", weight, f.Base.Force)
		}
		for i, limb := range f.Limb {
			if !strings.HasPrefix(limb, "leg") {
				continue
			}
			link, load, at := "bone"+limb[3:]+"5", 0.0, 0.0 // leg1 stands on bone15
			for _, c := range truth.Contacts {
				if c.Link == link {
					load, at = load+c.Force.Z, at+c.Force.Z*c.Point.X
				}
			}
			off, told := math.Abs(f.Wrench[i].Force.Z-load), f.ForceDoubt[i].Z+3*f.ForceSigma[i].Z
			if off > math.Max(1, load/5)+told || load < 2 {
				t.Errorf("%s carries %.2f N and feels %.2f N, of which %.2f N are uncertain", limb, load, f.Wrench[i].Force.Z, told)
			}
			if p := f.Point[i]; math.Abs(p.Z) > 0.01 || math.Abs(p.X-at/load) > 0.04 {
				t.Errorf("%s stands at %+v, and the floor pushes at x = %.3f", limb, p, at/load)
			}
		}

		const push = 6.0 // N down on the head, beside its tip
		head, neck := slices.Index(f.Limb, "head"), slices.Index(f.Name, "joint51")
		if x := math.Abs(f.External[neck]); x > f.Band[neck] || f.Unexplained[head] > 0.05 {
			t.Errorf("nothing touches the head: %g ± %g N·m on the neck, %g N·m unexplained", x, f.Band[neck], f.Unexplained[head])
		}
		b.must("/physics/push", &poisemsgs.PhysicsPushRequest{Link: "bone54", Force: msgs.Vector3{Z: -push}, Duration: 2})
		time.Sleep(time.Second)
		f = next[poisemsgs.ExternalForces](b, b.subscribe("/external_forces"))
		wholeForces(t, &f, names)
		if f.External[neck] > -f.Band[neck] || f.Momentum[neck] > -f.Band[neck] || f.Servo[neck] < 0 {
			t.Errorf("pushed down: %g, by the observer %g ± %g N·m on the neck, whose servo gives %g", f.External[neck], f.Momentum[neck], f.Band[neck], f.Servo[neck])
		}
		if f.Unexplained[head] < 0.1 {
			t.Errorf("a push beside the tip of the head leaves %g N·m unexplained", f.Unexplained[head])
		}
	})
}

// wholeForces asks that a message has all of its columns, in order, finite and consistent.
func wholeForces(t *testing.T, f *poisemsgs.ExternalForces, names []string) {
	t.Helper()
	if !reflect.DeepEqual(f.Name, names) {
		t.Errorf("forces of %v, joints are %v", f.Name, names)
	}
	for _, column := range [][]float64{f.Servo, f.External, f.Momentum, f.Residual, f.Beyond, f.Sigma, f.Friction, f.Band} {
		if len(column) != len(names) {
			t.Fatalf("%d values of %d joints", len(column), len(names))
		}
	}
	feels := 0
	for i := range names {
		if !f.Valid[i] {
			continue
		}
		feels++
		if x := f.Servo[i] + f.External[i] + f.Momentum[i] + f.Residual[i] + f.Beyond[i]; x-x != 0 || !(f.Sigma[i] > 0) || f.Friction[i] < 0 {
			t.Errorf("%s: servo %g, external %g, momentum %g, residual %g, beyond %g, sigma %g, friction %g", names[i], f.Servo[i], f.External[i], f.Momentum[i], f.Residual[i], f.Beyond[i], f.Sigma[i], f.Friction[i])
		}
		if want := f.Friction[i] + 3*f.Sigma[i]; math.Abs(f.Band[i]-want) > 1e-12 {
			t.Errorf("%s: band %g, want %g", names[i], f.Band[i], want)
		}
	}
	if n := len(f.Limb); feels < 20 || len(f.Felt) != n || len(f.Wrench) != n || len(f.Point) != n || len(f.ForceSigma) != n || len(f.ForceDoubt) != n || len(f.Unexplained) != n || len(f.LeastLever) != n {
		t.Errorf("%d joints feel; columns of %d limbs: %+v", feels, n, f)
	}
}
