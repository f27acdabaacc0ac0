package loop

import (
	"fmt"
	"math"

	"poise/control"
	"poise/feedforward"
	"poise/robot"
	servomodel "poise/servo/model"
	"poise/trajectory/move"
	"poise/wholebody"
	"poise/wholebody/stage"
)

// cycles is by which cycle of motion control each joint is driven: 0 by positions alone, 1
// with the torques that its motion needs; or all of them by 2, the whole body.
type cycles struct {
	stage  *feedforward.Stage // nil if the robot has no masses
	lacks  error              // why
	chosen robot.Set          // joints of cycle 1, all of them in cycle 2
	runs   bool               // torques were computed in the last tick
	power  func(joint int) bool

	whole  *stage.Stage // nil if the robot has no free base or no masses
	two    bool         // cycle 2 is chosen
	led    bool         // and led the command in this tick
	servos stage.Servos
	models []*servomodel.Model // of each joint; nil without a model
	mix    float64             // share of the torques that are the whole body's
}

// mixTime is how long it takes to go from the torques of one cycle to those of the other, s.
const mixTime = 0.5

func (c *cycles) init(l *Loop) error {
	limits, bounds := make([]float64, l.dof), make([]control.Bounds, l.dof)
	for j := range limits {
		bounds[j] = l.shaper.Bounds(j)
		limits[j] = math.Max(bounds[j].Acceleration, bounds[j].Deceleration)
	}
	c.stage, c.lacks = feedforward.New(l.cfg.Model, limits)
	c.power = func(j int) bool { return l.mode[j].Powered() }
	c.models = make([]*servomodel.Model, l.dof)
	copy(c.models, l.cfg.Inversion.Models)
	c.servos = stage.Servos{Powered: c.power, Model: func(j int) *servomodel.Model { return c.models[j] }}
	if c.stage != nil && l.cfg.Model.Floating() {
		var err error
		if c.whole, err = stage.New(l.cfg.Model, bounds, l.cfg.WholeBody); err != nil {
			return fmt.Errorf("cycle 2: %w", err)
		}
	}
	if l.cfg.Cycle2 {
		if c.lacks == nil && c.whole == nil {
			return fmt.Errorf("cycle 2: the base of robot %q is fixed, and only a free one is balanced", l.cfg.Model.Name())
		}
		if c.lacks != nil {
			return fmt.Errorf("cycle 2: %w", c.lacks)
		}
		c.chosen, c.two = l.all, true
		return nil
	}
	if c.chosen = l.cfg.Cycle1.Intersect(l.all); !c.chosen.Empty() && c.lacks != nil {
		return fmt.Errorf("cycle 1: %w", c.lacks)
	}
	return nil
}

// switchTo carries out an order that chooses the cycle of joints.
func (c *cycles) switchTo(l *Loop, o Order) {
	p, ok := o.Program.(*control.Cycle)
	reason := control.Because(control.OK)
	switch {
	case !ok || p.Joints.Intersect(l.all).Empty():
		reason.Code = control.BadProgram
	case p.Number < 0 || p.Number > control.LastCycle:
		reason.Code, reason.Value, reason.Max = control.BadValue, float64(p.Number), control.LastCycle
	case p.Number > 0 && c.stage == nil:
		reason.Code = control.NoMasses
	case p.Number == 2 && c.whole == nil:
		reason.Code = control.NoWholeBody
	case p.Number == 2 && !p.Joints.Contains(l.all):
		reason.Code = control.WholeRobotOnly
	}
	if reason.Code != control.OK {
		l.refuse(o, reason)
		return
	}
	if p.Number == 2 {
		if !c.two {
			c.whole.Begin()
		}
		c.chosen, c.two = l.all, true
		return
	}
	c.leave(l)
	joints := p.Joints.Intersect(l.all)
	if p.Number == 0 {
		c.chosen = c.chosen.Minus(joints)
	} else {
		c.chosen = c.chosen.Union(joints)
	}
}

// leave ends cycle 2.
func (c *cycles) leave(l *Loop) {
	c.yield(l)
	c.two = false
}

// yield ends cycle 2 for joints: their references are handed over from where the whole body has led the robot.
func (c *cycles) yield(l *Loop) {
	c.handOver(l)
	c.led = false
}

// handOver makes references be handed over from where the whole body has led the robot.
func (c *cycles) handOver(l *Loop) {
	if c.two && c.led {
		for j := range l.mode {
			if l.mode[j].Powered() {
				l.shaper.Take(j, move.State{P: c.whole.Q[j], V: c.whole.V[j], A: c.whole.A[j]})
			}
		}
		l.base.command.Set(l.now-l.tick.Dt, l.command.Base)
	}
}

// needed reports whether torques are computed: for joints that use them, and for those that
// are on their way to use none.
func (c *cycles) needed() bool {
	if c.stage == nil {
		return false
	}
	if !c.chosen.Empty() {
		return true
	}
	for _, x := range c.stage.Share {
		if x > 0 {
			return true
		}
	}
	return false
}

// accelerations returns those of the command's joints: as claimed, where nothing needs better.
func (c *cycles) accelerations(l *Loop) []float64 {
	was := c.runs
	if c.runs = c.needed(); !c.runs {
		return l.command.A
	}
	if !was {
		c.stage.Begin()
	}
	return c.stage.Accelerate(l.command, c.power, l.tick.Dt)
}

// apply leads the command by the whole body, if that is chosen, and adds the torques that it needs
// to those of its references.
func (c *cycles) apply(l *Loop) {
	if !c.runs {
		return
	}
	own := c.lead(l)
	l.base.feel(l, c.stage)
	c.stage.Update(l.command, l.tick.Dt)
	by := l.tick.Dt / mixTime
	if !own {
		by = -by
	}
	if c.mix = max(0, min(1, c.mix+by)); c.mix > 0 {
		for j := range c.stage.Tau {
			c.stage.Tau[j] += c.mix * (c.whole.Tau[j] - c.stage.Tau[j])
		}
	}
	for j := range l.mode {
		if !l.mode[j].Powered() {
			c.stage.Drop(j)
			continue
		}
		if c.two && c.led {
			c.stage.Tau[j] = c.whole.Give(j, c.stage.Tau[j])
		}
		l.shaper.AddEffort(j, c.stage.Effort(j, c.chosen.Has(robot.LeafID(j)), l.tick.Dt))
	}
}

// lead lets the whole body lead the command. It reports whether the torques are its own. Where the balance is planned they are those
// of cycle 1 for its motion: loads go from foot to foot as the plan fades them, and are shared as they are felt. With
// the least forces that carry the robot a trot on servos that are off tilted twice as far.
func (c *cycles) lead(l *Loop) bool {
	if !c.two {
		return false
	}
	yields := l.yields()
	if yields && !c.led {
		c.whole.Begin()
		c.whole.State = stage.State{Status: stage.Idle, Base: 1, Pace: 1, Margin: math.Inf(-1)}
		return false
	}
	if l.base.moved {
		c.whole.Begin()
	}
	c.servos.Volts = l.volts
	c.whole.Sense(&l.measured)
	own := c.whole.Update(l.command, c.stage.Claims(), &c.servos, l.tick.Dt)
	if c.led = c.whole.State.Status <= stage.Slowing; !c.led {
		return false
	}
	for j := range l.mode {
		c.stage.Lead(j, c.whole.A[j])
	}
	if yields {
		c.yield(l)
	}
	return own && !c.whole.Planned()
}

// yields reports whether the whole body leaves the command as it is: a controller moves a robot that lies, or joints go to where they are
// left or are safe, whatever their feet do meanwhile.
func (l *Loop) yields() bool { return l.lies() || l.leaving.phase == rests || l.faults.crouches() }

// lies reports whether a controller moves the robot while it lies.
func (l *Loop) lies() bool {
	for _, s := range l.seats {
		if s.program != nil && s.lying != nil && s.lying.Lying() {
			return true
		}
	}
	return false
}

// pace is how fast motions of some leaves can go on, so that the whole body reaches what they ask for.
func (c *cycles) pace(l *Loop, own robot.Set) float64 {
	if !c.two || !c.led {
		return 1
	}
	pace := 1.0
	if l.base.floating && own.Has(l.base.leaf) {
		pace = c.whole.State.Pace
	}
	for i := range l.cfg.Model.Chains() {
		for _, j := range l.cfg.Model.Chains()[i].Joints {
			if own.Has(robot.LeafID(j)) {
				pace = min(pace, c.whole.Limbs[i].Pace)
				break
			}
		}
	}
	return pace
}

// acceleration returns that of a joint for its servo.
func (c *cycles) acceleration(l *Loop, j int) float64 {
	if c.runs {
		return c.stage.Acceleration(j)
	}
	return l.command.A[j]
}

// tell fills in a snapshot.
func (c *cycles) tell(s *Snapshot) {
	s.Cycle1, s.Dynamics, s.Forces = c.chosen, feedforward.State{}, s.Forces[:0]
	s.Cycle2 = c.two
	s.WholeBody.tell(c)
	clear(s.Needed)
	if !c.runs {
		return
	}
	s.Dynamics = c.stage.State
	if c.two && c.mix == 1 {
		s.Forces = c.whole.Forces(s.Forces)
	} else {
		s.Forces = c.stage.Forces(s.Forces)
	}
	copy(s.Needed, c.stage.Tau)
}

// WholeBody is how cycle 2 leads the robot.
type WholeBody struct {
	State  stage.State
	Levels []stage.LevelState
	Limbs  []stage.LimbState // [chains]
}

// room of a snapshot: levels, and active rows of each.
const (
	levelRoom = 20
	rowRoom   = 512
)

func (w *WholeBody) init(chains int) {
	w.Limbs, w.Levels = make([]stage.LimbState, chains), make([]stage.LevelState, levelRoom)
	for i := range w.Levels {
		w.Levels[i].Active = make([]wholebody.Row, 0, rowRoom)
	}
	w.Levels = w.Levels[:0]
}

func (w *WholeBody) tell(c *cycles) {
	w.State, w.Levels = stage.State{}, w.Levels[:0]
	if !c.two {
		clear(w.Limbs)
		return
	}
	w.State = c.whole.State
	copy(w.Limbs, c.whole.Limbs)
	for i := range c.whole.Levels {
		if i == cap(w.Levels) {
			return
		}
		w.Levels = w.Levels[:i+1]
		to, from := &w.Levels[i], &c.whole.Levels[i]
		active := to.Active[:min(len(from.Active), cap(to.Active))]
		copy(active, from.Active)
		*to = *from
		to.Active = active
	}
}
