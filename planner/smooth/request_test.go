package smooth_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"poise/kinematics"
	"poise/planner"
	"poise/planner/smooth"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

// down is a tool that points to the floor; at zero so does that of arm6.
var down = spatial.Quat{X: 1}

func at(x, y, z float64) spatial.Vec3 { return spatial.Vec3{X: x, Y: y, Z: z} }

// bench is an arm with its planner.
type bench struct {
	*testing.T
	m *robot.Model
	g *robot.Group
	p smooth.Planner
	q []float64
}

func newBench(t *testing.T, m *robot.Model, group string) *bench {
	t.Helper()
	b := &bench{T: t, m: m, g: groupOf(t, m, group), q: make([]float64, m.NumQ())}
	kinematics.NewSpace(m).NeutralTo(b.q)
	b.p = smooth.Planner{Model: m}
	return b
}

func arm6(t *testing.T) *bench { return newBench(t, loadRobot(t, "arm6"), "manipulator") }

// plainArm is arm6 without jerk limits, and with other Cartesian ones if given.
func plainArm(t *testing.T, cartesian string) *bench {
	t.Helper()
	if cartesian == "" {
		return newBench(t, armWithoutJerk(t), "manipulator")
	}
	text := "joint_limits:\n"
	for _, j := range loadRobot(t, "arm6").Joints() {
		text += "  " + j.Name + ": {has_velocity_limits: true, max_velocity: " + ftoa(j.Limits.Velocity.Value) +
			", has_acceleration_limits: true, max_acceleration: " + ftoa(j.Limits.Acceleration.Value) + "}\n"
	}
	return newBench(t, withLimits(t, "arm6", text, cartesian), "manipulator")
}

func withLimits(t testing.TB, name, joints, cartesian string) *robot.Model {
	t.Helper()
	dir := t.TempDir()
	opts := load.Options{OverrideLimits: true}
	if joints != "" {
		opts.Limits = filepath.Join(dir, "joint_limits.yaml")
		must(t, os.WriteFile(opts.Limits, []byte(joints), 0o644))
	}
	if cartesian != "" {
		opts.Cartesian = filepath.Join(dir, "pilz_cartesian_limits.yaml")
		must(t, os.WriteFile(opts.Cartesian, []byte(cartesian), 0o644))
	}
	r, err := load.Robot(name, opts)
	must(t, err)
	return r.Model
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ftoa(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// request returns one with full scaling.
func (b *bench) request(c planner.Command) planner.Request {
	return planner.Request{Command: c, CommandName: c.String(), Group: b.g.Name, VelocityScaling: 1, AccelerationScaling: 1}
}

func (b *bench) tip() string { return b.m.Frames()[b.g.Tip].Name }

// pose returns a goal for the tip.
func (b *bench) pose(p spatial.Vec3, q spatial.Quat) []planner.Goal {
	return []planner.Goal{{
		Positions:    []planner.PositionGoal{{Link: b.tip(), Points: []planner.PointGoal{{Position: p}}}},
		Orientations: []planner.OrientationGoal{{Link: b.tip(), Orientation: q}},
	}}
}

func (b *bench) joints(values ...float64) []planner.Goal {
	var g planner.Goal
	for k, v := range values {
		if !math.IsNaN(v) {
			g.Joints = append(g.Joints, planner.JointGoal{Joint: b.m.Joints()[b.g.Joints[k]].Name, Position: v})
		}
	}
	return []planner.Goal{g}
}

func (b *bench) lin(p spatial.Vec3, q spatial.Quat) planner.Request {
	r := b.request(planner.LIN)
	r.Goals = b.pose(p, q)
	return r
}

func (b *bench) ptp(values ...float64) planner.Request {
	r := b.request(planner.PTP)
	r.Goals = b.joints(values...)
	return r
}

func (b *bench) circ(name string, goal spatial.Vec3, via ...spatial.Vec3) planner.Request {
	r := b.request(planner.CIRC)
	r.Goals = b.pose(goal, down)
	r.Via.Name = name
	for _, v := range via {
		r.Via.Points = append(r.Via.Points, planner.PositionGoal{Link: b.tip(), Points: []planner.PointGoal{{Position: v}}})
	}
	return r
}

// start places the arm with its tool at a pose.
func (b *bench) start(p spatial.Vec3, q spatial.Quat) {
	b.Helper()
	r := b.request(planner.PTP)
	r.Goals = b.pose(p, q)
	m, why := b.p.Plan(context.Background(), &r, b.q)
	if why != nil {
		b.Fatal(why)
	}
	b.q = b.end(m)
}

// end returns the configuration in which a motion ends.
func (b *bench) end(m *planner.Motion) []float64 {
	q := append([]float64(nil), m.Start...)
	last := m.Trajectory.Points[len(m.Trajectory.Points)-1]
	for k, j := range m.Joints {
		q[b.m.Joints()[j].Q] = last.Position[k]
	}
	return q
}

// plan plans and checks what holds for every motion.
func (b *bench) plan(r planner.Request) *planner.Motion {
	b.Helper()
	m, why := b.p.Plan(context.Background(), &r, b.q)
	if why != nil {
		b.Fatal(why)
	}
	period := b.p.Sampling
	if period == 0 {
		period = smooth.DefaultSampling
	}
	checkMotion(b.T, b.m, m, period)
	return m
}

// refused plans what must be refused, for a reason with certain words.
func (b *bench) refused(r planner.Request, kind planner.Kind, words ...string) *planner.Refusal {
	b.Helper()
	m, why := b.p.Plan(context.Background(), &r, b.q)
	if why == nil {
		b.Fatalf("planned %g s, want a refusal with %q", duration(m), words)
	}
	if why.Kind != kind {
		b.Errorf("refused as %v (%v), want %v", why.Kind, why, kind)
	}
	for _, w := range words {
		if !strings.Contains(why.Error(), w) {
			b.Errorf("refusal %q does not speak of %q", why, w)
		}
	}
	return why
}

func (b *bench) sequence(items ...planner.Item) []*planner.Motion {
	b.Helper()
	all, why := b.p.Sequence(context.Background(), items, b.q)
	if why != nil {
		b.Fatal(why)
	}
	period := b.p.Sampling
	if period == 0 {
		period = smooth.DefaultSampling
	}
	for _, m := range all {
		checkMotion(b.T, b.m, m, period)
	}
	return all
}

// tool returns where the tip is in the middle and at the end of everything.
func (b *bench) tool(m *planner.Motion) (poses []spatial.Pose, speeds, times []float64) {
	x := newTracer(b.m, m, b.g.Tip)
	for _, p := range m.Trajectory.Points {
		X, V := x.at(p.Position, p.Velocity)
		poses, speeds, times = append(poses, X), append(speeds, V.Linear.Norm()), append(times, p.Time)
	}
	return poses, speeds, times
}

// near asks for a place to tolPath.
func (b *bench) near(what string, got, want spatial.Vec3) {
	b.Helper()
	if d := got.Sub(want).Norm(); d > tolPath {
		b.Errorf("%s: at %v, want %v: %.3g m off", what, got, want, d)
	}
}

func largest(x []float64) (most float64) {
	for _, v := range x {
		most = math.Max(most, math.Abs(v))
	}
	return most
}

func kindOf(m *planner.Motion, k planner.NoteKind) *planner.Note {
	for i := range m.Notes {
		if m.Notes[i].Kind == k {
			return &m.Notes[i]
		}
	}
	return nil
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(text), 0o644))
}
