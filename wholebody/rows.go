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
	fadingForce
	captureEdge
	legReach
	torqueRateMax
	torqueRateMin
)

const perKind = 1 << 16 // rows of a kind

var kindNames = [...]string{
	torqueMax: "tau_max", torqueMin: "tau_min", accelerationMax: "a_max", accelerationMin: "a_min",
	normalForce: "normal_force", frictionPlusX: "friction_+x", frictionMinusX: "friction_-x",
	frictionPlusY: "friction_+y", frictionMinusY: "friction_-y", momentSide: "moment",
	torsionPlus: "torsion_+", torsionMinus: "torsion_-", zmpEdge: "zmp_edge", fadingForce: "fading_force", captureEdge: "capture_edge", legReach: "reach",
	torqueRateMax: "tau_rate_max", torqueRateMin: "tau_rate_min",
}

func rowOf(kind, index int) int { return kind*perKind + index }

// Names name the rows of a robot. They never change.
type Names struct {
	m          *robot.Model
	velocities []string
}

// NewNames returns the names of a robot's rows.
func NewNames(m *robot.Model) *Names { return &Names{m, velocityNames(m)} }

// Row names a row of an answer: what is limited, and of which joint, chain or edge.
func (n *Names) Row(r Row) string {
	kind, index := int(r)/perKind, int(r)%perKind
	switch kind {
	case torqueMax, torqueMin, accelerationMax, accelerationMin, torqueRateMax, torqueRateMin:
		return kindNames[kind] + " " + n.velocities[index]
	case momentSide:
		return fmt.Sprintf("%s %d %s", kindNames[kind], index%sides, n.m.Chains()[index/sides].Name)
	case zmpEdge, captureEdge:
		return fmt.Sprintf("%s %d", kindNames[kind], index)
	default:
		return kindNames[kind] + " " + n.m.Chains()[index].Name
	}
}

// RowName names a row of an answer.
func (s *Solver) RowName(r Row) string { return s.rowNames.Row(r) }

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
