package stage

import (
	"math"
	"strings"
	"testing"

	"poise/control"
	"poise/spatial"
	"poise/wholebody"
)

// own is the list of levels that docs/wholebody.md shows.
var own = []Level{
	{"dynamics", []string{"dynamics"}},
	{"contacts", []string{"contacts", "orientation"}},
	{"safety", []string{"limits", "friction", "zmp", "capture"}},
	{"body", []string{"base"}},
	{"limbs", []string{"posture", "limbs"}},
	{"rest", []string{"regularisation"}},
}

// TestLevelsOfOnesOwn drive a robot: it sways where it is to, stops over its feet, and its levels are the list's.
func TestLevelsOfOnesOwn(t *testing.T) {
	r := newRig(t, "pony", Config{Levels: own})
	start := r.want.Base.Pose.P
	r.watch(20, nil)
	worst := 0.0
	r.watch(200, func(k int) {
		at := float64(k) * period
		r.want.Base.Pose.P = start.Add(spatial.Vec3{Y: 0.01 * math.Sin(2*at)})
		if k > 50 {
			worst = math.Max(worst, r.c.Base.Pose.P.Sub(r.want.Base.Pose.P).Norm())
		}
	})
	if len(r.s.Levels) != len(own) {
		t.Fatalf("%d levels, want %d", len(r.s.Levels), len(own))
	}
	for i, l := range r.s.Levels {
		if l.Name != own[i].Name || l.Safety != (i < 3) {
			t.Errorf("level %d is %q, safety %v", i, l.Name, l.Safety)
		}
	}
	t.Logf("within %.2f mm", 1e3*worst)
	if worst > 0.004 || r.s.State.Status != Served {
		t.Errorf("%g m off: %+v", worst, r.s.State)
	}
	r.watch(100, func(k int) { r.want.Base.Pose.P.Y = start.Y + math.Min(0.002*float64(k), 0.12) })
	if off := r.c.Base.Pose.P.Y - start.Y; off > 0.05 || !r.s.State.Prevented || r.s.State.Status != Served {
		t.Errorf("%g m to the side: %+v", off, r.s.State)
	}
}

// TestAZeroMomentPointIsFollowed: where the owner of the base gives one, the forces of the answer have it there, the base's
// plane comes after; without one it follows from the base again.
func TestAZeroMomentPointIsFollowed(t *testing.T) {
	for _, order := range []string{"default", "seed"} {
		r := newRig(t, "pony", Config{Order: order})
		r.watch(20, nil)
		com := r.s.com
		worst, served := 0.0, false
		r.watch(30, func(k int) {
			at := float64(k) * period
			if k > 0 {
				worst = math.Max(worst, math.Hypot(r.zmp().X-r.want.ZMP.X, r.zmp().Y-r.want.ZMP.Y))
			}
			r.want.ZMP = control.ZMPRef{X: com.X + 0.004*math.Sin(20*at), Y: com.Y + 0.006*math.Sin(15*at), Has: true}
			for _, l := range r.s.Levels {
				served = served || l.Name == "zmp_trajectory" && l.Residual < 1e-6 && !l.Asked.Empty()
			}
		})
		t.Logf("%s: within %.1e m", order, worst)
		if worst > 1e-6 || !served || r.s.State.Status != Served {
			t.Errorf("%s: %g m off, served %v: %+v", order, worst, served, r.s.State)
		}
		r.want.ZMP = control.ZMPRef{}
		r.watch(200, nil)
		if off := r.c.Base.Pose.P.Sub(r.want.Base.Pose.P).Norm(); off > 1e-3 || r.s.r.HasZMP {
			t.Errorf("%s: the base is %g m off without one", order, off)
		}
		r.want.ZMP = control.ZMPRef{X: math.NaN(), Has: true}
		r.watch(5, nil)
		if r.s.State.Status != Slowing || r.s.State.Why != BadInput {
			t.Errorf("%s, NaN: %+v", order, r.s.State)
		}
	}
}

// zmp is that of the forces and moments of the answer.
func (r *rig) zmp() (p spatial.Vec3) {
	sum := 0.0
	for _, f := range r.s.Forces(nil) {
		p.X, p.Y, sum = p.X+f.Point.X*f.Force.Z-f.Torque.Y, p.Y+f.Point.Y*f.Force.Z+f.Torque.X, sum+f.Force.Z
	}
	return p.Scale(1 / sum)
}

// TestLevelsOfWalks: where steps are planned limbs come before the base, and how fast torques change behind its first level.
func TestLevelsOfWalks(t *testing.T) {
	for order, want := range map[wholebody.Order]string{
		wholebody.Default: "dynamics contacts orientation limits capture posture zmp_trajectory limbs base_height_tilt torque_rate base_plane regularisation",
		wholebody.Seed:    "dynamics contacts limits friction zmp capture zmp_trajectory limbs base torque_rate regularisation",
	} {
		var have []string
		for _, l := range limbsFirst(order.Levels()) {
			have = append(have, l.Name)
		}
		if got := strings.Join(have, " "); got != want {
			t.Errorf("%v: %s, want %s", order, got, want)
		}
	}
}
