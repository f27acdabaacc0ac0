package smooth_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"poise/planner"
	"poise/spatial"
	"poise/trajectory/move"
)

func TestPTPUsesEachJointsOwnLimitsAndArrivesTogether(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		goal := []float64{0.9, 0.6, -0.8, 1.5, -1.2, 4}
		m := b.plan(b.ptp(goal...))
		alone := 0.0
		for k, j := range b.g.Joints {
			l := b.m.Joints()[j].Limits
			jerk := math.Inf(1)
			if l.Jerk.Has {
				jerk = l.Jerk.Value
			}
			x, err := move.New([]move.Limits{move.Symmetric(l.Velocity.Value, l.Acceleration.Value, jerk)})
			must(t, err)
			must(t, x.Reach([]move.State{{}}, []move.State{{P: goal[k]}}, move.Options{}))
			alone = max(alone, x.Duration())
		}
		if d := duration(m); d < alone || d > alone+3*0.001+1e-9 {
			t.Errorf("%s: takes %.6g s, the slowest joint alone %.6g s", name, d, alone)
		}
		last := m.Trajectory.Points[len(m.Trajectory.Points)-1].Position
		if !slices.Equal(last, goal) {
			t.Errorf("%s: ends at %v, want %v", name, last, goal)
		}
		// all joints still move shortly before the end
		late := m.Trajectory.Points[len(m.Trajectory.Points)-20]
		for k := range goal {
			if late.Position[k] == goal[k] {
				t.Errorf("%s: joint %d arrives early", name, k)
			}
		}
	}
}

func TestPTPScalesJointLimits(t *testing.T) {
	b := plainArm(t, "")
	r := b.ptp(1, 0.5)
	r.VelocityScaling, r.AccelerationScaling = 0.3, 0.2
	m := b.plan(r)
	curve, err := m.Trajectory.Interpolant()
	must(t, err)
	if v := limitsOf(b.m, m.Joints, 0.3, 0.2).Violations(curve, tolLimit); len(v) > 0 {
		t.Errorf("beyond scaled limits: %v", v)
	}
}

func TestPTPHoldsJointsThatTheGoalDoesNotName(t *testing.T) {
	b := arm6(t)
	b.q[b.m.Joints()[b.g.Joints[1]].Q] = 0.3
	m := b.plan(b.ptp(math.NaN(), math.NaN(), -0.5))
	for _, p := range m.Trajectory.Points {
		if p.Position[1] != 0.3 || p.Position[0] != 0 || p.Velocity[1] != 0 {
			t.Fatalf("at %g s unnamed joints are at %v", p.Time, p.Position)
		}
	}
	if len(m.Trajectory.Points[0].Position) != 6 {
		t.Errorf("%d joints in the trajectory, want all of the group", len(m.Trajectory.Points[0].Position))
	}
}

const wheel = `<robot name="wheel"><link name="base"/><link name="disc"/><link name="tip"/>
<joint name="spin" type="continuous"><parent link="base"/><child link="disc"/><axis xyz="0 0 1"/><limit effort="1" velocity="2"/></joint>
<joint name="swing" type="revolute"><parent link="disc"/><child link="tip"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="2"/></joint></robot>`

func TestPTPTurnsContinuousJointsTheShortWay(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/wheel.urdf", wheel)
	m := withLimits(t, dir+"/wheel.urdf", "joint_limits:\n  spin: {has_acceleration_limits: true, max_acceleration: 3}\n  swing: {has_acceleration_limits: true, max_acceleration: 3}\n", "")
	b := newBench(t, m, m.Groups()[0].Name)
	b.q[0] = 3
	mo := b.plan(b.ptp(-3))
	if end := mo.Trajectory.Points[len(mo.Trajectory.Points)-1].Position[0]; math.Abs(end-(2*math.Pi-3)) > 1e-12 {
		t.Errorf("ends at %g, want %g: the short way from 3 to −3", end, 2*math.Pi-3)
	}
}

func TestPTPHonoursTheSpeedOfANamedLink(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		r := b.ptp(1.5, 0.8, -0.4)
		fast := b.plan(r)
		_, before, _ := b.tool(fast)
		r.MaxSpeed, r.SpeedLink = 0.4, b.tip()
		slow := b.plan(r)
		x := newTracer(b.m, slow, b.g.Tip)
		most := 0.0
		x.each(t, slow, 3, func(_ float64, _ bool, _ spatial.Pose, V spatial.Twist) { most = max(most, V.Linear.Norm()) })
		if largest(before) < 0.5 || most > 0.4*(1+1e-6) || most < 0.39 {
			t.Errorf("%s: tool goes at %g m/s, and %g without the limit of 0.4", name, most, largest(before))
		}
		// never slower than slowing the whole motion
		if uniform := duration(fast) * largest(before) / 0.4; duration(slow) > uniform+0.003 {
			t.Errorf("%s: takes %g s, slowing all of it %g s", name, duration(slow), uniform)
		}
		if n := kindOf(slow, planner.Slowed); n == nil || !strings.Contains(n.Text, b.tip()) || n.Limit != "velocity" {
			t.Errorf("%s: notes %v do not say what slowed it", name, slow.Notes)
		}
	}
}

func TestLinSlowsDownWhereAJointCannotFollowAndSaysSo(t *testing.T) {
	b := arm6(t)
	b.start(at(0.25, -0.45, 0.5), down)
	m := b.plan(b.lin(at(0.25, 0.45, 0.5), down))
	n := kindOf(m, planner.Slowed)
	if n == nil || n.Joint == "" || !(n.Share > 0 && n.Share < 1) || !(n.To > n.From) {
		t.Fatalf("notes: %+v", m.Notes)
	}
	poses, _, _ := b.tool(m)
	for _, X := range poses {
		if math.Abs(X.P.X-0.25) > tolPath || math.Abs(X.P.Z-0.5) > tolPath {
			t.Fatalf("off the line at %v", X.P)
		}
	}
	b.near("end", poses[len(poses)-1].P, at(0.25, 0.45, 0.5))
}

func TestCartesianDecelerationIsHonouredByItself(t *testing.T) {
	// strong joints, so that the tool's limits are what counts
	const limits = "cartesian_limits: {max_trans_vel: 0.5, max_trans_acc: 0.5, max_trans_dec: -1.5, max_rot_vel: 3}\n"
	b := plainArm(t, limits)
	b.start(at(0.5, -0.2, 0.6), down)
	m := b.plan(b.lin(at(0.5, 0.2, 0.6), down))
	_, v, ts := b.tool(m)
	up, down := 0.0, 0.0
	for i := 1; i < len(v); i++ {
		a := (v[i] - v[i-1]) / (ts[i] - ts[i-1])
		up, down = max(up, a), max(down, -a)
	}
	if up > 0.5*1.001 || down > 1.5*1.001 || up < 0.49 || down < 1.45 {
		t.Errorf("tool accelerates by %g and decelerates by %g, limits 0.5 and 1.5", up, down)
	}
}

func TestRotationalAccelerationFollowsFromTheOthers(t *testing.T) {
	const limits = "cartesian_limits: {max_trans_vel: 1, max_trans_acc: 0.5, max_trans_dec: -1, max_rot_vel: 0.8}\n"
	b := plainArm(t, limits)
	b.start(at(0.5, 0, 0.6), down)
	m := b.plan(b.lin(at(0.5, 0, 0.6), spatial.AxisAngle(at(0, 0, 1), 1).Mul(down.Matrix()).Quat()))
	x := newTracer(b.m, m, b.g.Tip)
	last, up, slow := 0.0, 0.0, 0.0
	for i, p := range m.Trajectory.Points {
		_, V := x.at(p.Position, p.Velocity)
		w := V.Angular.Norm()
		if i > 0 {
			up, slow = max(up, (w-last)/0.001), max(slow, (last-w)/0.001)
		}
		last = w
	}
	// max_trans_acc / max_trans_vel · max_rot_vel = 0.4, deceleration 0.8
	if math.Abs(up-0.4) > 0.002 || math.Abs(slow-0.8) > 0.004 {
		t.Errorf("rotation accelerates by %g and decelerates by %g, want 0.4 and 0.8", up, slow)
	}
}

func TestTranslationHasPriorityOverScaledRotation(t *testing.T) {
	const limits = "cartesian_limits: {max_trans_vel: 1, max_trans_acc: 2, max_trans_dec: -2, max_rot_vel: 1.5}\n"
	b := plainArm(t, limits)
	b.start(at(0.5, -0.2, 0.6), down)
	turned := spatial.AxisAngle(at(0, 0, 1), 1.5).Mul(down.Matrix()).Quat()
	r := b.lin(at(0.5, 0.2, 0.6), turned)
	r.VelocityScaling = 0.1 // 0.1 m/s; Pilz would go 0.4/(1.5/1.5·1) of it
	_, v, _ := b.tool(b.plan(r))
	if most := largest(v); math.Abs(most-0.1) > 1e-6 {
		t.Errorf("tool goes at %g m/s, 0.1 was asked for", most)
	}
	// on the spot it is the turn that is scaled
	r = b.lin(at(0.5, -0.2, 0.6), turned)
	r.VelocityScaling = 0.1
	m := b.plan(r)
	x := newTracer(b.m, m, b.g.Tip)
	most := 0.0
	for _, p := range m.Trajectory.Points {
		_, V := x.at(p.Position, p.Velocity)
		most = max(most, V.Angular.Norm())
	}
	if math.Abs(most-0.15) > 1e-5 {
		t.Errorf("tool turns at %g rad/s, 0.15 was asked for", most)
	}
}

func TestSamplesAreEvenForAnyPeriod(t *testing.T) {
	periods := []float64{0.1, 0.03, 0.008, 0.004, 0.001, 0.00037}
	if testing.Short() {
		periods = periods[:2]
	}
	for _, period := range periods {
		for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
			b.start(at(0.45, -0.3, 0.5), down)
			b.p.Sampling = period
			for _, r := range []planner.Request{b.lin(at(0.45, 0.3, 0.6), down), b.ptp(0, 0, 0, 0, 0, 0)} {
				m := b.plan(r) // checks evenness, and limits between the samples
				if n := len(m.Trajectory.Points); n < 3 {
					t.Errorf("%s: %d points", name, n)
				}
			}
		}
	}
}

func TestToolStaysNearItsPathBetweenSamples(t *testing.T) {
	b := plainArm(t, "")
	b.start(at(0.45, -0.3, 0.5), down)
	for _, c := range []struct{ period, deviation float64 }{{0.1, 0}, {0.1, 1e-6}, {0.3, 1e-5}, {0.02, 1e-7}} {
		b.p.Sampling, b.p.Deviation = c.period, c.deviation
		m := b.plan(b.lin(at(0.45, 0.3, 0.5), down))
		bound := c.deviation
		if bound == 0 {
			bound = 1e-4
		}
		x := newTracer(b.m, m, b.g.Tip)
		worst := 0.0
		x.each(t, m, 7, func(_ float64, _ bool, X spatial.Pose, _ spatial.Twist) {
			worst = max(worst, math.Hypot(X.P.X-0.45, X.P.Z-0.5))
		})
		if worst > bound*1.02 {
			t.Errorf("period %g: %.3g m off the line between samples, want %g", c.period, worst, bound)
		}
	}
}

func (b *bench) startState(q, v []float64) planner.StartState {
	var s planner.StartState
	for k, j := range b.g.Joints {
		s.Names = append(s.Names, b.m.Joints()[j].Name)
		s.Position = append(s.Position, q[k])
		s.Velocity = append(s.Velocity, v[k])
	}
	return s
}

func TestMovingStartAlongThePathIsUsed(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		b.start(at(0.45, -0.3, 0.5), down)
		r := b.lin(at(0.45, 0.3, 0.5), down)
		r.VelocityScaling = 0.3
		first := b.plan(r)
		// replace the plan while it runs, with the same goal
		i := len(first.Trajectory.Points) / 3
		p := first.Trajectory.Points[i]
		r.Start = b.startState(p.Position, p.Velocity)
		again := b.plan(r)
		got := again.Trajectory.Points[0]
		for k := range got.Velocity {
			if math.Abs(got.Velocity[k]-p.Velocity[k]) > 1e-5 || got.Position[k] != p.Position[k] {
				t.Fatalf("%s: begins with %v %v, the running plan has %v %v", name, got.Position, got.Velocity, p.Position, p.Velocity)
			}
		}
		if n := kindOf(again, planner.Bridged); n != nil {
			t.Errorf("%s: %v", name, n)
		}
		left := duration(first) - p.Time
		if d := duration(again); math.Abs(d-left) > 0.02 {
			t.Errorf("%s: takes %g s more, the plan it replaces %g s", name, d, left)
		}
		poses, _, _ := b.tool(again)
		for _, X := range poses {
			if math.Hypot(X.P.X-0.45, X.P.Z-0.5) > tolPath {
				t.Fatalf("%s: off the line at %v", name, X.P)
			}
		}
	}
}

func TestMovingStartFasterThanTheNewPlanBrakesAlongThePath(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		b.start(at(0.45, -0.3, 0.5), down)
		r := b.lin(at(0.45, 0.3, 0.5), down)
		r.VelocityScaling = 0.3
		first := b.plan(r)
		p := first.Trajectory.Points[len(first.Trajectory.Points)/2]
		r.Start, r.VelocityScaling = b.startState(p.Position, p.Velocity), 0.1
		again := b.plan(r)
		if n := kindOf(again, planner.Bridged); n != nil {
			t.Errorf("%s: %v", name, n)
		}
		_, v, _ := b.tool(again)
		if math.Abs(v[0]-0.45) > 1e-4 || math.Abs(v[len(v)/2]-0.15) > 1e-3 {
			t.Errorf("%s: goes from %g m/s to %g, want 0.45 and 0.15", name, v[0], v[len(v)/2])
		}
	}
}

func TestMovingStartAcrossThePathGetsABridge(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		b.start(at(0.45, -0.3, 0.5), down)
		for _, c := range []planner.Command{planner.LIN, planner.CIRC, planner.PTP} {
			r := b.lin(at(0.45, 0.3, 0.5), down)
			if c == planner.CIRC {
				r = b.circ("interim", at(0.45, 0.3, 0.5), at(0.55, 0, 0.5))
			}
			if c == planner.PTP {
				r = b.ptp(0, 0, 0, 0, 0, 0)
			}
			v := []float64{0.2, -0.3, 0.4, 0, 0.3, 0}
			r.Start = b.startState(b.q, v)
			m := b.plan(r)
			if got := m.Trajectory.Points[0]; !slices.Equal(got.Velocity, v) || !slices.Equal(got.Position, b.q[:6]) {
				t.Errorf("%s, %v: begins at %v with %v", name, c, got.Position, got.Velocity)
			}
			n := kindOf(m, planner.Bridged)
			if (n != nil) != (c != planner.PTP) {
				t.Errorf("%s, %v: notes %v", name, c, m.Notes)
			}
			poses, _, _ := b.tool(m)
			if c != planner.PTP {
				b.near(c.String()+" end", poses[len(poses)-1].P, at(0.45, 0.3, 0.5))
			}
		}
	}
}

func TestStartTooFastToStopInTimeIsRefused(t *testing.T) {
	b := plainArm(t, "")
	b.q[0] = 2.96
	r := b.lin(at(-0.4, 0, 0.5), down)
	r.Start = b.startState(b.q, []float64{3, 0, 0, 0, 0, 0})
	b.refused(r, planner.BadState, "joint_1", "cannot stop in time")
}

func TestCircAroundACentreReachesTheGoalExactly(t *testing.T) {
	b := plainArm(t, "")
	b.start(at(0.5, -0.2, 0.5), down)
	goal := at(0.705, 0, 0.5) // 5 mm more radius than the start has
	poses, _, _ := b.tool(b.plan(b.circ("center", goal, at(0.5, 0, 0.5))))
	b.near("end", poses[len(poses)-1].P, goal)
	for _, X := range poses {
		if r := X.P.Sub(at(0.5, 0, 0.5)).Norm(); r < 0.2-tolPath || r > 0.205+tolPath || math.Abs(X.P.Z-0.5) > tolPath {
			t.Fatalf("radius %g at %v", r, X.P)
		}
	}
	b.refused(b.circ("center", at(0.72, 0, 0.5), at(0.5, 0, 0.5)), planner.BadRequest, "0.02")
}

func TestCircAroundACentreTakesTheShorterArcAndRefusesHalves(t *testing.T) {
	b := plainArm(t, "")
	b.start(at(0.5, -0.15, 0.5), down)
	for _, c := range []struct{ angle float64 }{{0.3}, {1.5}, {3}, {-2}} {
		s, k := math.Sincos(c.angle - math.Pi/2)
		poses, _, _ := b.tool(b.plan(b.circ("center", at(0.5+0.15*k, 0.15*s, 0.5), at(0.5, 0, 0.5))))
		sum := 0.0
		for i := 1; i < len(poses); i++ {
			sum += poses[i].P.Sub(poses[i-1].P).Norm()
		}
		if math.Abs(sum-0.15*math.Abs(c.angle)) > 1e-5 {
			t.Errorf("%g rad: went %g m, want %g", c.angle, sum, 0.15*math.Abs(c.angle))
		}
	}
	b.refused(b.circ("center", at(0.5, 0.15, 0.5), at(0.5, 0, 0.5)), planner.BadRequest, "one line", "interim")
	b.refused(b.circ("center", at(0.5, -0.15, 0.5), at(0.5, 0, 0.5)), planner.BadRequest, "one line", "circle")
}

func TestCircThroughAPointPassesIt(t *testing.T) {
	b := plainArm(t, "")
	b.start(at(0.5, -0.15, 0.5), down)
	for name, via := range map[string]spatial.Vec3{
		"short arc":    at(0.5+0.15*math.Cos(-math.Pi/4), 0.15*math.Sin(-math.Pi/4), 0.5),
		"long arc":     at(0.5-0.15, 0, 0.5),
		"out of plane": at(0.5, 0, 0.6),
	} {
		goal := at(0.65, 0, 0.5)
		poses, _, _ := b.tool(b.plan(b.circ("interim", goal, via)))
		nearest := math.Inf(1)
		for _, X := range poses {
			nearest = min(nearest, X.P.Sub(via).Norm())
		}
		if nearest > 0.001 {
			t.Errorf("%s: passes %g m from the interim point", name, nearest)
		}
		b.near(name, poses[len(poses)-1].P, goal)
	}
}

func TestCircHalfFullAndByAngle(t *testing.T) {
	b := plainArm(t, "")
	from := at(0.5, -0.15, 0.5)
	b.start(from, down)
	length := func(r planner.Request) (sum float64, end spatial.Vec3) {
		poses, _, _ := b.tool(b.plan(r))
		for i := 1; i < len(poses); i++ {
			sum += poses[i].P.Sub(poses[i-1].P).Norm()
		}
		return sum, poses[len(poses)-1].P
	}
	for _, c := range []struct {
		name string
		req  planner.Request
		turn float64
		end  spatial.Vec3
	}{
		{"half by interim", b.circ("interim", at(0.5, 0.15, 0.5), at(0.65, 0, 0.5)), 0.5, at(0.5, 0.15, 0.5)},
		{"full circle", b.circ("circle", from, at(0.65, 0, 0.5), at(0.35, 0, 0.5)), 1, from},
		{"full circle the other way", b.circ("circle", from, at(0.35, 0, 0.5), at(0.65, 0, 0.5)), 1, from},
		{"three quarters about a centre", b.circ("center:angle=270deg", at(0.65, 0, 0.5), at(0.5, 0, 0.5)), 0.75, at(0.35, 0, 0.5)},
		{"a quarter back", b.circ("center:angle=-1.5707963267948966", at(0.65, 0, 0.5), at(0.5, 0, 0.5)), 0.25, at(0.35, 0, 0.5)},
		{"twice round", b.circ("interim:angle=720deg", at(0.5, 0.15, 0.5), at(0.65, 0, 0.5)), 2, from},
	} {
		sum, end := length(c.req)
		if math.Abs(sum-c.turn*2*math.Pi*0.15) > 1e-4 {
			t.Errorf("%s: went %g m, want %g", c.name, sum, c.turn*2*math.Pi*0.15)
		}
		b.near(c.name, end, c.end)
	}
	b.refused(b.circ("circle", at(0.5, 0.15, 0.5), at(0.65, 0, 0.5), at(0.35, 0, 0.5)), planner.BadRequest, "ends where it starts")
	b.refused(b.circ("circle", from, at(0.65, 0, 0.5)), planner.BadRequest, "2 position")
	b.refused(b.circ("center:angle=all", from, at(0.65, 0, 0.5)), planner.BadRequest, "angle")
	b.refused(b.circ("middle", from, at(0.65, 0, 0.5)), planner.BadRequest, "middle")
}

// polyline goes through points; radii may be 0.
func (b *bench) polyline(goal spatial.Vec3, smoothness float64, points []spatial.Vec3, radii []float64) planner.Request {
	r := b.request(planner.POLYLINE)
	r.Goals = b.pose(goal, down)
	r.Smoothness = smoothness
	for i, p := range points {
		r.Via.Points = append(r.Via.Points, planner.PositionGoal{Points: []planner.PointGoal{{Position: p, Orientation: down, Radius: radii[i]}}})
	}
	return r
}

func TestPolylineHasARadiusForEachCornerAndEndsAtTheGoal(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		b.start(at(0.4, -0.3, 0.4), down)
		points := []spatial.Vec3{at(0.4, 0, 0.4), at(0.6, 0, 0.4), at(0.6, 0.2, 0.4)}
		radii := []float64{0.08, 0.02, 0.05}
		goal := at(0.5, 0.2, 0.6)
		m := b.plan(b.polyline(goal, 0, points, radii))
		poses, speeds, _ := b.tool(m)
		b.near(name, poses[len(poses)-1].P, goal)
		corners := append([]spatial.Vec3{at(0.4, -0.3, 0.4)}, append(points, goal)...)
		for i, X := range poses {
			off := math.Inf(1)
			for k := 1; k < len(corners); k++ {
				off = min(off, fromSegment(X.P, corners[k-1], corners[k]))
			}
			inside := false
			for k, c := range points {
				inside = inside || X.P.Sub(c).Norm() <= radii[k]+1e-9
			}
			if off > tolPath && !inside {
				t.Fatalf("%s: point %d at %v is off the lines and in no corner", name, i, X.P)
			}
		}
		for i, X := range poses {
			ends := X.P.Sub(corners[0]).Norm() < 0.05 || X.P.Sub(goal).Norm() < 0.05
			if speeds[i] < 0.02 && !ends {
				t.Fatalf("%s: nearly stops at %v", name, poses[i].P)
			}
		}
		nearest := math.Inf(1)
		for _, X := range poses {
			nearest = min(nearest, X.P.Sub(points[0]).Norm())
		}
		if nearest < 0.015 || nearest > 0.05 {
			t.Errorf("%s: passes the first corner at %g m, its radius is 0.08", name, nearest)
		}
	}
}

func fromSegment(p, a, b spatial.Vec3) float64 {
	u := b.Sub(a)
	x := min(max(p.Sub(a).Dot(u)/u.Dot(u), 0), 1)
	return p.Sub(a.Add(u.Scale(x))).Norm()
}

func TestPolylineTakesPointsOnOneLine(t *testing.T) {
	b := plainArm(t, "")
	b.start(at(0.4, -0.3, 0.4), down)
	m := b.plan(b.polyline(at(0.4, 0.3, 0.4), 0.5, []spatial.Vec3{at(0.4, -0.1, 0.4), at(0.4, 0.1, 0.4), at(0.4, 0.1001, 0.4)}, []float64{0, 0, 0}))
	line := b.plan(b.lin(at(0.4, 0.3, 0.4), down))
	if math.Abs(duration(m)-duration(line)) > 0.005 {
		t.Errorf("takes %g s, the line %g s", duration(m), duration(line))
	}
	b.refused(b.polyline(at(0.4, 0.3, 0.4), 0, []spatial.Vec3{at(0.4, 0, 0.4), at(0.6, 0, 0.4)}, []float64{0.15, 0.1}), planner.BadRequest, "0.25", "0.2")
	b.refused(b.polyline(at(0.4, 0.3, 0.4), 0, []spatial.Vec3{at(0.4, 0, 0.4), at(0.6, 0, 0.4)}, []float64{planner.OtherShape, 0}), planner.BadRequest, "sphere")
}

func TestGripperPlansAndGroupsGetTrajectoriesOfTheirOwn(t *testing.T) {
	b := arm6(t)
	grip := b.request(planner.PTP)
	grip.Group = "gripper"
	grip.Goals = []planner.Goal{{Joints: []planner.JointGoal{{Joint: "finger_left_joint", Position: 0.03}}}}
	shut := grip
	shut.Goals = []planner.Goal{{Joints: []planner.JointGoal{{Joint: "finger_left_joint", Position: 0}}}}
	all := b.sequence(
		planner.Item{Request: grip},
		planner.Item{Request: b.ptp(0.5), Radius: 0.05},
		planner.Item{Request: b.ptp(0, 0.3), Radius: 0.05}, // before another group
		planner.Item{Request: shut, Radius: 0.1},           // no tip
		planner.Item{Request: grip},
		planner.Item{Request: b.ptp(0, 0)})
	var names []string
	for _, m := range all {
		names = append(names, m.Group.Name)
	}
	if want := []string{"gripper", "manipulator", "gripper", "manipulator"}; !slices.Equal(names, want) {
		t.Fatalf("trajectories of %v, want %v", names, want)
	}
	if all[1].Start[6] != 0.03 || all[3].Start[0] != 0 {
		t.Errorf("motions start at %v and %v", all[1].Start, all[3].Start)
	}
	for i, item := range map[int]int{1: 2, 2: 3} {
		if n := kindOf(all[i], planner.Unblended); n == nil || n.Item != item {
			t.Errorf("motion %d: notes %v, want item %d not blended", i, all[i].Notes, item)
		}
	}
}

func TestMissingLimitsAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/wheel.urdf", wheel)
	m := withLimits(t, dir+"/wheel.urdf", "joint_limits:\n  spin: {has_acceleration_limits: true, max_acceleration: 3}\n", "")
	b := newBench(t, m, m.Groups()[0].Name)
	b.plan(b.ptp(0.5)) // the other joint does not move
	why := b.refused(b.ptp(0.5, 0.5), planner.MissingLimit, "swing", "acceleration")
	if why.Joint != "swing" {
		t.Errorf("about joint %q", why.Joint)
	}
	line := b.lin(at(0.1, 0, 0), spatial.Quat{W: 1})
	line.Goals = b.joints(0.1, 0.1)
	b.refused(line, planner.MissingLimit, "pilz_cartesian_limits.yaml", "cartesian_limits: {max_trans_vel: 0.25, ")
}

func TestMissingDecelerationIsTheAccelerationNegated(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/wheel.urdf", wheel)
	m := withLimits(t, dir+"/wheel.urdf", "joint_limits:\n  spin: {has_acceleration_limits: true, max_acceleration: 3}\n", "")
	b := newBench(t, m, m.Groups()[0].Name)
	slow := 0.0
	for _, p := range b.plan(b.ptp(2)).Trajectory.Points {
		slow = max(slow, -p.Acceleration[0])
	}
	if math.Abs(slow-3) > 0.01 {
		t.Errorf("decelerates by %g, want 3", slow)
	}
}

func TestCollisionCheckHasASeam(t *testing.T) {
	b := arm6(t)
	asked := 0
	b.p.Clear = func(q []float64) error {
		if asked++; q[0] > 0.3 {
			return errors.New("joint_1 would hit the wall")
		}
		return nil
	}
	b.plan(b.ptp(0.2))
	why := b.refused(b.ptp(0.5), planner.NoSolution, "hit the wall")
	if asked == 0 || why.Sample < 1 || why.At <= 0 {
		t.Errorf("asked %d times; refused at sample %d, %g s", asked, why.Sample, why.At)
	}
}

func TestPlanningCanBeCancelled(t *testing.T) {
	b := arm6(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := b.lin(at(0.5, 0.1, 0.7), down)
	if _, why := b.p.Plan(ctx, &r, b.q); why == nil || why.Kind != planner.Cancelled {
		t.Errorf("got %v", why)
	}
}

// countdown is a context that is cancelled when it has been asked often enough.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever a plan is, it ends when it is told to: between items, along a path,
// while it is timed, and when it is checked.
func TestPlanningCanBeCancelledAtAnyTime(t *testing.T) {
	b := arm6(t)
	b.p.Clear = func([]float64) error { return nil }
	slow := b.lin(at(0.5, 0.1, 0.7), down)
	slow.VelocityScaling = 0.01
	for name, items := range map[string][]planner.Item{
		"PTP":     {{Request: b.ptp(0.5, 0.3)}},
		"LIN":     {{Request: b.lin(at(0.5, 0.1, 0.7), down)}},
		"long":    {{Request: slow}},
		"blended": {{Request: b.lin(at(0.5, 0.1, 0.7), down), Radius: 0.05}, {Request: b.lin(at(0.5, 0.1, 0.5), down)}},
	} {
		if testing.Short() && name == "long" {
			continue
		}
		asked := 0
		for n := 0; ; n = n*4/3 + 1 {
			left := n
			all, why := b.p.Sequence(countdown{context.Background(), &left}, items, b.q)
			if why == nil {
				break
			}
			if why.Kind != planner.Cancelled || all != nil {
				t.Fatalf("%s, cancelled after %d questions: %v", name, n, why)
			}
			asked = n
		}
		if asked < 3 {
			t.Errorf("%s asks only %d times whether to go on", name, asked)
		}
	}
}

// A sequence has no more samples than one motion may have.
func TestSequencesOfTooManySamplesAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); two million samples")
	}
	b := newBench(t, loadRobot(t, "arm6"), "gripper")
	b.p.Sampling = 0.5e-6
	var items []planner.Item
	for i := range 6 {
		items = append(items, planner.Item{Request: b.ptp(0.03 * float64(1-i%2))})
	}
	_, why := b.p.Sequence(context.Background(), items, b.q)
	if why == nil || why.Kind != planner.BadRequest || why.Item < 1 || why.Value <= why.Limit {
		t.Errorf("got %v", why)
	}
}

func TestPlanningIsDeterministicAndSafeForConcurrentUse(t *testing.T) {
	b := arm6(t)
	items := []planner.Item{{Request: b.ptp(0.3, 0.2), Radius: 0.05}, {Request: b.lin(at(0.5, 0.3, 0.5), down), Radius: 0.05}, {Request: b.lin(at(0.4, 0, 0.5), down)}}
	want := b.sequence(items...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, why := b.p.Sequence(context.Background(), items, b.q)
			if why != nil {
				t.Error(why)
				return
			}
			for i, p := range want[0].Trajectory.Points {
				g := got[0].Trajectory.Points[i]
				if !slices.Equal(g.Position, p.Position) || !slices.Equal(g.Velocity, p.Velocity) || g.Time != p.Time {
					t.Errorf("point %d differs", i)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestNothingMovesIfTheGoalIsTheStart(t *testing.T) {
	b := arm6(t)
	X := tipAt(b.m, b.g, b.q)
	for _, r := range []planner.Request{b.lin(X.P, X.R.Quat()), b.ptp(0, 0)} {
		m := b.plan(r)
		if n := len(m.Trajectory.Points); n != 1 || !slices.Equal(m.Trajectory.Points[0].Position, b.q[:6]) {
			t.Errorf("%v: %d points", r.Command, n)
		}
	}
}
