package stage

import (
	"math"
	"testing"

	"poise/control"
	"poise/spatial"
)

// TestReferencesChangeTheirKind: a leg in the air is led by its joints, then by its point, by its joints
// again, and stretched until it is nearly straight: nothing jumps, and it gets where it is to be.
func TestReferencesChangeTheirKind(t *testing.T) {
	r := newRig(t, "pony", Config{})
	r.watch(10, nil)
	start, leg := r.want.Base.Pose.P, r.chain("leg1")
	r.watch(120, func(k int) {
		x := math.Min(float64(k)/100, 1)
		r.want.Base.Pose.P = start.Add(spatial.Vec3{X: -0.02, Y: -0.02}.Scale(x * x * (3 - 2*x)))
	})
	r.want.Support[leg].Weight = 0
	r.watch(60, nil)
	if r.s.feet[leg].share != 0 {
		t.Fatalf("it stands: %+v", r.s.Limbs[leg])
	}
	tip := r.s.kin.At(r.m.Chains()[leg].VirtualTip)
	from := r.s.kin.Pose(tip)
	lead := func(up float64) {
		X := from
		X.P.Z += up
		r.want.Limb[leg] = control.LimbRef{Pose: X, Has: true}
	}
	high := func() float64 { return r.s.kin.Pose(tip).P.Z - from.P.Z }
	r.watch(120, func(k int) { lead(math.Min(float64(k)*0.0003, 0.02)) })
	if !r.s.Limbs[leg].Point || math.Abs(high()-0.02) > 1e-3 {
		t.Errorf("led by its point (%v) it is %.4f m high", r.s.Limbs[leg].Point, high())
	}
	r.want.Limb[leg].Has = false
	r.watch(120, nil)
	if r.s.Limbs[leg].Point || math.Abs(high()) > 5e-3 {
		t.Errorf("led by its joints (%v) it is %.4f m high", !r.s.Limbs[leg].Point, high())
	}
	joints := 0
	r.watch(200, func(k int) {
		lead(-float64(k) * 0.0003) // beyond its length
		if !r.s.Limbs[leg].Point {
			joints++
		}
	})
	t.Logf("led to %.1f mm, by its joints in %d of 200 ticks, and is %.1f mm high", -60.0, joints, 1e3*high())
	if joints < 20 || r.s.State.Status != Served {
		t.Errorf("stretched beyond its length it is led by its joints in %d ticks: %+v", joints, r.s.State)
	}
}

// TestPointsAndPoses: of a leg in the air whose hoof is asked to turn by its joints the point is where it is to be in both kinds of
// reference; by its pose the hoof does not turn, by its point it does, and the reference says which, from tick to tick.
func TestPointsAndPoses(t *testing.T) {
	for _, order := range []string{"default", "seed"} {
		r := newRig(t, "pony", Config{Order: order})
		r.watch(10, nil)
		start, leg := r.want.Base.Pose.P, r.chain("leg1")
		r.watch(120, func(k int) {
			x := math.Min(float64(k)/100, 1)
			r.want.Base.Pose.P = start.Add(spatial.Vec3{X: -0.02, Y: -0.02}.Scale(x * x * (3 - 2*x)))
		})
		r.want.Support[leg].Weight = 0
		r.watch(60, nil)
		tip := r.s.kin.At(r.m.Chains()[leg].VirtualTip)
		from, hoof := r.s.kin.Pose(tip), r.s.kin.At(r.m.Chains()[leg].Tip)
		first, _ := r.s.models[r.m.Chains()[leg].Contact].Origin()
		place := func() spatial.Vec3 { return r.s.kin.Pose(hoof).Apply(first) }
		high := place().Z
		ankle, _ := r.m.Joint("joint14")
		rest := r.want.Q[ankle]
		turns := func(point bool) float64 {
			was := r.s.kin.Pose(hoof).R
			r.want.Point[leg] = point
			r.watch(250, func(k int) {
				r.want.Q[ankle] = rest + 0.3*math.Min(float64(k)/100, 1)
				X := from
				X.P.Z += 0.015
				r.want.Limb[leg] = control.LimbRef{Pose: X, Has: true}
			})
			return was.Transpose().Mul(r.s.kin.Pose(hoof).R).Quat().Log().Norm()
		}
		pose := turns(false)
		off := math.Abs(place().Z - high - 0.015)
		point := turns(true)
		off = math.Max(off, math.Abs(place().Z-high-0.015))
		back := turns(false)
		t.Logf("%s: by its pose the hoof turns by %.4f rad, by its point by %.4f, and back by %.4f; the point is %.2f mm off", order, pose, point, back, 1e3*off)
		if pose > 0.01 || point < 0.05 || math.Abs(back-point) > 0.01 || off > 1e-3 || r.s.State.Status != Served {
			t.Errorf("%s: by its pose the hoof turns by %g rad, by its point by %g, and back by %g; the point is %g m off: %+v", order, pose, point, back, off, r.s.State)
		}
	}
}

// TestTheCentreOfMassIsLed in place of the base's origin: of a body that sways it is where that of the
// command is, while the head swings.
func TestTheCentreOfMassIsLed(t *testing.T) {
	for _, asked := range []bool{false, true} { // by configuration, and by the command
		r := newRig(t, "pony", Config{Com: !asked})
		r.want.Com = asked
		r.ledByItsCentre(t)
		if asked { // and back to the base's origin at run time
			r.want.Com = false
			r.watch(150, nil)
			if off := r.c.Base.Pose.P.Sub(r.want.Base.Pose.P).Norm(); off > 1e-3 || r.s.r.HasCom {
				t.Errorf("the base is %g m off, led by its origin", off)
			}
		}
	}
}

func (r *rig) ledByItsCentre(t *testing.T) {
	t.Helper()
	start := r.want.Base.Pose.P
	neck, _ := r.m.Joint("joint52")
	worst := 0.0
	r.watch(200, func(k int) {
		at := float64(k) * period
		grow := math.Min(at, 1)
		r.want.Base.Pose.P = start.Add(spatial.Vec3{X: 0.01 * grow * math.Sin(2*at), Y: 0.015 * grow * math.Sin(3*at)})
		r.want.Q[neck] = 0.2 * grow * math.Sin(2.5*at)
		if k > 20 {
			com, _ := r.s.asks.Com()
			worst = math.Max(worst, com.Sub(r.s.com).Norm())
		}
	})
	t.Logf("within %.2f mm", 1e3*worst)
	if worst > 0.006 || r.s.State.Status != Served {
		t.Errorf("the centre of mass is %g m off: %+v", worst, r.s.State)
	}
}
