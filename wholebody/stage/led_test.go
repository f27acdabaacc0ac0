package stage

import (
	"math"
	"testing"

	"poise/control"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/spatial"
)

// TestFeetThatStandAreLed: a foot that stands is held where it stands, whatever its limb is asked for; one whose owner plans the balance and says that it is led
// moves as it is asked to, 12 mm up and 0.1 rad round in half a second, while the body and the other feet stay. Not led any more it is held there.
func TestFeetThatStandAreLed(t *testing.T) {
	for _, led := range []bool{false, true} {
		r := newRig(t, "pony", Config{})
		for i := range r.want.Support {
			r.want.Support[i].Planned = true
		}
		leg := r.chain("leg1")
		chain := &r.m.Chains()[leg]
		data := kinematics.NewData(r.m)
		q := make([]float64, r.m.NumQ())
		tips := func(of *control.Motion) (all []spatial.Pose) {
			X, R := of.Base.Pose.P, of.Base.Pose.R.Quat()
			copy(q, []float64{X.X, X.Y, X.Z, R.X, R.Y, R.Z, R.W})
			for i, j := range r.m.Joints() {
				q[j.Q] = of.Q[i]
			}
			data.UpdatePosition(q)
			for i := range r.m.Chains() {
				all = append(all, data.Pose(data.At(r.m.Chains()[i].VirtualTip)))
			}
			return all
		}
		start := tips(&r.want)
		solver, err := ik.New(r.m, ik.Options{MaxIterations: 10, MaxRestarts: 1}, chain.Joints, chain.VirtualTip)
		if err != nil {
			t.Fatal(err)
		}
		const seconds, up, turn = 0.5, 0.012, 0.1
		var X spatial.Pose
		r.watch(80, func(k int) {
			s := min(float64(k)*period/seconds, 1)
			p, v, a := s*s*s*(10-15*s+6*s*s), 30*s*s*(1-s)*(1-s)/seconds, 60*s*(1-s)*(1-2*s)/(seconds*seconds)
			X = spatial.Pose{R: spatial.AxisAngle(spatial.Vec3{Y: 1}, turn*p).Mul(start[leg].R), P: start[leg].P.Add(spatial.Vec3{Z: up * p})}
			r.want.Limb[leg] = control.LimbRef{Has: true, Pose: X, Twist: spatial.Twist{Linear: X.R.TMulVec(spatial.Vec3{Z: up * v}), Angular: X.R.TMulVec(spatial.Vec3{Y: turn * v})},
				Acceleration: spatial.Twist{Linear: X.R.TMulVec(spatial.Vec3{Z: up * a}), Angular: X.R.TMulVec(spatial.Vec3{Y: turn * a})}}
			r.want.Support[leg].Led = led && k < 70
			if !led {
				return
			}
			tips(&r.want) // fills in q
			if got := solver.PoseTo(q, X, q); got.Status != ik.Solved {
				t.Fatalf("%v is not reached: %+v", X, got)
			}
			for _, j := range chain.Joints { // as a controller of legs does: also the joint that no servo moves
				x := q[r.m.Joints()[j].Q]
				r.want.V[j], r.want.Q[j] = (x-r.want.Q[j])/period, x
			}
		})
		to := start[leg]
		if led {
			to = X
		}
		now := tips(&r.c)
		off, turned := now[leg].P.Sub(to.P).Norm(), now[leg].R.Transpose().Mul(to.R).Quat().Log().Norm()
		t.Logf("%s led %v: %.2g m and %.2g rad off, body %.2g m off; %+v", chain.Name, led, off, turned, r.c.Base.Pose.P.Sub(r.want.Base.Pose.P).Norm(), r.s.State)
		if off > 5e-4 || turned > 5e-3 {
			t.Errorf("led %v: the foot is %g m and %g rad off", led, off, turned)
		}
		if by := r.c.Base.Pose.P.Sub(r.want.Base.Pose.P).Norm(); by > 5e-4 || math.IsNaN(by) {
			t.Errorf("led %v: the body is %g m off", led, by)
		}
		for i := range now {
			if d := now[i].P.Sub(start[i].P).Norm(); i != int(leg) && r.m.Chains()[i].Contact >= 0 && d > 1e-3 {
				t.Errorf("led %v: %s moves by %g m", led, r.m.Chains()[i].Name, d)
			}
		}
	}
}
