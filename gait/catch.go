package gait

import (
	"math"

	"poise/spatial"
)

// Catch is how a robot that tips over the edge of its soles catches itself. It turns about that edge as a whole: the feet
// behind it are in the air already, and the two that it stands on are put ahead one after the other, each onto the ground as it is seen
// from a body that leans. It comes back onto all feet then, and the body follows to the middle of them. Its zero value does nothing.
//
// Everything is added to a plan that stands, and all of it has continuous accelerations. Loop-safe.
type Catch struct {
	CatchOptions
	on      bool
	t       float64 // s since it began
	begun   int     // steps
	feet    [2]stride
	returns bool
	body    quintic
}

// CatchOptions say how a robot catches itself.
type CatchOptions struct {
	Toward Point   // unit vector: where it tips to, axes of the plan
	Legs   [2]int  // on which it stands, the first that steps first
	Sole   float64 // from the middle of a foot to its edge, m
	Step   float64 // of each foot, m
	Rise   float64 // of a foot over the ground, m
	Takes  float64 // s that a foot is in the air
	Back   float64 // s in which body and feet are led to a stand
}

// stride is the way of one foot, seen from the body.
type stride struct {
	along, up, lean quintic
	on              bool
}

// NewCatch returns a catch that begins.
func NewCatch(o CatchOptions) Catch { return Catch{CatchOptions: o, on: true} }

// On reports whether it goes on.
func (c *Catch) On() bool { return c.on }

// Pass lets time pass and returns how long it goes on already, s.
func (c *Catch) Pass(dt float64) float64 {
	if c.on {
		c.t += dt
	}
	return c.t
}

// Due reports whether the next foot is to be put ahead.
func (c *Catch) Due() bool { return c.on && c.begun < len(c.feet) && c.t >= float64(c.begun)*c.Takes }

// Swing puts the next foot ahead; lean is what the robot leans by when it lands, rad.
func (c *Catch) Swing(lean float64) {
	sin, cos := math.Sincos(lean)
	ahead := c.Step - c.Sole // of the edge that it turns about
	c.feet[c.begun] = stride{on: true, along: newQuintic(axis{}, c.Sole+ahead*cos, c.t, c.Takes), up: newQuintic(axis{}, ahead*sin, c.t, c.Takes),
		lean: newQuintic(axis{}, -lean, c.t, c.Takes)}
	c.begun++
}

// Down reports whether both feet stand again.
func (c *Catch) Down() bool { return c.begun == len(c.feet) && c.t >= float64(c.begun)*c.Takes }

// Return leads the feet, where they stand, and the body to a level stand.
func (c *Catch) Return() {
	c.returns = true
	const share = 1. / 4 // of four feet
	middle := 0.0
	for i := range c.feet {
		f := &c.feet[i]
		x, z := f.along.at(c.t), f.up.at(c.t)
		to := c.Sole + math.Hypot(x.p-c.Sole, z.p)
		f.along, f.up, f.lean = newQuintic(x, to, c.t, c.Back), newQuintic(z, 0, c.t, c.Back), newQuintic(f.lean.at(c.t), 0, c.t, c.Back)
		middle += share * to
	}
	c.body = newQuintic(axis{}, middle, c.t, c.Back)
}

// Returns reports whether it is on its way to a stand.
func (c *Catch) Returns() bool { return c.returns }

// Over reports whether it stands.
func (c *Catch) Over() bool { return c.returns && c.t >= c.body.begin+c.Back }

// stride returns the way of a leg, nil if it has none yet.
func (c *Catch) stride(leg int) *stride {
	for i := range c.feet {
		if c.feet[i].on && c.Legs[i] == leg {
			return &c.feet[i]
		}
	}
	return nil
}

// Aloft reports whether a foot is in the air.
func (c *Catch) Aloft(leg int) bool {
	f := c.stride(leg)
	return f != nil && !c.returns && c.t < f.along.begin+f.along.takes
}

// Foot returns what is added to the motion of a foot some seconds from now, and how it is turned about the axis that the robot tips about,
// with two derivatives.
func (c *Catch) Foot(leg int, after float64) (m Motion, lean, rate, acceleration float64) {
	f := c.stride(leg)
	if f == nil {
		return Motion{}, 0, 0, 0
	}
	t := c.t + after
	x, z, w := f.along.at(t), f.up.at(t), f.lean.at(t)
	if T := f.along.takes; !c.returns {
		if s := (t - f.along.begin) / T; s > 0 && s < 1 { // 64 s³(1−s)³ rises to 1 and comes back, at rest at both ends
			q, d := s*(1-s), 1-2*s
			z.p += 64 * c.Rise * q * q * q
			z.v += 192 * c.Rise * q * q * d / T
			z.a += 384 * c.Rise * q * (d*d - q) / (T * T)
		}
	}
	return Motion{P: c.vec(x.p, z.p), V: c.vec(x.v, z.v), A: c.vec(x.a, z.a)}, w.p, w.v, w.a
}

// Body returns what is added to the motion of the body some seconds from now.
func (c *Catch) Body(after float64) (m Motion) {
	if !c.returns {
		return Motion{}
	}
	x := c.body.at(c.t + after)
	return Motion{P: c.vec(x.p, 0), V: c.vec(x.v, 0), A: c.vec(x.a, 0)}
}

func (c *Catch) vec(along, up float64) spatial.Vec3 {
	return spatial.Vec3{X: along * c.Toward.X, Y: along * c.Toward.Y, Z: up}
}

// Gather lets a robot that stands take the steps that bring its feet to their places.
func (p *Planner) Gather() {
	if p.phase == Stands {
		p.setOff()
	}
}
