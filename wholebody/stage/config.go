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
	Com        bool    `json:",omitempty"` // the centre of mass is led where that of the command is, in place of the base's origin; else where a controller asks for it
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
	captureBeyond     = 0.003  // m: by which the capture point stays further inside than the zero-moment point
	liftBeyond        = 0.002  // m: likewise when a foot is to leave the ground
	barrier           = 4.0    // 1/s: how fast the capture point may come near its edge
	steepest          = 200.0  // rad/s² or m/s²: of a joint that declares no limit
	fadeTime          = 0.2    // s in which a support comes or goes
	stiffest          = 25.0   // 1/s: natural frequency of what is asked for
	landing           = 0.05   // m/s at which a foot is led to the ground
	touches           = 0.001  // m above the ground at which it is there
	singular          = 0.02   // m: smallest singular value below which a limb is led by its joints
	helpBy            = 10.0   // rad/s² or m/s² by which free limbs may help the base, where they are below it
	slowDown          = 0.1    // s in which a motion ends that cannot be served
	sunk              = 0.0005 // m below where it is to be, and
	slewTime          = 0.16   // s in which a torque may go from nothing to its joint's limit
	atLimit           = 1e-6   // share of its limit by which a torque may be from it
	sinking           = 0.02   // m/s downwards: the body is not carried
	lifts             = 0.1    // m/s² upwards: it is again
	tolDynamics       = 1e-5   // of the weight: what of the equation of motion may be left
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
			return nil, fmt.Errorf("order is %q, must be default or seed", c.Order)
		}
		return o.Levels(), nil
	}
	if c.Order != "" {
		return nil, fmt.Errorf("order is %q beside a list of levels, which is one itself", c.Order)
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
