package scenario

import (
	"fmt"
	"math"
	"slices"

	"poise/action"
	"poise/control"
	"poise/control/follow"
	"poise/control/walk"
	"poise/controllers"
	"poise/executive"
	"poise/gait"
	"poise/loop"
	"poise/problem"
	"poise/robot"
	"poise/servo"
	"poise/trajectory"
)

// cycle is the cycle of the robot around its physics, stepped by hand: the loop and the
// executive that ship.
type cycle struct {
	r      *run
	loop   *loop.Loop
	exec   *executive.Executive
	n      uint64 // tick that comes next
	steps  int    // of physics in this tick; 0 while the robot is made ready
	period float64
	goals  int

	walks *Action // how it walks, nil if it does not
	blind bool    // its inertial unit says nothing
	rises *Action // to get up as soon as it is reset and has torque, nil if it need not

	from, to []float64 // [joints] commands of the last tick and of this one
	began    int       // step of physics at which this one was given
}

// at returns where the command of a joint is now: it gets to where it was last told to be
// within a period.
func (c *cycle) at(j int) float64 {
	share := min(float64(c.r.step-c.began)*c.r.p.s.step()/c.period, 1)
	return c.from[j] + share*(c.to[j]-c.from[j])
}

// The robot gets some ticks to switch on its torque before its time begins, and the time in which
// the torques of cycle 1 are taken up.
const (
	ready  = 20
	takeUp = 1.5 // s
)

// assumedAcceleration is that of transitions where the robot declares none, rad/s².
const assumedAcceleration = 8

// newCycle makes the cycle and switches torque on; physics stands still meanwhile.
func newCycle(r *run) (*cycle, error) {
	c := &cycle{r: r, period: r.p.s.period()}
	m := r.p.m
	var settings loop.Settings
	settings.Sensors, settings.Inversion.Lead.Time, settings.Inversion.Beyond = r.bus.Sensors(), r.p.lead, servo.Beyond(c.period, r.p.lead)
	if !m.TransitionAcceleration().Has {
		settings.Transition = control.Transition{Acceleration: assumedAcceleration}
	}
	seats, err := controllers.For(m, settings.Transition, nil)
	if err != nil {
		return nil, err
	}
	if r.p.s.Control.Cycle > 0 {
		settings.Cycle1, settings.Cycle2 = control.JointLeaves(len(m.Joints())), r.p.s.Control.Cycle == 2
		settings.Inversion.Name, settings.Inversion.Models = "model", r.p.models
	}
	c.from, c.to = make([]float64, len(m.Joints())), make([]float64, len(m.Joints()))
	cfg := loop.Config{Model: m, Bus: c, Settings: settings}
	known := make([]executive.Controller, len(seats))
	for i, seat := range seats {
		cfg.Controllers = append(cfg.Controllers, seat.Loop)
		known[i] = seat.Executive
	}
	if c.loop, err = loop.New(cfg); err != nil {
		return nil, err
	}
	if c.exec, err = executive.New(executive.Config{Model: m, Loop: c.loop, Controllers: known, Library: r.p.motions, Go: func(job func()) { job() }}); err != nil {
		return nil, err
	}
	ticks := ready
	if r.p.s.Control.Cycle > 0 {
		ticks += int(math.Ceil(takeUp / c.period))
	}
	for i := range ticks {
		if i >= 2 && c.exec.State().Power != loop.Enabled { // a servo that was not heard yet is asked again
			c.exec.Power("scenario", true)
		}
		c.turn()
	}
	if st := c.exec.State(); st.Power != loop.Enabled {
		return nil, fmt.Errorf("the robot does not get its torque: power is %v", st.Power)
	}
	return c, nil
}

// turn makes one tick of the cycle.
func (c *cycle) turn() {
	t := servo.Tick{N: c.n, Time: int64(math.Round(float64(c.n) * c.period * 1e9)), Dt: c.period}
	c.exec.Pump(t.Time)
	c.rise()
	c.lead(t)
	c.loop.Step(t)
	c.exec.Pump(t.Time)
	c.n++
}

// tick makes a tick with some steps of physics.
func (c *cycle) tick(steps int) error {
	c.steps = steps
	c.turn()
	return c.r.err
}

// Exchange implements servo.Bus: the loop's setpoints go to the servos, those of joints that
// the scenario moves are replaced.
func (c *cycle) Exchange(_ servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	r := c.r
	copy(r.src, src)
	copy(c.to, c.loop.Command().Q)
	if c.steps == 0 {
		copy(c.from, c.to)
		return r.bus.Measure(dst)
	}
	r.aim()
	r.bus.Send(r.src)
	c.began = r.step
	r.advance(c.steps)
	copy(c.from, c.to)
	fault := r.bus.Measure(dst)
	if c.blind {
		for i := range dst.IMU {
			dst.IMU[i].Age = servo.Never
		}
	}
	if fault == 0 && r.err == nil {
		r.follow(dst)
	}
	return fault
}

// play begins a stored motion, from where the robot is.
func (c *cycle) play(a *Action) error {
	c.goals++
	id := action.ID(fmt.Sprintf("scenario-%d", c.goals))
	_, err := c.exec.Submit("scenario", id, 0, &executive.Play{Name: a.Play, Approach: true}, executive.Watch{
		Changed: func(ch executive.Change) { c.changed(a, ch) },
	})
	if err != nil {
		return &problem.Problem{Code: Invalid, Pos: problem.Pos{File: c.r.p.s.File, Line: a.Line}, Thing: "do: play", Text: err.Error()}
	}
	return nil
}

// walk begins to walk, or to walk otherwise.
func (c *cycle) walk(a *Action) error {
	first := c.walks == nil
	if c.walks = a; !first {
		return nil
	}
	c.goals++
	_, err := c.exec.Submit("scenario", action.ID(fmt.Sprintf("scenario-%d", c.goals)), 0, &executive.Operational{Controller: "walk", On: true}, executive.Watch{
		Changed: func(ch executive.Change) { c.ended("velocity", ch) },
	})
	if err != nil {
		return &problem.Problem{Code: Invalid, Pos: problem.Pos{File: c.r.p.s.File, Line: a.Line}, Thing: "do: velocity", Text: err.Error()}
	}
	return nil
}

// rise lets the robot get up, as people do it: a reset, torque, the goal. What walked before has ended.
func (c *cycle) rise() {
	if c.rises == nil {
		return
	}
	st := c.exec.State()
	switch {
	case st.Stopped || len(st.Faults) > 0:
		c.exec.Reset("scenario")
		return
	case st.Power != loop.Enabled || len(st.Limp) > 0:
		c.exec.Power("scenario", true)
		return
	}
	a := c.rises
	c.rises, c.walks = nil, nil
	from := a.GetUp
	if from == byUnit {
		from = ""
	}
	c.goals++
	_, err := c.exec.Submit("scenario", action.ID(fmt.Sprintf("scenario-%d", c.goals)), 0, &executive.GetUp{From: from}, executive.Watch{
		Changed: func(ch executive.Change) { c.ended("get_up", ch) },
	})
	if err != nil && c.r.err == nil {
		c.r.err = &problem.Problem{Code: Invalid, Pos: problem.Pos{File: c.r.p.s.File, Line: a.Line}, Thing: "do: get_up", Text: err.Error()}
	}
}

// lead tells the controller that walks how to, in every tick.
func (c *cycle) lead(t servo.Tick) {
	if c.walks == nil {
		return
	}
	v := c.walks.Velocity
	c.exec.Lead("walk", &walk.Velocity{At: t.Time, Velocity: gait.Velocity{X: v.X, Y: v.Y, Yaw: v.Yaw}})
	c.exec.Lead("walk", &walk.Choice{At: t.Time, Gait: c.walks.Gait})
}

// move lets joints go somewhere, from where they are, as a goal of the controller of
// trajectories.
func (c *cycle) move(a *happening) error {
	c.goals++
	goal := follow.Goal{GoalTime: -1}
	point := trajectory.Point{Time: max(a.takes, c.period)}
	for k, i := range a.joints {
		goal.Joints = append(goal.Joints, c.r.p.m.Joints()[i].Name)
		point.Position = append(point.Position, a.what.Joints[k].Value)
		point.Velocity, point.Acceleration = append(point.Velocity, 0), append(point.Acceleration, 0)
	}
	for _, name := range c.standing(a.joints) { // they go on to stand
		goal.Joints = append(goal.Joints, follow.SupportPrefix+name)
		point.Position = append(point.Position, 1)
		point.Velocity, point.Acceleration = append(point.Velocity, 0), append(point.Acceleration, 0)
	}
	goal.Points = []trajectory.Point{point}
	_, err := c.exec.Submit("scenario", action.ID(fmt.Sprintf("scenario-%d", c.goals)), 0, &executive.Follow{Goal: goal}, executive.Watch{
		Changed: func(ch executive.Change) { c.ended("joints", ch) },
	})
	if err != nil {
		return &problem.Problem{Code: Invalid, Pos: problem.Pos{File: c.r.p.s.File, Line: a.what.Line}, Thing: "do: joints", Text: err.Error()}
	}
	return nil
}

// standing returns the chains with some of the joints whose feet are commanded to stand.
func (c *cycle) standing(joints []int) (names []string) {
	c.exec.View(func(now *loop.Snapshot) {
		for i, chain := range c.r.p.m.Chains() {
			driven := slices.ContainsFunc(chain.Joints, func(j robot.JointID) bool { return slices.Contains(joints, int(j)) })
			if driven && chain.Contact != robot.NoContact && now.Command.Support[i].Weight > 0 {
				names = append(names, chain.Name)
			}
		}
	})
	return names
}

// changed notes motions that do not end well.
func (c *cycle) changed(a *Action, ch executive.Change) { c.ended("play "+a.Play, ch) }

func (c *cycle) ended(what string, ch executive.Change) {
	if ch.To.Terminal() && ch.To != action.Succeeded {
		c.r.notes = append(c.r.notes, fmt.Sprintf("%s: %v at %.3f s: %s", what, ch.To, c.r.now(), ch.Result.Text()))
	}
}
