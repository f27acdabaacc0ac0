// Package swing is the smallest controller that does all a controller has to: it
// swings joints about a centre, on a clock of its own that pauses, slows and
// stops along the path.
//
// It exercises servos and their buses, feeds identification, and rides on the
// cycle in tests and measurements.
package swing

import (
	"encoding/json"
	"math"

	"poise/control"
	"poise/control/pace"
	"poise/robot"
	"poise/trajectory/move"
)

// Program swings the joints of Needs, and those of Wants while it has them:
//
//	q(t) = Centre + Amplitude·sin(Frequency·t)
//
// It is a control.Program and is never written after it was sent.
type Program struct {
	Needs     robot.Set `json:"needs"`
	Wants     robot.Set `json:"wants"`
	Centre    []float64 `json:"centre"`    // of each joint of the robot
	Amplitude float64   `json:"amplitude"` // rad or m
	Frequency float64   `json:"frequency"` // rad/s
	Duration  float64   `json:"duration"`  // s of its own time; 0 has no end
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, p.Wants }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeJSON("swing", b, new(Program))
}

// Controller performs Programs. Make one with New.
type Controller struct {
	limits []move.Limits
	p      *Program
	clock  pace.Clock
	v, a   []float64 // of the motion at its present time and rate 1
}

// Kind declares the controller.
var Kind = control.Kind{Name: "swing", Short: "swings joints, for tests and identification", New: control.NewOf(newFor), Decode: Decode}

// New returns a controller for joints with these limits of transitions.
func New(limits []move.Limits) *Controller {
	return &Controller{limits: limits, v: make([]float64, len(limits)), a: make([]float64, len(limits))}
}

// peak is the share of the limits that a swing may use; the rest is for its
// hand-over.
const peak = 0.5

// Check refuses a swing that is faster than its share of the limits.
func (c *Controller) Check(_ *control.Input, p control.Program) control.Reason {
	s, ok := p.(*Program)
	if !ok || len(s.Centre) != len(c.limits) {
		return control.Because(control.BadProgram)
	}
	speed := math.Abs(s.Amplitude * s.Frequency)
	acceleration := speed * math.Abs(s.Frequency)
	for leaf := range s.Needs.Union(s.Wants).All {
		j := int(leaf)
		if j >= len(c.limits) {
			continue
		}
		r := control.Because(control.BeyondLimit)
		r.Joint = robot.JointID(j)
		if r.Value, r.Max = speed, peak*c.limits[j].VelMax; !(r.Value <= r.Max) {
			return r
		}
		if r.Value, r.Max = acceleration, peak*c.limits[j].AccMax; !(r.Value <= r.Max) {
			return r
		}
	}
	return control.Because(control.OK)
}

// Start begins at the centre; the bridge brings the joints there.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	c.p = p.(*Program)
	all := c.p.Needs.Union(c.p.Wants)
	for j := range c.v {
		c.v[j], c.a[j] = c.p.Amplitude*c.p.Frequency, c.p.Amplitude*c.p.Frequency*c.p.Frequency
	}
	c.clock.Start(1, pace.Fastest(c.limits, all, c.v, c.a))
	c.motion()
	return control.Because(control.OK)
}

// motion fills in how the joints move at the clock's present time.
func (c *Controller) motion() (offset float64) {
	sin, cos := math.Sincos(c.p.Frequency * c.clock.Time)
	for j := range c.v {
		c.v[j], c.a[j] = c.p.Amplitude*c.p.Frequency*cos, -c.p.Amplitude*c.p.Frequency*c.p.Frequency*sin
	}
	return c.p.Amplitude * sin
}

// Update moves on by a tick.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	all := c.p.Needs.Union(c.p.Wants)
	c.clock.Step(input.Tick.Dt, input.Rate, c.limits, all, c.v, c.a)
	offset := c.motion()
	out.Peak, out.Rate, out.Time = peak, c.clock.Rate, c.clock.Time
	for leaf := range all.All {
		if j := int(leaf); j < len(out.Q) {
			c.clock.Reference(out, j, move.State{P: c.p.Centre[j] + offset, V: c.v[j], A: c.a[j]})
		}
	}
	out.Has = all // outputs and supports too
	if c.p.Duration > 0 && c.clock.Time >= c.p.Duration {
		return control.Done, control.Because(control.OK)
	}
	return control.Going, control.Because(control.OK)
}

// Owned continues with what it needs.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.p.Needs) {
		return control.Quit
	}
	return control.Going
}

// newFor makes a controller within the limits of a robot.
func newFor(m *robot.Model, assumed control.Transition) (*Controller, error) {
	limits, _, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	return New(limits), nil
}
