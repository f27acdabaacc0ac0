package ik

import (
	"fmt"
	"math"

	"poise/robot"
	"poise/spatial"
)

// tree is the part of the robot that matters for the tips: bodies on the way to
// them, those that do not move folded into constant poses.
type tree struct {
	m      *robot.Model
	joints []robot.JointID // that move, in array order; the coordinates x
	index  []int           // of each coordinate in q
	lower  []float64       // −Inf if unbounded
	upper  []float64
	slides []bool // a length, not an angle
	turns  []bool // an angle whose whole turns are the same place

	nodes []node
	tips  []tip
	reach float64 // sum of all offsets: the scale of lengths, m
}

// node is a body that the tips hang on.
type node struct {
	body   robot.BodyID
	parent int // index in nodes, −1 for the world
	x      int // its coordinate, −1 if it is held
	slide  bool
	ratio  float64
	offset float64
	rest   spatial.Pose // X_PB at zero
	held   spatial.Pose // X_PB of a held body, set by freeze
}

type tip struct {
	frame robot.FrameID
	node  int          // −1 for the world
	place spatial.Pose // X_BF
	path  []int        // nodes with a coordinate on the way to the tip, from the root
}

func (t *tree) build(m *robot.Model, joints []robot.JointID, tips []robot.FrameID) error {
	t.m = m
	bodies, frames := m.Bodies(), m.Frames()
	needed := make([]bool, len(bodies))
	for _, f := range tips {
		if f < 0 || int(f) >= len(frames) {
			return fmt.Errorf("ik: no frame %d", f)
		}
		for b := frames[f].Body; b != robot.World; b = bodies[b].Parent {
			needed[b] = true
		}
	}
	if err := t.chooseJoints(joints, needed); err != nil {
		return err
	}
	nodeOf := make([]int, len(bodies))
	nodeOf[robot.World] = -1
	for b := 1; b < len(bodies); b++ {
		if !needed[b] {
			continue
		}
		body := &bodies[b]
		n := node{body: robot.BodyID(b), parent: nodeOf[body.Parent], x: t.coordinate(body.Joint),
			slide: body.Kind == robot.Prismatic, ratio: body.Ratio, offset: body.Offset, rest: body.Rest}
		if n.x >= 0 && (n.slide || n.ratio != math.Trunc(n.ratio)) {
			t.turns[n.x] = false // a turn of the leader is not one of this follower
		}
		nodeOf[b] = len(t.nodes)
		t.nodes = append(t.nodes, n)
		t.reach += body.Rest.P.Norm()
	}
	for _, f := range tips {
		tp := tip{frame: f, node: nodeOf[frames[f].Body], place: frames[f].Pose}
		t.reach += tp.place.P.Norm()
		for n := tp.node; n >= 0; n = t.nodes[n].parent {
			if t.nodes[n].x >= 0 {
				tp.path = append([]int{n}, tp.path...)
			}
		}
		t.tips = append(t.tips, tp)
	}
	if t.reach == 0 {
		t.reach = 1
	}
	return nil
}

// chooseJoints fills the coordinates: the joints asked for, or all that the tips
// hang on, each of one number.
func (t *tree) chooseJoints(joints []robot.JointID, needed []bool) error {
	wanted := make(map[robot.JointID]bool, len(joints))
	for _, j := range joints {
		if j < 0 || int(j) >= len(t.m.Joints()) {
			return fmt.Errorf("ik: no joint %d", j)
		}
		wanted[j] = true
	}
	moves := make([]bool, len(t.m.Joints()))
	for b, body := range t.m.Bodies() {
		if needed[b] && body.Joint != robot.NoJoint && body.Kind.NumQ() == 1 {
			moves[body.Joint] = true
		}
	}
	for id, j := range t.m.Joints() {
		if !moves[id] || (joints != nil && !wanted[robot.JointID(id)]) {
			continue
		}
		lower, upper := math.Inf(-1), math.Inf(1)
		if j.Kind != robot.Continuous && j.Limits.Lower.Has && j.Limits.Upper.Has {
			lower, upper = j.Limits.Lower.Value, j.Limits.Upper.Value
		}
		t.joints = append(t.joints, robot.JointID(id))
		t.index = append(t.index, j.Q)
		t.lower, t.upper = append(t.lower, lower), append(t.upper, upper)
		t.slides = append(t.slides, j.Kind == robot.Prismatic)
		t.turns = append(t.turns, j.Kind != robot.Prismatic)
	}
	return nil
}

func (t *tree) coordinate(j robot.JointID) int {
	for i, id := range t.joints {
		if id == j {
			return i
		}
	}
	return -1
}

// freeze sets the poses of the bodies that are held, from a configuration.
func (t *tree) freeze(q []float64) {
	bodies := t.m.Bodies()
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.x < 0 {
			b := &bodies[n.body]
			n.held = b.Rest.Mul(heldMotion(b, q))
		}
	}
}

// heldMotion returns the motion of a joint of any kind at a configuration.
func heldMotion(b *robot.Body, q []float64) spatial.Pose {
	X := spatial.IdentityPose
	switch b.Kind {
	case robot.Prismatic:
		X.P.Z = b.Ratio*q[b.Q] + b.Offset
	case robot.Planar:
		X = spatial.Pose{R: rotZ(q[b.Q+2]), P: spatial.Vec3{X: q[b.Q], Y: q[b.Q+1]}}
	case robot.Floating:
		u, _ := spatial.Quat{X: q[b.Q+3], Y: q[b.Q+4], Z: q[b.Q+5], W: q[b.Q+6]}.Unit()
		X = spatial.Pose{R: u.Matrix(), P: spatial.Vec3{X: q[b.Q], Y: q[b.Q+1], Z: q[b.Q+2]}}
	default:
		X.R = rotZ(b.Ratio*q[b.Q] + b.Offset)
	}
	return X
}

func rotZ(angle float64) spatial.Mat3 {
	s, c := math.Sincos(angle)
	return spatial.Mat3{c, -s, 0, s, c, 0, 0, 0, 1}
}
