package profile

import (
	"errors"
	"math"

	"poise/internal/roots"
)

// SBounds are the limits that S-curves keep.
type SBounds struct {
	Bounds
	jerk float64
}

// WithJerk adds a limit of jerk, positive. An infinite one gives trapezoids.
func (b Bounds) WithJerk(jerk float64) (SBounds, error) {
	if err := positive("jerk", jerk, true); err != nil {
		return SBounds{}, err
	}
	return SBounds{b, jerk}, nil
}

// Jerk returns the limit of jerk.
func (b SBounds) Jerk() float64 { return b.jerk }

// SCurve is a motion in seven phases of constant jerk: the acceleration ramps up,
// holds and ramps down, the velocity cruises, the acceleration ramps to negative,
// holds and ramps back. The zero value rests at zero.
type SCurve struct {
	start, goal float64
	phases      [7]cubic
}

// cubic is a phase: how long it lasts, and p + v·t + ½·a·t² + ⅙·j·t³ in its own
// time.
type cubic struct{ duration, p, v, a, j float64 }

func (c *cubic) position(t float64) float64     { return c.p + t*(c.v+t*(c.a/2+t*c.j/6)) }
func (c *cubic) velocity(t float64) float64     { return c.v + t*(c.a+t*c.j/2) }
func (c *cubic) acceleration(t float64) float64 { return c.a + t*c.j }

// Fastest returns the fastest S-curve from start to goal.
//
// Speeding up from rest to u with acceleration a and jerk j takes, and covers,
//
//	T(u) = 2·√(u/j)     if u ≤ a²/j, where a is not reached     ½·u·T(u)
//	     = u/a + a/j    else
//
// and slowing down the same with d; so the peak velocity follows from the
// distance D = ½·u·(Ta(u) + Td(u)), which rises with u.
func (b SBounds) Fastest(start, goal float64) (SCurve, error) {
	if err := ends(start, goal); err != nil {
		return SCurve{}, err
	}
	return b.fastest(start, goal), nil
}

func (b SBounds) fastest(start, goal float64) SCurve {
	sign, dist := direction(start, goal)
	u, cruise := b.vel, 0.0
	if full := b.distance(u); dist > full {
		cruise = (dist - full) / u
	} else {
		u = b.peakFor(dist)
	}
	up, hold := b.ramp(u, b.acc)
	down, brake := b.ramp(u, b.dec)
	p := SCurve{start: start, goal: goal}
	p.layOut(sign*u, [7]float64{up, hold, up, cruise, down, brake, down})
	return p
}

// ramp returns how the velocity changes by u with the acceleration a: the time to
// ramp to the peak acceleration, and the time to hold it.
func (b SBounds) ramp(u, a float64) (ramp, hold float64) {
	if ramp = a / b.jerk; u < a*ramp {
		return math.Sqrt(u / b.jerk), 0
	}
	return ramp, u/a - ramp
}

// distance returns what speeding up to u and slowing down again covers.
func (b SBounds) distance(u float64) float64 {
	up, hold := b.ramp(u, b.acc)
	down, brake := b.ramp(u, b.dec)
	return u / 2 * (2*up + hold + 2*down + brake)
}

// peakFor returns the peak velocity for a distance without cruising. In terms of
// w = √u the distance is smooth and its slope easy to tell:
// dT/du is 1/√(u·j) below the knee and 1/a above.
func (b SBounds) peakFor(dist float64) float64 {
	w := roots.Rising(func(w float64) (float64, float64) {
		u := w * w
		time, slope := 0.0, 0.0
		for _, a := range [...]float64{b.acc, b.dec} {
			ramp, hold := b.ramp(u, a)
			time += 2*ramp + hold
			if hold > 0 || ramp == 0 {
				slope += 1 / a
			} else {
				slope += 1 / (ramp * b.jerk)
			}
		}
		return u/2*time - dist, w * (time + u*slope)
	}, 0, math.Sqrt(b.vel), math.Cbrt(dist/2*math.Sqrt(b.jerk)))
	return w * w
}

// layOut fills the phases: from rest to u and back to rest.
func (p *SCurve) layOut(u float64, t [7]float64) {
	// jerks that change the velocity by u: u = j·ramp·(ramp + hold)
	up, down := slope(u, t[0]*(t[0]+t[1])), slope(u, t[4]*(t[4]+t[5]))
	acc, dec := slope(u, t[0]+t[1]), slope(u, t[4]+t[5])
	// at the beginning of each phase: velocity, acceleration, jerk
	for i, c := range [7][3]float64{
		{0, 0, up},
		{acc * t[0] / 2, acc, 0},
		{u - acc*t[0]/2, acc, -up},
		{u, 0, 0},
		{u, 0, -down},
		{u - dec*t[4]/2, -dec, 0},
		{dec * t[4] / 2, -dec, down},
	} {
		p.phases[i] = cubic{t[i], p.start, c[0], c[1], c[2]}
		if i > 0 {
			p.phases[i].p = p.phases[i-1].position(t[i-1])
		}
	}
}

// Within returns an S-curve that takes the given time: the fastest one, stretched
// in time as a whole, or the fastest itself if that takes longer. Stretching by k
// divides velocity by k, acceleration by k² and jerk by k³.
func (b SBounds) Within(start, goal, duration float64) (SCurve, error) {
	err := ends(start, goal)
	if !(duration <= largest) {
		err = errors.Join(err, &InputError{"duration", duration, "at most 1e15"})
	}
	if err != nil {
		return SCurve{}, err
	}
	p := b.fastest(start, goal)
	least := p.Duration()
	if least > duration || least == 0 {
		return p, nil
	}
	k := duration / least
	t := p.Phases()
	for i := range t {
		t[i] *= k
	}
	p.layOut(p.phases[3].v/k, t)
	return p, nil
}

// Duration returns how long the motion takes.
func (p *SCurve) Duration() float64 {
	sum := 0.0
	for i := range p.phases {
		sum += p.phases[i].duration
	}
	return sum
}

// Phases returns how long each of the seven phases takes.
func (p *SCurve) Phases() (t [7]float64) {
	for i := range p.phases {
		t[i] = p.phases[i].duration
	}
	return t
}

// Start and Goal return the ends of the motion.
func (p *SCurve) Start() float64 { return p.start }
func (p *SCurve) Goal() float64  { return p.goal }

// Position returns the position at time t.
func (p *SCurve) Position(t float64) float64 {
	switch q, t := p.phase(t); {
	case q != nil:
		return q.position(t)
	case t < 0:
		return p.start
	}
	return p.goal
}

// Velocity returns the velocity at time t, zero outside the motion.
func (p *SCurve) Velocity(t float64) float64 {
	if q, t := p.phase(t); q != nil {
		return q.velocity(t)
	}
	return 0
}

// Acceleration returns the acceleration at time t, zero outside the motion.
func (p *SCurve) Acceleration(t float64) float64 {
	if q, t := p.phase(t); q != nil {
		return q.acceleration(t)
	}
	return 0
}

// Jerk returns the jerk at time t, that of the later phase where two meet, and
// zero outside the motion.
func (p *SCurve) Jerk(t float64) float64 {
	if q, _ := p.phase(t); q != nil {
		return q.j
	}
	return 0
}

// phase returns the phase that holds at time t and the time in it, or nil before
// the start and from the end on.
func (p *SCurve) phase(t float64) (*cubic, float64) {
	if t < 0 {
		return nil, t
	}
	for i := range p.phases {
		if t < p.phases[i].duration {
			return &p.phases[i], t
		}
		t -= p.phases[i].duration
	}
	return nil, t
}
