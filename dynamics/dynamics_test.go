package dynamics_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/dynamics"
	"poise/internal/approx"
	"poise/internal/oracle"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/linalg"
	"poise/robot"
	"poise/spatial"
)

// Tolerances of the identities, relative to the largest number of the vector
// compared; they hold for trees of up to 40 bodies with masses around 1 kg.
var (
	// tolIdentity is for two algorithms that give the same number.
	tolIdentity = approx.Tol{Rel: 1e-12}
	// tolInverse is for a = forward(inverse(a)): the condition of M comes in.
	tolInverse = approx.Tol{Rel: 1e-9}
	// tolEnergy is for central differences of energies and momenta.
	tolEnergy = approx.Tol{Rel: 1e-6}
	// tolWrench is for external wrenches against Jacobians.
	tolWrench = approx.Tol{Rel: 1e-10}
)

// step is ∛ε, where truncation and rounding of a central difference balance.
const step = 6e-6

var none = dynamics.Load{}

// trees calls f with random robots of 2 to 40 bodies of all kinds, fixed and
// floating, with mimics and without, and a random state of each.
func trees(t *testing.T, f func(t *testing.T, m *robot.Model, s state)) {
	count := uint64(60)
	if testing.Short() {
		count = 8
	}
	for seed := range count {
		rng := randbot.New(seed)
		cfg := randbot.Config{
			Bodies: 2 + int(seed*7)%39, Fixed: int(seed % 4), Mimics: int(seed % 3),
			Serial: seed%5 == 0, Floating: seed%2 == 0,
		}
		m := randbot.Model(t, rng, cfg)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { f(t, m, newState(rng, m)) })
	}
	for _, name := range oracle.Robots() {
		for _, base := range []robot.Base{robot.BaseFixed, robot.BaseFloating} {
			t.Run(fmt.Sprintf("%s/%d", name, base), func(t *testing.T) {
				m := oracle.Robot(t, name, base)
				f(t, m, newState(randbot.New(1), m))
			})
		}
	}
}

type state struct {
	rng          *rand.Rand
	q, v, a, tau []float64
}

func newState(rng *rand.Rand, m *robot.Model) state {
	return state{rng, randbot.Position(rng, m), randbot.Velocity(rng, m), randbot.Velocity(rng, m), randbot.Velocity(rng, m)}
}

func TestMassMatrixColumnsAreInverseDynamics(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		M, want := make([]float64, n*n), make([]float64, n*n)
		d.MassMatrixTo(M, s.q, none)
		zero, col := make([]float64, n), make([]float64, n)
		g := make([]float64, n)
		d.GravityTo(g, s.q)
		for i := range n {
			e := make([]float64, n)
			e[i] = 1
			d.InverseTo(col, s.q, zero, e, none)
			for k := range n {
				want[k*n+i] = col[k] - g[k]
			}
		}
		approx.Equal(t, "M", M, want, approx.Tol{Rel: 1e-12 * 10}) // g is taken away again
	})
}

func TestMassMatrixIsSymmetricAndPositive(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		M := make([]float64, n*n)
		d.MassMatrixTo(M, s.q, none)
		for i := range n {
			for j := range i {
				if M[i*n+j] != M[j*n+i] {
					t.Fatalf("M[%d,%d] = %v, M[%d,%d] = %v", i, j, M[i*n+j], j, i, M[j*n+i])
				}
			}
		}
		switch least := leastPivot(M, n); {
		case least < -1e-12:
			t.Errorf("not positive: least pivot %g", least)
		case least < 1e-9 && m.Name() == "randbot":
			t.Errorf("singular: least pivot %g", least)
		}
	})
}

func TestInverseIsMassTimesAccelerationPlusBias(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		M, h, tau := make([]float64, n*n), make([]float64, n), make([]float64, n)
		d.MassMatrixTo(M, s.q, none)
		d.BiasTo(h, s.q, s.v, none)
		d.InverseTo(tau, s.q, s.v, s.a, none)
		want := times(M, s.a)
		for i := range want {
			want[i] += h[i]
		}
		approx.Equal(t, "τ", tau, want, tolIdentity)
	})
}

func TestForwardUndoesInverse(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		tau, a := make([]float64, m.NumV()), make([]float64, m.NumV())
		d.InverseTo(tau, s.q, s.v, s.a, none)
		forward(t, d, a, s, tau, none)
		approx.Equal(t, "a", a, s.a, inverseTol(m, s, tau))
	})
}

// forward is ForwardTo. A test ends here for a robot whose mass matrix is
// singular, after a look at the matrix: some real ones have links without mass.
func forward(t *testing.T, d *dynamics.Data, a []float64, s state, tau []float64, l dynamics.Load) {
	t.Helper()
	err := d.ForwardTo(a, s.q, s.v, tau, l)
	n := d.Model().NumV()
	M := make([]float64, n*n)
	d.MassMatrixTo(M, s.q, dynamics.Load{Armature: l.Armature})
	least := leastPivot(M, n)
	switch {
	case err == nil && least < 1e-14:
		t.Fatalf("no error, least pivot of the mass matrix %g", least)
	case err != nil && least > 1e-11:
		t.Fatalf("%v, least pivot of the mass matrix %g", err, least)
	case err != nil:
		t.Skip(err)
	}
}

// leastPivot eliminates the symmetric matrix M, scaled to a unit diagonal, always
// with the largest pivot left, and returns the last one.
func leastPivot(M []float64, n int) float64 {
	A := append([]float64(nil), M...)
	noise := 0.0 // what rounding may leave on the diagonal
	for i := range n {
		noise = math.Max(noise, 1e-15*M[i*n+i])
	}
	for i := range n {
		for j := range n {
			if s := math.Sqrt(M[i*n+i] * M[j*n+j]); s > noise {
				A[i*n+j] /= s
			}
		}
	}
	least := 1.0
	done := make([]bool, n)
	for range n {
		p := -1
		for i := range n {
			if !done[i] && (p < 0 || A[i*n+i] > A[p*n+p]) {
				p = i
			}
		}
		done[p] = true
		least = math.Min(least, A[p*n+p])
		if A[p*n+p] <= 0 {
			return least
		}
		for i := range n {
			for j := range n {
				if !done[i] && !done[j] {
					A[i*n+j] -= A[i*n+p] * A[p*n+j] / A[p*n+p]
				}
			}
		}
	}
	return least
}

// inverseTol is tolInverse, and for robots with mimics, whose mass matrix may be
// near singular whatever the bodies, what rounding allows.
func inverseTol(m *robot.Model, s state, tau []float64) approx.Tol {
	for _, b := range m.Bodies() {
		if b.Mimic {
			return roundingTol(m, s, tau)
		}
	}
	return tolInverse
}

// roundingTol is tolInverse, and what a rounding of the forces makes of the
// acceleration, with what adds up along a chain: 32·ε·|M⁻¹|·|τ|.
func roundingTol(m *robot.Model, s state, tau []float64) approx.Tol {
	tol := tolInverse
	n := m.NumV()
	L := make([]float64, n*n)
	dynamics.NewData(m).MassMatrixTo(L, s.q, none)
	linalg.CholeskyTo(L, L, n, 0)
	sum := make([]float64, n)
	for i := range n {
		col := make([]float64, n)
		col[i] = tau[i]
		linalg.CholeskySolve(col, L, n)
		for k, x := range col {
			sum[k] += math.Abs(x)
		}
	}
	for _, x := range sum {
		tol.Abs = math.Max(tol.Abs, 32*0x1p-52*x)
	}
	return tol
}

func TestForwardSolvesTheMassMatrix(t *testing.T) {
	// substitution, so that the condition of M does not matter
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		a, tau := make([]float64, m.NumV()), make([]float64, m.NumV())
		forward(t, d, a, s, s.tau, none)
		d.InverseTo(tau, s.q, s.v, a, none)
		// relative to the forces in play, which are larger than their sum
		scale := 0.0
		for _, x := range a {
			scale = math.Max(scale, math.Abs(x))
		}
		approx.Equal(t, "τ", tau, s.tau, approx.Tol{Abs: 1e-11 * scale * m.Mass()})
	})
}

func TestArmatureIsOnTheDiagonal(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		l := dynamics.Load{Armature: make([]float64, n)}
		for _, j := range m.Joints() {
			if j.Kind != robot.Floating {
				for k := range j.Kind.NumV() {
					l.Armature[j.V+k] = s.rng.Float64()
				}
			}
		}
		M, bare := make([]float64, n*n), make([]float64, n*n)
		d.MassMatrixTo(M, s.q, l)
		d.MassMatrixTo(bare, s.q, none)
		tau, rigid, a := make([]float64, n), make([]float64, n), make([]float64, n)
		d.InverseTo(tau, s.q, s.v, s.a, l)
		d.InverseTo(rigid, s.q, s.v, s.a, none)
		for i := range n {
			bare[i*n+i] += l.Armature[i]
			rigid[i] += l.Armature[i] * s.a[i]
		}
		approx.Equal(t, "M", M, bare, tolIdentity)
		approx.Equal(t, "τ", tau, rigid, tolIdentity)
		forward(t, d, a, s, tau, l)
		approx.Equal(t, "a", a, s.a, inverseTol(m, s, tau))
	})
}

func TestWrenchIsJacobianTransposedTimesWrench(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d, k := dynamics.NewData(m), kinematics.NewData(m)
		k.UpdatePosition(s.q)
		n := m.NumV()
		l := dynamics.Load{Wrench: make([]spatial.Wrench, len(m.Bodies()))}
		tau, want := make([]float64, n), make([]float64, n)
		d.InverseTo(want, s.q, s.v, s.a, none)
		J := make([]float64, 6*n)
		for range 3 {
			// a wrench in world axes somewhere on a link
			p := k.At(robot.FrameID(s.rng.IntN(len(m.Frames())))).Offset(spatial.Pose{R: spatial.Identity3, P: vector(s.rng)})
			w := spatial.Wrench{Force: vector(s.rng), Torque: vector(s.rng)}
			l.Wrench[p.Body] = l.Wrench[p.Body].Add(k.WrenchOnBody(p, w))
			k.JacobianTo(J, p)
			for i := range n {
				for r, x := range []float64{w.Force.X, w.Force.Y, w.Force.Z, w.Torque.X, w.Torque.Y, w.Torque.Z} {
					want[i] -= J[r*n+i] * x
				}
			}
		}
		d.InverseTo(tau, s.q, s.v, s.a, l)
		approx.Equal(t, "τ", tau, want, tolWrench)
		a := make([]float64, n)
		forward(t, d, a, s, tau, l)
		approx.Equal(t, "a", a, s.a, inverseTol(m, s, tau))
	})
}

func TestPowerIsTheChangeOfKineticEnergy(t *testing.T) {
	// dK/dt = vᵀ(τ − g)
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		tau, g := make([]float64, n), make([]float64, n)
		d.InverseTo(tau, s.q, s.v, s.a, none)
		d.GravityTo(g, s.q)
		power := 0.0
		for i := range n {
			power += s.v[i] * (tau[i] - g[i])
		}
		fore, aft := along(m, s, step), along(m, s, -step)
		dK := (d.KineticEnergy(fore.q, fore.v) - d.KineticEnergy(aft.q, aft.v)) / (2 * step)
		approx.Scalar(t, "dK/dt", dK, power, tolEnergy)
	})
}

func TestGravityIsTheGradientOfPotentialEnergy(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		g, want := make([]float64, n), make([]float64, n)
		d.GravityTo(g, s.q)
		for i := range n {
			e := state{q: s.q, v: make([]float64, n), a: make([]float64, n)}
			e.v[i] = 1
			want[i] = (d.PotentialEnergy(along(m, e, step).q) - d.PotentialEnergy(along(m, e, -step).q)) / (2 * step)
		}
		approx.Equal(t, "g", g, want, tolEnergy)
	})
}

func TestKineticEnergyIsTheQuadraticForm(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		M := make([]float64, n*n)
		d.MassMatrixTo(M, s.q, none)
		K := 0.0
		for i, x := range times(M, s.v) {
			K += s.v[i] * x / 2
		}
		approx.Scalar(t, "K", d.KineticEnergy(s.q, s.v), K, tolIdentity)
	})
}

func TestMassMatrixRateIsTwiceTheBias(t *testing.T) {
	// vᵀ(Ṁ − 2C)v = 0, in the direction of v
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		h, g := make([]float64, n), make([]float64, n)
		d.BiasTo(h, s.q, s.v, none)
		d.GravityTo(g, s.q)
		vCv := 0.0
		for i := range n {
			vCv += s.v[i] * (h[i] - g[i])
		}
		still := state{q: s.q, v: s.v, a: make([]float64, n)}
		quad := func(s state) float64 {
			M := make([]float64, n*n)
			d.MassMatrixTo(M, s.q, none)
			sum := 0.0
			for i, x := range times(M, s.v) {
				sum += s.v[i] * x
			}
			return sum
		}
		rate := (quad(along(m, still, step)) - quad(along(m, still, -step))) / (2 * step)
		approx.Scalar(t, "vᵀṀv", rate, 2*vCv, approx.Tol{Rel: 1e-5})
	})
}

func TestMomentumIsTheMatrixTimesVelocity(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d, k := dynamics.NewData(m), kinematics.NewData(m)
		n := m.NumV()
		A, J := make([]float64, 6*n), make([]float64, 3*n)
		h, ok := d.Momentum(s.q, s.v)
		if okA := d.CentroidalTo(A, s.q); ok != (m.Mass() > 0) || okA != ok {
			t.Fatalf("momentum %v, matrix %v, mass %v", ok, okA, m.Mass())
		}
		approx.Equal(t, "A·v", times(A, s.v), momentum(h), tolIdentity)

		// its linear rows are the mass times the Jacobian of the centre of mass
		k.UpdatePosition(s.q)
		k.ComJacobianTo(J)
		for i := range J {
			J[i] *= m.Mass()
		}
		approx.Equal(t, "m·J", A[:3*n], J, tolIdentity)
	})
}

func TestMomentumOfAFloatingRobotIsInItsBaseRows(t *testing.T) {
	// A_lin = R·M[0:3,:], A_ang = R·M[3:6,:] − (c − p) × A_lin: another algorithm
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		if !m.Floating() {
			t.Skip("fixed base")
		}
		d, k := dynamics.NewData(m), kinematics.NewData(m)
		n := m.NumV()
		M, A, want := make([]float64, n*n), make([]float64, 6*n), make([]float64, 6*n)
		d.MassMatrixTo(M, s.q, none)
		d.CentroidalTo(A, s.q)
		k.UpdatePosition(s.q)
		c, _ := k.Com()
		X := k.BodyPose(1)
		for i := range n {
			f := X.R.MulVec(spatial.Vec3{X: M[i], Y: M[n+i], Z: M[2*n+i]})
			w := X.R.MulVec(spatial.Vec3{X: M[3*n+i], Y: M[4*n+i], Z: M[5*n+i]}).Sub(c.Sub(X.P).Cross(f))
			for r, x := range []float64{f.X, f.Y, f.Z, w.X, w.Y, w.Z} {
				want[r*n+i] = x
			}
		}
		approx.Equal(t, "A", A, want, tolIdentity)
	})
}

func TestMomentumChangesByBaseForces(t *testing.T) {
	// ḣ_lin = F_base + m·g, ḣ_ang = torque of the base force about the com
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		if !m.Floating() {
			t.Skip("fixed base")
		}
		d, k := dynamics.NewData(m), kinematics.NewData(m)
		tau := make([]float64, m.NumV())
		d.InverseTo(tau, s.q, s.v, s.a, none)
		k.UpdatePosition(s.q)
		c, _ := k.Com()
		X := k.BodyPose(1)
		F := X.R.MulVec(spatial.Vec3{X: tau[0], Y: tau[1], Z: tau[2]})
		N := X.R.MulVec(spatial.Vec3{X: tau[3], Y: tau[4], Z: tau[5]}).Sub(c.Sub(X.P).Cross(F))
		want := spatial.Momentum{Linear: F.Add(m.Gravity().Scale(m.Mass())), Angular: N}

		fs, as := along(m, s, step), along(m, s, -step)
		fore, _ := d.Momentum(fs.q, fs.v)
		aft, _ := d.Momentum(as.q, as.v)
		got := spatial.Momentum{
			Linear:  fore.Linear.Sub(aft.Linear).Scale(0.5 / step),
			Angular: fore.Angular.Sub(aft.Angular).Scale(0.5 / step),
		}
		approx.Equal(t, "ḣ", momentum(got), momentum(want), tolEnergy)
	})
}

func TestDataKeepsNothing(t *testing.T) {
	// each call gives bit for bit what a fresh Data gives
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		used := dynamics.NewData(m)
		n := m.NumV()
		l := dynamics.Load{Wrench: make([]spatial.Wrench, len(m.Bodies()))}
		for i := range l.Wrench {
			l.Wrench[i].Force = vector(s.rng)
		}
		run := func(d *dynamics.Data) []float64 {
			out := make([]float64, 4*n+n*n+6*n)
			d.InverseTo(out[:n], s.q, s.v, s.a, l)
			if err := d.ForwardTo(out[n:2*n], s.q, s.v, s.tau, l); err != nil && !isSingular(err) {
				t.Fatal(err)
			}
			d.GravityTo(out[2*n:3*n], s.q)
			d.BiasTo(out[3*n:4*n], s.q, s.v, l)
			d.MassMatrixTo(out[4*n:4*n+n*n], s.q, none)
			d.CentroidalTo(out[4*n+n*n:], s.q)
			return out
		}
		other := newState(s.rng, m)
		run(used)
		used.InverseTo(make([]float64, n), other.q, other.v, other.a, none)
		used.CentroidalTo(make([]float64, 6*n), other.q)
		approx.Equal(t, "again", run(used), run(dynamics.NewData(m)), approx.Tol{})
	})
}

func TestResultMayAliasInput(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		d := dynamics.NewData(m)
		n := m.NumV()
		l := dynamics.Load{Armature: make([]float64, n)}
		for _, j := range m.Joints() {
			if j.Kind.NumV() == 1 {
				l.Armature[j.V] = 0.1
			}
		}
		want := make([]float64, n)
		d.InverseTo(want, s.q, s.v, s.a, l)
		got := append([]float64(nil), s.a...)
		d.InverseTo(got, s.q, s.v, got, l)
		approx.Equal(t, "inverse over a", got, want, approx.Tol{})
		copy(got, s.v)
		d.InverseTo(got, s.q, got, s.a, l)
		approx.Equal(t, "inverse over v", got, want, approx.Tol{})

		forward(t, d, want, s, s.tau, l)
		copy(got, s.tau)
		if err := d.ForwardTo(got, s.q, s.v, got, l); err != nil {
			t.Fatal(err)
		}
		approx.Equal(t, "forward over τ", got, want, approx.Tol{})
	})
}

func TestNoAlloc(t *testing.T) {
	for _, mimics := range []int{0, 3} {
		rng := randbot.New(3)
		m := randbot.Model(t, rng, randbot.Config{Bodies: 20, Mimics: mimics, Floating: true})
		s := newState(rng, m)
		d := dynamics.NewData(m)
		n := m.NumV()
		out, M, A := make([]float64, n), make([]float64, n*n), make([]float64, 6*n)
		l := dynamics.Load{Wrench: make([]spatial.Wrench, len(m.Bodies())), Armature: make([]float64, n)}
		for name, f := range map[string]func(){
			"InverseTo":       func() { d.InverseTo(out, s.q, s.v, s.a, l) },
			"BiasTo":          func() { d.BiasTo(out, s.q, s.v, l) },
			"GravityTo":       func() { d.GravityTo(out, s.q) },
			"MassMatrixTo":    func() { d.MassMatrixTo(M, s.q, l) },
			"ForwardTo":       func() { d.ForwardTo(out, s.q, s.v, s.tau, l) },
			"Momentum":        func() { d.Momentum(s.q, s.v) },
			"CentroidalTo":    func() { d.CentroidalTo(A, s.q) },
			"KineticEnergy":   func() { d.KineticEnergy(s.q, s.v) },
			"PotentialEnergy": func() { d.PotentialEnergy(s.q) },
		} {
			if n := testing.AllocsPerRun(50, f); n != 0 {
				t.Errorf("%d mimics: %s allocates %v times", mimics, name, n)
			}
		}
	}
}

func TestWrongLengthsPanic(t *testing.T) {
	m := randbot.Model(t, randbot.New(1), randbot.Config{Bodies: 3, Floating: true})
	s := newState(randbot.New(1), m)
	d := dynamics.NewData(m)
	n := m.NumV()
	out := make([]float64, n)
	for _, tc := range []struct {
		want string
		call func()
	}{
		{fmt.Sprintf("dynamics: len(dst) = 1, want %d", n), func() { d.InverseTo(out[:1], s.q, s.v, s.a, none) }},
		{fmt.Sprintf("dynamics: len(q) = 0, want %d", m.NumQ()), func() { d.ForwardTo(out, nil, s.v, s.tau, none) }},
		{fmt.Sprintf("dynamics: len(dst) = %d, want %d", n, n*n), func() { d.MassMatrixTo(out, s.q, none) }},
		{fmt.Sprintf("dynamics: len(Wrench) = 1, want %d", len(m.Bodies())), func() {
			d.InverseTo(out, s.q, s.v, s.a, dynamics.Load{Wrench: make([]spatial.Wrench, 1)})
		}},
		{"dynamics: Armature[2] = 1, want 0 for a free body", func() {
			l := dynamics.Load{Armature: make([]float64, n)}
			l.Armature[2] = 1
			d.InverseTo(out, s.q, s.v, s.a, l)
		}},
	} {
		t.Run(tc.want, func(t *testing.T) {
			defer func() {
				if r := recover(); r != tc.want {
					t.Errorf("panic %v", r)
				}
			}()
			tc.call()
		})
	}
}

var errSingular = dynamics.ErrSingular

func isSingular(err error) bool { return errors.Is(err, errSingular) }

// along returns the state after the time h on the way with constant a.
func along(m *robot.Model, s state, h float64) state {
	v, mid := make([]float64, m.NumV()), make([]float64, m.NumV())
	for i := range v {
		v[i] = s.v[i] + h*s.a[i]
		mid[i] = s.v[i] + h/2*s.a[i]
	}
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).IntegrateTo(q, s.q, mid, h)
	return state{rng: s.rng, q: q, v: v, a: s.a, tau: s.tau}
}

func times(A, v []float64) []float64 {
	y := make([]float64, len(A)/len(v))
	for i := range y {
		for k, x := range v {
			y[i] += A[i*len(v)+k] * x
		}
	}
	return y
}

func momentum(h spatial.Momentum) []float64 {
	return []float64{h.Linear.X, h.Linear.Y, h.Linear.Z, h.Angular.X, h.Angular.Y, h.Angular.Z}
}

func vector(rng *rand.Rand) spatial.Vec3 {
	return spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
}
