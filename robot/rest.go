package robot

import (
	"math"
	"strings"
)

// restPoses are the named poses that a robot may rest in, the preferred first.
var restPoses = []string{"stand", "home", "ready"}

// RestPositions returns a pose to begin in, one number per joint: the named pose stand,
// home or ready where the robot has one, otherwise as near to zero as the limits allow.
func (m *Model) RestPositions() []float64 {
	q := make([]float64, len(m.Joints()))
	for i, j := range m.Joints() {
		lower, upper := math.Inf(-1), math.Inf(1)
		if j.Limits.Lower.Has {
			lower = j.Limits.Lower.Value
		}
		if j.Limits.Upper.Has {
			upper = j.Limits.Upper.Value
		}
		q[i] = min(max(0, lower), upper)
	}
	for _, name := range restPoses {
		found := false
		for _, p := range m.Poses() {
			if p.Name != name && !strings.HasSuffix(p.Name, "/"+name) {
				continue
			}
			found = true
			for i, j := range p.Joints {
				q[j] = p.Q[i][0]
			}
		}
		if found {
			break
		}
	}
	return q
}
