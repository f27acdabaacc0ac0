package scenario

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"poise/motion/library"
	"poise/motion/shipped"
	"poise/robot"
	"poise/robot/load"
	"poise/urdf"
)

func loaded(t testing.TB, name string, opts load.Options) Robot {
	t.Helper()
	bot, err := load.Robot(name, opts)
	if err != nil {
		t.Fatal(err)
	}
	return FromLoaded(bot)
}

func prepare(t testing.TB, bot Robot, text string) *Plant {
	t.Helper()
	s, err := Parse([]byte(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Prepare(bot)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const stand = `
start: {pose: stand}
servos: {all: {kp: 20, kd: 0.3, armature: 0.009}}
`

// TestPonyStands: on level ground it stands still where it began, its weight on its hooves.
func TestPonyStands(t *testing.T) {
	p := prepare(t, loaded(t, "pony", load.Options{}), `duration: 1.5`+stand+`
expect:
  - {name: stands, what: fallen, is: false}
  - {what: joint_rms, max: 0.01}
  - {what: zmp_margin, min: 0.02, from: 0.5}
  - {what: slip, max: 0.001}
  - {what: speed, max: 0.001, from: 1}`)
	var last *Frame
	n := 0
	r, err := p.Run(1, Watch{Frame: func(f *Frame) {
		if want := float64(n) / 100; f.T != want {
			t.Errorf("frame %d is at %v", n, f.T)
		}
		last = f
		n++
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Pass() || n != 151 {
		t.Errorf("%d frames, %+v", n, r.Criteria)
	}
	weight := 0.0
	for _, c := range last.Contacts {
		if !strings.HasPrefix(c.Link, "bone") || !strings.HasSuffix(c.Link, "5") {
			t.Errorf("%s touches the ground", c.Link)
		}
		weight += c.Force[2]
	}
	if want := p.m.Mass() * robot.StandardGravity; math.Abs(weight/want-1) > 1e-3 {
		t.Errorf("hooves carry %g N of %g N", weight, want)
	}
	if len(last.Q) != p.m.NumQ()-7 || len(last.V) != p.m.NumV()-6 || len(last.Tau) != len(last.V) || last.Zmp == nil || last.Base == nil {
		t.Errorf("%+v", last)
	}
}

// TestPushedPonyFalls: a push beyond all that it can bear throws it over; a light one not.
func TestPushedPonyFalls(t *testing.T) {
	bot := loaded(t, "pony", load.Options{})
	for force, falls := range map[string]bool{"4": false, "60": true} {
		p := prepare(t, bot, `duration: 2`+stand+`
do:
  - {at: 0.5, push: {link: base_link, force: {x: 0, y: `+force+`, z: 0}, for: 0.1}}
expect: [{what: fallen, is: false}]`)
		r, err := p.Run(1, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Fallen != falls || r.Pass() == falls || falls && !(*r.FellAt > 0.5) {
			t.Errorf("force %s N: fallen %v, %+v", force, r.Fallen, r.Criteria)
		}
	}
}

// TestRunsAreTheSame: the same seed gives the same trace, byte for byte; another draws
// another robot.
func TestRunsAreTheSame(t *testing.T) {
	p := prepare(t, loaded(t, "pony", load.Options{}), `duration: 0.3`+stand+`
world: {bumps: {height: 0.004, count: 800}}
vary: {mass: 0.07, friction: [0.5, 1]}
do:
  - {at: 0.1, joints: {joint52: 0.3}, in: 0.1}
  - {at: 0.2, payload: {link: base_link, mass: 0.3, at: [0, 0, 0.05]}}
  - {at: 0.2, friction: 0.2}
  - {at: 0.25, slope: {roll: 0.02}}`)
	trace := func(seed uint64) string {
		var b strings.Builder
		if _, err := p.Run(seed, Watch{Frame: func(f *Frame) { text, _ := json.Marshal(f); b.Write(text) }}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	one := trace(1)
	if one != trace(1) {
		t.Error("two runs of one seed differ")
	}
	if one == trace(2) {
		t.Error("another seed makes no difference")
	}
}

// TestFixedArm: a robot on a fixed base has no base in its trace and no ZMP.
func TestFixedArm(t *testing.T) {
	p := prepare(t, loaded(t, "arm6", load.Options{}), `
duration: 0.2
servos: {all: {kp: 500, kd: 20}}
trace: {every: 0.05}`)
	n := 0
	if _, err := p.Run(0, Watch{Frame: func(f *Frame) {
		n++
		if f.Base != nil || f.Zmp != nil || len(f.Contacts) != 0 {
			t.Errorf("%+v", f)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	if n != 5 {
		t.Errorf("%d frames, want 5", n)
	}
}

// TestRefusals: what is wrong is named with its line and reason.
func TestRefusals(t *testing.T) {
	pony := loaded(t, "pony", load.Options{})
	for _, tc := range []struct{ text, want string }{
		{"duration: 1\nworl: {}", `test.yaml:2: unknown key "worl"`},
		{"step: 0.001", "duration: is missing"},
		{"duration: -1", "test.yaml:1: duration: -1 s is not within"},
		{"duration: 1\nperiod: 0", "test.yaml:2: period: 0 s is not within"},
		{"duration: 1\ntrace: {every: -1}", "test.yaml:2: trace.every: -1 s is not within"},
		{"duration: 1\ncontrol: {cycle: 3}", "cycle 3 is not built"},
		{"duration: 1\ndo: [{at: 0, velocity: {x: 0.1}, gait: gallop}]", "gait \"gallop\" is unknown"},
		{"duration: 1\ndo:\n  - {at: 0}", "test.yaml:3: do: has"},
		{"duration: 1\ndo: [{at: 5, play: nod}]", "test.yaml:2: do: play: at 5 s never comes: the scenario ends at 1 s"},
		{"duration: 1\ndo: [{friction: 1}]", "has no time (at)"},
		{"duration: 1\nstart: {pose: stend}", `"stend" is unknown; did you mean "stand"?`},
		{"duration: 1\nstart:\n  joints:\n    joint11: 3", `joint "joint11" begins at 3, outside of its range -1.5708 … 1.5708`},
		{"duration: 1\nstart:\n  joints:\n    joint1: 0", "test.yaml:4: start.joints: joint \"joint1\" does not exist"},
		{"duration: 1\nexpect:\n  - {what: tilted, max: 1}", `test.yaml:3: expect: what: "tilted" is unknown`},
		{"duration: 1\nexpect: [{what: tilt}]", "has 0 of max, min and is"},
		{"duration: 1\ndo: [{at: 0, push: {link: leg, force: [1, 0, 0], for: 1}}]", `link "leg" does not exist`},
		{"duration: 1\ndo: [{at: 0, push: {link: base_link, force: [1, 0], for: 1}}]", "three numbers are wanted"},
		{"duration: 1\ndo: [{at: 0, grab: {link: base_link, to: [0, 0, 1]}}]", "a grab takes a time"},
		{"duration: 1\ndo: [{at: 0, grab: {link: base_link, for: 1}}]", "three numbers are wanted, m in the world"},
		{"duration: 1\ndo: [{at: 0, grab: {link: base_link, to: [0, 0, 1], stiffness: 1e9, for: 1}}]", "a stiffness of 1e+09 N/m"},
		{"duration: 1\ndo: [{at: 0, drop: -1}]", "a height of -1 m is not within"},
		{"duration: 1\nservos: {all: {kp: -1}}", "servos.all.kp: -1 is negative"},
		{"duration: 1\nunit: {rate_noise: -1}", "test.yaml:2: unit.rate_noise: -1 is not within 0 … 1 rad/s"},
		{"duration: 1\nunit: {delay: 21}", "unit.delay: 21 is not within 0 … 20 periods"},
		{"duration: 1\nservos: {all: {kp: 1}}\nmodel: {kp: 1}", "which servos replaces"},
	} {
		s, err := Parse([]byte(tc.text), "test.yaml")
		if err == nil {
			_, err = s.Prepare(pony)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %s", tc.text, err, tc.want)
		}
	}
}

// TestCriteria: what each summary makes of a series.
func TestCriteria(t *testing.T) {
	s := newSeries()
	for i := range 101 {
		s.t = append(s.t, float64(i)/100)
		for k := range s.values {
			s.values[k] = append(s.values[k], float64(i))
		}
	}
	limit := 50.0
	for _, tc := range []struct {
		of   string
		min  bool
		want float64
	}{{"", false, 100}, {"worst", true, 0}, {"mean", false, 50}, {"last", false, 100}, {"p99", false, 99}, {"p99", true, 1}, {"rms", false, math.Sqrt(3350)}} {
		e := &Criterion{What: "tilt", Of: tc.of, Max: &limit}
		if tc.min {
			e.Max, e.Min = nil, &limit
		}
		if o := s.judge(e); o.Value == nil || math.Abs(*o.Value-tc.want) > 1e-9 {
			t.Errorf("%q, min %v: %v, want %g", tc.of, tc.min, o.Value, tc.want)
		}
	}
	from, to := 0.2, 0.3
	if o := s.judge(&Criterion{What: "tilt", Max: &limit, From: &from, To: &to}); *o.Value != 30 || !o.Pass {
		t.Errorf("%+v", o)
	}
	beyond := 2.0
	if o := s.judge(&Criterion{What: "tilt", Max: &limit, From: &beyond}); o.Value != nil || o.Pass {
		t.Errorf("never measured: %+v", o)
	}
}

// TestServoModelsStand: the pony stands on the models of its robot.yaml, with a delay, lost
// packets and servos that are off; a supply that fails lets it sink.
func TestServoModelsStand(t *testing.T) {
	bot := loaded(t, "pony", load.Options{})
	p := prepare(t, bot, `
duration: 1
period: 0.02
start: {pose: stand}
model: {delay: 0.011, jitter: 0.005, loss: 0.05}
vary: {servo: 0.2, mass: 0.07, friction: [0.5, 1]}
do: [{at: 0.5, voltage: 11}, {at: 0.7, loss: 0.2}]
expect: [{what: fallen, is: false}, {what: joint_rms, max: 0.03}, {what: torque_share, max: 0.4}]`)
	for seed := range uint64(2) {
		if r, err := p.Run(seed, Watch{}); err != nil || !r.Pass() {
			t.Errorf("seed %d: %v, %+v", seed, err, r.Criteria)
		}
	}
	p = prepare(t, bot, `
duration: 3
start: {pose: stand}
do: [{at: 0.2, voltage: 0}]
expect: [{what: base.z, max: 0.2, of: last}]`)
	if r, err := p.Run(0, Watch{}); err != nil || !r.Pass() {
		t.Errorf("without a supply: %v, %+v", err, r.Criteria)
	}
}

// TestMotionsPlay: a stored motion is played by the cycle that ships and moves the head; one
// that is not there is named.
func TestMotionsPlay(t *testing.T) {
	bot := loaded(t, "pony", load.Options{})
	bot.Motions = library.Open("", shipped.Of("pony"))
	p := prepare(t, bot, `duration: 2`+stand+`
do: [{at: 0.1, play: nod}]
expect: [{what: fallen, is: false}, {what: joint_rms, max: 0.02}]`)
	id, _ := p.m.Joint("joint51")
	least, most := math.Inf(1), math.Inf(-1)
	r, err := p.Run(0, Watch{Frame: func(f *Frame) {
		q := f.Q[p.m.Joints()[id].Q-7]
		least, most = math.Min(least, q), math.Max(most, q)
	}})
	if err != nil || !r.Pass() || len(r.Notes) > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	if most-least < 0.1 {
		t.Errorf("the head moved by %g rad", most-least)
	}
	s, err := Parse([]byte("duration: 1\ndo:\n  - {at: 0, play: nodd}"), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prepare(bot); err == nil || !strings.Contains(err.Error(), "test.yaml:3: do: play") {
		t.Error(err)
	}
}

// TestFreeBodies: boxes of one URDF, which places them on each other, stay there; joints of
// several coordinates stand in the trace with all of them.
func TestFreeBodies(t *testing.T) {
	text := `<robot name="stack"><link name="world"/>`
	for i, z := range []string{"0.025", "0.0751", "0.1252"} {
		name := string(rune('a' + i))
		text += `<link name="` + name + `"><inertial><mass value="1"/><inertia ixx="0.001" iyy="0.001" izz="0.0016" ixy="0" ixz="0" iyz="0"/></inertial>
			<collision><geometry><box size="0.1 0.1 0.05"/></geometry></collision></link>
			<joint name="free_` + name + `" type="floating"><parent link="world"/><child link="` + name + `"/><origin xyz="0 0 ` + z + `"/></joint>`
	}
	doc, _, err := urdf.Parse([]byte(text+`</robot>`), "stack.urdf")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := robot.Build(doc, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(t, Robot{Model: m}, "duration: 3")
	var last *Frame
	if _, err := p.Run(0, Watch{Frame: func(f *Frame) { last = f }}); err != nil {
		t.Fatal(err)
	}
	if len(last.Q) != 21 || len(last.V) != 18 || last.Base != nil {
		t.Fatalf("%+v", last)
	}
	for i := range 3 {
		if q := last.Q[7*i : 7*i+7]; math.Hypot(q[0], q[1]) > 1e-3 || math.Abs(q[2]+0.0001*float64(i)) > 1e-4 || q[6] < 0.999999 {
			t.Errorf("box %d is at %v", i, q)
		}
	}
	weight := 0.0
	for _, c := range last.Contacts {
		weight += c.Force[2]
	}
	if math.Abs(weight-3*robot.StandardGravity) > 0.03 {
		t.Errorf("the ground carries %g N", weight)
	}
}

// TestGrabAndDrop: a spring lifts the pony by its back and lets go of it again; a drop is in
// the air for as long as it takes to fall.
func TestGrabAndDrop(t *testing.T) {
	bot := loaded(t, "pony", load.Options{})
	grab := prepare(t, bot, `duration: 3`+stand+`
do: [{at: 0.2, grab: {link: base_link, to: [0, 0, 0.4], for: 1.5}}]
expect:
  - {name: hangs, what: base.z, min: 0.3, from: 1.4, to: 1.6}
  - {name: is let go, what: base.z, max: 0.25, from: 2.5}`)
	drop := prepare(t, bot, `duration: 1.5`+stand+`
do: [{at: 0.5, drop: 0.05}]
trace: {every: 0.001}
expect:
  - {name: is lifted, what: base.z, min: 0.26, from: 0.502, to: 0.52}
  - {name: lands, what: base.z, max: 0.24, from: 1.2}
  - {what: fallen, is: false}`)
	flies := 0.0
	for _, p := range []*Plant{grab, drop} {
		flies = 0
		r, err := p.Run(1, Watch{Frame: func(f *Frame) {
			if len(f.Contacts) == 0 {
				flies += 0.001
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Criteria {
			if !c.Pass {
				t.Errorf("%s: %g, limit %v", c.Name, *c.Value, c.Limit)
			}
		}
	}
	if want := math.Sqrt(2 * 0.05 / 9.81); math.Abs(flies-want) > 0.005 {
		t.Errorf("it was in the air for %g s, want %g s", flies, want)
	}
}
