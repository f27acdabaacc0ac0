package poise_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layers lists the packages from the ground up: a package may import only what
// stands before it. Adding a package means deciding where it sits; folder/* is the place
// of the folder's packages that are not listed, which do not know each other.
var layers = []string{
	// tools of the trade, knowing nothing of robots
	"problem", "rtps", "internal/rt", "internal/budget", "internal/journal", "internal/xmltree", "internal/strictyaml", "internal/plot",
	// values and kernels
	"spatial", "linalg", "qp", "hierarchy", "servo/model", "servo/modelfile",
	// documents and the robot
	"urdf", "urdf/locate",
	"urdf/xacro/value", "urdf/xacro/expr", "urdf/xacro",
	"robot/description", "robot",
	"robot/summary", "robot/shipped", "robot/load",
	// algorithms on the robot
	"kinematics", "kinematics/ik", "dynamics", "contact",
	"gait",
	"floatingbase", "wholebody", "identify", "robot/setup",
	// motion in time
	"trajectory/spline", "trajectory", "trajectory/move", "trajectory/retime", "trajectory/clock",
	"planner/path", "planner", "planner/pilz", "planner/track", "planner/smooth", "planner/pipeline", "planner/queue",
	// the machine
	"servo", "servo/sim", "sim", "sim/world", "servo/imu", "servo/bus", "servo/protocol1", "servo/dynamixel", "servo/feetech", "servo/herkulex", "servo/families", "servo/*", "servo/emulator", "servo/bench", "servo/driver", "external",
	// execution
	"arbiter", "arbiter/scenario", "action", "control", "control/pace", "control/swing",
	"control/follow", "control/pose", "control/hold", "control/stream", "control/torqueoff", "control/stance", "control/lookat", "control/step", "control/walk", "control/getup", "control/*",
	"estimate", "feedforward", "wholebody/stage", "loop", "telemetry", "loop/runner", "identify/session",
	"motion/forces", "motion", "motion/file", "motion/rosgoal", "motion/library", "motion/lint", "motion/shipped",
	"executive/explain", "executive",
	// messages and the graph
	"msgs", "msgs/rosjson", "msgs/poisemsgs", "msgs/rosapimsgs", "msgs/registry", "msgs/codec", "edge", "graph", "controllers", "sim/scenario",
	// wires
	"stop", "wire", "wire/loopback", "wire/admission", "wire/rosapi", "wire/rosbridge/frame", "wire/rosbridge/client", "wire/mirror", "wire/rosbridge", "wire/rosnet", "wire/ros1/xmlrpc", "wire/ros1/tcpros", "wire/ros1/bag", "wire/ros1/master", "wire/ros1", "wire/ros1/raw", "wire/ros2",
	"wire/rosbridge/requester",
	// programs
	"server/config", "server/motions", "server/guard", "server", "studio",
	"cmd/poise",
}

// testOnly packages serve tests and may import anything below cmd; nothing but
// tests may import them.
var testOnly = []string{"internal/approx", "internal/chaos", "internal/doctest", "internal/feet", "internal/golden", "internal/legged", "internal/mujoco", "internal/netns", "internal/onfeet", "internal/priorities", "internal/randbot", "internal/randmsg", "internal/rig", "internal/oracle", "internal/servoplant", "internal/smalldisk", "internal/stepped", "internal/walks", "rtps/rtpstest", "servo/servotest", "wire/wiretest"}

// free folders hold programs that may import everything and are imported by none.
var free = []string{"examples/", "tools/"}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestLayering(t *testing.T) {
	rank := map[string]int{}
	for i, p := range layers {
		rank[p] = i
	}
	for _, p := range goPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "poise/")
		if name == "poise" || slices.Contains(testOnly, name) || isFree(name) {
			continue
		}
		own, placed := place(rank, name)
		if !placed {
			t.Errorf("package %s has no place: add it to layers in layers_test.go", name)
			continue
		}
		for _, imp := range p.Imports {
			below, ours := strings.CutPrefix(imp, "poise/")
			if !ours {
				continue
			}
			switch r, ok := place(rank, below); {
			case slices.Contains(testOnly, below):
				t.Errorf("%s imports %s, which is for tests only", name, below)
			case !ok:
				t.Errorf("%s imports %s, which has no place in layers", name, below)
			case r >= own:
				t.Errorf("%s imports %s, which stands above it", name, below)
			}
		}
	}
}

// place returns where a package stands: where it is listed, or its folder's others are.
func place(rank map[string]int, name string) (int, bool) {
	if r, ok := rank[name]; ok {
		return r, true
	}
	r, ok := rank[path.Dir(name)+"/*"]
	return r, ok
}

// TestArchitectureNamesEveryPackage that has a place of its own: by its path, or by its last name where its folder is told. Drivers and
// controllers that stand with the others of their folder are added without a word here.
// What it names beside packages is a file, a folder or a command.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	have := map[string]bool{}
	for _, p := range goPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "poise/")
		have[name], have[path.Base(name)] = true, true
		forTests := strings.HasPrefix(name, "internal/") && slices.Contains(testOnly, name) // told together
		own := slices.Contains(layers, name)
		if own && !forTests && !isFree(name) && !named[name] && !named[path.Base(name)] {
			t.Errorf("ARCHITECTURE.md does not name %s", name)
		}
	}
	for name := range named {
		if _, err := os.Stat(name); err != nil && !have[name] && !strings.HasPrefix(name, "poise ") {
			t.Errorf("ARCHITECTURE.md names %s, which does not exist", name)
		}
	}
	if lines := strings.Count(string(text), "\n"); lines > 100 {
		t.Errorf("ARCHITECTURE.md has %d lines: more than two screens", lines)
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range goPackages(t) {
		dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "poise"), "/")
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		documented, sources := false, 0
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			sources++
			tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			documented = documented || tree.Doc != nil
		}
		if sources > 0 && !documented {
			t.Errorf("package %s has no package comment", path.Join("poise", dir))
		}
	}
}

// outside lists the packages of layers that may see a clock, a file, the network or
// a log. All others are pure: time and data are arguments, and what they say goes
// out as values.
var outside = []string{
	"rtps", "internal/rt", "internal/budget", "internal/journal", "internal/plot", "robot/load", "robot/setup", "identify/session", "planner/pipeline", "planner/queue", "arbiter/scenario", "telemetry", "loop/runner", "motion/library", "servo/bus", "servo/protocol1", "servo/dynamixel", "servo/herkulex", "servo/emulator", "servo/bench",
	"executive", "graph", "stop", "wire", "wire/loopback", "wire/admission", "wire/rosapi", "wire/rosbridge/frame", "wire/rosbridge/client", "wire/mirror", "wire/rosbridge", "wire/rosnet", "wire/ros1/xmlrpc", "wire/ros1/master", "wire/ros1", "wire/ros1/raw", "wire/ros2",
	"wire/rosbridge/requester",
	"server/config", "server/motions", "server/guard", "server", "studio", "cmd/poise",
}

func TestPurePackagesSeeNoOutside(t *testing.T) {
	forbidden := []string{"os", "net", "net/http", "log", "log/slog", "time"}
	for _, p := range goPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "poise/")
		if !slices.Contains(layers, name) {
			continue
		}
		sees := slices.DeleteFunc(p.Imports, func(imp string) bool { return !slices.Contains(forbidden, imp) })
		switch allowed := slices.Contains(outside, name); {
		case !allowed && len(sees) > 0:
			t.Errorf("%s is pure and imports %s", name, strings.Join(sees, ", "))
		case allowed && len(sees) == 0:
			t.Errorf("%s is pure by now: take it off the list outside", name)
		}
	}
}

// TestLayersNameNoGhosts keeps the lists true: what they name exists, once.
func TestLayersNameNoGhosts(t *testing.T) {
	have := map[string]bool{}
	for _, p := range goPackages(t) {
		have[strings.TrimPrefix(p.ImportPath, "poise/")] = true
	}
	for name, list := range map[string][]string{"layers": layers, "testOnly": testOnly, "outside": outside} {
		seen := map[string]bool{}
		for _, p := range list {
			if !have[p] && path.Base(p) != "*" {
				t.Errorf("%s lists %s, which does not exist", name, p)
			}
			if seen[p] {
				t.Errorf("%s lists %s twice", name, p)
			}
			seen[p] = true
		}
	}
}

func isFree(name string) bool {
	return slices.ContainsFunc(free, func(f string) bool { return strings.HasPrefix(name+"/", f) })
}

// goPackages asks the go command, so that build constraints count.
func goPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
