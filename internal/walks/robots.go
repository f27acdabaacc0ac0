package walks

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/robot/load"
	"poise/robot/setup"
)

func loaded(t testing.TB, name string) *load.Loaded {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot
}

// SetUp gives a bare URDF its limbs and contacts as `poise new-robot` does, with limits that are proposed or without.
func SetUp(t testing.TB, name string, urdf []byte, limits bool) *load.Loaded {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, name+".urdf")
	if err := os.WriteFile(file, urdf, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := setup.Open(loaded(t, file))
	if err != nil {
		t.Fatal(err)
	}
	p := *s.Proposal
	p.Limits = limits
	if err := s.Choose(&p); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(); err != nil {
		t.Fatal(err)
	}
	return loaded(t, folder)
}

// Hexapod is a robot with six legs of three joints, 3 kg.
func Hexapod(t testing.TB) *load.Loaded {
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
	return loaded(t, folder)
}
