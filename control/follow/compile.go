package follow

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/control"
	"poise/problem"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/move"
	"poise/trajectory/spline"
)

// Bounds of what is played as one motion.
const (
	maxPoints   = 20_000
	maxDuration = 3600 // s
	maxEvents   = 10_000

	leastApproach = 0.01 // of the limits
)

// instant is how long a goal of one point at time zero lasts, s: it is a pose.
const instant = 0.001

// Compile checks a goal against a robot, over the whole motion, and makes it
// ready to be played. From is the command that it is to start from; nil if that
// is not known, which only goals bear whose first point is at time zero. All
// problems are reported at once; Problems finds them in the error.
func Compile(m *robot.Model, o Options, from *control.Motion, g *Goal) (*Program, error) {
	c := compiler{m: m, o: o, g: g, from: from}
	return c.program()
}

// compiler holds a goal while it is being checked.
type compiler struct {
	m    *robot.Model
	o    Options
	g    *Goal
	from *control.Motion
	bad  problems

	moves  []move.Limits // of each joint of the robot,
	bounds []control.Bounds
	joints []robot.JointID // of each column of r,
	column []int           // and its column in the goal
	pose   []float64       // of each column of r: where the command is; nil if it is unknown
	r      Record
}

func (c *compiler) program() (*Program, error) {
	var err error
	if c.moves, c.bounds, err = control.JointLimits(c.m, c.o.Transition); err != nil {
		return nil, err
	}
	c.options()
	c.columns()
	c.points()
	c.tolerances()
	c.events()
	if c.bad.any() {
		return nil, c.bad.err()
	}
	body := c.body()
	c.begin(body)
	if c.bad.any() {
		return nil, c.bad.err()
	}
	curve, err := c.r.Curve()
	if err != nil {
		c.noCurve(err)
		return nil, c.bad.err()
	}
	c.limits(curve)
	if c.bad.any() {
		return nil, c.bad.err()
	}
	return Build(c.r)
}

// options fills in defaults and refuses what makes no sense.
func (c *compiler) options() {
	c.r.Commanded, c.r.Begin, c.r.Loop = c.g.Commanded, c.g.Begin, c.g.Loop
	if c.r.MaxRate = c.o.MaxRate; c.r.MaxRate == 0 {
		c.r.MaxRate = 2
	}
	if c.r.GoalTime = c.g.GoalTime; c.r.GoalTime == 0 {
		if c.r.GoalTime = c.o.GoalTime; c.r.GoalTime == 0 {
			c.r.GoalTime = defaultGoalTime
		}
	}
	if !finite(c.r.GoalTime) {
		c.bad.add(problem.Problem{Code: BadOption, Value: c.r.GoalTime}, "goal time tolerance is %g s", c.r.GoalTime)
	}
	if a := c.g.Approach; a != 0 && !(a >= leastApproach && a <= 1) {
		c.bad.add(problem.Problem{Code: BadOption, Value: a, Limit: 1}, "an approach with a share of %g of the limits, want %g … 1, or 0 for none", a, leastApproach)
	}
}

// columns finds joints and chains by name.
func (c *compiler) columns() {
	res, err := c.m.Resources()
	if err != nil {
		c.bad.list = append(c.bad.list, err)
		return
	}
	if len(c.g.Joints) == 0 {
		c.bad.add(problem.Problem{Code: NoPoints}, "the goal names no joints")
	}
	seen := map[string]bool{}
	for k, name := range c.g.Joints {
		if seen[name] {
			c.bad.add(problem.Problem{Code: UnknownJoint, Joint: name}, "%q is named twice", name)
			continue
		}
		seen[name] = true
		if chain, ok := strings.CutPrefix(name, SupportPrefix); ok {
			c.support(res, k, chain)
			continue
		}
		id, ok := c.m.Joint(name)
		if !ok {
			c.unknown(name)
			continue
		}
		c.joints, c.column = append(c.joints, id), append(c.column, k)
		c.r.Names, c.r.Joints = append(c.r.Names, name), append(c.r.Joints, int(id))
		c.r.Wraps = append(c.r.Wraps, c.m.Joints()[id].Kind == robot.Continuous)
	}
	c.freeChains(res)
	if c.from != nil {
		for _, id := range c.joints {
			c.pose = append(c.pose, c.from.Q[id])
		}
	}
}

// unknown refuses a name that is no joint of its own, and says what it may be.
func (c *compiler) unknown(name string) {
	p := problem.Problem{Code: UnknownJoint, Joint: name}
	for _, b := range c.m.Bodies() {
		if b.Mimic && b.Name == name {
			leader := c.m.Joints()[b.Joint].Name
			p.Help = "move " + leader
			c.bad.add(p, "joint %q follows %q and cannot be led", name, leader)
			return
		}
	}
	if !c.bad.full() { // the search takes its time
		p.Help = problem.DidYouMean(name, c.m.JointNames())
	}
	c.bad.add(p, "robot %q has no joint %q", c.m.Name(), name)
}

// support takes a column as the track of a chain.
func (c *compiler) support(res *robot.Resources, column int, name string) {
	p := problem.Problem{Code: UnknownJoint, Joint: SupportPrefix + name}
	id, ok := c.m.Chain(name)
	if !ok {
		if !c.bad.full() {
			p.Help = problem.DidYouMean(name, c.m.ChainNames())
		}
		c.bad.add(p, "robot %q has no chain %q", c.m.Name(), name)
		return
	}
	leaf, ok := supportLeaf(res, id)
	if !ok {
		c.bad.add(p, "chain %q has no contact, and supports nothing", name)
		return
	}
	x := Support{Chain: id, Leaf: leaf, Contact: c.m.Chains()[id].Contact, Track: []control.Support{}}
	for _, point := range c.g.Points {
		if column < len(point.Position) {
			x.Track = append(x.Track, SupportValue(c.m, x.Contact, point.Position[column]))
		}
	}
	c.r.Chains = append(c.r.Chains, x)
}

// SupportValue reads the number of a support track of a chain with a contact of its own.
func SupportValue(m *robot.Model, own robot.ContactID, x float64) control.Support {
	switch whole, part := math.Modf(x); {
	case !(x > 0):
		return control.Support{Contact: own}
	case x <= 1:
		return control.Support{Weight: x, Contact: own}
	case whole < float64(len(m.Contacts())):
		return control.Support{Weight: part, Contact: robot.ContactID(whole)}
	default:
		return control.Support{Weight: part, Contact: own}
	}
}

// freeChains declares chains free that are moved and have no track; if that would leave no
// foot on the ground, all of them go on carrying what they carry.
func (c *compiler) freeChains(res *robot.Resources) {
	freed, holds := c.g.Freed(c.m)
	for i, chain := range c.m.Chains() {
		id := robot.ChainID(i)
		if leaf, ok := supportLeaf(res, id); ok && (holds || slices.Contains(freed, id)) {
			c.r.Chains = append(c.r.Chains, Support{Chain: id, Leaf: leaf, Contact: chain.Contact, Holds: holds})
		}
	}
}

func supportLeaf(res *robot.Resources, chain robot.ChainID) (robot.LeafID, bool) {
	for i, l := range res.Leaves() {
		if l.Kind == robot.SupportLeaf && l.Chain == chain {
			return robot.LeafID(i), true
		}
	}
	return 0, false
}

// points checks the table: sizes, numbers, order of times.
func (c *compiler) points() {
	all := c.g.Points
	if len(all) == 0 {
		c.bad.add(problem.Problem{Code: NoPoints}, "the goal has no points, at least one is needed")
		return
	}
	if len(all) > maxPoints {
		c.bad.add(problem.Problem{Code: TooMuch, Value: float64(len(all)), Limit: maxPoints}, "%d points, at most %d are played", len(all), maxPoints)
		return
	}
	last := math.Inf(-1)
	for i := range all {
		p := &all[i]
		switch {
		case !finite(p.Time):
			c.bad.add(problem.Problem{Code: NotFinite, Row: i + 1, Value: p.Time}, "time of point %d is %g", i, p.Time)
		case p.Time < 0:
			c.bad.add(problem.Problem{Code: NotRising, Row: i + 1, At: p.Time, Value: p.Time}, "point %d is at %g s, before the motion begins", i, p.Time)
		case p.Time <= last:
			now, before := c.g.Table.At(p.Time), c.g.Table.At(last)
			c.bad.add(problem.Problem{Code: NotRising, Row: i + 1, At: now, Value: now, Limit: before, Help: "times must strictly increase"},
				"point %d at %g s is not after point %d at %g s", i, now, i-1, before)
		}
		last = p.Time
		c.row(i, "position", p.Position, true)
		c.row(i, "velocity", p.Velocity, len(all[0].Velocity) > 0)
		c.row(i, "acceleration", p.Acceleration, len(all[0].Acceleration) > 0)
	}
	if last > maxDuration {
		c.bad.add(problem.Problem{Code: TooMuch, Row: len(all), At: last, Value: last, Limit: maxDuration}, "it lasts %g s, at most %d s are played", last, int(maxDuration))
	}
	if len(all[0].Acceleration) > 0 && len(all[0].Velocity) == 0 {
		c.bad.add(problem.Problem{Code: WrongSize, Row: 1, Limit: float64(len(c.g.Joints))}, "accelerations are given, and no velocities")
	}
	c.rests(len(all)-1, "last")
	if c.g.Loop {
		c.rests(0, "first")
	}
}

// row checks one row of numbers; it is wanted, or must be absent.
func (c *compiler) row(i int, word string, values []float64, wanted bool) {
	n := len(c.g.Joints)
	if !wanted {
		n = 0
	}
	if len(values) != n {
		p := problem.Problem{Code: WrongSize, Row: i + 1, At: c.g.Points[i].Time, Value: float64(len(values)), Limit: float64(n)}
		if word != "position" {
			p.Help = "all points have them, or none"
		}
		c.bad.add(p, "point %d has %d numbers for %s, want %d", i, len(values), word, n)
		return
	}
	for k, v := range values {
		if !finite(v) {
			c.bad.add(problem.Problem{Code: NotFinite, Joint: c.g.Joints[k], Row: i + 1, At: c.g.Points[i].Time, Value: v}, "%s of %q at point %d is %g", word, c.g.Joints[k], i, v)
		}
	}
}

// rests refuses a motion that would have to stop, or begin a loop, all at once.
func (c *compiler) rests(i int, word string) {
	p := &c.g.Points[i]
	for k, j := range c.column {
		if j < len(p.Velocity) && math.Abs(p.Velocity[j]) > atRest {
			c.bad.add(problem.Problem{Code: MovesAtEnd, Joint: c.r.Names[k], Row: i + 1, At: p.Time, Value: p.Velocity[j], Help: "it must have velocity 0 there"},
				"%q moves with %.4g /s at the %s point", c.r.Names[k], p.Velocity[j], word)
		}
	}
}

// noCurve reports numbers that are finite, and so large or close together that the curve
// between them is not. Where some are beyond the limits they are the cause: one of them, on a way that
// takes its time, spoils the curves of all joints.
func (c *compiler) noCurve(err error) {
	for k := range c.joints {
		c.farthest(k)
	}
	if c.bad.any() {
		return
	}
	for _, key := range spline.KeyErrors(err) {
		if key.Joint < 0 || key.Joint >= len(c.joints) {
			continue
		}
		name := c.r.Names[key.Joint]
		c.bad.add(problem.Problem{Code: BeyondVelocity, Joint: name},
			"%s of %q changes too steeply within %g s", key.Quantity, name, key.Value)
	}
	if !c.bad.any() {
		c.bad.add(problem.Problem{Code: NotFinite}, "%v", err)
	}
}

// farthest reports the point at which a joint is farthest beyond its limits, if there is one.
func (c *compiler) farthest(k int) {
	b, most := c.bounds[c.joints[k]], limitSlack
	v := trajectory.Violation{Joint: k, Quantity: spline.Position}
	for _, p := range c.g.Points {
		q := p.Position[c.column[k]]
		limit := min(max(q, b.Lower), b.Upper)
		if off := math.Abs(q - limit); off > most {
			most, v.Time, v.Value, v.Limit = off, p.Time, q, limit
		}
	}
	if most > limitSlack {
		c.beyond(v, 1)
	}
}

// atRest is the velocity below which a joint stands, rad/s or m/s.
const atRest = 1e-6

// Slack over limits that counts as none: what rounding and decimal notation do.
const limitSlack = 1e-6

// limits checks the curve at every instant, and finds what its clock may use.
func (c *compiler) limits(curve *spline.Spline) {
	n := max(len(c.joints), 1)
	own := trajectory.Limits{Lower: make([]float64, n), Upper: make([]float64, n), Velocity: make([]float64, n), Acceleration: make([]float64, n), Deceleration: make([]float64, n)}
	c.r.Velocity, c.r.Acceleration, c.r.Deceleration = make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range n {
		b := control.Unbounded
		if k < len(c.joints) {
			b = c.bounds[c.joints[k]]
		}
		if c.pose != nil && k < len(c.pose) { // a robot that stands outside may come back
			b.Lower, b.Upper = min(b.Lower, c.pose[k]), max(b.Upper, c.pose[k])
		}
		own.Lower[k], own.Upper[k], own.Velocity[k], own.Acceleration[k], own.Deceleration[k] = b.Lower, b.Upper, b.Velocity, b.Acceleration, b.Deceleration
		if k < len(c.joints) {
			c.clockLimits(curve, k, b)
		}
	}
	all := own.Violations(curve, limitSlack)
	slower := 1.0 // the speed at which it would pass
	for _, v := range all {
		switch v.Quantity {
		case spline.Velocity:
			slower = min(slower, 1/v.Ratio())
		case spline.Acceleration:
			slower = min(slower, math.Sqrt(1/v.Ratio()))
		}
	}
	for _, v := range all {
		c.beyond(v, slower)
	}
}

// clockLimits finds what changes of rate may use of one column's limits. Steps of
// one period add a little to a change of rate, so a motion that leaves room is
// held below its limits; one that does not may use them whole, as planned.
func (c *compiler) clockLimits(curve *spline.Spline, k int, b control.Bounds) {
	const share = 0.98
	vel := math.Abs(curve.Peak(k, spline.Velocity, curve.Start(), curve.End()).Value)
	acc := math.Abs(curve.Peak(k, spline.Acceleration, curve.Start(), curve.End()).Value)
	if !math.IsInf(b.Velocity, 1) {
		c.r.Velocity[k] = max(b.Velocity, vel)
	}
	if math.IsInf(b.Acceleration, 1) && math.IsInf(b.Deceleration, 1) {
		b.Acceleration = c.moves[c.joints[k]].AccMax // a motion that has more by itself keeps it
		b.Deceleration = b.Acceleration
	}
	c.r.Acceleration[k] = max(share*b.Acceleration, acc)
	c.r.Deceleration[k] = max(share*b.Deceleration, acc)
}

// unit is what the positions of a column are measured in.
func (c *compiler) unit(k int) string {
	if c.m.Joints()[c.joints[k]].Kind == robot.Prismatic {
		return "m"
	}
	return "rad"
}

// beyond reports a limit that the motion breaks.
func (c *compiler) beyond(v trajectory.Violation, slower float64) {
	name := c.r.Names[v.Joint]
	p := problem.Problem{Joint: name, At: c.g.Table.At(v.Time), Value: v.Value, Limit: v.Limit}
	unit := c.unit(v.Joint)
	word := v.Quantity.String()
	switch v.Quantity {
	case spline.Position:
		p.Code = BeyondPosition
		p.Help = fmt.Sprintf("keep it %.4g %s further in", math.Abs(v.Value-v.Limit), unit)
	case spline.Velocity:
		p.Code, unit = BeyondVelocity, unit+"/s"
		p.Help = fmt.Sprintf("it would pass at %.3g %% of its speed", math.Floor(slower*1e3)/10)
	default:
		p.Code, unit = BeyondAcceleration, unit+"/s²"
		p.Help = fmt.Sprintf("it would pass at %.3g %% of its speed", math.Floor(slower*1e3)/10)
		if v.Braking {
			word = "deceleration"
		}
	}
	c.bad.add(p, "%s of %q is %.4g %s at %.4g s, its limit is %.4g", word, name, v.Value, unit, p.At, v.Limit)
}

func finite(x float64) bool { return x-x == 0 }
