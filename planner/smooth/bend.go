package smooth

import (
	"math"

	"poise/planner/path"
	"poise/spatial"
)

// How bends are made: of different lengths, until one fits.
const (
	bendTries  = 12   // lengths, before it is given up
	bendShrink = 0.85 // from one to the next
	bendPlaces = 24   // at which a bend is looked at
	bendSlip   = 1e-9 // how far rounding may take it out of its sphere, of the radius
)

// bendLength is how long a bend between two directions is that leave a corner at
// a distance r: like the arc that fits there, but with room to turn round.
func bendLength(a, b spatial.Vec3, r float64) float64 {
	half := math.Atan2(a.Cross(b).Norm(), a.Dot(b)) / 2
	if half < 1e-3 {
		return 2 * r
	}
	return max(2*r*half/math.Tan(half), 1.5*r)
}

// fitBend joins two states on a sphere around centre inside it; false if no bend
// fits.
func fitBend(a, b path.State, centre spatial.Vec3, r float64) (*path.Bend, bool) {
	rate := (a.D1.Linear.Norm() + b.D1.Linear.Norm()) / 2
	length := bendLength(a.D1.Linear, b.D1.Linear, r) / rate
	for range bendTries {
		bend := path.NewBend(a, b, length)
		inside := true
		for k := 1; k < bendPlaces; k++ {
			at := bend.At(length * float64(k) / bendPlaces).Pose.P
			inside = inside && at.Sub(centre).Norm() <= r*(1+bendSlip)
		}
		if inside {
			return bend, true
		}
		length *= bendShrink
	}
	return nil, false
}

// crossing returns where a path last enters a sphere before its end, or first
// leaves it after its start.
func crossing(p path.Path, centre spatial.Vec3, r float64, last bool) (s float64, ok bool) {
	const places = 256
	length := p.Length()
	outside := func(s float64) bool { return p.At(s).Pose.P.Sub(centre).Norm() > r }
	inner := 0.0
	if last {
		inner = length
	}
	for i := 1; i <= places; i++ {
		outer := length * float64(i) / places
		if last {
			outer = length - outer
		}
		if outside(outer) {
			for range 60 {
				if mid := (inner + outer) / 2; outside(mid) {
					outer = mid
				} else {
					inner = mid
				}
			}
			return inner, true
		}
		inner = outer
	}
	return 0, false
}
