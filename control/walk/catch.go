package walk

import (
	"math"

	"poise/control"
	"poise/gait"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
)

// catcher puts feet ahead of a robot that tips over and would not come back. A push that soles withstand is left to them: it tips,
// and comes back by itself. Whether it does is told by its lean and how fast that grows, both the inertial unit's.
type catcher struct {
	steps gait.Catch
	edges []edge
	over  *edge      // that it tips over
	usual gait.Point // lean of a stand, when it began to tip
	slow  float64    // s that it leans far, and neither falls nor comes back
	unit  float64    // √(height/g), s
	sole  float64    // m
	rise  float64    // m
}

// edge is one that a robot on four legs tips over: that of two soles.
type edge struct {
	to    gait.Point // in axes of the body
	legs  [2]int     // the left one first
	angle float64    // by which it leans when its centre of mass is over the edge, rad
	step  float64    // m
	takes float64    // s that a foot is in the air
	begin float64    // share of the angle,
	later float64    // 1/s, and how that grows with the period
}

// Steps that catch; lengths are shares of the height of the centre of mass, times of √(height/g): 0.162 m and 0.129 s of the pony. Found in
// our engine at 11.2 ms in cycle 1, and kept in MuJoCo (docs/decisions/0122).
const (
	alongStep, alongTakes, alongBegin = 0.494, 1.32, 0.82 // over the front and back edges
	sideStep, sideTakes, sideBegin    = 0.309, 1.09, 0.70 // over those of the left and right
	catchRise                         = 0.037
	catchBack                         = 6.2
	tipRate                           = 0.835 // 1/√(height/g): the rate at which a robot that stands on an edge falls off it
	tipTop                            = 0.63  // share of an edge's angle at which it does neither: legs and soles give way
	leanAge                           = 0.013 // s, of what is measured,
	leanTicks                         = 1.5   // and so many periods
	leastLands                        = 0.5   // share of the angle that it leans by when a foot lands, at least
	leastLean                         = 0.05  // rad: it has begun to tip
	slowFar, slowRate, slowTime       = 0.5, 0.6, 0.06
	backLean, backRate                = 0.25, 0.6 // rad, rad/s: it has come back
	backAfter, backLatest             = 0.5, 1.5  // s, from when on it is led to a stand, and when at the latest
	levelLean                         = 0.025     // rad
	longestTick                       = 0.025     // s: more slowly it sees too late how it tips
	usualTick                         = 0.0112    // s: at longer ones steps begin later,
	alongLater, sideLater             = 14.3, 8.9 // 1/s: shares of the angle for each second. What comes back by itself is known less well
	catchTilt                         = 0.75      // rad: tilted further it has fallen
)

// catching finds over which edges a robot can catch itself. It stands on four legs that end in soles, and its joints and legs allow the steps.
func (c *Controller) catching(m *robot.Model) {
	k, z := &c.catch, c.height+c.above
	k.unit, k.sole, k.rise = math.Sqrt(z/c.gravity), c.sole, catchRise*z
	c.steady = len(c.legs) >= balanceLegs && c.sole > 0
	for i := range c.legs {
		c.steady = c.steady && !c.legs[i].point
	}
	if len(c.legs) != balanceLegs || !c.steady {
		return
	}
	for _, to := range [...]gait.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
		e := edge{to: to, step: alongStep * z, takes: alongTakes * k.unit, begin: alongBegin, later: alongLater}
		if to.X == 0 {
			e.step, e.takes, e.begin, e.later = sideStep*z, sideTakes*k.unit, sideBegin, sideLater
		}
		n, far := 0, math.Inf(1)
		for i, at := range c.nominal {
			if x := at.X*to.X + at.Y*to.Y; x > 0 && n < len(e.legs) {
				e.legs[n], far = i, min(far, x)
				n++
			}
		}
		if at := c.nominal[e.legs[0]]; at.Y*to.X-at.X*to.Y < 0 {
			e.legs[0], e.legs[1] = e.legs[1], e.legs[0]
		}
		if e.angle = math.Atan2(far+c.sole, z); n == len(e.legs) && e.step > 2*c.sole && c.allows(m, &e) {
			k.edges = append(k.edges, e)
		}
	}
}

// allows reports whether legs and joints allow the steps over an edge, whatever the lean.
func (c *Controller) allows(m *robot.Model, e *edge) bool {
	const looks, h = 16, 0.002
	l, place := &c.legs[e.legs[0]], c.nominal[e.legs[0]]
	q := [...][]float64{c.near[0], c.q, c.near[1]}
	was := c.catch.steps
	defer func() { c.catch.steps = was }()
	for _, lean := range [...]float64{leastLands * e.angle, (1 + leastLands) / 2 * e.angle, e.angle} {
		c.catch.steps = gait.NewCatch(c.catch.options(e, e.to))
		c.catch.steps.Swing(lean)
		for look := range looks {
			for k := range q {
				copy(q[k], c.standing)
				setBase(q[k], c.walking)
				foot, turned, _, _ := c.catch.put(e.legs[0], gait.Motion{P: spatial.Vec3{X: place.X, Y: place.Y}}, e.takes*float64(look+1)/looks+float64(k-1)*h)
				if l.solve(q[k], l.turnedAt(foot.P, 0, turned)).Status != ik.Solved {
					return false
				}
			}
			for _, j := range l.joints {
				at, limits := c.index[j], &m.Joints()[j].Limits
				v, a := (q[2][at]-q[0][at])/(2*h), (q[2][at]-2*q[1][at]+q[0][at])/(h*h)
				if limits.Velocity.Has && math.Abs(v) > limits.Velocity.Value || limits.Acceleration.Has && math.Abs(a) > limits.Acceleration.Value {
					return false
				}
			}
		}
	}
	return true
}

// turnedAt returns the pose of a leg's tip whose sole is at a place, turned about it.
func (l *leg) turnedAt(sole spatial.Vec3, yaw float64, R spatial.Mat3) spatial.Pose {
	X := l.tipAt(sole, yaw)
	return spatial.Pose{R: R.Mul(X.R), P: sole.Add(R.MulVec(X.P.Sub(sole)))}
}

// options are those of steps over an edge, towards a place.
func (k *catcher) options(e *edge, toward gait.Point) gait.CatchOptions {
	return gait.CatchOptions{Toward: toward, Legs: e.legs, Sole: k.sole, Step: e.step, Rise: k.rise, Takes: e.takes, Back: catchBack * k.unit}
}

// tip is how a robot leans over an edge.
type tip struct {
	over       *edge
	toward     gait.Point // axes of the plan
	lean, rate float64    // rad, rad/s
	aside      float64    // lean to the left of it, with what its rate adds
	far        float64    // share of the edge's angle that it gets to
	angle      float64    // of the edge, as the feet stand now
	step       float64    // m
}

// of returns how it leans over an edge.
func (c *Controller) of(e *edge, lean, rate gait.Point, yaw float64) (t tip) {
	k := &c.catch
	sin, cos := math.Sincos(yaw)
	u := gait.Point{X: cos*e.to.X - sin*e.to.Y, Y: sin*e.to.X + cos*e.to.Y}
	grows := k.unit / tipRate
	t = tip{over: e, toward: u, lean: lean.X*u.X + lean.Y*u.Y, rate: rate.X*u.X + rate.Y*u.Y}
	t.aside = lean.Y*u.X - lean.X*u.Y + grows*(rate.Y*u.X-rate.X*u.Y)
	com, far, ahead := c.plan.Com(0).P, math.Inf(1), 0.0
	for _, l := range e.legs {
		m, _, _, _ := c.plan.Foot(l, 0)
		x, n := (m.P.X-com.X)*u.X+(m.P.Y-com.Y)*u.Y, c.nominal[l].X*e.to.X+c.nominal[l].Y*e.to.Y
		far, ahead = min(far, x), max(ahead, x-n)
	}
	t.angle, t.step = math.Atan2(max(far, 0)+k.sole, c.height+c.above), max(e.step-ahead, k.sole)
	t.far = (t.lean + grows*t.rate) / t.angle
	return t
}

// lands returns what it leans by when a foot lands that is lifted now, as one that falls off its edge or comes back.
func (k *catcher) lands(t *tip) float64 {
	grows := k.unit / tipRate
	sinh, cosh := math.Sinh(t.over.takes/grows), math.Cosh(t.over.takes/grows)
	top := tipTop * t.angle
	return min(max(top+(t.lean-top)*cosh+grows*t.rate*sinh, leastLands*t.angle), t.angle)
}

// recover takes the steps that catch a robot which tips over. One that is not told any more how it leans ends them. At long
// periods none is begun. Loop-safe.
func (c *Controller) recover(input *control.Input) {
	k, dt := &c.catch, input.Tick.Dt
	now, on := k.steps.Pass(dt), k.steps.On()
	R, known := c.tilted(input)
	if len(k.edges) == 0 || !c.rests() || (!known || dt > longestTick) && !on {
		return
	}
	if !on {
		k.usual = c.sway.usual
	}
	var lean, rate gait.Point
	if known {
		up, turn := R.Col(2), R.MulVec(input.Meas.IMU[0].Rate)
		rate = gait.Point{X: turn.Y, Y: -turn.X}
		age := leanAge + leanTicks*dt
		lean = gait.Point{X: up.X - k.usual.X + age*rate.X, Y: up.Y - k.usual.Y + age*rate.Y}
	}
	yaw, _, _ := c.plan.Yaw(0)
	if !on {
		most := tip{far: math.Inf(-1)}
		for i := range k.edges {
			if t := c.of(&k.edges[i], lean, rate, yaw); t.far > most.far {
				most = t
			}
		}
		if !k.begins(&most, dt) {
			return
		}
		c.disturbed = true
	}
	t := c.of(k.over, lean, rate, yaw)
	switch {
	case k.steps.Due():
		k.steps.Swing(k.lands(&t))
	case k.steps.Over() && c.plan.Phase() == gait.Stands:
		c.caught(input, math.Hypot(lean.X, lean.Y) < levelLean)
	case k.steps.Down() && !k.steps.Returns() && now > backAfter && math.Abs(t.rate) < backRate && (math.Abs(t.lean) < backLean || now > backLatest):
		k.steps.Return()
	}
}

// begins begins to catch a robot that would not come back by itself: it gets over the edge, or stays near it for a while.
func (k *catcher) begins(t *tip, dt float64) bool {
	if k.slow += dt; !(t.lean > slowFar*t.angle && math.Abs(t.rate) < slowRate) {
		k.slow = 0
	}
	if !(t.lean > leastLean && (t.far > t.over.begin+t.over.later*max(0, dt-usualTick) || k.slow > slowTime)) {
		return false
	}
	k.over, k.slow = t.over, 0
	o := k.options(t.over, t.toward)
	o.Step = t.step
	if t.aside > 0 { // the foot that carries less goes first
		o.Legs[0], o.Legs[1] = o.Legs[1], o.Legs[0]
	}
	k.steps = gait.NewCatch(o)
	return true
}

// caught lets the plan go on from where the feet stand now. A robot that is level puts them to their places; another one stands until it is told to walk.
func (c *Controller) caught(input *control.Input, level bool) {
	k := &c.catch
	at, by := c.plan.Com(0).P, k.steps.Body(0).P
	yaw, _, _ := c.plan.Yaw(0)
	for i := range c.legs {
		m, _, _, _ := c.plan.Foot(i, 0)
		d, _, _, _ := k.steps.Foot(i, 0)
		c.places[i] = gait.Point{X: m.P.X + d.P.X, Y: m.P.Y + d.P.Y}
	}
	to := gait.Point{X: at.X + by.X, Y: at.Y + by.Y}
	c.plan.Move(to, yaw, c.places, to)
	k.steps = gait.Catch{}
	c.sway.usual, c.braced.on = k.usual, false
	if level {
		c.gather(input)
	}
}

// put returns the motion of a foot with the steps that catch, and how its sole is turned.
func (k *catcher) put(leg int, m gait.Motion, after float64) (sum gait.Motion, R spatial.Mat3, ω, α spatial.Vec3) {
	d, lean, rate, acceleration := k.steps.Foot(leg, after)
	n := spatial.Vec3{X: -k.steps.Toward.Y, Y: k.steps.Toward.X}
	R = spatial.Identity3
	if lean != 0 {
		R = spatial.AxisAngle(n, lean)
	}
	return gait.Motion{P: m.P.Add(d.P), V: m.V.Add(d.V), A: m.A.Add(d.A)}, R, n.Scale(rate), n.Scale(acceleration)
}

// rests reports whether it stands on all feet: also one that was pushed while it walked, and comes to rest.
func (c *Controller) rests() bool {
	p := c.plan.Phase()
	return p == gait.Stands || c.braced.on && p == gait.Settles
}
