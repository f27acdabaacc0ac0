package track

import (
	"fmt"
	"math"

	"poise/kinematics/ik"
	"poise/planner"
	"poise/planner/path"
	"poise/robot"
	"poise/trajectory/spline"
)

// limitSlack is how far rounding may take a joint beyond a limit, rad or m.
const limitSlack = 1e-9

// withinLimits refuses a curve that leaves a joint's range, at the first place
// where it does; done is the length of path before it.
func (t *Tracker) withinLimits(c *spline.Spline, done float64) *planner.Refusal {
	first, at, end := math.Inf(1), -1, 0.0
	for k, j := range t.joints {
		joint := &t.m.Joints()[j]
		if joint.Kind == robot.Continuous {
			continue
		}
		low, high := math.Inf(-1), math.Inf(1)
		if joint.Limits.Lower.Has {
			low = joint.Limits.Lower.Value - limitSlack
		}
		if joint.Limits.Upper.Has {
			high = joint.Limits.Upper.Value + limitSlack
		}
		for i := range c.Segments() {
			if c.Within(i, k, spline.Position, low, high) {
				continue
			}
			if s, bound := leaves(c, i, k, low, high); s < first {
				first, at, end = s, k, bound
			}
			break
		}
	}
	if at < 0 {
		return nil
	}
	joint := &t.m.Joints()[t.joints[at]]
	least, most := c.Range(at, spline.Position, c.Start(), c.End())
	value := most.Value
	if end == joint.Limits.Lower.Value-limitSlack {
		value = least.Value
	}
	why := planner.Refuse(planner.NoSolution, "joint %q leaves its limits %s at %.4g m along the path, and would go to %.4g",
		joint.Name, joint.Limits.Range(), done+first, value)
	why.Joint, why.Value, why.Limit, why.Distance = joint.Name, value, end, done+first
	return why.With("start with the arm in another configuration, or choose another path")
}

// leaves returns where on a segment a joint first passes a bound, and the bound.
func leaves(c *spline.Spline, segment, joint int, low, high float64) (s, bound float64) {
	a, b := c.Knots()[segment], c.Knots()[segment+1]
	beyond := func(s float64) bool {
		least, most := c.SegmentRange(segment, joint, spline.Position, a, s)
		return least.Value < low || most.Value > high
	}
	lo, hi := a, b
	for range 40 {
		if mid := (lo + hi) / 2; beyond(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	if least, _ := c.SegmentRange(segment, joint, spline.Position, a, b); least.Value < low {
		return hi, low
	}
	return hi, high
}

func place(at float64) string { return fmt.Sprintf("%.4g m", at) }

// lost says why the path cannot be followed beyond s, where the moved joints are
// at x.
func (t *Tracker) lost(p path.Path, s float64, x []float64) *planner.Refusal {
	seed := append([]float64(nil), t.q...)
	for i, k := range t.moves {
		seed[t.m.Joints()[t.joints[k]].Q] = x[i]
	}
	// a little further on: at s itself there is a solution
	ahead := min(s+max(1e-4*p.Length(), 1e3*leastStep), p.Length())
	pose := p.At(ahead).Pose
	q := make([]float64, len(seed))
	res := t.ik.PoseTo(q, pose, seed)
	at := t.ref.done + s
	if res.Status != ik.Solved {
		why := planner.Unreachable(t.m, "the path", pose, res)
		why.Distance = at
		why.Text += ", " + place(at) + " along the path"
		return why
	}
	far, worst := 0.0, 0
	for i, k := range t.moves {
		j := t.m.Joints()[t.joints[k]].Q
		if d := math.Abs(q[j] - seed[j]); d > far {
			far, worst = d, i
		}
	}
	joint := &t.m.Joints()[t.joints[t.moves[worst]]]
	why := planner.Refuse(planner.NoSolution, "the arm would have to flip %s along the path: joint %q by %.3g at once", place(at), joint.Name, far)
	why.Joint, why.Value, why.Distance = joint.Name, far, at
	return why.With("start with the arm in another configuration, or choose another path")
}
