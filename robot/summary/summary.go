// Package summary summarises a robot, as data for programs and as a table for
// people: poise check.
package summary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"poise/robot"
)

// Summary is a robot in a form that prints as JSON. Joints are the independent
// ones in the order of all arrays; absent limits are null.
type Summary struct {
	Name      string     `json:"name"`
	NumQ      int        `json:"nq"`
	NumV      int        `json:"nv"`
	Mass      float64    `json:"mass"`
	Joints    []Joint    `json:"joints"`
	Mimic     []Mimic    `json:"mimic"`
	Links     []string   `json:"links"`
	Groups    Groups     `json:"groups"`
	Cartesian *Cartesian `json:"cartesian_limits"`
	Lacks     []string   `json:"cycle_1_lacks"` // what it does not tell and cycle 1 needs
	Warnings  []string   `json:"warnings"`
}

// Joint is one independent joint with its limits.
type Joint struct {
	Name         string            `json:"name"`
	Type         string            `json:"type"`
	Lower        *float64          `json:"lower"`
	Upper        *float64          `json:"upper"`
	Velocity     *float64          `json:"velocity"`
	Effort       *float64          `json:"effort"`
	Acceleration *float64          `json:"acceleration"`
	Deceleration *float64          `json:"deceleration"`
	Jerk         *float64          `json:"jerk"`
	Source       map[string]string `json:"source"` // limit → file and line
}

// Mimic is a joint that follows another: multiplier·of + offset, with chains of
// mimics multiplied out.
type Mimic struct {
	Name       string  `json:"name"`
	Of         string  `json:"of"`
	Multiplier float64 `json:"multiplier"`
	Offset     float64 `json:"offset"`
}

// Groups maps names to joints, in the order of the robot.
type Groups []Group

// Group is a group and its independent joints.
type Group struct {
	Name   string
	Joints []string
}

// Cartesian are the limits of the tip.
type Cartesian struct {
	MaxTransVel float64 `json:"max_trans_vel"`
	MaxTransAcc float64 `json:"max_trans_acc"`
	MaxTransDec float64 `json:"max_trans_dec"`
	MaxRotVel   float64 `json:"max_rot_vel"`
}

// CycleOneLacks says what a robot does not tell and inverse dynamics with servo models needs,
// each as the end of a sentence; nil if it has everything.
func CycleOneLacks(m *robot.Model) (lacks []string) {
	bodies := m.Bodies()
	behind := make([]float64, len(bodies)) // mass that a body carries, its own too
	for i := len(bodies) - 1; i >= 0; i-- {
		behind[i] += bodies[i].Inertia.Mass
		if p := bodies[i].Parent; p >= 0 && int(p) < i {
			behind[p] += behind[i]
		}
	}
	var bare, massless []string
	for i, j := range m.Joints() {
		if j.Virtual {
			continue
		}
		if m.Servo(robot.JointID(i)).Model == nil {
			bare = append(bare, j.Name)
		}
		if behind[j.Body] <= 0 {
			massless = append(massless, j.Name)
		}
	}
	if len(massless) > 0 {
		lacks = append(lacks, "a mass behind "+joints(massless)+": inertial in the URDF")
	}
	if len(bare) > 0 {
		lacks = append(lacks, "a servo model of "+joints(bare)+": servo_models in robot.yaml")
	}
	return lacks
}

// joints names some joints, or says how many they are.
func joints(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%d joints (%s, %s …)", len(names), names[0], names[1])
	}
	return "joint " + strings.Join(names, ", ")
}

// New summarises a model.
func New(m *robot.Model, warnings []string) *Summary {
	s := &Summary{
		Name: m.Name(), NumQ: m.NumQ(), NumV: m.NumV(), Mass: m.Mass(),
		Joints: []Joint{}, Mimic: []Mimic{}, Links: []string{}, Groups: Groups{},
		Warnings: append([]string{}, warnings...), Lacks: append([]string{}, CycleOneLacks(m)...),
	}
	for _, j := range m.Joints() {
		s.Joints = append(s.Joints, newJoint(j))
	}
	for _, b := range m.Bodies() {
		if b.Mimic {
			s.Mimic = append(s.Mimic, Mimic{b.Name, m.Joints()[b.Joint].Name, b.Ratio, b.Offset})
		}
	}
	for _, f := range m.Frames() {
		s.Links = append(s.Links, f.Name)
	}
	for _, g := range m.Groups() {
		names := []string{}
		for _, j := range g.Joints {
			names = append(names, m.Joints()[j].Name)
		}
		s.Groups = append(s.Groups, Group{g.Name, names})
	}
	if c := m.CartesianLimits(); c != nil {
		s.Cartesian = &Cartesian{c.MaxTransVel.Value, c.MaxTransAcc.Value, c.MaxTransDec.Value, c.MaxRotVel.Value}
	}
	return s
}

func newJoint(j robot.Joint) Joint {
	out := Joint{Name: j.Name, Type: j.Kind.String(), Source: map[string]string{}}
	field := map[string]**float64{
		"lower": &out.Lower, "upper": &out.Upper, "velocity": &out.Velocity, "effort": &out.Effort,
		"acceleration": &out.Acceleration, "deceleration": &out.Deceleration, "jerk": &out.Jerk,
	}
	for name, limit := range j.Limits.All {
		if limit.Has {
			*field[name] = &limit.Value
			out.Source[name] = limit.Source
		}
	}
	return out
}

// MarshalJSON writes the groups as an object that keeps their order.
func (g Groups) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, group := range g {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(group.Name)
		if err != nil {
			return nil, err
		}
		joints, err := json.Marshal(group.Joints)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(joints)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
