package smooth_test

import (
	"context"
	"math"
	"testing"

	"poise/planner"
	"poise/spatial"
)

// corner is a sequence of two legs that meet at a place.
type corner struct {
	name   string
	a, b   planner.Request
	at     spatial.Vec3
	radius float64
}

func corners(b *bench) []corner {
	c := at(0.5, 0, 0.5)
	lin := func(x, y, z float64) planner.Request { return b.lin(at(x, y, z), down) }
	slow := lin(0.5, 0, 0.5)
	slow.VelocityScaling = 0.2
	toCorner := b.request(planner.PTP)
	toCorner.Goals = b.pose(c, down)
	away := b.request(planner.PTP)
	away.Goals = b.pose(at(0.45, 0.35, 0.6), spatial.AxisAngle(at(0, 0, 1), 0.7).Mul(down.Matrix()).Quat())
	return []corner{
		{"LIN LIN right angle", lin(0.5, 0, 0.5), lin(0.7, 0, 0.5), c, 0.08},
		{"LIN LIN shallow", lin(0.5, 0, 0.5), lin(0.5, 0.3, 0.52), c, 0.1},
		{"LIN LIN sharp", lin(0.5, 0, 0.5), lin(0.55, -0.25, 0.5), c, 0.05},
		{"LIN LIN back", lin(0.5, 0, 0.5), lin(0.5, -0.3, 0.5), c, 0.1},
		{"LIN CIRC", lin(0.5, 0, 0.5), b.circ("interim", at(0.4, 0.2, 0.5), at(0.52, 0.12, 0.5)), c, 0.05},
		{"CIRC LIN", b.circ("interim", c, at(0.6, -0.15, 0.5)), lin(0.3, 0, 0.4), c, 0.05},
		{"PTP LIN", toCorner, lin(0.7, 0, 0.5), c, 0.08},
		{"LIN PTP", lin(0.5, 0, 0.5), away, c, 0.08},
		{"PTP PTP", toCorner, away, c, 0.08},
		{"slow LIN LIN", slow, lin(0.7, 0, 0.5), c, 0.08},
	}
}

// Outside the sphere a blended sequence is where the plain one is, inside it stays
// inside, and it does not stop.
func TestBlendsLeaveThePathOnlyInsideTheSphere(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		b.start(at(0.5, -0.3, 0.5), down)
		chord := 1e-5 // m: how far lines between samples are from what they are samples of
		if testing.Short() {
			b.p.Sampling, chord = 0.008, 1e-4
		}
		for _, c := range corners(b) {
			blended := b.sequence(planner.Item{Request: c.a, Radius: c.radius}, planner.Item{Request: c.b})[0]
			plain := b.sequence(planner.Item{Request: c.a}, planner.Item{Request: c.b})[0]
			want, _, _ := b.tool(plain)
			got, speeds, _ := b.tool(blended)
			inside, slowest := 0, math.Inf(1)
			for i, X := range got {
				if X.P.Sub(c.at).Norm() <= c.radius {
					inside++
					slowest = min(slowest, speeds[i])
					continue
				}
				if off := distanceTo(want, X.P); off > chord {
					t.Errorf("%s, %s: at %v, %.3g m off the path outside the sphere", name, c.name, X.P, off)
					break
				}
			}
			if inside < 3 {
				t.Errorf("%s, %s: %d points in the sphere", name, c.name, inside)
			}
			if slowest < 0.01 && c.name != "LIN LIN back" {
				t.Errorf("%s, %s: nearly stops in the sphere (%.3g m/s)", name, c.name, slowest)
			}
			// coarse samples end on a grid of their own, and are bent more by smoothing
			if duration(blended) > duration(plain) && !testing.Short() {
				t.Errorf("%s, %s: blended %g s, with a stop %g s", name, c.name, duration(blended), duration(plain))
			}
			b.near(c.name, got[len(got)-1].P, want[len(want)-1].P)
		}
	}
}

// distanceTo returns how far p is from a line through places.
func distanceTo(line []spatial.Pose, p spatial.Vec3) float64 {
	best := math.Inf(1)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1].P, line[i].P
		if a != b {
			best = min(best, fromSegment(p, a, b))
		}
	}
	return best
}

// The direction of the tool and how it changes do not jump where a blend begins
// and ends.
func TestBlendsAreCurvatureContinuous(t *testing.T) {
	b := plainArm(t, "")
	b.start(at(0.5, -0.3, 0.5), down)
	for _, c := range corners(b)[:3] {
		c.a.VelocityScaling, c.b.VelocityScaling = 0.05, 0.05
		m := b.sequence(planner.Item{Request: c.a, Radius: c.radius}, planner.Item{Request: c.b})[0]
		poses, _, _ := b.tool(m)
		// curvature by three points some millimetres apart
		const k = 60
		last, jump, peak := math.NaN(), 0.0, 0.0
		for i := 300 + k; i+300+k < len(poses); i += 5 {
			p, q, r := poses[i-k].P, poses[i].P, poses[i+k].P
			u, v := q.Sub(p), r.Sub(q)
			bend := math.Atan2(u.Cross(v).Norm(), u.Dot(v)) / ((u.Norm() + v.Norm()) / 2)
			if !math.IsNaN(last) {
				jump = max(jump, math.Abs(bend-last))
			}
			last, peak = bend, max(peak, bend)
		}
		if jump > 0.1*peak {
			t.Errorf("%s: curvature jumps by %g of %g", c.name, jump, peak)
		}
	}
}

func TestBlendTakesTheSmallerScaling(t *testing.T) {
	const limits = "cartesian_limits: {max_trans_vel: 0.5, max_trans_acc: 3, max_trans_dec: -3, max_rot_vel: 3}\n"
	b := plainArm(t, limits)
	b.start(at(0.5, -0.3, 0.5), down)
	one, two := b.lin(at(0.5, 0, 0.5), down), b.lin(at(0.7, 0, 0.5), down)
	one.VelocityScaling, two.VelocityScaling = 0.8, 0.2
	m := b.sequence(planner.Item{Request: one, Radius: 0.1}, planner.Item{Request: two})[0]
	poses, v, _ := b.tool(m)
	before := 0.0
	for i, X := range poses {
		inside := X.P.Sub(at(0.5, 0, 0.5)).Norm() < 0.0999
		if inside && v[i] > 0.1*(1+1e-6) {
			t.Fatalf("%g m/s in the blend, the smaller scaling is 0.1", v[i])
		}
		if !inside {
			before = max(before, v[i])
		}
	}
	if before < 0.3 {
		t.Errorf("goes at %g m/s before the blend, 0.4 was asked for", before)
	}
}

// Next to a line or an arc, whose scaling is the tool's, the scaling of a
// point-to-point motion counts for the joints through the whole blend, and of two
// point-to-point motions the smaller one.
func TestBlendWithPTPTakesTheSmallerScalingOfJoints(t *testing.T) {
	b := plainArm(t, "")
	b.start(at(0.5, -0.3, 0.5), down)
	corner := at(0.5, 0, 0.5)
	ptp := func(p spatial.Vec3, scaling float64) planner.Request {
		r := b.request(planner.PTP)
		r.Goals = b.pose(p, down)
		r.VelocityScaling, r.AccelerationScaling = scaling, scaling
		return r
	}
	const slow = 0.15
	for _, c := range []struct {
		name string
		a, b planner.Request
	}{
		{"PTP LIN", ptp(corner, slow), b.lin(at(0.7, 0, 0.5), down)},
		{"LIN PTP", b.lin(corner, down), ptp(at(0.7, 0, 0.5), slow)},
		{"slow PTP, PTP", ptp(corner, slow), ptp(at(0.7, 0, 0.5), 0.9)},
		{"PTP, slow PTP", ptp(corner, 0.9), ptp(at(0.7, 0, 0.5), slow)},
	} {
		const radius = 0.1
		m := b.sequence(planner.Item{Request: c.a, Radius: radius}, planner.Item{Request: c.b})[0]
		l := limitsOf(b.m, m.Joints, slow, slow)
		poses, _, _ := b.tool(m)
		inside, fastest := 0, 0.0
		for i, X := range poses {
			p := &m.Trajectory.Points[i]
			for j := range p.Velocity {
				use := math.Abs(p.Velocity[j]) / l.Velocity[j]
				if X.P.Sub(corner).Norm() > 0.98*radius { // smoothing reaches over by two samples
					fastest = max(fastest, use)
					continue
				}
				inside++
				if acc := math.Abs(p.Acceleration[j]) / l.Acceleration[j]; use > 1+tolLimit || acc > 1+tolLimit {
					t.Fatalf("%s: joint %d uses %g of the smaller velocity and %g of the smaller acceleration in the blend", c.name, j, use, acc)
				}
			}
		}
		if inside < 10 || fastest < 1.2 {
			t.Errorf("%s: %d values in the blend, outside it at most %g times the smaller scaling", c.name, inside, fastest)
		}
	}
}

func TestBlendRadiiThatTouchAreRefused(t *testing.T) {
	b := arm6(t)
	b.start(at(0.5, -0.3, 0.5), down)
	items := func(r0, r1 float64) []planner.Item {
		return []planner.Item{
			{Request: b.lin(at(0.5, 0, 0.5), down), Radius: r0},
			{Request: b.lin(at(0.6, 0, 0.5), down), Radius: r1},
			{Request: b.lin(at(0.6, 0.2, 0.5), down)}}
	}
	for _, c := range []struct {
		name  string
		items []planner.Item
		kind  planner.Kind
		item  int
	}{
		{"touching", items(0.05, 0.05), planner.BadRequest, 0},
		{"one alone too large", items(0, 0.1), planner.BadRequest, 0},
		{"larger than the first leg", items(0.3, 0)[:2], planner.BlendFailed, 0},
		{"negative", items(-0.1, 0), planner.BadRequest, 0},
		{"last not zero", items(0.01, 0.01)[:2], planner.BadRequest, 1},
	} {
		_, why := b.p.Sequence(context.Background(), c.items, b.q)
		if why == nil || why.Kind != c.kind || why.Item != c.item {
			t.Errorf("%s: %v", c.name, why)
		}
	}
	b.sequence(items(0.05, 0.049)...)
}

func TestNothingOfASequenceIsPlannedIfOneItemFails(t *testing.T) {
	b := arm6(t)
	all, why := b.p.Sequence(context.Background(), []planner.Item{
		{Request: b.ptp(0.1)}, {Request: b.lin(at(3, 0, 0.5), down)}, {Request: b.ptp(0)}}, b.q)
	if all != nil || why == nil || why.Item != 1 || why.Kind != planner.NoSolution {
		t.Errorf("%v, %v", all, why)
	}
	if all, why := b.p.Sequence(context.Background(), nil, b.q); len(all) != 0 || why != nil {
		t.Errorf("empty sequence: %v, %v", all, why)
	}
	start := b.ptp(0.2)
	start.Start = b.startState(b.q, make([]float64, 6))
	if _, why := b.p.Sequence(context.Background(), []planner.Item{{Request: b.ptp(0.1)}, {Request: start}}, b.q); why == nil || why.Kind != planner.BadState || why.Item != 1 {
		t.Errorf("start state in the second item: %v", why)
	}
}

func TestConsecutiveItemsOfAGroupShareAClock(t *testing.T) {
	b := arm6(t)
	all := b.sequence(planner.Item{Request: b.ptp(0.3)}, planner.Item{Request: b.lin(at(0.5, 0.3, 0.6), down)}, planner.Item{Request: b.ptp(0, 0)})
	if len(all) != 1 {
		t.Fatalf("%d trajectories", len(all))
	}
	// it rests between the items
	rests := 0
	for _, p := range all[0].Trajectory.Points[1 : len(all[0].Trajectory.Points)-1] {
		if largest(p.Velocity) == 0 {
			rests++
		}
	}
	if rests != 2 {
		t.Errorf("rests %d times between three items", rests)
	}
}
