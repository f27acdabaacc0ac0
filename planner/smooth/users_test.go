package smooth_test

import (
	"context"
	"math"
	"testing"

	"poise/planner"
	"poise/robot"
	"poise/spatial"
)

// What users of the Pilz planner reported, each as its own test: it now succeeds,
// or is refused with an explanation. Where a rule has a test elsewhere it is
// named.

// moveit#3161: the limits of a slow joint hold back all others, even if it does
// not move.
func TestUsersSlowJointThatDoesNotMoveDoesNotCount(t *testing.T) {
	limits := "joint_limits:\n"
	for i := 1; i <= 6; i++ {
		v, a := 3.0, 8.0
		if i == 6 {
			v, a = 0.01, 0.02
		}
		limits += "  joint_" + ftoa(float64(i)) + ": {has_velocity_limits: true, max_velocity: " + ftoa(v) + ", has_acceleration_limits: true, max_acceleration: " + ftoa(a) + "}\n"
	}
	b := newBench(t, withLimits(t, "arm6", limits, ""), "manipulator")
	if d := duration(b.plan(b.ptp(1))); d > 0.8 {
		t.Errorf("1 rad at 3 rad/s takes %g s", d)
	}
}

// moveit#3521, #3553, moveit2#3292, PilzDE#84, #311: refused because a joint
// cannot follow at the wanted speed. The same requests at full scaling.
func TestUsersFullScalingNeverFailsForALimit(t *testing.T) {
	m := prbt(t)
	for _, g := range goldenRequests(t) {
		for i := range g.items {
			if r := &g.items[i].Request; r.VelocityScaling > 0 && r.VelocityScaling <= 1 && r.AccelerationScaling > 0 {
				r.VelocityScaling, r.AccelerationScaling = 1, 1
			}
		}
		p := newBench(t, m, "manipulator").p
		p.Sampling = 0.004
		if testing.Short() {
			p.Sampling = 0.05
		}
		all, why := g.plan(&p)
		if why != nil && (why.Kind == planner.LimitExceeded || why.Kind == planner.BlendFailed && g.name[:9] != "NoInterse" && g.name[:6] != "radius") {
			t.Errorf("%s: %v", g.name, why)
		}
		for _, x := range all {
			checkMotion(t, m, x, p.Sampling)
		}
	}
}

// moveit#3553, #3554, #3583, moveit2#2741, #2943, #2961, moveit#2900, PilzDE#146:
// last intervals of nanoseconds, equal time stamps at blend borders. Every plan in
// these tests goes through checkMotion, which asks for even steps. Here durations
// that are not a whole number of periods.
func TestUsersNoTinyLastInterval(t *testing.T) {
	b := plainArm(t, "")
	b.p.Sampling = 0.1
	for _, way := range []float64{0.1, 0.2, 0.2000001, 0.31, 0.5} {
		b.plan(b.ptp(way))
	}
}

// moveit#2905, PilzDE#84, #127: blending fails for the radius window, for the
// acceleration at a corner, for samples that do not match.
func TestUsersFastSharpCornersBlend(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		b.start(at(0.4, -0.3, 0.4), down)
		var items []planner.Item
		for i := range 7 {
			x := 0.4 + 0.2*float64(i%2)
			items = append(items, planner.Item{Request: b.lin(at(x, -0.3+0.08*float64(i+1), 0.4), down), Radius: 0.04})
		}
		items[6].Radius = 0
		all := b.sequence(items...)
		_, v, _ := b.tool(all[0])
		if largest(v) < 0.2 {
			t.Errorf("%s: at most %g m/s", name, largest(v))
		}
	}
}

// moveit2#2909: a rotation lowers the speed of the tool. See
// TestTranslationHasPriorityOverScaledRotation.

// moveit#3094, M1#1065 and others: speed of a named link, in metres per second.
func TestUsersSpeedOfAnyLinkOnALine(t *testing.T) {
	for name, b := range map[string]*bench{"with jerk limits": arm6(t), "without": plainArm(t, "")} {
		b.start(at(0.45, -0.3, 0.5), down)
		for _, link := range []string{b.tip(), "link_3"} {
			r := b.lin(at(0.45, 0.3, 0.5), spatial.AxisAngle(at(0, 0, 1), 1).Mul(down.Matrix()).Quat())
			r.MaxSpeed, r.SpeedLink = 0.12, link
			m := b.plan(r)
			id, ok := b.m.Frame(link)
			if !ok {
				t.Fatalf("no link %q", link)
			}
			x := newTracer(b.m, m, id)
			most := 0.0
			x.each(t, m, 1, func(_ float64, _ bool, _ spatial.Pose, V spatial.Twist) { most = max(most, V.Linear.Norm()) })
			if most > 0.12*(1+1e-4) || most < 0.11 {
				t.Errorf("%s: link %s goes at %g m/s, limit 0.12", name, link, most)
			}
		}
	}
	b := arm6(t)
	r := b.lin(at(0.45, 0.3, 0.5), down)
	r.MaxSpeed, r.SpeedLink = 0.12, "no_such_link"
	b.refused(r, planner.UnknownLink, "no_such_link")
}

// moveit2#3694, pilz_industrial_motion#311, pilz_robots#418: jerk at the stop, and
// accelerations beyond the limits when a controller interpolates the samples. See
// checkMotion: limits hold on the quintic. Here: positions, velocities and
// accelerations belong together.
func TestUsersDerivativesAreConsistent(t *testing.T) {
	b := arm6(t)
	for _, r := range []planner.Request{b.ptp(1, 0.5, -0.7), b.lin(at(0.5, 0.3, 0.5), down)} {
		pts := b.plan(r).Trajectory.Points
		for i := 1; i < len(pts); i++ {
			h := pts[i].Time - pts[i-1].Time
			for j := range pts[i].Position {
				// to the order of the jerk
				dv := (pts[i].Position[j] - pts[i-1].Position[j]) / h
				da := (pts[i].Velocity[j] - pts[i-1].Velocity[j]) / h
				if math.Abs(dv-(pts[i].Velocity[j]+pts[i-1].Velocity[j])/2) > 1e-3 || math.Abs(da-(pts[i].Acceleration[j]+pts[i-1].Acceleration[j])/2) > 0.05 {
					t.Fatalf("%v: point %d, joint %d does not follow from the one before", r.Command, i, j)
				}
			}
		}
	}
}

// moveit#2459, moveit2#3289, PilzDE#314: solutions that are sporadically not
// found on a path. See TestRandomLinesKeepPathAndLimits; and the same plan comes
// out every time.

// moveit#2773, #2824, #2879, #3517: any frame that hangs on the tip is a tool.
func TestUsersAnyFrameOnTheTipIsATool(t *testing.T) {
	b := arm6(t)
	var tool robot.FrameID
	for id, f := range b.m.Frames() {
		tip := b.m.Frames()[b.g.Tip]
		if f.Body == tip.Body && f.Pose.P.Sub(tip.Pose.P).Norm() > 0.05 {
			tool = robot.FrameID(id)
		}
	}
	name := b.m.Frames()[tool].Name
	r := b.lin(at(0.5, 0.2, 0.4), spatial.AxisAngle(at(0, 0, 1), 1).Mul(down.Matrix()).Quat())
	r.Goals[0].Positions[0].Link, r.Goals[0].Orientations[0].Link = name, name
	m := b.plan(r)
	x := newTracer(b.m, m, tool)
	last := m.Trajectory.Points[len(m.Trajectory.Points)-1]
	X, _ := x.at(last.Position, last.Velocity)
	b.near(name, X.P, at(0.5, 0.2, 0.4))
}

// moveit2#1856, #2305, moveit#2610, #2940, PilzDE#121: robots of several groups,
// limits missing elsewhere, followers of other joints. See
// TestGripperPlansAndGroupsGetTrajectoriesOfTheirOwn (its fingers mimic each
// other) and TestMissingLimitsAreRefusedByName.

// PilzDE#70, #87, #106, #123: circles from points on a line, close together, in
// another frame.
func TestUsersSmallCirclesAndFrames(t *testing.T) {
	b := arm6(t)
	from := at(0.5, 0, 0.5)
	b.start(from, down)
	// Pilz takes points 3 mm apart for a line
	small := b.circ("interim", from.Add(at(0.002, 0, 0)), from.Add(at(0.001, 0.001, 0)))
	poses, _, _ := b.tool(b.plan(small))
	b.near("small circle", poses[len(poses)-1].P, from.Add(at(0.002, 0, 0)))

	framed := b.circ("interim", at(0.5, 0.2, 0.5), at(0.6, 0.1, 0.5))
	base := b.m.Frames()[0].Name
	framed.Goals[0].Positions[0].Frame, framed.Via.Points[0].Frame = base, base
	poses, _, _ = b.tool(b.plan(framed))
	b.near("framed circle", poses[len(poses)-1].P, at(0.5, 0.2, 0.5))

	b.refused(b.circ("interim", at(0.5, 0.2, 0.5), at(0.5, 0.1, 0.5)), planner.BadRequest, "one line")
	b.refused(b.circ("interim", from.Add(at(0, 1e-8, 0)), from.Add(at(1e-8, 0, 0))), planner.BadRequest, "apart")
}

// moveit2#3610: waypoints on one line, one radius for all, a path that ends
// elsewhere than the goal. See TestPolyline…; and a goal in joints, which made the
// original read what is not there.
func TestUsersPolylineWithAGoalInJoints(t *testing.T) {
	b := arm6(t)
	b.start(at(0.4, -0.3, 0.4), down)
	end := b.end(b.plan(b.lin(at(0.5, 0.2, 0.5), down)))
	r := b.polyline(at(0, 0, 0), 0.5, []spatial.Vec3{at(0.4, 0, 0.4), at(0.5, 0.1, 0.4)}, []float64{0, 0})
	r.Goals = b.joints(end[:6]...)
	m := b.plan(r)
	got := b.end(m)
	for j := range 6 {
		if math.Abs(got[j]-end[j]) > 1e-6 {
			t.Errorf("joint %d ends at %g, want %g", j, got[j], end[j])
		}
	}
}

// pick_ik#69, PIM#153, roboplan#68: arms with fewer than six axes on a line.
func TestUsersArmWithFewerAxesFollowsALineItCan(t *testing.T) {
	const scara = `<robot name="scara"><link name="base"/><link name="upper"/><link name="fore"/><link name="spin"/><link name="tool"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-2.5" upper="2.5" effort="1" velocity="3"/></joint>
<joint name="j2" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/><limit lower="-2.5" upper="2.5" effort="1" velocity="3"/></joint>
<joint name="j3" type="revolute"><parent link="fore"/><child link="spin"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="3"/></joint>
<joint name="j4" type="prismatic"><parent link="spin"/><child link="tool"/><axis xyz="0 0 1"/><limit lower="-0.2" upper="0.2" effort="1" velocity="1"/></joint></robot>`
	dir := t.TempDir()
	writeFile(t, dir+"/scara.urdf", scara)
	limits := "joint_limits:\n"
	for _, j := range []string{"j1", "j2", "j3", "j4"} {
		limits += "  " + j + ": {has_acceleration_limits: true, max_acceleration: 6}\n"
	}
	m := withLimits(t, dir+"/scara.urdf", limits, "cartesian_limits: {max_trans_vel: 1, max_trans_acc: 2, max_trans_dec: -2, max_rot_vel: 2}\n")
	b := newBench(t, m, m.Groups()[0].Name)
	copy(b.q, []float64{0.6, -1.2, 0.6, 0})
	X := tipAt(m, b.g, b.q)
	goal := X.P.Add(at(0, 0.15, 0.1))
	mo := b.plan(b.lin(goal, X.R.Quat()))
	b.onLine(mo, X, spatial.Pose{P: goal, R: X.R})
	// a tilt it cannot make
	r := b.lin(goal, spatial.AxisAngle(at(1, 0, 0), 0.3).Mul(X.R).Quat())
	if _, why := b.p.Plan(context.Background(), &r, b.q); why == nil || why.Kind != planner.NoSolution {
		t.Errorf("tilted: %v", why)
	}
}

// M2#3411 and others: starting where the arm is singular.
func TestUsersLineFromASingularStart(t *testing.T) {
	b := plainArm(t, "")
	b.q = []float64{0, 0.3, -0.2, 0, -math.Pi / 2, 0, 0}
	X := tipAt(b.m, b.g, b.q)
	for _, way := range []spatial.Vec3{at(0, 0.1, 0), at(-0.1, 0, 0), at(0, 0, -0.1), at(-0.05, 0.1, 0.02)} {
		m := b.plan(b.lin(X.P.Add(way), X.R.Quat()))
		b.onLine(m, X, spatial.Pose{P: X.P.Add(way), R: X.R})
	}
}
