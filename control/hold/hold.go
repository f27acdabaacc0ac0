// Package hold keeps joints where they are: each comes to rest by its shortest
// stop and stays, with the feed-forward torque that it had. Only a controller of
// higher priority can move them.
package hold

import (
	"encoding/json"

	"poise/control"
	"poise/control/pace"
	"poise/robot"
)

// Program holds the joints of Needs, and those of Wants while it has them, until
// it is cancelled. It is never written after it was sent.
type Program struct {
	Needs robot.Set `json:"needs"`
	Wants robot.Set `json:"wants"`
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, p.Wants }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeJSON("hold", b, new(Program))
}

// Controller performs Programs. Make one with New.
type Controller struct {
	holder *control.Holder
	joints robot.Set
	needs  robot.Set
	all    robot.Set // asked for
	held   robot.Set // each on its way to rest, or there
}

// Kind declares the controller.
var Kind = control.Kind{Name: "hold", Short: "keeps joints where they are", New: control.NewOf(New), Decode: Decode}

// New returns a controller for a robot.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	limits, _, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	h, err := control.NewHolder(pace.Shared(limits))
	return &Controller{holder: h, joints: control.JointLeaves(len(limits))}, err
}

// Check takes any joints.
func (c *Controller) Check(_ *control.Input, p control.Program) control.Reason {
	h, ok := p.(*Program)
	if !ok || h.Needs.Union(h.Wants).Intersect(c.joints).Empty() {
		return control.Because(control.BadProgram)
	}
	return control.Because(control.OK)
}

// Start begins to stop.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	h := p.(*Program)
	c.needs, c.all, c.held = h.Needs, h.Needs.Union(h.Wants).Intersect(c.joints), robot.Set{}
	c.take(input, c.all)
	return control.Because(control.OK)
}

// take stops joints that are new to the controller, from their commands.
func (c *Controller) take(input *control.Input, now robot.Set) {
	before := float64(input.Tick.Time)*1e-9 - input.Tick.Dt
	for leaf := range now.Minus(c.held).All {
		c.holder.Begin(int(leaf), input.Cmd.State(int(leaf)), before)
		c.holder.Carry(int(leaf), input.Cmd.Tau[leaf])
	}
	c.held = now
}

// Update tells where the joints come to rest.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	now := float64(input.Tick.Time) * 1e-9
	out.Has, out.Peak, out.Rate = c.held, pace.Peak, input.Rate
	for leaf := range c.held.All {
		s := c.holder.At(int(leaf), now)
		out.Q[leaf], out.V[leaf], out.A[leaf], out.Tau[leaf] = s.P, s.V, s.A, c.holder.Effort(int(leaf))
	}
	return control.Going, control.Because(control.OK)
}

// Owned continues with what it needs, and with any joint at all.
func (c *Controller) Owned(input *control.Input, now robot.Set) control.Status {
	enough := now.Contains(c.needs)
	now = now.Intersect(c.all)
	if !enough || now.Empty() {
		return control.Quit
	}
	c.take(input, now)
	return control.Going
}

// Operate returns the program that holds some leaves.
func Operate(_ *robot.Model, set robot.Set) (control.Program, error) {
	return &Program{Wants: set}, nil
}
