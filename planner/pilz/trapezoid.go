package pilz

import "math"

// leastLength stands for a path of no length, as in the original: the motion then
// lasts some nanoseconds, and not nothing.
const leastLength = 2.220446049250313e-16

// trapezoid is KDL's symmetric speed profile along a path, from rest to rest.
type trapezoid struct {
	length, speed, acceleration float64
	ramp, duration              float64
}

func newTrapezoid(length, speed, acceleration float64) trapezoid {
	length = max(length, leastLength)
	p := trapezoid{length: length, speed: speed, acceleration: acceleration, ramp: speed / acceleration}
	cruise := (length - acceleration*p.ramp*p.ramp) / speed
	if cruise > 0 {
		p.duration = 2*p.ramp + cruise
		return p
	}
	p.ramp = math.Sqrt(length / acceleration)
	p.speed = acceleration * p.ramp
	p.duration = 2 * p.ramp
	return p
}

// at returns how far the profile has come at time t.
func (p *trapezoid) at(t float64) float64 {
	switch {
	case t <= 0:
		return 0
	case t < p.ramp:
		return p.acceleration * t * t / 2
	case t < p.duration-p.ramp:
		return p.acceleration*p.ramp*p.ramp/2 + p.speed*(t-p.ramp)
	case t < p.duration:
		left := p.duration - t
		return p.length - p.acceleration*left*left/2
	}
	return p.length
}
