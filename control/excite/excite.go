package excite

import (
	"math"

	"poise/control"
	"poise/control/pace"
	"poise/robot"
	"poise/servo"
	"poise/trajectory/move"
)

// Controller performs Programs.
type Controller struct {
	limits []move.Limits
	bounds []control.Bounds
	joints robot.Set
	p      *Program
	own    robot.Set
	still  []float64 // where joints without an axis stay
	v, a   []float64
	clock  pace.Clock
}

// Kind declares the controller.
var Kind = control.Kind{Name: "servo_ident", Short: "moves joints so that the parameters of their servos show", New: control.NewOf(New), Decode: Decode}

// New makes one for a robot.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	limits, bounds, err := Limits(m, assumed)
	n := len(limits)
	return &Controller{limits: limits, bounds: bounds, joints: control.JointLeaves(n),
		still: make([]float64, n), v: make([]float64, n), a: make([]float64, n)}, err
}

// mostAcceleration is what no excitation needs more than, rad/s².
const mostAcceleration = 60.0

// Limits returns what excitations may use of each joint, and the bounds of its command: velocities and
// accelerations of its own or, where it has none, those of transitions.
func Limits(m *robot.Model, assumed control.Transition) ([]move.Limits, []control.Bounds, error) {
	moves, bounds, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, nil, err
	}
	all := make([]move.Limits, len(moves))
	for i, b := range bounds {
		v, a := b.Velocity, min(b.Acceleration, b.Deceleration)
		if math.IsInf(v, 1) {
			v = moves[i].VelMax
		}
		if math.IsInf(v, 1) {
			v = 1
		}
		if math.IsInf(a, 1) {
			a = moves[i].AccMax
		}
		all[i] = move.Symmetric(v, min(a, mostAcceleration), math.Inf(1))
	}
	return pace.Shared(all), bounds, nil
}

// slack is how far a joint may be from where its program begins, rad.
const slack = 0.02

// Check says whether it could start now.
func (c *Controller) Check(input *control.Input, p control.Program) control.Reason {
	program, ok := p.(*Program)
	if !ok || len(program.Axes) == 0 || !(program.Duration() > 0) || !(program.Farthest > 0) || !(program.Silence > 0) {
		return control.Because(control.BadProgram)
	}
	for i := range program.Axes {
		j := program.Axes[i].Joint
		if int(j) >= len(c.limits) || !program.Needs.Has(robot.LeafID(j)) {
			return control.Because(control.BadProgram)
		}
		if b := &c.bounds[j]; !(program.Axes[i].Centre >= b.Lower && program.Axes[i].Centre <= b.Upper) {
			return control.BeyondLimit.At(j, program.Axes[i].Centre, b.Upper)
		}
		if d := math.Abs(input.Cmd.Q[j] - program.Axes[i].From); !(d <= slack) {
			return control.StartTooFar.At(j, d, slack)
		}
	}
	return control.Because(control.OK)
}

// Start begins from the command.
func (c *Controller) Start(in *control.Input, p control.Program) control.Reason {
	if why := c.Check(in, p); why.Code != control.OK {
		return why
	}
	c.p = p.(*Program)
	copy(c.still, in.Cmd.Q)
	c.clock.Start(0, 1)
	clear(c.v)
	clear(c.a)
	c.own = c.p.Needs.Intersect(c.joints)
	return control.Because(control.OK)
}

// Update says where the joints are to be in this tick, and ends the motion if one of them does not
// follow. It uses nothing of the limits that its plan did not use.
func (c *Controller) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	if why := c.trouble(in); why.Code != control.OK {
		return control.Failed, why
	}
	c.clock.Step(in.Tick.Dt, in.Rate, c.limits, c.own, c.v, c.a)
	out.Has, out.Peak, out.Rate, out.Time = c.own, pace.Peak, c.clock.Rate, c.clock.Time
	for leaf := range c.own.All {
		c.clock.Reference(out, int(leaf), move.State{P: c.still[leaf]})
	}
	for i := range c.p.Axes {
		j := c.p.Axes[i].Joint
		s := c.p.At(i, c.clock.Time)
		c.v[j], c.a[j] = s.V, s.A
		c.clock.Reference(out, int(j), s)
	}
	if c.clock.Time >= c.p.Duration() {
		return control.Done, control.Because(control.OK)
	}
	return control.Going, control.Because(control.OK)
}

// trouble looks for a joint that is not where it should be, or silent.
func (c *Controller) trouble(in *control.Input) control.Reason {
	for i := range c.p.Axes {
		j := c.p.Axes[i].Joint
		if age := in.Meas.Age[j]; age == servo.Never || float64(age)*in.Tick.Dt > c.p.Silence {
			return control.Stale.At(j, float64(age)*in.Tick.Dt, c.p.Silence)
		}
		if d := math.Abs(in.Cmd.Q[j] - in.Meas.Q[j]); !(d <= c.p.Farthest) {
			why := control.ToleranceBroken.At(j, d, c.p.Farthest)
			why.At = c.clock.Time
			return why
		}
	}
	return control.Because(control.OK)
}

// Owned ends the motion when a joint is gone.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.p.Needs) {
		return control.Quit
	}
	return control.Going
}
