package load_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/internal/golden"
	"poise/robot"
	"poise/robot/load"
)

// TestRealRobotsLoad reads every robot folder and every single URDF of the
// reference data.
func TestRealRobotsLoad(t *testing.T) {
	root := golden.Path(t, "robots")
	urdfs, err := filepath.Glob(filepath.Join(root, "*", "*.urdf"))
	if err != nil || len(urdfs) < 14 {
		t.Fatalf("%d robots, error %v", len(urdfs), err)
	}
	for _, file := range urdfs {
		dir := filepath.Dir(file)
		for _, name := range []string{file, dir} {
			for _, base := range []robot.Base{robot.BaseFixed, robot.BaseFloating} {
				bot, err := load.Robot(name, load.Options{Base: base})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if _, err := bot.Model.Resources(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if filepath.Base(dir) == "anymal_c" && !slices.ContainsFunc(bot.Warnings, func(w string) bool { return strings.Contains(w, "principal moment") }) {
					t.Errorf("%s: warnings %v, want some of the inertias", name, bot.Warnings)
				}
			}
		}
	}
}

// TestOrderAndMassAgreeWithPinocchio compares what Pinocchio made of the same
// files.
func TestOrderAndMassAgreeWithPinocchio(t *testing.T) {
	for _, name := range []string{"atlas", "go2", "panda", "panda_inertial", "prbt", "prbt_pg70", "ur5e"} {
		t.Run(name, func(t *testing.T) {
			var want struct {
				URDF       string   `json:"urdf"`
				Floating   bool     `json:"floating"`
				NumQ       int      `json:"nq"`
				NumV       int      `json:"nv"`
				Mass       float64  `json:"mass_total"`
				Moving     float64  `json:"mass_moving"`
				JointNames []string `json:"joint_names"`
				JointTypes []string `json:"joint_types"`
				Mimic      []struct {
					Joint, Leader      string
					Multiplier, Offset float64
				} `json:"mimic"`
			}
			if err := json.Unmarshal(golden.Read(t, "golden/dynamics/"+name+".json"), &want); err != nil {
				t.Fatal(err)
			}
			opts := load.Options{Base: robot.BaseFixed}
			if want.Floating {
				opts.Base = robot.BaseFloating
			}
			bot, err := load.Robot(filepath.Join(filepath.Dir(golden.Path(t, "golden/dynamics/"+name+".json")), filepath.FromSlash(want.URDF)), opts)
			if err != nil {
				t.Fatal(err)
			}
			m := bot.Model
			var names, types []string
			for _, j := range m.Joints() {
				names = append(names, j.Name)
				types = append(types, j.Kind.String())
			}
			if !slices.Equal(names, want.JointNames) || !slices.Equal(types, want.JointTypes) {
				t.Errorf("joints %v %v, want %v %v", names, types, want.JointNames, want.JointTypes)
			}
			if m.NumQ() != want.NumQ || m.NumV() != want.NumV {
				t.Errorf("nq %d, nv %d, want %d, %d", m.NumQ(), m.NumV(), want.NumQ, want.NumV)
			}
			moving := 0.0
			for _, b := range m.Bodies()[1:] {
				moving += b.Inertia.Mass
			}
			// sums of some dozens of masses, in another order
			approx.Equal(t, "mass and moving mass", []float64{m.Mass(), moving}, []float64{want.Mass, want.Moving}, approx.Tol{Rel: 1e-14})
			followers := 0
			for _, b := range m.Bodies() {
				if !b.Mimic {
					continue
				}
				w := want.Mimic[followers]
				followers++
				if b.Name != w.Joint || m.Joints()[b.Joint].Name != w.Leader || b.Ratio != w.Multiplier || b.Offset != w.Offset {
					t.Errorf("follower %+v, want %+v", b, w)
				}
			}
			if followers != len(want.Mimic) {
				t.Errorf("%d followers, want %d", followers, len(want.Mimic))
			}
		})
	}
}

// TestGripperLimitsNeedAnOverride: the file of the gripper allows twice the
// speed that the URDF does. MoveIt takes it silently.
func TestGripperLimitsNeedAnOverride(t *testing.T) {
	urdf := golden.Path(t, "robots/prbt/prbt_pg70.urdf")
	limits := golden.Path(t, "robots/prbt/joint_limits_pg70.yaml")
	_, err := load.Robot(urdf, load.Options{Limits: limits})
	if err == nil {
		t.Fatal("a looser limit was taken")
	}
	for _, want := range []string{"prbt_gripper_finger_left_joint", "velocity limit 0.082", "looser than 0.041", "joint_limits_pg70.yaml:5", "prbt_pg70.urdf:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	bot, err := load.Robot(urdf, load.Options{Limits: limits, OverrideLimits: true})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := bot.Model.Joint("prbt_gripper_finger_left_joint")
	if l := bot.Model.Joints()[id].Limits; l.Velocity.Value != 0.082 || l.Acceleration.Value != 0.328 {
		t.Errorf("limits %+v", l)
	}
	// one file for two variants: the arm alone does not know the gripper
	bot, err = load.Robot(golden.Path(t, "robots/prbt/prbt.urdf"), load.Options{Limits: limits})
	if err != nil || !slices.ContainsFunc(bot.Warnings, func(w string) bool { return strings.Contains(w, "does not have") }) {
		t.Errorf("error %v, warnings %v", err, bot)
	}
}

func TestLimitsOfPanda(t *testing.T) {
	dir := golden.Path(t, "robots/panda")
	bot, err := load.Robot(dir, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := bot.Model.Joint("panda_joint2")
	l := bot.Model.Joints()[id].Limits
	yaml, _ := os.ReadFile(filepath.Join(dir, "joint_limits.yaml"))
	for _, want := range []struct {
		limit robot.Limit
		value float64
		file  string
	}{
		{l.Lower, -1.8326, "panda.urdf"}, {l.Effort, 87, "panda.urdf"},
		{l.Velocity, 2.175, "joint_limits.yaml"}, {l.Acceleration, 1.875, "joint_limits.yaml"}, {l.Jerk, 300, "joint_limits.yaml"},
	} {
		if want.limit.Value != want.value || !strings.Contains(want.limit.Source, want.file+":") {
			t.Errorf("limit %+v, want %g of %s", want.limit, want.value, want.file)
		}
	}
	if l.Deceleration.Has {
		t.Errorf("deceleration %+v was invented", l.Deceleration)
	}
	if !strings.HasSuffix(l.Acceleration.Source, lineOf(string(yaml), "max_acceleration: 1.875")) {
		t.Errorf("acceleration comes from %s", l.Acceleration.Source)
	}
	if c := bot.Model.CartesianLimits(); c == nil || c.MaxTransDec.Value != -5 || c.MaxRotVel.Value != 1.57 {
		t.Errorf("Cartesian limits %+v", c)
	}
}

// lineOf returns ":12" for the line that has a text.
func lineOf(text, part string) string {
	n := strings.Count(text[:strings.Index(text, part)], "\n") + 1
	b, _ := json.Marshal(n)
	return ":" + string(b)
}
