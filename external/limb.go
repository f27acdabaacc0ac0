package external

import (
	"math"

	"poise/contact"
	"poise/kinematics"
	"poise/linalg"
	"poise/robot"
	"poise/spatial"
)

// Limb is the wrench that explains the residuals of a limb's joints: at the middle of its sole, or
// at its tip.
type Limb struct {
	Valid       bool
	Point       spatial.Vec3 // in the world
	Force       spatial.Vec3 // of the world on the limb, world axes, N
	Torque      spatial.Vec3 // that a sole of its size may take, N·m
	Sigma       spatial.Vec3 // standard deviations of Force
	Friction    spatial.Vec3 // how far dry friction of unknown direction may put it off
	Unexplained float64      // length of the residuals that are left, N·m
	LeastLever  float64      // smallest singular value of the Jacobian, m: near 0 some force is not felt
}

// limb is how the wrench of a chain is found.
type limb struct {
	Limb
	place  kinematics.Place
	sole   float64         // radius, m
	joints []robot.JointID // from the base on
	J      []float64       // 6×NumV, scratch shared by the limbs
	S, L   []float64       // n×n: covariance of residuals, its factor
	W      [3][]float64    // rows of J·S⁻¹
	lin    [3][]float64    // rows of J of the joints
	ang    [3][]float64    // rows that torques act by
	rest   []float64       // residuals left
	gain   [3][]float64    // Force = gain·residuals
	left   []float64       // residuals left, without the torque of the sole
	rate   []float64       // scratch of along
	foot   bool
}

// Damping of nearly singular limbs: none while the least lever is above fullLever.
const (
	fullLever = 0.02 // m
	mostDamp  = 0.01 // m
)

// The force across a contact.
const (
	acrossShare = 0.4 // standard deviation, as a share of the force
	leastForce  = 0.3 // N, of which at least
)

// leastSpread keeps weights finite, N·m.
const leastSpread = 1e-3

func (s *Sense) makeLimbs() {
	nv := s.m.NumV()
	shared := make([]float64, 6*nv)
	s.limbs = make([]limb, len(s.m.Chains()))
	s.contacts = make([]Contact, len(s.m.Chains()))
	s.jumps = make([]jump, len(s.m.Chains()))
	for i := range s.m.Chains() {
		c := &s.m.Chains()[i]
		l := &s.limbs[i]
		l.place, l.J = s.kin.At(c.Tip), shared
		if c.Contact != robot.NoContact {
			set := &s.m.Contacts()[c.Contact]
			l.place, l.sole, l.foot = l.place.Offset(spatial.Pose{R: spatial.Identity3, P: contact.SoleMiddle(set.Points)}), set.Sole, true
		}
		path, _ := s.m.Path(0, c.Tip)
		for _, j := range path {
			if !s.m.Joints()[j].Virtual {
				l.joints = append(l.joints, j)
			}
		}
		n := len(l.joints)
		l.S, l.L, l.rest, l.left, l.rate = make([]float64, n*n), make([]float64, n*n), make([]float64, n), make([]float64, n), make([]float64, n)
		for k := range 3 {
			l.lin[k], l.ang[k], l.W[k], l.gain[k] = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		}
		s.contacts[i] = Contact{Foot: l.foot}
		s.jumps[i].slow = make([]float64, n)
	}
}

// Limb returns what is felt at the contact or the tip of a chain. Loop-safe.
func (s *Sense) Limb(c robot.ChainID) *Limb { return &s.limbs[c].Limb }

func (s *Sense) feelLimbs() {
	for i := range s.limbs {
		s.limbs[i].feel(s)
	}
}

// feel finds the force F and the torque m of the sole that are most likely for the residuals
//
//	r = Jᵀ·F + Jωᵀ·m + noise,   noise ~ (0, diag(s²)),   m ~ (0, (sole·|F|/2)²)
//
// by generalised least squares with the covariance S = diag(s²) + Jωᵀ·Jω·σm².
func (l *limb) feel(s *Sense) {
	n := len(l.joints)
	l.Valid = n > 0
	for _, j := range l.joints {
		l.Valid = l.Valid && s.joints[j].Valid
	}
	l.Point = s.kin.Pose(l.place).P
	if !l.Valid {
		l.Limb = Limb{Point: l.Point}
		return
	}
	s.kin.JacobianTo(l.J, l.place)
	nv := s.m.NumV()
	for a, j := range l.joints {
		v := s.m.Joints()[j].V
		for k := range 3 {
			l.lin[k][a], l.ang[k][a] = l.J[k*nv+v], l.J[(k+3)*nv+v]
		}
	}
	l.covariance(s)
	if linalg.CholeskyTo(l.L, l.S, n, 1e-14) < n {
		l.Limb = Limb{Point: l.Point}
		return
	}
	for k := range 3 {
		copy(l.W[k], l.lin[k])
		linalg.CholeskySolve(l.W[k], l.L, n)
	}
	l.solve(s)
	l.explain(s)
}

// covariance fills in S.
func (l *limb) covariance(s *Sense) {
	n := len(l.joints)
	m := l.sole * math.Max(leastForce, l.Force.Norm()) / 2
	for a := range n {
		j := &s.joints[l.joints[a]]
		for b := range n {
			l.S[a*n+b] = m * m * (l.ang[0][a]*l.ang[0][b] + l.ang[1][a]*l.ang[1][b] + l.ang[2][a]*l.ang[2][b])
		}
		l.S[a*n+a] += j.Sigma*j.Sigma + (j.Friction*j.Friction+j.Lost*j.Lost)/3 + leastSpread*leastSpread
	}
}

// solve finds the gain from residuals to force: (J·S⁻¹·Jᵀ + damping)⁻¹·J·S⁻¹.
func (l *limb) solve(s *Sense) {
	var N, G spatial.Mat3 // J·S⁻¹·Jᵀ and J·Jᵀ
	for a := range 3 {
		for b := range 3 {
			N[3*a+b], G[3*a+b] = linalg.Dot(l.W[a], l.lin[b]), linalg.Dot(l.lin[a], l.lin[b])
		}
	}
	λ, _ := spatial.Principal(G)
	l.LeastLever = math.Sqrt(math.Max(0, math.Min(λ[0], math.Min(λ[1], λ[2]))))
	if l.LeastLever < fullLever {
		share := l.LeastLever / fullLever
		μ := mostDamp * mostDamp * (1 - share*share)
		w := (N[0] + N[4] + N[8]) / math.Max(G[0]+G[4]+G[8], 1e-12) // weight of a lever
		N[0], N[4], N[8] = N[0]+μ*w, N[4]+μ*w, N[8]+μ*w
	}
	I, ok := inverse3(N)
	if !ok {
		l.Limb = Limb{Point: l.Point}
		return
	}
	var f, σ, b [3]float64
	for k := range 3 {
		for a, j := range l.joints {
			x := I[3*k]*l.W[0][a] + I[3*k+1]*l.W[1][a] + I[3*k+2]*l.W[2][a]
			l.gain[k][a] = x
			r := &s.joints[j]
			f[k] += x * r.External
			σ[k] += x * x * r.Sigma * r.Sigma
			b[k] += math.Abs(x) * r.Friction
		}
	}
	l.Force = spatial.Vec3{X: f[0], Y: f[1], Z: f[2]}
	l.Sigma = spatial.Vec3{X: math.Sqrt(σ[0]), Y: math.Sqrt(σ[1]), Z: math.Sqrt(σ[2])}
	l.Friction = spatial.Vec3{X: b[0], Y: b[1], Z: b[2]}
}

// explain finds the torque of the sole, and what no wrench at the contact explains.
func (l *limb) explain(s *Sense) {
	if !l.Valid {
		return
	}
	n := len(l.joints)
	for a, j := range l.joints {
		l.left[a] = s.joints[j].External - l.lin[0][a]*l.Force.X - l.lin[1][a]*l.Force.Y - l.lin[2][a]*l.Force.Z
		l.rest[a] = l.left[a]
	}
	linalg.CholeskySolve(l.rest, l.L, n)
	m := l.sole * math.Max(leastForce, l.Force.Norm()) / 2
	l.Torque = spatial.Vec3{X: m * m * linalg.Dot(l.ang[0], l.rest), Y: m * m * linalg.Dot(l.ang[1], l.rest), Z: m * m * linalg.Dot(l.ang[2], l.rest)}
	for a := range l.joints {
		l.rest[a] = l.left[a] - l.turn(a)
	}
	// a sole takes a torque by pressing only: what is left of it comes from elsewhere
	if most, size := l.sole*math.Max(0, l.Force.Z+3*l.Sigma.Z), l.Torque.Norm(); size > most {
		l.Torque = l.Torque.Scale(most / size)
	}
	sum := 0.0
	for a := range l.joints {
		x := l.left[a] - l.turn(a)
		sum += x * x
	}
	l.Unexplained = math.Sqrt(sum)
}

// turn is what the torque of the sole does to a joint.
func (l *limb) turn(a int) float64 {
	return l.ang[0][a]*l.Torque.X + l.ang[1][a]*l.Torque.Y + l.ang[2][a]*l.Torque.Z
}

// along returns force, standard deviation and friction of a contact along an axis of the world. The
// force across the axis counts as noise, of a deviation in proportion to the force, and so does the torque of
// the sole.
func (l *limb) along(s *Sense, axis spatial.Vec3) (force, sigma, friction float64) {
	n := len(l.joints)
	across := acrossShare * math.Max(leastForce, l.Force.Norm())
	for a := range n {
		for b := range n {
			dot := l.lin[0][a]*l.lin[0][b] + l.lin[1][a]*l.lin[1][b] + l.lin[2][a]*l.lin[2][b]
			l.S[a*n+b] += across * across * (dot - l.pull(axis, a)*l.pull(axis, b))
		}
	}
	if linalg.CholeskyTo(l.L, l.S, n, 1e-14) < n {
		return 0, 0, 0
	}
	for a := range n {
		l.rate[a] = l.pull(axis, a)
	}
	linalg.CholeskySolve(l.rate, l.L, n)
	sum := 0.0
	for a := range n {
		sum += l.rate[a] * l.pull(axis, a)
	}
	if !(sum > 0) {
		return 0, 0, 0
	}
	lost := 0.0
	for a, j := range l.joints {
		x, r := l.rate[a]/sum, &s.joints[j]
		force += x * r.External
		sigma += x * x * r.Sigma * r.Sigma
		friction += math.Abs(x) * r.Friction
		lost += x * x * r.Lost * r.Lost // joints lose setpoints independently
	}
	return force, math.Sqrt(sigma), friction + math.Sqrt(lost)
}

// pull is what a unit force along an axis does to a joint.
func (l *limb) pull(axis spatial.Vec3, a int) float64 {
	return axis.X*l.lin[0][a] + axis.Y*l.lin[1][a] + axis.Z*l.lin[2][a]
}

// inverse3 inverts a symmetric matrix; ok is false if it is singular.
func inverse3(A spatial.Mat3) (I spatial.Mat3, ok bool) {
	c0, c1, c2 := A[4]*A[8]-A[5]*A[7], A[5]*A[6]-A[3]*A[8], A[3]*A[7]-A[4]*A[6]
	det := A[0]*c0 + A[1]*c1 + A[2]*c2
	if !(math.Abs(det) > 1e-300) || !finite(det) {
		return I, false
	}
	d := 1 / det
	return spatial.Mat3{
		c0 * d, (A[2]*A[7] - A[1]*A[8]) * d, (A[1]*A[5] - A[2]*A[4]) * d,
		c1 * d, (A[0]*A[8] - A[2]*A[6]) * d, (A[2]*A[3] - A[0]*A[5]) * d,
		c2 * d, (A[1]*A[6] - A[0]*A[7]) * d, (A[0]*A[4] - A[1]*A[3]) * d,
	}, true
}
