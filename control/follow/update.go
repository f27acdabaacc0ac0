package follow

import (
	"math"

	"poise/control"
	"poise/robot"
)

const (
	// handedOver is how near the command must be to the reference for a hand-over
	// to be over as far as the motion's speed is concerned, rad or m.
	handedOver = 0.001
	// arrived is how near it must be for the motion to have ended.
	arrived = 1e-9
)

// Update moves on by a tick. The first one is where the motion begins.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.tick = input.Tick.N
	if !c.shown {
		c.shown = true
		c.state()
		c.fill(input, out)
		// what begins with an acceleration is not to be led up to it by a hand-over
		for _, j := range c.p.r.Joints {
			out.A[j] = input.Cmd.A[j]
		}
		return control.Going, control.Because(control.OK)
	}
	off := c.behind(input)
	handing := off > handedOver
	c.past.push(c, input, handing)
	c.advance(input, handing)
	c.state()
	c.fill(input, out)
	status, why := c.judge(input, off, handing)
	switch status {
	case control.Done:
		c.release(out)
		c.stage = over
	case control.Failed:
		c.stage = over
	}
	return status, why
}

// state finds where the motion is now.
func (c *Controller) state() {
	n := c.p.motion.Joints()
	c.clock.StateTo(c.q[:n], c.v[:n], c.a[:n])
	for k := range c.p.r.Joints {
		c.q[k] += c.turn[k]
	}
}

// behind returns how far the command was from the reference in the last tick. The whole body has a
// command of its own, which may stay beside the reference: of it only hand-overs count.
func (c *Controller) behind(input *control.Input) (off float64) {
	if input.Whole {
		return input.Bridge
	}
	for k, j := range c.p.r.Joints {
		off = max(off, distance(input.Cmd.Q[j], c.q[k], c.p.r.Wraps[k]))
	}
	return off
}

// advance lets the clock run for a tick.
func (c *Controller) advance(input *control.Input, handing bool) {
	p, dt, want := c.p, input.Tick.Dt, input.Rate
	if c.stage == waiting {
		due := p.since(input) - p.motion.Start()
		if due <= 0 {
			return
		}
		c.stage, dt = playing, min(dt, due)
	}
	if handing {
		want = min(want, p.gentle) // leave room for the bridge
	}
	at, rate := c.clock.Time(), c.clock.Rate()
	switch s := c.clock.Step(dt, want); {
	case !s.Done:
	case p.r.Loop:
		left := 0.0 // of the tick, for the next round
		if rate > 0 {
			left = min(max(dt-(p.motion.End()-at)/rate, 0), dt)
		}
		c.round++
		c.turnOn()
		c.begin(p, p.r.Again, want)
		c.clock.Step(left, want)
	case c.stage == playing:
		c.stage = settling
	}
}

// turnOn adds the whole turns that a round of a loop has made.
func (c *Controller) turnOn() {
	p := c.p
	n := p.motion.Joints()
	first, last := c.scratch[0][:n], c.scratch[1][:n]
	p.motion.PositionTo(first, p.r.Again)
	p.motion.PositionTo(last, p.motion.End())
	for k := range p.r.Joints {
		if p.r.Wraps[k] {
			c.turn[k] += 2 * math.Pi * math.Round((last[k]-first[k])/(2*math.Pi))
		}
	}
}

// fill writes the reference of this tick.
func (c *Controller) fill(input *control.Input, out *control.Reference) {
	p := c.p
	out.Has = p.needs
	for k, j := range p.r.Joints {
		out.Q[j], out.V[j], out.A[j] = c.q[k], c.v[k], c.a[k]
	}
	now := c.clock.Time()
	p.supportTo(out.Support, c.before, now)
	out.Peak, out.Time, out.Rate = p.peak, now, c.clock.Rate()
	done := p.passed(now)
	if c.stage == settling {
		out.Time, out.Rate, done = now+c.settled, input.Rate, len(p.r.Events)
	}
	out.Passed, out.Skipped = p.left(c.round, done), c.skip
	if c.stage == waiting {
		out.Time, out.Passed, out.Skipped = p.since(input), 0, 0
	}
}

// release gives chains that had no track back the weight that they had: they were
// free while the motion ran.
func (c *Controller) release(out *control.Reference) {
	for i := range c.p.r.Chains {
		if x := &c.p.r.Chains[i]; x.Track == nil {
			out.Support[x.Chain] = c.before[x.Chain]
		}
	}
}

// judge decides how the motion gets on.
func (c *Controller) judge(input *control.Input, off float64, handing bool) (control.Status, control.Reason) {
	p := c.p
	if c.stage == playing {
		if c.clock.Time() < 0 { // an approach is not what was asked for
			return control.Going, control.Because(control.OK)
		}
		if why, broken := c.past.broken(c, input, handing); broken {
			return control.Failed, why
		}
		return control.Going, control.Because(control.OK)
	}
	if c.stage != settling || off > arrived {
		return control.Going, control.Because(control.OK) // what is handed over arrives, and takes its time
	}
	why, missed := c.missed(input)
	if !missed {
		return control.Done, control.Because(control.OK)
	}
	c.settled += input.Tick.Dt * min(input.Rate, 1)
	if p.r.GoalTime >= 0 && c.settled > p.r.GoalTime {
		why.At = c.clock.Time() + c.settled
		return control.Failed, why
	}
	return control.Going, control.Because(control.OK)
}

// missed compares the robot with the last point, and returns the joint that is
// furthest from it, in tolerances.
func (c *Controller) missed(input *control.Input) (control.Reason, bool) {
	p := c.p
	worst := control.Because(control.OK)
	for k, j := range p.r.Joints {
		q, v := input.Meas.Q[j], input.Meas.V[j]
		if p.r.Commanded {
			q, v = input.Cmd.Q[j], input.Cmd.V[j]
		}
		worse(&worst, control.GoalMissed, j, distance(q, c.q[k], p.r.Wraps[k]), p.final[k].Position)
		worse(&worst, control.GoalMissed, j, math.Abs(v), p.final[k].Velocity)
	}
	return worst, worst.Code != control.OK
}

// worse keeps the larger excess, in tolerances. What is non-finite exceeds all.
func worse(worst *control.Reason, code control.Code, joint int, off, most float64) {
	if off <= most || math.IsInf(most, 1) && !math.IsNaN(off) {
		return
	}
	if worst.Code == control.OK || off*worst.Max > worst.Value*most {
		*worst = control.Reason{Code: code, Joint: robot.JointID(joint), Who: worst.Who, Value: off, Max: most}
	}
}
