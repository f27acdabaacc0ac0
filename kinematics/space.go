package kinematics

import (
	"math"
	"math/rand/v2"

	"poise/robot"
	"poise/spatial"
)

// Space is the set of a robot's configurations. Most of it is a vector space,
// but a free body has a rotation in it and a continuous joint closes on itself:
//
//	q ⊕ v        the configuration reached from q by moving with v for unit time
//	p ⊖ q        the motion that leads from q to p,  q ⊕ (p ⊖ q) = p
//
// A Space never changes and may be used by any number of goroutines.
type Space struct {
	nq, nv int
	coords []coord
	joints []robot.Joint
}

// coord is one independent joint, the floating base included.
type coord struct {
	kind  robot.Kind
	q, v  int
	round bool // a whole turn of it brings the whole robot back
}

// NewSpace returns the configurations of m.
func NewSpace(m *robot.Model) *Space {
	s := &Space{nq: m.NumQ(), nv: m.NumV(), joints: m.Joints()}
	for _, b := range m.Bodies()[1:] {
		if !b.Mimic {
			s.coords = append(s.coords, coord{b.Kind, b.Q, b.V, b.Kind == robot.Continuous})
		}
	}

	// a follower that slides, or turns by no whole multiple, tells one turn of
	// its leader from the next
	for _, b := range m.Bodies()[1:] {
		if b.Mimic && (b.Kind == robot.Prismatic || b.Ratio != math.Trunc(b.Ratio)) {
			for i := range s.coords {
				if s.coords[i].q == b.Q {
					s.coords[i].round = false
				}
			}
		}
	}
	return s
}

// IntegrateTo stores in dst the configuration reached from q by moving with the
// constant velocity v for the time dt: q ⊕ dt·v. Free bodies move along a screw,
// their quaternions come out with unit length; angles are not wrapped. dst may
// alias q. Loop-safe.
func (s *Space) IntegrateTo(dst, q, v []float64, dt float64) {
	mustLen("dst", dst, s.nq)
	mustLen("q", q, s.nq)
	mustLen("v", v, s.nv)
	for _, c := range s.coords {
		if c.kind != robot.Floating {
			for i := range c.kind.NumV() {
				dst[c.q+i] = q[c.q+i] + dt*v[c.v+i]
			}
			continue
		}
		Q, p := freeCoords(q[c.q:])
		w := v[c.v : c.v+6]
		ΔQ, Δp := spatial.ExpTwist(spatial.Twist{
			Angular: spatial.Vec3{X: dt * w[3], Y: dt * w[4], Z: dt * w[5]},
			Linear:  spatial.Vec3{X: dt * w[0], Y: dt * w[1], Z: dt * w[2]},
		})
		p = p.Add(Q.Matrix().MulVec(Δp))
		Q, _ = Q.Mul(ΔQ).Unit()
		copy(dst[c.q:c.q+7], []float64{p.X, p.Y, p.Z, Q.X, Q.Y, Q.Z, Q.W})
	}
}

// DifferenceTo stores in dst the velocity that leads from q to p in unit time:
// p ⊖ q. Continuous and planar joints take the short way round, |angle| ≤ π, and
// so do free bodies; not so a continuous joint whose followers would end
// elsewhere. Loop-safe.
func (s *Space) DifferenceTo(dst, p, q []float64) {
	mustLen("dst", dst, s.nv)
	mustLen("p", p, s.nq)
	mustLen("q", q, s.nq)
	for _, c := range s.coords {
		switch c.kind {
		case robot.Floating:
			Q, x := freeCoords(q[c.q:])
			P, y := freeCoords(p[c.q:])
			Δ := spatial.LogTwist(Q.Conj().Mul(P), Q.Matrix().TMulVec(y.Sub(x)))
			copy(dst[c.v:c.v+6], []float64{
				Δ.Linear.X, Δ.Linear.Y, Δ.Linear.Z, Δ.Angular.X, Δ.Angular.Y, Δ.Angular.Z,
			})
		case robot.Planar:
			dst[c.v] = p[c.q] - q[c.q]
			dst[c.v+1] = p[c.q+1] - q[c.q+1]
			dst[c.v+2] = wrap(p[c.q+2] - q[c.q+2])
		default:
			dst[c.v] = p[c.q] - q[c.q]
			if c.round {
				dst[c.v] = wrap(dst[c.v])
			}
		}
	}
}

// NeutralTo stores the configuration zero: free bodies at the origin, every
// joint at zero or, where zero is not allowed, at the nearest limit. Loop-safe.
func (s *Space) NeutralTo(dst []float64) {
	mustLen("dst", dst, s.nq)
	clear(dst)
	for _, c := range s.coords {
		if c.kind == robot.Floating {
			dst[c.q+6] = 1
		}
	}
	for i := range s.joints {
		if j := &s.joints[i]; j.Kind == robot.Revolute || j.Kind == robot.Prismatic {
			dst[j.Q] = clamp(0, j.Limits)
		}
	}
}

// RandomTo stores a random configuration: bounded joints uniformly within their
// limits, angles in [−π, π), other lengths in [−1, 1) m, rotations uniformly.
func (s *Space) RandomTo(dst []float64, rng *rand.Rand) {
	mustLen("dst", dst, s.nq)
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	for _, c := range s.coords {
		q := dst[c.q : c.q+c.kind.NumQ()]
		switch c.kind {
		case robot.Floating:
			Q, ok := spatial.Quat{}, false
			for !ok {
				// four normal numbers point into every direction alike
				Q, ok = spatial.Quat{W: rng.NormFloat64(), X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Unit()
			}
			q[0], q[1], q[2] = uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)
			q[3], q[4], q[5], q[6] = Q.X, Q.Y, Q.Z, Q.W
		case robot.Planar:
			q[0], q[1], q[2] = uniform(-1, 1), uniform(-1, 1), uniform(-math.Pi, math.Pi)
		case robot.Prismatic:
			q[0] = uniform(-1, 1)
		default:
			q[0] = uniform(-math.Pi, math.Pi)
		}
	}
	for i := range s.joints {
		j := &s.joints[i]
		if (j.Kind == robot.Revolute || j.Kind == robot.Prismatic) && j.Limits.Lower.Has && j.Limits.Upper.Has {
			dst[j.Q] = uniform(j.Limits.Lower.Value, j.Limits.Upper.Value)
		}
	}
}

// freeCoords reads x y z qx qy qz qw; a quaternion without direction is read as
// no rotation.
func freeCoords(q []float64) (spatial.Quat, spatial.Vec3) {
	Q, ok := spatial.Quat{W: q[6], X: q[3], Y: q[4], Z: q[5]}.Unit()
	if !ok {
		Q = spatial.IdentityQuat
	}
	return Q, spatial.Vec3{X: q[0], Y: q[1], Z: q[2]}
}

// wrap returns the angle that differs from x by whole turns and is shortest.
func wrap(x float64) float64 { return math.Remainder(x, 2*math.Pi) }

func clamp(x float64, l robot.Limits) float64 {
	if l.Lower.Has && x < l.Lower.Value {
		x = l.Lower.Value
	}
	if l.Upper.Has && x > l.Upper.Value {
		x = l.Upper.Value
	}
	return x
}
