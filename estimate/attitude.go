package estimate

import (
	"math"

	"poise/servo"
	"poise/spatial"
)

// Attitude is the orientation of the base by the inertial unit in its frame: the unit's own, if
// it estimates one, with its heading relative to that of the base at its first reading. Otherwise
// rates are integrated and the tilt is corrected by the measured direction of gravity (a
// complementary filter). The zero value is ready.
type Attitude struct {
	begun   bool
	heading float64      // of the base less that of the unit, rad
	R       spatial.Mat3 // by integration
}

// Numbers of the filter.
const (
	oldUnit   = 0.1 // s without a measurement after which the unit is not used
	tiltTime  = 1.0 // s, time constant of the correction of the tilt
	upWithin  = 0.1 // share of gravity by which a specific force may differ from it and count as its direction
	turnLimit = 1e-9
)

// Update returns the orientation of the base: R_WB is where it is now, gravity how strong
// gravity is, m/s², dt the period, s. Loop-safe.
func (a *Attitude) Update(u *servo.Inertial, R_WB spatial.Mat3, gravity, dt float64) Orientation {
	if u.Age == servo.Never || float64(u.Age)*dt > oldUnit {
		a.begun = false
		return Orientation{}
	}
	if u.Orientation == (spatial.Quat{}) {
		return a.integrate(u, R_WB, gravity, dt)
	}
	q, ok := u.Orientation.Unit()
	if !ok {
		return Orientation{}
	}
	R := q.Matrix()
	if !a.begun {
		a.begun, a.heading = true, headingOf(R_WB)-headingOf(R)
	}
	return Orientation{R: spatial.TurnZ(a.heading).Mul(R), Rate: u.Rate, Has: true}
}

// integrate follows the rates of a unit that estimates no orientation.
func (a *Attitude) integrate(u *servo.Inertial, R_WB spatial.Mat3, gravity, dt float64) Orientation {
	if !a.begun {
		a.begun, a.R = true, R_WB
	}
	turn := u.Rate.Scale(dt)
	if up, ok := u.Acceleration.Unit(); ok && math.Abs(u.Acceleration.Norm()-gravity) < upWithin*gravity {
		// turning the base by δ moves Rᵀ·z by (Rᵀ·z)×δ: this δ brings it to up
		turn = turn.Add(up.Cross(a.R.TMulVec(spatial.Vec3{Z: 1})).Scale(min(dt/tiltTime, 1)))
	}
	q, _ := a.R.Mul(spatial.ExpRotation(turn).Matrix()).Quat().Unit()
	a.R = q.Matrix()
	return Orientation{R: a.R, Rate: u.Rate, Has: true}
}

// headingOf returns the yaw of the x axis, 0 if that is upright.
func headingOf(R spatial.Mat3) float64 {
	x := R.Col(0)
	if math.Hypot(x.X, x.Y) < turnLimit {
		return 0
	}
	return math.Atan2(x.Y, x.X)
}
