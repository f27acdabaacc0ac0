package stage

import (
	"fmt"
	"math"
	"strings"

	"poise/problem"
	"poise/wholebody"
)

// Config is what may be chosen. Zero values mean the defaults.
type Config struct {
	Order      string  `json:",omitempty"` // default or seed
	Levels     []Level `json:",omitempty"` // in place of Order's
	Margin     float64 `json:",omitempty"` // of the zero-moment point in the polygon, m; default 0.01
	Com        bool    `json:",omitempty"` // always lead the centre of mass in place of the base's origin; otherwise only where a controller asks for it
	Friction   float64 `json:",omitempty"` // of the ground, where supports do not say less; default 0.8
	Iterations int     `json:",omitempty"` // of a tick at most; default 400
}

// Level is a level by name.
type Level struct {
	Name string   `yaml:"name"`
	Rows []string `yaml:"rows"`
}

// Defaults and numbers of the stage.
const (
	defaultMargin     = 0.01 // m
	defaultIterations = 400
	captureBeyond     = 0.003  // m added to Margin for the capture point
	liftBeyond        = 0.002  // m added to Margin for the capture point when a foot is to leave the ground
	barrier           = 4.0    // 1/s: γ of the barrier at each edge
	steepest          = 200.0  // rad/s² or m/s²: acceleration limit of a joint that declares none
	fadeTime          = 0.2    // s in which a support fades in or out
	stiffest          = 25.0   // 1/s: greatest natural frequency of the feedback
	landing           = 0.05   // m/s at which a foot is led to the ground
	touches           = 0.001  // m above the ground at which a foot is taken to touch
	singular          = 0.02   // m: smallest singular value below which a limb is led by its joints
	helpBy            = 10.0   // rad/s² or m/s²: limit of free limbs that help the base from a lower level
	slowDown          = 0.1    // s in which a motion that cannot be served comes to rest
	slewTime          = 0.16   // s in which a torque may go from zero to its joint's limit
	atLimit           = 1e-6   // share of the range within which a torque counts as at its limit
	sunk              = 0.0005 // m below its reference from which on the base may be sinking,
	sinking           = 0.02   // if it goes down by this, m/s,
	lifts             = 0.1    // and accelerates upwards by less than this, m/s²
	tolDynamics       = 1e-5   // of the weight: greatest residual of the equation of motion
)

// Resolve returns the levels of a choice, or why it is not valid.
func (c *Config) Resolve() ([]wholebody.LevelSpec, error) {
	if !(c.Margin >= 0) || math.IsInf(c.Margin, 0) {
		return nil, fmt.Errorf("margin is %g m, must be 0 or more", c.Margin)
	}
	if !(c.Friction >= 0) || math.IsInf(c.Friction, 0) {
		return nil, fmt.Errorf("friction is %g, must be 0 or more", c.Friction)
	}
	if c.Iterations < 0 {
		return nil, fmt.Errorf("iterations is %d, must be 0 or more", c.Iterations)
	}
	if len(c.Levels) == 0 {
		o, ok := wholebody.OrderNamed(c.Order)
		if c.Order == "" {
			o, ok = wholebody.Default, true
		}
		if !ok || o == wholebody.Weighted {
			return nil, fmt.Errorf("order is %q, must be default or seed%s", c.Order, problem.Hint(c.Order, []string{"default", "seed"}))
		}
		return o.Levels(), nil
	}
	if c.Order != "" {
		return nil, fmt.Errorf("order %q is given beside levels: give one of them", c.Order)
	}
	var levels []wholebody.LevelSpec
	for _, l := range c.Levels {
		spec := wholebody.LevelSpec{Name: l.Name}
		for _, name := range l.Rows {
			g, ok := wholebody.RowsNamed(name)
			if !ok {
				return nil, fmt.Errorf("level %q: rows %q are not known; there are %s%s", l.Name, name, strings.Join(wholebody.RowsNames(), ", "), problem.Hint(name, wholebody.RowsNames()))
			}
			spec.Rows = append(spec.Rows, g)
		}
		levels = append(levels, spec)
	}
	return levels, wholebody.CheckLevels(levels)
}
