package summary_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"poise/internal/randbot"
	"poise/robot"
	"poise/robot/load"
	"poise/robot/summary"
	"poise/urdf"
)

const text = `<robot name="hand">
<link name="palm"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="z"/><link name="a"><inertial><mass value="0.5"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="b"/>
<joint name="turn" type="continuous"><parent link="palm"/><child link="z"/></joint>
<joint name="grip" type="prismatic"><parent link="z"/><child link="a"/><limit lower="0" upper="1" velocity="2" effort="3"/></joint>
<joint name="grip2" type="prismatic"><parent link="z"/><child link="b"/><limit lower="-3" upper="0" velocity="9" effort="3"/><mimic joint="grip" multiplier="-2" offset="-0.5"/></joint>
</robot>`

func hand(t *testing.T, floating bool) *robot.Model {
	t.Helper()
	doc, _, err := urdf.Parse([]byte(text), "hand.urdf")
	if err != nil {
		t.Fatal(err)
	}
	table, tip, err := robot.ReadLimits([]byte("joint_limits: {grip: {max_acceleration: 4}}\ncartesian_limits: {max_trans_vel: 1, max_trans_acc: 2, max_trans_dec: -3, max_rot_vel: 4}\n"), "l.yaml")
	if err != nil {
		t.Fatal(err)
	}
	opts := robot.Options{Limits: table, Cartesian: tip}
	if floating {
		opts.Base = robot.BaseFloating
	}
	m, _, err := robot.Build(doc, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestJSON(t *testing.T) {
	got, err := json.Marshal(summary.New(hand(t, false), []string{"odd"}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"hand","nq":2,"nv":2,"mass":2.5,"joints":[` +
		`{"name":"turn","type":"continuous","lower":null,"upper":null,"velocity":null,"effort":null,"acceleration":null,"deceleration":null,"jerk":null,"source":{}},` +
		`{"name":"grip","type":"prismatic","lower":0,"upper":1,"velocity":2,"effort":3,"acceleration":4,"deceleration":null,"jerk":null,` +
		`"source":{"acceleration":"l.yaml:1","effort":"hand.urdf:5","lower":"hand.urdf:5","upper":"hand.urdf:5","velocity":"hand.urdf:5"}}],` +
		`"mimic":[{"name":"grip2","of":"grip","multiplier":-2,"offset":-0.5}],"links":["palm","z","a","b"],` +
		`"groups":{"a":["turn","grip"],"b":["turn","grip"]},` +
		`"cartesian_limits":{"max_trans_vel":1,"max_trans_acc":2,"max_trans_dec":-3,"max_rot_vel":4},"cycle_1_lacks":["a servo model of joint turn, grip: servo_models in robot.yaml"],"warnings":["odd"]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestJSONWithFloatingBase(t *testing.T) {
	s := summary.New(hand(t, true), nil)
	if s.NumQ != 9 || s.NumV != 8 || len(s.Joints) != 2 || s.Mass != 2.5 {
		t.Errorf("nq %d, nv %d, %d joints: the base counts in nq and nv and is no joint", s.NumQ, s.NumV, len(s.Joints))
	}
}

// TestNothingIsNull: lists that are empty print as [], what is absent as null.
func TestNothingIsNull(t *testing.T) {
	m, _, err := robot.Build(&urdf.Document{Name: "stone", Links: []urdf.Link{{Name: "stone"}}}, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(summary.New(m, nil))
	want := `{"name":"stone","nq":0,"nv":0,"mass":0,"joints":[],"mimic":[],"links":["stone"],"groups":{"stone":[]},"cartesian_limits":null,"cycle_1_lacks":[],"warnings":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGroupsKeepTheirOrderAndRead(t *testing.T) {
	g := summary.Groups{{"z", []string{"a"}}, {"a \"b\"", []string{}}}
	got, err := json.Marshal(g)
	if err != nil || string(got) != `{"z":["a"],"a \"b\"":[]}` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestJSONOfRandomRobots reads back what was written and compares it with the
// model.
func TestJSONOfRandomRobots(t *testing.T) {
	for seed := range uint64(30) {
		m := randbot.Model(t, randbot.New(seed), randbot.Config{Bodies: 12, Mimics: 3, Fixed: 3, Floating: seed%2 == 0})
		data, err := json.Marshal(summary.New(m, nil))
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			NQ     int                           `json:"nq"`
			Joints []struct{ Name, Type string } `json:"joints"`
			Links  []string                      `json:"links"`
			Groups map[string][]string           `json:"groups"`
			Mimic  []struct{ Name, Of string }   `json:"mimic"`
			Mass   float64                       `json:"mass"`
		}
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if back.NQ != m.NumQ() || back.Mass != m.Mass() || len(back.Joints) != len(m.Joints()) || len(back.Mimic) != 3 || len(back.Links) != 16 {
			t.Errorf("seed %d: %s", seed, data)
		}
		for i, j := range m.Joints() {
			if back.Joints[i].Name != j.Name || back.Joints[i].Type != j.Kind.String() {
				t.Errorf("seed %d: joint %d is %+v", seed, i, back.Joints[i])
			}
		}
		for _, f := range back.Mimic {
			if !slices.ContainsFunc(back.Joints, func(j struct{ Name, Type string }) bool { return j.Name == f.Of }) {
				t.Errorf("seed %d: %s follows %s, which is not independent", seed, f.Name, f.Of)
			}
		}
	}
}

func TestPrint(t *testing.T) {
	var b bytes.Buffer
	if err := summary.Print(&b, hand(t, true), []string{"hand.urdf:1: odd"}); err != nil {
		t.Fatal(err)
	}
	want := `hand: floating base, 2 joints, 4 links, 2.5 kg, nq 9, nv 8

Joints, in the order of all arrays (rad, m, s; – means not given):
  #  name  type        lower  upper  velocity  effort  accel.  decel.  jerk  limits from
  0  turn  continuous  –      –      –         –       –       –       –
  1  grip  prismatic   0      1      2         3       4       –       –     hand.urdf:5 (lower upper velocity effort), l.yaml:1 (acceleration)
  1 joint without a velocity or acceleration limit: --write-limits proposes some
  cycle 1 lacks a servo model of joint turn, grip: servo_models in robot.yaml

Followers:
  grip2  = -2 · grip -0.5

Groups (* may be owned as a resource):
  a  tip a  turn grip
  b  tip b  turn grip

Tip: 1 m/s, 2 and -3 m/s², 4 rad/s (l.yaml:2)

1 warning:
  hand.urdf:1: odd
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

type broken struct{ left int }

func (w *broken) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, fmt.Errorf("pipe closed")
	}
	return len(p), nil
}

func TestPrintReportsAClosedPipe(t *testing.T) {
	for _, after := range []int{0, 100, 500} {
		if err := summary.Print(&broken{after}, hand(t, false), nil); err == nil || !strings.Contains(err.Error(), "pipe closed") {
			t.Errorf("after %d bytes: %v", after, err)
		}
	}
}

// TestCheckSaysWhatCycleOneLacks: masses and servo models, by the names of joints.
func TestCheckSaysWhatCycleOneLacks(t *testing.T) {
	for name, want := range map[string][]string{"pony": nil, "so101": nil, "arm6": {"a servo model of 7 joints ("}} {
		bot, err := load.Robot(name, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		lacks := summary.CycleOneLacks(bot.Model)
		if len(lacks) != len(want) || len(want) > 0 && !strings.Contains(lacks[0], want[0]) {
			t.Errorf("%s lacks %q, want %q", name, lacks, want)
		}
	}
	lacks := summary.CycleOneLacks(hand(t, false))
	if len(lacks) != 1 || lacks[0] != "a servo model of joint turn, grip: servo_models in robot.yaml" {
		t.Errorf("the hand lacks %q", lacks)
	}
}
