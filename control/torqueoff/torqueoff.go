// Package torqueoff takes the torque from limbs while the rest of the robot holds: a
// person can then pose them by hand.
//
// The reference of a limp joint is where it is measured, at rest, and so the torque
// begins there when it comes back: nothing jumps. However the goal ends, the limbs
// stay limp: only the orders that switch torque on give it back, and they end the
// goal.
package torqueoff

import (
	"encoding/json"

	"poise/control"
	"poise/robot"
	"poise/servo"
)

// Program lets go of the joints of Needs until it is cancelled. It is never
// written after it was sent.
type Program struct {
	Needs robot.Set `json:"needs"`
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, robot.Set{} }

// Releases returns the joints that it lets go.
func (p *Program) Releases() robot.Set { return p.Needs }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeJSON("torqueoff", b, new(Program))
}

// Controller performs Programs. Make one with New.
type Controller struct {
	joints, limp robot.Set
}

// Kind declares the controller.
var Kind = control.Kind{Name: "torque_off", Short: "lets limbs go, to be posed by hand", New: control.NewOf(New), Decode: Decode}

// New returns a controller for a robot.
func New(m *robot.Model, _ control.Transition) (*Controller, error) {
	return &Controller{joints: control.JointLeaves(len(m.Joints()))}, nil
}

// Check refuses joints that were never measured: their torque could not come back
// without a jump.
func (c *Controller) Check(input *control.Input, p control.Program) control.Reason {
	t, ok := p.(*Program)
	if !ok || t.Needs.Intersect(c.joints).Empty() {
		return control.Because(control.BadProgram)
	}
	for leaf := range t.Needs.Intersect(c.joints).All {
		if input.Meas.Age[leaf] == servo.Never {
			return control.Stale.At(robot.JointID(leaf), 0, 0)
		}
	}
	return control.Because(control.OK)
}

// Start lets go.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	c.limp = p.(*Program).Needs.Intersect(c.joints)
	return control.Because(control.OK)
}

// Update mirrors what is measured.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	out.Has, out.Peak, out.Rate = c.limp, 0, input.Rate
	for leaf := range c.limp.All {
		out.Q[leaf], out.V[leaf], out.A[leaf] = input.Meas.Q[leaf], 0, 0
		out.Stiff[leaf] = 0
	}
	return control.Going, control.Because(control.OK)
}

// Owned quits when a joint is taken: a limb is limp as a whole.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.limp) {
		return control.Quit
	}
	return control.Going
}

// Operate returns the program that lets some leaves go.
func Operate(_ *robot.Model, set robot.Set) (control.Program, error) {
	return &Program{Needs: set}, nil
}
