package pilz_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"poise/edge"
	"poise/internal/golden"
	"poise/kinematics"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/planner"
	"poise/planner/pilz"
	"poise/planner/pipeline"
	"poise/robot"
	"poise/robot/load"
)

// What the issue asks for.
const (
	tolTime  = 1e-6 // s
	tolJoint = 1e-6 // rad
	tolPose  = 1e-6 // m
)

type goldenPoint struct {
	T   float64   `json:"t"`
	Q   []float64 `json:"q"`
	QD  []float64 `json:"qd"`
	TCP []float64 `json:"tcp"`
}

type goldenTrajectory struct {
	JointNames []string      `json:"joint_names"`
	Points     []goldenPoint `json:"points"`
}

type goldenCase struct {
	Name         string             `json:"name"`
	Limits       string             `json:"limits"`
	SamplingTime float64            `json:"sampling_time"`
	ErrorCode    int32              `json:"error_code"`
	Trajectory   *goldenTrajectory  `json:"trajectory"`
	Trajectories []goldenTrajectory `json:"trajectories"`
}

func cases(t *testing.T, file string) []goldenCase {
	var f struct {
		Cases []goldenCase `json:"cases"`
	}
	if err := json.Unmarshal(golden.Read(t, "golden/pilz/"+file), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Cases) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return f.Cases
}

// limitSets are the limits that the golden files name: velocity, acceleration and
// deceleration of every joint, and the Cartesian ones.
var limitSets = map[string]struct{ v, a, d, trans, acc, rot float64 }{
	"yaml":       {1.57, 3.49, -3.49, 1, 2.25, 1.57},
	"ptp":        {1, 0.5, -1, 1, 2.25, 1.57},
	"scale":      {2, 1.5, -3, 1, 2.25, 1.57},
	"fake_lin":   {1.57, 3.49, -3.49, 1, 2, math.Pi / 2},
	"fake_circ":  {1.57, 3.49, -3.49, math.Pi, math.Pi, math.Pi},
	"fake_blend": {1.57, 3.49, -3.49, math.Pi, 2, 1},
}

// prbt returns the arm with one of the limit sets.
func prbt(t *testing.T, set string) *robot.Model {
	l, ok := limitSets[set]
	if !ok {
		t.Fatalf("no limits %q", set)
	}
	dir := t.TempDir()
	joints, cart := filepath.Join(dir, "joints.yaml"), filepath.Join(dir, "cart.yaml")
	text := "joint_limits:\n"
	for _, n := range jointNames {
		text += "  " + n + ": {has_velocity_limits: true, max_velocity: " + num(l.v) + ", has_acceleration_limits: true, max_acceleration: " + num(l.a) +
			", has_deceleration_limits: true, max_deceleration: " + num(l.d) + "}\n"
	}
	write(t, joints, text)
	write(t, cart, "cartesian_limits: {max_trans_vel: "+num(l.trans)+", max_trans_acc: "+num(l.acc)+", max_trans_dec: -5, max_rot_vel: "+num(l.rot)+"}\n")
	return loadPrbt(t, joints, cart)
}

var jointNames = []string{"prbt_joint_1", "prbt_joint_2", "prbt_joint_3", "prbt_joint_4", "prbt_joint_5", "prbt_joint_6"}

func num(x float64) string { b, _ := json.Marshal(x); return string(b) }

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func request(t *testing.T, name string) []byte {
	return golden.Read(t, "golden/pilz/requests/"+name+".json")
}

// current is the robot's state where a request gives none.
var current = []float64{0, -0.016763700542892668, -1.673499069949556, 0, -1.4848572841831293, 2.3561944901923377}

func TestSingleRequestsAreAnsweredAsByTheOriginal(t *testing.T) {
	for _, file := range []string{"prbt_single.json", "prbt_validation.json"} {
		for _, c := range cases(t, file) {
			t.Run(c.Name, func(t *testing.T) {
				m := prbt(t, c.Limits)
				var msg msgs.MotionPlanRequest
				if err := rosjson.Unmarshal(request(t, c.Name), &msg); err != nil {
					t.Fatal(err)
				}
				req, why := edge.PlanRequest(&msg)
				var got *planner.Motion
				if why == nil {
					p := pilz.Planner{Model: m, Sampling: c.SamplingTime}
					got, why = p.Plan(context.Background(), &req, current)
				}
				checkCode(t, why, c.ErrorCode)
				if c.Trajectory != nil && got != nil {
					compare(t, m, got, *c.Trajectory)
				}
			})
		}
	}
}

func TestSequencesAreAnsweredAsByTheOriginal(t *testing.T) {
	for _, c := range cases(t, "prbt_sequences.json") {
		t.Run(c.Name, func(t *testing.T) {
			m := prbt(t, c.Limits)
			var msg msgs.MotionSequenceRequest
			if err := rosjson.Unmarshal(request(t, c.Name), &msg); err != nil {
				t.Fatal(err)
			}
			var items []planner.Item
			for i := range msg.Items {
				req, why := edge.PlanRequest(&msg.Items[i].Req)
				if why != nil {
					t.Fatal(why)
				}
				items = append(items, planner.Item{Request: req, Radius: msg.Items[i].BlendRadius})
			}
			p := pilz.Planner{Model: m}
			got, why := p.Sequence(context.Background(), items, current)
			checkCode(t, why, c.ErrorCode)
			if len(got) != len(c.Trajectories) {
				t.Fatalf("%d trajectories, want %d", len(got), len(c.Trajectories))
			}
			for i := range got {
				compare(t, m, got[i], c.Trajectories[i])
			}
		})
	}
}

func checkCode(t *testing.T, why *planner.Refusal, want int32) {
	t.Helper()
	if got := edge.PlanCode(&pipeline.Answer{Refusal: why}, "test"); got.Val != want {
		t.Fatalf("error code %d (%s), want %d", got.Val, got.Message, want)
	}
	if why != nil {
		t.Log(why)
	}
}

// compare asks for the same points: times, joints, and where the tool is.
func compare(t *testing.T, m *robot.Model, got *planner.Motion, want goldenTrajectory) {
	t.Helper()
	pts := got.Trajectory.Points
	if len(pts) != len(want.Points) {
		t.Fatalf("%d points, want %d", len(pts), len(want.Points))
	}
	d := kinematics.NewData(m)
	tip, _ := m.Frame("prbt_tcp")
	q := slices.Clone(got.Start)
	column := make([]int, len(got.Joints)) // of our joints in theirs, −1 if not there
	for k, j := range got.Joints {
		column[k] = slices.Index(want.JointNames, m.Joints()[j].Name)
	}
	for i, p := range pts {
		w := want.Points[i]
		if math.Abs(p.Time-w.T) > tolTime {
			t.Fatalf("point %d at %.9f s, want %.9f", i, p.Time, w.T)
		}
		for k, j := range got.Joints {
			q[m.Joints()[j].Q] = p.Position[k]
			if c := column[k]; c >= 0 && math.Abs(p.Position[k]-w.Q[c]) > tolJoint {
				t.Fatalf("point %d, joint %d: %.9f, want %.9f", i, k, p.Position[k], w.Q[c])
			}
			if c := column[k]; c >= 0 && w.QD != nil && math.Abs(p.Velocity[k]-w.QD[c]) > 1e-4 {
				t.Fatalf("point %d, joint %d: velocity %.9f, want %.9f", i, k, p.Velocity[k], w.QD[c])
			}
		}
		if len(w.TCP) == 7 {
			d.UpdatePosition(q)
			P := d.Pose(d.At(tip)).P
			if far := math.Hypot(math.Hypot(P.X-w.TCP[0], P.Y-w.TCP[1]), P.Z-w.TCP[2]); far > tolPose {
				t.Fatalf("point %d: tool %.3g m off", i, far)
			}
		}
	}
}

func loadPrbt(t *testing.T, limits, cartesian string) *robot.Model {
	t.Helper()
	r, err := load.Robot(golden.Path(t, "robots/prbt"), load.Options{Limits: limits, Cartesian: cartesian, OverrideLimits: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}
