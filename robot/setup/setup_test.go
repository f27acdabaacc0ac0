package setup_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"poise/contact"
	"poise/internal/golden"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/robot"
	"poise/robot/description"
	"poise/robot/load"
	"poise/robot/setup"
	"poise/robot/shipped"
)

// bare copies a URDF alone into a folder of another name.
func bare(t *testing.T, data []byte, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// tried reads a robot and proposes how it is used.
func tried(robot string) (*setup.Setup, error) {
	bot, err := load.Robot(robot, load.Options{})
	if err != nil {
		return nil, err
	}
	return setup.Open(bot)
}

func open(t *testing.T, file string) *setup.Setup {
	t.Helper()
	s, err := tried(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read loads a robot that was set up, by its file and by its folder.
func read(t *testing.T, file string) *robot.Model {
	t.Helper()
	byFolder, err := load.Robot(filepath.Dir(file), load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	byFile, err := load.Robot(file, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(byFile.Model.GroupNames(), byFolder.Model.GroupNames()) {
		t.Errorf("%s has groups %v, its folder %v", file, byFile.Model.GroupNames(), byFolder.Model.GroupNames())
	}
	return byFile.Model
}

func names(limbs []setup.Limb) (all []string) {
	for _, l := range limbs {
		all = append(all, l.Name)
	}
	return all
}

// TestEveryRobotIsSetUp: bare URDFs of others, what is proposed for each, and that it loads.
func TestEveryRobotIsSetUp(t *testing.T) {
	legs := "front_left_leg rear_left_leg rear_right_leg front_right_leg"
	for name, want := range map[string]struct {
		limbs, base string
		feet        int // points of each
		mirrored    int // entries of the mirror table
		tip         string
	}{
		"anymal_c":       {legs, "floating", 1, 6, "LF_FOOT"},
		"atlas":          {"left_leg right_leg torso left_arm head right_arm", "floating", 4, 17, "l_foot"},
		"fanuc":          {"arm", "fixed", 0, 0, "tool0"},
		"g1":             {"left_leg right_leg torso left_arm right_arm", "floating", 4, 16, "left_ankle_roll_link"},
		"gen3_2f85":      {"arm gripper", "fixed", 0, 0, "tool_frame"},
		"go2":            {legs, "floating", 1, 6, "FL_foot"},
		"iiwa14":         {"arm", "fixed", 0, 0, "iiwa_link_ee_kuka"},
		"panda":          {"arm gripper", "fixed", 0, 0, "panda_hand"},
		"panda_inertial": {"arm gripper", "fixed", 0, 0, "panda_hand"},
		"pr2":            {"torso head left_arm left_gripper right_arm right_gripper", "fixed", 0, 14, "torso_lift_link"},
		"prbt":           {"arm", "fixed", 0, 0, "prbt_tool0"},
		"ur5e":           {"arm", "fixed", 0, 0, "tool0"},
	} {
		t.Run(name, func(t *testing.T) {
			file := bare(t, golden.Read(t, "robots/"+name+"/"+name+".urdf"), name+".urdf")
			s := open(t, file)
			p := s.Proposal
			if got := strings.Join(names(p.Limbs), " "); got != want.limbs || p.Base != want.base || len(p.Mirror) != want.mirrored {
				t.Errorf("limbs %s, base %s, %d mirrored", got, p.Base, len(p.Mirror))
			}
			if l := p.Limbs[0]; l.Tip != want.tip || len(l.Points) != want.feet {
				t.Errorf("the first limb ends at %s and stands on %v", l.Tip, l.Points)
			}
			if _, err := s.Write(); err != nil {
				t.Fatal(err)
			}
			m := read(t, file)
			joints := 0
			for _, g := range m.Groups() {
				joints += len(g.Joints)
			}
			if joints != len(m.Joints()) || len(m.Groups()) != len(p.Limbs) || len(m.PoseNames()) != 1 {
				t.Errorf("%d joints of %d are in %d groups; poses %v", joints, len(m.Joints()), len(m.Groups()), m.PoseNames())
			}
			for _, j := range m.Joints() {
				if !j.Limits.Acceleration.Has {
					t.Errorf("joint %q has no acceleration limit", j.Name)
				}
			}
			if c := m.CartesianLimits(); c == nil || !(c.MaxTransVel.Value <= 0.25) {
				t.Errorf("Cartesian limits %+v", c)
			}
			if limits, err := os.ReadFile(filepath.Join(s.Folder, setup.LimitsFile)); err != nil || !bytes.Contains(limits, []byte("PROPOSED: full speed in 0.")) || bytes.Contains(limits, []byte(s.Folder)) {
				t.Errorf("limits are not explained: %v\n%.400s", err, limits)
			}
		})
	}
}

// TestFoldersWithSemantics: beside an SRDF and limit files, groups are theirs.
func TestFoldersWithSemantics(t *testing.T) {
	for name, file := range map[string]string{"panda": "panda.urdf", "fanuc": "fanuc.urdf", "prbt": "prbt_pg70.urdf"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.CopyFS(dir, os.DirFS(golden.Path(t, "robots/"+name))); err != nil {
			t.Fatal(err)
		}
		limits, err := os.ReadFile(filepath.Join(dir, setup.LimitsFile))
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, filepath.Join(dir, file))
		if written, err := s.Write(); err != nil || !slices.Equal(written, []string{setup.File}) {
			t.Fatalf("%s: wrote %v: %v", name, written, err)
		}
		read(t, filepath.Join(dir, file))
		if now, _ := os.ReadFile(filepath.Join(dir, setup.LimitsFile)); !bytes.Equal(now, limits) {
			t.Errorf("%s: the limit file was changed", name)
		}
		if slices.Contains(s.Added, "groups") || !slices.Contains(s.Added, "chains") {
			t.Errorf("%s: added %v", name, s.Added)
		}
	}
}

// TestThePonyIsFoundFromItsURDF compares with what people wrote about the pony: its legs,
// whose names say nothing, and its mirror table.
func TestThePonyIsFoundFromItsURDF(t *testing.T) {
	urdf, err := shipped.FS.ReadFile("pony/pony.urdf")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, bare(t, urdf, "p.urdf"))
	known, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Proposal.Base != "floating" {
		t.Errorf("base %s: %s", s.Proposal.Base, s.Proposal.Why)
	}
	legs := 0
	for _, l := range s.Proposal.Limbs {
		if l.Kind == "leg" {
			legs++
		}
	}
	if legs != 4 {
		t.Errorf("%d legs: %v", legs, names(s.Proposal.Limbs))
	}
	m := known.Model
	if len(s.Proposal.Mirror) == 0 {
		t.Fatalf("no mirror table: %v", s.Proposal.Notes)
	}
	for _, pair := range s.Proposal.Mirror {
		left, _ := m.Joint(pair.Left)
		image := m.Mirror()[left]
		if got := m.Joints()[image.Of].Name; got != pair.Right || image.Sign != float64(pair.Sign) {
			t.Errorf("%s: proposed %s %+d, the pony's is %s %+g", pair.Left, pair.Right, pair.Sign, got, image.Sign)
		}
	}
}

// TestWhatIsThereIsKept: comments, order and odd spacing stay as they are; a second time
// nothing is added.
func TestWhatIsThereIsKept(t *testing.T) {
	urdf := golden.Read(t, "robots/go2/go2.urdf")
	for _, before := range []string{
		"", "# only a comment, without an end of line", "name:   dog # mine\n\n\n", "urdf: 'dog.urdf'\nbase: fixed",
		"contacts: {pad: {points: [[0, 0, 0]]}}\n", "chains:\n  nose: {base: base, tip: FL_foot}\n",
		"groups:\n    front: {joints: [FL_hip_joint]}\n", "poses: {up: {FL_hip_joint: 0.1}}\nmirror: []\n", "---\nname: dog\n",
		"name: dog\r\nbase: fixed\r\n", "name: dog\ndescription: |\n  two\n  lines", "# ä\nname: \"d\\\"og\" # ö\n \n",
	} {
		file := bare(t, urdf, "dog.urdf")
		about := filepath.Join(filepath.Dir(file), setup.File)
		if err := os.WriteFile(about, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, file)
		if _, err := s.Write(); err != nil {
			t.Fatalf("%q: %v", before, err)
		}
		after, err := os.ReadFile(about)
		if err != nil || !bytes.HasPrefix(after, []byte(before)) || len(after) == len(before) {
			t.Errorf("%q became\n%s", before, after)
		}
		if info, _ := os.Stat(about); info.Mode().Perm() != 0o600 {
			t.Errorf("permissions became %v", info.Mode())
		}
		read(t, file)
		again := open(t, file)
		if written, err := again.Write(); err != nil || len(written) > 0 {
			t.Errorf("%q: a second time it wrote %v (%v): %v", before, written, again.Added, err)
		}
	}
}

// TestChoicesAreWritten: names and choices of a person, and choices that cannot be.
func TestChoicesAreWritten(t *testing.T) {
	file := bare(t, golden.Read(t, "robots/go2/go2.urdf"), "go2.urdf")
	s := open(t, file)
	p := s.Proposal
	p.Name, p.Base, p.Limits, p.Mirror = "Rex: the #1", "fixed", false, nil
	p.Limbs[0].Name, p.Limbs[0].Points = "paw \"one\"", nil
	p.Poses[0].Name = "begin\nhere"
	p.Why = "because\nI say so"
	if err := s.Choose(p); err != nil {
		t.Fatal(err)
	}
	if written, err := s.Write(); err != nil || !slices.Equal(written, []string{setup.File}) {
		t.Fatalf("wrote %v: %v", written, err)
	}
	m := read(t, file)
	if _, ok := m.Group("paw \"one\""); !ok || m.Name() != p.Name || m.Floating() || m.PoseNames()[0] != "begin\nhere" {
		t.Errorf("read back: %q, groups %v, poses %q", m.Name(), m.GroupNames(), m.PoseNames())
	}
	for what, change := range map[string]func(p *setup.Proposal){
		`comes twice`:                        func(p *setup.Proposal) { p.Limbs[1].Name = p.Limbs[0].Name },
		`link "nowhere" does not exist`:      func(p *setup.Proposal) { p.Limbs[0].Tip = "nowhere" },
		`is neither fixed nor floating`:      func(p *setup.Proposal) { p.Base = "flying" },
		`joint "FL_hip_joint" at 9`:          func(p *setup.Proposal) { p.Poses[0].Q[0] = 9 },
		`12 joints and 1 positions`:          func(p *setup.Proposal) { p.Poses[0].Q = p.Poses[0].Q[:1] },
		`NaN is not finite`:                  func(p *setup.Proposal) { p.Limbs[0].Points[0][2] = math.NaN() },
		`sign must be 1 or -1`:               func(p *setup.Proposal) { p.Mirror[0].Sign = 2 },
		`"../../.." is neither in the robot`: func(p *setup.Proposal) { p.Packages = []string{"../../.."} },
	} {
		other := open(t, bare(t, golden.Read(t, "robots/go2/go2.urdf"), "go2.urdf"))
		change(other.Proposal)
		if err := other.Choose(other.Proposal); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestMirrorsAreTrue: the joints of every robot that has a table are, at random and mirrored
// positions, each other's mirror image.
func TestMirrorsAreTrue(t *testing.T) {
	for _, name := range []string{"anymal_c", "atlas", "g1", "go2", "pr2"} {
		file := bare(t, golden.Read(t, "robots/"+name+"/"+name+".urdf"), name+".urdf")
		if _, err := open(t, file).Write(); err != nil {
			t.Fatal(err)
		}
		bot, err := load.Robot(file, load.Options{Base: robot.BaseFixed})
		if err != nil {
			t.Fatal(err)
		}
		m := bot.Model
		rng := randbot.New(1)
		q, image := make([]float64, m.NumQ()), make([]float64, m.NumQ())
		for i, j := range m.Joints() {
			mirrored := m.Mirror()[i]
			if int(mirrored.Of) < i {
				continue // with the other
			}
			q[j.Q] = rng.Float64() - 0.5
			q[m.Joints()[mirrored.Of].Q] = q[j.Q]
			if int(mirrored.Of) != i {
				q[m.Joints()[mirrored.Of].Q] = rng.Float64() - 0.5
			}
		}
		for i, j := range m.Joints() {
			mirrored := m.Mirror()[i]
			image[j.Q] = mirrored.Sign * q[m.Joints()[mirrored.Of].Q]
		}
		here, there := kinematics.NewData(m), kinematics.NewData(m)
		here.UpdatePosition(q)
		there.UpdatePosition(image)
		for i, j := range m.Joints() {
			if strings.Contains(j.Name, "finger") {
				continue // the image of one is where the follower of the other is
			}
			of := m.Joints()[m.Mirror()[i].Of]
			a, b := here.BodyPose(j.Body).P, there.BodyPose(of.Body).P
			const symmetric = 0.01 // m: robots are built no better
			if d := math.Hypot(math.Hypot(a.X-b.X, a.Y+b.Y), a.Z-b.Z); d > symmetric {
				t.Errorf("%s: %s at %.3f, its image %s at %.3f", name, j.Name, a, of.Name, b)
			}
		}
	}
}

// TestRandomRobots: whatever the tree is, what is proposed loads, and every joint of one
// coordinate belongs to exactly one group.
func TestRandomRobots(t *testing.T) {
	for seed := range uint64(40) {
		rng := randbot.New(seed)
		doc := randbot.Document(rng, randbot.Config{Bodies: 1 + rng.IntN(25), Fixed: rng.IntN(6), Mimics: rng.IntN(4), Serial: seed%4 == 0})
		file := bare(t, doc.Print(), "any.urdf")
		if _, err := open(t, file).Write(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		m := read(t, file)
		in := make([]int, len(m.Joints()))
		for _, g := range m.Groups() {
			for _, id := range g.Joints {
				in[id]++
			}
		}
		for i, n := range in {
			if n != 1 {
				t.Errorf("seed %d: joint %q is in %d groups", seed, m.Joints()[i].Name, n)
			}
		}
	}
}

// TestXacroArguments: those of the command line are kept; those of a robot.yaml stay.
func TestXacroArguments(t *testing.T) {
	text := `<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="tip" default="none"/>
<link name="a"/><link name="$(arg tip)"/><joint name="j" type="continuous"><parent link="a"/><child link="$(arg tip)"/></joint></robot>`
	file := bare(t, []byte(text), "x.urdf.xacro")
	given := load.Options{Arguments: []description.Argument{{Name: "tip", Value: "tool 1"}}}
	bot, err := load.Robot(file, given)
	if err != nil {
		t.Fatal(err)
	}
	s, err := setup.Open(bot)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(); err != nil {
		t.Fatal(err)
	}
	if m := read(t, file); !slices.Contains(m.FrameNames(), "tool 1") {
		t.Errorf("links %v", m.FrameNames())
	}
	again, err := load.Robot(file, given)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = setup.Open(again); err != nil || len(s.Added) > 0 {
		t.Errorf("a second time: %v", err)
	}
}

// TestLegsStand: legged robots begin in a pose in which each foot is below its place at zero.
func TestLegsStand(t *testing.T) {
	for _, name := range []string{"anymal_c", "atlas", "g1", "go2"} {
		file := bare(t, golden.Read(t, "robots/"+name+"/"+name+".urdf"), name+".urdf")
		s := open(t, file)
		if _, err := s.Write(); err != nil {
			t.Fatal(err)
		}
		bot, err := load.Robot(file, load.Options{Base: robot.BaseFixed})
		if err != nil {
			t.Fatal(err)
		}
		m := bot.Model
		if s.Proposal.Poses[0].Name != "stand" {
			t.Errorf("%s: the pose is %q", name, s.Proposal.Poses[0].Name)
		}
		zero, stand := kinematics.NewData(m), kinematics.NewData(m)
		zero.UpdatePosition(make([]float64, m.NumQ()))
		stand.UpdatePosition(m.RestPositions()) // each joint has one number
		for _, c := range m.Chains() {
			if c.Contact == robot.NoContact {
				continue
			}
			a, b := zero.Pose(zero.At(c.Tip)).P, stand.Pose(stand.At(c.Tip)).P
			if d := math.Hypot(a.X-b.X, a.Y-b.Y); d > 0.005 {
				t.Errorf("%s: the foot of %s is %.3f m from its place", name, c.Name, d)
			}
		}
	}
}

// TestMeshesAreFound: a package beside the URDF or around its folder becomes a path.
func TestMeshesAreFound(t *testing.T) {
	for place, want := range map[string]string{"robot/pkg": ".", "pkg": "..", "elsewhere/pkg": ""} {
		top := t.TempDir()
		for _, dir := range []string{"robot", place + "/meshes"} {
			if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		urdf := `<robot name="a"><link name="l"><visual><geometry><mesh filename="package://pkg/meshes/x.stl"/></geometry></visual></link><link name="m"/>
<joint name="j" type="continuous"><parent link="l"/><child link="m"/></joint></robot>`
		file := filepath.Join(top, "robot", "a.urdf")
		if err := errors.Join(os.WriteFile(file, []byte(urdf), 0o644), os.WriteFile(filepath.Join(top, place, "meshes/x.stl"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		s := open(t, file)
		if got := strings.Join(s.Proposal.Packages, " "); got != want {
			t.Errorf("%s: packages %q, notes %v", place, got, s.Proposal.Notes)
		}
		if _, err := s.Write(); err != nil {
			t.Fatal(err)
		}
		bot, err := load.Robot(file, load.Options{})
		if err != nil || (len(bot.Missing) == 0) != (want != "") {
			t.Errorf("%s: missing %v: %v", place, bot.Missing, err)
		}
		if noted := strings.Contains(strings.Join(s.Proposal.Notes, " "), "package://pkg/meshes/x.stl"); noted != (want == "") {
			t.Errorf("%s: notes %v", place, s.Proposal.Notes)
		}
	}
}

// TestHostileRobots: each is refused by name and leaves no file, or is set up.
func TestHostileRobots(t *testing.T) {
	link := `<link name="a"/><link name="b"/>`
	odd := `a: #&quot;'{}[]&amp;*!|%@\&#10;- b`
	many := `<robot name="many"><link name="r"/>`
	for i := range 3000 {
		many += fmt.Sprintf(`<link name="l%d"/><joint name="j%d" type="continuous"><parent link="r"/><child link="l%d"/></joint>`, i, i, i)
	}
	for name, tc := range map[string]struct {
		urdf, yaml, want string // of the error; "" is set up
	}{
		"not XML":         {"pony", "", "robot.urdf:1"},
		"no link":         {`<robot name="x"/>`, "", "no link"},
		"one link":        {`<robot name="x"><link name="a"/></robot>`, "", ""},
		"two roots":       {`<robot name="x">` + link + `</robot>`, "", "2 links have no parent"},
		"a ring":          {`<robot name="x">` + link + `<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint><joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>`, "", "form a ring"},
		"odd names":       {`<robot name="` + odd + `"><link name="` + odd + `"/><link name="yes"/><joint name="` + odd + `" type="continuous"><parent link="` + odd + `"/><child link="yes"/></joint></robot>`, "", ""},
		"free in the air": {`<robot name="x">` + link + `<joint name="j" type="floating"><parent link="a"/><child link="b"/></joint></robot>`, "", ""},
		"very many":       {many + "</robot>", "", "joint_limits.yaml:1: 1106424 bytes"},
		"bad robot.yaml":  {`<robot name="x">` + link + `<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>`, "urdf: robot.urdf\nfoot: 1\n", `unknown key "foot"`},
		"no YAML":         {`<robot name="x"><link name="a"/></robot>`, "urdf: [", "robot.yaml:1"},
		"another's":       {`<robot name="x"><link name="a"/></robot>`, "urdf: other.urdf\n", "give robot.urdf a folder of its own"},
		"one line":        {`<robot name="x"><link name="a"/></robot>`, "{name: x}\n", "no key can be added at its end"},
	} {
		t.Run(name, func(t *testing.T) {
			file := bare(t, []byte(tc.urdf), "robot.urdf")
			about := filepath.Join(filepath.Dir(file), setup.File)
			if tc.yaml != "" {
				if err := os.WriteFile(about, []byte(tc.yaml), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s, err := tried(file)
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Write(); err != nil {
					t.Fatal(err)
				}
				read(t, file)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
			if now, _ := os.ReadFile(about); string(now) != tc.yaml {
				t.Errorf("robot.yaml became %q", now)
			}
		})
	}
}

// TestOthersWriteMeanwhile: a file that appeared or changed since is not touched.
func TestOthersWriteMeanwhile(t *testing.T) {
	file := bare(t, []byte(`<robot name="x"><link name="a"/></robot>`), "x.urdf")
	about := filepath.Join(filepath.Dir(file), setup.File)
	s := open(t, file)
	if err := os.WriteFile(about, []byte("name: mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(); !errors.Is(err, setup.ErrChanged) {
		t.Errorf("appeared: %v", err)
	}
	s = open(t, file)
	if err := os.WriteFile(about, []byte("name: yours\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(); !errors.Is(err, setup.ErrChanged) {
		t.Errorf("changed: %v", err)
	}
	if now, _ := os.ReadFile(about); string(now) != "name: yours\n" {
		t.Errorf("it became %q", now)
	}
	real := filepath.Join(t.TempDir(), "real.yaml")
	if err := errors.Join(os.WriteFile(real, []byte("name: linked\n"), 0o644), os.Remove(about), os.Symlink(real, about)); err != nil {
		t.Fatal(err)
	}
	s, err := tried(file)
	if err == nil {
		_, err = s.Write()
	}
	if now, _ := os.ReadFile(real); err == nil || string(now) != "name: linked\n" {
		t.Errorf("through a link: %v, %q", err, now)
	}
	for _, e := range must(os.ReadDir(filepath.Dir(file))) {
		if strings.HasPrefix(e.Name(), ".poise") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestShippedRobotsAreSetUp(t *testing.T) {
	for _, name := range load.Shipped() {
		if _, err := tried(name); !errors.Is(err, setup.ErrShipped) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// flat is the URDF of a robot on six legs of a yaw, a lift and a knee, which are stretched out while all joints are at zero. Knees bend
// by bends at most to either side, rad.
func flat(bends float64) []byte {
	var b strings.Builder
	b.WriteString(`<robot name="spider"><link name="trunk"><inertial><mass value="1.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.28 0.12 0.05"/></geometry></collision></link>`)
	link := func(name, shape string) {
		fmt.Fprintf(&b, `<link name=%q><inertial><mass value="0.05"/><inertia ixx="5e-5" iyy="5e-5" izz="5e-5" ixy="0" ixz="0" iyz="0"/></inertial>%s</link>`, name, shape)
	}
	joint := func(name, parent, child string, x, y, yaw float64, axis string, most float64) {
		fmt.Fprintf(&b, `<joint name=%q type="revolute"><parent link=%q/><child link=%q/><origin xyz="%g %g 0" rpy="0 0 %g"/><axis xyz=%q/><limit lower="%g" upper="%g" effort="8" velocity="10"/></joint>`,
			name, parent, child, x, y, yaw, axis, -most, most)
	}
	for i, n := range []string{"lf", "lm", "lr", "rf", "rm", "rr"} {
		side := float64(1 - 2*(i/3))
		joint(n+"_yaw", "trunk", n+"_hip", 0.12*float64(1-i%3), side*0.07, side*(math.Pi/2-0.6*float64(1-i%3)), "0 0 1", 0.8)
		link(n+"_hip", "")
		joint(n+"_lift", n+"_hip", n+"_thigh", 0.04, 0, 0, "0 1 0", 1.5)
		link(n+"_thigh", "")
		joint(n+"_knee", n+"_thigh", n+"_shin", 0.1, 0, 0, "0 1 0", bends)
		link(n+"_shin", "")
		fmt.Fprintf(&b, `<joint name="%s_end" type="fixed"><parent link="%s_shin"/><child link="%s_foot"/><origin xyz="0.13 0 0"/></joint>`, n, n, n)
		link(n+"_foot", `<collision><geometry><sphere radius="0.01"/></geometry></collision>`)
	}
	b.WriteString(`</robot>`)
	return []byte(b.String())
}

// TestLegsThatAreStretchedOut at zero are bent: the body is carried, all feet touch level ground at the lowest points of their balls, and the robot can walk.
// Where no such pose is found that is told, also by Lies.
func TestLegsThatAreStretchedOut(t *testing.T) {
	file := bare(t, flat(2.4), "spider.urdf")
	s := open(t, file)
	if got := strings.Join(names(s.Proposal.Limbs), " "); got != "front_left_leg middle_left_leg rear_left_leg rear_right_leg middle_right_leg front_right_leg" {
		t.Errorf("limbs %s", got)
	}
	if _, err := s.Write(); err != nil {
		t.Fatal(err)
	}
	m := read(t, file)
	if why := setup.Lies(m); why != "" || len(s.Proposal.Notes) > 0 {
		t.Errorf("%s; notes %q", why, s.Proposal.Notes)
	}
	g, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	feet := g.DefaultFeetTo(nil)
	X, ok := g.Settle(m.RestPositions(), feet)
	if !ok || len(feet) != 6 || !(X.P.Z > 0.08) || X.R.Quat().Log().Norm() > 0.01 {
		t.Fatalf("it stands on %d feet, %v, %v", len(feet), X, ok)
	}
	for _, p := range g.PointsTo(nil, m.RestPositions(), feet, X) {
		if math.Abs(p.Z) > 1e-3 {
			t.Errorf("a foot is %.4f m above the ground", p.Z)
		}
	}
	for _, l := range s.Proposal.Limbs {
		x := l.Points[0]
		if r := math.Sqrt(x[0]*x[0] + x[1]*x[1] + x[2]*x[2]); len(l.Points) != 1 || math.Abs(r-0.01) > 2e-4 {
			t.Errorf("%s touches at %v, not on its ball", l.Name, l.Points)
		}
	}

	file = bare(t, flat(0.05), "stiff.urdf")
	s = open(t, file)
	if !strings.Contains(strings.Join(s.Proposal.Notes, " "), "the legs do not carry the body") {
		t.Errorf("knees that do not bend: notes %q", s.Proposal.Notes)
	}
	if _, err := s.Write(); err != nil {
		t.Fatal(err)
	}
	if why := setup.Lies(read(t, file)); !strings.Contains(why, "do not carry the body") {
		t.Errorf("knees that do not bend: %q", why)
	}
}
