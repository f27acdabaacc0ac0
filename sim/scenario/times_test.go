package scenario

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/motion/library"
	"poise/motion/shipped"
	"poise/robot/load"
)

// TestPeriodsOfOddLength: a period that is no whole number of steps gets shorter steps, lines of
// the trace stay at multiples of 10 ms, and controllers tick as often as they should.
func TestPeriodsOfOddLength(t *testing.T) {
	for _, tc := range []struct {
		text string
		want float64
	}{
		{"duration: 1\nperiod: 0.0224", 0.0224 / 23},
		{"duration: 1\nperiod: 0.0112\nstep: 0.001", 0.0112 / 12},
		{"duration: 1\nperiod: 0.056", 0.001},
		{"duration: 1\nperiod: 0.0224\nstep: 0.0007\ntrace: {every: 0.0224}", 0.0007},
		{"duration: 1\nstep: 0.003", 0.0025},
		{"duration: 1\nperiod: 0.0004", 0.0004},
	} {
		s, err := Parse([]byte(tc.text), "test.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if got := s.step(); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%q: a step of %g s, want %g s", tc.text, got, tc.want)
		}
	}
	// it falls by ½·g·t² at the times of the lines, which are between steps
	p := prepare(t, loaded(t, "pony", load.Options{}), "duration: 0.1\nperiod: 0.0224\nmodel: {}\nstart: {pose: stand, base: {position: {z: 3}}}")
	n, height := 0, 0.0
	if _, err := p.Run(0, Watch{Frame: func(f *Frame) {
		if n == 0 {
			height = f.Com[2]
		}
		if fallen, want := height-f.Com[2], 0.5*9.81*f.T*f.T; math.Abs(fallen-want) > 0.001*9.81*f.T {
			t.Errorf("at %g s it has fallen by %g m, want %g m", f.T, fallen, want)
		}
		if want := float64(n) / 100; math.Abs(f.T-want) > 1e-15 {
			t.Errorf("line %d is of %v s", n, f.T)
		}
		n++
	}}); err != nil || n != 11 {
		t.Errorf("%d lines: %v", n, err)
	}
}

// TestPushesAreWholeWhateverThePeriod: a push that begins within a period gives its whole
// impulse, with controllers and without.
func TestPushesAreWholeWhateverThePeriod(t *testing.T) {
	bot := loaded(t, "pony", load.Options{})
	bot.Motions = library.Open("", shipped.Of("pony"))
	for name, driven := range map[string]string{"servo models": "model: {}\n", "odd period": "model: {}\n", "cycle": "do:\n  - {at: 0.199, play: nod}\n", "plain": "servos: {all: {kp: 20}}\n"} {
		text := "duration: 0.2\nperiod: 0.05\nstart: {pose: stand, base: {position: {x: 0, y: 0, z: 3}}}\n" + driven
		if name != "cycle" {
			text += "do:\n"
		}
		if name == "odd period" {
			text = strings.Replace(text, "0.05", "0.0224", 1)
		}
		text += "  - {at: 0.06, push: {link: base_link, force: [0, 20, 0], for: 0.03}}\n"
		p := prepare(t, bot, text)
		var first, last *Frame
		if _, err := p.Run(0, Watch{Frame: func(f *Frame) {
			if first == nil {
				first = f
			}
			last = f
		}}); err != nil {
			t.Fatal(name, err)
		}
		// the centre of mass moves by J/m for the time since the middle of the push, which begins
		// with a step
		want, step := 20*0.03/p.m.Mass()*(0.2-0.075), 20*0.03/p.m.Mass()*p.s.step()
		if got := last.Com[1] - first.Com[1]; math.Abs(got-want) > step {
			t.Errorf("%s: the centre of mass moved by %.5f m, want %.5f m", name, got, want)
		}
	}
}

// TestPayloadIsSeen: what a payload weighs is in the centre of mass and in what feet carry.
func TestPayloadIsSeen(t *testing.T) {
	p := prepare(t, loaded(t, "pony", load.Options{}), `duration: 1.5
start: {pose: stand}
servos: {all: {kp: 20, kd: 0.4}}
do: [{at: 0.5, payload: {link: base_link, mass: 1, at: [0, 0, 0.5]}}]`)
	var before, after *Frame
	if _, err := p.Run(0, Watch{Frame: func(f *Frame) {
		if f.T == 0.5 {
			before = f
		}
		after = f
	}}); err != nil {
		t.Fatal(err)
	}
	m := p.m.Mass()
	want := (m*before.Com[2] + before.Base.Position[2] + 0.5) / (m + 1)
	if math.Abs(after.Com[2]-want) > 0.005 {
		t.Errorf("centre of mass at %.4f m, want %.4f m", after.Com[2], want)
	}
	force := 0.0
	for _, c := range after.Contacts {
		force += c.Force[2]
	}
	if weight := (m + 1) * p.m.Gravity().Norm(); math.Abs(force-weight) > 0.01*weight {
		t.Errorf("the ground carries %.3f N, want %.3f N", force, weight)
	}
}

// TestTheWorstOfSeedsIsOnTop: of each criterion the report has the value farthest beyond its
// limit, or nearest to it.
func TestTheWorstOfSeedsIsOnTop(t *testing.T) {
	one, two := 1.0, 2.0
	of := func(e *Criterion, x float64) Outcome {
		s := newSeries()
		s.t = []float64{0}
		for i := range s.values {
			s.values[i] = []float64{x}
		}
		return s.judge(e)
	}
	for _, tc := range []struct {
		e      Criterion
		a, b   float64
		want   float64
		passes bool
	}{
		{Criterion{What: "tilt", Max: &two}, 0.5, 1.5, 1.5, true},
		{Criterion{What: "tilt", Max: &one}, 3, 1.5, 3, false},
		{Criterion{What: "tilt", Min: &one}, 1.5, 1.2, 1.2, true},
		{Criterion{What: "tilt", Min: &one}, 1.5, 0.2, 0.2, false},
	} {
		w := Worst([]*Result{{Criteria: []Outcome{of(&tc.e, tc.a)}}, {Criteria: []Outcome{of(&tc.e, tc.b)}}})
		if got := w.Criteria[0]; *got.Value != tc.want || got.Pass != tc.passes {
			t.Errorf("of %g and %g: %g, pass %v", tc.a, tc.b, *got.Value, got.Pass)
		}
	}
}

// TestARobotWithoutMassIsNamedWithItsLine: the file and the line of the link that needs a mass.
func TestARobotWithoutMassIsNamedWithItsLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "empty.urdf")
	text := `<robot name="empty">
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
<link name="b"/>
</robot>`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Parse([]byte("duration: 1"), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Prepare(loaded(t, file, load.Options{}))
	if want := `empty.urdf:4: link "b": has no mass for joint "j" to move`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestServosFailInScenarios: a servo that is jammed for a time moves after it; one whose fault
// is told to the cycle ends the motion that needs it.
func TestServosFailInScenarios(t *testing.T) {
	bot := loaded(t, "pony", load.Options{})
	bot.Motions = library.Open("", shipped.Of("pony"))
	p := prepare(t, bot, `duration: 1.5
start: {pose: stand}
do:
  - {at: 0.2, trouble: {joint: joint51, jammed: true, for: 0.5}}
  - {at: 0.2, joints: {joint51: -0.1}, in: 0.1}`)
	at := map[float64]float64{}
	id, _ := bot.Model.Joint("joint51")
	if _, err := p.Run(0, Watch{Frame: func(f *Frame) { at[f.T] = f.Q[bot.Model.Joints()[id].Q-7] }}); err != nil {
		t.Fatal(err)
	}
	if math.Abs(at[0.7]-at[0.2]) > 0.01 || math.Abs(at[1.5]+0.1) > 0.03 {
		t.Errorf("jammed from %g to %g, then at %g", at[0.2], at[0.7], at[1.5])
	}
	p = prepare(t, bot, `duration: 2
start: {pose: stand}
do:
  - {at: 0, play: nod}
  - {at: 0.5, trouble: {joint: joint51, fault: overload}}`)
	r, err := p.Run(0, Watch{})
	if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "play nod") {
		t.Errorf("%v %v", r, err)
	}
	for text, want := range map[string]string{
		"{joint: joint5, limp: true}":            `joint "joint5" does not exist`,
		"{joint: joint51}":                       "nothing is wrong",
		"{joint: joint51, fault: overlode}":      `did you mean "overload"?`,
		"{joint: joint51, limp: true, for: -1}":  "for -1 s is negative",
		"{joint: joint51, limp: true, until: 1}": `unknown key "until"`,
	} {
		s, err := Parse([]byte("duration: 1\ndo: [{at: 0, trouble: "+text+"}]"), "test.yaml")
		if err == nil {
			_, err = s.Prepare(bot)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
