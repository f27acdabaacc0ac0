package smooth

import (
	"math"

	"poise/trajectory"
	"poise/trajectory/retime"
)

// stopEvery is after how many samples it is asked whether they are still wanted.
const stopEvery = 4096

// place is where a sample is on a route, and how fast.
type place struct{ s, v float64 }

// sampled samples the law evenly, smoothed over its samples: the path parameter
// is a cubic B-spline in time, (1), whose control points are means of where the law
// is over a width of periods; one period is the law itself. It begins and ends at
// rest without acceleration, and takes width + 1 periods longer than the law.
func (t *timedRun) sampled(width int) *trajectory.Trajectory {
	h, duration := t.period, t.law.Duration()
	count := max(1, int(math.Ceil(duration/h-1e-9)))
	n := len(t.route.joints)
	out := trajectory.New(count+2+width, n)
	t.places = make([]place, count+2+width)
	row := make([]float64, 2*n)
	dq, ddq := row[:n], row[n:]
	end := t.route.breaks[len(t.route.breaks)-1]

	// where the law is at a whole period, and sums over width of them
	law := func(r *retime.Reader, k int) float64 {
		switch {
		case k <= 0:
			return 0
		case k >= count:
			return end
		}
		s, _, _ := r.At(float64(k) * h)
		return s
	}
	first, last := t.law.Reader(), t.law.Reader() // at the ends of the window
	sum := 0.0
	step := func(k int) float64 { // from the window before to [k − width, k)
		if width == 1 {
			return law(&last, k-1) // no sum, no rounding of it
		}
		sum += law(&last, k-1) - law(&first, k-1-width)
		return sum / float64(width)
	}
	piece := 0
	before, now := step(-1), step(0)
	for k := range out.Points {
		if k%stopEvery == 0 && t.stopped() != nil {
			break // who asked for the samples asks, too
		}
		next := step(k + 1)
		up, down := next-now, now-before
		s, v, a := now+(up-down)/6, (up+down)/(2*h), (up-down)/(h*h)
		before, now = now, next
		if k == len(out.Points)-1 {
			s, v, a = end, 0, 0 // the sum has rounding in it
		}
		t.places[k] = place{s, v}
		for piece+1 < len(t.route.pieces) && s > t.route.breaks[piece+1] {
			piece++
		}
		p := &out.Points[k]
		p.Time = float64(k) * h
		t.route.jointsTo(p.Position[:n], dq, ddq, piece, s)
		velocity, acceleration := p.Velocity[:n], p.Acceleration[:n]
		for j, d := range dq {
			velocity[j] = d * v
			acceleration[j] = ddq[j]*v*v + d*a
		}
	}
	return out
}

// excess returns by which factor the quintic through samples would have to be
// slowed to keep the limits of the joints at every instant: 1 if it does. On a
// segment its velocity and acceleration lie between the control points of their
// Bernstein form; where those are within the limits so is the curve. (They are so
// close to it that nothing more exact is needed.) Where limits change along the
// run, smoothing lets the wider ones reach over by two samples: scaling is asked for,
// and wide limits are the joints' own.
func (t *timedRun) excess(out *trajectory.Trajectory) float64 {
	worst := 1.0
	s := t.places
	const reach = 2
	last := len(out.Points) - 1
	first, ahead := 0, 0 // pieces within reach of the segment
	for i := 1; i <= last; i++ {
		if i%stopEvery == 0 && t.stopped() != nil {
			break
		}
		for ahead+1 < len(t.route.pieces) && s[min(i+reach, last)].s > t.route.breaks[ahead+1] {
			ahead++
		}
		for first < ahead && s[max(i-1-reach, 0)].s > t.route.breaks[first+1] {
			first++
		}
		l := &t.route.pieces[first].Limits
		if first < ahead {
			l = t.widest(first, ahead)
		}
		worst = max(worst, t.segmentExcess(&out.Points[i-1], &out.Points[i], l))
	}
	return worst
}

// widest returns the widest limits of the joints on some pieces.
func (t *timedRun) widest(first, last int) *trajectory.Limits {
	n := len(t.route.joints)
	all := make([]float64, 3*n)
	w := &trajectory.Limits{Velocity: all[:n], Acceleration: all[n : 2*n], Deceleration: all[2*n:], Jerk: t.route.pieces[first].Limits.Jerk}
	for _, p := range t.route.pieces[first : last+1] {
		for j := range n {
			w.Velocity[j] = max(w.Velocity[j], p.Limits.Velocity[j])
			w.Acceleration[j] = max(w.Acceleration[j], p.Limits.Acceleration[j])
			w.Deceleration[j] = max(w.Deceleration[j], p.Limits.Deceleration[j])
		}
	}
	return w
}

// segmentExcess returns the factor for one segment.
func (t *timedRun) segmentExcess(from, to *trajectory.Point, l *trajectory.Limits) float64 {
	worst := 1.0
	const slack, rounding = 1 + 1e-8, 1e-8 // of differences
	h := t.period
	per := 1 / h
	n := len(t.route.joints)
	fromQ, fromV, fromA := from.Position[:n], from.Velocity[:n], from.Acceleration[:n]
	toQ, toV, toA := to.Position[:n], to.Velocity[:n], to.Acceleration[:n]
	velocity, acceleration, deceleration := l.Velocity[:n], l.Acceleration[:n], l.Deceleration[:n]
	for j := range n {
		q0, v0, a0 := fromQ[j], fromV[j], fromA[j]
		q1, v1, a1 := toQ[j], toV[j], toA[j]
		d := (q1 - q0) * per

		// velocities: v0, b1, b2, b3, v1
		b1, b3 := v0+h*a0/4, v1-h*a1/4
		b2 := 5*d - 2*(v0+v1) + h*(a1-a0)/4
		// accelerations: a0, c1, c2, a1
		c1 := 20*(d-0.4*v1-0.6*v0)*per + a1 - 2*a0
		c2 := 20*(0.6*v1+0.4*v0-d)*per - 2*a1 + a0
		// most segments are within what holds whichever way they go
		if beyond(velocity[j]*slack, v0, b1, b2, b3, v1) || beyond(min(acceleration[j], deceleration[j])*slack, a0, c1, c2, a1, 0) {
			fast, slow := max(v0, b1, b2, b3, v1), min(v0, b1, b2, b3, v1)
			if v := max(fast, -slow); v > velocity[j]*slack {
				worst = max(worst, v/velocity[j])
			}
			up, down := acceleration[j], deceleration[j]
			switch {
			case slow < 0 && fast > 0: // it turns, or rests: both
				up = min(up, down)
				down = up
			case slow < 0:
				up, down = down, up
			}
			if high, low := max(a0, c1, c2, a1), -min(a0, c1, c2, a1); high > up*slack || low > down*slack {
				worst = max(worst, math.Sqrt(max(high/up, low/down)))
			}
		}
		if l.Jerk == nil {
			continue
		}
		first, mid, last := 3*(c1-a0)*per, 3*(c2-c1)*per, 3*(a1-c2)*per
		if x := max(math.Abs(first), math.Abs(mid), math.Abs(last)); x > l.Jerk[j]*(slack+rounding) {
			x = max(math.Abs(first), math.Abs(last), math.Abs(peak(first, mid, last)))
			if x > l.Jerk[j]*(slack+rounding) {
				worst = max(worst, math.Cbrt(x/l.Jerk[j]))
			}
		}
	}
	return worst
}

// beyond reports whether one of five numbers exceeds a limit in either direction.
func beyond(limit, a, b, c, d, e float64) bool {
	return math.Abs(a) > limit || math.Abs(b) > limit || math.Abs(c) > limit || math.Abs(d) > limit || math.Abs(e) > limit
}

// peak returns the value of a quadratic in Bernstein form where it turns, or its
// first one if that is outside.
func peak(a, b, c float64) float64 {
	x := (a - b) / (a - 2*b + c)
	if !(x > 0 && x < 1) {
		return a
	}
	y := 1 - x
	return y*y*a + 2*x*y*b + x*x*c
}
