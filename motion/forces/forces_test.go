package forces_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/control/follow"
	"poise/estimate"
	"poise/feedforward"
	"poise/motion"
	"poise/motion/forces"
	"poise/motion/library"
	"poise/motion/shipped"
	"poise/robot"
	"poise/robot/load"
	"poise/trajectory"
)

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// pendulum is 2 kg at the end of half a metre without mass, on a horizontal axis, hanging at 0.
func pendulum(t testing.TB, effort float64, yaml string) *robot.Model {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pendulum")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	urdf := fmt.Sprintf(`<robot name="pendulum"><link name="base"/><link name="arm">
<inertial><origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="1e-9" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="1e-9"/></inertial></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" velocity="50" effort="%v"/></joint></robot>`, effort)
	for name, text := range map[string]string{"pendulum.urdf": urdf, "robot.yaml": "name: pendulum\nurdf: pendulum.urdf\n" + yaml} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return model(t, dir)
}

// goal is a motion of one joint through points.
func goal(joint string, times, positions []float64) *follow.Goal {
	g := &follow.Goal{Joints: []string{joint}}
	for i := range times {
		g.Points = append(g.Points, trajectory.Point{Time: times[i], Position: []float64{positions[i]}})
	}
	return g
}

func stance(t testing.TB, g *follow.Goal, m *robot.Model) *forces.Stance {
	t.Helper()
	s, err := forces.NewStance(g, m, func(robot.JointID) (float64, bool) { return 0, true })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTorqueOfAPendulum compares with the equation by hand: τ = m·l²·a + m·g·l·sin q.
func TestTorqueOfAPendulum(t *testing.T) {
	m := pendulum(t, 100, "")
	g := goal("swing", []float64{0, 0.5, 1}, []float64{0, 1.2, 0.3})
	s := stance(t, g, m)
	var times []float64
	for k := range 101 {
		times = append(times, float64(k)/100)
	}
	got, err := s.Sample(times)
	if err != nil {
		t.Fatal(err)
	}
	q, v, a := make([]float64, 1), make([]float64, 1), make([]float64, 1)
	worst, at := 0.0, 0.0
	for k, x := range times {
		s.Curve().StateTo(q, v, a, x)
		want := 2*0.25*a[0] + 2*9.81*0.5*math.Sin(q[0])
		if d := math.Abs(got.Joints[0].Torque[k] - want); d > 1e-6 {
			t.Fatalf("at %v s %v N·m, by hand %v", x, got.Joints[0].Torque[k], want)
		}
		if math.Abs(want) > worst {
			worst, at = math.Abs(want), x
		}
	}
	// a limit a little below the worst is broken there, and only around it
	r, err := stance(t, g, pendulum(t, worst*0.95, "")).Judge(forces.Options{})
	if err != nil || len(r.Spans) == 0 {
		t.Fatal(r, err)
	}
	p := r.Spans[0]
	if p.Kind != forces.Torque || math.Abs(p.At-at) > 0.011 || math.Abs(math.Abs(p.Value)/worst-1) > 0.02 || math.Abs(math.Abs(p.Limit)/(worst*0.95)-1) > 1e-9 || p.From > p.At || p.To < p.At || p.Servo {
		t.Errorf("%+v; by hand %v N·m at %v s", p, worst, at)
	}
	if r, err = stance(t, g, pendulum(t, worst*1.05, "")).Judge(forces.Options{}); err != nil || len(r.Spans) > 0 || len(r.Needs) > 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestServoLimitsTorqueBySpeed: a servo gives less to a joint that moves, for its own friction
// takes its part; with a1/a3 = 0.5 N·m·s/rad and 4 N·m of it, 3.0 N·m are left at 2 rad/s.
func TestServoLimitsTorqueBySpeed(t *testing.T) {
	m := pendulum(t, 100, `servos: {swing: {id: 1, type: s}}
servo_models: {s: {kp: 100, voltage: 12, effort: 4, parameters: {a1: 100, a3: 200}}}
`)
	g := goal("swing", []float64{0, 1}, []float64{0, 1})
	for i := range g.Points { // at an even 2 rad/s
		g.Points[i].Position[0] *= 2
		g.Points[i].Velocity = []float64{2}
	}
	got, err := stance(t, g, m).Sample([]float64{0.25, 0.75})
	if err != nil {
		t.Fatal(err)
	}
	if j := got.Joints[0]; math.Abs(j.Most[0]-3) > 1e-9 || math.Abs(j.Least[0]+5) > 1e-9 {
		t.Errorf("%+v", j)
	}
	// it lifts 9.81·sin q: the servo has to give 1 N·m more than that
	r, err := stance(t, g, m).Judge(forces.Options{})
	if err != nil || len(r.Spans) != 1 {
		t.Fatal(r, err)
	}
	p := r.Spans[0]
	if from := math.Asin(3/9.81) / 2; !p.Servo || math.Abs(p.From-from) > 0.002 || math.Abs(p.Value-(1+9.81)) > 1e-3 || p.Limit != 4 || math.Abs(p.At-math.Pi/4) > 0.002 {
		t.Errorf("%+v, want it from %v s", p, from)
	}
	if !p.Static || math.Abs(p.Still-9.81) > 1e-3 || p.Rests != 4 {
		t.Errorf("at rest 9.81 N·m are needed of 4: %+v", p)
	}
}

// TestStandingRobotCarriesItsWeight: at rest the feet carry the weight, and the margin is that of
// the centre of mass among the points of the feet, and the radius of their soles.
func TestStandingRobotCarriesItsWeight(t *testing.T) {
	m := model(t, "pony")
	pose, _ := m.Pose("stand")
	q := make([]float64, len(m.Joints()))
	for i, id := range pose.Joints {
		q[id] = pose.Q[i][0]
	}
	rest := func(id robot.JointID) (float64, bool) { return q[id], true }
	g := goal("mouth_joint", []float64{0, 1}, []float64{0, 0})
	s, err := forces.NewStance(g, m, rest)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Sample([]float64{0, 0.5, 1})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range got.Feet {
		sum += f.Force[1]
	}
	ground, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	feet := ground.DefaultFeetTo(nil)
	X, _ := ground.Settle(q, feet)
	var b contact.Balance
	ground.BalanceTo(&b, q, feet, X)
	sole := m.Contacts()[feet[0].Contact].Sole
	if math.Abs(sum-got.Weight) > 1e-3*got.Weight || math.Abs(got.Margin[1]-b.Margin-sole) > 0.005*sole {
		t.Errorf("the feet carry %v of %v N; margin %v, of the centre of mass %v", sum, got.Weight, got.Margin[1], b.Margin)
	}
}

// TestForcesAreThoseOfTheCycle: what is found before a motion is played is what cycle 1 computes
// while it is, tick by tick: odometry of the command and feedforward torques.
func TestForcesAreThoseOfTheCycle(t *testing.T) {
	m := model(t, "pony")
	entry, err := library.Open("", shipped.Of("pony")).Get("crouch")
	if err != nil {
		t.Fatal(err)
	}
	g, err := entry.Document.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := entry.Document.Stance(g, m)
	if err != nil {
		t.Fatal(err)
	}
	const dt = 0.001
	var times []float64
	for k := range int(g.Duration() / dt) {
		times = append(times, float64(k)*dt)
	}
	got, err := s.Sample(times)
	if err != nil {
		t.Fatal(err)
	}
	stage, err := feedforward.New(m, make([]float64, len(m.Joints())))
	if err != nil {
		t.Fatal(err)
	}
	odometry, err := estimate.NewOdometry(m)
	if err != nil {
		t.Fatal(err)
	}
	n := len(m.Joints())
	c := &control.Motion{Q: make([]float64, n), V: make([]float64, n), A: make([]float64, n), Support: make([]control.Support, len(m.Chains()))}
	worst := 0.0
	for k, at := range times {
		s.StateTo(c.Q, c.V, c.A, s.Curve().Segment(at), at)
		feet := s.FeetTo(nil, at)
		for _, f := range feet {
			c.Support[f.Chain] = control.Support{Weight: f.Weight, Contact: f.Contact}
		}
		stage.Accelerate(c, func(int) bool { return true }, dt)
		c.Base = odometry.Update(&estimate.Input{Time: at, Q: c.Q, V: c.V, A: c.A, Feet: feet})
		stage.Update(c, dt)
		for _, j := range got.Joints {
			worst = max(worst, math.Abs(j.Torque[k]-stage.Tau[j.Joint]))
		}
	}
	if worst > 1e-6 {
		t.Errorf("torques differ by %v N·m", worst)
	}
}

// TestWhatStands: a track says it; a leg that moves without one is free; if every leg moves and no
// track is there, all of them stand.
func TestWhatStands(t *testing.T) {
	m := model(t, "pony")
	rest := func(robot.JointID) (float64, bool) { return 0, true }
	for _, c := range []struct {
		joints []string
		row    []float64
		want   int
	}{
		{[]string{"mouth_joint"}, []float64{0}, 4},
		{[]string{"joint13"}, []float64{0}, 3},
		{[]string{"joint13", "support/leg1"}, []float64{0, 1}, 4},
		{[]string{"mouth_joint", "support/leg1"}, []float64{0, 0}, 3},
		{[]string{"joint13", "joint23", "joint33", "joint43"}, []float64{0, 0, 0, 0}, 4},
		{[]string{"joint13", "joint23", "joint33", "joint43", "support/leg1"}, []float64{0, 0, 0, 0, 1}, 1},
		{[]string{"mouth_joint", "support/leg1", "support/leg2", "support/leg3", "support/leg4"}, []float64{0, 0, 0, 0, 0}, 0},
	} {
		g := &follow.Goal{Joints: c.joints, Points: []trajectory.Point{{Time: 0, Position: c.row}, {Time: 1, Position: c.row}}}
		s, err := forces.NewStance(g, m, rest)
		if err != nil {
			t.Fatal(err)
		}
		if feet := s.FeetTo(nil, 0.5); len(feet) != c.want {
			t.Errorf("%v: %d feet stand, want %d", c.joints, len(feet), c.want)
		}
	}
}

// TestAbsurdMotionsHaveNoForces: numbers too large to be computed with are told, not taken for fit.
func TestAbsurdMotionsHaveNoForces(t *testing.T) {
	m := model(t, "arm6")
	for _, far := range []float64{1e100, 1e150, 1e200, 1e300} {
		g := &follow.Goal{Joints: []string{"joint_1", "joint_2", "joint_3"}}
		for i, at := range []float64{0, 1e-3, 1} {
			x := far * float64(i%2)
			g.Points = append(g.Points, trajectory.Point{Time: at, Position: []float64{x, -x, x / 3}})
		}
		s, err := forces.NewStance(g, m, func(robot.JointID) (float64, bool) { return 0, true })
		if err != nil {
			continue // it has no curve
		}
		if r, err := s.Judge(forces.Options{}); err == nil && len(r.Spans) == 0 {
			t.Errorf("%g rad within a millisecond has no finding: %+v", far, r)
		}
	}
}

// TestRobotsWithoutForces are named, with what is missing.
func TestRobotsWithoutForces(t *testing.T) {
	m := model(t, "pony")
	g := goal("mouth_joint", []float64{0, 1}, []float64{0, 0})
	s, err := forces.NewStance(g, m, func(robot.JointID) (float64, bool) { return 0, false })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Judge(forces.Options{}); err == nil {
		t.Error("joints that are nowhere are judged")
	} else if got := err.Error(); got != `the position of joint "joint11" of "leg1" is unknown: no row captures it, and no pose of robot "pony" has it` {
		t.Error(got)
	}
}
