package ik_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"poise/internal/golden"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	loader "poise/robot/load"
	"poise/spatial"
)

// Answers are verified by the forward kinematics of another package.
const (
	tolPosition = 1e-6 // m
	tolRotation = 1e-6 // rad
)

// arm is a robot with the chain that the tests solve.
type arm struct {
	name, file, tip string
	closed          bool // a closed form must be found
}

var arms = []arm{
	{"panda", "robots/panda/panda.urdf", "panda_link8", false},
	{"prbt", "robots/prbt/prbt.urdf", "prbt_tcp", true},
	{"ur5e", "robots/ur5e/ur5e.urdf", "tool0", false},
	{"iiwa14", "robots/iiwa14/iiwa14.urdf", "iiwa_link_ee", false},
	{"fanuc", "robots/fanuc/fanuc.urdf", "tool0", true},
	{"arm6", "arm6", "tool0", true},
	{"pony leg 1", "pony", "hoof1", true},
	{"pony leg 2", "pony", "hoof2", true},
	{"pony leg 3", "pony", "hoof3", true},
	{"pony leg 4", "pony", "hoof4", true},
	{"pony leg 1 with its virtual yaw", "pony", "bone16", true},
}

// load reads a robot: shipped ones by name, others from the shared folder.
func load(t testing.TB, name string) *robot.Model {
	t.Helper()
	if strings.Contains(name, "/") {
		name = golden.Path(t, name)
	}
	r, err := loader.Robot(name, loader.Options{Base: robot.BaseFixed})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

func frame(t testing.TB, m *robot.Model, name string) robot.FrameID {
	t.Helper()
	f, ok := m.Frame(name)
	if !ok {
		var names []string
		for _, f := range m.Frames() {
			names = append(names, f.Name)
		}
		t.Fatalf("%s has no frame %q, but %q", m.Name(), name, names)
	}
	return f
}

func solver(t testing.TB, m *robot.Model, opt ik.Options, tip string) *ik.Solver {
	t.Helper()
	s, err := ik.New(m, opt, nil, frame(t, m, tip))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// off returns how far a frame is from a pose.
func off(d *kinematics.Data, q []float64, f robot.FrameID, want spatial.Pose) (position, rotation float64) {
	d.UpdatePosition(q)
	X := d.Pose(d.At(f))
	return X.P.Sub(want.P).Norm(), want.R.Transpose().Mul(X.R).Quat().Log().Norm()
}

func within(m *robot.Model, q []float64) error {
	for _, j := range m.Joints() {
		if v := q[j.Q]; j.Kind != robot.Continuous && j.Kind.NumQ() == 1 &&
			(j.Limits.Lower.Has && v < j.Limits.Lower.Value || j.Limits.Upper.Has && v > j.Limits.Upper.Value) {
			return fmt.Errorf("joint %s at %g is outside %g … %g", j.Name, v, j.Limits.Lower.Value, j.Limits.Upper.Value)
		}
	}
	return nil
}

// TestRandomPosesAreSolvedWithinLimits draws poses from joint samples and seeds
// apart from them, and asks that 99.9 % are solved with default settings.
func TestRandomPosesAreSolvedWithinLimits(t *testing.T) {
	n := 10000
	if testing.Short() {
		n = 200
	}
	for _, a := range arms {
		t.Run(a.name, func(t *testing.T) { solveRandom(t, load(t, a.file), a, n) })
	}
}

func solveRandom(t *testing.T, m *robot.Model, a arm, n int) {
	s := solver(t, m, ik.Options{}, a.tip)
	if s.ClosedForm() != a.closed {
		t.Errorf("closed form found: %v, want %v", s.ClosedForm(), a.closed)
	}
	rng := rand.New(rand.NewPCG(3, 14))
	space, d, f := kinematics.NewSpace(m), kinematics.NewData(m), frame(t, m, a.tip)
	truth, seed, q := make([]float64, m.NumQ()), make([]float64, m.NumQ()), make([]float64, m.NumQ())
	failed, worstP, worstR, iterations, restarts := 0, 0.0, 0.0, 0, 0
	for i := range n {
		space.RandomTo(truth, rng)
		space.RandomTo(seed, rng)
		d.UpdatePosition(truth)
		want := d.Pose(d.At(f))
		r := s.PoseTo(q, want, seed)
		iterations += r.Iterations
		restarts += r.Restarts
		if r.Status != ik.Solved {
			failed++
			continue
		}
		p, rot := off(d, q, f, want)
		worstP, worstR = max(worstP, p), max(worstR, rot)
		if err := within(m, q); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
	}
	t.Logf("%s: %d solved, %d failed, worst %.1e m %.1e rad, %.1f iterations and %.2f restarts a pose",
		a.name, n-failed, failed, worstP, worstR, float64(iterations)/float64(n), float64(restarts)/float64(n))
	if worstP > tolPosition || worstR > tolRotation {
		t.Errorf("worst error %.1e m, %.1e rad", worstP, worstR)
	}
	if failed*1000 > n {
		t.Errorf("%d of %d failed, at most 0.1 %% may", failed, n)
	}
}

// BenchmarkCold solves random poses from independent seeds; the median is the
// figure that users feel.
func BenchmarkCold(b *testing.B) {
	for _, a := range arms {
		b.Run(a.name, func(b *testing.B) {
			m := load(b, a.file)
			s := solver(b, m, ik.Options{}, a.tip)
			rng := rand.New(rand.NewPCG(3, 14))
			space, d, f := kinematics.NewSpace(m), kinematics.NewData(m), frame(b, m, a.tip)
			const n = 256
			truth, q := make([]float64, m.NumQ()), make([]float64, m.NumQ())
			poses, seeds := make([]spatial.Pose, n), make([][]float64, n)
			for i := range n {
				space.RandomTo(truth, rng)
				seeds[i] = make([]float64, m.NumQ())
				space.RandomTo(seeds[i], rng)
				d.UpdatePosition(truth)
				poses[i] = d.Pose(d.At(f))
			}
			var iterations []float64
			for i := range n {
				iterations = append(iterations, float64(s.PoseTo(q, poses[i], seeds[i]).Iterations))
			}
			slices.Sort(iterations)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s.PoseTo(q, poses[i%n], seeds[i%n])
				i++
			}
			b.ReportMetric(iterations[n/2], "median-iterations")
			b.ReportMetric(iterations[n*99/100], "p99-iterations")
		})
	}
}

// BenchmarkLine follows a straight line, a millimetre a step, the tool pointing
// down; each step starts from the solution before.
func BenchmarkLine(b *testing.B) {
	for _, l := range []struct {
		name, file, tip string
		start           []float64
		x, z, length    float64
	}{
		{"panda", "robots/panda/panda.urdf", "panda_link8", []float64{-0.8, 0.3, 0, -2.2, 0, 2.5, 0}, 0.4, 0.35, 1},
		{"arm6", "arm6", "tool0", []float64{-0.8, 0.3, 0.3, 0, 0, 0}, 0.4, 0.35, 1},
	} {
		b.Run(l.name, func(b *testing.B) {
			m := load(b, l.file)
			s := solver(b, m, ik.Options{}, l.tip)
			q, start := make([]float64, m.NumQ()), make([]float64, m.NumQ())
			copy(start, l.start)
			down := spatial.Mat3{1, 0, 0, 0, -1, 0, 0, 0, -1}
			at := func(i int) spatial.Pose {
				return spatial.Pose{R: down, P: spatial.Vec3{X: l.x, Y: -l.length/2 + float64(i)/1000, Z: l.z}}
			}
			if r := s.PoseTo(start, at(0), start); r.Status != ik.Solved {
				b.Fatalf("start: %+v", r)
			}
			b.ReportAllocs()
			steps, n := 0, int(l.length*1000)+1
			for b.Loop() {
				copy(q, start)
				for i := range n {
					r := s.PoseTo(q, at(i), q)
					if r.Status != ik.Solved {
						b.Fatalf("at %d mm: %+v", i, r)
					}
					steps += r.Iterations
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
			b.ReportMetric(float64(steps)/float64(b.N)/float64(n), "iterations/step")
		})
	}
}
