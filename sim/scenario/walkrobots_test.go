package scenario

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/internal/golden"
	"poise/robot/load"
	"poise/robot/setup"
)

// setUp gives a bare URDF its limbs and contacts as `poise new-robot --no-limits` does; more is added to robot.yaml.
func setUp(t *testing.T, name string, urdf []byte, more string) Robot {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, name+".urdf")
	if err := os.WriteFile(file, urdf, 0o644); err != nil {
		t.Fatal(err)
	}
	bot, err := load.Robot(file, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := setup.Open(bot)
	if err != nil {
		t.Fatal(err)
	}
	p := *s.Proposal
	p.Limits = false
	if err := s.Choose(&p); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(); err != nil {
		t.Fatal(err)
	}
	about := filepath.Join(folder, setup.File)
	text, err := os.ReadFile(about)
	if err == nil {
		err = os.WriteFile(about, append(text, more...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return loaded(t, folder, load.Options{})
}

// hexapod is a robot with six legs of three joints, 3 kg.
func hexapod(t *testing.T) Robot {
	t.Helper()
	var b, chains, groups, stand strings.Builder
	link := func(name string, mass, x, y, z float64, shape string) {
		i := mass * 0.001
		fmt.Fprintf(&b, `<link name=%q><inertial><origin xyz="%g %g %g"/><mass value="%g"/><inertia ixx="%g" iyy="%g" izz="%g" ixy="0" ixz="0" iyz="0"/></inertial>%s</link>`, name, x, y, z, mass, i, i, i, shape)
	}
	joint := func(name, parent, child string, x, y, z, yaw float64, axis string, low, high float64) {
		fmt.Fprintf(&b, `<joint name=%q type="revolute"><parent link=%q/><child link=%q/><origin xyz="%g %g %g" rpy="0 0 %g"/><axis xyz=%q/><limit lower="%g" upper="%g" effort="8" velocity="12"/></joint>`,
			name, parent, child, x, y, z, yaw, axis, low, high)
	}
	b.WriteString(`<robot name="hexapod">`)
	link("trunk", 1.8, 0, 0, 0, `<collision><geometry><box size="0.28 0.12 0.05"/></geometry></collision>`)
	for i, n := range []string{"front_left", "middle_left", "rear_left", "rear_right", "middle_right", "front_right"} {
		sign, k := 1.0, i
		if i > 2 {
			sign, k = -1, 5-i
		}
		fmt.Fprintf(&chains, "  %s: {base: trunk, tip: %s_foot, contact: ball}\n", n, n)
		fmt.Fprintf(&groups, "  %s: {chains: [%s]}\n", n, n)
		fmt.Fprintf(&stand, "    %s_yaw: 0\n    %s_lift: 0.4\n    %s_knee: -1.7\n", n, n, n)
		joint(n+"_yaw", "trunk", n+"_hip", 0.12*float64(1-k), sign*0.07, 0, sign*math.Pi/2, "0 0 1", -0.9, 0.9)
		link(n+"_hip", 0.05, 0.02, 0, 0, "")
		joint(n+"_lift", n+"_hip", n+"_thigh", 0.04, 0, 0, 0, "0 -1 0", -0.6, 1.6)
		link(n+"_thigh", 0.08, 0.05, 0, 0, "")
		joint(n+"_knee", n+"_thigh", n+"_shin", 0.1, 0, 0, 0, "0 -1 0", -2.4, -0.8)
		link(n+"_shin", 0.06, 0.06, 0, 0, "")
		fmt.Fprintf(&b, `<joint name="%s_ankle" type="fixed"><parent link="%s_shin"/><child link="%s_foot"/><origin xyz="0.13 0 0"/></joint>`, n, n, n)
		link(n+"_foot", 0.01, 0, 0, 0, `<collision><geometry><sphere radius="0.01"/></geometry></collision>`)
	}
	b.WriteString(`</robot>`)
	folder := filepath.Join(t.TempDir(), "hexapod")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"hexapod.urdf": b.String(),
		"robot.yaml": "base: floating\ncontacts: {ball: {points: [[0, 0, -0.01]]}}\nchains:\n" + chains.String() + "groups:\n" + groups.String() + "poses:\n  stand:\n" + stand.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return loaded(t, folder, load.Options{})
}

// other is a robot that walks by the same code as the pony, on legs of three joints that end in balls.
func other(t *testing.T, bot Robot, gait string, command, seconds, last float64) made {
	t.Helper()
	p := prepare(t, bot, fmt.Sprintf("duration: %g\nperiod: 0.01\ncontrol: {cycle: 1}\ndo: [{at: 0.2, velocity: {x: %g}, gait: %s}]\nexpect: [{what: zmp_margin, of: p99, min: -1, from: 1}]\n", seconds, command, gait))
	r, err := p.Run(1, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Notes {
		t.Error(n)
	}
	m := figures(r, last)
	t.Logf("%s, %g m/s commanded: %v", gait, command, m)
	if m.fallen {
		t.Errorf("%s: it fell", gait)
	}
	return m
}

// TestOtherRobotsWalk: go2 from its bare URDF, its contacts set up by Poise, and a generated robot with six legs walk by the
// same code, in physics; the whole ways in `make soak`.
func TestOtherRobotsWalk(t *testing.T) {
	if m := other(t, setUp(t, "go2", golden.Read(t, "robots/go2/go2.urdf"), ""), "trot", 0.5, 8, 4); m.speed < 0.3 {
		t.Errorf("go2 makes %g m/s", m.speed)
	}
	if m := other(t, hexapod(t), "trot", 0.1, 8, 4); m.speed < 0.06 {
		t.Errorf("the hexapod makes %g m/s", m.speed)
	}
}

// TestSoakOtherRobots: 5 m of go2 at 0.3 m/s, 2 m of the hexapod.
func TestSoakOtherRobots(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK")
	}
	if m := other(t, setUp(t, "go2", golden.Read(t, "robots/go2/go2.urdf"), ""), "trot", 0.5, 22, 10); m.speed < 0.3 || m.way < 5 {
		t.Errorf("go2: %v", m)
	}
	if m := other(t, hexapod(t), "trot", 0.1, 30, 10); m.way < 2 {
		t.Errorf("the hexapod: %v", m)
	}
}

// TestG1StepsInPlace: a robot with two legs, from its bare URDF with its contacts set up by Poise, shifts its weight and takes
// ten steps in place in physics: its feet leave the ground and come down.
func TestG1StepsInPlace(t *testing.T) {
	p := prepare(t, setUp(t, "g1", golden.Read(t, "robots/g1/g1.urdf"), ""), "duration: 9\nperiod: 0.01\ncontrol: {cycle: 1}\ndo: [{at: 0.2, velocity: {}, gait: in_place}]\n")
	const aloft = 5 // frames of 10 ms
	air, steps := map[string]int{}, 0
	r, err := p.Run(1, Watch{Frame: func(f *Frame) {
		for _, foot := range []string{"left_ankle_roll_link", "right_ankle_roll_link"} {
			touches := false
			for _, c := range f.Contacts {
				touches = touches || c.Link == foot
			}
			if touches && air[foot] >= aloft {
				steps++
			}
			if air[foot]++; touches {
				air[foot] = 0
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Notes {
		t.Error(n)
	}
	t.Logf("%d steps, tilt %.1f°", steps, r.Figures["tilt"].Greatest*180/math.Pi)
	if r.Fallen || steps < 10 {
		t.Errorf("fallen %v, %d steps", r.Fallen, steps)
	}
}
