package oracle

import (
	"encoding/json"
	"sync"
	"testing"

	"poise/internal/golden"
	"poise/robot"
	"poise/robot/load"
	"poise/urdf"
)

// Dynamics is a file of reference kinematics and dynamics: arrays in the order
// of the Model, made by Pinocchio.
type Dynamics struct {
	Robot      string
	URDF       string
	Floating   bool
	Singular   bool     `json:"mass_matrix_singular"`
	Kinematics bool     `json:"kinematics_only"`
	Mass       float64  `json:"mass_total"`
	Moving     float64  `json:"mass_moving"`
	Joints     []string `json:"joint_names"`
	Cases      []Case

	Model *robot.Model `json:"-"`
}

// Case is one state and what belongs to it.
type Case struct {
	Q, V, A     []float64
	TauIn       []float64 `json:"tau_in"`
	RNEA        []float64
	CRBA        [][]float64
	ABA         []float64
	Gravity     []float64
	Com         []float64 // of the moving bodies
	ComWithBase []float64 `json:"com_with_base"` // of all links, if that differs
	VCom        []float64 // of the moving bodies
	H           []float64 // momentum, angular about Com
	Frames      map[string]Frame
}

// Frame is the reference for one link.
type Frame struct {
	Position   []float64
	Quaternion []float64 `json:"quaternion_xyzw"`
	Jacobian   [][]float64
	JdotV      []float64 `json:"jdotv"`
}

// DynamicsFiles lists the robots that have a reference file.
var DynamicsFiles = []string{"panda", "panda_inertial", "prbt", "prbt_pg70", "ur5e", "go2", "atlas"}

// ReadDynamics reads a reference file and loads its robot.
func ReadDynamics(tb testing.TB, name string) *Dynamics {
	tb.Helper()
	var d Dynamics
	if err := json.Unmarshal(golden.Read(tb, "golden/dynamics/"+name+".json"), &d); err != nil {
		tb.Fatal(err)
	}
	base := robot.BaseFixed
	if d.Floating {
		base = robot.BaseFloating
	}
	d.Model = loadFile(tb, golden.Path(tb, "golden/dynamics/"+d.URDF), base)
	return &d
}

// Robot loads a robot of ../shared or a shipped one, by name: the folder, or
// folder/file for others than the folder's own. "panda7" is panda_inertial with
// its fingers held.
func Robot(tb testing.TB, name string, base robot.Base) *robot.Model {
	tb.Helper()
	if name == "panda7" {
		held := loadFile(tb, golden.Path(tb, "robots/panda_inertial/panda_inertial.urdf"), base)
		return hold(tb, held, base)
	}
	for _, shipped := range load.Shipped() {
		if name == shipped {
			return loadFile(tb, name, base)
		}
	}
	file := name
	if name == "prbt_pg70" {
		name = "prbt"
	}
	return loadFile(tb, golden.Path(tb, "robots/"+name+"/"+file+".urdf"), base)
}

// Robots lists every robot at hand.
func Robots() []string {
	return append(load.Shipped(), "anymal_c", "atlas", "fanuc", "g1", "gen3_2f85", "go2", "iiwa14",
		"panda", "panda_inertial", "pr2", "prbt", "prbt_pg70", "ur5e")
}

// loaded keeps robots that have been read: tests ask for each a hundred times,
// and a Model never changes.
var loaded sync.Map

type loadKey struct {
	path string
	base robot.Base
}

func loadFile(tb testing.TB, path string, base robot.Base) *robot.Model {
	tb.Helper()
	key := loadKey{path, base}
	if m, ok := loaded.Load(key); ok {
		return m.(*robot.Model)
	}
	bot, err := load.Robot(path, load.Options{Base: base})
	if err != nil {
		tb.Fatal(err)
	}
	loaded.Store(key, bot.Model)
	return bot.Model
}

// hold builds the robot again with its prismatic joints fixed.
func hold(tb testing.TB, m *robot.Model, base robot.Base) *robot.Model {
	tb.Helper()
	doc := *m.Document()
	doc.Joints = append([]urdf.Joint(nil), doc.Joints...)
	for i := range doc.Joints {
		if doc.Joints[i].Type == urdf.Prismatic {
			doc.Joints[i].Type = urdf.Fixed
		}
	}
	held, _, err := robot.Build(&doc, robot.Options{Base: base})
	if err != nil {
		tb.Fatal(err)
	}
	return held
}
