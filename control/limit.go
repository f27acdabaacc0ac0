package control

import "math"

// Bounds are what one joint may do. A bound that is not given is infinite.
type Bounds struct {
	Lower, Upper float64 // position
	Velocity     float64 // |v| ≤
	Acceleration float64 // when it speeds up, > 0
	Deceleration float64 // when it slows down, > 0
	Effort       float64 // |feed-forward| ≤, N·m or N
}

// Unbounded lets a joint do anything.
var Unbounded = Bounds{Lower: math.Inf(-1), Upper: math.Inf(1), Velocity: math.Inf(1), Acceleration: math.Inf(1), Deceleration: math.Inf(1), Effort: math.Inf(1)}

// Cut says which limits changed a reference, one bit each.
type Cut uint8

// The cuts.
const (
	CutFinite   Cut = 1 << iota // it was non-finite
	CutPosition                 // it led to a place from which the joint could not stop in time
	CutVelocity
	CutAcceleration
	CutEffort // feed-forward beyond what the joint can give
)

// Slack of the gate: a reference that keeps its limits up to rounding passes
// unchanged, bit for bit.
const (
	relativeSlack = 1e-7        // of velocity and acceleration
	positionSlack = 1e-9        // rad or m
	roundingSlack = 8 * 0x1p-52 // of a position, seen through second differences
)

// Limiter is the gate on the command. It judges steps from tick to tick, because
// that is what a servo is given: v = Δq/dt and a = Δv/dt. A motion that keeps its
// limits in continuous time keeps them in steps, too.
type Limiter struct {
	bounds []Bounds
	q, v   []float64 // last command and its step
	judged []verdict // of Allows, which Apply is mostly asked for next
}

// verdict is what came of judging a wanted position.
type verdict struct {
	want, dt float64
	q, v     float64
	cut      Cut
	valid    bool // nothing changed since
}

// NewLimiter returns the gate for joints with the given bounds, at rest at zero.
func NewLimiter(bounds []Bounds) *Limiter {
	n := len(bounds)
	return &Limiter{bounds: bounds, q: make([]float64, n), v: make([]float64, n), judged: make([]verdict, n)}
}

// Reset puts a joint to a place, at rest: at torque-on, from the measurement.
func (l *Limiter) Reset(joint int, q float64) {
	l.q[joint], l.v[joint], l.judged[joint].valid = q, 0, false
}

// Put puts a joint to a place, in motion.
func (l *Limiter) Put(joint int, q, v float64) {
	l.q[joint], l.v[joint], l.judged[joint].valid = q, v, false
}

// Bounds returns what a joint may do.
func (l *Limiter) Bounds(joint int) Bounds { return l.bounds[joint] }

// Velocity returns the last step of a joint per second.
func (l *Limiter) Velocity(joint int) float64 { return l.v[joint] }

// Apply takes the wanted next position of a joint, a period dt after the last,
// and returns the one that is allowed, with its step velocity and acceleration,
// and what was cut. A position within the limits comes back as it was.
func (l *Limiter) Apply(joint int, want, dt float64) (q, v, a float64, cut Cut) {
	j := &l.judged[joint]
	if !j.valid || math.Float64bits(j.want) != math.Float64bits(want) || j.dt != dt {
		j.q, j.v, j.cut = l.judge(joint, want, dt)
	}
	j.valid = false
	a = (j.v - l.v[joint]) / dt
	l.q[joint], l.v[joint] = j.q, j.v
	return j.q, j.v, a, j.cut
}

// Allows reports whether a wanted next position is within the limits; the command
// stays as it is.
func (l *Limiter) Allows(joint int, want, dt float64) bool {
	j := &l.judged[joint]
	j.want, j.dt, j.valid = want, dt, true
	j.q, j.v, j.cut = l.judge(joint, want, dt)
	return j.cut == 0
}

// judge returns the allowed next position, its step velocity, and what was cut.
func (l *Limiter) judge(joint int, want, dt float64) (q, v float64, cut Cut) {
	b := &l.bounds[joint]
	q0, v0 := l.q[joint], l.v[joint]
	if !finite(want) {
		cut |= CutFinite
		want = q0 // slow down to rest
	}
	step := (want - q0) / dt

	// what velocity allows, then what leads to no place without return, then what
	// acceleration does, which comes last: it cannot be broken, and for a state that
	// came through this gate it never has to be
	v, cut = clamp(step, -b.Velocity, b.Velocity, relativeSlack*b.Velocity, cut, CutVelocity)
	if !b.farFrom(q0, v, dt) {
		upper, lower := b.mostTowards(b.Upper-q0, dt), -b.mostTowards(q0-b.Lower, dt)
		v, cut = clamp(v, lower, upper, positionSlack/dt, cut, CutPosition)
	}
	if low, high := b.reach(v0, dt); !(low <= v && v <= high) {
		slack := relativeSlack*min(b.Acceleration, b.Deceleration)*dt + roundingSlack*math.Abs(q0)/dt
		if !finite(slack) {
			slack = 0
		}
		v, cut = clamp(v, low, high, slack, cut, CutAcceleration)
	}

	if v == step {
		q = want // bit for bit
	} else {
		q = q0 + v*dt
	}
	return q, v, cut
}

// clamp bounds v, letting slack pass, and notes if it had to.
func clamp(v, low, high, slack float64, cut, kind Cut) (float64, Cut) {
	switch {
	case v > high+slack:
		return high, cut | kind
	case v < low-slack:
		return low, cut | kind
	}
	return v, cut
}

// reach returns the step velocities that acceleration and deceleration allow
// after v0. Who slows down to rest before the period is over may use what is left
// of it to speed up the other way.
func (b *Bounds) reach(v0, dt float64) (low, high float64) {
	speed := math.Abs(v0)
	faster := speed + b.Acceleration*dt
	slower := speed - b.Deceleration*dt
	if slower < 0 {
		slower = -b.Acceleration * (dt - speed/b.Deceleration)
		if math.IsNaN(slower) { // both unbounded
			slower = math.Inf(-1)
		}
	}
	if v0 < 0 {
		return -faster, -slower
	}
	return slower, faster
}

// farFrom reports whether a joint that steps by v from q0 comes to rest well before its limits:
// in units of mostTowards it covers less than u + u²/2, which needs neither a root nor a
// division. Where that says nothing, it is false.
func (b *Bounds) farFrom(q0, v, dt float64) bool {
	distance := b.Upper - q0
	if v < 0 {
		v, distance = -v, q0-b.Lower
	}
	twice := 2 * b.Deceleration
	return v*(twice*dt+v) < twice*distance
}

// mostTowards returns the largest step velocity towards a limit at a distance
// from which the joint still comes to rest before it, slowing down by
// Deceleration·dt each period.
//
// In units of D·dt for velocity and D·dt² for way, a joint that steps by u and
// then by u−1, u−2, … covers n·u − n(n−1)/2 with n = ⌈u⌉ steps. This is piecewise
// linear in u and has the inverse u = y/n + (n−1)/2 with n = ⌈(√(1+8y)−1)/2⌉.
func (b *Bounds) mostTowards(distance, dt float64) float64 {
	if distance <= 0 {
		return 0 // beyond the limit: inwards only
	}
	unit := b.Deceleration * dt
	if math.IsInf(distance, 1) || math.IsInf(unit, 1) {
		return distance / dt // it can stop at once
	}
	y := distance / (unit * dt)
	n := math.Ceil((math.Sqrt(1+8*y) - 1) / 2)
	return unit * (y/max(n, 1) + (max(n, 1)-1)/2)
}
