package smooth

import (
	"math"

	"poise/trajectory"
	"poise/trajectory/spline"
)

// wayOf returns the way of a point-to-point motion without its time: over the
// parameter
//
//	s = ∫ ‖(q̇₁/v₁, q̇₂/v₂, …)‖ dt
//
// with the joints' velocity limits v, in which it is as regular at the ends,
// where the motion rests, as elsewhere. It returns the largest ds/dt, and that of
// a moving start, too. If it may be plain, a straight way is one segment.
func wayOf(t *trajectory.Trajectory, limits []float64, plain bool) (curve *spline.Spline, most, start float64) {
	pts, n := t.Points, len(limits)
	pace := func(v []float64) (sum float64) {
		for j, x := range v {
			sum += x / limits[j] * x / limits[j]
		}
		return math.Sqrt(sum)
	}
	paces := make([]float64, len(pts))
	for i := range pts {
		paces[i] = pace(pts[i].Velocity)
		most = max(most, paces[i])
	}
	if plain && isStraight(pts) {
		return straightWay(pts[0].Position, pts[len(pts)-1].Position, pace), most, paces[0]
	}
	// near rest directions drown in rounding: the way is straight there
	const slow, short = 1e-3, 1e-7
	var s []float64
	var q, d1, d2 [][]float64
	at := 0.0
	for i := range pts {
		p := &pts[i]
		if i > 0 {
			at += between(&pts[i-1], p, pace)
		}
		end := i == 0 || i == len(pts)-1
		if !end && (paces[i] < slow*most || at-s[len(s)-1] < short) {
			continue
		}
		dd := make([]float64, 2*n)
		if x := paces[i]; x >= slow*most {
			// q′ = q̇/p, q″ = (q̈ − q̇·ṗ/p)/p²
			dot := 0.0
			for j, v := range p.Velocity {
				dot += v / limits[j] * p.Acceleration[j] / limits[j]
			}
			for j, v := range p.Velocity {
				dd[j], dd[n+j] = v/x, (p.Acceleration[j]-v*dot/(x*x))/(x*x)
			}
		}
		s, q, d1, d2 = append(s, at), append(q, p.Position), append(d1, dd[:n]), append(d2, dd[n:])
	}
	straightEnds(s, q, d1, paces[0] < slow*most, pace)
	curve, err := spline.Quintic(s, q, d1, d2)
	if err != nil {
		panic("smooth: " + err.Error()) // made of finite numbers at rising places
	}
	return curve, most, paces[0]
}

// isStraight reports whether the joints move in proportion, up to rounding.
func isStraight(pts []trajectory.Point) bool {
	const rounding = 1e-12
	from, to := pts[0].Position, pts[len(pts)-1].Position
	lead, far := 0, 0.0 // the joint that goes farthest
	for j := range from {
		if d := math.Abs(to[j] - from[j]); d > far {
			lead, far = j, d
		}
	}
	if far == 0 {
		return false
	}
	for i := range pts {
		share := (pts[i].Position[lead] - from[lead]) / (to[lead] - from[lead])
		for j, q := range pts[i].Position {
			if !(math.Abs(from[j]+share*(to[j]-from[j])-q) <= rounding*(1+far)) {
				return false
			}
		}
	}
	return true
}

// straightWay returns the way of joints that move in proportion.
func straightWay(from, to []float64, pace func([]float64) float64) *spline.Spline {
	n := len(from)
	all := make([]float64, 2*n)
	d1, d2 := all[:n], all[n:]
	for j := range d1 {
		d1[j] = to[j] - from[j]
	}
	length := pace(d1)
	for j := range d1 {
		d1[j] /= length
	}
	curve, err := spline.Quintic([]float64{0, length}, [][]float64{from, to}, [][]float64{d1, d1}, [][]float64{d2, d2})
	if err != nil {
		panic("smooth: " + err.Error()) // made of finite numbers at rising places
	}
	return curve
}

// between returns ∫ p dt from one sample to the next, by Simpson's rule: the
// velocity half way is that of the cubic.
func between(a, b *trajectory.Point, pace func([]float64) float64) float64 {
	mid, h := make([]float64, len(a.Velocity)), b.Time-a.Time
	for j := range mid {
		mid[j] = (a.Velocity[j]+b.Velocity[j])/2 + h/8*(a.Acceleration[j]-b.Acceleration[j])
	}
	return h / 6 * (pace(a.Velocity) + 4*pace(mid) + pace(b.Velocity))
}

// straightEnds gives the first and the last place, where the motion rests, the
// direction of their neighbours.
func straightEnds(s []float64, q, d1 [][]float64, first bool, pace func([]float64) float64) {
	last := len(s) - 1
	direct := func(i, from, to int) {
		for j := range d1[i] {
			d1[i][j] = q[to][j] - q[from][j]
		}
		size := pace(d1[i])
		for j := range d1[i] {
			d1[i][j] /= size
		}
	}
	if first {
		direct(0, 0, 1)
	}
	direct(last, last-1, last)
}
