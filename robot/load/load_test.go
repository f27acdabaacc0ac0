package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"poise/robot"
	"poise/robot/description"
	"poise/robot/load"
)

const armURDF = `<robot name="arm"><link name="a"><visual><geometry><mesh filename="%MESH%"/></geometry></visual></link><link name="b"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1" velocity="2" effort="3"/></joint></robot>`

const (
	armSRDF      = `<robot name="arm"><group name="g"><joint name="j"/></group></robot>`
	armLimits    = "joint_limits: {j: {max_acceleration: 4}}\n"
	armCartesian = "cartesian_limits: {max_trans_vel: 1, max_trans_acc: 2, max_trans_dec: -3, max_rot_vel: 4}\n"
)

func urdfWith(mesh string) string { return strings.Replace(armURDF, "%MESH%", mesh, 1) }

func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

func acceleration(m *robot.Model) float64 { return m.Joints()[0].Limits.Acceleration.Value }

func TestFolderByConvention(t *testing.T) {
	fsys := files("bots/arm/arm.urdf", urdfWith("x.stl"), "bots/arm/arm.srdf", armSRDF, "bots/arm/joint_limits.yaml", armLimits, "bots/arm/pilz_cartesian_limits.yaml", armCartesian)
	bot, err := load.Folder(fsys, "bots/arm", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	if _, ok := m.Group("g"); !ok || acceleration(m) != 4 || m.CartesianLimits().MaxRotVel.Value != 4 || m.Floating() {
		t.Errorf("groups %v, limits %+v, Cartesian %+v", m.Groups(), m.Joints()[0].Limits, m.CartesianLimits())
	}
	for _, name := range []string{"bots/arm/arm.srdf", "bots/arm/joint_limits.yaml", "bots/arm/pilz_cartesian_limits.yaml"} {
		delete(fsys, name)
		if _, err := load.Folder(fsys, "bots/arm", load.Options{}); err != nil {
			t.Errorf("without %s: %v", name, err)
		}
	}
	delete(fsys, "bots/arm/arm.urdf")
	if _, err := load.Folder(fsys, "bots/arm", load.Options{}); err == nil || !strings.Contains(err.Error(), "neither arm.urdf nor arm.urdf.xacro nor arm.xacro") {
		t.Errorf("without a URDF: %v", err)
	}
}

func TestFolderByDescription(t *testing.T) {
	fsys := files("arm/robot.yaml", "name: bob\nurdf: sub/x.urdf\njoint_limits: l.yaml\nbase: floating\n",
		"arm/sub/x.urdf", urdfWith("x.stl"), "arm/l.yaml", armLimits, "arm/joint_limits.yaml", "nonsense", "arm/arm.srdf", armSRDF)
	bot, err := load.Folder(fsys, "arm", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m := bot.Model; m.Name() != "bob" || !m.Floating() || acceleration(m) != 4 || m.Joints()[0].Limits.Acceleration.Source != "arm/l.yaml:1" {
		t.Errorf("%s, floating %t, %+v", m.Name(), m.Floating(), m.Joints()[0].Limits)
	}
	if _, ok := bot.Model.Group("g"); !ok {
		t.Error("the SRDF was not found by its name")
	}
	bot, err = load.Folder(fsys, "arm", load.Options{Base: robot.BaseFixed})
	if err != nil || bot.Model.Floating() {
		t.Errorf("--fixed is not heard: %v", err)
	}
}

func TestFolderRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, yaml string
		more       []string
		want       []string
	}{
		{"file outside", "name: a\nurdf: ../x.urdf\n", nil, []string{`arm/robot.yaml:2: urdf: "../x.urdf" is outside the robot's folder`}},
		{"file missing", "urdf: x.urdf\nsrdf: y.srdf\n", nil, []string{"arm/robot.yaml:1: arm/x.urdf: file does not exist", "arm/robot.yaml:2: arm/y.srdf: file does not exist"}},
		{"bad key", "urdf: arm.urdf\nfoot: 1\n", nil, []string{`arm/robot.yaml:2: unknown key "foot"`}},
		{"arguments without xacro", "xacro_arguments: {arms: 2}\n", nil, []string{`arm/arm.urdf: argument "arms": only xacro files take arguments`}},
		{"limit file without limits", "", []string{"arm/joint_limits.yaml", "# nothing\n"}, []string{"arm/joint_limits.yaml: has neither joint_limits nor cartesian_limits"}},
		{"joint limits twice", "", []string{"arm/joint_limits.yaml", armLimits, "arm/pilz_cartesian_limits.yaml", armLimits}, []string{"arm/pilz_cartesian_limits.yaml: joint limits stand in arm/joint_limits.yaml already"}},
		{"Cartesian limits twice", "", []string{"arm/joint_limits.yaml", armCartesian, "arm/pilz_cartesian_limits.yaml", armCartesian}, []string{"Cartesian limits stand at arm/joint_limits.yaml:1 already"}},
		{"everything at once", "foot: 1\n", []string{"arm/joint_limits.yaml", "x: 1\n", "arm/arm.srdf", "<robot", "arm/pilz_cartesian_limits.yaml", "cartesian_limits: {max_rot_vel: 1}\n"},
			[]string{`unknown key "foot"`, `unknown key "x"`, "arm/arm.srdf:1", "max_trans_vel is missing"}},
		{"mistakes of form and of meaning", "foot: 1\nposes: {up: {j: 7}}\n", []string{"arm/joint_limits.yaml", "x: 1\njoint_limits: {j: {max_velocity: 9}}\n",
			"arm/arm.urdf", strings.NewReplacer(
				`<link name="a">`, `<link name="a"><inertial><mass value="-2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>`,
				`<link name="b"/>`, `<link name="b"><inertial><mass value="1"/><inertia ixx="one" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>`,
			).Replace(urdfWith("x.stl"))},
			[]string{`unknown key "foot"`, `joint "j" at 7 is outside`, `unknown key "x"`, "velocity limit 9", `"one"`, "mass -2 kg is negative"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fsys := files(append([]string{"arm/robot.yaml", tc.yaml, "arm/arm.urdf", urdfWith("x.stl")}, tc.more...)...)
			_, err := load.Folder(fsys, "arm", load.Options{})
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %s", err, want)
				}
			}
		})
	}
}

func TestMeshesAreFound(t *testing.T) {
	for mesh, there := range map[string]bool{
		"x.stl":                       true,
		"../arm/x.stl":                true,
		"gone.stl":                    false,
		"package://bots/meshes/y.stl": true, // the package that brings the robot along
		"package://extra/z.stl":       true, // on the search path
		"package://named/z.stl":       true, // by robot.yaml
		"package://extra/gone.stl":    false,
		"package://unknown/z.stl":     false,
		"http://example.org/a.stl":    true, // not ours to judge
	} {
		fsys := files("bots/arm/arm.urdf", urdfWith(mesh), "bots/arm/robot.yaml", "packages: [lib/named]\n", "bots/arm/x.stl", "", "bots/meshes/y.stl", "", "share/extra/z.stl", "", "bots/arm/lib/named/z.stl", "")
		bot, err := load.Folder(fsys, "bots/arm", load.Options{PackagePath: []string{"share"}})
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(bot.Warnings, func(w string) bool { return strings.Contains(w, "is missing") })
		if warned == there {
			t.Errorf("%s: warnings %v", mesh, bot.Warnings)
		}
	}
}

// TestARobotReadsOnlyItsFolderAndPackages: meshes, includes and tables by any kind of
// name, lists of packages, and links, of which the folder of a stranger may have any.
func TestARobotReadsOnlyItsFolderAndPackages(t *testing.T) {
	top := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	secret := write("private/secret.stl", "secret")
	write("bots/arm/meshes/own.stl", "own")
	write("bots/package/package.xml", "<package><name>whole</name></package>")
	write("bots/package/meshes/own.stl", "own")
	write("share/extra/own.stl", "own")
	link(secret, "bots/arm/link.stl")
	link("../../private", "bots/arm/linked")
	link("own.stl", "bots/arm/meshes/same.stl")
	link("../../private/secret.stl", "share/extra/link.stl")
	for mesh, readable := range map[string]bool{
		"meshes/own.stl": true, "../arm/meshes/own.stl": true, "meshes/same.stl": true, filepath.Join(top, "bots/arm/meshes/own.stl"): true,
		"package://extra/own.stl": true, "package://arm/meshes/own.stl": true,
		secret: false, "file://" + secret: false, "../../private/secret.stl": false, "link.stl": false, "linked/secret.stl": false,
		"package://extra/../../private/secret.stl": false, "package://extra/link.stl": false, "package://arm/../../private/secret.stl": false,
	} {
		bot, err := load.Robot(write("bots/arm/arm.urdf", urdfWith(mesh)), load.Options{PackagePath: []string{filepath.Join(top, "share"), ""}})
		if err != nil {
			t.Fatal(err)
		}
		data, err := bot.Mesh(mesh)
		if readable != (string(data) == "own") || readable != (err == nil) || !readable && !strings.Contains(err.Error(), "outside the robot's folder") {
			t.Errorf("mesh %s: %q, %v", mesh, data, err)
		}
		if warned := strings.Contains(strings.Join(bot.Warnings, "\n"), "is not read"); warned == readable {
			t.Errorf("mesh %s: warnings %v", mesh, bot.Warnings)
		}
	}
	// in a package, and beside a folder urdf, meshes may be beside the description
	for _, file := range []string{"bots/package/urdf/sub/arm.urdf", "bots/arm/urdf/arm.urdf"} {
		mesh := strings.Repeat("../", strings.Count(file, "/")-2) + "meshes/own.stl"
		bot, err := load.Robot(write(file, urdfWith(mesh)), load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if data, err := bot.Mesh(mesh); err != nil || string(data) != "own" {
			t.Errorf("%s: mesh %q, %v", file, data, err)
		}
	}
	// a description that is named by a link is read, where it is said to be
	link(write("elsewhere/real.urdf", urdfWith("meshes/own.stl")), "bots/arm/named.urdf")
	if bot, err := load.Robot(filepath.Join(top, "bots/arm/named.urdf"), load.Options{}); err != nil {
		t.Error(err)
	} else if data, err := bot.Mesh("meshes/own.stl"); err != nil || string(data) != "own" {
		t.Errorf("mesh %q, %v", data, err)
	}
	write("private/secret.xacro", "<robot/>")
	write("private/secret.yaml", "word: secret")
	for _, text := range []string{
		`<xacro:include filename="../../private/secret.xacro"/>`,
		`<xacro:include filename="` + filepath.Join(top, "private/secret.xacro") + `"/>`,
		`<xacro:include filename="../../private/*.xacro"/>`,
		`<xacro:include filename="linked/secret.xacro"/>`,
		`<xacro:property name="p" value="${xacro.load_yaml('../../private/secret.yaml')}"/><link name="${p['word']}"/>`,
	} {
		file := write("bots/arm/x.xacro", `<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/>`+text+`</robot>`)
		if bot, err := load.Robot(file, load.Options{}); err == nil {
			t.Errorf("%s is read: %s", text, bot.URDF)
		}
	}
	// limits behind a link that leads outside are not passed over in silence
	write("bots/linked/linked.urdf", urdfWith("x.stl"))
	write("private/joint_limits.yaml", armLimits)
	link("../../private/joint_limits.yaml", "bots/linked/joint_limits.yaml")
	if _, err := load.Robot(filepath.Join(top, "bots/linked"), load.Options{}); err == nil || !strings.Contains(err.Error(), "outside the robot's folder") {
		t.Errorf("limits behind a link: %v", err)
	}
	for packages, fine := range map[string]bool{"lib": true, "../lib": true, "..": true, "../..": false, "../../private": false} {
		write("bots/own/own.urdf", urdfWith("x.stl"))
		write("bots/own/robot.yaml", "packages: ["+packages+"]\n")
		if _, err := load.Robot(filepath.Join(top, "bots/own"), load.Options{}); (err == nil) != fine {
			t.Errorf("packages %s: %v", packages, err)
		}
	}
}

func TestFileAlone(t *testing.T) {
	fsys := files("x/any.urdf", urdfWith("x.stl"), "x/joint_limits.yaml", armLimits)
	bot, err := load.File(fsys, "x/any.urdf", load.Options{})
	if err != nil || bot.Model.Joints()[0].Limits.Acceleration.Has || bot.Model.Name() != "arm" {
		t.Errorf("a file alone takes limits from beside it: %v", err)
	}
}

// TestFileWithARobotYAMLBeside: the robot.yaml that names a file is read with it, whichever
// of the two is asked for; one about another file is not.
func TestFileWithARobotYAMLBeside(t *testing.T) {
	for yaml, want := range map[string]string{
		"name: bob\nurdf: any.urdf\n":     "bob",
		"name: bob\nurdf: ./any.urdf\n":   "bob",
		"name: bob\nurdf: other.urdf\n":   "arm",
		"name: bob\n":                     "arm", // it means x.urdf
		"foot: 1\nurdf: other.urdf\n":     "arm",
		"name: bob\nurdf: sub/any.urdf\n": "arm",
	} {
		fsys := files("x/any.urdf", urdfWith("x.stl"), "x/x.urdf", urdfWith("x.stl"), "x/joint_limits.yaml", armLimits, "x/robot.yaml", yaml)
		bot, err := load.File(fsys, "x/any.urdf", load.Options{})
		if err != nil || bot.Model.Name() != want || bot.Model.Joints()[0].Limits.Acceleration.Has != (want == "bob") {
			t.Errorf("%q: %v", yaml, err)
		}
	}
	fsys := files("x/x.urdf", urdfWith("x.stl"), "x/robot.yaml", "name: bob\n")
	if bot, err := load.File(fsys, "x/x.urdf", load.Options{}); err != nil || bot.Model.Name() != "bob" {
		t.Errorf("a file by its default name: %v", err)
	}
	fsys = files("x/any.urdf", urdfWith("x.stl"), "x/robot.yaml", "urdf: any.urdf\nfoot: 1\n")
	if _, err := load.File(fsys, "x/any.urdf", load.Options{}); err == nil || !strings.Contains(err.Error(), `x/robot.yaml:2: unknown key "foot"`) {
		t.Errorf("mistakes in robot.yaml: %v", err)
	}
}

func TestUnknownRobots(t *testing.T) {
	for name, want := range map[string]string{
		"ponny":       `robot "ponny": neither shipped (arm6, pony, so101) nor a file or folder; did you mean "pony"?`,
		"./no.urdf":   `robot "./no.urdf": no such file or directory`,
		".":           `no robot description: there is neither load.urdf`,
		"":            `robot "": neither shipped`,
		"pony/x.urdf": `robot "pony/x.urdf": no such file or directory`,
	} {
		if _, err := load.Robot(name, load.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Robot(%q): %v, want %s", name, err, want)
		}
	}
}

func TestAMistypedFileIsSuggested(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"my_arm.urdf", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := load.Robot(filepath.Join(dir, "my_amr.urdf"), load.Options{}); err == nil || !strings.Contains(err.Error(), `did you mean "my_arm.urdf"?`) {
		t.Error(err)
	}
	if _, err := load.Robot(filepath.Join(dir, "note.txt"), load.Options{}); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Error(err)
	}
}

func TestReplacedLimits(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	joints := write("joints.yaml", armLimits)
	tip := write("tip.yaml", armCartesian)
	both := write("both.yaml", "joint_limits: {j: {max_acceleration: 7}}\n"+strings.Replace(armCartesian, "max_rot_vel: 4", "max_rot_vel: 9", 1))
	own := write("own.urdf", urdfWith("x.stl"))
	for _, tc := range []struct {
		name        string
		opts        load.Options
		accel, turn float64 // 0: absent
		want        string  // of the error
	}{
		{"none", load.Options{}, 0, 0, ""},
		{"joints", load.Options{Limits: joints}, 4, 0, ""},
		{"tip", load.Options{Cartesian: tip}, 0, 4, ""},
		{"one file for both", load.Options{Limits: both}, 7, 9, ""},
		{"the other way round", load.Options{Cartesian: both}, 7, 9, ""},
		{"each its own", load.Options{Limits: both, Cartesian: tip}, 7, 4, ""},
		{"no joint limits in it", load.Options{Limits: tip}, 0, 0, "tip.yaml: has no joint_limits"},
		{"no Cartesian limits in it", load.Options{Cartesian: joints}, 0, 0, "joints.yaml: has no cartesian_limits"},
		{"missing", load.Options{Limits: "nowhere.yaml"}, 0, 0, "nowhere.yaml: no such file or directory"},
		{"not YAML", load.Options{Limits: "load.go"}, 0, 0, "load.go:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bot, err := load.Robot(own, tc.opts)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %v, want %s", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			turn := 0.0
			if c := bot.Model.CartesianLimits(); c != nil {
				turn = c.MaxRotVel.Value
			}
			if acceleration(bot.Model) != tc.accel || turn != tc.turn {
				t.Errorf("acceleration %g, turn %g, want %g, %g", acceleration(bot.Model), turn, tc.accel, tc.turn)
			}
		})
	}
}

func TestShippedRobots(t *testing.T) {
	if got := load.Shipped(); !slices.Equal(got, []string{"arm6", "pony", "so101"}) {
		t.Errorf("shipped: %v", got)
	}
	for _, name := range load.Shipped() {
		bot, err := load.Robot(name, load.Options{Arguments: []description.Argument{}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(bot.Warnings) > 0 {
			t.Errorf("%s: %v", name, bot.Warnings)
		}
	}
}

// TestDescriptionAndMeshesCanBePassedOn: a viewer gets the URDF of the robot,
// expanded, and the meshes that it names.
func TestDescriptionAndMeshesCanBePassedOn(t *testing.T) {
	const urdf = `<robot name="r"><link name="a"><visual><geometry><mesh filename="%s"/></geometry></visual></link></robot>`
	fsys := fstest.MapFS{
		"bots/r/r.urdf":         {Data: []byte(fmt.Sprintf(urdf, "meshes/a.stl"))},
		"bots/r/meshes/a.stl":   {Data: []byte("solid")},
		"bots/x/x.urdf.xacro":   {Data: []byte(`<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="n" value="a"/><link name="${n}"/></robot>`)},
		"bots/r/meshes/b/c.stl": {Data: []byte("other")},
	}
	bot, err := load.Folder(fsys, "bots/r", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(bot.URDF), "meshes/a.stl") {
		t.Errorf("description %s", bot.URDF)
	}
	if mesh, err := bot.Mesh("meshes/a.stl"); err != nil || string(mesh) != "solid" {
		t.Errorf("mesh %q, %v", mesh, err)
	}
	if _, err := bot.Mesh("meshes/none.stl"); err == nil {
		t.Error("a mesh that is not there was read")
	}
	bot, err = load.Folder(fsys, "bots/x", load.Options{})
	if err != nil || !strings.Contains(string(bot.URDF), `<link name="a"`) || strings.Contains(string(bot.URDF), "${") {
		t.Errorf("description %s, %v", bot.URDF, err)
	}
}

// TestServoModelsOfFiles: a joint has the model that it names, else that of its own name, else of
// its type, else the default of a file; robot.yaml itself counts more than a file.
func TestServoModelsOfFiles(t *testing.T) {
	const message = `[{"name":"j","kp":100,"kgear":1.5,"alpha":[1,50,7,212]},{"name":"mx","kp":64,"kgear":0,"alpha":[1,50,7,100]}]`
	for _, c := range []struct {
		servo, more           string
		kp, a3, gear, voltage float64
	}{
		{"{id: 1}", "", 100, 212, 1.5, 12},
		{"{id: 1, model: mx}", "", 64, 100, 1, 12},
		{"{id: 1, model: mx, gear: 0.5}", "", 64, 100, 2, 12},
		{"{id: 1, type: own}", "servo_models: {own: {kp: 5, voltage: 7, parameters: {a3: 9}}, j: {kp: 6, voltage: 8, parameters: {a3: 9}}}", 6, 9, 1, 8},
		{"{id: 1, model: own}", "servo_models: {own: {kp: 5, voltage: 7, parameters: {a3: 9}}}", 5, 9, 1, 7},
	} {
		fsys := files("arm/arm.urdf", urdfWith("x.stl"), "arm/servos.json", message,
			"arm/robot.yaml", "servos: {j: "+c.servo+"}\nservo_model_files: [servos.json]\nservo_voltage: 12\n"+c.more+"\n")
		bot, err := load.Folder(fsys, "arm", load.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.servo, err)
			continue
		}
		m := bot.Model.Servo(0).Model
		if m == nil || m.Kp != c.kp || m.A[3] != c.a3 || m.Gear != c.gear || m.Voltage != c.voltage {
			t.Errorf("%s: model %+v, want %+v", c.servo, m, c)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"servos: {j: {id: 1}}\nservo_model_files: [servos.json]\n", "its model has no voltage: servo_voltage says"},
		{"servos: {j: {id: 1, model: my}}\nservo_model_files: [servos.json]\nservo_voltage: 12\n", `model: "my" is in neither servo_models nor servo_model_files`},
		{"servo_model_files: [none.json]\n", "none.json"},
		{"servo_model_files: [../servos.json]\n", "outside the robot's folder"},
		{"servo_models: {own: {kp: 5, voltage: 7, lead: 3, parameters: {a3: 9}}}\n", `robot.yaml:1: servo model "own": lead is 3, at most 1`},
		{"servo_models: {own: {kp: 5, parameters: {a3: 9}}}\n", `servo model "own": voltage is missing`},
	} {
		fsys := files("arm/arm.urdf", urdfWith("x.stl"), "arm/servos.json", message, "arm/robot.yaml", c.text)
		if _, err := load.Folder(fsys, "arm", load.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
