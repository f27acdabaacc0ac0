package main

import (
	"math"

	"github.com/spf13/pflag"

	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// kinCommand answers questions about where a robot's links are, line by line.
func kinCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	return runLines(e, fs, func(m *robot.Model) []operation {
		k := &kin{m: m, d: kinematics.NewData(m)}
		return []operation{
			{"fk", k.fk},
			{"jacobian", k.jacobian},
			{"ik", (&inverse{m: m, solvers: map[inverseKey]*ik.Solver{}}).answer},
		}
	})
}

// runLines loads the robot of a command line, makes the operations for it and
// lets the chosen one answer all lines.
func runLines(e *env, fs *pflag.FlagSet, operations func(m *robot.Model) []operation) func(args []string) error {
	from := new(robotFlags)
	from.register(fs)
	fs.BoolVar(&e.json, "json", false, "failures are JSON, as answers are in any case")
	return func(args []string) error {
		bot, rest, err := from.load(args)
		if err != nil {
			return err
		}
		op, err := choose(operations(bot.Model), rest)
		if err != nil {
			return err
		}
		return answerLines(e, op)
	}
}

type kin struct {
	m *robot.Model
	d *kinematics.Data
}

// fk: {"q","frame"} → pose.
func (k *kin) fk(r *request) (any, error) {
	q := r.configuration("q", k.m)
	frame := r.frame("frame", k.m)
	if err := r.done(); err != nil {
		return nil, err
	}
	k.d.UpdatePosition(q)
	return poseAnswer(k.d.Pose(k.d.At(frame))), nil
}

// jacobian: {"q","frame"} → {"J"}, six rows: linear, angular; world axes at the
// origin of the frame.
func (k *kin) jacobian(r *request) (any, error) {
	q := r.configuration("q", k.m)
	frame := r.frame("frame", k.m)
	if err := r.done(); err != nil {
		return nil, err
	}
	k.d.UpdatePosition(q)
	J := make([]float64, 6*k.m.NumV())
	k.d.JacobianTo(J, k.d.At(frame))
	return struct {
		J [][]float64 `json:"J"`
	}{rows(J, 6)}, nil
}

// xyz and xyzw are vectors and quaternions as messages have them.
type xyz struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
}

type xyzw struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
	W float64 `json:"w"`
}

type pose struct {
	Position    xyz  `json:"position"`
	Orientation xyzw `json:"orientation"`
}

func poseAnswer(X spatial.Pose) pose {
	Q := X.R.Quat()
	return pose{xyz{X.P.X, X.P.Y, X.P.Z}, xyzw{Q.X, Q.Y, Q.Z, Q.W}}
}

// rows cuts a row-major matrix of n rows.
func rows(M []float64, n int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		width := len(M) / n
		all[i] = M[i*width : (i+1)*width]
	}
	return all
}

// unitTolerance is how far the length of a quaternion may be from one: files and
// messages round, but what is further off was meant otherwise.
const unitTolerance = 1e-3

// configuration takes a whole configuration of the robot.
func (r *request) configuration(key string, m *robot.Model) []float64 {
	q := r.numbers(key, m.NumQ())
	if q == nil {
		return nil
	}
	for _, b := range m.Bodies()[1:] {
		if b.Kind != robot.Floating {
			continue
		}
		i := b.Q + 3
		length := math.Hypot(math.Hypot(q[i], q[i+1]), math.Hypot(q[i+2], q[i+3]))
		if !(math.Abs(length-1) <= unitTolerance) {
			r.fail("%s[%d] to %s[%d]: the quaternion has length %.4g, want 1", key, i, key, i+3, length)
		}
	}
	return q
}

// frame takes the name of a link.
func (r *request) frame(key string, m *robot.Model) robot.FrameID {
	name, told := r.text(key)
	id, ok := m.Frame(name)
	if told && !ok {
		r.fail("%s %q is unknown%s", key, name, problem.Hint(name, m.FrameNames()))
	}
	return id
}
