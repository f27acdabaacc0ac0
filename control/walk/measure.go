package walk

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"poise/control/pace"
	"poise/gait"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/move"
)

// What walking is derived with.
const (
	lowest    = 0.8   // share of its height at rest that the base is lowered to at most
	lowerBy   = 0.04  // share in one attempt
	wantReach = 0.42  // share of the height of the centre of mass that a foot should reach around its place
	wildReach = 1.8   // how much further than it is put down a foot is when commands jump about (package gait's tests)
	sway      = 0.012 // m, of the body
	jointPeak = 0.7   // share of the limits of joints that an even walk uses: commands that jump take longer steps
)

// measureRest derives the places of feet from how the robot stands at rest. It returns the height of the base then, and the centre of
// mass seen from there.
func (c *Controller) measureRest(m *robot.Model) (height float64, com spatial.Vec3, err error) {
	rest := m.RestPositions()
	feet := c.ground.DefaultFeetTo(nil)
	X, ok := c.ground.Settle(rest, feet)
	if !ok {
		return 0, com, errors.New("walk: the robot does not stand in its rest pose")
	}
	c.index.ConfigurationTo(c.standing, rest)
	setBase(c.standing, X)
	c.data.UpdatePosition(c.standing)
	var centre spatial.Vec3
	soles := make([]spatial.Vec3, len(c.legs))
	for i := range c.legs {
		l := &c.legs[i]
		chain := &m.Chains()[l.chain]
		tip := c.data.Pose(l.tip)
		soles[i] = c.data.Pose(c.data.At(chain.Tip)).Apply(middleOf(&m.Contacts()[chain.Contact]))
		l.sole = tip.R.TMulVec(soles[i].Sub(tip.P))
		l.up = tip.R.TMulVec(spatial.Vec3{Z: 1})
		l.level = tip.R
		l.mirrored = chain.Mirror < l.chain && chain.Mirror != robot.NoChain
		centre = centre.Add(soles[i].Scale(1 / float64(len(c.legs))))
	}
	for _, s := range soles {
		c.nominal = append(c.nominal, gait.Point{X: s.X - centre.X, Y: s.Y - centre.Y})
	}
	c.ground.BalanceTo(&c.stand, rest, feet, X)
	return X.P.Z, c.stand.Com.Sub(X.P), nil
}

// measure derives the places of feet, the height of the body and the gaits from the robot's geometry.
func (c *Controller) measure(m *robot.Model) error {
	height, com, err := c.measureRest(m)
	if err != nil {
		return err
	}
	c.above = com.Z
	given := m.Walking()
	best := c.raise(given.Height, height, com)
	c.walking = spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: -com.X, Y: -com.Y, Z: c.height}}
	z := c.height + com.Z
	allows := (best - sway) / wildReach
	c.reach = min(0.25*z, allows)
	if !(c.reach > 0.02*z) {
		return fmt.Errorf("walk: with its base %.3g m high, feet of %s reach only %.3g m around their places, and need %.3g m", c.height, m.Name(), best, 0.02*z*wildReach+sway)
	}
	if given.Reach > 0 {
		if c.reach = given.Reach; c.reach > allows {
			return fmt.Errorf("walk: walking.reach %g m is beyond %.3g m, what the legs allow with the base %.3g m high", given.Reach, allows, c.height)
		}
	}
	if c.plan, err = gait.New(gait.Config{Legs: c.nominal, Height: z, Gravity: m.Gravity().Norm(), Reach: c.reach, Margin: given.Margin, Fade: given.Fade}); err != nil {
		return err
	}
	for _, name := range gait.Names {
		g, err := c.gaitOf(m, name, nil)
		if err != nil {
			return err
		}
		c.gaits = append(c.gaits, g)
	}
	names := given.BySpeed
	if len(names) == 0 {
		names = []string{"crawl", "trot"}
	}
	for _, name := range names {
		c.speeds = append(c.speeds, slices.Index(gait.Names, name))
	}
	for i := range c.legs {
		c.legs[i].turns = [2]float64{c.turnsTo(i, -1), c.turnsTo(i, 1)}
	}
	c.stair = c.stairOf(m)
	c.plan.SetHighestStair(c.stair)
	return c.plan.SetGait(&c.gaits[0])
}

// turnsTo returns how far a sole is turned at its place under the body, rad to the left by a side of 1, that stands or is lifted.
func (c *Controller) turnsTo(leg int, side float64) float64 {
	l, at := &c.legs[leg], c.nominal[leg]
	if l.point {
		return math.Pi
	}
	reaches := func(turn float64) bool {
		for _, up := range [...]float64{0, 0.1 * c.height} {
			copy(c.near[0], c.standing)
			setBase(c.near[0], c.walking)
			if l.solve(c.near[0], l.tipAt(spatial.Vec3{X: at.X, Y: at.Y, Z: up}, side*turn)).Status != ik.Solved {
				return false
			}
		}
		return true
	}
	const by = 0.1
	low := 0.0
	for low+by < math.Pi && reaches(low+by) {
		low += by
	}
	return bisect(low, low+by, 5, reaches)
}

// stairOf returns how high a stair legs can lift a foot onto by the gaits that are chosen by speed, at their fastest.
func (c *Controller) stairOf(m *robot.Model) float64 {
	high := highestStair * c.height
	for _, k := range c.speeds {
		reaches := func(stair float64) bool {
			g := c.gaits[k]
			g.Lift += stair
			return !math.IsInf(c.demands(m, &g, g.Most, math.Inf(1)).share, 1)
		}
		if !reaches(high) {
			high = bisect(0, high, 6, reaches)
		}
	}
	return high
}

// middleOf returns the middle of a sole: that of its disc or, where points are its corners, that of them.
func middleOf(c *robot.Contact) spatial.Vec3 {
	if c.Sole > 0 || len(c.Points) < 3 {
		return c.Points[0]
	}
	var sum spatial.Vec3
	for _, p := range c.Points {
		sum = sum.Add(p)
	}
	return sum.Scale(1 / float64(len(c.Points)))
}

// raise finds how high the base walks, as it is given or as its legs reach furthest, and returns how far feet reach
// around their places then.
func (c *Controller) raise(given, rest float64, com spatial.Vec3) (best float64) {
	at := func(height float64) float64 {
		body := spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: -com.X, Y: -com.Y, Z: height}}
		return c.reachAt(body, wantReach*height)
	}
	if given > 0 {
		c.height = given
		return at(given)
	}
	for share := 1.0; share >= lowest-1e-9; share -= lowerBy {
		height := share * rest
		r := at(height)
		if r > best {
			best, c.height = r, height
		}
		if r >= wantReach*height {
			break
		}
	}
	return best
}

// gaitOf returns a gait as the geometry has it, changed by what robot.yaml declares and by what is given besides.
func (c *Controller) gaitOf(m *robot.Model, name string, more *robot.Gait) (gait.Gait, error) {
	g, err := gait.Derive(name, c.nominal, c.height+c.above, m.Gravity().Norm())
	if err != nil {
		return g, err
	}
	c.quicken(m, &g)
	most := math.Inf(1)
	var times, lift bool // are given
	take := func(x *robot.Gait) {
		for _, v := range []struct {
			to    *float64
			value float64
		}{{&g.Period, x.Period}, {&g.Duty, x.Duty}, {&g.Lift, x.Lift}, {&most, x.Speed}} {
			if v.value != 0 {
				*v.to = v.value
			}
		}
		times, lift = times || x.Period != 0 || x.Duty != 0, lift || x.Lift != 0
		for i := range c.legs {
			if φ, ok := x.Phase[c.legs[i].chain]; ok {
				g.Phase[i] = φ
			}
		}
	}
	for i, x := range m.Walking().Gaits {
		if x.Name == name {
			take(&m.Walking().Gaits[i])
		}
	}
	if more != nil {
		take(more)
	}
	g.Given = times
	if err := g.Check(len(c.legs)); err != nil {
		return g, err
	}
	c.ease(m, &g, times, lift)
	if times || lift {
		if err := c.follows(m, &g); err != nil {
			return g, err
		}
	}
	g.Most = min(c.fastest(m, &g), most)
	c.hasten(m, &g)
	return g, c.plan.Fits(&g)
}

// What a robot with quick joints does: a trot whose steps are shorter in time by quickShare where its joints use no more than quickPeak of
// their limits at its fastest, and lifts its feet higher by as much.
const (
	quickShare = 0.64
	quickPeak  = 0.62
)

// quicken shortens the period of a trot where joints leave room for it; feet that are balls come off the ground sooner than soles.
func (c *Controller) quicken(m *robot.Model, g *gait.Gait) {
	for i := range c.legs {
		if !c.legs[i].point {
			return
		}
	}
	quick := *g
	quick.Period, quick.Lift = quickShare*g.Period, g.Lift/quickShare
	if g.Name == "trot" && quick.Check(len(c.legs)) == nil && c.within(m, &quick, quick.Fastest(c.reach), quickPeak) {
		g.Period, g.Lift = quick.Period, quick.Lift
	}
}

// Feet of a crawl that are over their places before they come down: the share of a swing after which they are, that in which they go up, and
// the share of joints' limits that this may use at its fastest.
const (
	hasteOver = 0.72
	hasteRise = 0.4
	hastePeak = 0.8
)

// hasten lets the feet of a crawl be over their places before they come down, as early as joints allow. Legs lag behind what they are
// commanded by what servos differ in, and one that is behind hangs lower: its foot meets the ground in the middle of its way, and throws the robot up. They go
// up faster for it, so that they do not run against small steps.
func (c *Controller) hasten(m *robot.Model, g *gait.Gait) {
	if g.Name != "crawl" {
		return
	}
	for g.Rise, g.Over = hasteRise, hasteOver; g.Over < 0.95; g.Over += 0.07 {
		if c.within(m, g, g.Most, hastePeak) {
			return
		}
	}
	g.Rise, g.Over = 0, 0
}

// What slow joints do, of whose limits lifting a foot would use more than easeFrom: feet are lifted less, down to easeLift of what is derived, and
// steps take longer, up to easeTimes, until it is easePeak. What is left is for the way that feet go.
const (
	easeFrom  = 0.55
	easePeak  = 0.4
	easeLift  = 0.6
	easeTimes = 4
	easeBy    = 1.1 // in one attempt
)

// ease changes what was derived of a gait, rather than given, until joints can lift feet so.
func (c *Controller) ease(m *robot.Model, g *gait.Gait, times, lift bool) {
	if c.within(m, g, 0, easeFrom) {
		return
	}
	least, longest := easeLift*g.Lift, min(easeTimes*g.Period, gait.LongestPeriod)
	for ; !lift && g.Lift > least*easeBy && !c.within(m, g, 0, easePeak); g.Lift /= easeBy {
	}
	for ; !times && g.Period*easeBy < longest && !c.within(m, g, 0, easePeak); g.Period *= easeBy {
	}
}

// follows reports why legs cannot lift feet as a gait was given.
func (c *Controller) follows(m *robot.Model, g *gait.Gait) error {
	d := c.demands(m, g, 0, math.Inf(1))
	switch {
	case d.joint == robot.NoJoint && math.IsInf(d.share, 1):
		try := *g
		most := bisect(0, g.Lift, 8, func(lift float64) bool {
			try.Lift = lift
			return !math.IsInf(c.demands(m, &try, 0, math.Inf(1)).share, 1)
		})
		return fmt.Errorf("gait %q: a lift of %.3g m is not within 0 … %.2g m, which the legs reach with the base %.3g m high", g.Name, g.Lift, most, c.height)
	case !(d.share <= pace.Peak):
		return fmt.Errorf("gait %q: to lift a foot by %.3g m in a swing of %.3g s takes %.3g %s of %s, and %.3g are allowed: a longer period, a smaller duty or a smaller lift",
			g.Name, g.Lift, (1-g.Duty)*g.Period, d.needed, d.unit, m.Joints()[d.joint].Name, pace.Peak*d.limit)
	}
	return nil
}

// reachAt returns how far around their places all feet reach with the body somewhere, standing and
// lifted, up to most.
func (c *Controller) reachAt(body spatial.Pose, most float64) float64 {
	if c.reaches(body, most) {
		return most
	}
	return bisect(0, most, 5, func(far float64) bool { return c.reaches(body, far) })
}

// reaches reports whether all feet reach so far around their places.
func (c *Controller) reaches(body spatial.Pose, far float64) bool {
	const rays = 8
	for i := range c.legs {
		if c.legs[i].mirrored {
			continue
		}
		at := c.nominal[i]
		for ray := range rays {
			sin, cos := math.Sincos(2 * math.Pi * float64(ray) / rays)
			for _, up := range [...]float64{0, 0.1 * body.P.Z} {
				copy(c.near[0], c.standing)
				setBase(c.near[0], body)
				tip := c.legs[i].tipAt(spatial.Vec3{X: at.X + far*cos, Y: at.Y + far*sin, Z: up}, 0)
				if c.legs[i].solve(c.near[0], tip).Status != ik.Solved {
					return false
				}
			}
		}
	}
	return true
}

// fastest returns the speed at which an even walk uses its share of the joints' limits, m/s; at most that
// which the reach allows. A gait whose feet swing fast as it is, as its parameters were given, may use more of them.
func (c *Controller) fastest(m *robot.Model, g *gait.Gait) float64 {
	most := g.Fastest(c.reach)
	share := max(jointPeak, (c.demands(m, g, 0, math.Inf(1)).share+pace.Peak)/2)
	if c.within(m, g, most, share) {
		return most
	}
	return max(bisect(0, most, 5, func(speed float64) bool { return c.within(m, g, speed, share) }), most/100)
}

// bisect returns how far one can go from a value that is ok towards one that is not, to the last of n halvings.
func bisect(from, to float64, n int, ok func(float64) bool) float64 {
	for range n {
		if mid := (from + to) / 2; ok(mid) {
			from = mid
		} else {
			to = mid
		}
	}
	return from
}

// demand is what the swings of a gait ask of the joints.
type demand struct {
	share  float64       // of a limit, the largest; infinite where a leg does not reach
	joint  robot.JointID // whose limit that is
	limit  float64
	unit   string
	needed float64
}

// within reports whether the joints of legs use no more than a share of any velocity or acceleration limit
// while a foot swings, of a body that goes evenly ahead or to the side.
func (c *Controller) within(m *robot.Model, g *gait.Gait, speed, share float64) bool {
	return c.demands(m, g, speed, share).share <= share
}

// demands returns the largest share of any velocity or acceleration limit that joints of legs use while a foot swings, of
// a body that goes evenly ahead or to the side; the first that is more than enough, if there is one.
func (c *Controller) demands(m *robot.Model, g *gait.Gait, speed, enough float64) (d demand) {
	const looks, h = 16, 0.002
	T := (1 - g.Duty) * g.Period
	half := speed * g.Period / 2 // of the way of a foot over the ground
	rise, haste := g.Shape()
	for _, to := range [...]gait.Point{{X: 1}, {Y: 1}} {
		for i := range c.legs {
			l := &c.legs[i]
			if l.mirrored {
				continue
			}
			for look := range looks {
				t := T * (float64(look) + 0.5) / looks
				var q [3][]float64
				for k, dt := range [...]float64{-h, 0, h} {
					q[k] = [...][]float64{c.near[0], c.q, c.near[1]}[k]
					copy(q[k], c.standing)
					s := (t + dt) / T
					over, up := half*(2*move.MinimumJerk(s, haste).P-1), g.Lift*move.MinimumJerk(min(s/rise, (1-s)/(1-rise)), 1).P
					body := speed * (t + dt - T/2)
					at := spatial.Vec3{X: c.nominal[i].X + to.X*(over-body), Y: c.nominal[i].Y + to.Y*(over-body), Z: up}
					setBase(q[k], c.walking)
					if l.solve(q[k], l.tipAt(at, 0)).Status != ik.Solved {
						return demand{share: math.Inf(1), joint: robot.NoJoint}
					}
				}
				for _, j := range l.joints {
					at, limits := c.index[j], &m.Joints()[j].Limits
					v, a := (q[2][at]-q[0][at])/(2*h), (q[2][at]-2*q[1][at]+q[0][at])/(h*h)
					if m.Joints()[j].Virtual {
						continue
					}
					for _, x := range [...]struct {
						value float64
						limit robot.Limit
						unit  string
					}{{v, limits.Velocity, "rad/s"}, {a, limits.Acceleration, "rad/s²"}} {
						if share := math.Abs(x.value) / math.Abs(x.limit.Value); x.limit.Has && !(share <= d.share) {
							if d = (demand{share, j, math.Abs(x.limit.Value), x.unit, math.Abs(x.value)}); !(share <= enough) {
								return d
							}
						}
					}
				}
			}
		}
	}
	return d
}
