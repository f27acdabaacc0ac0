package control

import (
	"math"
	"testing"

	"poise/internal/legged"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// TestTheCentreOfMassIsAKindOfReference: what a controller asks of the centre of mass becomes the base that has it there, with
// its velocity; without the word it is the base's origin. NaN is refused.
func TestTheCentreOfMassIsAKindOfReference(t *testing.T) {
	m := legged.Pony(t)
	r, err := NewResolver(m)
	if err != nil {
		t.Fatal(err)
	}
	n, chains := len(m.Joints()), len(m.Chains())
	cmd := NewMotion(n, chains, 0)
	copy(cmd.Q, m.RestPositions())
	for j := range cmd.V {
		cmd.V[j] = 0.1 * math.Sin(float64(j))
	}
	input := &Input{Cmd: &cmd}
	want := BaseRef{Pose: spatial.Pose{R: spatial.ExpRotation(spatial.Vec3{X: 0.1, Y: -0.2, Z: 0.7}).Matrix(), P: spatial.Vec3{X: 1, Y: 2, Z: 0.2}}, Has: true,
		Twist: spatial.Twist{Linear: spatial.Vec3{X: 0.1, Y: 0.2, Z: -0.1}, Angular: spatial.Vec3{X: 0.3, Y: -0.1, Z: 0.5}}}
	solve := func(com bool, base BaseRef) (*Reference, Reason) {
		ref := NewReference(n, chains, 64)
		ref.Reset()
		ref.Has, ref.Base, ref.Com = robot.Leaf(r.base), base, com
		return ref, r.Resolve(input, robot.Leaf(r.base), ref)
	}
	ref, why := solve(true, want)
	if why.Code != OK {
		t.Fatal(why)
	}
	d, q, v := kinematics.NewData(m), make([]float64, m.NumQ()), make([]float64, m.NumV())
	R := ref.Base.Pose.R.Quat()
	copy(q, []float64{ref.Base.Pose.P.X, ref.Base.Pose.P.Y, ref.Base.Pose.P.Z, R.X, R.Y, R.Z, R.W})
	l, a := ref.Base.Twist.Linear, ref.Base.Twist.Angular
	copy(v, []float64{l.X, l.Y, l.Z, a.X, a.Y, a.Z})
	for i, j := range m.Joints() {
		q[j.Q], v[j.V] = cmd.Q[i], cmd.V[i]
	}
	d.UpdatePosition(q)
	d.UpdateVelocity(v)
	c, _ := d.Com()
	rate, _ := d.ComVelocity()
	if off := c.Sub(want.Pose.P).Norm(); off > 1e-9 {
		t.Errorf("the centre of mass is %g m off", off)
	}
	if off := rate.Sub(want.Pose.R.MulVec(want.Twist.Linear)).Norm(); off > 1e-9 {
		t.Errorf("its velocity is %g m/s off", off)
	}
	if ref, why := solve(false, want); why.Code != OK || ref.Base != want {
		t.Errorf("the base's origin: %+v, %v", ref.Base, why)
	}
	want.Pose.P.X = math.NaN()
	if _, why := solve(true, want); why.Code != NonFinite {
		t.Errorf("NaN: %v", why)
	}
}
