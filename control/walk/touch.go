package walk

import (
	"poise/control"
	"poise/gait"
	"poise/servo"
)

// sole is how high the ground is where a foot comes down, as it is felt, and how the foot is led there.
type sole struct {
	floor   float64 // m above where it was planned
	lost    float64 // s for which it is to stand and does not
	stood   bool    // it was felt since it came down
	h, v, a float64 // what is added to the planned height, and how that changes within the tick
}

// Feet that meet the ground otherwise than planned.
const (
	highestFloor = 0.006 // m above where a foot was to come down: it stays where it met the ground
	lowestFloor  = 0.005 // m below, to which a foot is led further down
	feelsAfter   = 0.06  // s after which a foot that is to stand and is not felt is led further,
	feelsDown    = 0.04  // m/s so fast
	floorTime    = 2.0   // s in which what all feet have in common is forgotten: that is the body's height
	soleFollows  = 40.0  // 1/s: natural frequency of the way there
	oldTouch     = 0.1   // s, of a touch sensor that is not believed any more
)

// step follows what is to be added for a tick of dt.
func (s *sole) step(to, dt float64) {
	ω := min(soleFollows, 0.4/dt)
	s.h, s.v = s.h+dt*s.v+dt*dt/2*s.a, s.v+dt*s.a
	s.a = ω * (ω*(to-s.h) - 2*s.v)
}

// raised returns a planned motion with what was felt of the ground, some seconds from now. Loop-safe.
func (s *sole) raised(m gait.Motion, after float64) gait.Motion {
	m.P.Z += s.h + after*s.v + after*after/2*s.a
	m.V.Z += s.v + after*s.a
	m.A.Z += s.a
	return m
}

// carries reports whether a foot is felt to stand: by what touch sensors tell or, without them, by the torques of its servos, which take
// 40 ms and more for it and are mistaken at times: a foot that is taken for landed too high tilts the robot. Without
// either it stands as it is commanded to. Loop-safe.
func (c *Controller) carries(input *control.Input, leg int) bool {
	chain := c.legs[leg].chain
	if k := &input.Meas.Contacts[chain]; k.Known() && !c.touches(input) {
		return k.Carries()
	}
	return input.Meas.Support[chain].Weight > 0
}

// touches reports whether each foot has a touch sensor and all of them have told of themselves lately: supports are measured by them then.
// Loop-safe.
func (c *Controller) touches(input *control.Input) bool {
	for i := range input.Meas.Touch {
		if a := input.Meas.Touch[i].Age; a == servo.Never || float64(a)*input.Tick.Dt > oldTouch {
			return false
		}
	}
	return len(input.Meas.Touch) == len(c.legs)
}

// feel finds where feet met the ground. One that meets it early, on its way down, stays there; one that does not find it is led
// further down; both stand so until they are lifted. Loop-safe.
func (c *Controller) feel(input *control.Input) {
	dt, mean := input.Tick.Dt, 0.0
	for i := range c.soles {
		s := &c.soles[i]
		felt := c.ready && c.carries(input, i)
		to := s.floor
		switch swings, descends, height := c.plan.Aloft(i); {
		case swings && !descends: // off what it stood on
			s.lost, s.stood = 0, false
			if to = max(0, s.floor-height); to == 0 {
				s.floor = 0
			}
		case swings:
			if felt && !s.stood {
				s.floor, s.stood = min(height+s.h, highestFloor), true
			}
			to = max(0, s.floor-height)
		case felt || !c.ready:
			s.lost, s.stood = 0, true
		case !s.stood && s.lost < feelsAfter:
			s.lost += dt
		case !s.stood:
			s.floor = max(s.floor-feelsDown*dt, -lowestFloor)
			to = s.floor
		}
		s.step(to, dt)
		mean += s.floor / float64(len(c.soles))
	}
	if c.plan.Phase() == gait.Stands {
		return // it comes to rest
	}
	for i := range c.soles {
		c.soles[i].floor -= mean * dt / floorTime
	}
}
