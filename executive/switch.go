package executive

import (
	"fmt"
	"slices"
	"strings"

	"poise/action"
	"poise/arbiter"
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

	// Publisher is whom the started controllers hear, if they follow streams: the name of
	// a node, or AnyPublisher. Empty is the client that asks for the switch.
	Publisher string
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
	who     string // asked for it
	hears   string // publisher of their streams; "" is who
	adopted []*job // of who, which run already and from now on hear another publisher
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
		sw, reasons := newSwitching(e, who, &s)
		if len(reasons) > 0 {
			return e.refuse(who, what, reasons...)
		}
		sw.command = &command{who: who, what: what, number: e.orders.nextNumber(), told: sw.told, settled: sw.settled}
		a := e.command(sw.command)
		if _, over := a.Outcome(); !over {
			sw.check()
		}
		return a
	})
}

// newSwitching finds the controllers and their programs, and every conflict that is
// plain from the names.
func newSwitching(e *Executive, who string, s *Switch) (*switching, []Explanation) {
	sw := &switching{e: e, who: who, hears: s.Publisher}
	var reasons []Explanation
	find := func(name string) *seat {
		c, ok := e.robot.seat(name)
		if !ok {
			reasons = append(reasons, e.robot.unknownController(name))
			return nil
		}
		return c
	}
	for _, name := range s.Stop {
		c := find(name)
		switch {
		case c == nil:
		case slices.Contains(s.Start, name):
			reasons = append(reasons, conflict(name, "", fmt.Sprintf("controller %q is to be started and stopped", name)))
		case s.Strict && (e.robot.halted(c) || c.Operate != nil) && len(e.goals.of(c)) == 0:
			reasons = append(reasons, conflict(name, "", fmt.Sprintf("controller %q is stopped already", name)))
		default:
			sw.stop = append(sw.stop, c)
		}
	}
	for i, name := range s.Start {
		c := find(name)
		if c == nil {
			continue
		}
		if c.Remote {
			reasons = append(reasons, conflict(name, "", fmt.Sprintf("%q is for external controllers, which ask for it by resource_request", name)))
			continue
		}
		if slices.Contains(s.Start[:i], name) {
			reasons = append(reasons, conflict(name, "", fmt.Sprintf("controller %q is named twice", name)))
			continue
		}
		st, bad := sw.plan(c, s.Strict)
		reasons = append(reasons, bad...)
		if st != nil {
			sw.start = append(sw.start, st)
		}
	}
	return sw, append(reasons, sw.conflicts()...)
}

// plan prepares the start of one controller; nil if it does already what is wanted.
func (sw *switching) plan(c *seat, strict bool) (*starting, []Explanation) {
	e := sw.e
	// one that is being switched off is not active any more
	active := slices.ContainsFunc(e.goals.of(c), func(j *job) bool { return !j.off })
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
		if sw.hears == "" {
			return nil, nil
		}
		for _, j := range e.goals.of(c) {
			if !j.off && j.who != sw.who {
				return nil, []Explanation{conflict(c.Name, "", fmt.Sprintf("controller %q is operational for %s, who alone names another publisher", c.Name, j.who))}
			}
			sw.adopted = append(sw.adopted, j)
		}
		return nil, nil
	}
	set, unknown := e.words.Set(c.Resources)
	if len(unknown) > 0 {
		return nil, unknown
	}
	w, reasons := e.operate(c, set)
	if len(reasons) > 0 {
		return nil, reasons
	}
	return &starting{seat: c, work: w}, nil
}

// conflicts finds controllers of one switch that need the same leaf.
func (sw *switching) conflicts() (reasons []Explanation) {
	for i, a := range sw.start {
		for _, b := range sw.start[:i] {
			if a.work == nil || b.work == nil {
				continue
			}
			needA, _ := a.work.program.Claim()
			needB, _ := b.work.program.Claim()
			if both := needA.Intersect(needB); !both.Empty() {
				names := sw.e.words.Names(both)
				reasons = append(reasons, conflict(b.seat.Name, names[0],
					fmt.Sprintf("controllers %q and %q both need %s", b.seat.Name, a.seat.Name, strings.Join(names, ", "))))
			}
		}
	}
	return reasons
}

func conflict(owner, resource, text string) Explanation {
	return Explanation{Code: "switch_conflict", Text: text, Owner: owner, Resource: resource}
}

// check asks the cycle whether everything could start.
func (sw *switching) check() {
	freed := sw.freed()
	for _, s := range sw.start {
		if s.work == nil {
			continue
		}
		needs, wants := s.work.program.Claim()
		if needs.Union(wants).Overlaps(freed) || sw.e.robot.halted(s.seat) {
			continue // its resources come free by this very switch: the start itself is the check
		}
		sw.asked++
		sw.e.orders.send(loop.Order{Kind: loop.CheckGoal, Controller: s.seat.id, Goal: sw.command.number, Program: s.work.program})
	}
	if sw.asked == 0 {
		sw.carryOut()
	}
}

// freed is what the controllers that are stopped give back.
func (sw *switching) freed() (set robot.Set) {
	for _, c := range sw.stop {
		for _, j := range sw.e.goals.of(c) {
			set = set.Union(j.work.claim)
		}
	}
	return set
}

// told takes the answers of the cycle to the checks.
func (sw *switching) told(r *loop.Report) (o Outcome, ok bool) {
	if r.Kind != loop.GoalChecked || r.Goal != sw.command.number {
		return o, false
	}
	if r.To == 0 {
		sw.asked--
	}
	if r.Reason.Code != control.OK {
		sw.failed = append(sw.failed, sw.e.refusal(r.Reason, sw.e.robot.controllerName(r.Controller), sw.programOf(r.Controller))...)
	}
	switch {
	case sw.asked > 0 || r.To > 0:
		return o, false
	case len(sw.failed) > 0:
		return Outcome{Explanations: sw.failed}, true
	}
	sw.carryOut()
	return o, false
}

// programOf returns the program that a controller is to be started with.
func (sw *switching) programOf(id arbiter.ClientID) control.Program {
	for _, s := range sw.start {
		if s.seat.id == id && s.work != nil {
			return s.work.program
		}
	}
	return nil
}

// carryOut sends all orders at once: the cycle takes them in one tick.
func (sw *switching) carryOut() {
	e := sw.e
	for _, j := range sw.adopted {
		j.hears = sw.hears
	}
	for _, s := range sw.start {
		if e.robot.halted(s.seat) {
			sw.halted = append(sw.halted, s.seat)
		}
	}
	for _, c := range sw.stop {
		if e.robot.halted(c) {
			sw.halted = append(sw.halted, c)
		}
		sw.before = append(sw.before, e.goals.of(c)...)
		if c.Operate != nil {
			for _, j := range e.goals.of(c) {
				j.withdraw()
			}
			continue
		}
		c.halted = true
		e.orders.send(loop.Order{Kind: loop.Halt, Controller: c.id})
	}
	for _, s := range sw.start {
		s.seat.halted = false
		e.orders.send(loop.Order{Kind: loop.Run, Controller: s.seat.id})
		if s.work == nil {
			s.done = true
			continue
		}
		id, err := e.submit(sw.command.who, &job{goal: &ready{seat: s.seat, work: s.work}, work: s.work, hears: sw.hears, watch: Watch{Changed: func(c Change) { sw.changed(s, c) }}})
		if err != nil {
			sw.failed = append(sw.failed, problem.All("invalid", err)...)
		}
		s.id = id
	}
	e.orders.echo(sw.command)
}

// changed follows the goal of one controller that is started.
func (sw *switching) changed(s *starting, c Change) {
	sw.e.locked(func() {
		if s.done || c.To != action.Active && !c.To.Terminal() {
			return
		}
		s.done = true
		if c.To != action.Active {
			sw.failed = append(sw.failed, c.Result.Explanations...)
		}
	})
}

// settled ends the switch when all have answered; one that failed takes the others
// with it.
func (sw *switching) settled(*loop.Snapshot) (o Outcome, ok bool) {
	if slices.ContainsFunc(sw.start, func(s *starting) bool { return !s.done }) {
		return o, false
	}
	if len(sw.failed) > 0 {
		sw.rollBack()
	}
	return Outcome{Explanations: sw.failed}, true
}

// rollBack makes everything as it was.
func (sw *switching) rollBack() {
	e := sw.e
	for _, s := range sw.start {
		for _, j := range e.goals.of(s.seat) {
			if j.id == s.id {
				j.withdraw()
			}
		}
	}
	for _, c := range sw.stop {
		c.halted = false
		e.orders.send(loop.Order{Kind: loop.Run, Controller: c.id})
	}
	for _, c := range sw.halted {
		c.halted = true
		e.orders.send(loop.Order{Kind: loop.Halt, Controller: c.id})
	}
	for _, j := range sw.before {
		if j.seat != nil && j.seat.Operate != nil && j.work.then == nil { // of what ended by itself, and of steps for another goal, nothing comes back
			if _, err := e.submit(sw.command.who, &job{goal: &ready{seat: j.seat, work: j.work}, work: j.work, hears: j.publisher()}); err != nil {
				sw.failed = append(sw.failed, problem.All("invalid", err)...)
			}
		}
	}
}

// ready is a goal of a continuous controller whose program is made already.
type ready struct {
	seat    *seat
	work    *work
	client  string // name of the external controller that asks, "" for one of the server,
	request uint32 // and the id of its request
}

// Action returns the name of its action.
func (g *ready) Action() string { return g.seat.Name + "/set_operational" }

func (g *ready) prepare(*view) (*work, []Explanation) { return g.work, nil }
