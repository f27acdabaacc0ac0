package walk

import (
	"math"

	"poise/control"
	"poise/gait"
	"poise/spatial"
)

// progress makes up for the way that is lost: feet that slip and legs that lag behind let a body come less
// far than planned, and odometry sees it. What is missing is added to the velocity, as headings are led back.
type progress struct {
	known             bool
	measured, planned spatial.Pose // of the base, a tick ago
	missing           gait.Point   // way that was commanded and not made, m, in the axes of the measurement
	added             gait.Velocity
}

// Feedback of the way.
const (
	progressGain  = 0.5  // 1/s
	progressShare = 0.25 // of the commanded speed that is added at most
	progressFar   = 0.05 // m that is made up for at most: what was lost longer ago is lost
	progressJump  = 0.05 // m in a tick: the base was put elsewhere
)

// follow notes how the measured base leaves the planned one in a tick of dt. Loop-safe.
func (p *progress) follow(measured, planned spatial.Pose, dt float64) {
	if !p.known {
		p.known, p.measured, p.planned = true, measured, planned
		return
	}
	R := spatial.TurnZ(math.Atan2(measured.R[3], measured.R[0]))
	made := measured.P.Sub(p.measured.P)
	ahead := spatial.TurnZ(math.Atan2(planned.R[3], planned.R[0])).TMulVec(planned.P.Sub(p.planned.P))
	ahead = R.MulVec(ahead.Sub(spatial.Vec3{X: p.added.X * dt, Y: p.added.Y * dt}))
	p.measured, p.planned = measured, planned
	if math.Hypot(made.X, made.Y) > progressJump || math.Hypot(ahead.X, ahead.Y) > progressJump {
		return
	}
	p.missing.X += ahead.X - made.X
	p.missing.Y += ahead.Y - made.Y
	if far := math.Hypot(p.missing.X, p.missing.Y); far > progressFar {
		p.missing.X, p.missing.Y = p.missing.X*progressFar/far, p.missing.Y*progressFar/far
	}
}

// correct returns what to add to a commanded velocity. Loop-safe.
func (p *progress) correct(v gait.Velocity) gait.Velocity {
	sin, cos := math.Sincos(math.Atan2(p.measured.R[3], p.measured.R[0]))
	x := progressGain * (cos*p.missing.X + sin*p.missing.Y)
	y := progressGain * (cos*p.missing.Y - sin*p.missing.X)
	most := progressShare * math.Hypot(v.X, v.Y)
	if size := math.Hypot(x, y); size > most {
		x, y = x*most/size, y*most/size
	}
	p.added = gait.Velocity{X: x, Y: y}
	return p.added
}

// keepCourse adds to a commanded velocity what brings heading and way back to what was commanded before,
// by what an inertial unit and the odometry say. Loop-safe.
func (c *Controller) keepCourse(input *control.Input, v gait.Velocity) gait.Velocity {
	b := &input.Meas.Base
	if !c.ready || !b.Has || !control.HeardLately(input.Meas.IMU) {
		c.track.known = false
		return v
	}
	yaw, _, _ := c.plan.Yaw(0)
	c.course.follow(math.Atan2(b.Pose.R[3], b.Pose.R[0]), yaw)
	c.track.follow(b.Pose, c.body(0).Pose, input.Tick.Dt)
	c.track.added = gait.Velocity{}
	if v != (gait.Velocity{}) && c.plan.Phase() == gait.Walks {
		turn := c.course.correct(input.Tick.Dt)
		more := c.track.correct(v)
		v = gait.Velocity{X: v.X + more.X, Y: v.Y + more.Y, Yaw: v.Yaw + turn}
	}
	return v
}
