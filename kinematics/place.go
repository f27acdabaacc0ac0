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
	return d.pose[d.at(b)]
}

// Pose returns X_WF.
func (d *Data) Pose(p Place) spatial.Pose {
	d.need(position, "Pose")
	return d.pose[d.at(p.Body)].Mul(p.Pose)
}

// Twist returns the velocity of the place: its origin's, and how it turns; world
// axes.
func (d *Data) Twist(p Place) spatial.Twist {
	d.need(velocity, "Twist")
	b := d.at(p.Body)
	return d.twist[b].At(d.pose[b].R.MulVec(p.Pose.P))
}

// Acceleration returns the acceleration of the place: the second derivative of
// its origin's position, and the derivative of its angular velocity; world axes,
// without gravity.
func (d *Data) Acceleration(p Place) spatial.Twist {
	d.need(acceleration, "Acceleration")
	b := d.at(p.Body)
	r := d.pose[b].R.MulVec(p.Pose.P)
	ω := d.twist[b].Angular
	A := d.accel[b].At(r)
	A.Linear = A.Linear.Add(ω.Cross(ω.Cross(r)))
	return A
}

// WrenchOnBody turns a wrench that acts at the place, torque about its origin
// and in world axes, into the form dynamics takes: about the origin of the body
// and in its axes.
func (d *Data) WrenchOnBody(p Place, w spatial.Wrench) spatial.Wrench {
	d.need(position, "WrenchOnBody")
	R_BW := d.pose[d.at(p.Body)].R.Transpose()
	return w.In(R_BW).At(p.Pose.P.Neg())
}
