package stage

import (
	"math"

	"poise/control"
	"poise/servo"
	"poise/spatial"
)

// Numbers of the measured state.
const (
	leakTime  = 2.0  // s, time constant with which the tilt of the motion approaches the measured one
	mostLeak  = 0.1  // rad of tilt that counts at most: a robot that lies is not led so
	freshness = 10   // ticks after which a measured position does not count any more
	paceTime  = 0.1  // s, time constant of the pace
	paceGain  = 1.02 // by which a motion goes faster again, so long as all of it is reached
	lagsBy    = 0.01 // rad or m of lag from which on motions slow down
	slowest   = 0.1  // least pace
)

// sensed is what servos and sensors tell of the robot.
type sensed struct {
	base spatial.Mat3
	has  bool              // base is known
	q    []float64         // [joints]
	age  []uint32          // [joints] ticks since it was measured
	past [lately][]float64 // [joints] where the motion was in the last ticks, the newest first
	held []bool            // [joints] something holds it
}

func (x *sensed) init(joints int) {
	x.q, x.age = make([]float64, joints), make([]uint32, joints)
	x.held = make([]bool, joints)
	for k := range x.past {
		x.past[k] = make([]float64, joints)
	}
	x.forget()
}

func (x *sensed) forget() {
	x.has = false
	for i := range x.age {
		x.age[i] = servo.Never
	}
}

// Sense takes over what is measured, for the next update, whose motion stays near it. Without it the motion
// follows the command alone. Loop-safe.
func (s *Stage) Sense(m *control.Measured) {
	s.sensed.has, s.sensed.base = m.Base.Has, m.Base.Pose.R
	copy(s.sensed.q, m.Q)
	copy(s.sensed.age, m.Age)
}

// leak lets the tilt of the motion's base approach the measured one slowly. The command then levels the base
// from there, and legs straighten what has sunk. Yaw is not measured well enough.
func (s *Stage) leak(dt float64) {
	if !s.sensed.has {
		return
	}
	R, ok := spatial.Quat{X: s.q[3], Y: s.q[4], Z: s.q[5], W: s.q[6]}.Unit()
	if !ok {
		return
	}
	up := spatial.Vec3{Z: 1}
	now, is := R.Matrix().TMulVec(up), s.sensed.base.TMulVec(up) // the vertical in base axes
	axis := is.Cross(now)                                        // which turns the base so that it is as measured
	sin := axis.Norm()
	if !(sin > 1e-9) || now.Dot(is) < 0 {
		return
	}
	by := min(math.Asin(min(sin, 1)), mostLeak) * -math.Expm1(-dt/leakTime)
	R = R.Mul(spatial.ExpRotation(axis.Scale(by / sin)))
	s.q[3], s.q[4], s.q[5], s.q[6] = R.X, R.Y, R.Z, R.W
}

// lately is the delay of a position on its way to the servo and back, in ticks at most.
const lately = 3

// clamp bounds the distance of the motion from the measured joints by what their servos can pull: |q − measured|
// ≤ τ/k, so that the command of a joint that something holds does not run away. Any q of the last ticks
// counts, so that fast joints with late readings are not held back.
func (s *Stage) clamp(servos *Servos, dt float64) {
	for i, j := range s.m.Joints() {
		m := servos.Model(i)
		if s.fixed[i] || m == nil || s.sensed.age[i] > freshness {
			continue
		}
		volts := servos.Volts
		if !(volts > 0) {
			volts = m.Voltage
		}
		k := m.FullStiffness(volts)
		_, most := m.Range(0, 0, volts)
		most = min(most, s.bounds[i].Effort)
		if !(k > 0) || !(most > 0) || math.IsInf(most, 0) {
			continue
		}
		low, high, reach := s.q[j.Q], s.q[j.Q], most/k
		if s.sensed.held[i] = s.sensed.held[i] && math.Abs(s.q[j.Q]-s.sensed.q[i]) > reach/2; !s.sensed.held[i] {
			for _, past := range s.sensed.past {
				low, high = min(low, past[i]), max(high, past[i])
			}
		}
		off := max(low-s.sensed.q[i], 0) + min(high-s.sensed.q[i], 0)
		if math.Abs(off) > reach {
			s.sensed.held[i] = true
			to, back := s.sensed.q[i]+math.Copysign(reach, off), s.bounds[i].Velocity/2*dt // it does not jump back
			s.q[j.Q], s.v[j.V] = max(s.Q[i]-back, min(s.Q[i]+back, to)), 0
			s.gate.Put(i, s.q[j.Q], 0)
		}
	}
}

// passed notes where the motion is.
func (x *sensed) passed(q []float64) {
	oldest := x.past[lately-1]
	copy(x.past[1:], x.past[:lately-1])
	x.past[0] = oldest
	copy(oldest, q)
}

// project removes the velocity of a foot that has come to stand, as an inelastic impact does:
// u ← u − M⁻¹Jᵀ(J·M⁻¹·Jᵀ)⁻¹·J·u.
func (s *Stage) project() {
	if s.switched {
		back := s.r.Feedback // it was found from the velocities before
		s.r.Feedback = nil
		s.solver.Project(s.v, s.q, &s.r)
		s.r.Feedback = back
		s.kin.UpdateVelocity(s.v)
		s.findCapture()
	}
}

// behind is the share that was reached, or 1 while the lag is small: a velocity that reverses is not reached
// for a moment, which costs nothing.
func behind(ratio, lag, most float64) float64 {
	if lag < most {
		return 1
	}
	return ratio
}

// stretch finds the pace at which limbs reach what motions ask of them. What is kept back for the balance does not
// count, since no pace would help; nor does a planned balance, which depends on its time.
func (s *Stage) stretch(dt float64) {
	adapt := func(pace *float64, ratio float64) {
		*pace = max(slowest, min(1, *pace*(1+min(1, dt/paceTime)*(ratio*paceGain-1))))
	}
	if s.State.Prevented || s.planned {
		adapt(&s.basePace, 1)
	} else {
		adapt(&s.basePace, behind(s.State.Base, s.lag, lagsBy))
	}
	s.State.Pace = s.basePace
	for i := range s.pace {
		f := &s.feet[i]
		switch {
		case s.planned || s.Limbs[i].Kept || s.Limbs[i].Lands || f.can && f.share == 0 && f.free < 1:
			adapt(&s.pace[i], 1)
		case f.can && f.share > 0: // it moves as the base does
			s.pace[i] = s.basePace
		default:
			lag := 0.0
			for _, j := range s.m.Chains()[i].Joints {
				lag = max(lag, math.Abs(s.wanted[j]-s.q[s.m.Joints()[j].Q]))
			}
			adapt(&s.pace[i], behind(s.Limbs[i].Ratio, lag, lagsBy))
		}
		s.Limbs[i].Pace = s.pace[i]
	}
}
