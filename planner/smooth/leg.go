package smooth

import (
	"poise/planner"
	"poise/planner/path"
	"poise/planner/timing"
	"poise/planner/transfer"
	"poise/trajectory"
)

// leg is one command on its way: a request of a sequence before it has a time.
type leg struct {
	item     int
	task     *planner.Task
	parts    []path.Path        // of the tool; none for PTP
	tool     planner.Tool       // Cartesian limits, not scaled
	transfer *transfer.Transfer // PTP
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

// piece is a stretch of a run on which the joints are smooth functions of one
// parameter: the length of the tool's path, that of a bend, or the way of a
// point-to-point motion.
type piece struct {
	timing.Piece
	onPath  bool                   // the parameter is the length of a path of the tool
	legs    []*leg                 // that it belongs to: two for a bend between them
	done    float64                // of the leg before From, in its parameter
	timed   *trajectory.Trajectory // of a point-to-point motion, if it stands alone
	pace    float64                // and how fast it would go, at most and at its start
	opening float64
}
