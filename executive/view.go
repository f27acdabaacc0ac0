package executive

import (
	"slices"

	"poise/executive/explain"
	"poise/loop"
)

// view is what the preparation of a goal sees: the robot as it was a moment ago,
// and what is being done. Nobody else writes it.
type view struct {
	e       *Executive // for what never changes: configuration, model, words
	snap    *loop.Snapshot
	running []*work // ordered trajectories that are not over
	kept    *Kept   // the trajectory that the goal brought
}

// look takes a view.
func (e *Executive) look() *view {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := &view{e: e}
	if e.snap != nil {
		v.snap = copyOf(e.snap)
	}
	for _, j := range e.live {
		if j.number != 0 {
			v.running = append(v.running, j.work)
		}
	}
	return v
}

// copyOf returns a snapshot that the cycle does not write.
func copyOf(s *loop.Snapshot) *loop.Snapshot {
	c := *s
	for _, x := range []*[]float64{
		&c.Command.Q, &c.Command.V, &c.Command.A, &c.Command.Tau, &c.Command.Stiff, &c.Command.Output,
		&c.Measured.Q, &c.Measured.V, &c.Measured.Effort} {
		*x = slices.Clone(*x)
	}
	c.Command.Limb, c.Command.Support = slices.Clone(s.Command.Limb), slices.Clone(s.Command.Support)
	c.Measured.Age, c.Measured.Fault = slices.Clone(s.Measured.Age), slices.Clone(s.Measured.Fault)
	c.Active, c.Mode, c.Age, c.Cut = slices.Clone(s.Active), slices.Clone(s.Mode), slices.Clone(s.Age), slices.Clone(s.Cut)
	return &c
}

// prepare prepares a goal. Nothing can be done before the cycle has run.
func (v *view) prepare(g Goal) (*work, []Explanation) {
	if v.snap == nil {
		return nil, []Explanation{explain.Because("cycle_silent", "the cycle of the robot has not run yet").With("try again when it does")}
	}
	return g.prepare(v)
}
