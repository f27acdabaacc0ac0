package scenario

import (
	"math"
	"testing"

	"poise/action"
	"poise/control/follow"
	"poise/executive"
	"poise/internal/onfeet"
	"poise/robot/load"
	"poise/trajectory"
)

// squats runs a robot through a squat and returns its figures between two times.
func squats(t *testing.T, text string, lead float64) (rms, force float64) {
	t.Helper()
	p := prepare(t, loaded(t, "pony", load.Options{}), text+"expect: [{what: joint_rms, of: rms, max: 1, from: 1, to: 4.5}, {what: force_error, of: rms, max: 100, from: 1, to: 4.5}, {what: fallen, is: false}]")
	p.lead = lead
	return squatFigures(t, squatting(t, p).result())
}

func squatFigures(t *testing.T, res *Result) (rms, force float64) {
	t.Helper()
	z := res.Figures["base.z"]
	if z.Greatest-z.Least < 0.05 {
		t.Fatalf("the body moved by %g m", z.Greatest-z.Least)
	}
	return *res.Criteria[0].Value, *res.Criteria[1].Value
}

// squatting is a run of a plant that squats from the first tick on.
func squatting(t *testing.T, p *Plant) *run { return following(t, p, onfeet.Squat(t, p.m, 4)) }

// following is a run of a plant that plays a goal from the first tick on.
func following(t *testing.T, p *Plant, goal follow.Goal) *run {
	t.Helper()
	p.plays = true
	r, err := p.begin(1, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.cycle.exec.Submit("test", action.ID("squat"), 0, &executive.Follow{Goal: goal}, executive.Watch{Changed: func(ch executive.Change) { r.cycle.ended("squat", ch) }}); err != nil {
		t.Fatal(err)
	}
	period, total := int(math.Round(p.s.period()/p.s.step())), p.s.steps()
	for r.look(0); r.step < total && r.err == nil; {
		if r.err = r.act(r.now()); r.err != nil {
			break
		}
		r.err = r.cycle.tick(min(period, total-r.step))
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	if r.fallen || len(r.notes) > 0 {
		t.Fatalf("fallen %v, %v", r.fallen, r.notes)
	}
	return r
}

// Squats of the pony's own servos at a gain of 100, and at their best lead in cycle 0.
const ownServos = "duration: 4.6\nstart: {pose: stand}\nperiod: 0.01\n"

func squatInCycle0(t *testing.T, text string) (best float64) {
	t.Helper()
	best = math.Inf(1)
	for _, lead := range []float64{0, 0.06} { // ramps of servos take as much longer: it changes little
		rms, _ := squats(t, text, lead)
		best = min(best, rms)
	}
	return best
}

// TestSquatInCycle1: the body goes down and up by 30 mm at 0.5 Hz: joints are within 0.003 rad of
// their command and ten times nearer than in cycle 0, and loads within 0.5 N of those that balance it,
// with models of the servos; without any, and on servos that take a torque, nearer all the same.
func TestSquatInCycle1(t *testing.T) {
	worse := squatInCycle0(t, ownServos+"model: {kp: 100}\n")
	rms, force := squats(t, ownServos+"model: {kp: 100}\ncontrol: {cycle: 1}\n", 0)
	t.Logf("own servos: %.4f rad, loads within %.2f N; cycle 0 %.4f rad", rms, force, worse)
	if rms > 0.003 || rms > worse/10 || force > 0.5 {
		t.Errorf("joints are %g rad off, in cycle 0 %g; loads %g N", rms, worse, force)
	}
	plain := ownServos + "servos: {all: {kp: 5.1, kd: 0.05, armature: 0.001}}\n"
	worse = squatInCycle0(t, plain)
	rms, force = squats(t, plain+"control: {cycle: 1}\n", 0)
	t.Logf("plain servos that take a torque: %.4f rad, loads within %.2f N; cycle 0 %.4f rad", rms, force, worse)
	if rms > 0.0075 || rms > worse/3 || force > 0.5 {
		t.Errorf("plain servos: joints are %g rad off, in cycle 0 %g; loads %g N", rms, worse, force)
	}
}

// TestASquatThatKnowsOfNoSupports: a goal of all legs without support columns is played as the
// robot stands, with the torques that carry it.
func TestASquatThatKnowsOfNoSupports(t *testing.T) {
	text := ownServos + "model: {kp: 100}\ncontrol: {cycle: 1}\nexpect: [{what: joint_rms, of: rms, max: 1, from: 1, to: 4.5}, {what: force_error, of: rms, max: 100, from: 1, to: 4.5}, {what: fallen, is: false}]"
	p := prepare(t, loaded(t, "pony", load.Options{}), text)
	whole := onfeet.Squat(t, p.m, 4)
	columns, supports := whole.Columns()
	if len(supports) != 4 {
		t.Fatalf("%d support columns, want 4", len(supports))
	}
	bare := whole
	bare.Joints, bare.Points = nil, nil
	pick := func(row []float64) (part []float64) {
		for _, k := range columns {
			if k < len(row) {
				part = append(part, row[k])
			}
		}
		return part
	}
	for _, k := range columns {
		bare.Joints = append(bare.Joints, whole.Joints[k])
	}
	for _, x := range whole.Points {
		bare.Points = append(bare.Points, trajectory.Point{Time: x.Time, Position: pick(x.Position), Velocity: pick(x.Velocity), Acceleration: pick(x.Acceleration)})
	}
	rms, force := squatFigures(t, following(t, p, bare).result())
	t.Logf("%.4f rad, loads within %.2f N", rms, force)
	if rms > 0.003 || force > 0.5 {
		t.Errorf("joints are %g rad off, loads %g N", rms, force)
	}
}

// TestCycle1OfWrongModels: of a robot whose masses are a tenth off and whose servos a fifth, on a
// weaker supply, the error is 0.3 of cycle 0's at most.
func TestCycle1OfWrongModels(t *testing.T) {
	text := ownServos + "model: {kp: 100}\nvary: {servo: 0.2, mass: 0.1}\ndo: [{at: 0, voltage: 10.5}]\n"
	worse := squatInCycle0(t, text)
	rms, _ := squats(t, text+"control: {cycle: 1}\n", 0)
	t.Logf("%.4f rad, cycle 0 %.4f rad", rms, worse)
	if rms > 0.3*worse {
		t.Errorf("joints are %g rad off, in cycle 0 %g", rms, worse)
	}
}
