// Package getup brings a robot that lies back on its feet.
//
// robot.yaml says how, as poses one after the other: those that turn a robot from its left side on its belly, of which the
// right side is the mirror image, and those that raise it from there. Each pose is reached from the one before with a
// quintic, in the time that is declared or longer where limits of joints need it.
//
// An inertial unit tells how it lies. It is looked at between the two parts and at the end: a robot that did not turn, or does
// not stand, is a failure with its tilt.
package getup

import (
	"fmt"
	"math"

	"poise/control"
	"poise/control/pace"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/move"
)

// Controller performs Programs. Make one with New.
type Controller struct {
	limits []move.Limits
	left   []robot.Rise // from a side, as robot.yaml has them
	right  []robot.Rise // and mirrored
	belly  []robot.Rise
	all    robot.Set // joints that move
	stand  float64   // height of the base over its feet in the last pose, m

	data  *kinematics.Data
	index kinematics.Index // of each joint in a configuration
	feet  []kinematics.Place
	soles []spatial.Vec3 // seen from there
	q     []float64      // configuration

	p        *Program
	parts    [2][]robot.Rise // that are performed: on its belly, and up from there
	part     int
	step     int
	rest     float64   // s that it has rested after a part
	from, to []float64 // of each joint, in the present step
	takes    float64   // s, of the present step
	clock    pace.Clock
	passed   float64   // s, of the steps before
	v, a     []float64 // of each joint, at rate 1
}

// Kind declares the controller.
var Kind = control.Kind{Name: "get_up", Short: "brings a robot that lies back on its feet", New: control.NewOf(New), Decode: Decode}

// New returns a controller for a robot whose robot.yaml says how it gets up.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	limits, _, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	g := m.GetUp()
	if len(g.Belly) == 0 {
		return nil, fmt.Errorf("get_up %w: robot.yaml of %s does not say how it gets up", control.ErrUnfit, m.Name())
	}
	n := len(limits)
	c := &Controller{limits: pace.Shared(limits), left: g.Left, right: g.Right, belly: g.Belly, all: joints(g), data: kinematics.NewData(m), index: kinematics.NewIndex(m),
		q: make([]float64, m.NumQ()), from: make([]float64, n), to: make([]float64, n), v: make([]float64, n), a: make([]float64, n)}
	kinematics.NewSpace(m).NeutralTo(c.q)
	for _, chain := range m.Chains() {
		if chain.Contact != robot.NoContact {
			c.feet = append(c.feet, c.data.At(chain.Tip))
			c.soles = append(c.soles, m.Contacts()[chain.Contact].Points[0])
		}
	}
	if len(c.feet) == 0 {
		return nil, fmt.Errorf("get_up %w: %s has nothing to stand on", control.ErrUnfit, m.Name())
	}
	last := c.belly[len(c.belly)-1]
	for k, j := range last.Joints {
		c.q[c.index[j]] = last.Q[k]
	}
	c.stand = c.height(spatial.Vec3{Z: 1})
	return c, nil
}

// height returns how far the base is above the mean of the feet in the configuration q; up is upwards in the axes of the base.
func (c *Controller) height(up spatial.Vec3) (sum float64) {
	c.data.UpdatePosition(c.q)
	for i, f := range c.feet { // the base of q is at the origin
		sum -= c.data.Pose(f).Apply(c.soles[i]).Dot(up)
	}
	return sum / float64(len(c.feet))
}

// How a robot lies.
const (
	standTilt  = 0.35 // rad: one that is tilted less, and
	standShare = 0.75 // of its height over the feet, stands
	bellyUp    = 0.7  // cosine of the tilt up to which it lies on its belly, or stands
	sideUp     = 0.35 // how far its left or right points up at least when it lies on a side
	endTilt    = 0.2  // rad, of one that has got up
	settles    = 0.3  // s after a part until the tilt is looked at
)

// lies finds how the robot lies.
func (c *Controller) lies(input *control.Input) (From, control.Reason) {
	if !control.HeardLately(input.Meas.IMU) {
		return ByUnit, control.Because(control.NoInertialUnit)
	}
	up := upward(input)
	tilt := math.Acos(min(max(up.Z, -1), 1))
	if tilt <= standTilt {
		c.index.ConfigurationTo(c.q, input.Meas.Q)
		if h := c.height(up); h >= standShare*c.stand {
			return ByUnit, control.AlreadyStands.At(robot.NoJoint, h, standShare*c.stand)
		}
	}
	switch {
	case up.Z >= bellyUp:
		return Belly, control.Because(control.OK)
	case up.Y <= -sideUp:
		return Left, control.Because(control.OK)
	case up.Y >= sideUp:
		return Right, control.Because(control.OK)
	}
	return ByUnit, control.OnItsBack.At(robot.NoJoint, tilt, math.Pi/2+math.Asin(sideUp))
}

// upward returns the way up in the axes of the base, by the inertial unit.
func upward(input *control.Input) spatial.Vec3 {
	return input.Meas.Base.Pose.R.TMulVec(spatial.Vec3{Z: 1})
}

// Check refuses a robot that stands, and one that lies otherwise than its poses are for.
func (c *Controller) Check(input *control.Input, p control.Program) control.Reason {
	s, ok := p.(*Program)
	if !ok || s.From > Belly || s.Needs.Intersect(c.all) != c.all {
		return control.Because(control.BadProgram)
	}
	_, why := c.lies(input)
	if s.From != ByUnit && why.Code != control.AlreadyStands { // one that stands would be thrown over, whatever was said
		return control.Because(control.OK)
	}
	return why
}

// Start begins with the first pose.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	c.p = p.(*Program)
	from := c.p.From
	if from == ByUnit {
		from, _ = c.lies(input)
	}
	c.parts = [2][]robot.Rise{nil, c.belly}
	switch from {
	case Left:
		c.parts[0] = c.left
	case Right:
		c.parts[0] = c.right
	}
	c.part, c.step, c.rest, c.passed = 0, 0, 0, 0
	if len(c.parts[0]) == 0 {
		c.part = 1
	}
	copy(c.to, input.Cmd.Q)
	c.begin(min(input.Rate, 1))
	return control.Because(control.OK)
}

// begin starts the present step, at a rate.
func (c *Controller) begin(rate float64) {
	s := &c.parts[c.part][c.step]
	copy(c.from, c.to)
	clear(c.v)
	clear(c.a)
	c.takes = s.In
	for k, j := range s.Joints {
		c.to[j] = s.Q[k]
		d, l := math.Abs(c.to[j]-c.from[j]), &c.limits[j]
		c.takes = max(c.takes, fastest*d/l.VelMax, math.Sqrt(steepest*d/l.AccMax))
	}
	c.clock.Start(rate, 1)
}

// Peaks of a quintic over the unit of time that goes one unit.
const (
	fastest  = 1.875
	steepest = 5.7735026918962576
)

// Update moves on by a tick.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.clock.Step(input.Tick.Dt, input.Rate, c.limits, c.all, c.v, c.a)
	status, why := control.Going, control.Because(control.OK)
	if c.clock.Time >= c.takes {
		status, why = c.arrived(input)
	}
	c.write(out)
	return status, why
}

// arrived goes on with the next step; after the last of a part the robot rests, and how it lies is looked at.
func (c *Controller) arrived(input *control.Input) (control.Status, control.Reason) {
	c.clock.Time = c.takes
	if c.step+1 < len(c.parts[c.part]) {
		c.next(c.part, c.step+1)
		return control.Going, control.Because(control.OK)
	}
	if c.rest += input.Tick.Dt * c.clock.Rate; c.rest < settles {
		return control.Going, control.Because(control.OK)
	}
	most := math.Acos(bellyUp)
	if c.part == 1 {
		most = endTilt
	}
	if control.HeardLately(input.Meas.IMU) {
		if tilt := math.Acos(min(max(upward(input).Z, -1), 1)); tilt > most {
			return control.Failed, control.StillLies.At(robot.NoJoint, tilt, most)
		}
	}
	if c.part == 1 {
		return control.Done, control.Because(control.OK)
	}
	c.next(1, 0)
	return control.Going, control.Because(control.OK)
}

func (c *Controller) next(part, step int) {
	c.passed += c.takes + c.rest
	c.part, c.step, c.rest = part, step, 0
	c.begin(c.clock.Rate)
}

// write fills in the reference.
func (c *Controller) write(out *control.Reference) {
	out.Has, out.Peak = c.all, pace.Peak
	out.Rate, out.Time = c.clock.Rate, c.passed+c.clock.Time+c.rest
	s := move.MinimumJerk(c.clock.Time, c.takes)
	for leaf := range c.all.All {
		j := int(leaf)
		d := c.to[j] - c.from[j]
		c.v[j], c.a[j] = s.V*d, s.A*d
		at := c.from[j] + s.P*d
		if c.clock.Time >= c.takes {
			at = c.to[j] // not rounded
		}
		c.clock.Reference(out, j, move.State{P: at, V: c.v[j], A: c.a[j]})
	}
}

// Lying tells cycle 2 that there is no balance to keep.
func (c *Controller) Lying() bool { return true }

// Owned quits when a joint is taken: it gets up with all of them.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.all) {
		return control.Quit
	}
	return control.Going
}
