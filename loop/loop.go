package loop

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"poise/arbiter"
	"poise/control"
	"poise/internal/rt"
	"poise/robot"
	"poise/servo"
	"poise/trajectory/move"
)

// Config makes a Loop. Zero values mean the defaults.
type Config struct {
	Model  *robot.Model
	Bus    servo.Bus
	Lead   servo.Lead
	Bridge control.BridgeConfig
	Policy arbiter.Policy
	Faults FaultRules

	// Transition is the acceleration for hand-overs and stops of joints that have
	// no acceleration limit, rad/s² or m/s²; 0 takes the robot's own. It is used
	// for nothing else: a limit is never invented.
	Transition float64
	// JerkTime is how long such a hand-over takes to build up its acceleration
	// where no jerk limit is given, s; default 0.1.
	JerkTime float64

	StopDeadline float64 // s, category 1 and the ramp of category 2; default 2
	Orders       int     // room for orders, default 256
	Reports      int     // room for reports, default 4096
	Controllers  []Registration
}

// Registration is one controller of a loop: loaded, and running from the start
// unless it is halted.
type Registration struct {
	Name        string
	Controller  control.Controller
	Pending     float32 // priority while it asks
	Operational float32 // priority once it runs
}

// Loop is the cycle of one robot.
type Loop struct {
	cfg   Config
	dof   int
	arb   *arbiter.Direct
	seats []*seat

	orders    *rt.Ring[Order]
	reports   *rt.Ring[Report]
	snapshots *rt.Latest[Snapshot]
	stopWord  atomic.Uint32 // 0: none, else category + 1

	// owned by Step
	tick     servo.Tick
	now      float64 // s
	input    control.Input
	command  control.Motion
	measured control.Measured
	reading  []servo.Reading
	setpoint []servo.Setpoint

	state  []move.State       // of the command
	wish   []move.State       // reference of this tick
	source []arbiter.ClientID // who wrote each joint last; Nobody is the holder
	fresh  []bool             // source has to be bridged: it changed, jumped, or was cut
	cut    []control.Cut
	batch  []int // joints of one hand-over
	back   []move.State

	limiter *control.Limiter
	guard   *control.Guard
	bridge  *control.Bridge
	holder  *holder
	powered power
	stops   stopping
	faults  monitor
	rate    float64 // wanted by orders
	lost    uint64  // reports for which there was no room
}

// Defaults of Config.
const (
	defaultJerkTime = 0.1 // s
	defaultDeadline = 2.0 // s
	defaultOrders   = 256
	defaultReports  = 4096
	ordersPerTick   = 16
)

// New makes a loop, with its power off. A robot whose joints are not all of one
// coordinate, or that has no resources, cannot be controlled.
func New(cfg Config) (*Loop, error) {
	if _, err := cfg.Model.Resources(); err != nil {
		return nil, err
	}
	for _, j := range cfg.Model.Joints() {
		if j.Kind.NumQ() != 1 {
			return nil, fmt.Errorf("loop: joint %q has %d coordinates, and only joints of one are controlled", j.Name, j.Kind.NumQ())
		}
	}
	setDefaults(&cfg)
	limits, bounds, err := jointLimits(cfg)
	if err != nil {
		return nil, err
	}
	n := len(cfg.Model.Joints())
	l := &Loop{cfg: cfg, dof: n, rate: 1,
		arb:     arbiter.NewDirect(arbiter.Config{Policy: cfg.Policy}),
		orders:  rt.NewRing[Order](cfg.Orders),
		reports: rt.NewRing[Report](cfg.Reports),
		reading: make([]servo.Reading, n), setpoint: make([]servo.Setpoint, n),
		state: make([]move.State, n), wish: make([]move.State, n), source: make([]arbiter.ClientID, n),
		fresh: make([]bool, n), cut: make([]control.Cut, n), batch: make([]int, 0, n), back: make([]move.State, n),
		limiter: control.NewLimiter(bounds), guard: control.NewGuard(guardBounds(cfg.Model)),
	}
	if l.bridge, err = control.NewBridge(cfg.Bridge, limits, wraps(cfg.Model)); err != nil {
		return nil, err
	}
	if l.holder, err = newHolder(limits); err != nil {
		return nil, err
	}
	l.makeStates()
	l.faults.init(cfg.Model, cfg.Faults)
	for _, r := range cfg.Controllers {
		if err := l.register(r); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func setDefaults(c *Config) {
	if c.Transition == 0 {
		c.Transition = c.Model.TransitionAcceleration().Value
	}
	if c.JerkTime == 0 {
		c.JerkTime = defaultJerkTime
	}
	if c.StopDeadline == 0 {
		c.StopDeadline = defaultDeadline
	}
	if c.Orders == 0 {
		c.Orders = defaultOrders
	}
	if c.Reports == 0 {
		c.Reports = defaultReports
	}
}

// jointLimits returns what transitions may use and what the gate enforces. Only
// transitions use assumed values.
func jointLimits(c Config) ([]move.Limits, []control.Bounds, error) {
	inf := math.Inf(1)
	value := func(l robot.Limit, absent float64) float64 {
		if l.Has {
			return math.Abs(l.Value)
		}
		return absent
	}
	var moves []move.Limits
	var gates []control.Bounds
	var errs []error
	for _, j := range c.Model.Joints() {
		l := j.Limits
		b := control.Bounds{Lower: -inf, Upper: inf, Velocity: value(l.Velocity, inf), Acceleration: value(l.Acceleration, inf)}
		b.Deceleration = value(l.Deceleration, b.Acceleration)
		if j.Kind != robot.Continuous && l.Lower.Has && l.Upper.Has {
			b.Lower, b.Upper = l.Lower.Value, l.Upper.Value
		}
		acc := min(b.Acceleration, b.Deceleration)
		if math.IsInf(acc, 1) {
			acc = c.Transition
		}
		if !(acc > 0) {
			errs = append(errs, fmt.Errorf("loop: joint %q has no acceleration limit, and no transition_acceleration is given to hand it over with", j.Name))
			acc = 1
		}
		moves = append(moves, move.Symmetric(b.Velocity, acc, value(l.Jerk, acc/c.JerkTime)))
		gates = append(gates, b)
	}
	return moves, gates, errors.Join(errs...)
}

// Bounds of setpoints beyond those of the command: what a wrong servo model could
// ask for, and a right one never does.
const (
	guardMargin   = 0.2 // beyond the position limits, rad
	guardRate     = 3.0 // times the velocity limit
	guardDistance = 1.0 // from the measured position, rad
	guardFastest  = 50  // rad/s where no velocity limit is given
)

func guardBounds(m *robot.Model) (all []control.GuardBounds) {
	for _, j := range m.Joints() {
		b := control.GuardBounds{Lower: math.Inf(-1), Upper: math.Inf(1), Rate: guardFastest, Distance: guardDistance}
		if l := j.Limits; j.Kind != robot.Continuous && l.Lower.Has && l.Upper.Has {
			b.Lower, b.Upper = l.Lower.Value-guardMargin, l.Upper.Value+guardMargin
		}
		if j.Limits.Velocity.Has {
			b.Rate = guardRate * j.Limits.Velocity.Value
		}
		all = append(all, b)
	}
	return all
}

func wraps(m *robot.Model) (all []bool) {
	for _, j := range m.Joints() {
		all = append(all, j.Kind == robot.Continuous)
	}
	return all
}

func (l *Loop) makeStates() {
	n, chains := l.dof, len(l.cfg.Model.Chains())
	motion := func() control.Motion {
		return control.Motion{Q: make([]float64, n), V: make([]float64, n), A: make([]float64, n), Tau: make([]float64, n), Support: make([]control.Support, chains)}
	}
	measured := func() control.Measured {
		return control.Measured{Q: make([]float64, n), V: make([]float64, n), Effort: make([]float64, n), Age: make([]uint32, n), Fault: make([]servo.Fault, n)}
	}
	l.command, l.measured = motion(), measured()
	l.input = control.Input{Cmd: &l.command, Meas: &l.measured}
	l.snapshots = rt.NewLatest(func(s *Snapshot) {
		s.Command, s.Measured, s.Cut = motion(), measured(), make([]control.Cut, n)
	})
	for j := range l.source {
		l.source[j] = arbiter.Nobody
		l.reading[j].Age = servo.Never
		l.holder.begin(j, move.State{}, 0)
	}
}

// Send hands an order to the cycle; false means that there is no room, and
// nothing was taken. Concurrent.
func (l *Loop) Send(o Order) bool { return l.orders.Send(o) }

// Stop asks for a stop of category 0, 1 or 2 (IEC 60204-1). It is a word that the
// cycle reads each tick: it needs no room and cannot be refused. The more severe
// of two wins. Concurrent.
func (l *Loop) Stop(category uint8) {
	word := uint32(min(category, 2)) + 1
	for {
		old := l.stopWord.Load()
		if old != 0 && old <= word {
			return
		}
		if l.stopWord.CompareAndSwap(old, word) {
			return
		}
	}
}

// Receive takes the oldest report. Concurrent.
func (l *Loop) Receive() (Report, bool) { return l.reports.Receive() }

// Snapshot returns the newest state; for one reader.
func (l *Loop) Snapshot() (*Snapshot, bool) { return l.snapshots.Load() }

// Controller returns the number of a controller by name. Setup.
func (l *Loop) Controller(name string) (arbiter.ClientID, bool) { return l.arb.Lookup(name) }

// report sends a report. The ring is large; if a reader sleeps for so long that it
// is full, the loss is counted and seen in the snapshot.
func (l *Loop) report(r Report) {
	r.Tick = l.tick
	if !l.reports.TrySend(r) {
		l.lost++
	}
}

// Step runs one tick. Loop-safe.
func (l *Loop) Step(t servo.Tick) {
	l.tick, l.now = t, float64(t.Time)*1e-9
	l.input.Tick = t
	l.read()
	l.powered.update(l)
	l.readStop()
	l.drainOrders()
	l.stops.update(l)
	l.faults.update(l)
	l.control()
	l.aggregate()
	l.limit()
	l.invert()
	l.write()
	l.publish()
}

// read takes what the bus said at the end of the last tick.
func (l *Loop) read() {
	volts := 0.0
	for j := range l.reading {
		r := &l.reading[j]
		l.measured.Q[j], l.measured.V[j], l.measured.Effort[j] = r.Position, r.Velocity, r.Effort
		l.measured.Age[j], l.measured.Fault[j] = r.Age, r.Fault
		volts = max(volts, r.Voltage)
	}
	l.measured.Volt = volts
}

// drainOrders takes a few orders each tick; the rest waits for the next.
func (l *Loop) drainOrders() {
	for range ordersPerTick {
		o, ok := l.orders.TryReceive()
		if !ok {
			return
		}
		l.obey(o)
	}
}

func (l *Loop) obey(o Order) {
	switch o.Kind {
	case SetRate:
		l.rate = min(max(o.Value, 0), 2)
		return
	case PowerOn:
		l.powered.on(l)
		return
	case PowerOff:
		l.stops.begin(l, 1)
		return
	case Reset:
		l.stops.reset(l)
		l.faults.reset(l)
		return
	}
	if int(o.Controller) >= len(l.seats) {
		l.report(Report{Kind: OrderRefused, Controller: o.Controller, Goal: o.Goal, Reason: control.Because(control.Unknown)})
		return
	}
	s := l.seats[o.Controller]
	switch o.Kind {
	case StartGoal:
		s.startGoal(o)
	case CancelGoal:
		s.cancelGoal(o)
	case Run:
		s.running = true
	case Halt:
		s.halt()
	}
}

// control lets every active controller make its reference.
func (l *Loop) control() {
	for _, s := range l.seats {
		if s.program != nil {
			s.update()
		}
	}
}

// aggregate gives each joint its one writer and its wish, and begins hand-overs
// where the writer changed or jumped.
func (l *Loop) aggregate() {
	dt := l.tick.Dt
	before := l.now - dt
	for j := range l.source {
		owner := l.arb.Owner(robot.LeafID(j))
		s := l.writer(owner, j)
		if s == nil {
			owner = arbiter.Nobody
		}
		if owner == arbiter.Nobody {
			if l.source[j] != arbiter.Nobody || l.fresh[j] {
				l.bridge.Drop(j)
				l.holder.begin(j, l.state[j], before)
			}
			l.source[j], l.fresh[j] = owner, false
			l.wish[j] = l.holder.at(j, l.now)
			continue
		}
		l.holder.end(j)
		r := s.ref
		l.wish[j] = move.State{P: r.Q[j], V: r.V[j], A: r.A[j]}
		l.fresh[j] = l.fresh[j] || l.source[j] != owner || r.Cut
		l.source[j] = owner
	}
	for id, s := range l.seats {
		l.handOver(arbiter.ClientID(id), s, before)
	}
}

// writer returns the seat that writes a joint this tick, nil if nobody does.
func (l *Loop) writer(owner arbiter.ClientID, j int) *seat {
	if owner == arbiter.Nobody || int(owner) >= len(l.seats) {
		return nil
	}
	s := l.seats[owner]
	if s.program == nil || !s.ref.Has.Has(robot.LeafID(j)) {
		return nil
	}
	if r := s.ref; !finite(r.Q[j]) || !finite(r.V[j]) || !finite(r.A[j]) {
		s.fail(control.Reason{Code: control.Panicked, Joint: robot.JointID(j), Who: owner})
		return nil
	}
	return s
}

func finite(x float64) bool { return x-x == 0 }

// handOver bridges the joints of one owner that are new to it, all together. The
// bridge begins at the last tick, where the command is known; the reference is
// taken back to there along its own motion.
func (l *Loop) handOver(id arbiter.ClientID, s *seat, before float64) {
	l.batch = l.batch[:0]
	dt := l.tick.Dt
	for j := range l.source {
		if l.source[j] != id || !l.fresh[j] {
			continue
		}
		l.fresh[j] = false
		w := l.wish[j]
		l.back[j] = move.State{P: w.P - dt*w.V + dt*dt/2*w.A, V: w.V - dt*w.A, A: w.A}
		l.batch = append(l.batch, j)
	}
	if len(l.batch) > 0 {
		l.bridge.Begin(before, l.batch, l.state, l.back, s.ref.Peak)
	}
}

// limit makes the command: reference plus offset, through the gate.
func (l *Loop) limit() {
	for j := range l.wish {
		w := l.wish[j]
		if o := l.bridge.Offset(j, l.now); o != (move.State{}) {
			w = move.State{P: w.P + o.P, V: w.V + o.V, A: w.A + o.A}
		}
		q, v, a, cut := l.limiter.Apply(j, w.P, l.tick.Dt)
		if cut != 0 {
			// the command is not what the bridge thinks: begin again from here
			w = move.State{P: q, V: v, A: a}
			l.fresh[j] = true
		}
		l.cut[j] = cut
		l.state[j] = w
		l.command.Q[j], l.command.V[j], l.command.A[j] = w.P, w.V, w.A
	}
}

// invert turns commands into setpoints, and guards them.
func (l *Loop) invert() {
	for j := range l.setpoint {
		s := l.cfg.Lead.Invert(l.command.Q[j], l.command.V[j], l.tick.Dt)
		s.Mode = l.powered.mode(l, j)
		l.guard.Apply(j, &s, &l.reading[j], l.tick.Dt)
		l.setpoint[j] = s
	}
}

func (l *Loop) write() {
	l.faults.bus = l.cfg.Bus.Exchange(l.tick, l.reading, l.setpoint)
}

func (l *Loop) publish() {
	s := l.snapshots.Slot()
	s.Tick, s.Power, s.Rate, s.Faults = l.tick, l.powered.state, l.input.Rate, l.faults.active
	copyMotion(&s.Command, &l.command)
	copyMeasured(&s.Measured, &l.measured)
	copy(s.Cut, l.cut)
	for i := range s.Owner {
		s.Owner[i] = l.arb.Owner(robot.LeafID(i))
	}
	l.snapshots.Publish()
}

func copyMotion(dst, src *control.Motion) {
	copy(dst.Q, src.Q)
	copy(dst.V, src.V)
	copy(dst.A, src.A)
	copy(dst.Tau, src.Tau)
	copy(dst.Support, src.Support)
	dst.Base = src.Base
}

func copyMeasured(dst, src *control.Measured) {
	copy(dst.Q, src.Q)
	copy(dst.V, src.V)
	copy(dst.Effort, src.Effort)
	copy(dst.Age, src.Age)
	copy(dst.Fault, src.Fault)
	dst.Base, dst.Volt = src.Base, src.Volt
}
