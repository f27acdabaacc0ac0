package executive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"poise/action"
	"poise/control"
	"poise/loop"
	"poise/problem"
)

// Pump takes what the cycle has told and moves all goals on. now is the time of
// the caller's clock, ns; it serves patience alone. Nothing waits here.
func (e *Executive) Pump(now int64) {
	e.pumping.Lock()
	defer e.pumping.Unlock()
	e.mu.Lock()
	e.pump(now)
	snap := e.robot.snap
	fresh := snap != nil && e.shown != snap.Tick.N+1
	if fresh {
		e.shown = snap.Tick.N + 1
	}
	e.mu.Unlock()
	// the state is read by this goroutine alone until the next Pump
	wants := time.Duration(0)
	if fresh && e.cfg.Snapshot != nil {
		wants = e.cfg.Snapshot(snap)
	}
	e.wants.Store(int64(wants))
	e.out.deliver()
	e.pumps.Add(1)
}

// Pumps returns how many calls of Pump are over. It waits for nothing: a count that stands
// still tells of a pump that hangs.
func (e *Executive) Pumps() uint64 { return e.pumps.Load() }

// Run pumps until ctx is done, then closes: every few milliseconds while something goes on,
// more often for a moment while a client waits for what the cycle says to its order, at once when
// a client asks for something while nothing goes on, and otherwise when the sink of states wants
// the next one.
func (e *Executive) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	began := time.Now()
	for {
		now := time.Since(began)
		e.Pump(int64(now))
		wait, stirred, hurried := e.rest(int64(now)), e.stirred, e.hurried
		if wait <= pumpPeriod {
			stirred = nil // it looks soon enough, however much clients ask for
		}
		if e.quick < 1 {
			hurried = nil
		}
		e.resting.Store(stirred != nil)
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			e.Close()
			e.Pump(int64(time.Since(began)))
			return
		case <-timer.C:
		case <-stirred:
		case <-hurried:
		}
	}
}

const (
	// pumpPeriod is how often Run looks while something goes on: a goal waits no longer
	// than that for its answer, and feedback at 100 Hz is not late.
	pumpPeriod = 2 * time.Millisecond
	// quickPeriod is how often it looks while a client waits for the cycle's answer to a goal or
	// a command, at most quickPumps times in a row and quickRate times a second.
	quickPeriod           = 250 * time.Microsecond
	quickPumps, quickRate = 100, 400
	// idlePeriod is how often it looks at least: what the cycle tells by itself, such as a
	// fault, is noticed within it.
	idlePeriod = 20 * time.Millisecond
	// lull is how long nothing must have gone on before Run looks less often, ns.
	lull = int64(100 * time.Millisecond)
	// stateLater is how much later than due a state is looked for, so that it is there.
	stateLater = 200 * time.Microsecond
)

// rest returns how long Run may wait after a Pump at some time.
func (e *Executive) rest(now int64) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.quick = min(quickPumps, e.quick+quickRate*float64(now-e.quickAt)*1e-9)
	e.quickAt = now
	if e.busy() {
		e.lastBusy, e.stirs = now, false
	}
	if e.quick >= 1 && e.awaits() {
		e.quick--
		return quickPeriod
	}
	if now-e.lastBusy < lull {
		return pumpPeriod
	}
	wait := idlePeriod
	if wants := time.Duration(e.wants.Load()); e.cfg.Snapshot != nil {
		wait = min(wait, wants-e.behind(now)+stateLater)
	}
	return max(wait, pumpPeriod)
}

// behind returns how long the newest state was there when Run looked at some time: cycle and
// Run have clocks of the same speed, and the least that one was ever ahead of the other is
// when a state comes. That may drift by a thousandth.
func (e *Executive) behind(now int64) time.Duration {
	ahead := now - e.robot.snap.Tick.Time
	e.ahead = min(e.ahead+(now-e.aheadAt)/1000, ahead)
	e.aheadAt = now
	return time.Duration(ahead - e.ahead)
}

// busy reports whether something goes on that the cycle or a client waits for.
func (e *Executive) busy() bool {
	s := e.robot.snap
	return e.stirs || s == nil || s.Power == loop.Stopping || e.robot.silent ||
		len(e.goals.live)+len(e.orders.waiting)+len(e.orders.commands)+len(e.waiting)+len(e.plans) > 0
}

// awaits reports whether a client waits for what the cycle says to its order.
func (e *Executive) awaits() bool {
	return len(e.orders.commands) > 0 || slices.ContainsFunc(e.goals.live, func(j *job) bool { return j.number != 0 && !j.begun })
}

// stir notes that something was asked for or told: Run looks again soon.
func (e *Executive) stir() {
	e.stirs = true
	e.changes++
}

// catchUp takes what the cycle has told while Run rests, so that who asks for the state gets
// that of now. What follows from it is told to the outside by Run, at once.
func (e *Executive) catchUp() {
	if !e.resting.Load() || !e.pumping.TryLock() { // that state is new enough
		return
	}
	e.mu.Lock()
	before := e.changes
	e.pump(e.asked)
	told := e.changes != before
	e.mu.Unlock()
	e.pumping.Unlock()
	if told {
		e.wake()
	}
}

// wake ends a rest of Run.
func (e *Executive) wake() { signal(e.stirred) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is signalled already
	}
}

// Changes counts what clients asked for and the cycle told, and reports whether goals go on:
// if neither, what State returns of goals, owners, faults and controllers stays as it was.
func (e *Executive) Changes() (n uint64, goals bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changes, len(e.goals.live) > 0
}

// reportsPerPump bounds the work of one Pump; the ring of reports is not longer.
const reportsPerPump = 1 << 14

func (e *Executive) pump(now int64) {
	if passed := now - e.asked; passed > 0 {
		e.asked = now
		if e.cfg.Frozen == nil || !e.cfg.Frozen() {
			e.now += passed
		}
	}
	e.orders.flush()
	// the state first: all that happened up to it is then among the reports
	e.newest()
	for range reportsPerPump {
		r, ok := e.cfg.Loop.Receive()
		if !ok {
			break
		}
		e.stir()
		e.take(&r)
	}
	e.takePlans()
	e.robot.noteFed(e.now)
	e.reconcile()
	e.listen()
	e.settleCommands()
	e.feedback()
	e.goals.forget(e.now - int64(e.cfg.Keep))
}

// newest takes the newest state. The first one may be that of a loop that runs for
// long: numbers of orders begin above all that were given before, and goals that
// an earlier executive left behind are cancelled.
func (e *Executive) newest() {
	s, ok := e.cfg.Loop.Snapshot()
	if !ok {
		return
	}
	first, fresh := e.robot.snap == nil, s.Tick != e.robot.tick
	e.robot.snap, e.robot.tick = s, s.Tick // the one before belongs to the cycle again
	if first || fresh {
		e.robot.heard, e.robot.silent = e.now, false
	}
	if !first {
		return
	}
	e.orders.above(s.Tick.N << 20)
	for _, seat := range e.robot.seats {
		if a := e.robot.activity(seat); a != nil && a.Active && e.goals.ordered[a.Goal] == nil {
			e.orders.send(loop.Order{Kind: loop.CancelGoal, Controller: seat.id, Goal: a.Goal})
			e.notice(Notice{Tick: s.Tick, Kind: "refused", Explanation: *problem.New("orphan", "controller %q performed a goal that was not submitted here; it was cancelled", seat.Name)})
		}
	}
}

// take handles one report.
func (e *Executive) take(r *loop.Report) {
	switch r.Kind {
	case loop.GoalStarted, loop.GoalRejected, loop.GoalEnded, loop.EventsLeft:
		e.takeGoal(r)
	case loop.OwnerChanged:
		e.ownerChanged(r)
	case loop.Asked:
		e.outside.asked(r)
	case loop.FaultRaised, loop.FaultCleared:
		e.takeFault(r)
	case loop.OrderRefused:
		e.orderRefused(r)
	case loop.Felt:
		e.felt(r)
	case loop.Stopped:
		e.stopped(r)
	case loop.PowerChanged:
		if r.Power != loop.Stopping {
			e.robot.turned = r.Tick.N
		}
		e.notice(Notice{Tick: r.Tick, Kind: "power", Explanation: *problem.New("power_"+problem.Code(r.Power.String()), "power is %v", r.Power)})
	case loop.LimbSafe:
		explanation := *problem.New("limb_safe", "in its safe state: %s", strings.Join(e.words.Names(r.Set), ", "))
		e.notice(Notice{Tick: r.Tick, Kind: "limb_safe", Explanation: explanation})
	default:
		e.orders.take(r)
	}
}

// felt tells what the robot felt.
func (e *Executive) felt(r *loop.Report) {
	if e.cfg.Felt == nil {
		return
	}
	f := Felt{Event: r.Felt, Tick: r.Tick, Reaction: r.Reaction}
	e.out.add(func() { e.cfg.Felt(f) })
}

func (e *Executive) takeGoal(r *loop.Report) {
	j, ok := e.goals.ordered[r.Goal]
	if r.Last != nil {
		defer e.tellPanic(r)
	}
	if !ok {
		if r.Kind == loop.GoalStarted { // its life is over already: the cycle was silent for too long
			e.orders.send(loop.Order{Kind: loop.CancelGoal, Controller: r.Controller, Goal: r.Goal})
		}
		return
	}
	if r.Kind == loop.GoalStarted || r.Kind == loop.GoalRejected {
		e.rounds.end(e, j, r)
	}
	switch r.Kind {
	case loop.GoalStarted:
		j.started(r.Tick.N)
		e.outside.began(j)
		j.seat.fed, j.seat.fedFor = Explanation{}, 0 // of values before it
	case loop.GoalRejected:
		if j.refusedSteps(r) {
			return
		}
		cause := action.ConditionsUnmet
		switch r.Reason.Code {
		case control.NotGranted, control.Unanswered, control.LeaseExpired:
			cause = action.NotGranted
		case control.Cancelled, control.Declined:
			cause = action.ClientCancel
		case control.Replaced:
			cause = action.Replaced
		}
		j.fail(cause, append(j.unmet, e.refusal(r.Reason, j.seat.title(), j.work.program)...)...)
	case loop.GoalEnded:
		e.rounds.quit(e, r)
		j.ended(r)
	case loop.EventsLeft:
		j.eventsLeft(r)
	}
}

func (e *Executive) tellPanic(r *loop.Report) {
	last := r.Last
	if e.cfg.Notice == nil {
		last.Release()
		return
	}
	n := Notice{Tick: r.Tick, Kind: "panic", Explanation: e.words.Reason(r.Reason, e.robot.controllerName(r.Controller)), Last: last}
	e.out.add(func() {
		e.cfg.Notice(n)
		last.Release()
	})
}

func (e *Executive) ownerChanged(r *loop.Report) {
	if s := e.robot.seatOf(r.Controller); s != nil {
		for _, j := range e.goals.of(s) {
			j.due = 0
		}
		e.outside.owns(s, r.Set)
		if !s.Remote {
			e.rounds.lost(e, s, s.owns.Minus(r.Set), r)
		}
		s.owns = r.Set
	}
}

// takeFault tells of a fault that came or went.
func (e *Executive) takeFault(r *loop.Report) {
	explanation := e.robot.noteFault(r)
	if r.Kind == loop.FaultRaised {
		e.notice(Notice{Tick: r.Tick, Kind: "fault", Explanation: explanation, Severity: r.Severity})
		if r.Last != nil {
			e.tellPanic(r)
		}
		return
	}
	explanation.Text = r.Fault.String() + " is over"
	if explanation.Joint != "" {
		explanation.Text = fmt.Sprintf("%s of joint %s is over", r.Fault, explanation.Joint)
	}
	explanation.Help = ""
	e.notice(Notice{Tick: r.Tick, Kind: "fault_cleared", Explanation: explanation})
}

// reconcile ends goals that the cycle does not perform any more, though no report
// said so. There is no such case unless reports were lost; then this is the net.
func (e *Executive) reconcile() {
	if e.robot.snap == nil {
		return
	}
	for _, j := range slices.Clone(e.goals.live) {
		if !j.begun || e.robot.snap.Tick.N < j.tick {
			continue
		}
		if a := e.robot.activity(j.seat); a != nil && (!a.Active || a.Goal != j.number) {
			j.fail(action.Fault, *problem.New("report_lost", "the cycle does not perform the goal any more, and its report was lost"))
		}
	}
}

// listen ends everything when the cycle has been silent for too long, and single
// goals that it does not answer.
func (e *Executive) listen() {
	if !e.pumped {
		e.pumped, e.robot.heard = true, e.now
	}
	patience := int64(e.cfg.Patience)
	if e.now-e.robot.heard <= patience {
		return
	}
	if !e.robot.silent {
		e.robot.silent = true
		e.notice(Notice{Kind: "fault", Explanation: e.whySilent(), Severity: loop.SeverityTorqueOff})
	}
	for _, j := range slices.Clone(e.goals.live) {
		j.callOff()
		j.fail(action.ServerGone, e.whySilent())
	}
}

func (e *Executive) whySilent() Explanation {
	silence, patience := float64(e.now-e.robot.heard)*1e-9, e.cfg.Patience.Seconds()
	explanation := *problem.New("cycle_silent", "the cycle of the robot has not reported for %.3g s, %.3g s is allowed: it hangs, or the computer is too busy", silence, patience)
	explanation.Value, explanation.Limit = silence, patience
	return *explanation.With("try again once it is heard of; if that does not come, start the server anew, with a longer --period if the computer is slow")
}
