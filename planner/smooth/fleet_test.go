package smooth_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"poise/internal/golden"
	"poise/planner"
	"poise/planner/path"
	"poise/planner/pilz"
	"poise/planner/smooth"
	"poise/robot"
	"poise/spatial"
)

// Limits of our own for an arm that comes without.
const (
	iiwaJoints = `joint_limits:
  iiwa_joint_1: {has_velocity_limits: true, max_velocity: 1.48, has_acceleration_limits: true, max_acceleration: 3}
  iiwa_joint_2: {has_velocity_limits: true, max_velocity: 1.48, has_acceleration_limits: true, max_acceleration: 3}
  iiwa_joint_3: {has_velocity_limits: true, max_velocity: 1.74, has_acceleration_limits: true, max_acceleration: 4}
  iiwa_joint_4: {has_velocity_limits: true, max_velocity: 1.30, has_acceleration_limits: true, max_acceleration: 3, has_deceleration_limits: true, max_deceleration: -2.5}
  iiwa_joint_5: {has_velocity_limits: true, max_velocity: 2.26, has_acceleration_limits: true, max_acceleration: 5}
  iiwa_joint_6: {has_velocity_limits: true, max_velocity: 2.35, has_acceleration_limits: true, max_acceleration: 5}
  iiwa_joint_7: {has_velocity_limits: true, max_velocity: 2.35, has_acceleration_limits: true, max_acceleration: 6}
`
	iiwaTool = "cartesian_limits: {max_trans_vel: 0.8, max_trans_acc: 1.5, max_trans_dec: -2, max_rot_vel: 1.2}\n"
)

func sharedRobot(t *testing.T, name string) string { return golden.Path(t, "robots/"+name) }

// fleet is the arms that both modes must run on, each in a place with room around
// it.
func fleet(t *testing.T) map[string]*bench {
	t.Helper()
	from := func(m *robot.Model, group string, q ...float64) *bench {
		b := newBench(t, m, group)
		copy(b.q, q)
		return b
	}
	return map[string]*bench{
		"panda":  from(loadRobot(t, "panda"), "panda_arm", 0.1, -0.6, 0, -2.2, 0.1, 1.7, 0.785),
		"iiwa14": from(withLimits(t, sharedRobot(t, "iiwa14"), iiwaJoints, iiwaTool), "iiwa_link_ee", 0.1, 0.5, 0, -1.2, 0.1, 0.9, 0.3),
		"fanuc":  from(loadRobot(t, "fanuc"), "manipulator", 0.2, 0.3, 0.1, 0.1, -0.9, 0.2),
	}
}

// requests are one request of each command from where an arm is: slow enough for
// Pilz, which does not slow down.
func (b *bench) requests() (ptp, goal, lin, circ, centred, polyline planner.Request) {
	X := tipAt(b.m, b.g, b.q)
	tilt := func(angle float64) spatial.Quat { return spatial.AxisAngle(at(0, 0.6, 0.8), angle).Mul(X.R).Quat() }
	off := func(x, y, z float64) spatial.Vec3 { return X.P.Add(at(x, y, z)) }
	slow := func(r planner.Request) planner.Request {
		r.VelocityScaling, r.AccelerationScaling = 0.1, 0.08
		return r
	}
	var q []float64
	for k, j := range b.g.Joints {
		q = append(q, b.q[b.m.Joints()[j].Q]+0.2-0.05*float64(k))
	}
	goal = b.request(planner.PTP)
	goal.Goals = b.pose(off(-0.05, 0.1, 0.05), tilt(0.2))
	circ = b.circ("interim", off(0, 0.16, 0), off(-0.04, 0.08, 0.02))
	circ.Goals = b.pose(off(0, 0.16, 0), tilt(0.1))
	// a quarter about the point below
	centred = b.circ("center", off(0, 0.1, -0.1), off(0, 0, -0.1))
	centred.Goals = b.pose(off(0, 0.1, -0.1), tilt(0.1))
	polyline = b.request(planner.POLYLINE)
	polyline.Smoothness = 0.5
	for _, p := range []spatial.Vec3{off(0, 0.08, 0), off(-0.06, 0.1, 0.05), off(-0.05, 0.18, 0.05)} {
		polyline.Via.Points = append(polyline.Via.Points, planner.PositionGoal{Link: b.tip(), Points: []planner.PointGoal{{Position: p, Orientation: X.R.Quat()}}})
	}
	polyline.Goals = b.pose(off(-0.05, 0.18, 0.05), X.R.Quat())
	return slow(b.ptp(q...)), slow(goal), slow(b.lin(off(-0.08, 0.15, -0.06), tilt(0.3))), slow(circ), slow(centred), slow(polyline)
}

// Both modes on arms of six and seven axes: where a motion begins and ends, its
// times, its limits, and its path.
func TestFleetKeepsTheRulesInBothModes(t *testing.T) {
	for name, b := range fleet(t) {
		ptp, goal, lin, circ, centred, polyline := b.requests()
		b.p.Sampling = 0.004
		X := tipAt(b.m, b.g, b.q)
		compat := &pilz.Planner{Model: b.m}
		for what, r := range map[string]planner.Request{"PTP joints": ptp, "PTP pose": goal, "LIN": lin, "CIRC interim": circ, "CIRC center": centred, "POLYLINE": polyline} {
			ours := b.plan(r)
			theirs, why := compat.Plan(context.Background(), &r, b.q)
			if why != nil {
				t.Errorf("%s: %s: compat: %v", name, what, why)
				continue
			}
			for mode, m := range map[string]*planner.Motion{"default": ours, "compat": theirs} {
				at := name + ", " + what + ", " + mode
				b.rules(at, m, &r, X)
				switch r.Command {
				case planner.LIN:
					b.onLine(m, X, spatial.Pose{P: r.Goals[0].Positions[0].Points[0].Position, R: r.Goals[0].Orientations[0].Orientation.Matrix()})
				case planner.CIRC:
					b.onCircle(at, m, &r, X)
				}
			}
			if r.Command == planner.PTP {
				b.lasts(name+", "+what, theirs, &r)
			}
			if limitsOf(b.m, ours.Joints, 1, 1).Jerk == nil && duration(ours) > 1.01*duration(theirs)+b.p.Sampling {
				t.Errorf("%s: %s takes %g s, compat %g s", name, what, duration(ours), duration(theirs))
			}
		}
		b.sequenceInBothModes(name, compat, lin, circ, ptp)
	}
}

// rules checks what holds for a motion in both modes.
func (b *bench) rules(what string, m *planner.Motion, r *planner.Request, X spatial.Pose) {
	b.Helper()
	if err := m.Trajectory.Check(); err != nil {
		b.Errorf("%s: %v", what, err)
	}
	l, pts := limitsOf(b.m, m.Joints, 1, 1), m.Trajectory.Points
	for i, p := range pts {
		if i > 0 && !(p.Time > pts[i-1].Time) {
			b.Fatalf("%s: point %d at %g s after %g s", what, i, p.Time, pts[i-1].Time)
		}
		for j := range p.Position {
			if p.Position[j] > l.Upper[j] || p.Position[j] < l.Lower[j] || math.Abs(p.Velocity[j]) > l.Velocity[j]*(1+tolLimit) ||
				math.Abs(p.Acceleration[j]) > max(l.Acceleration[j], l.Deceleration[j])*(1+tolLimit) {
				b.Fatalf("%s: point %d is out of limits", what, i)
			}
		}
	}
	first, last := pts[0], pts[len(pts)-1]
	for k, j := range b.g.Joints {
		if m.Joints[k] != j || math.Abs(first.Position[k]-b.q[b.m.Joints()[j].Q]) > 1e-7 {
			b.Errorf("%s: begins with joint %d at %v, the arm is at %v", what, k, first.Position, b.q)
		}
	}
	if largest(first.Velocity) != 0 || largest(last.Velocity) != 0 || largest(last.Acceleration) != 0 {
		b.Errorf("%s: does not begin and end at rest", what)
	}
	if g := &r.Goals[0]; len(g.Joints) > 0 {
		for k := range g.Joints {
			if math.Abs(last.Position[k]-g.Joints[k].Position) > 1e-9 {
				b.Errorf("%s: joint %d ends at %g, want %g", what, k, last.Position[k], g.Joints[k].Position)
			}
		}
	} else {
		Y := tipAt(b.m, b.g, b.end(m))
		b.near(what, Y.P, g.Positions[0].Points[0].Position)
		if off := path.TurnBetween(Y.R, g.Orientations[0].Orientation.Matrix()).Angle; off > 2*tolPath {
			b.Errorf("%s: ends %g rad off", what, off)
		}
	}
}

// onCircle checks that every point is as far from the centre as the start, in the
// plane of start, goal and centre or point.
func (b *bench) onCircle(what string, m *planner.Motion, r *planner.Request, X spatial.Pose) {
	b.Helper()
	aux, goal := r.Via.Points[0].Points[0].Position, r.Goals[0].Positions[0].Points[0].Position
	u, v := aux.Sub(X.P), goal.Sub(X.P)
	normal, _ := u.Cross(v).Unit()
	centre := aux
	if r.Via.Name == "interim" {
		// the centre of the circle through three points
		w := u.Cross(v)
		centre = X.P.Add(v.Cross(w).Scale(u.Dot(u)).Add(w.Cross(u).Scale(v.Dot(v))).Scale(1 / (2 * w.Dot(w))).Scale(1))
	}
	radius := X.P.Sub(centre).Norm()
	poses, _, _ := b.tool(m)
	for i, Z := range poses {
		d := Z.P.Sub(centre)
		if math.Abs(d.Norm()-radius) > tolPath || math.Abs(d.Dot(normal)) > tolPath {
			b.Fatalf("%s: point %d is %.3g m off the circle", what, i, max(math.Abs(d.Norm()-radius), math.Abs(d.Dot(normal))))
		}
	}
}

// lasts compares a compat PTP with the closed form: a trapezoid of the longest way
// under the strictest limits of the group.
func (b *bench) lasts(what string, m *planner.Motion, r *planner.Request) {
	b.Helper()
	l := limitsOf(b.m, m.Joints, r.VelocityScaling, r.AccelerationScaling)
	v, a, d, far := math.Inf(1), math.Inf(1), math.Inf(1), 0.0
	pts := m.Trajectory.Points
	for j := range l.Velocity {
		v, a, d = min(v, l.Velocity[j]), min(a, l.Acceleration[j]), min(d, l.Deceleration[j])
		far = max(far, math.Abs(pts[len(pts)-1].Position[j]-pts[0].Position[j]))
	}
	peak := min(v, math.Sqrt(2*far*a*d/(a+d)))
	want := peak/a + peak/d + max(0, far-peak*peak/2*(1/a+1/d))/peak
	if math.Abs(duration(m)-want) > 1e-9 {
		b.Errorf("%s: compat lasts %.10g s, the trapezoid %.10g s", what, duration(m), want)
	}
}

// sequenceInBothModes blends a line, an arc and a point-to-point motion.
func (b *bench) sequenceInBothModes(name string, compat *pilz.Planner, lin, circ, ptp planner.Request) {
	b.Helper()
	// the arc begins where the line ends
	way := lin.Goals[0].Positions[0].Points[0].Position.Sub(tipAt(b.m, b.g, b.q).P)
	move := func(p *planner.PointGoal) { p.Position = p.Position.Add(way) }
	arc := circ
	arc.Goals = b.pose(circ.Goals[0].Positions[0].Points[0].Position, lin.Goals[0].Orientations[0].Orientation)
	arc.Via.Points = []planner.PositionGoal{{Link: b.tip(), Points: []planner.PointGoal{circ.Via.Points[0].Points[0]}}}
	move(&arc.Goals[0].Positions[0].Points[0])
	move(&arc.Via.Points[0].Points[0])
	items := []planner.Item{{Request: lin, Radius: 0.03}, {Request: arc}, {Request: ptp}}
	for mode, p := range map[string]modes{"default": &smooth.Planner{Model: b.m, Sampling: 0.004}, "compat": compat} {
		all, why := p.Sequence(context.Background(), items, b.q)
		if why != nil || len(all) != 1 {
			b.Errorf("%s, %s: %d trajectories, %v", name, mode, len(all), why)
			continue
		}
		b.rules(name+", sequence, "+mode, all[0], &ptp, spatial.Pose{})
		if mode == "default" {
			checkMotion(b.T, b.m, all[0], 0.004)
		}
		corner := lin.Goals[0].Positions[0].Points[0].Position
		poses, _, _ := b.tool(all[0])
		nearest := math.Inf(1)
		for _, X := range poses {
			nearest = min(nearest, X.P.Sub(corner).Norm())
		}
		if nearest > 0.03 || nearest < 1e-4 {
			b.Errorf("%s, %s: passes the corner at %g m, the radius is 0.03", name, mode, nearest)
		}
	}
}

// An arm without limits is refused by what is missing, in both modes.
func TestFleetWithoutLimitsIsRefusedByName(t *testing.T) {
	full := fleet(t)["iiwa14"]
	_, _, lin, _, _, _ := full.requests()
	ptp, _, _, _, _, _ := full.requests()
	for _, c := range []struct {
		name, joints, tool string
		r                  planner.Request
		words              string
	}{
		{"PTP without accelerations", "", iiwaTool, ptp, "acceleration"},
		{"LIN without accelerations", "", iiwaTool, lin, "acceleration"},
		{"LIN without Cartesian limits", iiwaJoints, "", lin, "max_trans_vel"},
	} {
		b := newBench(t, withLimits(t, sharedRobot(t, "iiwa14"), c.joints, c.tool), "iiwa_link_ee")
		copy(b.q, full.q)
		b.refused(c.r, planner.MissingLimit, c.words)
		compat := pilz.Planner{Model: b.m}
		if _, why := compat.Plan(context.Background(), &c.r, b.q); why == nil || why.Kind != planner.MissingLimit || c.tool == "" && c.joints != "" && !strings.Contains(why.Error(), robot.ProposedCartesian) {
			t.Errorf("%s: compat: %v", c.name, why)
		}
	}
}
