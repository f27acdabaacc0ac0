package stream

import (
	"math"

	"poise/control"
	"poise/robot"
	"poise/trajectory/move"
)

// leading is the motion of one joint: a profile or, while a steady stream leads it, a
// curve to the next knot.
type leading struct {
	began   float64
	profile move.Profile

	curve bool
	at    float64    // begin of the curve, s
	span  float64    // its duration, s
	k     [6]float64 // its coefficients, from at
	knot  move.State // its end, carried on with its velocity
	until float64    // what moves on goes on for so long, s, then comes to rest at the goal; 0 is at rest
}

// state returns where the joint is led to at a time.
func (a *leading) state(now float64) move.State {
	if !a.curve {
		return a.profile.At(now - a.began)
	}
	t := now - a.at
	if t >= a.span {
		return carried(a.knot, t-a.span)
	}
	return polynomial(&a.k, max(t, 0))
}

// carried returns a state that goes on with its acceleration.
func carried(s move.State, t float64) move.State {
	return move.State{P: s.P + t*(s.V+t*s.A/2), V: s.V + t*s.A, A: s.A}
}

// polynomial evaluates coefficients, the constant one first.
func polynomial(k *[6]float64, t float64) move.State {
	return move.State{
		P: k[0] + t*(k[1]+t*(k[2]+t*(k[3]+t*(k[4]+t*k[5])))),
		V: k[1] + t*(2*k[2]+t*(3*k[3]+t*(4*k[4]+t*5*k[5]))),
		A: 2*k[2] + t*(6*k[3]+t*(12*k[4]+t*20*k[5])),
	}
}

// hermite returns the curve from one state to another in a time: cubic, or with the
// accelerations of both quintic (Biagiotti, Melchiorri: Trajectory Planning, 2.1.4 and 2.1.7).
func hermite(from, to move.State, t float64, quintic bool) (k [6]float64) {
	d := to.P - from.P
	k[0], k[1] = from.P, from.V
	if !quintic {
		k[2] = (3*d - (2*from.V+to.V)*t) / (t * t)
		k[3] = (-2*d + (from.V+to.V)*t) / (t * t * t)
		return k
	}
	k[2] = from.A / 2
	k[3] = (20*d - (8*to.V+12*from.V)*t - (3*from.A-to.A)*t*t) / (2 * t * t * t)
	k[4] = (-30*d + (14*to.V+16*from.V)*t + (3*from.A-2*to.A)*t*t) / (2 * t * t * t * t)
	k[5] = (12*d - 6*(to.V+from.V)*t + (to.A-from.A)*t*t) / (2 * t * t * t * t * t)
	return k
}

// pulse is the rhythm of a stream: its period, and when its newest value was due. Stamps
// jitter by the way that messages take; the rhythm follows them slowly.
type pulse struct {
	period float64 // s; 0 while there is no rhythm
	due    float64 // s, cycle time
	steps  float64 // periods from the value before to the newest
	count  int     // values in this rhythm
}

const (
	slowest = 0.1  // s: values that come less often are goals of their own
	pull    = 0.1  // share of the jitter of a stamp that the rhythm follows
	rhythm  = 3    // distances of stamps that make a stream
	learn   = 0.06 // share of a new distance of stamps in the period, at least
	late    = 0.3  // periods by which a value may rather be late than one before it lost
)

// beat takes the stamp of a new value, s, and of the one before.
func (p *pulse) beat(at, before float64, first bool) {
	d := at - before
	switch {
	case first || d < 0 || d == 0 && p.period == 0 || d > slowest && (p.period == 0 || d > 4*p.period):
		*p = pulse{due: at}
		return
	case p.period == 0:
		*p = pulse{period: d, due: at, steps: 1, count: 1}
		return
	}
	p.count++
	p.steps = max(math.Round((at-p.due)/p.period-late), 1) // some may have been lost
	p.period += max(learn, 1/float64(p.count+1)) * (d/p.steps - p.period)
	p.due += p.steps * p.period
	if miss := at - p.due; math.Abs(miss) > p.period {
		p.due = at
	} else {
		p.due += pull * miss
	}
}

// stretches is how often the way to the next knot may grow, by stretch each time, to catch up
// with a stream.
const (
	stretches = 8
	stretch   = 1.5
	patient   = 2 // then the stream is chased as fast as limits allow, if it is not a limb's

	steadyLimbs = 20 // periods for which a limb's stream is taken to go on: its curves end before
)

// track leads a joint to its newest value so that it is there a period after that was due,
// with the velocity that the stream has: a stream is followed a period late, without stops
// at its values. The way there is stretched some times at least. It returns how often it
// was, or false where limits do not allow that; then the value is a goal.
func (c *Controller) track(j int, from move.State, began, dt float64, least int) (stretched int, ok bool) {
	v, axis, lane := c.rate[j], &c.joints[j], &c.lanes[c.via[j]]
	pulse := &lane.pulse
	if pulse.count < rhythm || c.stale || c.speed < 1 || !c.given.Has(robot.LeafID(j)) {
		return 0, false
	}
	l, b := &c.limits[j], &c.bounds[j]
	if v < l.VelMin || v > l.VelMax {
		return 0, false
	}
	goal := c.goal[j]
	if c.wraps[j] { // the short way round
		goal = from.P + math.Remainder(goal-from.P, 2*math.Pi)
	}
	end := pulse.due + pulse.period
	span := max(end-began, pulse.period/2, dt)
	to := move.State{P: goal, V: v, A: c.accel[j]}
	steady := pulse.period
	if c.via[j] == Limbs { // cannot be chased
		steady *= steadyLimbs
	}
	for n := range stretches {
		if n < least {
			span *= stretch
			continue
		}
		knot := foreseen(to, began+span-end, pulse.period, steady, min(l.AccMax, -l.AccMin))
		if !c.wraps[j] && (knot.P < b.Lower || knot.P > b.Upper) {
			return 0, false
		}
		k := hermite(from, knot, span, lane.accelerated)
		good := within(&k, span, l)
		if !good && lane.accelerated { // without its accelerations there may be a way
			k = hermite(from, knot, span, false)
			good = within(&k, span, l)
		}
		if good {
			*axis = leading{profile: axis.profile, curve: true, at: began, span: span, k: k, knot: knot, until: began + span + 1.5*pulse.period}
			return n, true
		}
		if n == patient && c.via[j] != Limbs && c.mayChase() && c.chase(j, from, to, began, end, pulse.period) {
			return 0, true
		}
		if v == 0 {
			return 0, false // it stands: the fastest way there
		}
		span *= stretch
	}
	return 0, false
}

// foreseen returns where a stream will be after a time: for a period as it goes on, then with its
// speed while that is taken for steady, and then as if it braked with an acceleration. Streams that keep their limits do not leave their
// range, and so who chases them does not either.
func foreseen(to move.State, ahead, period, steady, brake float64) move.State {
	knot := carried(to, min(ahead, period))
	if ahead <= period {
		return knot
	}
	knot.A = 0
	knot = carried(knot, min(ahead, steady)-period)
	if ahead > steady {
		knot.A = -math.Copysign(brake, knot.V)
		knot = carried(knot, min(ahead-steady, math.Abs(knot.V)/brake))
		knot.A = 0
	}
	return knot
}

// mostChases is how many joints chase their stream in one tick: each takes some tens of
// microseconds. The others catch up on longer curves.
const mostChases = 8

func (c *Controller) mayChase() bool {
	c.chases++
	return c.chases <= mostChases
}

// Chasing: the time at which a stream is met is doubled until it is long enough, and then
// halved in.
const (
	longestChase = 0.4 // s
	halvings     = 6
)

// chase leads a joint as fast as its limits allow to where it meets the stream, with the
// stream's velocity, and reports whether that is found. end is when the value to is due.
func (c *Controller) chase(j int, from, to move.State, began, end, period float64) bool {
	c.one[0] = c.limits[j]
	c.one[0].Jerk = c.one[0].AccMax / period // as much as the curves between values have
	if c.plan.SetLimits(c.one[:]) != nil {
		return false
	}
	low, T := 0.0, max(end-began, period)
	for !c.meets(j, from, to, began, end, period, T, 0) {
		if T > longestChase {
			return false
		}
		low, T = T, 2*T
	}
	for range halvings {
		if half := (low + T) / 2; c.meets(j, from, to, began, end, period, half, 0) {
			T = half
		} else {
			low = half
		}
	}
	if !c.meets(j, from, to, began, end, period, T, T) || !c.staysInside(j, T) {
		return false
	}
	c.joints[j] = leading{began: began, profile: *c.plan.Axis(0), until: began + T + 1.5*period}
	return true
}

// meets plans to where a stream will be after a time T, in least at least, and reports whether
// the joint is there in time.
func (c *Controller) meets(j int, from, to move.State, began, end, period, T, least float64) bool {
	knot, b := foreseen(to, began+T-end, period, period, min(c.one[0].AccMax, -c.one[0].AccMin)), &c.bounds[j]
	knot.A = 0
	if !c.wraps[j] && (knot.P < b.Lower || knot.P > b.Upper) || knot.V < c.one[0].VelMin || knot.V > c.one[0].VelMax {
		return false
	}
	c.from[0], c.to[0] = from, knot
	return c.plan.Reach(c.from[:], c.to[:], move.Options{MinDuration: least}) == nil && c.plan.Duration() <= T*(1+1e-9)
}

// staysInside reports whether what was planned last stays within the range of its joint.
func (c *Controller) staysInside(j int, T float64) bool {
	const samples = 16
	b := &c.bounds[j]
	for i := range samples {
		if p := c.plan.Axis(0).At(T * float64(i) / samples).P; !c.wraps[j] && (p < b.Lower || p > b.Upper) {
			return false
		}
	}
	return true
}

// within reports whether a curve keeps limits of velocity and acceleration.
func within(k *[6]float64, span float64, l *move.Limits) bool {
	const samples = 8
	for i := range samples + 1 {
		s := polynomial(k, span*float64(i)/samples)
		if s.V < l.VelMin || s.V > l.VelMax || s.A < l.AccMin || s.A > l.AccMax {
			return false
		}
	}
	return true
}

// moving notes how fast the stream moves its joints: as the value says, or by the
// difference to the one before.
func (c *Controller) moving(s *Sample, joints robot.Set) {
	lane := &c.lanes[s.Stream]
	pulse := &lane.pulse
	lane.accelerated = len(s.A) > 0
	for leaf := range joints.All {
		j := int(leaf)
		rate := 0.0
		switch {
		case len(s.V) > 0:
			rate = s.V[j]
		case pulse.period > 0 && c.given.Has(leaf):
			d := s.Q[j] - c.goal[j]
			if c.wraps[j] {
				d = math.Remainder(d, 2*math.Pi)
			}
			rate = d / (pulse.steps * pulse.period)
		}
		if len(s.V) == 0 && pulse.steps == 1 && pulse.period > 0 { // of second order: the difference is half a period old
			if last := c.difference[j]; math.Abs(rate-last)*2 < math.Abs(rate)+math.Abs(last) {
				rate, c.difference[j] = rate+(rate-last)/2, rate
			} else {
				c.difference[j] = rate
			}
		}
		switch before := c.rate[j]; {
		case lane.accelerated:
			c.accel[j] = s.A[j]
		case pulse.period > 0 && c.given.Has(leaf): // what would be above the limits is a jump
			a := (rate - before) / (pulse.steps * pulse.period)
			if l := &c.limits[j]; a < l.AccMin || a > l.AccMax {
				a = 0
			}
			c.accel[j] = a
		default:
			c.accel[j] = 0
		}
		c.rate[j] = rate
		if len(s.Tau) > 0 {
			c.tau[j] = s.Tau[j]
		}
	}
}

// sane reports which joint of a sample is given something that is no number, or no velocity or
// acceleration for it.
func (s *Sample) sane(joints robot.Set, bounds []control.Bounds) control.Reason {
	for i, list := range [...][]float64{s.V, s.A, s.Tau} {
		if len(list) == 0 {
			continue
		}
		if len(list) != len(bounds) {
			return control.Because(control.BadProgram)
		}
		for leaf := range joints.All {
			b, x := &bounds[leaf], list[leaf]
			if !finite(x) {
				return control.NonFinite.At(robot.JointID(leaf), float64(leaf), 0)
			}
			code, most := control.TooFast, mostOf(b.Velocity)
			switch i {
			case 1:
				code, most = control.TooSteep, mostOf(max(b.Acceleration, b.Deceleration))
			case 2: // the gate cuts efforts
				continue
			}
			if math.Abs(x) > most {
				return code.At(robot.JointID(leaf), x, most)
			}
		}
	}
	return control.Because(control.OK)
}

// What is no velocity or acceleration for a joint: more than so many times its limit, or without
// one more than any joint has. What is less above the limit is followed within it.
const (
	beyondLimit = 10
	beyondAll   = 1e6 // rad/s, rad/s², m/s or m/s²
)

func mostOf(limit float64) float64 { return min(beyondLimit*limit, beyondAll) }
