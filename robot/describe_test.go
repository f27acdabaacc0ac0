package robot_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"poise/problem"
	"poise/robot"
	"poise/robot/description"
	"poise/spatial"
	"poise/urdf"
)

// dog has a trunk, two legs of two joints with a virtual third one, a tail and
// a gripper mouth whose lower jaw follows the upper.
const dogURDF = `<robot name="dog">
<link name="trunk"><inertial><mass value="4"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="l_thigh"/><link name="l_shin"/><link name="l_yaw"/><link name="l_sole"/>
<link name="r_thigh"/><link name="r_shin"/><link name="r_yaw"/>
<link name="tail"/><link name="jaw_up"/><link name="jaw_low"/>
<joint name="l_hip" type="revolute"><parent link="trunk"/><child link="l_thigh"/><axis xyz="1 0 0"/><limit lower="-1" upper="0.5" velocity="2" effort="3"/></joint>
<joint name="l_knee" type="revolute"><parent link="l_thigh"/><child link="l_shin"/><axis xyz="0 1 0"/><limit lower="-2" upper="0" velocity="2" effort="3"/></joint>
<joint name="l_turn" type="continuous"><parent link="l_shin"/><child link="l_yaw"/><axis xyz="0 0 1"/></joint>
<joint name="l_weld" type="fixed"><parent link="l_shin"/><child link="l_sole"/></joint>
<joint name="r_hip" type="revolute"><parent link="trunk"/><child link="r_thigh"/><axis xyz="1 0 0"/><limit lower="-0.5" upper="1" velocity="2" effort="3"/></joint>
<joint name="r_knee" type="revolute"><parent link="r_thigh"/><child link="r_shin"/><axis xyz="0 1 0"/><limit lower="-2" upper="0" velocity="2" effort="3"/></joint>
<joint name="r_turn" type="continuous"><parent link="r_shin"/><child link="r_yaw"/><axis xyz="0 0 1"/></joint>
<joint name="tail" type="revolute"><parent link="trunk"/><child link="tail"/><limit lower="-1" upper="1" velocity="2" effort="3"/></joint>
<joint name="bite" type="prismatic"><parent link="trunk"/><child link="jaw_up"/><limit lower="0" upper="0.1" velocity="1" effort="9"/></joint>
<joint name="bite2" type="prismatic"><parent link="trunk"/><child link="jaw_low"/><limit lower="-0.1" upper="0" velocity="1" effort="9"/><mimic joint="bite" multiplier="-1"/></joint>
</robot>`

// dogYAML is everything that robot.yaml can say.
const dogYAML = `name: rex
base: floating
gravity: [0, 0, -1.62]
transition_acceleration: 20
contacts:
  paw: {points: [[0, 0, -0.02], [0.01, 0, -0.02]]}
chains:
  left: {base: trunk, tip: l_shin, virtual_tip: l_yaw, contact: paw}
  right: {base: trunk, tip: r_shin, virtual_tip: r_yaw, contact: paw}
  stub: {base: trunk, tip: tail}
outputs:
  face: {type: display}
groups:
  left: {chains: [left]}
  right: {chains: [right], tip: r_shin}
  legs: {groups: [left, right]}
  tail: {joints: [tail]}
  mouth: {joints: [bite], leaves: [face]}
  body: {leaves: [base]}
servos:
  l_hip: {id: 11, type: drs-0201}
  l_knee: {id: 12, reversed: true, zero: 496, gear: 0.65}
  r_hip: {id: 11, bus: other}
  r_knee: {id: 22}
  tail: {id: 0}
  bite: {id: 253}
virtual_joints: [l_turn, r_turn]
poses:
  lying: {l_hip: 0.5, l_knee: -2, r_hip: -0.5, r_knee: -2}
  wag: {tail: 0.3}
mirror:
  - {left: l_hip, right: r_hip, sign: -1}
  - {left: l_knee, right: r_knee, sign: 1}
  - {left: l_turn, right: r_turn, sign: -1}
  - {middle: tail, sign: -1}
  - {middle: bite, sign: 1}
safe_states:
  left: {do: crouch then off, pose: lying}
  tail: {do: "off"}
  mouth: {do: brake}
  body: {do: hold}
leaving: {do: rest, pose: lying, speed: 0.1, deadline: 5}
`

func parse(t testing.TB, text string) *urdf.Document {
	t.Helper()
	doc, _, err := urdf.Parse([]byte(text), "dog.urdf")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func describe(t testing.TB, text string) *description.Description {
	t.Helper()
	d, err := description.Read([]byte(text), "robot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func dog(t testing.TB) *robot.Model {
	t.Helper()
	m, warnings, err := robot.Build(parse(t, dogURDF), robot.Options{Description: describe(t, dogYAML)})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if w.Code != robot.ZeroMass {
			t.Error(w)
		}
	}
	return m
}

func jointNames(m *robot.Model, ids []robot.JointID) string {
	var names []string
	for _, id := range ids {
		names = append(names, m.Joints()[id].Name)
	}
	return strings.Join(names, " ")
}

func TestDescriptionReachesTheModel(t *testing.T) {
	m := dog(t)
	if m.Name() != "rex" || !m.Floating() || m.Gravity() != (spatial.Vec3{Z: -1.62}) {
		t.Errorf("name %q, floating %t, gravity %v", m.Name(), m.Floating(), m.Gravity())
	}
	if a := m.TransitionAcceleration(); a.Value != 20 || a.Source != "robot.yaml:4" {
		t.Errorf("transition acceleration %+v", a)
	}
	t.Run("chains", func(t *testing.T) {
		id, ok := m.Chain("left")
		c := m.Chains()[id]
		if !ok || jointNames(m, c.Joints) != "l_hip l_knee l_turn" || m.Frames()[c.Tip].Name != "l_shin" || m.Frames()[c.VirtualTip].Name != "l_yaw" {
			t.Errorf("chain left is %+v", c)
		}
		if got := m.Contacts()[c.Contact].Points; !slices.Equal(got, []spatial.Vec3{{Z: -0.02}, {X: 0.01, Z: -0.02}}) {
			t.Errorf("contact points %v", got)
		}
		if right, _ := m.Chain("right"); c.Mirror != right || m.Chains()[right].Mirror != id {
			t.Errorf("left mirrors %d", c.Mirror)
		}
		if stub, _ := m.Chain("stub"); m.Chains()[stub].Contact != robot.NoContact || m.Chains()[stub].Mirror != stub {
			t.Errorf("chain stub is %+v", m.Chains()[stub])
		}
	})
	t.Run("groups", func(t *testing.T) {
		for name, want := range map[string]string{"left": "l_hip l_knee l_turn", "legs": "l_hip l_knee l_turn r_hip r_knee r_turn", "tail": "tail", "mouth": "bite", "body": ""} {
			id, ok := m.Group(name)
			if g := m.Groups()[id]; !ok || jointNames(m, g.Joints) != want || g.Resource == (name == "legs") {
				t.Errorf("group %s is %+v, want %s", name, g, want)
			}
		}
		left, _ := m.Group("left")
		right, _ := m.Group("right")
		if l, r := m.Groups()[left].Tip, m.Groups()[right].Tip; m.Frames()[l].Name != "l_yaw" || m.Frames()[r].Name != "r_shin" {
			t.Errorf("tips %s and %s", m.Frames()[l].Name, m.Frames()[r].Name)
		}
	})
	t.Run("servos", func(t *testing.T) {
		id, _ := m.Joint("l_knee")
		if s := m.Servo(id); !reflect.DeepEqual(s, robot.Servo{Assigned: true, ID: 12, Reversed: true, Zero: 496, Gear: 0.65}) {
			t.Errorf("servo of l_knee is %+v", s)
		}
		id, _ = m.Joint("l_turn")
		if m.Servo(id).Assigned || !m.Joints()[id].Virtual {
			t.Errorf("virtual joint: servo %+v, %+v", m.Servo(id), m.Joints()[id])
		}
	})
	t.Run("poses", func(t *testing.T) {
		p, ok := m.Pose("lying")
		if !ok || jointNames(m, p.Joints) != "l_hip l_knee r_hip r_knee" || fmt.Sprint(p.Q) != "[[0.5] [-2] [-0.5] [-2]]" {
			t.Errorf("pose %+v", p)
		}
	})
	t.Run("mirror", func(t *testing.T) {
		for i, image := range m.Mirror() {
			if back := m.Mirror()[image.Of]; back.Of != robot.JointID(i) || back.Sign*image.Sign != 1 {
				t.Errorf("mirroring joint %d twice gives %+v", i, back)
			}
		}
	})
	t.Run("safe states", func(t *testing.T) {
		for name, want := range map[string]string{"left": "crouch then off", "tail": "off", "mouth": "brake", "body": "hold", "right": ""} {
			id, _ := m.Group(name)
			if s := m.SafeState(id); s.Do.String() != want || (s.Pose >= 0) != (name == "left") {
				t.Errorf("safe state of %s is %v, want %q", name, s, want)
			}
		}
	})
}

func TestResources(t *testing.T) {
	m := dog(t)
	r, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range r.Leaves() {
		names = append(names, l.Name)
	}
	want := "bite l_hip l_knee l_turn r_hip r_knee r_turn tail base support/left support/right face"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("leaves %s, want %s", got, want)
	}
	for i, j := range m.Joints() {
		if s, ok := r.Find(j.Name); !ok || j.Name != "tail" && s != robot.Leaf(r.OfJoint(robot.JointID(i))) {
			t.Errorf("leaf of %s is %v", j.Name, s)
		}
		if back, ok := r.Joint(robot.LeafID(i)); !ok || back != robot.JointID(i) {
			t.Errorf("joint of leaf %d is %d", i, back)
		}
	}
	if _, ok := r.Joint(8); ok {
		t.Error("the base is a joint")
	}
	set := func(leaves ...string) (s robot.Set) {
		for _, n := range leaves {
			s = s.With(robot.LeafID(slices.Index(names, n)))
		}
		return s
	}
	for name, want := range map[string]robot.Set{
		"left":         set("l_hip", "l_knee", "l_turn", "support/left"),
		"legs":         set("l_hip", "l_knee", "l_turn", "r_hip", "r_knee", "r_turn", "support/left", "support/right"),
		"mouth":        set("bite", "face"),
		"body":         set("base"),
		"base":         set("base"),
		"support/left": set("support/left"),
		"tail":         set("tail"),
	} {
		if got, ok := r.Find(name); !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	var union robot.Set
	for _, res := range r.List() {
		if union.Overlaps(res.Set) {
			t.Errorf("%s overlaps those before", res.Name)
		}
		union = union.Union(res.Set)
		if res.Set != r.OfGroup(res.Group) {
			t.Errorf("%s has two sets", res.Name)
		}
	}
	if union != r.All() {
		t.Errorf("resources make up %v of %v", union, r.All())
	}
	if len(r.List()) != 5 {
		t.Errorf("%d resources, want 5: all groups but legs", len(r.List()))
	}
}

func TestTooManyLeaves(t *testing.T) {
	arm := func(n int) *urdf.Document {
		doc := &urdf.Document{Name: "snake", Links: []urdf.Link{{Name: "l"}}}
		for i := range n {
			child := fmt.Sprintf("l%d", i)
			doc.Links = append(doc.Links, urdf.Link{Name: child, Inertial: unitInertial()})
			doc.Joints = append(doc.Joints, revolute(fmt.Sprintf("j%d", i), doc.Links[i].Name, child))
		}
		return doc
	}
	if _, err := build(t, arm(256), false).Resources(); err != nil {
		t.Errorf("256 leaves: %v", err)
	}
	m := build(t, arm(256), true)
	_, err := m.Resources()
	if !errors.Is(err, robot.TooManyLeaves) || !strings.Contains(err.Error(), "257") || !strings.Contains(err.Error(), "256") {
		t.Errorf("257 leaves: %v", err)
	}
	if len(m.Joints()) != 256 || len(m.Groups()) != 1 {
		t.Errorf("the model has %d joints", len(m.Joints()))
	}
}

func TestJointCalledBase(t *testing.T) {
	doc := &urdf.Document{Name: "r", Links: []urdf.Link{{Name: "a"}, {Name: "b", Inertial: unitInertial()}}, Joints: []urdf.Joint{revolute("base", "a", "b")}}
	if _, err := build(t, doc, false).Resources(); err != nil {
		t.Errorf("with a fixed base: %v", err)
	}
	if _, err := build(t, doc, true).Resources(); !errors.Is(err, robot.BadName) || !strings.Contains(err.Error(), `leaf "base": is the name of joint "base" and of the base`) {
		t.Errorf("with a floating base: %v", err)
	}
}

// each case changes the dog's description; the error must name line, thing and
// value.
func TestDescriptionIsChecked(t *testing.T) {
	for _, tc := range []struct {
		name, old, new string
		want           string
	}{
		{"base", "base: floating", "base: hovering", `robot.yaml:2: base: "hovering" is neither fixed nor floating`},
		{"gravity", "[0, 0, -1.62]", "[0, -1.62]", `robot.yaml:3: gravity: has 3 numbers, not 2`},
		{"transition acceleration", "transition_acceleration: 20", "transition_acceleration: 0", `robot.yaml:4: transition_acceleration: 0 is not positive`},
		{"transition velocity", "transition_acceleration: 20", "transition_velocity: -1", `robot.yaml:4: transition_velocity: -1 is not positive`},
		{"velocity alone", "transition_acceleration: 20", "transition_velocity: 2", `robot.yaml:4: transition_velocity: goes with transition_acceleration, which is missing`},
		{"fast alone", "transition_acceleration: 20", "fast_transition_acceleration: 2", `robot.yaml:4: fast_transition_acceleration: goes with transition_velocity`},
		{"point of two numbers", "[0.01, 0, -0.02]", "[0.01, 0]", `robot.yaml:6: contact "paw": a point has 3 numbers, not 2`},
		{"contact without points", "[[0, 0, -0.02], [0.01, 0, -0.02]]", "[]", `contact "paw": has no point`},
		{"unknown contact", "virtual_tip: l_yaw, contact: paw", "virtual_tip: l_yaw, contact: pwa", `robot.yaml:8: chain "left": contact "pwa" is not declared; did you mean "paw"?`},
		{"chain without base", "left: {base: trunk, tip", "left: {tip", `chain "left": base is missing`},
		{"chain to nowhere", "stub: {base: trunk, tip: tail}", "stub: {base: trunk, tip: tial}", `robot.yaml:10: chain "stub": tip: link "tial" does not exist; did you mean "tail"?`},
		{"chain upside down", "stub: {base: trunk, tip: tail}", "stub: {base: tail, tip: trunk}", `chain "stub": base "tail" is not above tip "trunk"`},
		{"chain across", "stub: {base: trunk, tip: tail}", "stub: {base: l_shin, tip: tail}", `chain "stub": base "l_shin" is not above tip "tail"`},
		{"chain that cannot move", "stub: {base: trunk, tip: tail}", "stub: {base: l_shin, tip: l_sole}", `chain "stub": no joint moves tip "l_sole" against base "l_shin"`},
		{"virtual tip elsewhere", "virtual_tip: l_yaw", "virtual_tip: r_yaw", `chain "left": virtual tip "r_yaw" is not below tip "l_shin"`},
		{"output without type", "face: {type: display}", "face: {}", `output "face": type is missing`},
		{"output named as a joint", "  face: {type: display}", "  face: {type: display}\n  bite: {type: tooth}", `robot.yaml:11: leaf "bite": is the name of joint "bite" and of output "bite"`},
		{"group of an unknown chain", "chains: [left]}", "chains: [lft]}", `robot.yaml:14: group "left": chain "lft" is not declared; did you mean "left"?`},
		{"group of an unknown joint", "tail: {joints: [tail]}", "tail: {joints: [tial]}", `group "tail": joint "tial" does not exist; did you mean "tail"?`},
		{"group of a follower", "tail: {joints: [tail]}", "tail: {joints: [bite2]}", `group "tail": joint "bite2" follows "bite" and has no value of its own`},
		{"group of a fixed joint", "tail: {joints: [tail]}", "tail: {joints: [l_weld]}", `group "tail": joint "l_weld" is fixed`},
		{"group of an unknown group", "groups: [left, right]", "groups: [left, up]", `group "legs": group "up" does not exist`},
		{"group of itself", "groups: [left, right]", "groups: [left, legs]", `group "legs": group "legs" contains itself`},
		{"group of nothing", "legs: {groups: [left, right]}", "legs: {}", `group "legs": lists nothing`},
		{"group with an unknown tip", "tip: r_shin}\n  legs", "tip: r_skin}\n  legs", `group "right": tip: link "r_skin" does not exist`},
		{"unknown leaf", "leaves: [face]", "leaves: [fase]", `group "mouth": leaf "fase" is neither a declared output nor the base`},
		{"support as a leaf", "leaves: [face]", "leaves: [support/left]", `group "mouth": leaf "support/left"`},
		{"shared joint", "joints: [bite]", "joints: [bite, r_knee]", `robot.yaml:18: group "mouth": shares joint "r_knee" with resource "right"`},
		{"shared output", "body: {leaves: [base]}", "body: {leaves: [base, face]}", `group "body": shares output "face" with resource "mouth"`},
		{"name of a leaf", "tail: {joints: [tail]}", "bite: {joints: [tail]}", `group "bite": has the name of joint "bite", but is not that alone`},
		{"leaving in an unknown way", "do: rest, pose: lying, speed: 0.1, deadline: 5", "do: of", `leaving: do: "of" is not one of hold, off, rest; did you mean "off"?`},
		{"leaving to an unknown pose", "pose: lying, speed", "pose: lyin, speed", `leaving: rest needs a declared pose; "lyin" is not one; did you mean "lying"?`},
		{"leaving to no pose", "do: rest, pose: lying", "do: rest", `leaving: rest needs a declared pose; "" is not one`},
		{"leaving with a pose for nothing", "do: rest, pose: lying", "do: hold, pose: lying", `leaving: pose, speed and deadline belong to rest alone`},
		{"leaving too fast", "speed: 0.1", "speed: 2", `leaving: speed 2 is not within 0.01 … 1 of the joints' limits`},
		{"leaving too slowly", "deadline: 5", "deadline: 5000", `leaving: deadline 5000 s is not within 0.1 … 600 s`},
		{"servo without id", "l_hip: {id: 11, type: drs-0201}", "l_hip: {type: drs-0201}", `robot.yaml:21: servo of joint "l_hip": id is missing`},
		{"servo id too high", "bite: {id: 253}", "bite: {id: 254}", `servo of joint "bite": id 254 is not within 0 … 253`},
		{"servo id taken", "l_knee: {id: 12", "l_knee: {id: 11", `servo of joint "l_knee": id 11 is that of joint "l_hip" already`},
		{"gear of zero", "gear: 0.65", "gear: 0", `servo of joint "l_knee": gear 0 is not positive`},
		{"servo of a virtual joint", "  tail: {id: 0}", "  tail: {id: 0}\n  l_turn: {id: 13}", `servo of joint "l_turn": virtual_joints says that no servo moves it`},
		{"joint without servo", "virtual_joints: [l_turn, r_turn]", "virtual_joints: [l_turn]", `robot.yaml:20: joint "r_turn": has no servo and is not in virtual_joints`},
		{"servo of a follower", "  tail: {id: 0}", "  tail: {id: 0}\n  bite2: {id: 1}", `servo of joint "bite2": joint "bite2" follows "bite"`},
		{"unknown virtual joint", "virtual_joints: [l_turn, r_turn]", "virtual_joints: [l_turn, r_turn, x]", `virtual_joints: joint "x" does not exist`},
		{"pose out of limits", "wag: {tail: 0.3}", "wag: {tail: 1.5}", `robot.yaml:30: pose "wag": joint "tail" at 1.5 is outside -1 … 1`},
		{"pose of an unknown joint", "wag: {tail: 0.3}", "wag: {tale: 0.3}", `pose "wag": joint "tale" does not exist`},
		{"mirror without sign", "{middle: tail, sign: -1}", "{middle: tail}", `robot.yaml:35: mirror: joint "tail": sign must be 1 or -1`},
		{"mirror sign 2", "{middle: tail, sign: -1}", "{middle: tail, sign: 2}", `sign must be 1 or -1`},
		{"mirror of one side", "{left: l_hip, right: r_hip, sign: -1}", "{left: l_hip, sign: -1}", `an entry has left and right, two joints, or middle`},
		{"mirror of left and middle", "{middle: tail, sign: -1}", "{middle: tail, left: tail, sign: -1}", `an entry has left and right`},
		{"mirror of one joint twice", "{middle: tail, sign: -1}", "{middle: bite, sign: -1}", `has an image already: mirroring twice would not give the pose back`},
		{"mirror lacks a joint", "  - {middle: tail, sign: -1}\n", "", `mirror: joint "tail" is missing`},
		{"mirror of unlike joints", "{left: l_hip, right: r_hip, sign: -1}", "{left: l_hip, right: bite, sign: -1}", `joints "l_hip" and "bite" do not move alike`},
		{"safe state of no resource", "  tail: {do: \"off\"}", "  legs: {do: hold}", `safe state of "legs": "legs" is not a resource`},
		{"safe state of no resource", "  tail: {do: \"off\"}", "  tial: {do: hold}", `"tial" is not a resource; did you mean "tail"?`},
		{"unknown safe action", "do: brake", "do: panic", `robot.yaml:40: safe state of "mouth": do: "panic" is not one of hold, crouch then off, brake, off`},
		{"crouch without pose", "{do: crouch then off, pose: lying}", "{do: crouch then off}", `crouch then off needs a declared pose`},
		{"crouch in an unknown pose", "pose: lying", "pose: sitting", `crouch then off needs a declared pose; "sitting" is not one`},
		{"crouch pose too small", "pose: lying", "pose: wag", `safe state of "left": pose "wag" does not place joint "l_hip"`},
		{"pose with another action", "do: brake", "do: brake, pose: lying", `pose belongs to crouch then off alone`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(dogYAML, tc.old, tc.new, 1)
			if text == dogYAML {
				t.Fatalf("the description has no %q", tc.old)
			}
			_, _, err := robot.Build(parse(t, dogURDF), robot.Options{Description: describe(t, text)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func TestMirroredLimitsShouldAgree(t *testing.T) {
	text := strings.Replace(dogYAML, "{left: l_hip, right: r_hip, sign: -1}", "{left: l_hip, right: r_hip, sign: 1}", 1)
	_, warnings, err := robot.Build(parse(t, dogURDF), robot.Options{Description: describe(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(warnings, func(p *problem.Problem) bool {
		return p.Code == robot.UnevenMirror && strings.Contains(p.Error(), `joint "r_hip" has the range -0.5 … 1, but the image of joint "l_hip" has -1 … 0.5`)
	}) {
		t.Errorf("warnings %v", warnings)
	}
}

func TestBaseOptionDecidesOverTheDescription(t *testing.T) {
	for _, tc := range []struct {
		base     robot.Base
		said     string
		floating bool
	}{
		{robot.BaseAsDescribed, "floating", true}, {robot.BaseAsDescribed, "fixed", false}, {robot.BaseAsDescribed, "", false},
		{robot.BaseFixed, "floating", false}, {robot.BaseFloating, "fixed", true}, {robot.BaseFloating, "", true},
	} {
		d := &description.Description{Base: tc.said}
		m, _, err := robot.Build(parse(t, dogURDF), robot.Options{Base: tc.base, Description: d})
		if err != nil || m.Floating() != tc.floating {
			t.Errorf("option %d, description %q: %v, error %v", tc.base, tc.said, m.Floating(), err)
		}
	}
}

// TestFixedBaseHasNoLeaf: a robot that is held fast for once keeps its groups.
func TestFixedBaseHasNoLeaf(t *testing.T) {
	m, _, err := robot.Build(parse(t, dogURDF), robot.Options{Description: describe(t, dogYAML), Base: robot.BaseFixed})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Find("base"); ok {
		t.Error("there is a leaf for the base")
	}
	if body, ok := r.Find("body"); !ok || body != (robot.Set{}) {
		t.Errorf("group body is %v", body)
	}
	_, _, err = robot.Build(parse(t, dogURDF), robot.Options{Description: describe(t, strings.Replace(dogYAML, "floating", "fixed", 1))})
	if err == nil || !strings.Contains(err.Error(), `leaf "base" is neither`) {
		t.Errorf("a fixed robot that declares it: %v", err)
	}
}

func TestGroupsOfSRDF(t *testing.T) {
	const srdf = `<robot name="dog">
<group name="left"><chain base_link="trunk" tip_link="l_sole"/></group>
<group name="right"><link name="r_shin"/><joint name="r_hip"/><joint name="r_turn"/><link name="trunk"/></group>
<group name="legs"><group name="right"/><group name="left"/></group>
<group name="across"><chain base_link="l_shin" tip_link="tail"/></group>
<group name="mouth"><joint name="bite2"/><joint name="l_weld"/><joint name="world_joint"/></group>
<group_state name="sit" group="left"><joint name="l_hip" value="0.25"/><joint name="l_knee" value="-3"/><joint name="bite2" value="0"/></group_state>
<end_effector name="teeth" parent_link="trunk" group="mouth" parent_group="legs"/>
<virtual_joint name="world_joint" type="floating" parent_frame="world" child_link="trunk"/>
<passive_joint name="r_turn"/>
</robot>`
	s, _, err := urdf.ParseSRDF([]byte(srdf), "dog.srdf")
	if err != nil {
		t.Fatal(err)
	}
	m, warnings, err := robot.Build(parse(t, dogURDF), robot.Options{SRDF: s})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		joints, tip string
		resource    bool
	}{
		"left":   {"l_hip l_knee", "l_sole", true},
		"right":  {"r_hip r_knee", "r_shin", true},
		"legs":   {"l_hip l_knee r_hip r_knee", "", false},
		"across": {"l_hip l_knee tail", "tail", false},
		"mouth":  {"bite", "jaw_up", true},
	} {
		id, _ := m.Group(name)
		g := m.Groups()[id]
		tip := ""
		if g.Tip != robot.NoFrame {
			tip = m.Frames()[g.Tip].Name
		}
		if jointNames(m, g.Joints) != want.joints || tip != want.tip || g.Resource != want.resource {
			t.Errorf("group %s: %s, tip %q, resource %t; want %+v", name, jointNames(m, g.Joints), tip, g.Resource, want)
		}
	}
	if p, ok := m.Pose("left/sit"); !ok || jointNames(m, p.Joints) != "l_hip l_knee" {
		t.Errorf("pose left/sit is %+v", p)
	}
	if !slices.ContainsFunc(warnings, func(p *problem.Problem) bool {
		return p.Code == robot.PoseOutOfLimits && strings.Contains(p.Error(), `dog.srdf:7: group state "left/sit": joint "l_knee" at -3 is outside -2 … 0`)
	}) {
		t.Errorf("warnings %v", warnings)
	}
	if e := m.EndEffectors(); len(e) != 1 || e[0] != (robot.EndEffector{Name: "teeth", Group: "mouth", ParentLink: "trunk", ParentGroup: "legs"}) {
		t.Errorf("end effectors %+v", e)
	}
}

func TestSRDFIsChecked(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"unknown tip", `<group name="g"><chain base_link="trunk" tip_link="x"/></group>`, `dog.srdf:2: group "g": tip_link: link "x" does not exist`},
		{"unknown joint", `<group name="g"><joint name="x"/></group>`, `group "g": joint "x" does not exist`},
		{"unknown link", `<group name="g"><link name="x"/></group>`, `group "g": link: link "x" does not exist`},
		{"ring of groups", `<group name="g"><group name="h"/></group><group name="h"><group name="g"/></group>`, `contains itself`},
		{"state of an unknown joint", `<group name="g"><joint name="tail"/></group><group_state name="s" group="g"><joint name="x" value="0"/></group_state>`, `group state "g/s": joint "x" does not exist`},
		{"too many numbers", `<group name="g"><joint name="tail"/></group><group_state name="s" group="g"><joint name="tail" value="0 1"/></group_state>`, `joint "tail" takes 1 numbers, not 2`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _, err := urdf.ParseSRDF([]byte("<robot name=\"dog\">\n"+tc.body+"</robot>"), "dog.srdf")
			if err == nil {
				_, _, err = robot.Build(parse(t, dogURDF), robot.Options{SRDF: s})
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// The reader of SRDF refuses these; a document made by hand may have them.
func TestGroupsThatDoNotExist(t *testing.T) {
	s := &urdf.Semantics{
		Groups: []urdf.Group{{Name: "g", Groups: []urdf.Ref{{Name: "x"}}}},
		States: []urdf.GroupState{{Name: "s", Group: "y"}},
	}
	_, _, err := robot.Build(parse(t, dogURDF), robot.Options{SRDF: s})
	for _, want := range []string{`group "g": group "x" does not exist`, `group state "y/s": group "y" does not exist`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestOneNameInBothFiles(t *testing.T) {
	s, _, err := urdf.ParseSRDF([]byte(`<robot name="dog"><group name="tail"><joint name="tail"/></group></robot>`), "dog.srdf")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = robot.Build(parse(t, dogURDF), robot.Options{SRDF: s, Description: describe(t, dogYAML)})
	if !errors.Is(err, robot.BadName) || !strings.Contains(err.Error(), `group "tail": name used twice, first at dog.srdf:1`) {
		t.Errorf("error %v", err)
	}
}

func TestWithoutFilesOneGroupPerTip(t *testing.T) {
	m := build(t, parse(t, dogURDF), false)
	want := map[string]string{
		"l_yaw": "l_hip l_knee l_turn", "l_sole": "l_hip l_knee", "r_yaw": "r_hip r_knee r_turn", "tail": "tail",
		"jaw_up": "bite", "jaw_low": "bite", // the lower jaw moves by the joint that it follows
	}
	if len(m.Groups()) != len(want) {
		t.Errorf("%d groups, want %d", len(m.Groups()), len(want))
	}
	for _, g := range m.Groups() {
		if got := jointNames(m, g.Joints); got != want[g.Name] || m.Frames()[g.Tip].Name != g.Name || g.Resource {
			t.Errorf("group %s: %s, tip %d, resource %t; want %s", g.Name, got, g.Tip, g.Resource, want[g.Name])
		}
	}
}

func TestGroupsAreBoundedInMemory(t *testing.T) {
	// a comb: a long spine with a tooth on each link has n²/2 joints in its tips
	const n = 3000
	doc := &urdf.Document{Name: "comb", Links: []urdf.Link{{Name: "s0"}}}
	for i := range n {
		spine, tooth, up := fmt.Sprintf("s%d", i+1), fmt.Sprintf("t%d", i), fmt.Sprintf("s%d", i)
		doc.Links = append(doc.Links, urdf.Link{Name: spine}, urdf.Link{Name: tooth})
		doc.Joints = append(doc.Joints, revolute("a"+spine, up, spine), revolute("b"+tooth, up, tooth))
	}
	m, warnings, err := robot.Build(doc, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, g := range m.Groups() {
		total += len(g.Joints)
	}
	if total > 1<<20 || !slices.ContainsFunc(warnings, func(p *problem.Problem) bool { return strings.Contains(p.Error(), "no group is made") }) {
		t.Errorf("%d joints in groups", total)
	}
}

func TestPathOfFollowers(t *testing.T) {
	m := build(t, parse(t, dogURDF), true)
	frame := func(name string) robot.FrameID { id, _ := m.Frame(name); return id }
	for _, tc := range []struct {
		base, tip, want string
		down            bool
	}{
		{"trunk", "jaw_low", "bite", true}, {"jaw_up", "jaw_low", "bite", false}, {"l_sole", "l_shin", "", true},
		{"l_shin", "trunk", "l_knee l_hip", false}, {"l_yaw", "r_shin", "l_turn l_knee l_hip r_hip r_knee", false}, {"l_sole", "l_yaw", "l_turn", true},
	} {
		got, down := m.Path(frame(tc.base), frame(tc.tip))
		if jointNames(m, got) != tc.want || down != tc.down {
			t.Errorf("Path(%s, %s) = %s, %t; want %s, %t", tc.base, tc.tip, jointNames(m, got), down, tc.want, tc.down)
		}
	}
}

func TestLimitFileMeetsTheRobot(t *testing.T) {
	for _, tc := range []struct {
		name, joint, limits string
		rule                problem.Code
		isError             bool
		words               string
	}{
		{"unknown joint", "l_hop", "max_velocity: 1", robot.UnknownJoint, false, `joint_limits.yaml:2: joint "l_hop": limits for a joint that the robot does not have; did you mean "l_hip"?`},
		{"fixed joint", "l_weld", "max_velocity: 1", robot.UnusedLimit, false, `joint "l_weld": is fixed`},
		{"range of a continuous joint", "l_turn", "min_position: -1, max_position: 1", robot.BadLimit, true, `joint "l_turn": a continuous joint has no range`},
		{"looser", "l_hip", "max_velocity: 2.5", robot.LooserLimit, true, `joint "l_hip": velocity limit 2.5 of joint_limits.yaml:2 is looser than 2 of dog.urdf:6`},
		{"follower looser than its own", "bite2", "max_velocity: 1.5", robot.LooserLimit, true, `joint "bite2": velocity limit 1.5`},
		{"follower slower than its leader", "bite2", "max_velocity: 0.5", robot.FollowerLimit, false, `joint "bite2": follows "bite" to a velocity of 1, past its own limit 0.5 of joint_limits.yaml:2`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, _, err := robot.ReadLimits([]byte("joint_limits:\n  "+tc.joint+": {"+tc.limits+"}\n"), "joint_limits.yaml")
			if err != nil {
				t.Fatal(err)
			}
			_, warnings, err := robot.Build(parse(t, dogURDF), robot.Options{Limits: table})
			if tc.isError {
				if !errors.Is(err, tc.rule) || !strings.Contains(err.Error(), tc.words) {
					t.Errorf("error %v, want %s", err, tc.words)
				}
				return
			}
			if err != nil || !slices.ContainsFunc(warnings, func(p *problem.Problem) bool { return p.Code == tc.rule && strings.Contains(p.Error(), tc.words) }) {
				t.Errorf("error %v, warnings %v, want %s", err, warnings, tc.words)
			}
		})
	}
}

func TestSumsMustBeFinite(t *testing.T) {
	heavy := func(mass float64) *urdf.Inertial {
		return &urdf.Inertial{Mass: mass, I: urdf.InertiaTensor{XX: 1, YY: 1, ZZ: 1}}
	}
	far := urdf.Origin{XYZ: spatial.Vec3{X: 1e308}}
	for name, doc := range map[string]*urdf.Document{
		"mass of the robot":      {Links: []urdf.Link{{Name: "a", Inertial: heavy(1e308)}, {Name: "b", Inertial: heavy(1e308)}}, Joints: []urdf.Joint{revolute("j", "a", "b")}},
		"moment of the far away": {Links: []urdf.Link{{Name: "a", Inertial: heavy(1)}, {Name: "b", Inertial: heavy(1)}}, Joints: []urdf.Joint{{Name: "j", Parent: "a", Child: "b", Origin: far}}},
		"length": {Links: []urdf.Link{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Joints: []urdf.Joint{
			{Name: "j", Parent: "a", Child: "b", Origin: far}, {Name: "k", Parent: "b", Child: "c", Origin: far}}},
	} {
		_, _, err := robot.Build(doc, robot.Options{})
		if !errors.Is(err, robot.NotFinite) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMissingMeshIsAWarningOnce(t *testing.T) {
	const text = `<robot name="m"><link name="a">
<visual><geometry><mesh filename="here.stl"/></geometry></visual>
<visual><geometry><mesh filename="gone.stl"/></geometry></visual>
<collision><geometry><mesh filename="gone.stl"/></geometry></collision></link></robot>`
	_, warnings, err := robot.Build(parse(t, text), robot.Options{MeshExists: func(name string) bool { return name == "here.stl" }})
	var missing []string
	for _, w := range warnings {
		if w.Code == robot.MissingMesh {
			missing = append(missing, w.Error())
		}
	}
	if err != nil || len(missing) != 1 || missing[0] != `dog.urdf:3: link "a": mesh "gone.stl" is missing` {
		t.Errorf("error %v, warnings %v", err, missing)
	}
}

func TestMovingWithoutMassIsAWarning(t *testing.T) {
	m, warnings, err := robot.Build(parse(t, dogURDF), robot.Options{})
	if err != nil || m.Mass() != 4 {
		t.Fatal(m, err)
	}
	if !slices.ContainsFunc(warnings, func(p *problem.Problem) bool {
		return p.Code == robot.ZeroMass && strings.Contains(p.Error(), `dog.urdf:3: link "l_shin": moves, but neither it nor what is welded to it has a mass`)
	}) {
		t.Errorf("warnings %v", warnings)
	}
}
