package identify

import (
	"math"
	"slices"
)

// What can be fitted: parameters of the equation, the delay, and effects outside the equation.
const (
	pA0 = iota
	pA1
	pA2
	pA3
	pA5
	pDelay        // s
	pDrift        // by which the clock of readings gains on that of goals, s/s
	pPlay         // of the gear, rad: between the motor and a joint that is measured
	pDeadBand     // about the goal in which the servo gives nothing, rad
	pSlip         // by which a loose sensor lags behind the joint, rad
	pLoadFriction // a6, of |τ|
	pDamping      // change of a1 over the log, a share
	pFriction     // … and of a2
	pSin          // load that the torque does not have, of the joint's sine
	pCos          // … and cosine
	pSaturation   // ks
	pMany
)

// values are all of them; those without effect are zero.
type values [pMany]float64

func noEffects() (p values) {
	p[pSaturation] = math.Inf(1)
	return p
}

// stribeck is found from sweeps, and then fixed.
type stribeck struct{ a4, vs float64 }

// least and most bound what is fitted.
func bounds(i int) (least, most float64) {
	switch i {
	case pA0:
		return 1e-3, math.Inf(1)
	case pA1, pA2, pA3, pPlay, pDeadBand, pSlip, pLoadFriction:
		return 0, math.Inf(1)
	case pDelay:
		return minDelay, maxDelay
	case pDamping, pFriction:
		return -1.5, 1.5
	case pDrift:
		return -0.02, 0.02
	case pSaturation:
		return 1e-3, math.Inf(1)
	}
	return math.Inf(-1), math.Inf(1)
}

// Delays of a line that are tried, s. One below zero is that of clocks that differ: it is refused, and
// would be hidden if it could not be found.
const (
	minDelay = -0.05
	maxDelay = 0.15
)

// span is a part of a series on an even grid of times.
type span struct {
	s        *series
	begin, h float64
	n        int
	from     float64 // residuals before this time belong to the start
	voltage  []float64
	torque   []float64
	rest     []float64
	inertia  []float64
	flank    []float64 // side of the gear that carries the torque, −1 … 1
	first    int       // reading
	last     int       // reading after the last
	q0, v0   float64
}

const (
	gridStep   = 0.001 // s
	settling   = 0.4   // s until the start is forgotten
	flankShare = 0.05  // of the torque's RMS, within which a gear changes its flank
)

func (s *series) span(begin, end float64) *span {
	g := &span{s: s, begin: begin, from: begin + settling}
	g.n = int(math.Ceil((end-begin)/gridStep)) + 1
	g.h = gridStep
	g.voltage, g.torque, g.flank = make([]float64, g.n), make([]float64, g.n), make([]float64, g.n)
	g.rest, g.inertia = g.torque, make([]float64, g.n)
	if len(s.inertia.knots) > 0 {
		g.rest = make([]float64, g.n)
	}
	u := line{knots: s.voltage}
	for i := range g.n {
		t := begin + (float64(i)+0.5)*g.h
		g.voltage[i], _ = u.at(t)
		g.torque[i] = s.torque.at(t)
		if len(s.inertia.knots) > 0 {
			g.rest[i], g.inertia[i] = s.rest.at(t), s.inertia.at(t)
		}
	}
	side := g.torque
	if len(s.raw.knots) > 0 {
		side = make([]float64, g.n)
		for i := range side {
			side[i] = s.raw.at(begin + (float64(i)+0.5)*g.h)
		}
	}
	small := flankShare*rms(side) + 1e-9
	for i, τ := range side {
		g.flank[i] = math.Tanh(τ / small)
	}
	g.first, _ = slices.BinarySearchFunc(s.readings, begin, func(r reading, t float64) int {
		if r.t < t {
			return -1
		}
		return 1
	})
	g.last = g.first
	for g.last < len(s.readings) && s.readings[g.last].t <= end {
		g.last++
	}
	if g.first < g.last {
		r := s.readings[g.first]
		g.q0, g.v0 = r.q-r.v*(r.t-begin), r.v
	}
	return g
}

// readings are those that count.
func (g *span) readings() []reading { return g.s.readings[g.first:g.last] }

// run lets the equation move from the start of the span: q gets the position at each reading, J
// its derivative by each free value, row by row; J may be nil. It is the trapezoidal rule with dry
// friction by its implicit law, so that the joint sticks when friction can hold it; the
// derivatives are those of the rule itself.
func (g *span) run(q, J []float64, p *values, st stribeck, free []int) {
	s, h, m := g.s, g.h, len(free)
	x := motion{q: g.q0, v: g.v0}
	seen := sensor{x: g.q0}
	var dq, dv [pMany]float64
	ramp := line{knots: s.ramp}
	middle, length := (s.begin+s.end)/2, math.Max(s.end-s.begin, h)
	readings, next := g.readings(), 0
	for i := 0; i < g.n && next < len(readings); i++ {
		t := g.begin + (float64(i)+0.5)*h
		goal, slope := ramp.at(t - p[pDelay] - p[pDrift]*(t-middle))
		e := environment{goal: goal, k: s.kp * g.voltage[i], u: g.voltage[i], tau: g.torque[i], rest: g.rest[i], inertia: g.inertia[i], flank: g.flank[i], age: (t - middle) / length}
		before := seen
		d := x.step(&e, p, st, h)
		if J != nil {
			for c, j := range free {
				d.derive(&e, p, j, slope, t-middle, h, &dq[c], &dv[c])
			}
		}
		seen.follow(x.q, p[pSlip], &dq, free)
		for end := g.begin + float64(i+1)*h; next < len(readings) && readings[next].t <= end; next++ {
			f := 1 - (end-readings[next].t)/h
			q[next] = before.x + f*(seen.x-before.x) - p[pPlay]/2*e.flank
			if J != nil {
				for c, j := range free {
					J[next*m+c] = before.d[c] + f*(seen.d[c]-before.d[c])
					if j == pPlay {
						J[next*m+c] -= e.flank / 2
					}
				}
			}
		}
	}
	for ; next < len(readings); next++ {
		q[next] = seen.x
		if J != nil {
			copy(J[next*m:(next+1)*m], seen.d[:m])
		}
	}
}

// sensor is what is read of the joint, and its derivatives.
type sensor struct {
	x float64
	d [pMany]float64
}

// follow moves a sensor that is loose by slip.
func (s *sensor) follow(q, slip float64, dq *[pMany]float64, free []int) {
	side := 0.0
	switch {
	case s.x <= q-slip/2:
		side = -1
	case s.x >= q+slip/2:
		side = 1
	default:
		return
	}
	s.x, s.d = q+side*slip/2, *dq
	for c, j := range free {
		if j == pSlip {
			s.d[c] += side / 2
		}
	}
}

type motion struct{ q, v float64 }

// environment is what acts on the joint in the middle of a step.
type environment struct{ goal, k, u, tau, rest, inertia, flank, age float64 }

// slopes are what the derivatives of a step need.
type slopes struct {
	stick           bool
	q, v            float64 // before the step
	mean            float64 // velocity over the step
	denominator     float64
	stiffness, side float64 // of the servo there; side of the dead band it is on
	limit           float64 // side of saturation
	sign            float64 // of friction
	damping, dry    float64 // change of a1 and a2
	fading          float64 // slope of the Stribeck curve
}

// step moves by h.
func (x *motion) step(e *environment, p *values, st stribeck, h float64) slopes {
	d := slopes{q: x.q, v: x.v, damping: 1 + p[pDamping]*e.age, dry: 1 + p[pFriction]*e.age}
	err := e.goal - (x.q - p[pPlay]/2*e.flank)
	y := 0.0
	if band := p[pDeadBand] / 2; math.Abs(err) > band {
		d.side, d.stiffness = math.Copysign(1, err), e.k
		y = e.k * (err - band*d.side)
	}
	if most := p[pSaturation] * e.u; math.Abs(y) > most {
		d.limit, d.stiffness, d.side = math.Copysign(1, y), 0, 0
		y = d.limit * most
	}
	rub := p[pA2]*d.dry + p[pLoadFriction]*math.Abs(e.tau)
	if st.a4 != 0 {
		fading := st.a4 * math.Exp(-math.Abs(x.v)/st.vs)
		rub += fading
		d.fading = -math.Copysign(fading/st.vs, x.v)
	}
	rotor := 2 * (p[pA0] + p[pA3]*e.inertia) / h
	push := rotor*x.v + y - p[pA3]*e.rest - p[pA5]
	if p[pSin] != 0 || p[pCos] != 0 {
		sin, cos := math.Sincos(x.q)
		push -= p[pSin]*sin + p[pCos]*cos
	}
	d.denominator = rotor + p[pA1]*d.damping + d.stiffness*h/2
	if math.Abs(push) <= rub {
		d.stick = true
		x.v = 0
		return d
	}
	d.sign = math.Copysign(1, push)
	d.mean = (push - rub*d.sign) / d.denominator
	x.q += h * d.mean
	x.v = 2*d.mean - x.v
	return d
}

// derive is the derivative of step by the value j.
func (d *slopes) derive(e *environment, p *values, j int, slope, since, h float64, dq, dv *float64) {
	if d.stick {
		*dv = 0
		return
	}
	push := (2*(p[pA0]+p[pA3]*e.inertia)/h-d.fading*d.sign)**dv - d.stiffness**dq
	if p[pSin] != 0 || p[pCos] != 0 {
		sin, cos := math.Sincos(d.q)
		push -= (p[pSin]*cos - p[pCos]*sin) * *dq
	}
	switch j {
	case pA0:
		push += 2 / h * (d.v - d.mean)
	case pA1:
		push -= d.damping * d.mean
	case pA2:
		push -= d.dry * d.sign
	case pA3:
		push += 2/h*e.inertia*(d.v-d.mean) - e.rest
	case pA5:
		push--
	case pDelay:
		push -= d.stiffness * slope
	case pDrift:
		push -= d.stiffness * slope * since
	case pPlay:
		push += d.stiffness * e.flank / 2
	case pDeadBand:
		push -= d.stiffness * d.side / 2
	case pLoadFriction:
		push -= math.Abs(e.tau) * d.sign
	case pDamping:
		push -= e.age * p[pA1] * d.mean
	case pFriction:
		push -= e.age * p[pA2] * d.sign
	case pSin:
		push -= math.Sin(d.q)
	case pCos:
		push -= math.Cos(d.q)
	case pSaturation:
		push += d.limit * e.u
	}
	mean := push / d.denominator
	*dq += h * mean
	*dv = 2*mean - *dv
}

// greatest returns the greatest |y|/U that the span would have without saturation.
func (g *span) greatest(p *values) float64 {
	most := 0.0
	ramp := line{knots: g.s.ramp}
	for _, r := range g.readings() {
		goal, _ := ramp.at(r.t - p[pDelay])
		most = math.Max(most, math.Abs(g.s.kp*(goal-r.q)))
	}
	return most
}

// follow calls back with the motion of the equation on a grid of loadStep, accelerations being means
// over it.
func (g *span) follow(p *values, st stribeck, begin float64, point func(t, q, v, a float64)) {
	s, h := g.s, g.h
	x := motion{q: g.q0, v: g.v0}
	ramp := line{knots: s.ramp}
	middle, length := (s.begin+s.end)/2, math.Max(s.end-s.begin, h)
	const every = loadEvery
	var old [2 * every]motion // a ring of the states before
	skip := int(math.Ceil((g.from - g.begin) / h))
	next := begin + loadStep*math.Ceil((g.begin-begin)/loadStep)
	for i := range g.n {
		t := g.begin + (float64(i)+0.5)*h
		goal, _ := ramp.at(t - p[pDelay] - p[pDrift]*(t-middle))
		e := environment{goal: goal, k: s.kp * g.voltage[i], u: g.voltage[i], tau: g.torque[i], rest: g.rest[i], inertia: g.inertia[i], flank: g.flank[i], age: (t - middle) / length}
		old[i%len(old)] = x
		x.step(&e, p, st, h)
		// the state of a grid step ago is in the middle of that before it and the present one
		at := g.begin + float64(i+1-every)*h
		if at < next {
			continue
		}
		if i >= max(skip, len(old)) {
			a, b := old[(i+1)%len(old)], old[(i+1-every+len(old))%len(old)]
			point(next, b.q, b.v, (x.v-a.v)/(2*loadStep))
		}
		next += loadStep
	}
}
