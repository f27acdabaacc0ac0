package executive

import (
	"fmt"
	"slices"
	"strings"

	"poise/action"
	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/robot"
)

// Switch is a whole set of controllers to be started and stopped. A continuous
// controller that is started becomes operational on its own resources, one that
// performs goals takes goals; stopped ones end what they do.
type Switch struct {
	Start, Stop []string
	Strict      bool // what is already as wanted is an error
}

// switching is a Switch under way. It goes through two stages, each in one tick:
// all that is to start is checked, nothing is taken; only if every check passes,
// the orders go out together. Should one fail all the same, those that were
// started are stopped and those that were stopped are started again.
type switching struct {
	e       *Executive
	command *command
	start   []*starting
	stop    []*seat
	asked   int
	failed  []Explanation
	before  []*job  // what the stopped controllers did, to be begun again if need be
	halted  []*seat // controllers that took no goals before
}

// starting is one controller to be started.
type starting struct {
	seat *seat
	work *work // nil for one that takes goals
	done bool
	id   GoalID
}

// SwitchControllers starts and stops controllers: the whole set, or nothing. The
// answer names every conflict.
func (e *Executive) SwitchControllers(who string, s Switch) *Answer {
	return e.ask(func() *Answer {
		what := fmt.Sprintf("switch: start %s; stop %s", strings.Join(s.Start, " "), strings.Join(s.Stop, " "))
		if e.robot.snap == nil {
			return e.refuse(who, what, e.whySilent())
		}
		x, why := newSwitching(e, &s)
		if len(why) > 0 {
			return e.refuse(who, what, why...)
		}
		x.command = &command{who: who, what: what, number: e.orders.nextNumber(), told: x.told, settled: x.settled}
		a := e.command(x.command)
		if _, over := a.Outcome(); !over {
			x.check()
		}
		return a
	})
}

// newSwitching finds the controllers and their programs, and every conflict that is
// plain from the names.
func newSwitching(e *Executive, s *Switch) (*switching, []Explanation) {
	x := &switching{e: e}
	var why []Explanation
	find := func(name string) *seat {
		c, ok := e.robot.seat(name)
		if !ok {
			why = append(why, e.robot.unknownController(name))
			return nil
		}
		return c
	}
	for _, name := range s.Stop {
		c := find(name)
		switch {
		case c == nil:
		case slices.Contains(s.Start, name):
			why = append(why, conflict(name, "", fmt.Sprintf("controller %q is to be started and stopped", name)))
		case s.Strict && (e.robot.halted(c) || c.Operate != nil) && len(e.goals.of(c)) == 0:
			why = append(why, conflict(name, "", fmt.Sprintf("controller %q is stopped already", name)))
		default:
			x.stop = append(x.stop, c)
		}
	}
	for i, name := range s.Start {
		c := find(name)
		if c == nil {
			continue
		}
		if slices.Contains(s.Start[:i], name) {
			why = append(why, conflict(name, "", fmt.Sprintf("controller %q is named twice", name)))
			continue
		}
		st, bad := x.plan(c, s.Strict)
		why = append(why, bad...)
		if st != nil {
			x.start = append(x.start, st)
		}
	}
	return x, append(why, x.conflicts()...)
}

// plan prepares the start of one controller; nil if it does already what is wanted.
func (x *switching) plan(c *seat, strict bool) (*starting, []Explanation) {
	e := x.e
	active := len(e.goals.of(c)) > 0
	if c.Operate == nil {
		if strict && !e.robot.halted(c) {
			return nil, []Explanation{conflict(c.Name, "", fmt.Sprintf("controller %q runs already", c.Name))}
		}
		return &starting{seat: c}, nil
	}
	if active {
		if strict {
			return nil, []Explanation{conflict(c.Name, "", fmt.Sprintf("controller %q is operational already", c.Name))}
		}
		return nil, nil
	}
	set, unknown := e.words.Set(c.Resources)
	if len(unknown) > 0 {
		return nil, unknown
	}
	w, why := e.operate(c, set)
	if len(why) > 0 {
		return nil, why
	}
	return &starting{seat: c, work: w}, nil
}

// conflicts finds controllers of one switch that need the same leaf.
func (x *switching) conflicts() (why []Explanation) {
	for i, a := range x.start {
		for _, b := range x.start[:i] {
			if a.work == nil || b.work == nil {
				continue
			}
			needA, _ := a.work.program.Claim()
			needB, _ := b.work.program.Claim()
			if both := needA.Intersect(needB); !both.Empty() {
				names := x.e.words.Names(both)
				why = append(why, conflict(b.seat.Name, names[0],
					fmt.Sprintf("controllers %q and %q both need %s", b.seat.Name, a.seat.Name, strings.Join(names, ", "))))
			}
		}
	}
	return why
}

func conflict(owner, resource, text string) Explanation {
	return Explanation{Code: "switch_conflict", Text: text, Owner: owner, Resource: resource}
}

// check asks the cycle whether everything could start.
func (x *switching) check() {
	freed := x.freed()
	for _, s := range x.start {
		if s.work == nil {
			continue
		}
		needs, wants := s.work.program.Claim()
		if needs.Union(wants).Overlaps(freed) || x.e.robot.halted(s.seat) {
			continue // its resources come free by this very switch: the start itself is the check
		}
		x.asked++
		x.e.orders.send(loop.Order{Kind: loop.CheckGoal, Controller: s.seat.id, Goal: x.command.number, Program: s.work.program})
	}
	if x.asked == 0 {
		x.carryOut()
	}
}

// freed is what the controllers that are stopped give back.
func (x *switching) freed() (set robot.Set) {
	for _, c := range x.stop {
		for _, j := range x.e.goals.of(c) {
			set = set.Union(j.work.claim)
		}
	}
	return set
}

// told takes the answers of the cycle to the checks.
func (x *switching) told(r *loop.Report) (o Outcome, ok bool) {
	if r.Kind != loop.GoalChecked || r.Goal != x.command.number {
		return o, false
	}
	x.asked--
	if r.Reason.Code != control.OK {
		x.failed = append(x.failed, x.e.words.Reason(r.Reason, x.e.robot.controllerName(r.Controller)))
	}
	switch {
	case x.asked > 0:
		return o, false
	case len(x.failed) > 0:
		return Outcome{Explanations: x.failed}, true
	}
	x.carryOut()
	return o, false
}

// carryOut sends all orders at once: the cycle takes them in one tick.
func (x *switching) carryOut() {
	e := x.e
	for _, s := range x.start {
		if e.robot.halted(s.seat) {
			x.halted = append(x.halted, s.seat)
		}
	}
	for _, c := range x.stop {
		if e.robot.halted(c) {
			x.halted = append(x.halted, c)
		}
		x.before = append(x.before, e.goals.of(c)...)
		if c.Operate != nil {
			for _, j := range e.goals.of(c) {
				j.withdraw()
			}
			continue
		}
		c.halted = true
		e.orders.send(loop.Order{Kind: loop.Halt, Controller: c.id})
	}
	for _, s := range x.start {
		s.seat.halted = false
		e.orders.send(loop.Order{Kind: loop.Run, Controller: s.seat.id})
		if s.work == nil {
			s.done = true
			continue
		}
		id, err := e.submit(x.command.who, &job{goal: &ready{s.seat, s.work}, work: s.work, watch: Watch{Changed: func(c Change) { x.changed(s, c) }}})
		if err != nil {
			x.failed = append(x.failed, problem.All("invalid", err)...)
		}
		s.id = id
	}
	e.orders.echo(x.command)
}

// changed follows the goal of one controller that is started.
func (x *switching) changed(s *starting, c Change) {
	x.e.locked(func() {
		if s.done || c.To != action.Active && !c.To.Terminal() {
			return
		}
		s.done = true
		if c.To != action.Active {
			x.failed = append(x.failed, c.Result.Explanations...)
		}
	})
}

// settled ends the switch when all have answered; one that failed takes the others
// with it.
func (x *switching) settled(*loop.Snapshot) (o Outcome, ok bool) {
	if slices.ContainsFunc(x.start, func(s *starting) bool { return !s.done }) {
		return o, false
	}
	if len(x.failed) > 0 {
		x.rollBack()
	}
	return Outcome{Explanations: x.failed}, true
}

// rollBack makes everything as it was.
func (x *switching) rollBack() {
	e := x.e
	for _, s := range x.start {
		for _, j := range e.goals.of(s.seat) {
			if j.id == s.id {
				j.withdraw()
			}
		}
	}
	for _, c := range x.stop {
		c.halted = false
		e.orders.send(loop.Order{Kind: loop.Run, Controller: c.id})
	}
	for _, c := range x.halted {
		c.halted = true
		e.orders.send(loop.Order{Kind: loop.Halt, Controller: c.id})
	}
	for _, j := range x.before {
		if j.seat.Operate != nil {
			if _, err := e.submit(x.command.who, &job{goal: &ready{j.seat, j.work}, work: j.work}); err != nil {
				x.failed = append(x.failed, problem.All("invalid", err)...)
			}
		}
	}
}

// ready is a goal of a continuous controller whose program is made already.
type ready struct {
	seat *seat
	work *work
}

// Action names the server.
func (g *ready) Action() string { return g.seat.Name + "/set_operational" }

func (g *ready) prepare(*view) (*work, []Explanation) { return g.work, nil }
