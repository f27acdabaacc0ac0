package follow

import (
	"math"

	"poise/control"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/clock"
)

// Controller plays Programs. Make one with New.
type Controller struct {
	p     *Program
	stage stage
	tick  uint64 // of the last Update: who was not called in the last tick does not run
	clock clock.Clock
	round uint32 // of a loop
	skip  uint32 // events before this one do not leave

	q, v, a []float64         // reference of the last tick, by column
	turn    []float64         // whole turns that bring the motion to where the joint is, by column
	before  []control.Support // of each chain: what it was before it was driven
	settled float64           // s since the end was reached, at rate 1
	shown   bool              // the first reference was made
	past    past
	scratch [3][]float64
}

// stage is how far a motion is.
type stage uint8

const (
	over     stage = iota
	waiting        // for its time to begin
	playing        //
	settling       // its end is reached, and the robot is perhaps not there
)

// Kind declares the controller.
var Kind = control.Kind{Name: "follow", Short: "plays a joint trajectory, with events and supports", New: func(m *robot.Model, _ control.Transition) (control.Controller, error) { return New(m), nil }, Decode: Decode}

// New returns a controller for a robot.
func New(m *robot.Model) *Controller {
	n := max(len(m.Joints()), 1)
	block := make([]float64, 7*n)
	take := func() []float64 { x := block[:n:n]; block = block[n:]; return x }
	c := &Controller{q: take(), v: take(), a: take(), turn: take(), before: make([]control.Support, len(m.Chains()))}
	for i := range c.scratch {
		c.scratch[i] = take()
	}
	c.past.init(n)
	return c
}

// Check says whether a program could start now: whether it is one for this robot,
// not too old, and begins where the robot is.
func (c *Controller) Check(input *control.Input, program control.Program) control.Reason {
	p, ok := program.(*Program)
	if !ok || p == nil || !p.fits(len(input.Cmd.Q), len(input.Cmd.Support)) {
		return control.Because(control.BadProgram)
	}
	if c.extends(input, p) {
		return control.Because(control.OK)
	}
	at, _, late := p.joins(input)
	if late > 0 {
		why := control.Because(control.TooOld)
		why.Value = late
		return why
	}
	if at < 0 {
		return control.Because(control.OK) // on its approach it is still on the way to the start
	}
	return c.checkStart(input, p, at)
}

// fits reports whether a robot has all joints and chains of a program.
func (p *Program) fits(joints, chains int) bool {
	for _, j := range p.r.Joints {
		if j >= joints {
			return false
		}
	}
	for i := range p.r.Chains {
		if int(p.r.Chains[i].Chain) >= chains {
			return false
		}
	}
	return true
}

// extends reports whether a program goes on with the one that runs.
func (c *Controller) extends(input *control.Input, p *Program) bool {
	return p.r.Continues != 0 && c.p != nil && c.stage != over && p.r.Continues == c.p.id && c.tick+1+input.Missed == input.Tick.N
}

// since returns how long ago a program was to begin, s.
func (p *Program) since(input *control.Input) float64 {
	return float64(input.Tick.Time-p.r.Begin) * 1e-9
}

// joins returns the time at which a program is taken up that starts in this tick,
// whether it has to wait before, and by how much it comes too late.
func (p *Program) joins(input *control.Input) (at float64, wait bool, late float64) {
	start, end := p.motion.Start(), p.motion.End()
	switch now := p.since(input); {
	case p.r.Continues != 0: // and what it extends is over
		return p.r.Splice, false, 0
	case p.r.Begin == 0:
		return start, false, 0
	case now <= start:
		return start, true, 0
	case start < 0: // it has an approach, and begins with that
		return start, false, 0
	case now >= end && p.r.Loop:
		return p.r.Again + math.Mod(now-p.r.Again, end-p.r.Again), false, 0
	case now >= end:
		return end, false, max(now-end, math.SmallestNonzeroFloat64)
	default:
		return now, false, 0
	}
}

// checkStart compares where the robot is with where the motion begins.
func (c *Controller) checkStart(input *control.Input, p *Program, at float64) control.Reason {
	q := c.scratch[0][:p.motion.Joints()]
	p.motion.PositionTo(q, at)
	worst := control.Because(control.OK)
	for k, j := range p.r.Joints {
		worse(&worst, control.StartTooFar, j, distance(input.Cmd.Q[j], q[k], p.r.Wraps[k]), p.path[k].Position)
		if !p.r.Commanded {
			worse(&worst, control.StartTooFar, j, distance(input.Meas.Q[j], q[k], p.r.Wraps[k]), p.path[k].Position)
		}
	}
	worst.At = at
	return worst
}

// distance returns how far apart two positions are, the short way for angles.
func distance(a, b float64, wraps bool) float64 {
	if wraps {
		return math.Abs(math.Remainder(a-b, 2*math.Pi))
	}
	return math.Abs(a - b)
}

// Start takes up a program where the command is, in the place of whatever ran. One
// that extends what runs goes on with it.
func (c *Controller) Start(input *control.Input, program control.Program) control.Reason {
	if why := c.Check(input, program); why.Code != control.OK {
		return why
	}
	p := program.(*Program)
	if c.extends(input, p) {
		at, rate := c.clock.Time(), c.clock.Rate()
		if c.stage == settling {
			c.stage = playing
		}
		c.begin(p, at, rate)
		c.p, c.skip = p, uint32(min(p.passed(at), p.r.Extended))
		return control.Because(control.OK)
	}
	c.rememberSupports(input, p)
	at, wait, _ := p.joins(input)
	n := p.motion.Joints()
	q, v, a := c.scratch[0][:n], c.scratch[1][:n], c.scratch[2][:n]
	p.motion.StateTo(q, v, a, at)
	for k, j := range p.r.Joints {
		c.turn[k] = 0
		if p.r.Wraps[k] {
			c.turn[k] = trajectory.Nearest(q[k], input.Cmd.Q[j]) - q[k]
		}
	}
	c.p, c.round = p, 0
	c.begin(p, at, c.fittingRate(input, p, v))
	c.skip = uint32(p.before(at))
	c.stage, c.shown, c.settled = playing, false, 0
	if wait {
		c.stage = waiting
	}
	c.past.clear()
	return control.Because(control.OK)
}

// before returns how many events lie before a time at which the program is taken
// up: they do not leave.
func (p *Program) before(at float64) int {
	switch {
	case p.r.Continues != 0:
		return p.r.Extended
	case at > 0:
		return p.passed(math.Nextafter(at, 0))
	}
	return 0
}

// begin sets the clock, as near to a rate as limits allow.
func (c *Controller) begin(p *Program, at, rate float64) {
	if highest, ok := c.clock.Start(p.track, at, rate); !ok {
		c.clock.Start(p.track, at, min(max(rate, 0), highest))
	}
}

// fittingRate returns the rate at which a motion with these velocities is nearest
// to what the command does: one that begins at rest may begin as it likes.
func (c *Controller) fittingRate(input *control.Input, p *Program, v []float64) float64 {
	along, square := 0.0, 0.0
	for k, j := range p.r.Joints {
		along += v[k] * input.Cmd.V[j]
		square += v[k] * v[k]
	}
	if !(square > atRest*atRest) {
		return input.Rate
	}
	return min(max(along/square, 0), input.Rate)
}

// rememberSupports keeps what chains carried before they were driven.
func (c *Controller) rememberSupports(input *control.Input, p *Program) {
	goesOn := c.p != nil && c.stage != over && c.tick+1+input.Missed == input.Tick.N
	for i := range p.r.Chains {
		chain := p.r.Chains[i].Chain
		if !goesOn || !c.p.drives(chain) {
			c.before[chain] = input.Cmd.Support[chain]
		}
	}
}

func (p *Program) drives(chain robot.ChainID) bool {
	for i := range p.r.Chains {
		if p.r.Chains[i].Chain == chain {
			return true
		}
	}
	return false
}

// Owned continues with all that it needs.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	if c.p == nil || !now.Contains(c.p.needs) {
		return control.Quit
	}
	return control.Going
}
