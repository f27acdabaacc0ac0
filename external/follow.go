package external

import (
	"math"

	"poise/dynamics"
	"poise/robot"
	"poise/servo"
)

// tracked is what the trackers of all joints share.
type tracked struct {
	joints  []tracker
	q, v, a []float64 // as predicted
	needs   []float64 // of the bodies then
	ramp    [substeps]float64
}

func (t *tracked) init(m *robot.Model) {
	t.joints = make([]tracker, len(m.Joints()))
	t.q, t.v, t.a, t.needs = make([]float64, m.NumQ()), make([]float64, m.NumV()), make([]float64, m.NumV()), make([]float64, m.NumV())
}

// Numbers of the trackers.
const (
	leastStep  = 1e-4 // rad: readings are not better than that
	agrees     = 0.5  // of a step: a reading within this of its prediction agrees with it
	beyond     = 0.1  // of a step: standard deviation of a reading outside of that
	undisputed = 0.04 // of a step: the same while nothing acts, when most predictions agree
	restTicks  = 4    // ticks with the same reading after which a joint is at rest
	firstW     = 1.0  // N·m, standard deviation of the external torque at the beginning
)

// predictBodies finds what the bodies need in the period: joints where the trackers had them at
// its beginning, and accelerating as before.
func (s *Sense) predictBodies() {
	t := &s.track
	copy(t.q, s.q)
	copy(t.v, s.v)
	copy(t.a, s.a)
	for i, j := range s.m.Joints() {
		if k := &t.joints[i]; s.state[i].fresh > 0 {
			t.q[j.Q], t.v[j.V], t.a[j.V] = k.q, k.v, k.a
		}
	}
	s.dyn.InverseTo(t.needs, t.q, t.v, t.a, dynamics.Load{Armature: s.armature})
}

// follow updates the tracker of a joint, whose ramp is known.
func (s *Sense) follow(sample *Sample, i int, volts float64) {
	st, act, k, j := &s.state[i], &s.acts[i], &s.track.joints[i], &s.joints[i]
	m, v := &act.at, s.m.Joints()[i].V
	l := law{M: st.inertia, d: m.A[1] / m.A[3], dry: s.dry(act, k.v), most: m.Limit(volts) / m.A[3], dt: sample.Dt,
		rest: s.track.needs[v] - st.inertia*s.track.a[v] + m.A[5]/m.A[3]}
	switch act.goal.Mode {
	case servo.Position:
		l.k, l.effort = m.Kp*math.Max(0, math.Min(1, act.goal.Stiffness))*volts/m.A[3], act.goal.Effort
	case servo.Effort:
		l.effort = act.goal.Effort
	}
	step := math.Max(m.Quantum, leastStep)
	if st.fresh == 1 {
		k.begin(st.q, step, firstW)
		s.lost[i] = losses{}
	}
	given := k.predict(&l, &s.track.ramp)
	σ, quiet := beyond*step, undisputed*step
	// a torque that wanders so is followed with the bandwidth ω: ω⁶ = its intensity/(M²·that of readings)
	ω := s.opt.Bandwidth
	w := ω * ω * ω * l.M * σ * sample.Dt
	e := 0.0
	if st.stale == 0 {
		e = k.off(st.q, agrees*step)
	}
	lost := &s.lost[i]
	if act.goal.Mode == servo.Position {
		lost.sent(act.goal.Position, l.k)
	} else {
		*lost = losses{}
	}
	j.Friction, j.Lost = 0, 0
	if k.stuck && e == 0 {
		k.hold(l.rest-given, l.dry, l.k*σ, sample.Dt)
		lost.rest()
		j.Friction = l.dry
	} else {
		if k.stuck && st.same >= restTicks {
			j.Friction = l.dry // it rests where its servo does not quite have it
		}
		F, K := k.spread(&l), [3]float64{}
		k.noise(w * w)
		if st.stale == 0 {
			K = k.correct(e, σ*σ, quiet*quiet)
		}
		lost.pass(&F, &K)
	}
	if s.loss > leastLoss {
		j.Lost = lost.most(s.loss)
	}
	if !finite(k.q) || !finite(k.v) || !finite(k.w) || !finite(k.P[5]+k.N[5]) {
		k.begin(st.q, step, firstW)
		*lost = losses{}
	}
	j.External = k.w
	j.Sigma = math.Sqrt(math.Max(0, k.N[5]) + st.spread)
}

// dry is the size of dry friction at a velocity, N·m.
func (s *Sense) dry(a *actuator, v float64) float64 {
	f := a.at.A[2]
	if a.at.A[4] != 0 && a.at.Speed > 0 {
		f += a.at.A[4] * math.Exp(-math.Abs(v)/a.at.Speed)
	}
	return f / a.at.A[3]
}
