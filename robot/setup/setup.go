// Package setup proposes how a robot is used from how it is built: its limbs with their
// tips, what they stand with, which joints are each other's mirror image, a pose to begin
// with, where its meshes are, and limits of acceleration with how they were chosen. A
// person looks at the proposal, changes it and lets it be written as robot.yaml beside the
// URDF, each field with its explanation. What stands there already is kept byte for byte.
//
//	bot, err := load.Robot("my_arm.urdf", load.Options{})
//	s, err := setup.Open(bot)
//	fmt.Print(string(s.Text))
//	written, err := s.Write()
package setup

import (
	"fmt"
	"slices"
	"strings"

	"poise/kinematics"
	"poise/robot"
)

// Proposal is what can be chosen. Its zero fields are not written.
type Proposal struct {
	Name string `json:"name"`
	Base string `json:"base"` // fixed or floating
	Why  string `json:"why"`  // of the base

	Limbs  []Limb `json:"limbs"`
	Mirror []Pair `json:"mirror"`
	Poses  []Pose `json:"poses"`

	Packages []string `json:"packages"` // folders of packages with meshes, from the robot's folder
	Limits   bool     `json:"limits"`   // write joint_limits.yaml with what is missing

	Notes []string `json:"notes"` // what could not be proposed, and why
}

// Limb is a part of the robot that is used as one: a group, and a chain if its joints form
// one way to a tip.
type Limb struct {
	Name   string       `json:"name"`
	Kind   string       `json:"kind"` // leg, arm, head, torso, gripper, wheel or limb
	Joints []string     `json:"joints"`
	Base   string       `json:"base"`   // link that it hangs on; "" if it is no chain
	Tip    string       `json:"tip"`    // link at its end
	Tips   []string     `json:"tips"`   // links that can be the tip
	Points [][3]float64 `json:"points"` // that touch the ground, in the frame of the tip, m
	Touch  string       `json:"touch"`  // how the points were found
}

// Pair are two joints that are each other's mirror image; Right is Left for one in the
// middle.
type Pair struct {
	Left  string `json:"left"`
	Right string `json:"right"`
	Sign  int    `json:"sign"`
}

// Pose is a named pose.
type Pose struct {
	Name   string    `json:"name"`
	Why    string    `json:"why"`
	Joints []string  `json:"joints"`
	Q      []float64 `json:"positions"`
}

// Propose makes the proposal of a model.
func Propose(m *robot.Model) *Proposal {
	d := kinematics.NewData(m)
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	for _, j := range m.Joints() {
		if j.Kind.NumQ() == 1 {
			q[j.Q] = 0 // also where the limits exclude it: models are drawn so
		}
	}
	d.UpdatePosition(q)
	b := &maker{m: m, d: d, frames: framesOf(m), parents: map[string]string{}}
	for _, j := range m.Document().Joints {
		b.parents[j.Name] = j.Parent
	}
	p := &Proposal{Name: m.Name()}
	p.Limbs = b.limbs()
	p.Mirror = b.mirror(p)
	b.stand(p)
	p.Poses = b.home(p)
	p.Limits = slices.ContainsFunc(m.Joints(), func(j robot.Joint) bool { return j.Kind.NumQ() == 1 && !j.Limits.Acceleration.Has })
	return p
}

// maker looks at a model with all joints at zero.
type maker struct {
	m      *robot.Model
	d      *kinematics.Data
	frames [][]robot.FrameID // of each body
	stood  []float64         // configuration in which legs are bent; nil if they carry the body at zero

	parents map[string]string // link that each joint hangs on
}

func framesOf(m *robot.Model) [][]robot.FrameID {
	frames := make([][]robot.FrameID, len(m.Bodies()))
	for i, f := range m.Frames() {
		frames[f.Body] = append(frames[f.Body], robot.FrameID(i))
	}
	return frames
}

// home is the pose with which a robot begins: every joint at zero, or in the middle of its
// range if zero is not in it. One with legs stands then: feet stay where they are at zero, unless
// that is a body on the ground with its legs stretched out, which are bent.
func (b *maker) home(p *Proposal) []Pose {
	pose := Pose{Name: "home", Why: "every joint at zero"}
	var away []string
	q := make([]float64, len(b.m.Joints()))
	for i, j := range b.m.Joints() {
		if j.Kind.NumQ() != 1 {
			continue
		}
		if !j.Limits.Contains(0) {
			q[i] = middle(j.Limits)
			away = append(away, j.Name)
		}
	}
	if b.stood != nil {
		pose.Why = "legs bent so that they carry the body; their feet are stretched out while all joints are at zero"
		for i, j := range b.m.Joints() {
			if j.Kind.NumQ() == 1 {
				q[i] = b.stood[j.Q]
			}
		}
	} else if len(away) > 0 {
		pose.Why += fmt.Sprintf("; where its limits exclude zero, in the middle of its range: %s", strings.Join(away, ", "))
		if b.plant(p, q) {
			pose.Why += "; hips so that the feet stay under them"
		}
	}
	for i, j := range b.m.Joints() {
		if j.Kind.NumQ() == 1 {
			pose.Joints, pose.Q = append(pose.Joints, j.Name), append(pose.Q, q[i])
		}
	}
	if slices.ContainsFunc(p.Limbs, func(l Limb) bool { return len(l.Points) > 0 }) {
		pose.Name = "stand"
	}
	if len(pose.Joints) == 0 {
		return nil
	}
	return []Pose{pose}
}

// middle returns a position within limits that do not contain zero, rounded where the
// range is wide enough.
func middle(l robot.Limits) float64 {
	switch {
	case l.Lower.Has && l.Upper.Has:
		at := (l.Lower.Value + l.Upper.Value) / 2
		if r := rounded(at); l.Contains(r) {
			return r
		}
		return at
	case l.Lower.Has:
		return l.Lower.Value
	}
	return l.Upper.Value
}
