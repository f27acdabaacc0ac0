package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

// hinge is a table on a stiff post, and an arm that folds down onto it.
const hinge = `<robot name="hinge">
	<link name="table">` + `<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>` + `<collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.1 0.02"/></geometry></collision></link>
	<link name="arm"><inertial><origin xyz="0.15 0 0"/><mass value="0.5"/><inertia ixx="1e-3" iyy="4e-3" izz="4e-3" ixy="0" ixz="0" iyz="0"/></inertial>
		<collision><origin xyz="0.15 0 0"/><geometry><box size="0.3 0.06 0.02"/></geometry></collision></link>
	<link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
	<joint name="post" type="revolute"><parent link="base"/><child link="table"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1000" velocity="10"/></joint>
	<joint name="fold" type="revolute"><parent link="table"/><child link="arm"/><origin xyz="0 0 0.1"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="10"/></joint>
</robot>`

// TestLinksTouchWhereAsked: a link that falls on another of its own robot goes through it,
// unless the pair is asked for, and not if the pair is kept apart as well.
func TestLinksTouchWhereAsked(t *testing.T) {
	m := build(t, hinge, robot.BaseFixed)
	table, _ := m.Frame("table")
	arm, _ := m.Frame("arm")
	pairs := [][2]robot.FrameID{{arm, table}}
	for name, c := range map[string]struct {
		config  Config
		touches bool
	}{
		"nothing asked": {Config{}, false},
		"asked":         {Config{Touch: pairs}, true},
		"kept apart":    {Config{Touch: pairs, Apart: [][2]robot.FrameID{{table, arm}}}, false},
	} {
		c.config.Passive = []Passive{{}, {Damping: 0.5}}
		w := simulate(t, m, c.config)
		w.in.Ground, w.in.Drives[0] = nil, Drive{Kp: 1e4, Kd: 100}
		w.run(4)
		// the arm's lower edge meets the table's upper face, 0.09 m below the hinge, at its far end
		meets := math.Abs(w.s.Q[1]-math.Asin(0.08/0.3)) < 0.03
		through := w.s.Q[1] > 1
		if c.touches && !meets || !c.touches && !through {
			t.Errorf("%s: the arm is at %g rad", name, w.s.Q[1])
		}
		if n := len(w.d.ContactsTo(nil)); c.touches != (n > 0) {
			t.Errorf("%s: %d contacts", name, n)
		}
	}
}

// TestVirtualJointsAreWelded: they are where their target is, whatever pulls, and nothing of
// the motion goes through them.
func TestVirtualJointsAreWelded(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := simulate(t, bot.Model, Config{})
	id, _ := bot.Model.Joint("joint16")
	j := &bot.Model.Joints()[id]
	if !j.Virtual {
		t.Fatal("joint16 is not virtual")
	}
	w.s.Q[2] = 0.4
	w.in.Drives[id].Position = 0.25
	body := bot.Model.Bodies()[j.Body]
	w.in.Pushes = []Push{{Body: j.Body, Point: spatial.Vec3{X: 0.02}, Force: spatial.Vec3{Y: 3}}}
	for range 300 {
		w.run(w.m.h)
		if w.s.Q[j.Q] != 0.25 || w.s.V[j.V] != 0 {
			t.Fatalf("the weld of %s is at %g, moving at %g", body.Name, w.s.Q[j.Q], w.s.V[j.V])
		}
	}
	w.in.Drives[id].Position = -0.1
	if w.run(w.m.h); w.s.Q[j.Q] != -0.1 {
		t.Errorf("the weld is at %g, told -0.1", w.s.Q[j.Q])
	}
}

// TestMeshTouchesByItsHull: a mesh of a cube lies, tips and slides as the box does; corners
// inside it do not count.
func TestMeshTouchesByItsHull(t *testing.T) {
	shape := func(geometry string) *robot.Model {
		return build(t, `<robot name="cube"><link name="cube">`+inertial(1, 0.01/6, 0.01/6, 0.01/6)+`<collision><geometry>`+geometry+`</geometry></collision></link></robot>`, robot.BaseFloating)
	}
	corners := func(string) (all []spatial.Vec3) {
		for i := range 8 {
			at := func(bit int) float64 { return 0.05*float64(i>>bit&1)*2 - 0.05 }
			all = append(all, spatial.Vec3{X: at(0), Y: at(1), Z: at(2)}, spatial.Vec3{X: at(0) / 3, Y: at(1) / 2, Z: at(2) / 4})
		}
		return all
	}
	run := func(m *robot.Model, c Config) *world {
		w := simulate(t, m, c)
		w.s.Q[2] = 0.12
		q := spatial.ExpRotation(spatial.Vec3{X: 0.3, Y: 0.2})
		w.s.Q[3], w.s.Q[4], w.s.Q[5], w.s.Q[6] = q.X, q.Y, q.Z, q.W
		w.s.V[0] = 0.5
		w.run(3)
		return w
	}
	box := run(shape(`<box size="0.1 0.1 0.1"/>`), Config{})
	mesh := run(shape(`<mesh filename="cube.stl"/>`), Config{Mesh: corners})
	if math.Abs(mesh.s.Q[2]-0.05) > 1e-4 || len(mesh.d.ContactsTo(nil)) != 4 {
		t.Errorf("the mesh lies at %g m on %d points", mesh.s.Q[2], len(mesh.d.ContactsTo(nil)))
	}
	for i := range 2 {
		if math.Abs(mesh.s.Q[i]-box.s.Q[i]) > 0.01 {
			t.Errorf("the mesh came to %v, the box to %v", mesh.s.Q[:3], box.s.Q[:3])
		}
	}
	if _, err := NewModel(shape(`<mesh filename="cube.stl"/>`), Config{Mesh: func(string) []spatial.Vec3 { return nil }}); err == nil || !strings.Contains(err.Error(), "(cube.stl cannot)") {
		t.Errorf("a floating robot whose mesh cannot be read: %v", err)
	}
}

// turntable is a joint about a vertical axis: nothing pulls at it.
func turntable(t *testing.T, p Passive) *world {
	t.Helper()
	w := simulate(t, build(t, `<robot name="table"><link name="a">`+inertial(1, 1, 1, 1)+`</link><link name="b">`+inertial(1, 0.01, 0.01, 0.01)+`</link>
		<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-30" upper="30" effort="10" velocity="100"/></joint></robot>`, robot.BaseFixed), Config{Passive: []Passive{p}})
	w.in.Ground = nil
	return w
}

// TestBacklashIsPlay: within the play the motor does nothing, beyond it it pulls back to its
// edge.
func TestBacklashIsPlay(t *testing.T) {
	for _, c := range []struct{ from, to float64 }{{0.015, 0.015}, {-0.019, -0.019}, {0.1, 0.02}, {-0.3, -0.02}} {
		w := turntable(t, Passive{Damping: 5})
		w.in.Drives[0] = Drive{Kp: 20, Limit: 5, Slack: 0.04}
		w.s.Q[0] = c.from
		w.run(3)
		if math.Abs(w.s.Q[0]-c.to) > 1e-3 {
			t.Errorf("from %g it comes to %g, want %g", c.from, w.s.Q[0], c.to)
		}
		if math.Abs(w.d.Torque(0)) > 1e-2 {
			t.Errorf("at %g the motor gives %g N·m", w.s.Q[0], w.d.Torque(0))
		}
	}
}

// TestStribeckBreaksAway: more torque is needed to start than to go on, and at speed the
// joint is held back by Coulomb's friction alone.
func TestStribeckBreaksAway(t *testing.T) {
	p := Passive{Friction: 0.1, Stribeck: 0.1, Speed: 0.05}
	w := turntable(t, p)
	w.in.Drives[0] = Drive{Effort: 0.19}
	if w.run(1); math.Abs(w.s.V[0]) > 1e-9 || math.Abs(w.s.Q[0]) > 1e-9 {
		t.Errorf("0.19 N·m moves it: %g rad, %g rad/s", w.s.Q[0], w.s.V[0])
	}
	w.in.Drives[0].Effort = 0.21
	if w.run(1); w.s.V[0] < 1 {
		t.Errorf("0.21 N·m does not: %g rad/s", w.s.V[0])
	}
	w.in.Drives[0].Effort = 0.15 // less than it took to start
	before := w.s.V[0]
	w.run(0.5)
	if want := before + (0.15-0.1)/0.01*0.5; math.Abs(w.s.V[0]/want-1) > 0.01 {
		t.Errorf("it goes on at %g rad/s, want %g", w.s.V[0], want)
	}
}

// TestHeavyOnLight: a heavy box on a light one, up to masses of 1 : 1,000,000, neither sinks
// nor throws it.
func TestHeavyOnLight(t *testing.T) {
	for _, ratio := range []float64{10, 100, 1000, 1e4, 1e6} {
		t.Run(fmt.Sprint(ratio), func(t *testing.T) {
			w := simulate(t, build(t, stack(2, func(i int) float64 { return []float64{0.1, 0.1 * ratio}[i] }), robot.BaseFixed), Config{})
			for i := range 2 {
				w.s.Q[7*i+2], w.s.Q[7*i+6] = 0.025+0.05*float64(i), 1
			}
			w.run(5)
			for i := range 2 {
				q := w.s.Q[7*i : 7*i+7]
				if want := 0.025 + 0.05*float64(i); math.Abs(q[2]-want) > 1e-3 || math.Hypot(q[0], q[1]) > 1e-3 {
					t.Errorf("box %d is at %v, want height %g", i, q[:3], want)
				}
			}
			weight := 0.0
			for _, c := range w.d.ContactsTo(nil) {
				if c.Other == robot.NoFrame {
					weight += c.Force.Z
				}
			}
			if want := 0.1 * (1 + ratio) * g; math.Abs(weight/want-1) > 0.01 {
				t.Errorf("the ground carries %g N of %g N", weight, want)
			}
		})
	}
}

// TestTower: five boxes, each ten times as heavy as the one below, stand.
func TestTower(t *testing.T) {
	const n = 5
	w := simulate(t, build(t, stack(n, func(i int) float64 { return 0.01 * math.Pow(10, float64(i)) }), robot.BaseFixed), Config{})
	for i := range n {
		w.s.Q[7*i], w.s.Q[7*i+2], w.s.Q[7*i+6] = 0.004*float64(i%2), 0.025+0.05*float64(i), 1
	}
	w.run(10)
	for i := range n {
		q := w.s.Q[7*i : 7*i+7]
		if want := 0.025 + 0.05*float64(i); math.Abs(q[2]-want) > 1e-3 || math.Hypot(q[0]-0.004*float64(i%2), q[1]) > 1e-3 {
			t.Errorf("box %d is at %v, want height %g", i, q[:3], want)
		}
	}
}
