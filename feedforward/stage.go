package feedforward

import (
	"fmt"
	"math"

	"poise/control"
	"poise/dynamics"
	"poise/estimate"
	"poise/floatingbase"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// Numbers of the stage.
const (
	fadeTime = 0.2  // s in which a support fades in or out; its coefficient goes with the square, since torques change fastest while it is small
	forget   = 0.2  // s in which torques fade that cannot be computed any more
	chosen   = 0.5  // s, least time in which a joint's torque is blended in or out
	torqueBy = 0.05 // N·m by which that changes a torque in a tick at most
	changeBy = 0.1  // N·m by which a fading support changes a torque in a tick at most …
	ofLimit  = 0.04 // … or this share of the joint's limit, if that is more
	suspect  = 0.05 // correction of the acceleration, as a share of it, from which on contacts contradict the motion
	notable  = 1.0  // rad/s²: a smaller correction does not
	slides   = 0.02 // m/s: a foot commanded to stand that moves faster contradicts the motion, too
	stands   = 0.5  // coefficient from which on a foot is commanded to stand
	lacks    = 0.05 // share of the weight from which on a missing force is reported
	recently = 1.0  // s for which such findings are remembered
	waits    = 0.3  // s without touch after which the sensor of a foot commanded to stand is believed
	searches = 0.1  // coefficient of such a foot: it presses down gently until it touches
	givesUp  = 2.0  // s without touch after which its own load is all it presses with
	creeps   = 5e-3 // m that a foot commanded to stand may move
	forgives = 5.0  // s in which such a distance is forgotten
)

// Touch is what a sensor says of a foot.
type Touch uint8

// Unknown is that of a foot without a sensor.
const (
	Unknown Touch = iota
	Touching
	Aloft
)

// State is what the last update found.
type State struct {
	Correction  float64        // length of the change that contacts made to the acceleration
	Contradicts bool           // the motion does not keep the supports where they are: that was large, or a foot slides
	Residual    spatial.Wrench // on the base, about its origin, world axes: no contact supplies it
	Lacks       bool           // its force is a notable share of the weight: the feet cannot carry what is asked for
	Limited     bool           // contact forces had to be kept inside their limits
	Failed      bool           // torques could not be computed: the last ones fade
	Recent      Recent
}

// Recent is what was found within the last second, for readers that do not see every tick.
type Recent struct {
	Contradicted float64       // s until a contradiction is forgotten; 0 without one
	Correction   float64       // largest meanwhile
	Chain        robot.ChainID // the foot that does not touch, or moves most
	Aloft        bool          // it does not touch
	Speed        float64       // of its contact, m/s
	Way          float64       // by which it moved slowly, m
	Lacked       float64       // s until a missing force is forgotten; 0 without one
	Missing      float64       // greatest force that feet could not give, N
}

// Stage computes the torques of a robot. Make one with New.
type Stage struct {
	Tau   []float64 // [joints] that the motion needs, N·m or N
	Share []float64 // [joints] of it that is used, 0 … 1
	State State
	Touch []Touch // [chains] what sensors say; the caller of Update fills it in

	m       *robot.Model
	accel   *Accelerations
	inverse *floatingbase.Inverse // of a free base
	dyn     *dynamics.Data        // of a fixed one
	answer  floatingbase.Answer
	q, v, a []float64
	tau     []float64 // of each velocity
	first   int       // velocity behind the base's

	weight   []float64 // [chains] roots of the coefficients of supports, faded
	aloft    []float64 // [chains] s for which a foot commanded to stand does not touch
	crept    []float64 // [chains] m that it moved lately meanwhile
	contact  []robot.ContactID
	supports []floatingbase.Support
	share    sharing
	stood    func(chain int) bool // it is commanded to stand with full weight, and was not in the air for long
	said     []float64            // [chains] roots of the commanded coefficients
	fading   bool                 // supports fade, and their controller has not planned it
	step     float64              // multiple of changeBy by which torques may change in this tick; 0 without bound
	begun    bool
}

// New makes the stage of a robot whose joints have acceleration limits; 0 means unlimited. It fails
// for robots without mass, and for those whose joints are not all of one coordinate.
func New(m *robot.Model, limits []float64) (*Stage, error) {
	if !(m.Mass() > 0) {
		return nil, fmt.Errorf("robot %q has no mass: no link of its description has an inertial", m.Name())
	}
	n, chains := len(m.Joints()), len(m.Chains())
	for i := range m.Joints() {
		if j := &m.Joints()[i]; j.Kind.NumQ() != 1 {
			return nil, fmt.Errorf("joint %q has %d coordinates, and a command has one", j.Name, j.Kind.NumQ())
		}
	}
	s := &Stage{m: m, accel: NewAccelerations(limits), Tau: make([]float64, n), Share: make([]float64, n),
		q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV()),
		Touch: make([]Touch, chains), aloft: make([]float64, chains), crept: make([]float64, chains),
		weight: make([]float64, chains), contact: make([]robot.ContactID, chains), supports: make([]floatingbase.Support, 0, chains)}
	kinematics.NewSpace(m).NeutralTo(s.q)
	s.share, s.said = newSharing(m), make([]float64, chains)
	s.stood = func(chain int) bool { return s.said[chain] >= 1 && s.aloft[chain] < givesUp }
	if !m.Floating() {
		s.dyn, s.tau = dynamics.NewData(m), make([]float64, m.NumV())
		return s, nil
	}
	var err error
	if s.inverse, err = floatingbase.NewInverse(m); err != nil {
		return nil, err
	}
	s.first = 6
	// an answer grows when it is first used, and all feet are the most that it needs
	for set := range m.Contacts() {
		s.supports = s.supports[:0]
		for i, c := range m.Chains() {
			if s.contact[i] = c.Contact; c.Contact != robot.NoContact {
				s.supports = append(s.supports, floatingbase.Support{Chain: robot.ChainID(i), Contact: robot.ContactID(set), Coefficient: 1})
			}
		}
		if err := s.inverse.Solve(&s.answer, s.q, s.v, s.a, s.supports, estimate.Friction); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Accelerate finds the accelerations of the joints of a command, which Acceleration then
// returns; powered says which have torque. Loop-safe.
func (s *Stage) Accelerate(c *control.Motion, powered func(joint int) bool, dt float64) []float64 {
	for j := range c.Q {
		s.accel.Update(j, c.Q[j], c.A[j], powered(j), dt)
	}
	return s.accel.A
}

// Update computes the torques of a command, whose base is known and whose accelerations
// Accelerate has found. Loop-safe.
func (s *Stage) Update(c *control.Motion, dt float64) {
	for i, j := range s.m.Joints() {
		s.q[j.Q], s.v[j.V], s.a[j.V] = c.Q[i], c.V[i], s.accel.A[i]
	}
	ok := false
	if s.inverse == nil {
		s.dyn.InverseTo(s.tau, s.q, s.v, s.a, dynamics.Load{})
		ok = true
		for _, x := range s.tau {
			ok = ok && finite(x)
		}
	} else {
		ok = s.solve(c, dt)
	}
	if s.State.Failed = !ok; !ok {
		for j := range s.Tau {
			s.Tau[j] *= 1 - min(dt/forget, 1)
		}
		return
	}
	s.change()
}

// change takes the computed torques over: by a bounded step a tick while supports fade, and by steps that grow
// from tick to tick thereafter.
func (s *Stage) change() {
	switch {
	case s.fading:
		s.step = 1
	case s.step > 0:
		s.step *= 1.1
	}
	late := false
	for i := range s.m.Joints() {
		j := &s.m.Joints()[i]
		to, most := s.tau[j.V-s.first], s.step*max(changeBy, ofLimit*j.Limits.Effort.Value)
		if by := to - s.Tau[i]; s.step > 0 && math.Abs(by) > most {
			to, late = s.Tau[i]+math.Copysign(most, by), true
		}
		s.Tau[i] = to
	}
	if !late && !s.fading {
		s.step = 0
	}
}

// solve computes torques and contact forces of a robot with a free base; it reports whether
// there are any.
func (s *Stage) solve(c *control.Motion, dt float64) bool {
	b := &c.Base
	if !b.Has {
		return false
	}
	R, X := b.Pose.R.Quat(), b.Pose.P
	t, d := b.Twist, b.Acceleration
	s.q[0], s.q[1], s.q[2], s.q[3], s.q[4], s.q[5], s.q[6] = X.X, X.Y, X.Z, R.X, R.Y, R.Z, R.W
	for k, x := range [...]struct{ v, a spatial.Vec3 }{{t.Linear, d.Linear}, {t.Angular, d.Angular}} {
		s.v[3*k], s.v[3*k+1], s.v[3*k+2] = x.v.X, x.v.Y, x.v.Z
		s.a[3*k], s.a[3*k+1], s.a[3*k+2] = x.a.X, x.a.Y, x.a.Z
	}
	friction := s.stand(c.Support, dt)
	if s.inverse.Solve(&s.answer, s.q, s.v, s.a, s.supports, friction) != nil {
		return false
	}
	s.share.update(s.answer.Contacts, s.stood, dt)
	for i := range s.answer.Contacts {
		if more := s.share.extra[s.answer.Contacts[i].Chain]; more != 0 {
			s.inverse.Press(&s.answer, i, more)
		}
	}
	s.tau = s.answer.Torque
	for _, x := range s.tau {
		if !finite(x) {
			return false
		}
	}
	length := 0.0
	for _, x := range s.a {
		length += x * x
	}
	k := s.answer.Correction
	s.State = State{Correction: k, Contradicts: k > notable && k > suspect*math.Sqrt(length), Residual: s.answer.Residual, Limited: s.answer.Limited, Recent: s.State.Recent}
	s.remember(dt)
	return true
}

// remember judges what was found, and keeps it for a second.
func (s *Stage) remember(dt float64) {
	found := s.worst(dt)
	r := &s.State.Recent
	if r.Contradicted = max(r.Contradicted-dt, 0); r.Contradicted == 0 {
		*r = Recent{Chain: robot.NoChain, Lacked: r.Lacked, Missing: r.Missing}
	}
	if found.Aloft || found.Speed > 0 || found.Way > 0 {
		s.State.Contradicts = true
	}
	if s.State.Contradicts {
		r.Correction, r.Contradicted = max(r.Correction, s.State.Correction), recently
		if r.Chain == robot.NoChain || found.Aloft || !r.Aloft && (found.Speed > r.Speed || found.Way > r.Way) {
			r.Chain, r.Aloft, r.Speed, r.Way = found.Chain, found.Aloft, found.Speed, found.Way
		}
	}
	if r.Lacked = max(r.Lacked-dt, 0); r.Lacked == 0 {
		r.Missing = 0
	}
	missing := s.State.Residual.Force.Norm()
	if s.State.Lacks = missing > lacks*s.m.Mass()*s.m.Gravity().Norm(); s.State.Lacks {
		r.Lacked, r.Missing = recently, max(r.Missing, missing)
	}
}

// worst finds the foot that is most in contradiction with being said to stand: it does not touch,
// it slides, it has crept away, or it is the one that asks most of the acceleration.
func (s *Stage) worst(dt float64) Recent {
	for i, t := range s.aloft {
		if t >= waits {
			return Recent{Chain: robot.ChainID(i), Aloft: true}
		}
	}
	found, asked := Recent{Chain: robot.NoChain}, 0.0
	for i := range s.answer.Contacts {
		c := &s.answer.Contacts[i]
		crept := &s.crept[c.Chain]
		if s.weight[c.Chain]*s.weight[c.Chain] < stands {
			*crept = 0
			continue
		}
		if *crept -= *crept * min(dt/forgives, 1); c.Speed <= slides {
			*crept += c.Speed * dt
		}
		switch {
		case c.Speed > max(slides, found.Speed):
			found = Recent{Chain: c.Chain, Speed: c.Speed}
		case found.Speed == 0 && *crept > max(creeps, found.Way):
			found = Recent{Chain: c.Chain, Way: *crept}
		case found.Speed == 0 && found.Way == 0 && c.Asked > asked:
			found.Chain, asked = c.Chain, c.Asked
		}
	}
	return found
}

// stand takes the supports of a command: each comes and goes gradually, and a foot that has not
// touched for a while only presses gently until it does. It returns the least friction of those that say one.
func (s *Stage) stand(supports []control.Support, dt float64) float64 {
	s.supports, s.fading = s.supports[:0], false
	friction := estimate.Friction
	for i := range supports {
		own := s.m.Chains()[i].Contact
		if own == robot.NoContact {
			continue
		}
		c := &supports[i]
		said := math.Sqrt(max(0, min(1, c.Weight)))
		s.said[i] = said
		to := said
		if s.absent(i, said, dt) {
			to = min(said, math.Sqrt(searches))
		}
		if !s.begun {
			s.weight[i] = to
		}
		by := dt / fadeTime
		if c.Fade > 0 {
			by = dt / c.Fade
		} else if s.weight[i] != to {
			s.fading = true
		}
		s.weight[i] += max(-by, min(by, to-s.weight[i]))
		if said > 0 { // one that goes does so as it stood
			if s.contact[i] = c.Contact; c.Contact == robot.NoContact {
				s.contact[i] = own
			}
			if c.Friction > 0 {
				friction = min(friction, c.Friction)
			}
		}
		if w := s.weight[i] * s.weight[i]; w > 0 {
			s.supports = append(s.supports, floatingbase.Support{Chain: robot.ChainID(i), Contact: s.contact[i], Coefficient: w})
		}
	}
	s.begun = true
	return friction
}

// absent reports whether a foot that is said to stand has not touched the ground for a while: the
// torque of its whole load would throw the leg. At the beginning that is believed at once.
func (s *Stage) absent(i int, said, dt float64) bool {
	switch {
	case s.Touch[i] != Aloft || said == 0:
		s.aloft[i] = 0
	case !s.begun:
		s.aloft[i] = waits
	default:
		s.aloft[i] = min(s.aloft[i]+dt, givesUp)
	}
	return s.aloft[i] >= waits
}

// Feel tells the load that a sensor feels on a foot, N; NaN if it feels none. Loop-safe.
func (s *Stage) Feel(chain robot.ChainID, load float64) { s.share.load[chain] = load }

// Begin lets everything begin anew: nothing is known of what the robot did before, except
// the torques that are still used. Loop-safe.
func (s *Stage) Begin() {
	s.begun = false
	clear(s.crept)
	clear(s.share.extra)
	s.accel.Begin()
}

// Acceleration returns what Accelerate found for a joint. Loop-safe.
func (s *Stage) Acceleration(j int) float64 { return s.accel.A[j] }

// Claims returns the accelerations that Accelerate found. Loop-safe.
func (s *Stage) Claims() []float64 { return s.accel.A }

// Lead lets a joint accelerate as something else leads it, until the next Accelerate. Loop-safe.
func (s *Stage) Lead(j int, a float64) { s.accel.A[j] = a }

// Effort returns the torque of a joint that is used: all of it or nothing, with a blend between the two that
// changes it by torqueBy a tick at most. Loop-safe.
func (s *Stage) Effort(j int, used bool, dt float64) float64 {
	to := 0.0
	if used {
		to = 1
	}
	by := min(dt/chosen, torqueBy/max(math.Abs(s.Tau[j]), 1e-9))
	s.Share[j] += max(-by, min(by, to-s.Share[j]))
	return s.Share[j] * s.Tau[j]
}

// Drop lets a joint begin anew, without torque.
func (s *Stage) Drop(j int) { s.Share[j] = 0 }

// Forces appends what the supports are to give. Outside of updates.
func (s *Stage) Forces(dst []floatingbase.ContactWrench) []floatingbase.ContactWrench {
	if s.inverse == nil || s.State.Failed {
		return dst
	}
	return append(dst, s.answer.Contacts...)
}
