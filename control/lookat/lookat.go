// Package lookat looks at a point of the world with eyes and head, eyes first.
//
// The eyes jump to the target, as fast as they can. The head follows in its own
// time, to where the eyes can rest in the middle, and while it turns the eyes turn
// back: the gaze stays on the target. The base may move meanwhile; the command says
// where it is.
//
// Angles come from the direction of the target as the head has it now, found by
// inverse kinematics downhill from the head's own posture, so they do not jump
// between branches, and straight up and down are directions like any other. What
// comes out goes through a filter that knows the limits of the joints (chase): the
// filter stands after the inverse kinematics, where it cannot make it oscillate.
package lookat

import (
	"math"

	"poise/control"
	"poise/control/pace"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/move"
)

// Controller performs Programs and is fed with Targets. Make one with New.
type Controller struct {
	g          gaze
	index      kinematics.Index // of each joint in a configuration
	floating   bool
	eyes, head *aimer // nil if the robot has none
	eyeChase   *chase
	headChase  *chase
	eyesNeed   robot.Set // joints that eyes and head take to look with
	headNeed   robot.Set

	p        *Program
	target   Target
	started  int64   // ns
	last     int64   // stamp of the newest target, ns
	waiting  bool    // the head is, while the eyes go ahead,
	waits    float64 // until then, s
	hasEyes  bool
	hasHead  bool
	posture  []float64 // the head as it was at the start, from which it looks
	headGoal []float64
	eyesGoal []float64
	seen     spatial.Vec3 // point for which headGoal was found, in the base
	found    bool
	off      float64 // angle that neither eyes nor head can make up for
	scratch  []float64
}

// The head begins this much after the eyes when the target jumps away from where the
// head goes, and a jump is a turn of the gaze of this much.
const (
	headDelay = 0.12 // s
	jump      = 0.15 // rad
)

// Shares of the ranges of joints that are kept free at either end, to stop in.
const (
	freeEyes = 0.03
	freeHead = 0.03
)

// Shares of limits for following what moves gently: eyes turn back while the head
// turns, the head makes up for the body.
const (
	eyeTracking  = 0.5
	headTracking = 0.3
)

const defaultTolerance = math.Pi / 180

// Kind declares the controller.
var Kind = control.Kind{Name: "look_at", Short: "looks at a point with eyes and head", New: control.NewOf(New), Decode: Decode}

// New returns a controller for a robot with eyes, a head, or both.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	limits, bounds, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	g, err := findGaze(m)
	if err != nil {
		return nil, err
	}
	c := &Controller{g: g, index: kinematics.NewIndex(m), floating: m.Floating()}
	shared := pace.Shared(limits)
	if len(g.eyes.joints) > 0 {
		c.eyes = newAimer(m, g.eyes, bounds, freeEyes)
		if c.eyeChase, err = newChase(g.eyes.joints, shared, bounds, eyeTracking); err != nil {
			return nil, err
		}
	}
	if len(g.head.joints) > 0 {
		c.head = newAimer(m, g.head, bounds, freeHead)
		if c.headChase, err = newChase(g.head.joints, leisurely(shared), bounds, headTracking); err != nil {
			return nil, err
		}
	}
	for _, j := range g.eyes.joints {
		c.eyesNeed = c.eyesNeed.With(robot.LeafID(j))
	}
	for _, j := range g.head.joints {
		c.headNeed = c.headNeed.With(robot.LeafID(j))
	}
	for _, q := range []*[]float64{&c.posture, &c.headGoal, &c.eyesGoal, &c.scratch} {
		*q = make([]float64, m.NumQ())
		kinematics.NewSpace(m).NeutralTo(*q)
	}
	return c, nil
}

// leisurely returns limits for a head: its accelerations leave the eyes room to turn
// back as fast.
func leisurely(limits []move.Limits) (all []move.Limits) {
	const share = 0.6
	for _, l := range limits {
		all = append(all, move.Limits{VelMin: l.VelMin, VelMax: l.VelMax, AccMin: share * l.AccMin, AccMax: share * l.AccMax, Jerk: share * l.Jerk})
	}
	return all
}

// Check refuses points that cannot be looked at with what was asked for.
func (c *Controller) Check(input *control.Input, p control.Program) control.Reason {
	l, ok := p.(*Program)
	all := robot.Set{}
	if ok {
		all = l.Needs.Union(l.Wants)
	}
	if eyes, head := c.uses(all); !ok || !eyes && !head {
		return control.Because(control.BadProgram)
	}
	if !(l.Tolerance >= 0 && l.Tolerance <= math.Pi) {
		return control.BadValue.At(robot.NoJoint, l.Tolerance, math.Pi)
	}
	c.index.ConfigurationTo(c.scratch, input.Cmd.Q)
	return c.reaches(input, l, &l.Target, all)
}

// uses tells which parts can be used with a set of leaves.
func (c *Controller) uses(set robot.Set) (eyes, head bool) {
	return c.eyes != nil && set.Contains(c.eyesNeed), c.head != nil && set.Contains(c.headNeed)
}

// reaches tells whether a target can be looked at with some leaves, from the posture
// in scratch.
func (c *Controller) reaches(input *control.Input, p *Program, t *Target, set robot.Set) control.Reason {
	if !t.Point.Finite() {
		return control.Because(control.NonFinite)
	}
	point := c.seenFrom(input, t)
	eyes, head := c.uses(set)
	left := math.Pi
	if head {
		left = c.head.aim(c.scratch, point)
	}
	if eyes {
		c.eyes.centre(c.scratch)
		left = c.eyes.aim(c.scratch, point)
	}
	if limit := p.tolerance(); left > limit {
		return control.Unreachable.At(robot.NoJoint, left, limit)
	}
	return control.Because(control.OK)
}

func (p *Program) tolerance() float64 {
	if p.Tolerance == 0 {
		return defaultTolerance
	}
	return p.Tolerance
}

// Start begins from the command.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	c.p = p.(*Program)
	c.started, c.last, c.target = input.Tick.Time, input.Tick.Time, c.p.Target
	c.index.ConfigurationTo(c.posture, input.Cmd.Q)
	c.index.ConfigurationTo(c.eyesGoal, input.Cmd.Q)
	c.index.ConfigurationTo(c.headGoal, input.Cmd.Q)
	c.found, c.hasEyes, c.hasHead = false, false, false
	c.waiting, c.waits = true, seconds(input)+headDelay
	c.take(input, c.p.Needs.Union(c.p.Wants))
	return control.Because(control.OK)
}

func seconds(input *control.Input) float64 { return float64(input.Tick.Time) * 1e-9 }

// take begins to use parts that are new, from their commands.
func (c *Controller) take(input *control.Input, now robot.Set) {
	eyes, head := c.uses(now)
	if eyes && !c.hasEyes {
		c.eyeChase.take(input.Cmd)
		c.index.ConfigurationTo(c.eyesGoal, input.Cmd.Q)
	}
	if head && !c.hasHead {
		c.headChase.take(input.Cmd)
	}
	c.hasEyes, c.hasHead = eyes, head
}

// Feed takes a new target. What it was told before counts until the new one is
// found good.
func (c *Controller) Feed(input *control.Input, p control.Program) control.Reason {
	t, ok := p.(*Target)
	if !ok {
		return control.Because(control.BadProgram)
	}
	if t.At < c.last {
		return control.Stale.At(robot.NoJoint, float64(input.Tick.Time-t.At)*1e-9, float64(input.Tick.Time-c.last)*1e-9)
	}
	copy(c.scratch, c.posture)
	// what it could do with all that it asked for: the head may be elsewhere for now
	if why := c.reaches(input, c.p, t, c.p.Needs.Union(c.p.Wants)); why.Code != control.OK {
		return why
	}
	c.last, c.target = t.At, *t
	point := c.seenFrom(input, &c.target)
	// the delay counts from the first jump: those that follow do not put the head off
	if !c.waiting && c.found && angle(c.seen, point) > jump {
		c.waiting, c.waits = true, seconds(input)+headDelay
	}
	return control.Because(control.OK)
}

// angle between two directions from the base.
func angle(a, b spatial.Vec3) float64 { return math.Atan2(a.Cross(b).Norm(), a.Dot(b)) }

// seenFrom returns a target as the base sees it now.
func (c *Controller) seenFrom(input *control.Input, t *Target) spatial.Vec3 {
	if t.InBase || !c.floating {
		return t.Point
	}
	return input.Cmd.Base.Pose.Inverse().Apply(t.Point)
}

// Update turns eyes and head on by a tick.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	now, dt := seconds(input), input.Tick.Dt
	out.Peak, out.Rate, out.Time = pace.Peak, input.Rate, float64(input.Tick.Time-c.started)*1e-9
	point := c.seenFrom(input, &c.target)
	still := input.Rate == 0
	if c.hasHead {
		c.moveHead(now, dt, point, still)
		c.headChase.write(out)
	}
	if c.hasEyes {
		c.moveEyes(input, now, dt, point, still)
		c.eyeChase.write(out)
	}
	if limit := c.p.tolerance(); c.off > limit {
		return control.Going, control.Unreachable.At(robot.NoJoint, c.off, limit)
	}
	return control.Going, control.Because(control.OK)
}

// moveHead finds the head's joints for a point, when it has moved, from the posture
// in which it began.
func (c *Controller) moveHead(now, dt float64, point spatial.Vec3, still bool) {
	const same = 1e-9 // m
	if c.waiting = c.waiting && now < c.waits; !c.waiting && (!c.found || point.Sub(c.seen).Norm() > same) {
		copy(c.headGoal, c.posture)
		c.off = c.head.aim(c.headGoal, point)
		c.seen, c.found = point, true
	}
	if still {
		c.headChase.halt(now, dt)
		return
	}
	c.headChase.step(now, dt, c.headGoal, c.head.q)
}

// moveEyes finds the eyes' joints for a point as the head has it in this tick: as it
// is led, or, if another controller leads it, as its command will be.
func (c *Controller) moveEyes(input *control.Input, now, dt float64, point spatial.Vec3, still bool) {
	q := c.eyesGoal
	if c.head != nil {
		for i, j := range c.g.head.joints {
			if c.hasHead {
				q[c.index[j]] = c.headChase.now[i].P
			} else {
				s := input.Cmd.State(int(j))
				q[c.index[j]] = s.P + dt*s.V + dt*dt/2*s.A
			}
		}
	}
	c.eyes.centre(q)
	c.off = c.eyes.aim(q, point)
	if still {
		c.eyeChase.halt(now, dt)
		return
	}
	c.eyeChase.step(now, dt, q, c.eyes.q)
}

// Owned continues with what it needs, and looks with what it has.
func (c *Controller) Owned(input *control.Input, now robot.Set) control.Status {
	eyes, head := c.uses(now)
	if !now.Contains(c.p.Needs) || !eyes && !head {
		return control.Quit
	}
	c.take(input, now)
	return control.Going
}
