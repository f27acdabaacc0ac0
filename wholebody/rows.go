package wholebody

import (
	"fmt"

	"poise/robot"
)

// Row is the identity of an inequality: its kind, and of what.
type Row int

// Kinds of inequalities.
const (
	torqueMax = iota
	torqueMin
	accelerationMax
	accelerationMin
	normalForce
	frictionPlusX
	frictionMinusX
	frictionPlusY
	frictionMinusY
	momentSide
	torsionPlus
	torsionMinus
	zmpEdge
)

const perKind = 1 << 16 // rows of a kind

var kindNames = [...]string{
	torqueMax: "tau_max", torqueMin: "tau_min", accelerationMax: "a_max", accelerationMin: "a_min",
	normalForce: "normal_force", frictionPlusX: "friction_+x", frictionMinusX: "friction_-x",
	frictionPlusY: "friction_+y", frictionMinusY: "friction_-y", momentSide: "moment",
	torsionPlus: "torsion_+", torsionMinus: "torsion_-", zmpEdge: "zmp_edge",
}

func rowOf(kind, index int) int { return kind*perKind + index }

// RowName names a row of an answer: what is limited, and of which joint, chain or edge.
func (s *Solver) RowName(r Row) string {
	kind, index := int(r)/perKind, int(r)%perKind
	switch kind {
	case torqueMax, torqueMin, accelerationMax, accelerationMin:
		return kindNames[kind] + " " + s.velocities[index]
	case momentSide:
		return fmt.Sprintf("%s %d %s", kindNames[kind], index%sides, s.m.Chains()[index/sides].Name)
	case zmpEdge:
		return fmt.Sprintf("%s %d", kindNames[kind], index)
	default:
		return kindNames[kind] + " " + s.m.Chains()[index].Name
	}
}

// velocityNames names each velocity by its joint, with a number where a joint has several.
func velocityNames(m *robot.Model) []string {
	names := make([]string, m.NumV())
	for _, j := range m.Joints() {
		n := j.Kind.NumV()
		for k := range n {
			names[j.V+k] = j.Name
			if n > 1 {
				names[j.V+k] = fmt.Sprintf("%s[%d]", j.Name, k)
			}
		}
	}
	return names
}
