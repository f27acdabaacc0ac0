package smooth

import (
	"poise/planner"
	"poise/planner/path"
)

// leg is one command on its way: a request of a sequence before it has a time.
type leg struct {
	item     int
	task     *planner.Task
	parts    []path.Path  // of the tool; none for PTP
	tool     planner.Tool // Cartesian limits, not scaled
	transfer *transfer    // PTP
}

func (l *leg) cartesian() bool { return l.task.Command != planner.PTP }

// linkSpeed is the limit on the speed of a link other than the one that follows
// the path, infinite if there is none.
func (l *leg) linkSpeed() float64 {
	if l.task.MaxSpeed > 0 && !(l.cartesian() && l.task.SpeedLink == l.task.Link) {
		return l.task.MaxSpeed
	}
	return inf
}
