package smooth

import (
	"fmt"
	"math"

	"poise/planner"
	"poise/planner/path"
	"poise/spatial"
)

const (
	radiusTolerance = 1e-2   // by how much the radii of an arc about a centre may differ, m
	leastRadius     = 1e-5   // of a circle, m
	leastSine       = 1e-5   // of the angle between what gives a circle its plane
	sameRadius      = 1e-10  // radii that differ by rounding, m
	samePlace       = 1e-6   // of a full circle's start and goal, m
	waypointGap     = 0.2e-3 // nearer waypoints are one, m
	straight        = 1e-7   // a smaller bend counts as straight, rad
	sliver          = 1e-6   // a side of less between two bends is left to one of them, m
	minSmoothness   = 0.01   // as in Pilz
	maxSmoothness   = 0.99
)

// toolPath returns the path of a task's tool in parts, none if it does not move. Parts
// that meet without a corner are smooth there. Each is measured by the way of the
// tool, or in radians where it only turns.
func toolPath(t *planner.Task) ([]path.Path, *planner.Refusal) {
	var whole path.Path
	var refusal *planner.Refusal
	switch t.Command {
	case planner.POLYLINE:
		return polyline(t)
	case planner.CIRC:
		whole, refusal = circle(t)
	default:
		whole = line(t.StartPose, t.GoalPose)
	}
	if refusal != nil || !(whole.Length() > 0) {
		return nil, refusal
	}
	return []path.Path{whole}, nil
}

// line is the straight way, measured by it, or in radians if there is none.
func line(start, goal spatial.Pose) *path.Line {
	turn := path.TurnBetween(start.R, goal.R)
	if turn.Angle < still {
		turn.Angle = 0
	}
	if goal.P.Sub(start.P).Norm() < still {
		goal.P = start.P
	}
	if goal.P.Sub(start.P).Norm() < sliver {
		return path.NewLine(start.P, goal.P, turn, path.Coupling{Lever: 1}) // it turns on the spot
	}
	return path.NewLine(start.P, goal.P, turn, path.Coupling{})
}

func circle(t *planner.Task) (path.Path, *planner.Refusal) {
	switch t.ViaName {
	case "center":
		return arcAround(t)
	case "circle":
		if d := t.GoalPose.P.Sub(t.StartPose.P).Norm(); d > samePlace {
			why := bad("a full circle ends where it starts, and the goal is %.4g m from the start", d)
			why.Value, why.Limit = d, samePlace
			return nil, why.With("give the start's position as the goal, or an arc by an interim point")
		}
		return arcThrough(t, t.Via[0].P, t.Via[1].P, 2*math.Pi)
	}
	return arcThrough(t, t.Via[0].P, t.GoalPose.P, t.ViaAngle)
}

// arcAround is the shorter arc about a centre, or one by an angle: positive
// angles go the way of the shorter arc.
func arcAround(t *planner.Task) (path.Path, *planner.Refusal) {
	centre := t.Via[0].P
	x, y := t.StartPose.P.Sub(centre), t.GoalPose.P.Sub(centre)
	a, b := x.Norm(), y.Norm()
	if d := math.Abs(a - b); d > radiusTolerance && t.ViaAngle == 0 {
		why := bad("the start is %.4g m from the circle's centre and the goal %.4g m: they differ by %.3g m, at most %g m is allowed", a, b, d, radiusTolerance)
		why.Value, why.Limit = d, radiusTolerance
		return nil, why
	}
	if a < leastRadius || b < leastRadius {
		why := bad("the circle's radius is %.3g m, and must be at least %g m", min(a, b), leastRadius)
		why.Value, why.Limit = min(a, b), leastRadius
		return nil, why
	}
	cross := x.Cross(y)
	if cross.Norm() < leastSine*a*b {
		return nil, bad("start, centre and goal lie on one line, which gives no plane and no shorter arc").
			With("give a half circle by an interim point, a full one by a path constraint named circle")
	}
	normal, _ := cross.Unit()
	turn := path.TurnBetween(t.StartPose.R, t.GoalPose.R)
	if t.ViaAngle != 0 {
		return path.NewArc(t.StartPose.P, centre, normal, t.ViaAngle, turn, path.Coupling{}), nil
	}
	angle := math.Atan2(cross.Norm(), x.Dot(y))
	if math.Abs(a-b) > sameRadius {
		return path.NewSpiral(t.StartPose.P, centre, normal, angle, b, turn), nil
	}
	return path.NewArc(t.StartPose.P, centre, normal, angle, turn, path.Coupling{}), nil
}

// arcThrough is the arc from the start through two points, to the second of them
// or by an angle, which is positive towards the first.
func arcThrough(t *planner.Task, via, other spatial.Vec3, angle float64) (path.Path, *planner.Refusal) {
	start := t.StartPose.P
	m, u, v := via.Sub(start), other.Sub(start), other.Sub(via)
	w := m.Cross(u)
	shortest := min(m.Norm(), u.Norm(), v.Norm())
	if shortest < leastRadius {
		why := bad("two of the three points that give the circle are only %.3g m apart, at least %g m is needed", shortest, leastRadius)
		why.Value, why.Limit = shortest, leastRadius
		return nil, why
	}
	if w.Norm() < leastSine*m.Norm()*u.Norm() {
		return nil, bad("the three points that give the circle lie on one line").With("use LIN, or move the interim point aside")
	}
	centre := start.Add(u.Scale(m.Dot(m) * u.Dot(v)).Sub(m.Scale(u.Dot(u) * m.Dot(v))).Scale(0.5 / w.Dot(w)))
	normal, _ := w.Unit()
	if angle == 0 {
		x, y := start.Sub(centre), other.Sub(centre)
		angle = math.Atan2(normal.Dot(x.Cross(y)), x.Dot(y))
		if angle <= 0 {
			angle += 2 * math.Pi
		}
	}
	turn := path.TurnBetween(t.StartPose.R, t.GoalPose.R)
	return path.NewArc(start, centre, normal, angle, turn, path.Coupling{}), nil
}

// polyline joins straight lines by bends inside the spheres of its corners. It
// ends at the goal.
//
// Where the roundings of two corners fill their side but for a sliver, the second
// bend begins where the first one ends. A bend leaves its line like s³, so what it
// does on a sliver outside of its sphere is below rounding; the joints along a piece
// that short would be nothing but rounding.
func polyline(t *planner.Task) ([]path.Path, *planner.Refusal) {
	c := waypoints(t)
	lines := make([]*path.Line, 0, len(c))
	for i := 1; i < len(c); i++ {
		lines = append(lines, line(c[i-1].pose, c[i].pose))
	}
	if why := cornerRadii(t, c); why != nil {
		return nil, why
	}
	var parts []path.Path
	from := 0.0
	for i, l := range lines {
		r := c[i+1].radius
		to := l.Length() - r
		if r > 0 && to-from < sliver {
			to = from
		}
		if to > from {
			parts = append(parts, path.Cut(l, from, to))
		}
		from = 0
		if r > 0 {
			next := lines[i+1]
			if from = r; c[i+2].radius == 0 && next.Length()-r < sliver {
				from = next.Length()
			}
			bend, ok := fitBend(l.At(to), next.At(from), c[i+1].pose.P, r)
			if !ok {
				why := bad("waypoint %d of the polyline cannot be rounded within its radius of %.6g m", c[i+1].waypoint, r)
				why.Value = r
				return nil, why.With("give it a smaller radius")
			}
			parts = append(parts, bend)
		}
	}
	return parts, nil
}

// corner is a place of a polyline.
type corner struct {
	pose     spatial.Pose
	radius   float64 // that was asked for, then what is rounded
	waypoint int     // of the request; −1 for the start, their number for the goal
}

// waypoints returns the places of a polyline with the radii asked for: the start,
// waypoints that are places of their own, the goal.
func waypoints(t *planner.Task) []corner {
	all := []corner{{pose: t.StartPose, waypoint: -1}}
	for i, X := range t.Via {
		last := all[len(all)-1].pose
		if X.P.Sub(last.P).Norm() >= waypointGap || path.TurnBetween(last.R, X.R).Angle >= 1e-6 {
			all = append(all, corner{X, t.ViaRadius[i], i})
		}
	}
	if last := len(all) - 1; last > 0 && all[last].pose.P.Sub(t.GoalPose.P).Norm() < waypointGap {
		all = all[:last]
	}
	return append(all, corner{pose: t.GoalPose, waypoint: len(t.Via)})
}

// cornerRadii replaces the radii of corners by what is left of the line on both
// sides: asked for, or by smoothness as in Pilz, which rounds all corners by arcs
// of one radius. A point on a straight way is no corner, nor is one where the
// tool turns on the spot; the path then goes through it.
func cornerRadii(t *planner.Task, c []corner) *planner.Refusal {
	smooth := min(max(t.Smoothness, minSmoothness), maxSmoothness)
	side := func(i int) spatial.Vec3 { return c[i].pose.P.Sub(c[i-1].pose.P) } // that ends at i
	halves := make([]float64, len(c))                                          // tan of half the inner angle
	arc := math.Inf(1)
	for i := 1; i+1 < len(c); i++ {
		in, out := side(i), side(i+1)
		bend := math.Atan2(in.Cross(out).Norm(), in.Dot(out))
		if in.Norm() < waypointGap || out.Norm() < waypointGap || bend < straight {
			c[i].radius = -1
			continue
		}
		halves[i] = math.Tan((math.Pi - bend) / 2)
		if c[i].radius == 0 {
			arc = min(arc, math.Abs(halves[i])*min(in.Norm(), out.Norm())/2)
		}
	}
	for i := 1; i+1 < len(c); i++ {
		switch {
		case c[i].radius < 0:
			c[i].radius = 0
		case c[i].radius == 0 && halves[i] > 1e-3:
			c[i].radius = smooth * arc / halves[i]
		case c[i].radius == 0: // it turns back on itself: an arc would have no room
			c[i].radius = smooth * min(side(i).Norm(), side(i+1).Norm()) / 2
		}
	}
	return roomForCorners(c)
}

// roomForCorners refuses radii that do not fit on a side together.
func roomForCorners(c []corner) *planner.Refusal {
	for i := 1; i < len(c); i++ {
		a, b := &c[i-1], &c[i]
		side, sum := b.pose.P.Sub(a.pose.P).Norm(), a.radius+b.radius
		if sum == 0 || sum <= side+still {
			continue
		}
		var refusal *planner.Refusal
		switch {
		case b.radius == 0:
			refusal = bad("the radius of %.9g m at waypoint %d of the polyline is longer than the way of %.9g m to %s", sum, a.waypoint, side, b.name(len(c), i))
			refusal.With("make the radius of waypoint %d smaller", a.waypoint)
		case a.radius == 0:
			refusal = bad("the radius of %.9g m at waypoint %d of the polyline is longer than the way of %.9g m from %s", sum, b.waypoint, side, a.name(len(c), i-1))
			refusal.With("make the radius of waypoint %d smaller", b.waypoint)
		default:
			refusal = bad("the corners at waypoints %d and %d of the polyline need %.9g m of the way between them, which is %.9g m long", a.waypoint, b.waypoint, sum, side)
			refusal.With("make their radii smaller")
		}
		refusal.Value, refusal.Limit = sum, side
		return refusal
	}
	return nil
}

// name says which of n places it is.
func (c *corner) name(n, i int) string {
	switch i {
	case 0:
		return "the start"
	case n - 1:
		return "the goal"
	}
	return fmt.Sprintf("waypoint %d", c.waypoint)
}
