package walk

import (
	"fmt"
	"slices"

	"poise/control"
	"poise/gait"
	"poise/problem"
	"poise/robot"
)

// Parameters are those of a gait, to be walked with from one of the next steps on.
type Parameters struct {
	At   int64     `json:"at"` // as of a velocity
	Gait gait.Gait `json:"gait"`
}

// UnknownGait is the error of a name that is not in gait.Names.
func UnknownGait(name string) error {
	return fmt.Errorf("gait %q is unknown%s; there are %s", name, problem.Hint(name, gait.Names), problem.List(gait.Names))
}

// Tune returns the parameters of a gait as the robot's geometry and robot.yaml have them, changed by those that are
// given: zero values are not. It takes some milliseconds: it is not for the cycle.
func Tune(m *robot.Model, given *robot.Gait) (*Parameters, error) {
	if !slices.Contains(gait.Names, given.Name) {
		return nil, UnknownGait(given.Name)
	}
	for _, x := range []struct {
		name, unit  string
		value, most float64
	}{{"period", " s", given.Period, gait.LongestPeriod}, {"duty", "", given.Duty, 1}, {"lift", " m", given.Lift, 1}, {"speed", " m/s", given.Speed, 100}} {
		if !(x.value >= 0 && x.value <= x.most) {
			return nil, fmt.Errorf("gait %q: %s %g%s is not within 0 … %g%s", given.Name, x.name, x.value, x.unit, x.most, x.unit)
		}
	}
	c, err := build(m)
	if err != nil {
		return nil, err
	}
	g, err := c.gaitOf(m, given.Name, given)
	if err != nil {
		return nil, err
	}
	return &Parameters{Gait: g}, nil
}

// tune takes the parameters of a gait. Loop-safe.
func (c *Controller) tune(p *Parameters) control.Reason {
	if len(p.Gait.Phase) != len(c.legs) {
		return control.Because(control.BadProgram)
	}
	for i := range c.gaits {
		if g := &c.gaits[i]; g.Name == p.Gait.Name {
			g.Set(&p.Gait)
			c.renewed = c.renewed || c.plan.Next().Name == g.Name
			return control.Because(control.OK)
		}
	}
	return control.Because(control.BadProgram)
}

// Claim asks for nothing.
func (p *Parameters) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// Lane is beside velocities and choices.
func (p *Parameters) Lane() int { return 2 }

// MarshalBinary is for the flight recorder.
func (p *Parameters) MarshalBinary() ([]byte, error) { return control.EncodeRecord("parameters", p) }
