package dynamics_test

import (
	"fmt"
	"testing"

	"poise/dynamics"
	"poise/internal/approx"
	"poise/internal/oracle"
	"poise/spatial"
)

// What the reference files are good for, relative to max(1, max|ref|).
var (
	tolGolden        = approx.Tol{Rel: 1e-9}
	tolGoldenForward = approx.Tol{Rel: 1e-8} // the mass matrix of atlas has condition 5e5
)

func TestGoldenDynamics(t *testing.T) {
	for _, name := range oracle.DynamicsFiles {
		t.Run(name, func(t *testing.T) {
			ref := oracle.ReadDynamics(t, name)
			d := dynamics.NewData(ref.Model)
			for i, c := range ref.Cases {
				compareCase(t, fmt.Sprintf("case %d: ", i), d, ref, c)
			}
		})
	}
}

func compareCase(t *testing.T, at string, d *dynamics.Data, ref *oracle.Dynamics, c oracle.Case) {
	n := ref.Model.NumV()
	got := make([]float64, n)
	tau := c.TauIn
	if tau == nil {
		tau = make([]float64, n)
	}
	err := d.ForwardTo(got, c.Q, c.V, tau, none)
	if singular := ref.Singular || ref.Kinematics; isSingular(err) != singular {
		t.Fatalf("%sforward: %v, singular %v", at, err, singular)
	}
	if err == nil {
		approx.Equal(t, at+"aba", got, c.ABA, tolGoldenForward)
	}
	if ref.Kinematics {
		return
	}
	d.InverseTo(got, c.Q, c.V, c.A, none)
	approx.Equal(t, at+"rnea", got, c.RNEA, tolGolden)
	d.GravityTo(got, c.Q)
	approx.Equal(t, at+"gravity", got, c.Gravity, tolGolden)

	M := make([]float64, n*n)
	d.MassMatrixTo(M, c.Q, none)
	var want []float64
	for _, row := range c.CRBA {
		want = append(want, row...)
	}
	approx.Equal(t, at+"crba", M, want, tolGolden)

	// the reference is about the centre of the moving bodies, ours about that of
	// every link: they differ by the lever times the linear momentum
	h, ok := d.Momentum(c.Q, c.V)
	if !ok {
		t.Fatal("no momentum")
	}
	if c.ComWithBase != nil {
		lever := vec3(c.ComWithBase).Sub(vec3(c.Com))
		h.Angular = h.Angular.Add(lever.Cross(h.Linear))
	}
	approx.Equal(t, at+"h", momentum(h), c.H, tolGolden)
}

func vec3(x []float64) spatial.Vec3 { return spatial.Vec3{X: x[0], Y: x[1], Z: x[2]} }
