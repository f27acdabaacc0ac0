package scenario

import (
	"math"
	"testing"

	"poise/action"
	"poise/control/follow"
	"poise/executive"
	"poise/kinematics"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
	"poise/trajectory"
)

// TestStandInCycle1: 20 s at a gain of 100, with the pony's own servos: joints stay at their
// command and the body does not sag, where cycle 0 is off by what the weight turns the servos.
func TestStandInCycle1(t *testing.T) {
	figures := func(duration, cycle string) (rms, sag float64) {
		p := prepare(t, loaded(t, "pony", load.Options{}), "duration: "+duration+"\nstart: {pose: stand}\nmodel: {kp: 100}\n"+cycle+"expect: [{what: fallen, is: false}]")
		r, err := p.Run(1, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Pass() || len(r.Notes) > 0 {
			t.Fatalf("%+v %v", r.Criteria, r.Notes)
		}
		_, z := r.Series("base.z")
		return r.Figures["joint_rms"].RMS, z[0] - r.Figures["base.z"].Least
	}
	rms0, sag0 := figures("4", "")
	rms, sag := figures("20", "control: {cycle: 1}\n")
	t.Logf("joints %.4f rad and sag %.2f mm off, in cycle 0 %.4f rad and %.2f mm", rms, 1e3*sag, rms0, 1e3*sag0)
	if rms > 0.005 || sag > 0.001 || rms > rms0/3 {
		t.Errorf("joints are %g rad off and the body sags by %g m; in cycle 0 %g and %g", rms, sag, rms0, sag0)
	}
}

// squat is a motion of the body up and down by 30 mm, twice in four seconds, with the hooves
// where they are: the joints of all legs, solved for from the stand.
func squat(t *testing.T, m *robot.Model, seconds float64) follow.Goal {
	t.Helper()
	k := kinematics.NewData(m)
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	for i, x := range m.RestPositions() {
		q[m.Joints()[i].Q] = x
	}
	goal := follow.Goal{GoalTime: -1}
	type leg struct {
		tip              kinematics.Place
		hip, knee, ankle int // in q
		rest             spatial.Vec3
	}
	var legs []leg
	for n := '1'; n <= '4'; n++ {
		id, _ := m.Chain("leg" + string(n))
		l := leg{tip: k.At(m.Chains()[id].Tip)}
		for i, at := range []*int{&l.hip, &l.knee, &l.ankle} {
			name := "joint" + string(n) + string(rune('2'+i))
			j, _ := m.Joint(name)
			*at = m.Joints()[j].Q
			goal.Joints = append(goal.Joints, name)
		}
		k.UpdatePosition(q)
		l.rest = k.Pose(l.tip).P
		legs = append(legs, l)
	}
	for _, name := range []string{"leg1", "leg2", "leg3", "leg4"} {
		goal.Joints = append(goal.Joints, follow.SupportPrefix+name)
	}
	pose := func(height float64) (out []float64) {
		for _, l := range legs {
			// Newton's method; the hoof stays upright: hip + knee + ankle is constant
			sum := q[l.hip] + q[l.knee] + q[l.ankle]
			miss := func(hip, knee float64) (x, z float64) {
				q[l.hip], q[l.knee], q[l.ankle] = hip, knee, sum-hip-knee
				k.UpdatePosition(q)
				p := k.Pose(l.tip).P
				return p.X - l.rest.X, p.Z - l.rest.Z + height
			}
			a, b := q[l.hip], q[l.knee]
			for range 20 {
				const h = 1e-6
				x, z := miss(a, b)
				xa, za := miss(a+h, b)
				xb, zb := miss(a, b+h)
				j11, j12, j21, j22 := (xa-x)/h, (xb-x)/h, (za-z)/h, (zb-z)/h
				det := j11*j22 - j12*j21
				a, b = a-(j22*x-j12*z)/det, b-(j11*z-j21*x)/det
			}
			if x, z := miss(a, b); math.Hypot(x, z) > 1e-9 {
				t.Fatalf("the hoof misses by %g", math.Hypot(x, z))
			}
			out = append(out, a, b, sum-a-b)
		}
		return out
	}
	const every = 0.02
	at := func(s float64) []float64 { // begins and ends at rest
		grow := min(s/1, 1, (seconds-s)/1)
		grow = grow * grow * grow * (10 - 15*grow + 6*grow*grow)
		return pose(-0.03 + 0.03*grow*math.Sin(2*math.Pi*0.5*s) + 0.03*(1-min(s, 1)*min(s, 1)*min(s, 1)*(10-15*min(s, 1)+6*min(s, 1)*min(s, 1))))
	}
	const h = 1e-3
	for s := 0.0; s <= seconds+1e-9; s += every {
		now, before, after := at(s), at(math.Max(s-h, 0)), at(math.Min(s+h, seconds))
		for range legs { // they stand
			now, before, after = append(now, 1), append(before, 1), append(after, 1)
		}
		v, a := make([]float64, len(now)), make([]float64, len(now))
		if s > h && s < seconds-h {
			for i := range now {
				v[i], a[i] = (after[i]-before[i])/(2*h), (after[i]-2*now[i]+before[i])/(h*h)
			}
		}
		goal.Points = append(goal.Points, trajectory.Point{Time: s + 0.5, Position: now, Velocity: v, Acceleration: a})
	}
	return goal
}

// squats runs a robot through a squat and returns its figures between two times.
func squats(t *testing.T, text string, lead float64) (rms, force float64) {
	t.Helper()
	p := prepare(t, loaded(t, "pony", load.Options{}), text+"expect: [{what: joint_rms, of: rms, max: 1, from: 1, to: 4.5}, {what: force_error, of: rms, max: 100, from: 1, to: 4.5}, {what: fallen, is: false}]")
	p.plays, p.lead = true, lead
	r, err := p.begin(1, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.cycle.exec.Submit("test", action.ID("squat"), 0, &executive.Follow{Goal: squat(t, p.m, 4)}, executive.Watch{Changed: func(ch executive.Change) { r.cycle.ended("squat", ch) }}); err != nil {
		t.Fatal(err)
	}
	period, total := int(math.Round(p.s.period()/p.s.step())), int(math.Round(p.s.Duration/p.s.step()))
	for r.look(0); r.step < total && r.err == nil; {
		if r.err = r.act(r.now()); r.err != nil {
			break
		}
		r.err = r.cycle.tick(min(period, total-r.step))
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	res := r.result()
	if res.Fallen || len(res.Notes) > 0 {
		t.Fatalf("fallen %v, %v", res.Fallen, res.Notes)
	}
	z := res.Figures["base.z"]
	if z.Greatest-z.Least < 0.05 {
		t.Fatalf("the body moved by %g m", z.Greatest-z.Least)
	}
	return *res.Criteria[0].Value, *res.Criteria[1].Value
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

// TestSquatInCycle1: the body goes down and up by 30 mm at 0.5 Hz: joints are within 0.006 rad of
// their command, and five times nearer than in cycle 0, with models of the servos; without any,
// and on servos that take a torque, nearer all the same. Packets that get lost and come late
// cost half as much again at most.
func TestSquatInCycle1(t *testing.T) {
	worse := squatInCycle0(t, ownServos+"model: {kp: 100}\n")
	rms, force := squats(t, ownServos+"model: {kp: 100}\ncontrol: {cycle: 1}\n", 0)
	lossy, _ := squats(t, ownServos+"model: {kp: 100, loss: 0.1, jitter: 0.005}\ncontrol: {cycle: 1}\n", 0)
	t.Logf("own servos: %.4f rad, loads within %.2f N; a tenth lost and 5 ms late %.4f rad; cycle 0 %.4f rad", rms, force, lossy, worse)
	if rms > 0.006 || rms > worse/5 || force > 1 {
		t.Errorf("joints are %g rad off, in cycle 0 %g; loads %g N", rms, worse, force)
	}
	if lossy > 1.5*max(rms, 0.003) {
		t.Errorf("with lost and late packets joints are %g rad off, else %g", lossy, rms)
	}
	plain := ownServos + "servos: {all: {kp: 5.1, kd: 0.05, armature: 0.001}}\n"
	worse = squatInCycle0(t, plain)
	rms, force = squats(t, plain+"control: {cycle: 1}\n", 0)
	t.Logf("plain servos that take a torque: %.4f rad, loads within %.2f N; cycle 0 %.4f rad", rms, force, worse)
	if rms > 0.0075 || rms > worse/3 || force > 0.5 {
		t.Errorf("plain servos: joints are %g rad off, in cycle 0 %g; loads %g N", rms, worse, force)
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
