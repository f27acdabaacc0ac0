package pilz

import (
	"context"
	"math"

	"poise/kinematics/ik"
	"poise/planner"
	"poise/spatial"
	"poise/trajectory"
	"poise/trajectory/move"
)

// stateEpsilon is how far two states may be apart and still be one, in the norm
// of positions, velocities and accelerations each.
const stateEpsilon = 1e-4

// borderEpsilon lets a sample on the border of a blend sphere count as inside,
// whatever rounding says, m.
const borderEpsilon = 1e-9

// blend replaces the corner between two motions by a transition window: from
// where the first enters a sphere around the corner to where the second leaves
// it, the tool goes over smoothly from one to the other. It returns the first
// part, the blend and the second part; the time of each point is counted from the
// point before it.
func (p *Planner) blend(ctx context.Context, a, b *planner.Motion, radius float64) (first, middle, second []step, refusal *planner.Refusal) {
	period, refusal := blendable(a, b)
	if refusal != nil {
		return nil, nil, nil, refusal
	}
	tipA, tipB := tips(p.Model, a, a.Group.Tip), tips(p.Model, b, a.Group.Tip)
	corner := tipA[len(tipA)-1].P
	f, g, refusal := window(tipA, tipB, corner, radius)
	if refusal != nil {
		return nil, nil, nil, refusal
	}

	// the longer of the two ways through the sphere decides where the second begins
	align := f
	if len(tipA)-f > g+1 {
		align = len(tipA) - g - 1
	}
	n := g + align - f + 1
	w, refusal := p.blendWalker(a, f)
	if refusal != nil {
		return nil, nil, nil, refusal
	}
	for i := range n {
		if refusal := cancelled(ctx, i); refusal != nil {
			return nil, nil, nil, refusal
		}
		X1, X2 := tipA[min(f+i, len(tipA)-1)], tipB[0]
		if f+i > align {
			X2 = tipB[f+i-align]
		}
		X := mix(X1, X2, float64(i+1)/float64(n))
		point, refusal := w.step(X, period)
		if refusal != nil {
			return nil, nil, nil, at(refusal, i, float64(i+1)*period)
		}
		middle = append(middle, step{point, period})
	}
	first = steps(a.Trajectory)[:f]
	second = steps(b.Trajectory)[g+1:]
	if len(second) > 0 {
		second[0].dt = period
	}
	return first, middle, second, nil
}

// mix goes from X1 to X2 by a polynomial that leaves and arrives without speed
// and acceleration.
func mix(X1, X2 spatial.Pose, s float64) spatial.Pose {
	α := move.MinimumJerk(s, 1).P
	turn := X2.R.Mul(X1.R.Transpose()).Quat().Log()
	return spatial.Pose{
		R: spatial.ExpRotation(turn.Scale(α)).Matrix().Mul(X1.R),
		P: X1.P.Add(X2.P.Sub(X1.P).Scale(α)),
	}
}

// blendWalker stands at the last point of the first part.
func (p *Planner) blendWalker(a *planner.Motion, f int) (*walker, *planner.Refusal) {
	w, why := p.walk(&planner.Task{Command: planner.LIN, Joints: a.Joints, Start: a.Start}, a.Group.Tip)
	if why != nil {
		return nil, why
	}
	before := a.Trajectory.Points[f-1]
	for k, j := range a.Joints {
		w.q[p.Model.Joints()[j].Q] = before.Position[k]
	}
	w.last = before
	return w, nil
}

// step solves one pose a period after the last.
func (w *walker) step(X spatial.Pose, period float64) (trajectory.Point, *planner.Refusal) {
	if res := w.solver.PoseTo(w.q, X, w.q); res.Status != ik.Solved {
		return trajectory.Point{}, planner.Unreachable(w.m, "the blend", X, res)
	}
	point := trajectory.Point{Position: w.position(), Velocity: make([]float64, len(w.joints)), Acceleration: make([]float64, len(w.joints))}
	if why := w.differ(&point, period, period); why != nil {
		return point, why
	}
	w.last = point
	return point, nil
}

// window finds the first sample of A and the last sample of B inside the sphere.
func window(a, b []spatial.Pose, corner spatial.Vec3, radius float64) (f, g int, why *planner.Refusal) {
	distance := func(X spatial.Pose) float64 { return X.P.Sub(corner).Norm() }
	inside := func(X spatial.Pose) bool { return distance(X) <= radius+borderEpsilon }
	for f = len(a) - 1; f > 0; f-- {
		if inside(a[f]) && !inside(a[f-1]) {
			break
		}
	}
	for g = 0; g < len(b)-1; g++ {
		if inside(b[g]) && !inside(b[g+1]) {
			break
		}
	}
	if f == 0 || g == len(b)-1 {
		longest := min(distance(a[0]), distance(b[len(b)-1]))
		why := planner.Refuse(planner.BlendFailed, "the blend radius of %g m is larger than the motion on one side of the corner", radius)
		why.Value, why.Limit = radius, longest
		return 0, 0, why.With("a radius below %.4g m fits", longest)
	}
	return f, g, nil
}

// blendable checks that two motions meet at rest and are sampled alike, and
// returns the period.
func blendable(a, b *planner.Motion) (period float64, why *planner.Refusal) {
	last, first := a.Trajectory.Points[len(a.Trajectory.Points)-1], b.Trajectory.Points[0]
	if !same(&last, &first) {
		return 0, planner.Refuse(planner.BlendFailed, "the second motion does not begin where the first ends")
	}
	if norm(last.Velocity) > stateEpsilon || norm(last.Acceleration) > stateEpsilon {
		return 0, planner.Refuse(planner.BlendFailed, "the motions do not meet at rest")
	}
	for _, pts := range [][]trajectory.Point{a.Trajectory.Points, b.Trajectory.Points} {
		for i := 1; i < len(pts)-1; i++ {
			dt := pts[i].Time - pts[i-1].Time
			if period == 0 {
				period = dt
			}
			if math.Abs(dt-period) > stateEpsilon {
				return 0, planner.Refuse(planner.BlendFailed, "the motions are sampled every %g s and every %g s", period, dt)
			}
		}
	}
	if period == 0 {
		return 0, planner.Refuse(planner.BlendFailed, "both motions are too short to blend: they have no sample inside")
	}
	return period, nil
}

// same reports whether two states are one.
func same(a, b *trajectory.Point) bool {
	return distance(a.Position, b.Position) <= stateEpsilon &&
		distance(a.Velocity, b.Velocity) <= stateEpsilon &&
		distance(a.Acceleration, b.Acceleration) <= stateEpsilon
}

func norm(x []float64) float64 { return distance(x, make([]float64, len(x))) }

func distance(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(s)
}
