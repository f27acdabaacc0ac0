// Package stream follows a stream of joint states from outside: a slider, a
// script, a controller in another process.
//
// Only the newest value counts. A value whose stamp is older than the activation, or than
// the value before it, is refused, so values that were queued while another controller
// moved the robot never move a joint. When the stream ends the joints stop and hold, and
// the reason says so; they follow again when it continues.
//
// A steady stream, of at least ten values per second, is followed with a delay of one of its own
// periods: a curve leads from value to value, with the velocities that the values contain, or else
// those of their differences. A joint that has fallen behind catches up as fast as limits allow. Where that
// does not work, and for single values, a value is a goal, not a command: each joint goes there
// from its present position and velocity, within its limits, so a jump of the input becomes a motion.
//
// Joints, typed outputs, supports and limbs are streams of their own, side by side. Poses of
// limbs and of the base become values of joints when they come, by inverse kinematics; the
// joints of limbs then go together. A base is moved over the feet that stand, which stay.
package stream

import (
	"math"

	"poise/control"
	"poise/control/pace"
	"poise/robot"
	"poise/trajectory/move"
)

// Controller performs Programs and is fed with Samples. Make one with New.
type Controller struct {
	limits   []move.Limits
	bounds   []control.Bounds
	wraps    []bool
	supports []robot.LeafID // of each chain
	stands   []bool         // a chain has a support leaf
	contacts []robot.ContactID
	usual    []robot.ContactID // unless the stream says otherwise
	known    int               // contacts of the robot
	all      robot.Set         // joints of the robot
	leads    robot.Set         // all that it can lead
	plan     *move.Motion
	one      [1]move.Limits
	from, to [1]move.State

	p       *Program
	skipped float64   // s, of ticks that did not take place since the start
	tick    uint64    // number of the newest tick that it was called in
	started int64     // ns
	heard   float64   // when it came, s
	stale   bool      // the stream is dry: joints hold
	speed   float64   // share of velocity that joints are planned with now; 0 is a halt
	own     robot.Set // joints being led
	has     robot.Set // all leaves that it owns
	given   robot.Set // joints that the stream has spoken of
	goal    []float64 // where each joint is to be, at rest
	joints  []leading
	at      []move.State // of each joint, while joints are planned anew
	weight  []float64    // of each chain
	said    []bool       // the stream has spoken of it

	lanes      [control.Lanes]lane
	via        []uint8   // which lane leads each joint
	rate       []float64 // how fast the stream moves each joint
	difference []float64 // of its last two values, by their distance in time
	accel      []float64
	tau        []float64

	chases  int // of joints, in this tick
	limbs   limbs
	outputs outputs
}

// lane is one of the streams that lead a controller side by side.
type lane struct {
	pulse       pulse
	last        int64 // stamp of the newest value, ns; the activation at first
	heardAny    bool  // since the start
	accelerated bool  // it says accelerations
}

// outputs are typed values that are no joints.
type outputs struct {
	number map[robot.LeafID]int // of each typed leaf in Reference.Output
	leaf   []robot.LeafID
	value  []float64
	said   []bool // the stream has spoken of it
}

// Kind declares the controller.
var Kind = control.Kind{Name: "stream", Short: "follows joint states from outside", New: control.NewOf(New), Decode: Decode}

// New returns a controller for a robot.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	limits, bounds, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	n, chains := len(limits), len(m.Chains())
	c := &Controller{known: len(m.Contacts()), limits: pace.Shared(limits), bounds: bounds, wraps: control.Wraps(m), all: control.JointLeaves(n),
		goal: make([]float64, n), joints: make([]leading, n), at: make([]move.State, n), rate: make([]float64, n), difference: make([]float64, n), accel: make([]float64, n), tau: make([]float64, n),
		supports: make([]robot.LeafID, chains), stands: make([]bool, chains), contacts: make([]robot.ContactID, chains),
		weight: make([]float64, chains), said: make([]bool, chains), via: make([]uint8, n)}
	if c.limbs, err = newLimbs(m); err != nil {
		return nil, err
	}
	c.outputs.number = map[robot.LeafID]int{}
	for i, l := range res.Leaves() {
		c.leads = c.leads.With(robot.LeafID(i))
		switch l.Kind {
		case robot.SupportLeaf:
			c.supports[l.Chain], c.stands[l.Chain] = robot.LeafID(i), true
			c.contacts[l.Chain] = m.Chains()[l.Chain].Contact
		case robot.BaseLeaf:
			c.limbs.base, c.limbs.floating = robot.LeafID(i), true
		case robot.OutputLeaf:
			c.outputs.number[robot.LeafID(i)] = len(c.outputs.leaf)
			c.outputs.leaf = append(c.outputs.leaf, robot.LeafID(i))
		}
	}
	c.usual = append(c.usual, c.contacts...)
	c.outputs.value, c.outputs.said = make([]float64, len(c.outputs.leaf)), make([]bool, len(c.outputs.leaf))
	if n > 0 {
		c.plan, err = move.New(limits[:1])
	}
	return c, err
}

const defaultTimeout = 0.5 // s

func (p *Program) timeout() float64 {
	if p.Timeout == 0 {
		return defaultTimeout
	}
	return p.Timeout
}

// Check refuses programs without leaves of the robot, and times that are negative or non-finite.
func (c *Controller) Check(_ *control.Input, p control.Program) control.Reason {
	s, ok := p.(*Program)
	if !ok || s.Needs.Union(s.Wants).Intersect(c.leads).Empty() {
		return control.Because(control.BadProgram)
	}
	for _, x := range [...]float64{s.Timeout, s.Patience} {
		if !(x >= 0 && !math.IsInf(x, 1)) {
			return control.BadValue.At(robot.NoJoint, x, math.MaxFloat64)
		}
	}
	if !(s.Speed >= 0 && s.Speed <= 1) {
		return control.BadValue.At(robot.NoJoint, s.Speed, 1)
	}
	return control.Because(control.OK)
}

// Start brings the joints to rest: nothing of the stream counts that came before.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	c.p, c.tick = p.(*Program), input.Tick.N
	c.started, c.heard, c.skipped = input.Tick.Time, seconds(input), 0
	c.stale, c.speed = false, c.wanted(input)
	c.own, c.given, c.has = robot.Set{}, robot.Set{}, c.p.Needs.Union(c.p.Wants)
	clear(c.said)
	copy(c.contacts, c.usual)
	clear(c.outputs.said)
	for i := range c.lanes {
		c.lanes[i] = lane{last: c.started}
	}
	c.limbs.release()
	clear(c.rate)
	clear(c.difference)
	clear(c.tau)
	c.take(input, c.p.Needs.Union(c.p.Wants).Intersect(c.all))
	return control.Because(control.OK)
}

func seconds(input *control.Input) float64 { return float64(input.Tick.Time) * 1e-9 }

// wanted is the share of velocity limits to be used now.
func (c *Controller) wanted(input *control.Input) float64 {
	speed := c.p.Speed
	if speed == 0 {
		speed = 1
	}
	return min(speed*input.Rate, 1)
}

// Stamped says that values have their times: after a gap the next one is in time again.
func (c *Controller) Stamped() bool { return true }

// skip lets what joints do go on where it was, after ticks that did not take place: a reference
// that jumped over the end of a motion would leave its velocity behind, and overshoot. The next
// value is in time again. It is called first wherever the controller is.
func (c *Controller) skip(input *control.Input) {
	if input.Tick.N == c.tick {
		return
	}
	c.tick = input.Tick.N
	if input.Missed == 0 {
		return
	}
	gap := float64(input.Missed) * input.Tick.Dt
	c.skipped += gap
	for j := range c.joints {
		axis := &c.joints[j]
		axis.began += gap
		axis.at += gap
		if axis.until > 0 {
			axis.until += gap
		}
	}
}

// take begins to lead joints that are new, from their commands. What was said of them before they
// were its own does not count.
func (c *Controller) take(input *control.Input, now robot.Set) {
	before := seconds(input) - input.Tick.Dt
	fresh := now.Minus(c.own)
	c.given = c.given.Minus(fresh)
	for leaf := range fresh.All {
		c.rate[leaf], c.difference[leaf], c.tau[leaf] = 0, 0, 0
		c.lead(int(leaf), input.Cmd.State(int(leaf)), before, 0)
	}
	c.own = now
}

// forget drops what was said of supports and typed outputs.
func (c *Controller) forget(leaves robot.Set) {
	for i, leaf := range c.supports {
		if c.stands[i] && leaves.Has(leaf) {
			c.said[i], c.contacts[i] = false, c.usual[i]
		}
	}
	for i, leaf := range c.outputs.leaf {
		if leaves.Has(leaf) {
			c.outputs.said[i] = false
		}
	}
}

// hardJerk is the time in which an acceleration is built up where a gentler way would leave the
// range of a joint, s: who followed a stream may accelerate more than that takes back in time.
const hardJerk = 0.02

// lead plans the motion of one joint from a state: to its newest goal, or to rest
// if it has none, or is not to move. It takes at least so long, s, and returns how long
// it takes.
func (c *Controller) lead(j int, from move.State, began, least float64) float64 {
	axis := &c.joints[j]
	l := c.limits[j]
	halt := c.stale || c.speed <= 0 || !c.given.Has(robot.LeafID(j))
	if !halt {
		l.VelMin, l.VelMax = l.VelMin*c.speed, l.VelMax*c.speed
	}
	c.one[0], c.from[0], c.to[0] = l, from, move.State{P: c.goal[j]}
	if c.wraps[j] { // the short way round
		c.to[0].P = from.P + math.Remainder(c.to[0].P-from.P, 2*math.Pi)
	}
	err := c.plan.SetLimits(c.one[:])
	if err == nil && !halt {
		err = c.plan.Reach(c.from[:], c.to[:], move.Options{MinDuration: least})
		if err == nil && !c.staysInside(j, c.plan.Duration()) {
			c.one[0].Jerk = max(l.Jerk, l.AccMax/hardJerk)
			if c.plan.SetLimits(c.one[:]) == nil {
				err = c.plan.Reach(c.from[:], c.to[:], move.Options{MinDuration: least})
			}
		}
	}
	if err != nil || halt {
		err = c.plan.Stop(c.from[:])
	}
	if err != nil {
		return 0 // a state that cannot be planned from: what was planned stays
	}
	*axis = leading{began: began, profile: *c.plan.Axis(0)}
	return c.plan.Duration()
}

// again plans all joints anew from where their references are. Those of limbs take the same
// time to their goals, so that tips stay near their way.
func (c *Controller) again(input *control.Input, joints robot.Set) {
	before := seconds(input) - input.Tick.Dt
	var lost, limbs robot.Set // joints that cannot be tracked, and those of limbs
	most := 0
	c.chases = 0
	for leaf := range joints.All {
		c.at[leaf] = c.joints[leaf].state(before)
		n, ok := c.track(int(leaf), c.at[leaf], before, input.Tick.Dt, 0)
		if !ok {
			lost = lost.With(leaf)
		}
		if c.via[leaf] == Limbs {
			limbs, most = limbs.With(leaf), max(most, n)
		}
	}
	if most > 0 && !lost.Overlaps(limbs) {
		for leaf := range limbs.All {
			if _, ok := c.track(int(leaf), c.at[leaf], before, input.Tick.Dt, most); !ok {
				lost = lost.With(leaf)
			}
		}
	}
	c.leadAll(lost, limbs, before)
}

// leadAll leads joints to their goals, each as fast as it can, and those of limbs together.
func (c *Controller) leadAll(lost, limbs robot.Set, before float64) {
	longest := 0.0
	if lost.Overlaps(limbs) {
		lost = lost.Union(limbs)
		for leaf := range limbs.All {
			longest = max(longest, c.lead(int(leaf), c.at[leaf], before, 0))
		}
	}
	for leaf := range lost.All {
		least := 0.0
		if limbs.Has(leaf) {
			least = longest
		}
		c.lead(int(leaf), c.at[leaf], before, least)
	}
}

// Update moves the joints on by a tick.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.skip(input)
	now := seconds(input)
	silence := now - c.heard
	stale := silence > c.p.timeout()
	if speed := c.wanted(input); speed != c.speed || stale != c.stale {
		c.speed, c.stale = speed, stale
		c.again(input, c.own)
	}
	out.Has, out.Peak, out.Rate, out.Time = c.own, pace.Peak, input.Rate, float64(input.Tick.Time-c.started)*1e-9-c.skipped
	c.restLate(now, now-input.Tick.Dt)
	for leaf := range c.own.All {
		s := c.joints[leaf].state(now)
		if !stale {
			out.Tau[leaf] = c.tau[leaf]
		}
		out.Q[leaf], out.V[leaf], out.A[leaf] = s.P, s.V, s.A
	}
	for i, said := range c.said {
		if said && c.stands[i] && input.Own.Has(c.supports[i]) {
			out.Has = out.Has.With(c.supports[i])
			out.Support[i] = control.Support{Weight: c.weight[i], Contact: c.contacts[i]}
		}
	}
	for i, said := range c.outputs.said {
		if leaf := c.outputs.leaf[i]; said && input.Own.Has(leaf) {
			out.Has = out.Has.With(leaf)
			out.Output[i] = c.outputs.value[i]
		}
	}
	if !stale {
		return control.Going, control.Because(control.OK)
	}
	why := control.Stale.At(robot.NoJoint, silence, c.p.timeout())
	if c.p.Patience > 0 && silence > c.p.Patience {
		why.Max = c.p.Patience
		return control.Failed, why
	}
	return control.Going, why
}

// restLate brings joints to rest whose next value is late.
func (c *Controller) restLate(now, before float64) {
	var late, limbs robot.Set
	for leaf := range c.own.All {
		axis := &c.joints[leaf]
		if axis.until == 0 {
			continue
		}
		c.at[leaf] = axis.state(before)
		if now > axis.until {
			late = late.With(leaf)
		}
		if c.via[leaf] == Limbs {
			limbs = limbs.With(leaf)
		}
	}
	if !late.Empty() {
		c.leadAll(late, limbs, before)
	}
}

// Owned continues with what it needs, and with anything at all.
func (c *Controller) Owned(input *control.Input, now robot.Set) control.Status {
	c.skip(input)
	enough := now.Contains(c.p.Needs)
	now = now.Intersect(c.p.Needs.Union(c.p.Wants))
	if !enough || now.Empty() {
		return control.Quit
	}
	c.limbs.release()
	c.forget(now.Minus(c.has))
	c.has = now
	c.take(input, now.Intersect(c.all))
	return control.Going
}

func finite(x float64) bool { return x-x == 0 }
