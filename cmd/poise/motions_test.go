package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// storedGoal is a goal as ROS stored motions; %s stands for a position.
const storedGoal = `{"trajectory": {"header": {"seq": 0, "stamp": {"secs": 0, "nsecs": 0}, "frame_id": ""},
 "joint_names": ["support/leg1", "joint51", "joint52"],
 "points": [
  {"positions": [1.0, -0.3, 1e-76], "velocities": [], "accelerations": [], "effort": [], "time_from_start": {"secs": 0, "nsecs": 0}},
  {"positions": [0.0, %s, 0.30000000000000004], "velocities": [], "accelerations": [], "effort": [], "time_from_start": {"secs": 1, "nsecs": 500000001}}]},
 "path_tolerance": [{"name": "joint51", "position": 0.5, "velocity": 0.0, "acceleration": 0.0}, {"name": "joint52", "position": 0.5, "velocity": 0.0, "acceleration": 0.0}],
 "goal_tolerance": [], "goal_time_tolerance": {"secs": 1, "nsecs": 0}}`

func TestMotionsImportAndExportAreExact(t *testing.T) {
	tmp := t.TempDir()
	goal := save(t, filepath.Join(tmp, "look.json"), fmt.Sprintf(storedGoal, "-0.1"))
	dir := filepath.Join(tmp, "motions") // does not exist yet
	if out, errs, code := poise("", "motions", "import", goal, "--dir", dir); code != 0 || errs != "" || !strings.HasPrefix(out, "look: 2 points, 2 joints") {
		t.Fatal(code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "look.motion.yaml")); err != nil {
		t.Fatal(err)
	}
	out, errs, code := poise("", "motions", "export", "look", "--dir", dir, "--goal")
	var got, want any
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatal(code, err, errs)
	}
	if err := json.Unmarshal([]byte(fmt.Sprintf(storedGoal, "-0.1")), &want); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	// an import may be repeated, but not destroy anything else
	if _, errs, code := poise("", "motions", "import", goal, "--dir", dir); code != 0 || errs != "" {
		t.Error(code, errs)
	}
	file := filepath.Join(dir, "look.motion.yaml")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "joint51: -0.1") {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, work := range []string{strings.Replace(string(text), "joint51: -0.1", "joint51: -0.2", 1), "description: mine\n" + string(text), "# mine\n" + string(text), strings.Replace(string(text), "- time: 0\n", "- time: 0\n    label: mine\n", 1)} {
		save(t, file, work)
		if _, errs, code := poise("", "motions", "import", goal, "--dir", dir); code != 1 || !strings.Contains(errs, "exists already") || !strings.Contains(errs, "--replace takes its place") {
			t.Error(code, errs)
		}
		if now, _ := os.ReadFile(file); string(now) != work {
			t.Errorf("%s", now)
		}
	}
	if _, errs, code := poise("", "motions", "import", goal, "--dir", dir, "--replace"); code != 0 {
		t.Error(code, errs)
	}
}

func TestMotionsExportUsesAllEnabledRows(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "part.motion.yaml"), `joints: {joint51: {}}
points:
  - {time: 0, positions: {joint51: 0}}
  - {time: 1, mark: start, positions: {joint51: -0.1}}
  - {time: 2, enabled: false, positions: {joint51: -0.2}}
  - {time: 3, mark: end, positions: {joint51: -0.3}}
  - {time: 4, positions: {joint51: -0.4}}
`)
	times := func(args ...string) string {
		out, errs, code := poise("", append([]string{"motions", "export", "part", "--goal", "--dir", dir}, args...)...)
		var g struct {
			Trajectory struct {
				Points []struct {
					Time struct{ Secs int } `json:"time_from_start"`
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &g); err != nil || code != 0 {
			t.Fatal(code, err, errs)
		}
		var all []int
		for _, p := range g.Trajectory.Points {
			all = append(all, p.Time.Secs)
		}
		return fmt.Sprint(all)
	}
	if got := times(); got != "[0 1 3 4]" {
		t.Error(got, "marks must not change what is exported")
	}
	if got := times("--marked", "--scale", "2"); got != "[0 4]" {
		t.Error(got)
	}
}

func TestMotionsListShowAndLint(t *testing.T) {
	for _, robot := range []string{"pony", "arm6"} {
		if out, errs, code := poise("", "motions", "lint", "--robot", robot); code != 0 {
			t.Errorf("%s: code %d\n%s%s", robot, code, out, errs)
		}
	}
	out, errs, code := poise("", "motions", "list", "--json")
	var list []motionInfo
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) < 2 || !list[0].Shipped {
		t.Fatal(code, err, out, errs)
	}
	if out, _, code := poise("", "motions", "show", "nod"); code != 0 || !strings.Contains(out, "down again") || !strings.Contains(out, "eyes/action") {
		t.Error(code, out)
	}

	dir := t.TempDir()
	goal := save(t, filepath.Join(dir, "far.json"), fmt.Sprintf(storedGoal, "1.5")) // joint51 ends at 0.26
	if _, errs, code := poise("", "motions", "import", goal, "--dir", dir); code != 0 {
		t.Fatal(errs)
	}
	save(t, filepath.Join(dir, "broken.motion.yaml"), "points:\n  - tiem: 0\n")
	out, _, code = poise("", "motions", "list", "--dir", dir)
	if code != 0 || !strings.Contains(out, "broken.motion.yaml:2: points[0]: unknown key \"tiem\"") || strings.Contains(out, "far.json") {
		t.Error(code, out)
	}
	out, _, code = poise("", "motions", "lint", "far", "--dir", dir, "--json")
	var found []motionFinding
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 1 {
		t.Fatal(code, err, out)
	}
	rules := ""
	for _, f := range found {
		rules += f.Rule + " "
		if f.Motion != "far" || f.Joint != "joint51" {
			t.Errorf("%+v", f)
		}
	}
	if rules != "position velocity " {
		t.Error(rules)
	}
	if out, _, code = poise("", "motions", "lint", "--dir", dir); code != 1 || !strings.Contains(out, "broken: unreadable") || !strings.Contains(out, "far: position") {
		t.Error(code, out)
	}
}

func TestMotionsPreviewDraws(t *testing.T) {
	for _, name := range []string{"out.png", "out.svg"} {
		file := filepath.Join(t.TempDir(), name)
		if _, errs, code := poise("", "motions", "preview", "nod", "--plot", file); code != 0 {
			t.Fatal(code, errs)
		}
		if info, err := os.Stat(file); err != nil || info.Size() < 1000 {
			t.Error(info, err)
		}
	}
	if out, _, code := poise("", "motions", "preview", "wave", "--robot", "arm6"); code != 0 || !strings.Contains(out, "joint_4") {
		t.Error(code, out)
	}
	out, _, code := poise("", "motions", "preview", "nod", "--json")
	var got struct {
		Times  []float64
		Curves []curveJSON
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || len(got.Curves) != 4 || len(got.Curves[0].Position) != len(got.Times) || got.Curves[0].MaxAcceleration != nil {
		t.Error(code, err)
	}
}

func TestMotionsRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := save(t, filepath.Join(dir, "bad.json"), `{"trajectory": {"joint_names": ["a"], "points": [{"positions": []}]}}`)
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"motions"}, 2, "list, show, lint"},
		{[]string{"motions", "dance"}, 2, "there is no poise motions dance: want one of list, show, lint"},
		{[]string{"motions", "lst"}, 2, `did you mean "list"?`},
		{[]string{"motions", "show"}, 2, "which motion"},
		{[]string{"motions", "show", "nodd"}, 1, `did you mean "nod"`},
		{[]string{"motions", "lint", "nod", "bwo"}, 1, `motion "bwo": does not exist`},
		{[]string{"motions", "import", bad}, 2, "needs --dir"},
		{[]string{"motions", "import", bad, "--dir", dir}, 1, "bad.json: points[0]: 0 positions for 1 joint_names"},
		{[]string{"motions", "import", filepath.Join(dir, "none.json"), "--dir", dir}, 1, "none.json"},
		{[]string{"motions", "list", "--dir", filepath.Join(dir, "none")}, 1, "none"},
		{[]string{"motions", "list", "--robot", "centaur"}, 1, "centaur"},
		{[]string{"motions", "preview", "nod", "--plot", filepath.Join(dir, "out.gif")}, 1, "gif"},
		{[]string{"motions", "preview", "nod", "--period", "0"}, 1, "period"},
		{[]string{"motions", "export", "nod", "--goal", "--scale", "-1"}, 1, "scale"},
	} {
		out, errs, code := poise("", tc.args...)
		if code != tc.code || !strings.Contains(errs, tc.want) {
			t.Errorf("%v: code %d, %s%s; want %d and %q", tc.args, code, out, errs, tc.code, tc.want)
		}
	}
}

// TestMotionsImportTellsWhatItReplaces: the same goal again is nothing new, but a motion
// that was changed since, be it one number, goes with --replace alone, and not without a word.
func TestMotionsImportTellsWhatItReplaces(t *testing.T) {
	dir := t.TempDir()
	goal := save(t, filepath.Join(dir, "look.json"), `{"trajectory": {"joint_names": ["a"], "points": [{"positions": [0.25]}]}}`)
	for range 2 {
		if _, errs, code := poise("", "motions", "import", goal, "--dir", dir); code != 0 || errs != "" {
			t.Fatal(code, errs)
		}
	}
	file := filepath.Join(dir, "look.motion.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	save(t, file, strings.Replace(string(text), "0.25", "0.5", 1))
	if _, errs, code := poise("", "motions", "import", goal, "--dir", dir); code != 1 || !strings.Contains(errs, "--replace takes its place") {
		t.Error(code, errs)
	}
	if _, errs, code := poise("", "motions", "import", goal, "--dir", dir, "--replace"); code != 0 || !strings.Contains(errs, `takes the place of a different motion "look"`) {
		t.Error(code, errs)
	}
}

// TestMotionsRefusesFlagsThatItWouldIgnore: what is said counts, or is refused.
func TestMotionsRefusesFlagsThatItWouldIgnore(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"preview", "nod", "-o", "x.csv"}, 2, "preview takes no -o"},
		{[]string{"list", "--plot", "x.svg"}, 2, "list takes no --plot"},
		{[]string{"show", "nod", "--goal"}, 2, "show takes no --goal"},
		{[]string{"lint", "--scale", "2"}, 2, "lint takes no --scale"},
		{[]string{"export", "nod", "--backward"}, 2, "--backward only with --goal"},
		{[]string{"preview", "nod", "--scale", "0"}, 1, "a scale of 0: it must be more than 0"},
		{[]string{"export", "nod", "--goal", "--scale", "0"}, 1, "a scale of 0: it must be more than 0"},
	} {
		if out, errs, code := poise("", append([]string{"motions"}, tc.args...)...); code != tc.code || out != "" || !strings.Contains(errs, tc.want) {
			t.Errorf("%v: %d %q %q", tc.args, code, out, errs)
		}
	}
	file := filepath.Join(t.TempDir(), "nod.json")
	want, _, _ := poise("", "motions", "export", "nod", "--json")
	if out, errs, code := poise("", "motions", "export", "nod", "--json", "-o", file); code != 0 || out != "" {
		t.Error(code, out, errs)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want || want == "" {
		t.Errorf("%v: %d bytes, want %d", err, len(got), len(want))
	}
}

// TestMotionsPrintNoControlCharacters: what a file says is shown, not obeyed by the
// terminal.
func TestMotionsPrintNoControlCharacters(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "odd.motion.yaml"), "description: \"a\\e[2Jb\"\njoints: {joint51: {}}\nevents: [{time: 5, type: voice/say, command: \"c\\u0007d\"}]\n"+
		"points:\n- {time: 0, label: \"e\\u009bf\", positions: {joint51: 0}}\n- {time: 1, positions: {joint51: -0.1}}\n")
	for _, verb := range []string{"list", "show", "lint"} {
		args := []string{"motions", verb, "--dir", dir}
		if verb == "show" {
			args = append(args, "odd")
		}
		out, errs, _ := poise("", args...)
		if strings.ContainsAny(out, "\x1b\x07\u009b") || !strings.Contains(out, "\uFFFD") {
			t.Errorf("%s: %q %q", verb, out, errs)
		}
	}
	save(t, filepath.Join(dir, "none.motion.yaml"), "points: []\n")
	if out, errs, code := poise("", "motions", "preview", "none", "--dir", dir); code != 1 || !strings.Contains(errs, "no row is enabled: a motion needs two") {
		t.Error(code, out, errs)
	}
}

// TestMotionsTellForces: lint names joint, foot or zero-moment point with time, value and limit,
// and exits with 1; preview tells how near to their limits they come.
func TestMotionsTellForces(t *testing.T) {
	dir := t.TempDir()
	out, _, code := poise("", "motions", "export", "dance")
	if code != 0 {
		t.Fatal(out)
	}
	fast := regexp.MustCompile(`time: [0-9.]+`).ReplaceAllStringFunc(out, func(s string) string {
		at, err := strconv.ParseFloat(strings.TrimPrefix(s, "time: "), 64)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("time: %.4f", at*0.28)
	})
	save(t, filepath.Join(dir, "frantic.motion.yaml"), fast)
	out, _, code = poise("", "motions", "lint", "frantic", "--dir", dir)
	for _, want := range []string{"frantic: torque: torque of the servo of tail_joint1 is ", " N·m at ", "limit 1.18: ", " too much (", "frantic: zmp: the zero-moment point is ", " m outside the supports at "} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("code %d, without %q:\n%s", code, want, out)
		}
	}
	out, _, _ = poise("", "motions", "lint", "frantic", "--dir", dir, "--json")
	var found []motionFinding
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err, out)
	}
	rules := map[string]int{}
	for _, f := range found {
		if rules[f.Rule]++; f.Rule == "torque" && (f.Joint == "" || f.WorstTime < f.FromTime || f.WorstTime > f.ToTime || math.Abs(f.Value) <= math.Abs(f.Limit)) {
			t.Errorf("%+v", f)
		}
	}
	if rules["torque"] == 0 || rules["zmp"] == 0 {
		t.Error(rules)
	}
	out, errs, code := poise("", "motions", "preview", "brohoof")
	for _, want := range []string{"Torques, each when it is nearest to its limit", "joint43", "The zero-moment point is at the least", "leg1 carries at least"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s%s", want, out, errs)
		}
	}
	out, _, _ = poise("", "motions", "preview", "brohoof", "--json")
	var shown struct {
		Times  []float64
		Forces struct {
			Known  bool
			Margin []*float64
			Joints []struct{ Effort, Least, Most []float64 }
			Feet   []struct{ Force []*float64 }
		}
	}
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Fatal(err)
	}
	if f := shown.Forces; !f.Known || len(f.Margin) != len(shown.Times) || len(f.Joints) != 30 || len(f.Feet) != 4 || f.Feet[0].Force[len(shown.Times)/2] != nil {
		t.Errorf("the lifted leg carries, or curves are missing: %d joints, %d feet", len(f.Joints), len(f.Feet))
	}
}

// TestMotionsOfARobotWithoutMass are linted by limits, and that forces are not judged is said once.
func TestMotionsOfARobotWithoutMass(t *testing.T) {
	dir := t.TempDir()
	robot := save(t, filepath.Join(dir, "bare.urdf"), `<robot name="bare"><link name="base"/><link name="arm"/><joint name="swing" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="5" effort="9"/></joint></robot>`)
	for _, name := range []string{"a", "b"} {
		save(t, filepath.Join(dir, name+".motion.yaml"), "joints: {swing: {}}\npoints:\n  - {time: 0, positions: {swing: 0}}\n  - {time: 1, positions: {swing: 1}}\n")
	}
	out, errs, code := poise("", "motions", "lint", "--robot", robot, "--dir", dir)
	if code != 0 || !strings.Contains(out, "2 motions, no findings") || strings.Count(errs, "torque and balance are not judged: robot \"bare\" has no mass") != 1 {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
	if out, errs, code = poise("", "motions", "preview", "a", "--robot", robot, "--dir", dir); code != 0 || !strings.Contains(out, "Forces are not known: robot \"bare\" has no mass") {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}
