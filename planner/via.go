package planner

import (
	"math"
	"strconv"
	"strings"

	"poise/spatial"
)

// viaShape checks what was said about the way.
func (r *resolver) viaShape() *Refusal {
	v := &r.req.Via
	switch r.req.Command {
	case CIRC:
		return r.circleShape()
	case POLYLINE:
		if len(v.Points) < 2 {
			return Refuse(BadRequest, "a polyline takes at least 2 waypoints as path position constraints, not %d", len(v.Points))
		}
		for i := range v.Points {
			if len(v.Points[i].Points) == 0 {
				return Refuse(BadRequest, "waypoint %d of the polyline has no primitive pose", i)
			}
			if n := len(v.Points[i].Points); r.Extensions && n > 1 {
				return Refuse(BadRequest, "waypoint %d of the polyline has %d primitive poses, and is one place", i, n).
					With("give each waypoint a position constraint of its own")
			}
		}
	}
	return nil
}

// circleShape checks the name of a circle's path constraint, and its points.
func (r *resolver) circleShape() *Refusal {
	v, t := &r.req.Via, &r.task
	name, option, _ := strings.Cut(v.Name, ":")
	want := 1
	switch {
	case !r.Extensions && v.Name != "center" && v.Name != "interim":
		return Refuse(BadRequest, "the path constraint of a circle is named %q", v.Name).With("name it center or interim")
	case name == "circle" && option == "":
		want = 2
	case name != "center" && name != "interim":
		return Refuse(BadRequest, "the path constraint of a circle is named %q", v.Name).
			With("name it center, interim or circle, or center:angle=… or interim:angle=… with an angle in radians, or in degrees as 270deg")
	case option != "":
		angle, ok := parseAngle(option)
		if !ok {
			return Refuse(BadRequest, "the path constraint of a circle is named %q, and %q is no angle", v.Name, option).
				With("write angle=4.71 or angle=270deg, up to %g turns and not zero", maxTurns)
		}
		t.ViaAngle = angle
	}
	t.ViaName = name
	one := len(v.Points) == want
	for i := range v.Points {
		one = one && len(v.Points[i].Points) == 1
	}
	if !one {
		return Refuse(BadRequest, "a %q circle takes %d position constraint(s) with one primitive pose each, not %d with %v", name, want, len(v.Points), countPoints(v.Points))
	}
	return nil
}

// maxTurns is how often a circle may go round.
const maxTurns = 100.0

// parseAngle reads angle=1.2 or angle=270deg.
func parseAngle(option string) (float64, bool) {
	number, ok := strings.CutPrefix(option, "angle=")
	unit := 1.0
	if degrees, is := strings.CutSuffix(number, "deg"); is {
		number, unit = degrees, math.Pi/180
	}
	x, err := strconv.ParseFloat(number, 64)
	x *= unit
	return x, ok && err == nil && math.Abs(x) <= maxTurns*2*math.Pi && math.Abs(x) > 1e-9
}

func countPoints(all []PositionGoal) (counts []int) {
	for i := range all {
		counts = append(counts, len(all[i].Points))
	}
	return counts
}

// via finds the places that the path passes or goes around.
func (r *resolver) via() *Refusal {
	t, v := &r.task, &r.req.Via
	if t.Command != CIRC && t.Command != POLYLINE {
		return nil
	}
	for i := range v.Points {
		p := &v.Points[i]
		if why := r.sameTool(p, i); why != nil {
			return why
		}
		frame, offset := p.Frame, p.Offset
		if t.Command == CIRC && t.Cartesian {
			offset = r.req.Goals[0].Positions[0].Offset // the same point of the tool
		}
		if t.Command == POLYLINE && frame == "" && t.Cartesian {
			frame = r.req.Goals[0].Positions[0].Frame
		}
		X, why := r.frame(frame)
		if why != nil {
			return why
		}
		at := p.Points[0]
		if !at.Position.Finite() || !offset.Finite() {
			return Refuse(BadRequest, "path constraint %d: position %v or offset %v is not finite", i, at.Position, offset)
		}
		R := t.GoalPose.R
		if t.Command == POLYLINE {
			q, ok := at.Orientation.Unit()
			if !ok {
				return Refuse(BadRequest, "waypoint %d: orientation %v is no quaternion", i, at.Orientation)
			}
			R = X.R.Mul(q.Matrix())
		}
		if r.Extensions && t.Command == POLYLINE {
			if !(at.Radius >= 0) || math.IsInf(at.Radius, 1) {
				return Refuse(BadRequest, "waypoint %d: its region is no sphere with a radius", i).
					With("give a sphere whose radius is that of the corner, or only the pose")
			}
			t.ViaRadius = append(t.ViaRadius, at.Radius)
		}
		t.Via = append(t.Via, spatial.Pose{R: R, P: X.Apply(at.Position).Sub(R.MulVec(offset))})
	}
	return nil
}

// sameTool refuses a point on the way that speaks of another link than the goal, or
// for a circle of another point of it: one link follows the path. Pilz does not
// look.
func (r *resolver) sameTool(p *PositionGoal, i int) *Refusal {
	t := &r.task
	if !r.Extensions {
		return nil
	}
	if tool := r.Model.Frames()[t.Link].Name; p.Link != "" && p.Link != tool {
		return Refuse(BadRequest, "path constraint %d is about link %q, and the goal about %q", i, p.Link, tool)
	}
	if t.Command != CIRC || !t.Cartesian || p.Offset == (spatial.Vec3{}) {
		return nil
	}
	if want := r.req.Goals[0].Positions[0].Offset; p.Offset != want {
		return Refuse(BadRequest, "target_point_offset of path constraint %d is %v, and that of the goal %v: a circle is of one point", i, p.Offset, want)
	}
	return nil
}
