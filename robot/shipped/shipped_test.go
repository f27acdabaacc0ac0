package shipped_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

// tolProduct is what a product of a dozen poses loses in double precision, m or
// without unit.
const tolProduct = 1e-12

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range bot.Warnings {
		t.Errorf("%s: warning: %s", name, w)
	}
	return bot.Model
}

func TestLoadWithoutWarnings(t *testing.T) {
	for _, name := range load.Shipped() {
		if m := model(t, name); m.Name() != name {
			t.Errorf("robot %q calls itself %q", name, m.Name())
		}
	}
}

func TestZeroLiesWithinLimits(t *testing.T) {
	for _, name := range load.Shipped() {
		for _, j := range model(t, name).Joints() {
			if l := j.Limits; !l.Lower.Has || !l.Upper.Has || l.Lower.Value > 0 || l.Upper.Value < 0 {
				t.Errorf("%s: joint %s: zero is not within %v … %v", name, j.Name, l.Lower, l.Upper)
			}
		}
	}
}

// Every body that moves has mass and inertia, else no torque could be told from
// its motion.
func TestEveryMovingBodyHasInertia(t *testing.T) {
	for _, name := range load.Shipped() {
		for _, b := range model(t, name).Bodies()[1:] {
			I := b.Inertia.AboutOrigin()
			if b.Inertia.Mass <= 0 || I[0] <= 0 || I[4] <= 0 || I[8] <= 0 {
				t.Errorf("%s: body of joint %q weighs %g kg, inertia %v", name, b.Name, b.Inertia.Mass, I)
			}
		}
	}
}

// state is a configuration worked out by hand: a product of poses, no package
// above robot.
type state struct {
	m *robot.Model
	q []float64
	X []spatial.Pose // X_WB of each body
}

// at places the joints named; all others are at zero, the base at the origin.
func at(t testing.TB, m *robot.Model, joints map[string]float64) *state {
	t.Helper()
	q := make([]float64, m.NumQ())
	if m.Floating() {
		q[6] = 1
	}
	for name, value := range joints {
		id, ok := m.Joint(name)
		if !ok {
			t.Fatalf("no joint %q", name)
		}
		q[m.Joints()[id].Q] = value
	}
	return place(m, q)
}

func place(m *robot.Model, q []float64) *state {
	s := &state{m, q, make([]spatial.Pose, len(m.Bodies()))}
	s.X[0] = spatial.IdentityPose
	for i, b := range m.Bodies()[1:] {
		motion := spatial.IdentityPose
		switch b.Kind {
		case robot.Revolute, robot.Continuous:
			motion.R = spatial.AxisAngle(spatial.Vec3{Z: 1}, b.Ratio*q[b.Q]+b.Offset)
		case robot.Prismatic:
			motion.P.Z = b.Ratio*q[b.Q] + b.Offset
		}
		s.X[i+1] = s.X[b.Parent].Mul(b.Rest).Mul(motion)
	}
	return s
}

func (s *state) frame(t testing.TB, name string) spatial.Pose {
	t.Helper()
	id, ok := s.m.Frame(name)
	if !ok {
		t.Fatalf("no link %q", name)
	}
	f := s.m.Frames()[id]
	return s.X[f.Body].Mul(f.Pose)
}

// axis returns a point on a joint's axis and its direction.
func (s *state) axis(t testing.TB, joint string) (point, direction spatial.Vec3) {
	t.Helper()
	id, ok := s.m.Joint(joint)
	if !ok {
		t.Fatalf("no joint %q", joint)
	}
	X := s.X[s.m.Joints()[id].Body]
	return X.P, X.R.Col(2)
}

func (s *state) centreOfMass() spatial.Vec3 {
	var sum spatial.Inertia
	for i, b := range s.m.Bodies() {
		sum = sum.Add(b.Inertia.Transform(s.X[i]))
	}
	return sum.Com
}

// sample draws a configuration uniformly within the limits.
func sample(rng *rand.Rand, m *robot.Model) []float64 {
	q := make([]float64, m.NumQ())
	if m.Floating() {
		q[6] = 1
	}
	for _, j := range m.Joints() {
		q[j.Q] = j.Limits.Lower.Value + rng.Float64()*(j.Limits.Upper.Value-j.Limits.Lower.Value)
	}
	return q
}

func vector(v spatial.Vec3) []float64 { return []float64{v.X, v.Y, v.Z} }

func equalVec(t testing.TB, what string, got, want spatial.Vec3, tol float64) {
	t.Helper()
	approx.Equal(t, what, vector(got), vector(want), approx.Tol{Abs: tol})
}

// margin returns how deep a point lies inside the convex hull of others, seen
// from above: the smallest distance over all directions, negative outside.
func margin(p spatial.Vec3, hull []spatial.Vec3) float64 {
	const directions = 720
	least := math.Inf(1)
	for k := range directions {
		s, c := math.Sincos(2 * math.Pi * float64(k) / directions)
		most := math.Inf(-1)
		for _, h := range hull {
			most = math.Max(most, c*(h.X-p.X)+s*(h.Y-p.Y))
		}
		least = math.Min(least, most)
	}
	return least
}
