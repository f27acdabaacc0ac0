package smooth

import (
	"poise/trajectory"
	"poise/trajectory/retime"
)

// A run of many pieces is timed with less care, so that time to plan grows with
// their number and no faster.
const (
	manyPieces = 64  // that it has at least
	slowest    = 1.1 // times what a law takes whose samples exceed a limit: else it is given up
)

// quickLong times a long run and returns its samples; nil if they do not keep the
// limits.
func (t *timedRun) quickLong(limits []trajectory.Limits) (*trajectory.Trajectory, error) {
	limits = tightened(limits, t.route.Joints()+measures, 1-retime.QuickExcess)
	var solver retime.Solver
	if err := solver.Solve(&t.law, &retime.Problem{Path: t.route, Limits: limits, Quick: true, Stop: t.stop}); err != nil {
		return nil, err
	}
	if !t.jerky() {
		t.sharp = t.law.Duration()
	}
	if err := t.fits(); err != nil {
		return nil, err
	}
	// slower, it is sampled at other places: a little more every time
	for further := 1e-6; further < 0.02; further = 4*further + 5e-4 {
		out := t.sampled(1)
		excess := t.excess(out)
		if excess == 1 {
			return out, t.stopped()
		}
		if excess > slowest {
			break
		}
		t.law.Slow(excess * (1 + further))
	}
	return nil, t.stopped()
}
