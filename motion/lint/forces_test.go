package lint_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"poise/motion"
	"poise/motion/forces"
	"poise/motion/library"
	"poise/motion/lint"
	"poise/motion/shipped"
	"poise/problem"
	"poise/robot"
)

// shippedMotion is a motion that comes with the pony, its times multiplied.
func shippedMotion(t testing.TB, m *robot.Model, name string, scale float64) *motion.Document {
	t.Helper()
	entry, err := library.Open("", shipped.Of("pony")).Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return apply(t, m, entry.Document, motion.Operation{Op: "scale_times", Value: scale})
}

func found(all []problem.Problem, rule problem.Code) (some []problem.Problem) {
	for _, f := range all {
		if f.Code == rule {
			some = append(some, f)
		}
	}
	return some
}

// TestMotionTooFastForItsForces: a dance at more than three times its speed needs more torque than
// servos have, and would throw the robot over; each is told with the joint, the time and the limit.
func TestMotionTooFastForItsForces(t *testing.T) {
	m := model(t, "pony")
	all := lint.Check(shippedMotion(t, m, "dance", 0.28), m, lint.Options{})
	torque, zmp := found(all, lint.Torque), found(all, lint.ZMP)
	if len(torque) == 0 || len(zmp) == 0 || len(found(all, lint.Balance)) > 0 {
		t.Fatal(all)
	}
	for _, f := range torque {
		if _, ok := m.Joint(f.Joint); !ok || math.Abs(f.Value) <= math.Abs(f.Limit) || f.WorstAt < f.At || f.WorstAt > f.Until || f.Row < 1 ||
			!strings.Contains(f.Text, f.Joint) || !strings.Contains(f.Text, fmt.Sprintf("limit %.4g", f.Limit)) || !strings.Contains(f.Text, "too much") {
			t.Errorf("%+v", f)
		}
	}
	for _, f := range zmp {
		if f.Value >= 0 || f.WorstAt < f.At || f.WorstAt > f.Until || !strings.Contains(f.Text, "outside the supports") {
			t.Errorf("%+v", f)
		}
	}
	all = lint.Check(shippedMotion(t, m, "brohoof", 0.4), m, lint.Options{})
	unloaded := found(all, lint.Unloaded)
	if len(unloaded) == 0 || unloaded[0].Joint != "leg1" || unloaded[0].Value > unloaded[0].Limit || !strings.Contains(unloaded[0].Text, "leg1 is said to stand and carries 0 N") {
		t.Error(all)
	}
}

// TestSlowToFitHeedsForces: a motion that is slow enough for its joints and too fast to stand gets
// slower until lint has nothing to say of forces either.
func TestSlowToFitHeedsForces(t *testing.T) {
	m := model(t, "pony")
	fast := shippedMotion(t, m, "dance", 0.45)
	kinematic := apply(t, withoutMass(t), fast, motion.Operation{Op: "slow_to_fit"})
	if all := lint.Check(kinematic, m, lint.Options{}); len(found(all, lint.Velocity)) > 0 || len(found(all, lint.ZMP))+len(found(all, lint.Unloaded)) == 0 {
		t.Fatalf("the test asks for a motion within the limits of joints that does not stand: %v", all)
	}
	fit := apply(t, m, kinematic, motion.Operation{Op: "slow_to_fit"})
	if all := lint.Check(fit, m, lint.Options{}); len(all) > 0 {
		t.Errorf("still %v", all)
	}
	if long, was := fit.Duration(), kinematic.Duration(); long <= was || long > 3*was {
		t.Errorf("it takes %v s, and took %v", long, was)
	}
}

// weak is an arm of two links that lifts 2 kg half a metre out with a shoulder of some N·m.
func weak(t testing.TB, effort float64) *robot.Model {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "weak")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	urdf := fmt.Sprintf(`<robot name="weak"><link name="base"/><link name="arm">
<inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="1e-6" ixy="0" ixz="0" iyy="1e-6" iyz="0" izz="1e-6"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 -1 0"/>
<limit lower="-3" upper="3" velocity="20" effort="%v"/></joint></robot>`, effort)
	if err := os.WriteFile(filepath.Join(dir, "weak.urdf"), []byte(urdf), 0o600); err != nil {
		t.Fatal(err)
	}
	return model(t, filepath.Join(dir, "weak.urdf"))
}

func lift(t testing.TB, m *robot.Model, times ...float64) *motion.Document {
	t.Helper()
	d := apply(t, m, &motion.Document{}, motion.Operation{Op: "add_joints", Names: []string{"shoulder"}, Values: []float64{0}})
	for i, at := range times {
		d = apply(t, m, d, motion.Operation{Op: "add_point", Time: at, Names: []string{"shoulder"}, Values: []float64{-1.2 + 1.2*float64(i)}})
	}
	return d
}

// TestSlowToFitCannotMendWhatRestNeeds: 2 kg half a metre out need 9.81 N·m at rest. A shoulder of
// 12 N·m lifts them if there is time; of one of 9 the joint, the value and the limit are told, and
// nothing is changed.
func TestSlowToFitCannotMendWhatRestNeeds(t *testing.T) {
	strong := weak(t, 12)
	d := lift(t, strong, 0, 0.4, 0.8)
	if all := found(lint.Check(d, strong, lint.Options{}), lint.Torque); len(all) == 0 || strings.Contains(all[0].Text, "does not help") {
		t.Fatal(all)
	}
	fit := apply(t, strong, d, motion.Operation{Op: "slow_to_fit"})
	if all := lint.Check(fit, strong, lint.Options{}); len(all) > 0 || fit.Duration() <= d.Duration() || fit.Duration() > 4 {
		t.Errorf("%v after %v s", all, fit.Duration())
	}
	feeble := weak(t, 9)
	before := d.Clone()
	_, err := motion.Apply(d, feeble, motion.Operation{Op: "slow_to_fit"})
	if err == nil || !reflect.DeepEqual(d, before) {
		t.Fatal(err)
	}
	all := problem.In(err)
	if len(all) != 1 || all[0].Code != motion.ErrAtRest || all[0].Joint != "shoulder" || math.Abs(all[0].Value-9.81) > 0.01 || all[0].Limit != 9 ||
		!strings.Contains(err.Error(), "more time does not help: at rest torque of shoulder is 9.81 N·m") || !strings.Contains(err.Error(), "limit 9") {
		t.Errorf("%v: %+v", err, all)
	}
	told := found(lint.Check(d, feeble, lint.Options{}), lint.Torque)
	if !slices.ContainsFunc(told, func(f problem.Problem) bool { return strings.Contains(f.Text, "more time does not help") }) {
		t.Errorf("%v", told)
	}
}

// TestSlowToFitCannotMendAFall: the pony on its two left legs falls at any pace.
func TestSlowToFitCannotMendAFall(t *testing.T) {
	m := model(t, "pony")
	d := legsOf(t, m, standing(t, m, 0, 1, 2))
	d = apply(t, m, d, motion.Operation{Op: "set_supports", Rows: []int{1}, Names: []string{"leg2", "leg4"}, Values: []float64{0}})
	before := d.Clone()
	_, err := motion.Apply(d, m, motion.Operation{Op: "slow_to_fit"})
	if err == nil || !strings.Contains(err.Error(), "more time does not help: at rest the zero-moment point is") || !reflect.DeepEqual(d, before) {
		t.Error(err)
	}
}

// TestSlowToFitCannotMendAFallWithoutFeet: a motion in which no foot stands, at all or for a while, is
// refused in the words of lint, unless only limits of joints are heeded; lint has no number for it.
func TestSlowToFitCannotMendAFallWithoutFeet(t *testing.T) {
	m := model(t, "pony")
	d := legsOf(t, m, standing(t, m, 0, 1, 2))
	for _, c := range []struct {
		rows []int
		at   float64
	}{{nil, 0}, {[]int{1}, 1}} {
		at := c.at
		falls := apply(t, m, d, motion.Operation{Op: "set_supports", Rows: c.rows, Names: d.Chains, Values: []float64{0}})
		before := falls.Clone()
		_, err := motion.Apply(falls, m, motion.Operation{Op: "slow_to_fit"})
		want := fmt.Sprintf("more time does not help: no foot stands, and the robot falls at %v s", at)
		if all := problem.In(err); len(all) != 1 || all[0].Code != motion.ErrAtRest || all[0].At != at || !strings.Contains(all[0].Text, want) || !reflect.DeepEqual(falls, before) {
			t.Errorf("%v, want %q", err, want)
		}
		apply(t, m, falls, motion.Operation{Op: "slow_to_fit", Texts: []string{"limits"}})
		all := found(lint.Check(falls, m, lint.Options{Margin: 0.01}), lint.Balance)
		if len(all) == 0 || all[0].Value != 0 || all[0].Limit != 0 || !strings.Contains(all[0].Text, "no foot stands, and the robot falls") {
			t.Errorf("%+v", all)
		}
	}
	apply(t, m, d, motion.Operation{Op: "slow_to_fit"}) // one that stands is taken
}

// TestForcesOfVeryManyRows are looked at in bounded time, and told at a bounded number of times.
func TestForcesOfVeryManyRows(t *testing.T) {
	m := model(t, "pony")
	rows := &motion.Document{Columns: []string{"joint52"}, Joints: []motion.Joint{{Name: "joint52", Enabled: true}}}
	for i := range 30_000 {
		rows.Points = append(rows.Points, motion.Point{Time: float64(i) / 1000, Enabled: true, Positions: []float64{0.2 * math.Cos(float64(i)/2000)}})
	}
	g, err := rows.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := rows.Stance(g, m)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Judge(forces.Options{}); err != nil || r.Looks > 25_000 || len(r.Spans) > 0 {
		t.Errorf("%v: %d looks, %v", err, r.Looks, r.Spans)
	}
	times := make([]float64, 5001)
	if _, err := rows.Forces(g, m, times); err == nil || !strings.Contains(err.Error(), "forces at 5001 times: at most 5000") {
		t.Error(err)
	}
}

// TestWhatIsNotJudgedIsSaid: a robot without masses has no forces, and lint says so.
func TestWhatIsNotJudgedIsSaid(t *testing.T) {
	m := model(t, "pony")
	d := standing(t, m, 0, 1)
	if err := lint.Unjudged(d, m); err != nil {
		t.Error(err)
	}
	if err := lint.Unjudged(d, withoutMass(t)); err == nil || err.Error() != `torque and balance are not judged: robot "pony" has no mass: no link of its description has an inertial` {
		t.Error(err)
	}
}
