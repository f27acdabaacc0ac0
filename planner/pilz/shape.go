package pilz

import (
	"math"

	"poise/planner"
	"poise/planner/path"
	"poise/spatial"
)

// Constants of the original.
const (
	rotationEpsilon  = 1e-6   // KDL: smaller matrix differences are no rotation, or half a turn
	smallestDistance = 1e-6   // KDL: shorter ways are none
	radiusTolerance  = 1e-2   // CIRC: how much the two radii may differ, m
	circleEpsilon    = 1e-5   // CIRC: smallest radius, and smallest cross product that gives a plane
	minWaypointGap   = 0.2e-3 // POLYLINE: nearer waypoints are dropped, m
	colinearEpsilon  = 1e-9   // POLYLINE: smallest cross product of a corner
	cornerEpsilon    = 1e-7   // KDL: smallest segment and corner angle
	minSmoothness    = 0.01
	maxSmoothness    = 0.99
)

// turn returns the rotation between two orientations as KDL sees it: differences
// below rotationEpsilon are no rotation at all, or exactly half a turn.
func turn(A, B spatial.Mat3) path.Turn {
	R := B.Mul(A.Transpose())
	if math.Abs(R[1]-R[3]) < rotationEpsilon && math.Abs(R[2]-R[6]) < rotationEpsilon && math.Abs(R[5]-R[7]) < rotationEpsilon {
		if R[0]+R[4]+R[8] > 0 {
			return path.Turn{Start: A, Axis: spatial.Vec3{Z: 1}}
		}
		t := path.TurnBetween(A, B)
		t.Angle = math.Pi
		return t
	}
	return path.TurnBetween(A, B)
}

// line returns KDL's line.
func line(start, goal spatial.Pose, c path.Coupling) *path.Line {
	if goal.P.Sub(start.P).Norm() < smallestDistance {
		goal.P = start.P
	}
	return path.NewLine(start.P, goal.P, turn(start.R, goal.R), c)
}

// geometry returns the path of a task's tool.
func geometry(t *planner.Task, c path.Coupling) (path.Path, *planner.Refusal) {
	switch t.Command {
	case planner.CIRC:
		if t.ViaName == "center" {
			return arcAroundCentre(t.StartPose, t.GoalPose, t.Via[0].P, c)
		}
		return arcThroughPoint(t.StartPose, t.GoalPose, t.Via[0].P, c)
	case planner.POLYLINE:
		return polyline(t, c)
	}
	return line(t.StartPose, t.GoalPose, c), nil
}

// circle returns KDL's arc: from start by angle about centre, in the plane of
// start, centre and aux.
func circle(start, goal spatial.Pose, centre, aux spatial.Vec3, angle float64, c path.Coupling) (path.Path, *planner.Refusal) {
	x := start.P.Sub(centre)
	if r := x.Norm(); r < circleEpsilon {
		return nil, bad("the circle's radius is %.3g m, and must be at least %g m", r, circleEpsilon)
	}
	x, _ = x.Unit()
	toAux, _ := aux.Sub(centre).Unit()
	normal := x.Cross(toAux)
	if normal.Norm() < circleEpsilon {
		return nil, bad("start, centre and the third point of the circle lie on one line, which gives no plane").
			With("give a half circle by an interim point")
	}
	normal, _ = normal.Unit()
	return path.NewArc(start.P, centre, normal, angle, turn(start.R, goal.R), c), nil
}

func bad(format string, a ...any) *planner.Refusal {
	return planner.Refuse(planner.BadRequest, format, a...)
}

// arcAroundCentre is the shorter arc about a centre.
func arcAroundCentre(start, goal spatial.Pose, centre spatial.Vec3, c path.Coupling) (path.Path, *planner.Refusal) {
	a, b := start.P.Sub(centre).Norm(), goal.P.Sub(centre).Norm()
	if d := math.Abs(a - b); d > radiusTolerance {
		why := bad("the start is %.4g m from the circle's centre and the goal %.4g m: they differ by %.3g m, at most %g m is allowed", a, b, d, radiusTolerance)
		why.Value, why.Limit = d, radiusTolerance
		return nil, why
	}
	return circle(start, goal, centre, goal.P, cosineRule(a, b, goal.P.Sub(start.P).Norm()), c)
}

// cosineRule returns the angle between the sides a and b of a triangle whose
// third side is c.
func cosineRule(a, b, c float64) float64 {
	return math.Acos(min(max((a*a+b*b-c*c)/(2*a*b), -1), 1))
}

// arcThroughPoint is the arc through an interim point.
func arcThroughPoint(start, goal spatial.Pose, via spatial.Vec3, c path.Coupling) (path.Path, *planner.Refusal) {
	t, u, v := via.Sub(start.P), goal.P.Sub(start.P), goal.P.Sub(via)
	w := t.Cross(u)
	if n := w.Norm(); n < circleEpsilon {
		return nil, bad("start, interim point and goal lie on one line, or too close together (cross product %.3g m², at least %g is needed)", n, circleEpsilon)
	}
	centre := start.P.Add(u.Scale(t.Dot(t) * u.Dot(v)).Sub(t.Scale(u.Dot(u) * t.Dot(v))).Scale(0.5 / w.Dot(w)))
	toStart, toGoal := start.P.Sub(centre), goal.P.Sub(centre)
	angle := cosineRule(toStart.Norm(), toGoal.Norm(), u.Norm())
	aux := via
	// seen from the interim point under less than a right angle: it lies on the longer arc
	if cosineRule(t.Norm(), v.Norm(), u.Norm()) < math.Pi/2 {
		angle = 2*math.Pi - angle
		if toStart.Cross(toGoal).Norm() > circleEpsilon {
			aux = centre.Scale(2).Sub(goal.P)
		}
	}
	return circle(start, goal, centre, aux, angle, c)
}

// polyline is a chain of lines with corners rounded by arcs of one radius.
func polyline(t *planner.Task, c path.Coupling) (path.Path, *planner.Refusal) {
	points := []spatial.Pose{t.StartPose}
	for _, p := range t.Via {
		if p.P.Sub(points[len(points)-1].P).Norm() >= minWaypointGap {
			points = append(points, p)
		}
	}
	radius, why := cornerRadius(points, t.Smoothness)
	if why != nil {
		return nil, why
	}
	return rounded(points, radius, c)
}

// cornerRadius returns the radius that a smoothness gives all corners.
func cornerRadius(points []spatial.Pose, smoothness float64) (float64, *planner.Refusal) {
	largest := math.Inf(1)
	for i := 1; i+1 < len(points); i++ {
		in, out := points[i].P.Sub(points[i-1].P), points[i+1].P.Sub(points[i].P)
		if in.Cross(out).Norm() < colinearEpsilon {
			return 0, bad("waypoints %d, %d and %d of the polyline lie on one line", i-1, i, i+1).With("leave out the middle one")
		}
		inner := math.Acos(min(max(-in.Dot(out)/(in.Norm()*out.Norm()), -1), 1))
		largest = min(largest, math.Abs(math.Tan(inner/2))*min(in.Norm(), out.Norm())/2)
	}
	return min(max(smoothness, minSmoothness), maxSmoothness) * largest, nil
}

// rounded joins lines and arcs of one radius, as KDL's composite does.
func rounded(points []spatial.Pose, radius float64, c path.Coupling) (path.Path, *planner.Refusal) {
	var parts []path.Path
	start := points[0]
	for i := 1; i+1 < len(points); i++ {
		via, next := points[i], points[i+1]
		incoming, outgoing := via.P.Sub(start.P), next.P.Sub(via.P)
		bend := math.Acos(min(max(incoming.Dot(outgoing)/(incoming.Norm()*outgoing.Norm()), -1), 1))
		if math.Pi-bend < cornerEpsilon {
			return nil, bad("the polyline turns back on itself at waypoint %d", i)
		}
		if bend < cornerEpsilon {
			parts = append(parts, line(start, via, c))
			start = via
			continue
		}
		cut := radius / math.Tan((math.Pi-bend)/2)
		if cut >= incoming.Norm() || cut >= outgoing.Norm() {
			return nil, bad("the corner at waypoint %d needs %.4g m of its sides, which are %.4g m and %.4g m long", i, cut, incoming.Norm(), outgoing.Norm())
		}
		first, second := line(start, via, c), line(via, next, c)
		from := first.At(first.AtDistance(incoming.Norm() - cut)).Pose
		to := second.At(second.AtDistance(cut)).Pose
		outward, _ := incoming.Cross(incoming.Cross(outgoing)).Unit()
		arc, why := circle(from, to, from.P.Sub(outward.Scale(radius)), to.P, bend, c)
		if why != nil {
			return nil, why
		}
		parts = append(parts, line(start, from, c), arc)
		start = to
	}
	parts = append(parts, line(start, points[len(points)-1], c))
	return path.NewChain(parts...), nil
}
