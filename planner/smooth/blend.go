package smooth

import (
	"math"

	"poise/planner"
	"poise/planner/path"
)

// toolLeg is a path that is to be joined with others.
type toolLeg struct {
	Parts                  []path.Path
	Tool                   planner.Tool // not scaled
	Velocity, Acceleration float64      // scaling
	Radius                 float64      // of the sphere around its end inside which it may leave for the next leg
}

// stretch is a part of the tool's path along joined legs, with what bounds the tool on it.
type stretch struct {
	Path path.Path
	Tool planner.Tool // scaled
	Full planner.Tool // not scaled
	Leg  int
	Bend bool    // it leads to the next leg
	Done float64 // of the leg before it
}

// joinTool returns the stretches of legs that follow each other: their own paths
// outside the spheres around the ends between them, bends inside. If it cannot, it
// says which leg is to blame. Where a sphere cuts a sliver off a part of a path, the
// bend takes it.
func joinTool(legs []toolLeg) (out []stretch, leg int, why *planner.Refusal) {
	from := 0.0
	for k := range legs {
		current := path.NewChain(legs[k].Parts...)
		if k == len(legs)-1 {
			return append(out, legs[k].between(k, from, current.Length())...), k, nil
		}
		next := path.NewChain(legs[k+1].Parts...)
		centre, r := current.At(current.Length()).Pose.P, legs[k].Radius
		enter, ok := crossing(current, centre, r, true)
		leave, ok2 := crossing(next, centre, r, false)
		if !ok || !ok2 {
			return nil, k, tooLarge(r, current, next)
		}
		enter, leave = before(current, enter), after(next, leave)
		if enter <= from {
			if from == 0 {
				return nil, k, tooLarge(r, current, next)
			}
			return nil, k, overlap(r, from, enter)
		}
		bend, ok := fitBend(current.At(enter), next.At(leave), centre, r)
		if !ok {
			return nil, k, planner.Refuse(planner.BlendFailed, "no bend fits into the sphere of %g m around the goal", r)
		}
		out = append(out, legs[k].between(k, from, enter)...)
		own, following := legs[k].boundsAt(enter, true), legs[k+1].boundsAt(leave, false)
		out = append(out, stretch{Path: bend, Tool: own.Min(following), Full: legs[k].Tool.Min(legs[k+1].Tool), Leg: k, Bend: true, Done: enter})
		from = leave
	}
	return out, 0, nil
}

// before moves a place a sliver back, to where a part of the path begins.
func before(way *path.Chain, s float64) float64 {
	for _, knot := range append([]float64{0}, way.Knots()...) {
		if s >= knot && s-knot < sliver {
			return knot
		}
	}
	return s
}

// after moves a place a sliver on, to where a part of the path ends.
func after(way *path.Chain, s float64) float64 {
	for _, knot := range append([]float64{way.Length()}, way.Knots()...) {
		if s <= knot && knot-s < sliver {
			return knot
		}
	}
	return s
}

// boundsAt returns what bounds the tool at a place of a leg: of two parts that meet
// there, on the earlier or the later.
func (l *toolLeg) boundsAt(s float64, earlier bool) planner.Tool {
	all := l.between(0, 0, math.Inf(1))
	i := 0
	for i+1 < len(all) && (all[i+1].Done < s || all[i+1].Done == s && !earlier) {
		i++
	}
	return all[i].Tool
}

// overlap refuses a sphere that begins before the one before it ends.
func overlap(r, from, enter float64) *planner.Refusal {
	why := planner.Refuse(planner.BlendFailed, "the blend radius of %g m begins %.6g m along the path, where the blend before it ends at %.6g m", r, enter, from)
	why.Value, why.Limit = enter, from
	return why.With("make one of the radii smaller")
}

func tooLarge(r float64, a, b path.Path) *planner.Refusal {
	centre := a.At(a.Length()).Pose.P
	most := min(a.At(0).Pose.P.Sub(centre).Norm(), b.At(b.Length()).Pose.P.Sub(centre).Norm())
	why := planner.Refuse(planner.BlendFailed, "the blend radius of %g m is larger than the motion on one side of the goal, or takes all of it", r)
	why.Value, why.Limit = r, most
	return why.With("a radius below %.4g m fits", most)
}

// between cuts the leg's path and says what bounds the tool on each part.
func (l *toolLeg) between(leg int, from, to float64) (out []stretch) {
	done := 0.0
	for _, p := range l.Parts {
		a, b := max(from-done, 0), min(to-done, p.Length())
		if b > a {
			cut := path.Cut(p, a, b)
			x := cut.At(0)
			out = append(out, stretch{Path: cut, Leg: leg, Done: done + a, Full: l.Tool,
				Tool: l.Tool.Scaled(l.Velocity, l.Acceleration, x.D1.Linear.Norm(), x.D1.Angular.Norm())})
		}
		done += p.Length()
	}
	// a rounded corner takes what both its sides allow
	for i := 1; i+1 < len(out); i++ {
		if !path.Even(out[i].Path) {
			out[i].Tool = out[i-1].Tool.Min(out[i+1].Tool)
		}
	}
	return out
}

// Bounds returns way and turn of the tool per length, and what bounds them. On a
// line or an arc they are the same everywhere. On a bend they vary: it is held to
// the most of them, and passed so slowly that the acceleration which its shape
// alone asks of the tool is within the limits too. Those are not scaled: scaling
// commands how fast the tool gets on, not how fast it takes a corner that it can
// take.
func (s *stretch) Bounds() (rate [2]float64, t planner.Tool) {
	t = s.Tool
	if path.Even(s.Path) {
		x := s.Path.At(0)
		return [2]float64{x.D1.Linear.Norm(), x.D1.Angular.Norm()}, t
	}
	way, turn, bend, twist := 1.0, 0.0, 0.0, 0.0
	for k := range bendPlaces + 1 {
		x := s.Path.At(s.Path.Length() * float64(k) / bendPlaces)
		way, turn = max(way, x.D1.Linear.Norm()), max(turn, x.D1.Angular.Norm())
		bend, twist = max(bend, x.D2.Linear.Norm()), max(twist, x.D2.Angular.Norm())
	}
	pace := min(t.Speed/way, math.Sqrt(min(s.Full.Acceleration, s.Full.Deceleration)/bend),
		math.Sqrt(min(s.Full.TurnAcceleration, s.Full.TurnDeceleration)/twist))
	t.Speed = pace * way
	return [2]float64{way, turn}, t
}
