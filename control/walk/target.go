package walk

import (
	"math"

	"poise/contact"
	"poise/control"
	"poise/gait"
	"poise/robot"
	"poise/spatial"
)

// Target is a place to walk to, of the base, on the ground of the odometry.
type Target struct {
	At      gait.Point `json:"at"`       // m
	Yaw     float64    `json:"yaw"`      // rad
	Speed   float64    `json:"speed"`    // m/s at most; 0 is what the gait can do
	Near    float64    `json:"near"`     // m from it that count as there
	NearYaw float64    `json:"near_yaw"` // rad
}

// Step is a place for one foot, given beforehand.
type Step struct {
	Chain robot.ChainID `json:"chain"`
	At    gait.Point    `json:"at"` // of its sole, m, on the ground of the odometry
	Yaw   float64       `json:"yaw"`
}

// Remaining returns how far a base is from a place, m, and how far it has to turn, rad, to the left.
func (t *Target) Remaining(X spatial.Pose) (way, turn float64) {
	yaw := math.Atan2(X.R[3], X.R[0])
	return math.Hypot(t.At.X-X.P.X, t.At.Y-X.P.Y), math.Remainder(t.Yaw-yaw, 2*math.Pi)
}

// How a place is walked to.
const (
	targetGain = 1.0  // 1/s
	turnGain   = 1.2  // 1/s
	lookAhead  = 0.35 // m: further away it looks where it goes
)

// where returns the base as it is measured; without odometry as it is planned.
func (c *Controller) where(input *control.Input) spatial.Pose {
	if b := &input.Meas.Base; b.Has {
		return b.Pose
	}
	return c.body(0).Pose
}

// toward returns the velocity that leads to a place; zero is there. Loop-safe.
func (c *Controller) toward(input *control.Input, t *Target) (v gait.Velocity) {
	X := c.where(input)
	distance, turn := t.Remaining(X)
	if distance <= t.Near && math.Abs(turn) <= t.NearYaw {
		return v
	}
	yaw := math.Atan2(X.R[3], X.R[0])
	dx, dy := t.At.X-X.P.X, t.At.Y-X.P.Y
	if distance > lookAhead {
		turn = math.Remainder(math.Atan2(dy, dx)-yaw, 2*math.Pi)
	}
	sin, cos := math.Sincos(yaw)
	most := t.Speed
	if most == 0 {
		most = c.plan.Fastest()
	}
	speed := min(targetGain*distance, most)
	if distance <= t.Near/2 {
		speed = 0
	}
	if distance > 0 {
		v.X, v.Y = speed*(cos*dx+sin*dy)/distance, speed*(cos*dy-sin*dx)/distance
	}
	v.Yaw = min(max(turnGain*turn, -most/c.arm), most/c.arm)
	return v
}

// placeSteps moves footsteps from the ground of the odometry to that of the plan, and refuses those out of reach: further
// from the place of a foot under a body in the middle of all feet than a foot is put down, or turned further than a leg does.
func (c *Controller) placeSteps(input *control.Input, k *posture) control.Reason {
	given := k.program.Steps
	if len(given) > len(k.steps) {
		return control.BadValue.At(robot.NoJoint, float64(len(given)), float64(len(k.steps)))
	}
	measured := k.from
	if b := &input.Meas.Base; b.Has {
		measured = b.Pose
	}
	measured, planned := contact.Level(measured), contact.Level(k.from)
	measured.P.Z, planned.P.Z = 0, 0
	move := planned.Mul(measured.Inverse())
	turn := math.Atan2(move.R[3], move.R[0])
	copy(c.places, k.feet)
	for i := range c.turns {
		c.turns[i] = k.yaw
	}
	n := float64(len(c.legs))
	for i, s := range given {
		leg := c.legOf(s.Chain)
		if leg < 0 {
			return control.Because(control.BadProgram)
		}
		at := move.Apply(spatial.Vec3{X: s.At.X, Y: s.At.Y})
		k.steps[i] = gait.Footstep{Leg: leg, At: gait.Point{X: at.X, Y: at.Y}, Yaw: c.turns[leg] + math.Remainder(s.Yaw+turn-c.turns[leg], 2*math.Pi)}
		body := k.yaw // before the step: the foot comes down before the body has turned
		for l := range c.turns {
			body += (c.turns[l] - k.yaw) / n
		}
		turned, most := k.steps[i].Yaw-body, c.legs[leg].turns[1]
		if turned < 0 {
			turned, most = -turned, c.legs[leg].turns[0]
		}
		if !(turned <= most) {
			return control.LimbUnreachable.At(c.legs[leg].joints[0], turned, most)
		}
		c.places[leg], c.turns[leg] = k.steps[i].At, k.steps[i].Yaw
		var middle gait.Point
		yaw := k.yaw
		for l := range c.places {
			middle.X += c.places[l].X / n
			middle.Y += c.places[l].Y / n
			yaw += (c.turns[l] - k.yaw) / n
		}
		under := spatial.TurnZ(yaw).TMulVec(spatial.Vec3{X: at.X - middle.X, Y: at.Y - middle.Y})
		if d := math.Hypot(under.X-c.nominal[leg].X, under.Y-c.nominal[leg].Y); !(d <= c.reach) {
			return control.LimbUnreachable.At(c.legs[leg].joints[0], d, c.reach)
		}
	}
	return control.Because(control.OK)
}

// legOf returns which leg a chain is, −1 if it is not a leg.
func (c *Controller) legOf(chain robot.ChainID) int {
	for i := range c.legs {
		if c.legs[i].chain == chain {
			return i
		}
	}
	return -1
}

// over reports whether a place was reached, or all footsteps are taken, and it stands. A walk by velocities
// goes on for ever.
func (c *Controller) over(input *control.Input) bool {
	p := c.run.program
	if !c.ready || !c.Stands() {
		return false
	}
	switch {
	case p.To != nil:
		way, turn := p.To.Remaining(c.where(input))
		return way <= p.To.Near && math.Abs(turn) <= p.To.NearYaw
	case len(p.Steps) > 0:
		return c.plan.Left() == 0
	}
	return false
}

// stepNear is how far from its last footstep a foot may stand that was pushed on its way, m.
const stepNear = 0.008

// missed says which foot stands beside its last footstep because the robot was pushed.
func (c *Controller) missed() control.Reason {
	steps := c.run.steps[:len(c.run.program.Steps)]
	if !c.disturbed {
		steps = nil
	}
	for i := range c.legs {
		for k := len(steps) - 1; k >= 0; k-- {
			s := &steps[k]
			if s.Leg != i {
				continue
			}
			m, _, _, _ := c.plan.Foot(i, 0)
			if far := math.Hypot(m.P.X-s.At.X, m.P.Y-s.At.Y); far > stepNear {
				return control.LimbUnreachable.At(c.legs[i].joints[0], far, stepNear)
			}
			break
		}
	}
	return control.Because(control.OK)
}
