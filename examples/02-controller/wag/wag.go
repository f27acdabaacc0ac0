// Package wag is a controller of your own: it wags joints from where it found them to
// one side and back.
//
// A controller is a Program, which says what to do and never changes, and a
// Controller with four methods that run inside the cycle: they must not block,
// allocate or look at a clock. Everything else, such as hand-overs, limits, stops,
// faults and recording, is there already.
package wag

import (
	"encoding/json"
	"math"

	"poise/control"
	"poise/control/pace"
	"poise/robot"
	"poise/trajectory/move"
)

// Program wags the joints of Wants, whichever of them it is given.
type Program struct {
	Wants     robot.Set `json:"wants"`
	Amplitude float64   `json:"amplitude"` // half of the way to the side, rad
	Frequency float64   `json:"frequency"` // rad/s
}

// Claim returns the resources that it needs, and those that it takes where it gets them.
func (p *Program) Claim() (needs, wants robot.Set) { return robot.Set{}, p.Wants }

// MarshalBinary and Decode are for the flight recorder and the replay.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	p := new(Program)
	return p, json.Unmarshal(b, p)
}

// Controller performs Programs.
type Controller struct {
	limits []move.Limits
	joints robot.Set
	p      *Program
	own    robot.Set
	centre []float64
	v, a   []float64
	clock  pace.Clock // pauses, slows down and stops along the path
}

// Kind declares the controller: its name in records and on wires, how it is made, and
// how its programs are read.
var Kind = control.Kind{Name: "wag", Short: "wags joints", New: New, Decode: Decode}

// New makes one for a robot. Memory is taken here, and nowhere else.
func New(m *robot.Model, assumed control.Transition) (control.Controller, error) {
	limits, _, err := control.JointLimits(m, assumed)
	n := len(limits)
	return &Controller{limits: pace.Shared(limits), joints: control.JointLeaves(n),
		centre: make([]float64, n), v: make([]float64, n), a: make([]float64, n)}, err
}

// Check says whether it could start now; a refusal names the joint and the limit.
func (c *Controller) Check(_ *control.Input, p control.Program) control.Reason {
	w, ok := p.(*Program)
	if !ok {
		return control.Because(control.BadProgram)
	}
	for leaf := range w.Wants.Intersect(c.joints).All {
		speed := math.Abs(w.Amplitude * w.Frequency)
		if limit := c.limits[leaf].VelMax; !(speed <= limit) {
			return control.BeyondLimit.At(robot.JointID(leaf), speed, limit)
		}
		if acc, limit := speed*math.Abs(w.Frequency), c.limits[leaf].AccMax; !(acc <= limit) {
			return control.BeyondLimit.At(robot.JointID(leaf), acc, limit)
		}
	}
	return control.Because(control.OK)
}

// Start begins from the command: at rest there, so that nothing has to be bridged.
func (c *Controller) Start(in *control.Input, p control.Program) control.Reason {
	if why := c.Check(in, p); why.Code != control.OK {
		return why
	}
	c.p = p.(*Program)
	copy(c.centre, in.Cmd.Q)
	c.clock.Start(0, 1)
	clear(c.v)
	clear(c.a)
	c.own = c.p.Wants.Intersect(c.joints)
	return control.Because(control.OK)
}

// Update says where the joints are to be in this tick.
func (c *Controller) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.clock.Step(in.Tick.Dt, in.Rate, c.limits, c.own, c.v, c.a)
	ω, A := c.p.Frequency, c.p.Amplitude
	sin, cos := math.Sincos(ω * c.clock.Time)
	out.Has, out.Peak, out.Rate, out.Time = c.own, pace.Peak, c.clock.Rate, c.clock.Time
	for leaf := range c.own.All {
		c.v[leaf], c.a[leaf] = A*ω*sin, A*ω*ω*cos
		c.clock.Reference(out, int(leaf), move.State{P: c.centre[leaf] + A*(1-cos), V: c.v[leaf], A: c.a[leaf]})
	}
	return control.Going, control.Because(control.OK)
}

// Owned is told when joints are taken or given back: it goes on with what
// is left, and ends with nothing.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	c.own = now.Intersect(c.p.Wants).Intersect(c.joints)
	if c.own.Empty() {
		return control.Quit
	}
	return control.Going
}
