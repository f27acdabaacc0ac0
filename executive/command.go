package executive

import (
	"context"
	"fmt"
	"math"
	"strings"

	"poise/control"
	"poise/loop"
	"poise/problem"
)

// commandPatience is how long a command may take, in patiences of the cycle.
const commandPatience = 10

// maxWaiting is how many orders may wait for room before commands are refused.
const maxWaiting = 1024

// command sends orders, and waits for their outcome.
func (e *Executive) command(c *command, orders ...loop.Order) *Answer {
	switch {
	case e.closed:
		return e.refuse(c.who, c.what, *problem.New("server_stopped", "the executive is closed"))
	case e.robot.silent:
		return e.refuse(c.who, c.what, e.whySilent())
	case len(e.orders.waiting) > maxWaiting:
		return e.refuse(c.who, c.what, e.words.Reason(control.Because(control.Full), ""))
	}
	return e.orders.start(c, e.now, orders...)
}

// refuse answers a command that cannot even be sent; without a reason it is done.
func (e *Executive) refuse(who, what string, why ...Explanation) *Answer {
	a, o := newAnswer(), refused(why...)
	a.resolve(o)
	e.audit(who, what, o.Text())
	return a
}

// orderRefused gives a refusal to the sender of the order.
func (e *Executive) orderRefused(r *loop.Report) {
	reason := e.words.Reason(r.Reason, e.robot.controllerName(r.Controller))
	if r.Fault != 0 { // of a reset
		severity := loop.SeverityWarn
		if f, ok := e.robot.faultOf(r.Fault, e.words.Joint(r.Reason.Joint)); ok {
			severity = f.Severity
		}
		reason = e.words.Fault(r.Fault, severity, r.Reason)
		reason.Text = "still there: " + reason.Text
	}
	if e.orders.refuse(r.Goal, reason) {
		return
	}
	if j, ok := e.goals.ordered[r.Goal]; ok {
		j.unmet = append(j.unmet, reason)
		return
	}
	if seat := e.robot.seatOf(r.Controller); seat != nil && r.Order == loop.Feed {
		if r.Reason.Code == control.NonFinite { // the value is refused, and its controller goes on
			reason.Text = strings.Replace(reason.Text, "it was stopped", "it is not followed", 1)
		}
		seat.refuse(reason, r.Goal, e.now)
	}
}

// stopped is the cycle's word that a stop is complete.
func (e *Executive) stopped(r *loop.Report) {
	x := *problem.New("stopped", "a stop of category %g took %.3g s and %.3g rad or m", r.Value, r.Time, r.Way)
	x.Value, x.At = r.Value, float64(r.Tick.Time)*1e-9
	e.notice(Notice{Tick: r.Tick, Kind: "stop", Explanation: x})
	e.orders.take(r)
}

// settleCommands ends the commands that are done, or take too long.
func (e *Executive) settleCommands() {
	patience := commandPatience * int64(e.cfg.Patience)
	if e.robot.silent {
		patience = -1
	}
	e.orders.settle(e.robot.snap, e.now, patience, func(_ *command, took int64) Explanation {
		if e.robot.silent {
			return e.whySilent()
		}
		x := *problem.New("unanswered", "the cycle did not do it in time")
		x.Value, x.Limit = float64(took)*1e-9, float64(patience)*1e-9
		return x
	})
}

// ask runs a command with everything locked.
func (e *Executive) ask(f func() *Answer) (a *Answer) {
	e.locked(func() { a = f() })
	return a
}

// Stop stops the robot: category 0 takes the torque away, 1 ramps down first, 2
// ramps down and holds. It needs no room and cannot be refused; the answer comes
// when the robot stands, with the time and the way that it took. Goals end as
// stopped, and are refused until Reset.
func (e *Executive) Stop(who string, category uint8) *Answer {
	category = min(category, 2)
	number := e.cfg.Loop.Stop(category) // before anything is locked
	return e.ask(func() *Answer {
		over := func() (Outcome, bool) {
			s := e.cfg.Loop.StopState()
			return Outcome{Value: s.Time, Way: s.Way}, s.Over >= number
		}
		c := &command{who: who, what: fmt.Sprintf("stop %d", category)}
		if o, ok := over(); ok {
			a := newAnswer()
			a.resolve(o)
			e.audit(c.who, c.what, o.Text())
			return a
		}
		c.told = func(r *loop.Report) (Outcome, bool) {
			if r.Kind != loop.Stopped {
				return Outcome{}, false
			}
			return over()
		}
		return e.command(c)
	})
}

// halts counts how often the robot was stopped, by any client, paused or unpowered.
func (e *Executive) halts() uint64 { return e.robot.halts + e.cfg.Loop.StopState().Asked }

// Reset is the separate act after a stop: goals are taken again, and faults that
// are gone are forgotten. Those that are not are why it fails.
func (e *Executive) Reset(who string) *Answer {
	return e.ask(func() *Answer {
		settled := func(s *loop.Snapshot) (o Outcome, ok bool) {
			if s.Stopped {
				o.Explanations = []Explanation{*problem.New("stopping", "a stop is under way").With("reset again when the robot stands")}
			}
			return o, true
		}
		return e.command(&command{who: who, what: "reset", settled: settled}, loop.Order{Kind: loop.Reset})
	})
}

// Power switches the torque of the whole robot on, from where its joints are, or
// off, after a ramp. On includes limbs that were let go one by one.
func (e *Executive) Power(who string, on bool) *Answer {
	return e.ask(func() *Answer { return e.power(who, on) })
}

func (e *Executive) power(who string, on bool) *Answer {
	order, what := loop.PowerOff, "power off"
	if on {
		order, what = loop.PowerOn, "power on"
	} else {
		e.robot.halts++
	}
	c := &command{who: who, what: what}
	c.settled = func(s *loop.Snapshot) (o Outcome, ok bool) {
		switch torque := s.Power == loop.Enabled || s.Power == loop.Stopping; {
		case on && s.Power != loop.Enabled: // it came, and something else took it away
			x := e.words.Reason(control.Because(control.PowerOff), "")
			x.Help = "power is " + s.Power.String() + ": see the state for what took it away"
			o.Explanations = []Explanation{x}
		case !on && torque && e.robot.turned < c.tick: // if it was switched on since, that came after this
			return o, false
		case on && !s.Limp.Minus(e.cfg.Absent).Empty(): // a fault keeps it from some
			o.Explanations = e.words.Unpowered(s.Limp.Minus(e.cfg.Absent), s.Limp)
			o.Explanations[len(o.Explanations)-1].Help = "see the state for the fault; mend it, then reset and try again"
		}
		if !o.OK() {
			return o, true
		}
		return e.confirmed(s, on, control.JointLeaves(len(e.model.Joints())), max(c.tick, e.robot.turned))
	}
	return e.command(c, loop.Order{Kind: order})
}

// Pause lets motions stand still on their paths: all of them, or those of one
// controller.
func (e *Executive) Pause(who, controller string) *Answer {
	return e.rate(who, "pause", controller, loop.Order{Kind: loop.Pause}, loop.GoalPause)
}

// Resume continues what Pause paused: all motions, or those of one controller.
func (e *Executive) Resume(who, controller string) *Answer {
	return e.rate(who, "resume", controller, loop.Order{Kind: loop.Resume}, loop.GoalResume)
}

// SetSpeed sets how fast time goes for motions, 0 … 2; of one controller, or of all
// with an empty name. The answer comes when the motions have followed, with what
// was achieved: limits may keep it lower.
func (e *Executive) SetSpeed(who string, rate float64, controller string) *Answer {
	return e.rate(who, fmt.Sprintf("speed %.4g", rate), controller, loop.Order{Kind: loop.SetRate, Value: rate}, loop.GoalRate)
}

// speedSettles is how long the achieved speed may take to be told, s of the cycle.
const speedSettles = 1.0

func (e *Executive) rate(who, what, controller string, all loop.Order, one loop.OrderKind) *Answer {
	return e.ask(func() *Answer {
		order := all
		if order.Kind == loop.Pause {
			e.robot.halts++
		}
		var target *seat
		if controller != "" {
			s, ok := e.robot.seat(controller)
			if !ok {
				return e.refuse(who, what, e.robot.unknownController(controller))
			}
			target, order.Kind, order.Controller = s, one, s.id
			what += " of " + controller
		}
		began := int64(math.MinInt64)
		settled := func(s *loop.Snapshot) (o Outcome, ok bool) {
			wanted, have := s.Wanted, s.Rate
			if target != nil {
				a := e.robot.activity(target)
				wanted, have = a.Wanted, a.Rate
				if !a.Active {
					have = wanted
				}
			}
			if began == math.MinInt64 {
				began = s.Tick.Time
			}
			return Outcome{Value: have}, have == wanted || float64(s.Tick.Time-began)*1e-9 >= speedSettles
		}
		return e.command(&command{who: who, what: what, settled: settled}, order)
	})
}

// Place puts joints somewhere at once. It is refused by robots that cannot be placed,
// and for joints that a goal moves, naming its controller.
func (e *Executive) Place(who string, joints []string, positions []float64) *Answer {
	return e.ask(func() *Answer {
		p := &control.Placement{}
		var reasons []Explanation
		if len(joints) != len(positions) {
			x := *problem.New("wrong_size", "%d names and %d positions", len(joints), len(positions))
			x.Value, x.Limit = float64(len(positions)), float64(len(joints))
			return e.refuse(who, "place", x)
		}
		if len(joints) == 0 {
			return e.refuse(who, "place", *problem.New("no_joints", "no joints are named").With("name at least one joint, and its position"))
		}
		for i, name := range joints {
			id, ok := e.model.Joint(name)
			if !ok {
				reasons = append(reasons, e.robot.unknownJoint(name))
				continue
			}
			p.Joints, p.Q = append(p.Joints, id), append(p.Q, positions[i])
		}
		if len(reasons) > 0 {
			return e.refuse(who, "place", reasons...)
		}
		number := e.orders.nextNumber()
		told := func(r *loop.Report) (o Outcome, ok bool) { return o, r.Kind == loop.Placed && r.Goal == number }
		return e.command(&command{who: who, what: "place", number: number, told: told}, loop.Order{Kind: loop.Place, Program: p})
	})
}

// CheckGoal tells whether a goal could start now. It takes nothing: not a
// resource, not a tick of another client's motion. A goal that is planned first is
// planned, in the caller's goroutine and in its client's turns; the plan is not kept.
func (e *Executive) CheckGoal(who string, g Goal) *Answer {
	w, why := e.look().prepare(g)
	if len(why) == 0 && w.plan != nil {
		ctx, stop := w.plan.question.Bounded(context.Background())
		out := e.inTurn(ctx, who, w.plan)
		stop()
		if why = out.why; out.work != nil {
			w = out.work
		}
	}
	return e.ask(func() *Answer {
		c := &command{who: who, what: "check " + g.Action()}
		if len(why) > 0 {
			return e.refuse(c.who, c.what, why...)
		}
		if w.program == nil {
			return e.refuse(c.who, c.what)
		}
		seat, busy := e.goals.choose(w, &e.robot)
		if seat == nil {
			return e.refuse(c.who, c.what, busy)
		}
		c.number = e.orders.nextNumber()
		var reasons []Explanation
		c.told = func(r *loop.Report) (o Outcome, ok bool) {
			if r.Kind != loop.GoalChecked || r.Goal != c.number {
				return o, false
			}
			if r.Reason.Code != control.OK {
				reasons = append(reasons, e.refusal(r.Reason, seat.title(), w.program)...)
			}
			return Outcome{Explanations: reasons}, r.To == 0
		}
		return e.command(c, loop.Order{Kind: loop.CheckGoal, Controller: seat.id, Program: w.program})
	})
}
