package urdf

import (
	"poise/problem"
	"poise/spatial"
)

// Semantics is an SRDF file: what the parts of a robot are for. Links and
// joints are meant by name; whether the robot has them, package robot tells.
type Semantics struct {
	Name               string
	Groups             []Group
	States             []GroupState
	EndEffectors       []EndEffector
	VirtualJoints      []VirtualJoint
	PassiveJoints      []Ref
	NoDefaultCollision []Ref // links that collide with nothing unless enabled
	Disabled, Enabled  []LinkPair
	Properties         []JointProperty
	Spheres            []SphereModel
	Pos                problem.Pos
}

// Ref is a name and the place where it is mentioned.
type Ref struct {
	Name string
	Pos  problem.Pos
}

// Group is a set of joints, the union of what it lists.
type Group struct {
	Name   string
	Links  []Ref // each stands for its parent joint
	Joints []Ref
	Chains []Chain
	Groups []Ref
	Pos    problem.Pos
}

// Chain is all joints from a base link down to a tip link.
type Chain struct {
	Base, Tip string
	Pos       problem.Pos
}

// GroupState is a named configuration of a group.
type GroupState struct {
	Name, Group string
	Joints      []JointValue
	Pos         problem.Pos
}

// JointValue is the configuration of one joint: a number for each degree of
// freedom.
type JointValue struct {
	Joint string
	Value []float64
	Pos   problem.Pos
}

// EndEffector is a group that is carried as a tool.
type EndEffector struct {
	Name, Group string
	ParentLink  string
	ParentGroup string // "" if not written
	Pos         problem.Pos
}

// VirtualJoint connects the robot to the world: Fixed, Planar or Floating.
type VirtualJoint struct {
	Name                   string
	Type                   JointType
	ParentFrame, ChildLink string
	Pos                    problem.Pos
}

// LinkPair is a pair of links whose collision is disabled or enabled.
type LinkPair struct {
	Link1, Link2 string
	Reason       string // "" if not written
	Pos          problem.Pos
}

// JointProperty is a remark about a joint for programs that understand it.
type JointProperty struct {
	Joint, Property, Value string
	Pos                    problem.Pos
}

// SphereModel stands for a link's extent by spheres.
type SphereModel struct {
	Link    string
	Spheres []SphereAt
	Pos     problem.Pos
}

// SphereAt is a sphere in the frame of its link.
type SphereAt struct {
	Center spatial.Vec3
	Radius float64
}
