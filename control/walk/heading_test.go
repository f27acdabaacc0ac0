package walk

import (
	"math"
	"testing"

	"poise/gait"
	"poise/spatial"
)

// TestTheHeadingIsKept: a body that turns by 2° a second too far is led back to its course, also beyond half
// a turn; one that was put elsewhere goes on in its new direction.
func TestTheHeadingIsKept(t *testing.T) {
	const dt, wrong = 0.0224, 0.035 // rad/s
	for _, commanded := range []float64{0, 0.5, -0.5} {
		var h heading
		planned, measured, wanted := 3.0, 3.0, 3.0
		for k := range 2000 {
			h.follow(math.Remainder(measured, 2*math.Pi), planned)
			u := h.correct(dt)
			planned += (commanded + u) * dt
			measured += (commanded + u + wrong) * dt
			wanted += commanded * dt
			if k == 1000 { // it is put elsewhere
				measured, wanted = measured+1, wanted+1
			}
		}
		if off := measured - wanted; math.Abs(off) > wrong/headingGain+0.01 {
			t.Errorf("%g rad/s: it is %g rad off", commanded, off)
		}
	}
}

// TestLostWayIsMadeUpFor: a body that makes nine tenths of its steps and drifts to the side comes where it was
// commanded to, in whatever direction it looks; one that was put elsewhere goes on from there; one that is held
// does not hurry more than a quarter, and has forgotten most of it when it is let go.
func TestLostWayIsMadeUpFor(t *testing.T) {
	const dt, made, drift = 0.0224, 0.9, 0.003
	v := gait.Velocity{X: 0.05, Y: 0.01}
	at := func(p gait.Point, yaw float64) spatial.Pose {
		return spatial.Pose{R: spatial.TurnZ(yaw), P: spatial.Vec3{X: p.X, Y: p.Y}}
	}
	turned := func(x, y, yaw float64) gait.Point {
		sin, cos := math.Sincos(yaw)
		return gait.Point{X: cos*x - sin*y, Y: sin*x + cos*y}
	}
	for _, off := range []float64{0, 2, -1} { // of the measured heading from the planned one, rad
		var p progress
		var planned, measured, wanted gait.Point
		held := 0.0
		for k := range 4000 {
			p.follow(at(measured, 1+off), at(planned, 1), dt)
			more := p.correct(v)
			if size := math.Hypot(more.X, more.Y); size > progressShare*math.Hypot(v.X, v.Y)+1e-12 {
				t.Fatalf("%g m/s are added to %+v", size, v)
			}
			step := turned((v.X+more.X)*dt, (v.Y+more.Y)*dt, 1)
			planned.X, planned.Y = planned.X+step.X, planned.Y+step.Y
			step = turned(made*(v.X+more.X)*dt, made*(v.Y+more.Y)*dt+drift*dt, 1+off)
			if k >= 2000 && k < 2100 {
				step = gait.Point{}
				held += dt
			}
			measured.X, measured.Y = measured.X+step.X, measured.Y+step.Y
			step = turned(v.X*dt, v.Y*dt, 1+off)
			wanted.X, wanted.Y = wanted.X+step.X, wanted.Y+step.Y
			if k == 1000 {
				measured.X, wanted.X = measured.X+1, wanted.X+1
			}
		}
		lost := held*math.Hypot(v.X, v.Y) - progressFar // what was forgotten
		if far := math.Hypot(measured.X-wanted.X, measured.Y-wanted.Y); far > max(lost, 0)+0.03 {
			t.Errorf("%g rad: it is %g m away from where it was to be", off, far)
		}
	}
}
