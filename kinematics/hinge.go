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
//	R_PB = TurnZ(bank)·TurnX(tilt)·TurnZ(angle),
//
// and bank is zero for the first child of a body.
type Hinge struct {
	Turn float64 // by which the frame is turned about z against the Model's body

	// joints with an axis
	Banked           bool // bank is not zero
	SinBank, CosBank float64
	SinTilt, CosTilt float64

	// all joints, seen from the turned parent
	Angle Angle        // by which the body turns about its z, last of all
	Rest  spatial.Pose // X_PB at zero; of a planar or floating joint, which is not turned
	P     spatial.Vec3 // its origin
}

// Angle is Ratio·q[Q] + Zero. Where a joint does not turn about z, Ratio is 0.
type Angle struct {
	Q           int
	Ratio, Zero float64
}

// Hinges returns the hinges of all bodies of m.
func Hinges(m *robot.Model) []Hinge {
	bodies := m.Bodies()
	all := make([]Hinge, len(bodies))
	asked := make([]bool, len(bodies)) // some child has chosen the turn

	// each body with an axis is turned to the preferred direction of its first child
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
			if bodies[b].Kind == robot.Planar {
				h.Angle = Angle{Q: bodies[b].Q + 2, Ratio: 1}
			}
			continue
		}
		first, tilt, last := bodies[b].Rest.R.EulerZXZ()
		first -= turned
		h.Banked = first != 0
		h.SinBank, h.CosBank = math.Sincos(first)
		h.SinTilt, h.CosTilt = math.Sincos(tilt)
		h.Angle.Zero = last + h.Turn
		if bodies[b].Kind != robot.Prismatic {
			h.Angle.Q, h.Angle.Ratio = bodies[b].Q, bodies[b].Ratio
			h.Angle.Zero += bodies[b].Offset
		}
	}
	return all
}

// axial reports whether a joint has one axis, along or about z.
func axial(k robot.Kind) bool { return k <= robot.Prismatic }
