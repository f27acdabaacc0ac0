package smooth

import (
	"math"

	"poise/planner/path"
	"poise/spatial"
)

const (
	bendTries  = 12   // bends of different lengths, before it is given up
	bendShrink = 0.85 // from one to the next
	bendPlaces = 24   // at which a bend is looked at
	sphereSlip = 1e-9 // how far rounding may take it out of its sphere, of the radius
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

// toolBend joins two states on a sphere inside it.
func toolBend(a, b path.State, centre spatial.Vec3, r float64) (*path.Bend, bool) {
	rate := (a.D1.Linear.Norm() + b.D1.Linear.Norm()) / 2
	length := bendLength(a.D1.Linear, b.D1.Linear, r) / rate
	for range bendTries {
		bend := path.NewBend(a, b, length)
		inside := true
		for k := 1; k < bendPlaces; k++ {
			at := bend.At(length * float64(k) / bendPlaces).Pose.P
			inside = inside && at.Sub(centre).Norm() <= r*(1+sphereSlip)
		}
		if inside {
			return bend, true
		}
		length *= bendShrink
	}
	return nil, false
}
