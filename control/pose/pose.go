// Package pose brings joints to a pose and ends: as fast as limits allow, all of
// them arriving together, from wherever they are and however they move.
//
// The motion starts at the command, with its velocity and acceleration, so it
// needs no hand-over. It can be paused, slowed down and, where the limits leave
// room, sped up.
package pose

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"poise/control"
	"poise/control/pace"
	"poise/problem"
	"poise/robot"
	"poise/trajectory/move"
)

// Program brings the joints of Needs to Target. It is never written after it was
// sent.
type Program struct {
	Needs  robot.Set `json:"needs"`
	Target []float64 `json:"target"` // of each joint of the robot; those of Needs count
	Speed  float64   `json:"speed"`  // share of the limits of velocity, 0 … 1; 0 means 1
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeJSON("pose", b, new(Program))
}

// To returns the program that brings some joints to positions.
func To(m *robot.Model, joints []robot.JointID, q []float64, speed float64) (*Program, error) {
	p := &Program{Target: make([]float64, len(m.Joints())), Speed: speed}
	var errs []error
	if len(q) != len(joints) {
		errs = append(errs, fmt.Errorf("pose: %d positions for %d joints", len(q), len(joints)))
		q = make([]float64, len(joints))
	}
	if !(speed >= 0 && speed <= 1) {
		errs = append(errs, fmt.Errorf("pose: speed %g is not between 0 and 1", speed))
	}
	for i, j := range joints {
		if p.Needs.Has(robot.LeafID(j)) {
			errs = append(errs, fmt.Errorf("pose: joint %q is given twice", m.Joints()[j].Name))
		}
		if math.IsNaN(q[i]) || math.IsInf(q[i], 0) {
			errs = append(errs, fmt.Errorf("pose: joint %q has position %g", m.Joints()[j].Name, q[i]))
		}
		p.Needs = p.Needs.With(robot.LeafID(j))
		p.Target[j] = q[i]
	}
	return p, errors.Join(errs...)
}

// Named returns the program that brings the robot to one of its named poses.
func Named(m *robot.Model, name string, speed float64) (*Program, error) {
	named, ok := m.Pose(name)
	if !ok {
		return nil, fmt.Errorf("pose: %s has no pose %q%s", m.Name(), name, problem.Hint(name, m.PoseNames()))
	}
	q := make([]float64, len(named.Joints))
	for i, values := range named.Q {
		if len(values) != 1 {
			return nil, fmt.Errorf("pose: joint %q of pose %q has %d coordinates", m.Joints()[named.Joints[i]].Name, name, len(values))
		}
		q[i] = values[0]
	}
	return To(m, named.Joints, q, speed)
}

// Controller performs Programs. Make one with New.
type Controller struct {
	limits []move.Limits
	bounds []control.Bounds
	wraps  []bool
	all    robot.Set // joints of the robot

	p        *Program
	axes     []int // joints that move, in the order of the plan
	plan     *move.Motion
	lim      []move.Limits
	from, to []move.State
	now      []move.State
	clock    pace.Clock
	v, a     []float64 // of each joint, at rate 1
}

// Kind declares the controller.
var Kind = control.Kind{Name: "pose", Short: "goes to a named pose, or to any", New: control.NewOf(New), Decode: Decode}

// New returns a controller for a robot.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	limits, bounds, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	n := len(limits)
	c := &Controller{limits: pace.Shared(limits), bounds: bounds, wraps: control.Wraps(m), all: control.JointLeaves(n),
		axes: make([]int, 0, n), lim: make([]move.Limits, n), from: make([]move.State, n), to: make([]move.State, n), now: make([]move.State, n),
		v: make([]float64, n), a: make([]float64, n)}
	c.plan, err = move.New(limits)
	return c, err
}

// Check refuses targets beyond the position limits.
func (c *Controller) Check(_ *control.Input, p control.Program) control.Reason {
	t, ok := p.(*Program)
	if !ok || len(t.Target) != len(c.limits) || t.Needs.Intersect(c.all).Empty() {
		return control.Because(control.BadProgram)
	}
	if !(t.Speed >= 0 && t.Speed <= 1) {
		return control.BadValue.At(robot.NoJoint, t.Speed, 1)
	}
	for leaf := range t.Needs.Intersect(c.all).All {
		q, b := t.Target[leaf], &c.bounds[leaf]
		switch {
		case math.IsNaN(q) || math.IsInf(q, 0):
			return control.NonFinite.At(robot.JointID(leaf), float64(leaf), 0)
		case q > b.Upper+rounding:
			return control.BeyondLimit.At(robot.JointID(leaf), q, b.Upper)
		case q < b.Lower-rounding:
			return control.BeyondLimit.At(robot.JointID(leaf), q, b.Lower)
		}
	}
	return control.Because(control.OK)
}

// rounding of a target that stands at its limit, rad or m.
const rounding = 1e-9

// Start plans from the command.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	t := p.(*Program)
	speed := t.Speed
	if speed == 0 {
		speed = 1
	}
	n := 0
	c.axes = c.axes[:0]
	for leaf := range t.Needs.Intersect(c.all).All {
		j := int(leaf)
		goal := t.Target[j]
		if c.wraps[j] { // the short way round
			goal = input.Cmd.Q[j] + math.Remainder(goal-input.Cmd.Q[j], 2*math.Pi)
		}
		c.axes = append(c.axes, j)
		c.from[n], c.to[n], c.lim[n] = input.Cmd.State(j), move.State{P: goal}, slower(c.limits[j], speed)
		n++
	}
	if c.plan.SetLimits(c.lim[:n]) != nil || c.plan.Reach(c.from[:n], c.to[:n], move.Options{}) != nil {
		return control.Because(control.BadValue) // a command that cannot be planned from
	}
	c.p = t
	clear(c.v)
	clear(c.a)
	for k, j := range c.axes {
		x := c.plan.Axis(k).Extremes()
		c.v[j], c.a[j] = max(x.V.Max, -x.V.Min), max(x.A.Max, -x.A.Min)
	}
	rate := 1.0
	if atRest(c.from[:n]) {
		rate = min(input.Rate, 1) // a pause holds before the first step
	}
	c.clock.Start(rate, pace.Fastest(c.limits, t.Needs, c.v, c.a))
	c.sample()
	return control.Because(control.OK)
}

func atRest(all []move.State) bool {
	for i := range all {
		if all[i].V != 0 || all[i].A != 0 {
			return false
		}
	}
	return true
}

// slower returns limits for a motion at a share of its speed: the same path in
// 1/share of the time.
func slower(l move.Limits, share float64) move.Limits {
	a, j := share*share, share*share*share
	return move.Limits{VelMin: share * l.VelMin, VelMax: share * l.VelMax, AccMin: a * l.AccMin, AccMax: a * l.AccMax, Jerk: j * l.Jerk}
}

// sample fills in how the joints move at the clock's present time, at rate 1.
func (c *Controller) sample() {
	c.plan.StatesTo(c.now[:len(c.axes)], c.clock.Time)
	for k, j := range c.axes {
		c.v[j], c.a[j] = c.now[k].V, c.now[k].A
	}
}

// Update moves on by a tick.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.clock.Step(input.Tick.Dt, input.Rate, c.limits, c.p.Needs, c.v, c.a)
	c.sample()
	out.Has, out.Peak = c.p.Needs.Intersect(c.all), pace.Peak
	out.Rate, out.Time = c.clock.Rate, c.clock.Time
	for k, j := range c.axes {
		c.clock.Reference(out, j, c.now[k])
	}
	if c.clock.Time >= c.plan.Duration() {
		return control.Done, control.Because(control.OK)
	}
	return control.Going, control.Because(control.OK)
}

// Duration returns how long the running motion takes at rate 1, s.
func (c *Controller) Duration() float64 { return c.plan.Duration() }

// Owned quits when a joint is taken: a pose is a pose as a whole.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.p.Needs) {
		return control.Quit
	}
	return control.Going
}
