package loop

import (
	"poise/arbiter"
	"poise/control"
)

// Send hands an order to the cycle; false means that there is no room, and
// nothing was taken. Concurrent.
func (l *Loop) Send(o Order) bool { return l.orders.Send(o) }

// Receive takes the oldest report. Concurrent.
func (l *Loop) Receive() (Report, bool) { return l.reports.Receive() }

// Snapshot returns the newest state; for one reader.
func (l *Loop) Snapshot() (*Snapshot, bool) { return l.snapshots.Load() }

// Controller returns the number of a controller by name. Setup.
func (l *Loop) Controller(name string) (arbiter.ClientID, bool) { return l.arb.Lookup(name) }

// Late tells the next tick that it comes some periods too late. The runner calls
// it from its own thread; a replay repeats it. Loop-safe.
func (l *Loop) Late(periods uint32) { l.faults.late += periods }

// report sends a report. No order is taken while there is little room, so the
// ring is never full; if it were, the loss would be counted and seen.
func (l *Loop) report(r Report) {
	r.Tick = l.tick
	if !l.reports.TrySend(r) {
		l.lost++
	}
}

// crowded reports that the reports are not read: what is left of their room is for
// what runs to end.
func (l *Loop) crowded() bool { return l.reports.Cap()-l.reports.Len() < reserve }

// drainOrders takes a few orders each tick; the rest waits for the next. While
// the reports are not read, orders wait too.
func (l *Loop) drainOrders() {
	l.taken.Orders = l.taken.Orders[:0]
	defer l.feed()
	for range ordersPerTick {
		if l.crowded() {
			return
		}
		o, ok := l.orders.TryReceive()
		if !ok {
			return
		}
		l.taken.Orders = append(l.taken.Orders, o)
		l.obey(o)
	}
}

func (l *Loop) obey(o Order) {
	switch o.Kind {
	case SetRate:
		if l.goodRate(o) {
			l.rates.all = o.Value
		}
	case Pause:
		l.rates.paused = true
	case Resume:
		l.rates.paused = false
		l.faults.resumed(l)
	case PowerOn:
		l.powered.on(l, o, l.all)
	case PowerOff:
		l.stops.powerOff(l)
	case TorqueOn, TorqueOff:
		l.powered.switchTorque(l, o)
	case Place:
		l.place(o)
	case SetBase:
		l.base.set(l, o)
	case SetModels:
		l.setServoModels(o)
	case SetCycle:
		l.cycles.switchTo(l, o)
	case Echo:
		l.report(Report{Kind: Echoed, Controller: arbiter.NoClient, Goal: o.Goal})
	case Reset:
		l.faults.reset(l, o)
		l.stops.reset(l)
		l.powered.reset(l)
		l.unpause()
	default:
		l.obeySlot(o)
	}
}

// obeySlot carries out an order to one controller.
func (l *Loop) obeySlot(o Order) {
	if int(o.Controller) >= len(l.seats) || o.Kind >= numOrders {
		l.refuse(o, control.Because(control.Unknown))
		return
	}
	s := l.seats[o.Controller]
	switch o.Kind {
	case StartGoal:
		s.startGoal(o)
	case CheckGoal:
		s.checkGoal(o)
	case CancelGoal:
		s.cancelGoal(o)
	case Answer:
		s.answer(o)
	case Run:
		s.running = true
	case Halt:
		s.halt()
	case GoalRate:
		if l.goodRate(o) {
			s.rate = o.Value
		}
	case GoalPause:
		s.paused = true
	case GoalResume:
		s.paused = false
	case Feed:
		if o.Program == nil {
			l.refuse(o, control.Because(control.BadProgram))
			return
		}
		s.fed[laneOf(o.Program)] = fed{o.Program, o.Goal} // the newest of a tick counts
	}
}

// feed gives controllers the newest values of their streams.
func (l *Loop) feed() {
	for _, s := range l.seats {
		for i := range s.fed {
			f := s.fed[i]
			if f.value == nil {
				continue
			}
			s.fed[i] = fed{}
			if why := s.feed(f.value); why.Code != control.OK {
				l.refuse(Order{Kind: Feed, Controller: s.id, Goal: f.goal}, why)
			} else {
				s.tookFed = max(s.tookFed, f.goal)
			}
		}
	}
}

// fed is a value of a stream, with the number of its order.
type fed struct {
	value control.Program
	goal  uint64
}

// laneOf returns which of a controller's streams a value is of.
func laneOf(p control.Program) int {
	if l, ok := p.(control.Laned); ok {
		return min(max(l.Lane(), 0), control.Lanes-1)
	}
	return 0
}

// refuse tells the sender why an order was not carried out.
func (l *Loop) refuse(o Order, why control.Reason) { l.report(refusal(o, why)) }

func refusal(o Order, why control.Reason) Report {
	switch o.Kind {
	case SetRate, Pause, Resume, PowerOn, PowerOff, Reset, Place, SetBase, Echo, TorqueOn, TorqueOff, SetModels, SetCycle: // of the whole robot
		o.Controller = arbiter.NoClient
	}
	return Report{Kind: OrderRefused, Order: o.Kind, Controller: o.Controller, Goal: o.Goal, Value: o.Value, Reason: why}
}

// maxRate is the largest speed override, 200 %.
const maxRate = 2

func (l *Loop) goodRate(o Order) bool {
	if o.Value >= 0 && o.Value <= maxRate {
		return true
	}
	why := control.Because(control.BadValue)
	why.Value, why.Max = o.Value, maxRate
	l.refuse(o, why)
	return false
}

// rates are how fast time goes for motions.
type rates struct {
	all    float64
	paused bool
}

// unpause ends every pause, of all motions and of single controllers.
func (l *Loop) unpause() {
	l.rates.paused = false
	for _, s := range l.seats {
		s.paused = false
	}
}

// wantedRate is how fast time is to go for all motions.
func (l *Loop) wantedRate() float64 {
	if l.stops.ramping() || l.rates.paused {
		return 0
	}
	return l.rates.all
}

// busy reports whether a controller performs something.
func (l *Loop) busy() bool {
	for _, s := range l.seats {
		if s.program != nil {
			return true
		}
	}
	return false
}

// achievedRate is how fast time went for the slowest motion.
func (l *Loop) achievedRate() float64 {
	rate, any := 0.0, false
	for _, s := range l.seats {
		if s.program != nil && (!any || s.ref.Rate < rate) {
			rate, any = s.ref.Rate, true
		}
	}
	if !any {
		return l.wantedRate()
	}
	return rate
}
