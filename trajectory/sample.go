package trajectory

import (
	"fmt"
	"math"
)

// maxSamples bounds what Sample makes: five hours at 1 kHz.
const maxSamples = 20_000_000

// sampleSlack is the share of a period by which a duration may exceed a whole
// number of periods without getting a sample more: rounding, not motion.
const sampleSlack = 1e-6

// PeriodError says that a motion cannot be sampled with a period.
type PeriodError struct{ Period, Duration float64 }

func (e *PeriodError) Error() string {
	if !(e.Period > 0) || math.IsInf(e.Period, 1) {
		return fmt.Sprintf("trajectory: period %g s, want a positive number", e.Period)
	}
	return fmt.Sprintf("trajectory: %g s with period %g s are more than %d samples", e.Duration, e.Period, maxSamples)
}

// Sample returns the states of a motion at even times from its start to its end,
// both included. The step is the period or, since a motion is seldom a whole
// number of periods, a little less. A motion without duration gives one point.
func Sample(m Motion, period float64) (*Trajectory, error) {
	duration := m.End() - m.Start()
	count := math.Ceil(duration/period - sampleSlack)
	if !(period > 0) || math.IsInf(period, 1) || !(count < maxSamples) {
		return nil, &PeriodError{Period: period, Duration: duration}
	}
	n := int(count)
	if n < 1 && m.End() > m.Start() {
		n = 1
	}
	t := New(n+1, m.Joints())
	for i := range t.Points {
		p := &t.Points[i]
		p.Time = m.Start() + (m.End()-m.Start())*float64(i)/float64(max(n, 1))
		if i == n {
			p.Time = m.End()
		}
		m.StateTo(p.Position, p.Velocity, p.Acceleration, p.Time)
	}
	return t, nil
}
