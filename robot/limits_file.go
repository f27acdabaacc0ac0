package robot

import (
	"errors"
	"fmt"

	"poise/internal/strictyaml"
	"poise/problem"
)

// file is a limit file, as MoveIt and the Pilz planner have them; wrappers
// taken off.
type file struct {
	Joints    []jointEntry    `yaml:"joint_limits"`
	Cartesian *cartesianEntry `yaml:"cartesian_limits"`

	// for clients of MoveIt, not for limits
	VelocityScaling     *float64 `yaml:"default_velocity_scaling_factor"`
	AccelerationScaling *float64 `yaml:"default_acceleration_scaling_factor"`

	Lines map[string]int `yaml:",lines"`
}

// jointEntry has all keys that MoveIt knows. A pointer is nil if the key is
// absent.
type jointEntry struct {
	Name  string         `yaml:",key"`
	Line  int            `yaml:",line"`
	Lines map[string]int `yaml:",lines"`

	HasPosition *bool    `yaml:"has_position_limits"`
	MinPosition *float64 `yaml:"min_position"`
	MaxPosition *float64 `yaml:"max_position"`

	HasVelocity *bool    `yaml:"has_velocity_limits"`
	MaxVelocity *float64 `yaml:"max_velocity"`
	MinVelocity *float64 `yaml:"min_velocity"` // MoveIt declares it and uses it nowhere

	HasAcceleration *bool    `yaml:"has_acceleration_limits"`
	MaxAcceleration *float64 `yaml:"max_acceleration"`
	HasDeceleration *bool    `yaml:"has_deceleration_limits"`
	MaxDeceleration *float64 `yaml:"max_deceleration"`
	HasJerk         *bool    `yaml:"has_jerk_limits"`
	MaxJerk         *float64 `yaml:"max_jerk"`
	HasEffort       *bool    `yaml:"has_effort_limits"`
	MaxEffort       *float64 `yaml:"max_effort"`

	// read and not used
	AngleWraparound *bool    `yaml:"angle_wraparound"`
	HasSoft         *bool    `yaml:"has_soft_limits"`
	KPosition       *float64 `yaml:"k_position"`
	KVelocity       *float64 `yaml:"k_velocity"`
	SoftLower       *float64 `yaml:"soft_lower_limit"`
	SoftUpper       *float64 `yaml:"soft_upper_limit"`
}

type cartesianEntry struct {
	Line        int            `yaml:",line"`
	Lines       map[string]int `yaml:",lines"`
	MaxTransVel *float64       `yaml:"max_trans_vel"`
	MaxTransAcc *float64       `yaml:"max_trans_acc"`
	MaxTransDec *float64       `yaml:"max_trans_dec"`
	MaxRotVel   *float64       `yaml:"max_rot_vel"`
}

// ReadLimits reads a limit file: joint_limits.yaml or pilz_cartesian_limits.yaml, or
// both in one. It may be wrapped in robot_description_planning, and that in the
// parameters of a ROS 2 node. What the file does not have is nil. Beside an error
// it returns what could be read.
func ReadLimits(data []byte, name string) (*LimitTable, *CartesianLimits, error) {
	n, err := strictyaml.Parse(data, name)
	if err != nil {
		return nil, nil, err
	}
	for _, wrapper := range []string{"/**", "ros__parameters", "robot_description_planning"} {
		n, _ = n.Only(wrapper)
	}
	var f file
	errs := []error{n.Decode(&f)}
	var table *LimitTable
	if f.Lines["joint_limits"] > 0 {
		table = &LimitTable{File: name}
		for _, j := range f.Joints {
			e, err := j.entry(name)
			errs = append(errs, err)
			table.Joints = append(table.Joints, e)
		}
	}
	var cart *CartesianLimits
	if f.Cartesian != nil {
		cart, err = f.Cartesian.limits(name)
		errs = append(errs, err)
	}
	return table, cart, errors.Join(errs...)
}

// entry gathers the limits of a joint. A flag has_… turns a limit on or off; a
// value without its flag counts, a flag without its value is an error.
func (j *jointEntry) entry(file string) (LimitEntry, error) {
	e := LimitEntry{Joint: j.Name, Line: j.Line}
	var errs []error
	read := func(into *Limit, flagKey string, flag *bool, key string, value *float64) {
		switch {
		case flag != nil && !*flag:
			into.Source = source(file, j.Lines[flagKey])
		case value != nil:
			*into = Limit{*value, true, source(file, j.Lines[key])}
		case flag != nil && j.Lines[key] == 0:
			errs = append(errs, &problem.Problem{Pos: problem.Pos{File: file, Line: j.Lines[flagKey]}, Thing: "joint_limits." + j.Name,
				Text: fmt.Sprintf("%s is true, but %s is missing", flagKey, key)})
		}
	}
	l := &e.Limits
	read(&l.Lower, "has_position_limits", j.HasPosition, "min_position", j.MinPosition)
	read(&l.Upper, "has_position_limits", j.HasPosition, "max_position", j.MaxPosition)
	read(&l.Velocity, "has_velocity_limits", j.HasVelocity, "max_velocity", j.MaxVelocity)
	read(&l.Acceleration, "has_acceleration_limits", j.HasAcceleration, "max_acceleration", j.MaxAcceleration)
	read(&l.Deceleration, "has_deceleration_limits", j.HasDeceleration, "max_deceleration", j.MaxDeceleration)
	read(&l.Jerk, "has_jerk_limits", j.HasJerk, "max_jerk", j.MaxJerk)
	read(&l.Effort, "has_effort_limits", j.HasEffort, "max_effort", j.MaxEffort)
	return e, errors.Join(errs...)
}

// limits checks the four numbers, which belong together.
func (c *cartesianEntry) limits(file string) (*CartesianLimits, error) {
	var errs []error
	read := func(key string, value *float64, sign float64) Limit {
		line, text := c.Lines[key], ""
		switch {
		case value == nil && line > 0:
			return Limit{} // cannot be read, which is told already
		case value == nil:
			line, text = c.Line, key+" is missing: the four limits belong together"
		case *value*sign <= 0:
			text = fmt.Sprintf("%s %g must be %s", key, *value, signWord(sign))
		default:
			return Limit{*value, true, source(file, line)}
		}
		errs = append(errs, &problem.Problem{Pos: problem.Pos{File: file, Line: line}, Thing: "cartesian_limits", Text: text})
		return Limit{}
	}
	out := &CartesianLimits{
		MaxTransVel: read("max_trans_vel", c.MaxTransVel, 1),
		MaxTransAcc: read("max_trans_acc", c.MaxTransAcc, 1),
		MaxTransDec: read("max_trans_dec", c.MaxTransDec, -1),
		MaxRotVel:   read("max_rot_vel", c.MaxRotVel, 1),
	}
	return out, errors.Join(errs...)
}

func source(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }
