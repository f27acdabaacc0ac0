package smooth

import (
	"errors"

	"poise/planner"
	"poise/trajectory/retime"
)

// untimed explains why a run has no time law, in the words of its request: joints
// and places along the path, not rows and parameters.
func (b *builder) untimed(run *timedRun, err error) *planner.Refusal {
	var (
		free   *retime.FreeError
		size   *retime.SizeError
		broken *retime.BrokenError
		bent   *retime.PathError
	)
	switch {
	case errors.As(err, &free):
		p, from := run.place(free.From)
		why := planner.Refuse(planner.MissingLimit, "%.6g m along the path nothing moves that has an acceleration limit, so its time would be arbitrary", from)
		why.Distance = from
		return b.about(why.With("give the joints of the group acceleration limits"), p.legs[0].item)
	case errors.As(err, &size):
		why := planner.Refuse(planner.BadRequest, "the %s limit of %s, scaled, is %g: no motion can be timed with it", size.Quantity, b.rowName(size.Joint), size.Value)
		why.Joint, why.Value = b.jointName(size.Joint), size.Value
		return b.about(why.With("give a limit that a machine can have, or another scaling factor"), run.route.pieces[0].legs[0].item)
	case errors.As(err, &broken):
		p, at := run.place(broken.S)
		why := planner.Refuse(planner.LimitExceeded, "%.6g m along the path the speed of the start leads to %.4g times a limit", at, broken.Ratio)
		why.Distance, why.Value, why.Limit = at, broken.Ratio, 1
		return b.about(why.With("start more slowly, or from rest"), p.legs[0].item)
	case errors.As(err, &bent):
		p, at := run.place(bent.S)
		what := "the path"
		if bent.Row >= 0 {
			what = b.rowName(bent.Row)
		}
		why := planner.Refuse(planner.NoSolution, "%.6g m along the path %s bends too sharply to be timed", at, what)
		why.Joint, why.Distance = b.jointName(bent.Row), at
		return b.about(why.With("give the goal, the waypoints or the blend radii there more room"), p.legs[0].item)
	}
	return b.about(planner.Refuse(planner.LimitExceeded, "the motion cannot be timed: %v", err), run.route.pieces[0].legs[0].item)
}

// place returns the piece at a place of the route, and how far along its leg that is.
func (r *timedRun) place(s float64) (p *piece, done float64) {
	before := 0.0
	for _, p = range r.route.pieces {
		if s <= before+p.Length() {
			break
		}
		before += p.Length()
	}
	return p, p.done + max(s-before, 0)/p.Scale
}

// jointName returns the joint of a row of a route; "" if it is a measure.
func (b *builder) jointName(row int) string {
	if row < 0 || row >= len(b.result.Joints) {
		return ""
	}
	return b.Model.Joints()[b.result.Joints[row]].Name
}

// rowName names a row of a route in a sentence.
func (b *builder) rowName(row int) string {
	if name := b.jointName(row); name != "" {
		return "joint " + name
	}
	switch row - len(b.result.Joints) {
	case turnRow:
		return "the tool's rotation"
	case linkRow:
		return "the link whose speed is limited"
	}
	return "the tool"
}
