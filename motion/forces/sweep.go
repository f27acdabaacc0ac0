package forces

import (
	"fmt"
	"math"

	"poise/control"
	"poise/dynamics"
	"poise/estimate"
	"poise/floatingbase"
	"poise/kinematics"
	"poise/robot"
)

// sweep computes one instant of a motion after the other.
type sweep struct {
	*Stance
	odometry *estimate.Odometry
	inverse  *floatingbase.Inverse // of a free base
	dyn      *dynamics.Data        // of a fixed one
	weight   float64               // N

	feet     []estimate.Foot
	supports []floatingbase.Support
	joint    [3][]float64 // position, velocity, acceleration of every joint
	q, v, a  []float64    // with those of a free base
	zero     []float64
	tau      []float64
	answer   floatingbase.Answer

	now, still instant // as it moves; as it would be at rest
}

// instant is what a robot needs at one time.
type instant struct {
	torque   []float64 // [joints] that the motion needs,
	effort   []float64 // [joints] and the limit of it
	motor    []float64 // [joints] that the servo has to give for it, with what its friction and rotor take,
	strength []float64 // [joints] and what it can give
	stands   bool
	margin   float64   // of the ZMP in the supports, m; −∞ without one
	load     []float64 // [feet] vertical force, N; NaN of one that does not stand
	missing  float64   // N that contacts cannot give
}

func (x *instant) grow(joints, feet int) {
	x.torque, x.effort = make([]float64, joints), make([]float64, joints)
	x.motor, x.strength = make([]float64, joints), make([]float64, joints)
	x.load = make([]float64, feet)
}

// Judgeable returns why forces cannot be computed; nil if they can.
func (s *Stance) Judgeable() error {
	_, err := s.sweep()
	return err
}

// sweep begins at the start of the motion. It fails for a robot whose forces cannot be computed.
func (s *Stance) sweep() (*sweep, error) {
	m := s.m
	if !(m.Mass() > 0) {
		return nil, fmt.Errorf("robot %q has no mass: no link of its description has an inertial", m.Name())
	}
	odometry, err := estimate.NewOdometry(m)
	if err != nil {
		return nil, err
	}
	w := &sweep{Stance: s, odometry: odometry, weight: m.Mass() * m.Gravity().Norm(),
		q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV()), zero: make([]float64, m.NumV()), tau: make([]float64, m.NumV())}
	for k := range w.joint {
		w.joint[k] = make([]float64, len(m.Joints()))
	}
	w.now.grow(len(m.Joints()), len(s.feet))
	w.still.grow(len(m.Joints()), len(s.feet))
	kinematics.NewSpace(m).NeutralTo(w.q)
	if !m.Floating() {
		w.dyn = dynamics.NewData(m)
		return w, nil
	}
	if err := s.Known(); err != nil {
		return nil, err
	}
	w.inverse, err = floatingbase.NewInverse(m)
	return w, err
}

// at moves on to a time in a segment of the curve and computes what is needed there.
func (w *sweep) at(segment int, t float64) error {
	w.StateTo(w.joint[0], w.joint[1], w.joint[2], segment, t)
	for i, j := range w.m.Joints() {
		w.q[j.Q], w.v[j.V], w.a[j.V] = w.joint[0][i], w.joint[1][i], w.joint[2][i]
	}
	if w.inverse != nil {
		knots := w.curve.Knots() // a support holds from its row to the next
		w.feet = w.FeetTo(w.feet[:0], (knots[segment]+knots[segment+1])/2)
		w.supports = w.supports[:0]
		for _, f := range w.feet {
			w.supports = append(w.supports, floatingbase.Support{Chain: f.Chain, Contact: f.Contact, Coefficient: min(f.Weight, 1)})
		}
		base := w.odometry.Update(&estimate.Input{Time: t, Q: w.joint[0], V: w.joint[1], A: w.joint[2], Feet: w.feet})
		w.place(&base)
	}
	return w.compute(&w.now, w.v, w.a)
}

// rest computes the instant before for the same pose without any motion.
func (w *sweep) rest() error { return w.compute(&w.still, w.zero, w.zero) }

// place takes where the base is and how it moves.
func (w *sweep) place(b *control.BaseRef) {
	R, p := b.Pose.R.Quat(), b.Pose.P
	copy(w.q, []float64{p.X, p.Y, p.Z, R.X, R.Y, R.Z, R.W})
	v, ω := b.Twist.Linear, b.Twist.Angular
	copy(w.v, []float64{v.X, v.Y, v.Z, ω.X, ω.Y, ω.Z})
	a, α := b.Acceleration.Linear, b.Acceleration.Angular
	copy(w.a, []float64{a.X, a.Y, a.Z, α.X, α.Y, α.Z})
}

func (w *sweep) compute(moment *instant, v, a []float64) error {
	first := 0
	if w.inverse != nil {
		if err := w.inverse.Solve(&w.answer, w.q, v, a, w.supports, estimate.Friction); err != nil {
			return err
		}
		first = 6
		copy(w.tau[first:], w.answer.Torque)
		w.stand(moment)
	} else {
		w.dyn.InverseTo(w.tau, w.q, v, a, dynamics.Load{})
	}
	for i, j := range w.m.Joints() {
		τ := w.tau[j.V]
		if τ-τ != 0 {
			return fmt.Errorf("torque of %s is %g: the motion is too fast to be computed", j.Name, τ)
		}
		moment.torque[i], moment.effort[i], moment.motor[i], moment.strength[i] = τ, math.Inf(1), τ, math.Inf(1)
		if j.Limits.Effort.Has {
			moment.effort[i] = j.Limits.Effort.Value
		}
		if s := w.m.Servo(robot.JointID(i)).Model; s != nil && s.Voltage > 0 {
			if least, most := s.Range(v[j.V], a[j.V], s.Voltage); !math.IsInf(most, 1) {
				moment.motor[i], moment.strength[i] = τ-(most+least)/2, (most-least)/2
			}
		}
	}
	return nil
}

// stand takes what the supports give.
func (w *sweep) stand(x *instant) {
	x.stands, x.margin, x.missing = len(w.supports) > 0, w.answer.Margin, 0
	if x.stands {
		x.missing = w.answer.Residual.Force.Norm()
	}
	for k := range x.load {
		x.load[k] = math.NaN()
		for _, c := range w.answer.Contacts {
			if c.Chain == w.Stance.feet[k].chain {
				x.load[k] = c.Force.Z
			}
		}
	}
}
