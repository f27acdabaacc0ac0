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
	fadeTime = 0.2  // s in which a support comes or goes; its coefficient is the square of how far it is, for torques change fastest while it is small
	forget   = 0.2  // s in which torques fade that cannot be computed any more
	chosen   = 0.5  // s in which a joint takes torques up, or leaves them, at least
	torqueBy = 0.05 // N·m by which that changes the torque of a joint in a tick at most
	suspect  = 0.05 // share of the acceleration from which on a correction says that contacts contradict the motion
	notable  = 1.0  // rad/s²: a smaller correction says nothing
)

// State is what the last update found.
type State struct {
	Correction  float64        // length of the change that contacts made to the acceleration
	Contradicts bool           // it was large: the motion does not keep the supports where they are
	Residual    spatial.Wrench // on the base, about its origin, world axes: no contact supplies it
	Limited     bool           // contact forces had to be kept inside their limits
	Failed      bool           // torques could not be computed: the last ones fade
}

// Stage computes the torques of a robot. Make one with New.
type Stage struct {
	Tau   []float64 // [joints] that the motion needs, N·m or N
	Share []float64 // [joints] of it that is used, 0 … 1
	State State

	m       *robot.Model
	accel   *Accelerations
	inverse *floatingbase.Inverse // of a free base
	dyn     *dynamics.Data        // of a fixed one
	answer  floatingbase.Answer
	q, v, a []float64
	tau     []float64 // of each velocity
	first   int       // velocity behind the base's

	weight   []float64 // [chains] roots of the coefficients of supports, faded
	contact  []robot.ContactID
	supports []floatingbase.Support
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
		weight: make([]float64, chains), contact: make([]robot.ContactID, chains), supports: make([]floatingbase.Support, 0, chains)}
	kinematics.NewSpace(m).NeutralTo(s.q)
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
	for i, j := range s.m.Joints() {
		s.Tau[i] = s.tau[j.V-s.first]
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
	s.State = State{Correction: k, Contradicts: k > notable && k > suspect*math.Sqrt(length), Residual: s.answer.Residual, Limited: s.answer.Limited}
	return true
}

// stand takes the supports of a command: each comes and goes gradually. It returns the least
// friction of those that say one.
func (s *Stage) stand(supports []control.Support, dt float64) float64 {
	s.supports = s.supports[:0]
	friction := estimate.Friction
	for i := range supports {
		own := s.m.Chains()[i].Contact
		if own == robot.NoContact {
			continue
		}
		c := &supports[i]
		to := math.Sqrt(max(0, min(1, c.Weight)))
		if !s.begun {
			s.weight[i] = to
		}
		by := dt / fadeTime
		if c.Fade > 0 {
			by = dt / c.Fade
		}
		s.weight[i] += max(-by, min(by, to-s.weight[i]))
		if to > 0 { // one that goes does so as it stood
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

// Begin lets everything begin anew: nothing is known of what the robot did before, except
// the torques that are still used. Loop-safe.
func (s *Stage) Begin() {
	s.begun = false
	s.accel.Begin()
}

// Acceleration returns what Accelerate found for a joint. Loop-safe.
func (s *Stage) Acceleration(j int) float64 { return s.accel.A[j] }

// Effort returns what of the torque of a joint is used: on its way to all of it, if it is
// used, or to nothing. In a tick the way changes it by torqueBy at most. Loop-safe.
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
