package kinematics

import (
	"math"

	"poise/robot"
	"poise/spatial"
)

// Hinge is how a body hangs on its parent, for kernels. A body whose joint has
// an axis may be turned about it without changing the joint: this freedom, which
// Denavit and Hartenberg used, is spent so that going from parent P to body B
// takes as few turns as possible,
//
//	R_PB = TurnZ(bank)·TurnX(tilt)·TurnZ(q + Zero),
//
// and bank is zero for the first child of a body.
type Hinge struct {
	Turn float64 // by which the frame is turned about z against the Model's body

	// joints with an axis
	Banked           bool // bank is not zero
	SinBank, CosBank float64
	SinTilt, CosTilt float64
	Zero             float64 // what is added to the joint's angle; all of it for a slide

	// all joints, seen from the turned parent
	Rest spatial.Pose // X_PB at zero; of a planar or floating joint, which is not turned
	P    spatial.Vec3 // its origin
}

// Hinges returns the hinges of all bodies of m.
func Hinges(m *robot.Model) []Hinge {
	bodies := m.Bodies()
	all := make([]Hinge, len(bodies))
	asked := make([]bool, len(bodies)) // some child has chosen the turn

	// each body with an axis is turned to the wish of its first child
	for b := 1; b < len(bodies); b++ {
		parent := bodies[b].Parent
		if !axial(bodies[b].Kind) {
			continue
		}
		if parent != robot.World && axial(bodies[parent].Kind) && !asked[parent] {
			all[parent].Turn, _, _ = bodies[b].Rest.R.EulerZXZ()
			asked[parent] = true
		}
	}
	for b := 1; b < len(bodies); b++ {
		h := &all[b]
		turned := all[bodies[b].Parent].Turn
		X_PB := spatial.Pose{R: spatial.TurnZ(-turned)}.Mul(bodies[b].Rest)
		h.Rest, h.P = X_PB, X_PB.P
		if !axial(bodies[b].Kind) {
			continue
		}
		first, tilt, last := bodies[b].Rest.R.EulerZXZ()
		first -= turned
		h.Banked = first != 0
		h.SinBank, h.CosBank = math.Sincos(first)
		h.SinTilt, h.CosTilt = math.Sincos(tilt)
		h.Zero = last + h.Turn
	}
	return all
}

// axial reports whether a joint has one axis, along or about z.
func axial(k robot.Kind) bool { return k <= robot.Prismatic }
