package kinematics

import "poise/robot"

// Index is where the coordinate of each joint is in a configuration.
type Index []int

// NewIndex returns that of m.
func NewIndex(m *robot.Model) (x Index) {
	for _, j := range m.Joints() {
		x = append(x, j.Q)
	}
	return x
}

// ConfigurationTo copies positions of joints into a configuration, whose base stays. Loop-safe.
func (x Index) ConfigurationTo(q, joints []float64) {
	for j, at := range x {
		q[at] = joints[j]
	}
}

// JointsTo copies the joints out of a configuration. Loop-safe.
func (x Index) JointsTo(joints, q []float64) {
	for j, at := range x {
		joints[j] = q[at]
	}
}
