package stage

import (
	"math"

	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/wholebody"
)

// Numbers of legs that get straight.
const (
	straight = 0.008 // m: smallest singular value to which a leg that stands may stretch
	stretch  = 10.0  // 1/s: how fast it may come there, by how far it is
	notNear  = 0.08  // m: a leg with more is not near
	flattest = 1e-3  // m: one that bends so little does not get straight
)

// bend is how a leg moves its foot in the direction in which it does so worst.
type bend struct {
	place kinematics.Place
	σ     float64      // smallest singular value, without tilting the foot, m
	u     spatial.Vec3 // its direction, away from the hip
	c     float64      // by how much it gets smaller as the leg stretches, m
}

// reaches keep legs that stand from getting straight, where their joints would have to move ever
// faster. Along the joint velocity w that moves the foot in its worst direction u, the leg's length l
// has l′ = σ and l″ = u·(J̇w)·w = −c; so (σ² − σ₀²)/2c is left of it until σ is σ₀ = 8 mm. That is
// a barrier of second order: l̈ ≤ κ²·(σ² − σ₀²)/2c − 2κ·l̇, κ = 10/s.
func (s *Stage) reaches() {
	s.r.Reach = s.r.Reach[:0]
	if s.planned { // within reach
		return
	}
	s.findBends()
	base := s.kin.BodyPose(1)
	lin := base.R.MulVec(spatial.Vec3{X: s.v[0], Y: s.v[1], Z: s.v[2]})
	ang := base.R.MulVec(spatial.Vec3{X: s.v[3], Y: s.v[4], Z: s.v[5]})
	for i := range s.feet {
		b := &s.bends[i]
		if s.feet[i].share == 0 || b.σ > notNear || b.c < flattest {
			continue
		}
		at := s.kin.Pose(b.place).P
		grows := -b.u.Dot(lin.Add(ang.Cross(at.Sub(base.P))))
		left := (b.σ*b.σ - straight*straight) / (2 * b.c)
		least := 2*stretch*grows - stretch*stretch*left
		s.r.Reach = append(s.r.Reach, wholebody.Reach{Chain: robot.ChainID(i), Point: at, Along: b.u, Least: max(-mostPush, min(mostPush, least))})
	}
}

// isStraight reports whether a leg that stands is straight: the direction in which its joints hardly move its foot is that to
// the hip. Of a leg that cannot move sideways it is another.
func (s *Stage) isStraight() bool {
	const along = 0.7 // cosine
	s.findBends()
	for i, chain := range s.m.Chains() {
		b := &s.bends[i]
		if !(b.σ < straight) {
			continue
		}
		hip := s.kin.BodyPose(s.m.Joints()[chain.Joints[0]].Body).P
		if leg, ok := s.kin.Pose(b.place).P.Sub(hip).Unit(); ok && b.u.Dot(leg) > along {
			return true
		}
	}
	return false
}

// findBends finds how legs that stand bend. The velocities of s.kin are those of the motion again after it.
func (s *Stage) findBends() {
	w := s.scratch
	clear(w)
	for i := range s.feet {
		f, b := &s.feet[i], &s.bends[i]
		if b.σ = math.Inf(1); f.share == 0 {
			continue
		}
		chain := &s.m.Chains()[i]
		b.place = s.kin.At(chain.Tip).Offset(spatial.Pose{R: spatial.Identity3, P: s.origin(f)})
		s.kin.JacobianTo(s.J, b.place)
		s.worst(b, chain, w)
	}
	s.kin.UpdateVelocity(w)
	for i := range s.feet {
		if b := &s.bends[i]; b.σ < notNear {
			b.c = -b.u.Dot(s.kin.BiasAcceleration(b.place).Linear)
		}
	}
	s.kin.UpdateVelocity(s.v)
}

// worst finds the smallest singular value of how the joints of a limb move its point, of which J has the
// Jacobian, without tilting it where they have the joints for that, its direction, and in w the
// joints' velocities, of unit length.
func (s *Stage) worst(b *bend, c *robot.Chain, w []float64) {
	n := len(s.v)
	var pp, pt, tt spatial.Mat3 // J·Jᵀ of the point, of point and tilt, of the tilt
	tilts := 2                  // about x and y; a turn about z the ground allows
	if turns(c, s.m) == 0 {
		tilts = 0
	}
	for _, id := range c.Joints {
		j := &s.m.Joints()[id]
		if j.Virtual {
			continue
		}
		for a := range 3 {
			x := s.J[a*n+j.V]
			for k := range 3 {
				pp[3*a+k] += x * s.J[k*n+j.V]
			}
			for k := range tilts {
				pt[3*a+k] += x * s.J[(3+k)*n+j.V]
			}
		}
		for a := range tilts {
			for k := range tilts {
				tt[3*a+k] += s.J[(3+a)*n+j.V] * s.J[(3+k)*n+j.V]
			}
		}
	}
	λ, T := spatial.Principal(tt)
	for k := range 3 { // what the tilts take away
		if λ[k] < leastTilt {
			continue
		}
		p := pt.MulVec(T.Col(k))
		for a, x := range [3]float64{p.X, p.Y, p.Z} {
			for b, y := range [3]float64{p.X, p.Y, p.Z} {
				pp[3*a+b] -= x * y / λ[k]
			}
		}
	}
	σ2, R := spatial.Principal(pp)
	least := 0
	for k := range 3 {
		if σ2[k] < σ2[least] {
			least = k
		}
	}
	b.σ, b.u = math.Sqrt(max(σ2[least], 0)), R.Col(least)
	hip := s.kin.BodyPose(s.m.Joints()[c.Joints[0]].Body).P
	if b.u.Dot(s.kin.Pose(b.place).P.Sub(hip)) < 0 {
		b.u = b.u.Neg()
	}
	s.alongTo(w, b.u, c, pt, λ, T)
}

// leastTilt is the square of a tilt's smallest singular value that counts.
const leastTilt = 1e-6

// alongTo stores the velocities of a limb's joints, of unit length, that move its point in direction u without tilting it.
func (s *Stage) alongTo(w []float64, u spatial.Vec3, c *robot.Chain, pt spatial.Mat3, λ [3]float64, T spatial.Mat3) {
	n := len(s.v)
	var tilt spatial.Vec3 // (J_t·J_tᵀ)⁻¹·J_t·J_pᵀ·u
	for k := range 3 {
		if λ[k] >= leastTilt {
			t := T.Col(k)
			tilt = tilt.Add(t.Scale(pt.MulVec(t).Dot(u) / λ[k]))
		}
	}
	sum := 0.0
	for _, id := range c.Joints {
		j := &s.m.Joints()[id]
		if j.Virtual {
			continue
		}
		col := func(a int) spatial.Vec3 {
			return spatial.Vec3{X: s.J[a*n+j.V], Y: s.J[(a+1)*n+j.V], Z: s.J[(a+2)*n+j.V]}
		}
		t := col(3)
		t.Z = 0
		x := col(0).Dot(u) - t.Dot(tilt)
		w[j.V] = x
		sum += x * x
	}
	if sum = math.Sqrt(sum); sum < 1e-6 {
		sum = 1e-6
	}
	for _, id := range c.Joints {
		if j := &s.m.Joints()[id]; !j.Virtual {
			w[j.V] /= sum
		}
	}
}
