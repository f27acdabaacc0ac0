package kinematics

import (
	"poise/robot"
	"poise/spatial"
)

// Place is a frame fixed on a body: a link's own, or any offset from it.
type Place struct {
	Body robot.BodyID
	Pose spatial.Pose // X_BF
}

// At returns the frame id as a Place.
func (d *Data) At(id robot.FrameID) Place {
	f := &d.m.Frames()[id]
	return Place{Body: f.Body, Pose: f.Pose}
}

// Offset returns the place that stands at X_FG from p, such as a tool tip.
func (p Place) Offset(X_FG spatial.Pose) Place {
	return Place{Body: p.Body, Pose: p.Pose.Mul(X_FG)}
}

// BodyPose returns X_WB, the pose of a body.
func (d *Data) BodyPose(b robot.BodyID) spatial.Pose {
	d.need(position, "BodyPose")
	i := d.at(b)
	X := d.pose[i]

	// turn back what the hinge has turned
	s, c := d.joint[i].sin, d.joint[i].cos
	for k := 0; k < 9; k += 3 {
		X.R[k], X.R[k+1] = c*X.R[k]-s*X.R[k+1], c*X.R[k+1]+s*X.R[k]
	}
	return X
}

// Pose returns X_WF.
func (d *Data) Pose(p Place) spatial.Pose { return d.BodyPose(p.Body).Mul(p.Pose) }

// lever returns the way from the origin of the body in slot b to that of the
// place, world axes.
func (d *Data) lever(b int, p Place) spatial.Vec3 {
	s, c := d.joint[b].sin, d.joint[b].cos
	x, y := p.Pose.P.X, p.Pose.P.Y
	return d.pose[b].R.MulVec(spatial.Vec3{X: c*x + s*y, Y: c*y - s*x, Z: p.Pose.P.Z})
}

// Twist returns the velocity of the place: its origin's, and how it turns; world
// axes.
func (d *Data) Twist(p Place) spatial.Twist {
	d.need(velocity, "Twist")
	b := d.at(p.Body)
	return d.twist[b].At(d.lever(b, p))
}

// Acceleration returns the acceleration of the place: the second derivative of
// its origin's position, and the derivative of its angular velocity; world axes,
// without gravity.
func (d *Data) Acceleration(p Place) spatial.Twist {
	d.need(acceleration, "Acceleration")
	b := d.at(p.Body)
	r := d.lever(b, p)
	ω := d.twist[b].Angular
	A := d.accel[b].At(r)
	A.Linear = A.Linear.Add(ω.Cross(ω.Cross(r)))
	return A
}

// WrenchOnBody turns a wrench that acts at the place, torque about its origin
// and in world axes, into the form dynamics takes: about the origin of the body
// and in its axes.
func (d *Data) WrenchOnBody(p Place, w spatial.Wrench) spatial.Wrench {
	R_BW := d.BodyPose(p.Body).R.Transpose()
	return w.In(R_BW).At(p.Pose.P.Neg())
}
