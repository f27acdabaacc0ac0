package profile

import (
	"errors"
	"math"
)

// Trapezoid is a motion in three phases of constant acceleration. The zero value
// rests at zero.
type Trapezoid struct {
	start, goal float64
	startVel    float64
	phases      [3]quadratic
}

// quadratic is a phase: how long it lasts, and p + v·t + ½·a·t² in its own time.
type quadratic struct{ duration, p, v, a float64 }

func (q *quadratic) position(t float64) float64 { return q.p + t*(q.v+t*q.a/2) }
func (q *quadratic) velocity(t float64) float64 { return q.v + t*q.a }

// tolerance of the Pilz planner (KDL's epsilon): by so much a duration may be too
// short, and a velocity or acceleration too large, before it is refused.
const tolerance = 1e-6

// Fastest returns the fastest profile from start to goal.
//
// With D the distance, v, a and d the limits: accelerating to v and decelerating
// from it takes the distance D* = ½·v²/a + ½·v²/d. If there is more, the rest is
// cruised; if not, the peak velocity u follows from D = ½·u²/a + ½·u²/d.
func (b Bounds) Fastest(start, goal float64) (Trapezoid, error) {
	if err := ends(start, goal); err != nil {
		return Trapezoid{}, err
	}
	return b.fastest(start, goal), nil
}

func (b Bounds) fastest(start, goal float64) Trapezoid {
	sign, dist := direction(start, goal)
	u, cruise := b.vel, 0.0
	if full := u*u/(2*b.acc) + u*u/(2*b.dec); dist > full {
		cruise = (dist - full) / u
	} else {
		u = b.peak(dist)
	}
	p := Trapezoid{start: start, goal: goal}
	p.layOut(sign*u, u/b.acc, cruise, u/b.dec)
	return p
}

// peak returns u with dist = ½·u²/a + ½·u²/d.
func (b Bounds) peak(dist float64) float64 {
	return math.Sqrt(2 * dist * b.acc * b.dec / (b.acc + b.dec))
}

// direction splits a displacement into sign and size.
func direction(start, goal float64) (sign, dist float64) {
	if goal < start {
		return -1, start - goal
	}
	return 1, goal - start
}

// layOut fills the phases: from the start velocity to u, cruise, from u to rest.
func (p *Trapezoid) layOut(u, up, cruise, down float64) {
	p.phases[0] = quadratic{up, p.start, p.startVel, slope(u-p.startVel, up)}
	p.phases[1] = quadratic{cruise, p.phases[0].position(up), u, 0}
	p.phases[2] = quadratic{down, p.phases[1].position(cruise), u, slope(-u, down)}
}

// slope returns dv/dt, and zero for a phase that lasts no time.
func slope(dv, dt float64) float64 {
	if dt == 0 {
		return 0
	}
	return dv / dt
}

// Within returns a profile that takes the given time: the fastest one, stretched
// in time as a whole, or the fastest itself if that takes longer.
func (b Bounds) Within(start, goal, duration float64) (Trapezoid, error) {
	err := ends(start, goal)
	if !(duration <= largest) {
		err = errors.Join(err, &InputError{"duration", duration, "at most 1e15"})
	}
	if err != nil {
		return Trapezoid{}, err
	}
	p := b.fastest(start, goal)
	least := p.Duration()
	if least > duration || least == 0 {
		return p, nil
	}
	k := duration / least
	u := p.phases[1].v / k
	t := p.Phases()
	p.layOut(u, t[0]*k, t[1]*k, t[2]*k)
	return p, nil
}

// InPhases returns the profile whose three phases last as given, which is how
// axes are kept in step: all take the phases of the slowest. If that would break
// a limit the fastest profile is returned with a *LimitError.
func (b Bounds) InPhases(start, goal, up, cruise, down float64) (Trapezoid, error) {
	err := errors.Join(ends(start, goal), positive("first phase", up, false), positive("last phase", down, false))
	if !(cruise >= 0 && cruise <= largest) {
		err = errors.Join(err, &InputError{"middle phase", cruise, "between 0 and 1e15"})
	}
	if err != nil {
		return Trapezoid{}, err
	}
	p := b.fastest(start, goal)
	if total := up + cruise + down; p.Duration()-total > tolerance {
		return p, &LimitError{"duration", total, p.Duration(), true}
	}
	sign, dist := direction(start, goal)
	u := dist / (cruise + up/2 + down/2)
	for _, c := range [...]struct {
		quantity    string
		value, most float64
	}{{"velocity", u, b.vel}, {"acceleration", u / up, b.acc}, {"deceleration", u / down, b.dec}} {
		if c.value-c.most > tolerance {
			err = errors.Join(err, &LimitError{c.quantity, c.value, c.most, false})
		}
	}
	if err != nil {
		return p, err
	}
	p.layOut(sign*u, up, cruise, down)
	return p, nil
}

// FromVelocity returns the fastest profile that begins with a velocity towards the
// goal, within the limit. If it cannot stop before the goal it brakes, and comes
// back. A velocity away from the goal is refused.
func (b Bounds) FromVelocity(start, goal, velocity float64) (Trapezoid, error) {
	if err := errors.Join(ends(start, goal), bounded("start velocity", velocity)); err != nil {
		return Trapezoid{}, err
	}
	sign, dist := direction(start, goal)
	if dist == 0 && velocity < 0 {
		sign = -1
	}
	v0 := sign * velocity
	switch {
	case v0 < 0:
		return Trapezoid{}, &LimitError{"start velocity towards the goal", v0, 0, true}
	case v0 > b.vel:
		return Trapezoid{}, &LimitError{"start velocity", v0, b.vel, false}
	case v0 == 0:
		return b.fastest(start, goal), nil
	}
	p := Trapezoid{start: start, goal: goal, startVel: velocity}
	if over := v0*v0/(2*b.dec) - dist; over >= 0 {
		p.layBack(b, sign, over)
		return p, nil
	}
	// as if it had begun at rest, earlier: D + ½·v0²/a
	u := b.peak(dist + v0*v0/(2*b.acc))
	cruise := 0.0
	if u > b.vel {
		u = b.vel
		cruise = (dist - (u-v0)*(u+v0)/(2*b.acc) - u*u/(2*b.dec)) / u
	}
	p.layOut(sign*u, (u-v0)/b.acc, max(cruise, 0), u/b.dec)
	return p, nil
}

// layBack fills the phases of a motion that passes its goal by so much: brake,
// speed up the other way, slow down.
func (p *Trapezoid) layBack(b Bounds, sign, over float64) {
	u := sign * b.peak(over)
	stop, up, down := sign*p.startVel/b.dec, sign*u/b.acc, sign*u/b.dec
	p.phases[0] = quadratic{stop, p.start, p.startVel, -sign * b.dec}
	p.phases[1] = quadratic{up, p.phases[0].position(stop), 0, slope(-u, up)}
	p.phases[2] = quadratic{down, p.phases[1].position(up), -u, slope(u, down)}
}

// Duration returns how long the motion takes.
func (p *Trapezoid) Duration() float64 {
	return p.phases[0].duration + p.phases[1].duration + p.phases[2].duration
}

// Phases returns how long each of the three phases takes.
func (p *Trapezoid) Phases() [3]float64 {
	return [3]float64{p.phases[0].duration, p.phases[1].duration, p.phases[2].duration}
}

// Start and Goal return the ends of the motion.
func (p *Trapezoid) Start() float64 { return p.start }
func (p *Trapezoid) Goal() float64  { return p.goal }

// Position returns the position at time t.
func (p *Trapezoid) Position(t float64) float64 {
	switch q, t := p.phase(t); {
	case q != nil:
		return q.position(t)
	case t < 0:
		return p.start
	}
	return p.goal
}

// Velocity returns the velocity at time t.
func (p *Trapezoid) Velocity(t float64) float64 {
	switch q, t := p.phase(t); {
	case q != nil:
		return q.velocity(t)
	case t < 0:
		return p.startVel
	}
	return 0
}

// phase returns the phase that holds at time t and the time in it, or nil outside.
func (p *Trapezoid) phase(t float64) (*quadratic, float64) {
	up := p.phases[0].duration
	down := up + p.phases[1].duration
	switch {
	case t < 0:
		return nil, t
	case t < up:
		return &p.phases[0], t
	case t < down:
		return &p.phases[1], t - up
	case t <= p.Duration():
		return &p.phases[2], t - down
	}
	return nil, t
}

// Acceleration returns the acceleration at time t. It jumps between phases; there,
// as in the Pilz planner, it is still that of the earlier phase, and zero at the
// very start.
func (p *Trapezoid) Acceleration(t float64) float64 {
	if t <= 0 {
		return 0
	}
	end := 0.0
	for i := range p.phases {
		if end += p.phases[i].duration; t <= end {
			return p.phases[i].a
		}
	}
	return 0
}
