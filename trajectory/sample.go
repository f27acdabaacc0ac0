package trajectory

import (
	"fmt"
	"math"

	"poise/trajectory/spline"
)

// maxSamples bounds what Sample and Resample make: five hours at 1 kHz.
const maxSamples = 20_000_000

// sampleSlack is the share of a period by which a duration may exceed a whole
// number of periods without getting a sample more: rounding, not motion.
const sampleSlack = 1e-6

// PeriodError says that a motion cannot be sampled with a period.
type PeriodError struct {
	Period, Duration float64
	Deviation        float64 // what was asked for; 0 if nothing was
}

func (e *PeriodError) Error() string {
	if !(e.Period > 0) || math.IsInf(e.Period, 1) {
		return fmt.Sprintf("trajectory: period %g s, want a positive number", e.Period)
	}
	if e.Deviation != 0 {
		return fmt.Sprintf("trajectory: no sampling of %g s comes within %g", e.Duration, e.Deviation)
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
	return sampled(m, int(count)), nil
}

// sampled returns the states at the ends of n equal steps.
func sampled(m Motion, n int) *Trajectory {
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
	return t
}

// Resample samples a curve evenly with at most the given period, and finer if it
// must be so that the quintic through the samples (their Interpolant) nowhere
// leaves the curve by more than the given deviation, in any joint. It returns
// the largest deviation there is, with its joint: exact, not sampled. A deviation
// that rounding does not allow is refused.
func Resample(s *spline.Spline, period, deviation float64) (t *Trajectory, worst Difference, err error) {
	if !(deviation >= smallest(s)) {
		return nil, worst, &PeriodError{Period: period, Duration: s.Duration(), Deviation: deviation}
	}
	if t, err = Sample(s, period); err != nil {
		return nil, worst, err
	}
	for {
		if worst, err = Deviation(s, t); err != nil || math.Abs(worst.Value) <= deviation {
			return t, worst, err
		}
		// where accelerations jump the deviation falls with the square of the step
		finer := math.Sqrt(math.Abs(worst.Value)/deviation) * 1.05
		n := float64(len(t.Points)-1) * math.Max(1.1, math.Min(finer, 16))
		if !(n+1 < maxSamples) {
			return nil, worst, &PeriodError{Period: period, Duration: s.Duration(), Deviation: deviation}
		}
		t = sampled(s, int(math.Ceil(n)))
	}
}

// smallest returns a deviation that rounding does not disturb.
func smallest(s *spline.Spline) float64 {
	const roundings = 1e4 // of a quintic's coefficients, over short steps
	largest := math.SmallestNonzeroFloat64
	for j := range s.Joints() {
		largest = math.Max(largest, math.Abs(s.Peak(j, spline.Position, s.Start(), s.End()).Value))
	}
	return roundings * 0x1p-53 * largest
}

// Difference is how far a joint of one curve is from another's, and when.
type Difference struct {
	Joint int
	Time  float64
	Value float64
}

// Deviation returns where the interpolant of a trajectory is furthest from a
// curve while both run.
func Deviation(s *spline.Spline, t *Trajectory) (worst Difference, err error) {
	if len(t.Points) < 2 {
		return worst, nil
	}
	through, err := t.Interpolant()
	if err != nil {
		return worst, err
	}
	for j := range s.Joints() {
		if d := spline.Deviation(s, through, j); math.Abs(d.Value) > math.Abs(worst.Value) {
			worst = Difference{Joint: j, Time: d.Time, Value: d.Value}
		}
	}
	return worst, nil
}
