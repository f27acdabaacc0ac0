package loop

import (
	"math"

	"poise/control"
	"poise/feedforward"
	"poise/robot"
)

// cycles is by which cycle of motion control each joint is driven: 0 by positions alone, 1
// with the torques that its motion needs.
type cycles struct {
	stage  *feedforward.Stage // nil if the robot has no masses
	lacks  error              // why
	chosen robot.Set          // joints of cycle 1
	runs   bool               // torques were computed in the last tick
	power  func(joint int) bool
}

func (c *cycles) init(l *Loop) error {
	limits := make([]float64, l.dof)
	for j := range limits {
		b := l.shaper.Bounds(j)
		limits[j] = math.Max(b.Acceleration, b.Deceleration)
	}
	c.stage, c.lacks = feedforward.New(l.cfg.Model, limits)
	c.power = func(j int) bool { return l.mode[j].Powered() }
	if c.chosen = l.cfg.Cycle1.Intersect(l.all); !c.chosen.Empty() {
		return c.lacks
	}
	return nil
}

// switchTo carries out an order that chooses the cycle of joints.
func (c *cycles) switchTo(l *Loop, o Order) {
	p, ok := o.Program.(*control.Cycle)
	why := control.Because(control.OK)
	switch {
	case !ok || p.Joints.Intersect(l.all).Empty():
		why.Code = control.BadProgram
	case p.Number < 0 || p.Number > control.LastCycle:
		why.Code, why.Value, why.Max = control.BadValue, float64(p.Number), control.LastCycle
	case p.Number > 0 && c.stage == nil:
		why.Code = control.NoMasses
	}
	if why.Code != control.OK {
		l.refuse(o, why)
		return
	}
	joints := p.Joints.Intersect(l.all)
	if p.Number == 0 {
		c.chosen = c.chosen.Minus(joints)
	} else {
		c.chosen = c.chosen.Union(joints)
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

// apply adds the torques that the command needs to those of its references.
func (c *cycles) apply(l *Loop) {
	if !c.runs {
		return
	}
	c.stage.Update(l.command, l.tick.Dt)
	for j := range l.mode {
		if !l.mode[j].Powered() {
			c.stage.Drop(j)
			continue
		}
		l.shaper.AddEffort(j, c.stage.Effort(j, c.chosen.Has(robot.LeafID(j)), l.tick.Dt))
	}
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
	clear(s.Needed)
	if !c.runs {
		return
	}
	s.Dynamics = c.stage.State
	s.Forces = c.stage.Forces(s.Forces)
	copy(s.Needed, c.stage.Tau)
}
