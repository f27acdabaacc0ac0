package path

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/spatial"
)

// central differences with h = ∛ε: truncation and rounding near 1e-10, times
// derivatives of up to ten
var tolDiff = approx.Tol{Abs: 1e-7, Rel: 1e-7}

const h = 6e-6

func vec(rng *rand.Rand) spatial.Vec3 {
	return spatial.Vec3{X: rng.Float64()*2 - 1, Y: rng.Float64()*2 - 1, Z: rng.Float64()*2 - 1}
}

func rotation(rng *rand.Rand) spatial.Mat3 { return spatial.ExpRotation(vec(rng).Scale(2)).Matrix() }

func randomPaths(rng *rand.Rand) map[string]Path {
	t := TurnBetween(rotation(rng), rotation(rng))
	c := Coupling{Lever: rng.Float64()}
	start, centre := vec(rng), vec(rng)
	normal, _ := start.Sub(centre).Cross(vec(rng)).Unit()
	line := NewLine(start, vec(rng), t, c)
	arc := NewArc(start, centre, normal, (rng.Float64()-0.5)*12, t, c)
	bend := NewBend(line.At(0.4), arc.At(0.3), 0.3+rng.Float64())
	return map[string]Path{
		"bend":               bend,
		"part":               Cut(arc, 0.1*arc.Length(), 0.9*arc.Length()),
		"spiral":             NewSpiral(start, centre, normal, 0.5+rng.Float64(), start.Sub(centre).Norm()*1.1, t),
		"line":               line,
		"line without lever": NewLine(start, vec(rng), t, Coupling{}),
		"pure rotation":      NewLine(start, start, t, Coupling{}),
		"arc":                arc,
		"chain":              NewChain(line, NewLine(line.At(line.Length()).Pose.P, vec(rng), Turn{Start: line.At(line.Length()).Pose.R}, c)),
	}
}

func TestDerivativesAreThoseOfThePose(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		for name, p := range randomPaths(rng) {
			s := p.Length() * (0.1 + 0.3*rng.Float64())
			a, b, x := p.At(s-h), p.At(s+h), p.At(s)
			d := b.Pose.P.Sub(a.Pose.P).Scale(1 / (2 * h))
			w := b.Pose.R.Mul(a.Pose.R.Transpose()).Quat().Log().Scale(1 / (2 * h))
			compare(t, name+" position", d, x.D1.Linear)
			compare(t, name+" rotation", w, x.D1.Angular)
			compare(t, name+" second of position", b.D1.Linear.Sub(a.D1.Linear).Scale(1/(2*h)), x.D2.Linear)
			compare(t, name+" second of rotation", b.D1.Angular.Sub(a.D1.Angular).Scale(1/(2*h)), x.D2.Angular)
		}
	}
}

func compare(t *testing.T, what string, got, want spatial.Vec3) {
	t.Helper()
	approx.Equal(t, what, []float64{got.X, got.Y, got.Z}, []float64{want.X, want.Y, want.Z}, tolDiff)
}

func TestLengthIsTheLongerOfWayAndRotation(t *testing.T) {
	turn := Turn{Start: spatial.Identity3, Axis: spatial.Vec3{Z: 1}, Angle: 2}
	for _, tc := range []struct {
		name            string
		distance, lever float64
		want            float64
	}{
		{"way dominates", 1, 0.2, 1},
		{"rotation dominates", 1, 0.8, 1.6},
		{"no lever", 1, 0, 1},
		{"rotation alone", 0, 0.5, 1},
		{"rotation alone without lever", 0, 0, 2},
	} {
		l := NewLine(spatial.Vec3{}, spatial.Vec3{X: tc.distance}, turn, Coupling{Lever: tc.lever})
		end := l.At(l.Length())
		if math.Abs(l.Length()-tc.want) > 1e-15 || math.Abs(end.Pose.P.X-tc.distance) > 1e-15 {
			t.Errorf("%s: length %g, want %g; ends at %g", tc.name, l.Length(), tc.want, end.Pose.P.X)
		}
		if φ := end.Pose.R.Quat().Log().Z; math.Abs(φ-2) > 1e-14 {
			t.Errorf("%s: turned by %g", tc.name, φ)
		}
	}
}

func TestTurnBetweenIsSlerp(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		A, B := rotation(rng), rotation(rng)
		turn := TurnBetween(A, B)
		end := turn.at(turn.Angle)
		approx.Equal(t, "end", end[:], B[:], approx.Tol{Abs: 1e-13})
		if turn.Angle < 0 || turn.Angle > math.Pi {
			t.Errorf("turn of %g", turn.Angle)
		}
	}
}

func TestChainIsContinuousAndKnowsItsBorders(t *testing.T) {
	a := NewLine(spatial.Vec3{}, spatial.Vec3{X: 1}, Turn{Start: spatial.Identity3}, Coupling{})
	b := NewArc(spatial.Vec3{X: 1}, spatial.Vec3{X: 1, Y: 0.5}, spatial.Vec3{Z: 1}, math.Pi/2, Turn{Start: spatial.Identity3}, Coupling{})
	c := NewChain(a, b)
	if k := c.Knots(); len(k) != 1 || k[0] != 1 {
		t.Errorf("knots %v", k)
	}
	compare(t, "border", c.At(1-1e-12).Pose.P, c.At(1).Pose.P)
	compare(t, "tangent at the border", c.At(1-1e-12).D1.Linear, c.At(1).D1.Linear)
	compare(t, "end", c.At(c.Length()).Pose.P, spatial.Vec3{X: 1.5, Y: 0.5})
	if NewChain().Length() != 0 || NewChain(a).Knots() != nil {
		t.Error("an empty chain has length, or a single one knots")
	}
}

// A bend continues what it joins: pose, first and second derivative.
func TestBendMeetsItsEndsSmoothly(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		paths := randomPaths(rng)
		a, b := paths["arc"].At(0.1), paths["line"].At(0.2)
		c := NewBend(a, b, 0.2+rng.Float64())
		for i, pair := range [][2]State{{a, c.At(0)}, {b, c.At(c.Length())}} {
			want, got := pair[0], pair[1]
			compare(t, "position", got.Pose.P, want.Pose.P)
			approx.Equal(t, "rotation", got.Pose.R[:], want.Pose.R[:], approx.Tol{Abs: 1e-12})
			compare(t, "tangent", got.D1.Linear, want.D1.Linear)
			compare(t, "turning", got.D1.Angular, want.D1.Angular)
			compare(t, "curvature", got.D2.Linear, want.D2.Linear)
			compare(t, "change of turning", got.D2.Angular, want.D2.Angular)
			if t.Failed() {
				t.Fatalf("end %d", i)
			}
		}
	}
}

func TestSpiralEndsAtTheOtherRadius(t *testing.T) {
	s := NewSpiral(spatial.Vec3{X: 1}, spatial.Vec3{}, spatial.Vec3{Z: 1}, math.Pi/2, 1.01, Turn{Start: spatial.Identity3})
	compare(t, "end", s.At(s.Length()).Pose.P, spatial.Vec3{Y: 1.01})
	compare(t, "tangent at the end", s.At(s.Length()).D1.Linear, spatial.Vec3{X: -1.01})
	compare(t, "start", s.At(0).Pose.P, spatial.Vec3{X: 1})
}

func TestCutOfACutIsACut(t *testing.T) {
	a := NewArc(spatial.Vec3{X: 1}, spatial.Vec3{}, spatial.Vec3{Z: 1}, 3, Turn{Start: spatial.Identity3}, Coupling{})
	c := Cut(Cut(a, 1, 2.5), 0.5, 1)
	compare(t, "start", c.At(0).Pose.P, a.At(1.5).Pose.P)
	if c.Length() != 0.5 || Cut(a, 0, a.Length()) != Path(a) {
		t.Errorf("length %g", c.Length())
	}
}
