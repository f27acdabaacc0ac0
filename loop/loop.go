package loop

import (
	"fmt"
	"sync/atomic"

	"poise/arbiter"
	"poise/control"
	"poise/external"
	"poise/floatingbase"
	"poise/internal/rt"
	"poise/robot"
	"poise/servo"
	"poise/wholebody/stage"
)

// Settings are what decides how a loop behaves, apart from the robot and its
// controllers: plain data, which recordings carry along. Zero values mean the
// defaults.
type Settings struct {
	Inversion    servo.InversionConfig
	ByModel      bool           `json:",omitempty"` // servos whose models Inversion has are driven by them from the start
	Sensors      servo.Sensors  // that the bus has besides the joints
	Absent       robot.Set      // joints whose servos are missing: the others may have torque without them
	TorqueWithin []servo.Within `json:",omitempty"` // where joints of hardware can have torque; those not named anywhere
	Bridge       control.BridgeConfig
	Policy       arbiter.Policy
	RoundTimeout int64 // ns, of a round of requests; default arbiter.DefaultRoundTimeout
	Lease        int64 // ns, how long an external controller may give no sign of life; default arbiter.DefaultLease

	RemoteTimeout   int64 // ns, of a round in which an external controller takes part; default arbiter.DefaultRemoteTimeout
	SilenceConsents bool  // at the timeout one that did not answer its offer becomes operational; otherwise it gets nothing

	Faults     FaultRules
	Transition control.Transition
	Cycle1     robot.Set    // joints that are driven by cycle 1 from the start
	Cycle2     bool         `json:",omitempty"` // all are driven by cycle 2 from the start
	WholeBody  stage.Config `json:",omitzero"`  // how cycle 2 does it
	External   ExternalSettings

	StopDeadline   float64 // s, for the ramps of categories 1 and 2; default 2
	CrouchDeadline float64 // s, for a limb to reach its safe pose; default 5

	GapPauses bool    // a gap of the cycle pauses motions that are under way, and stops nothing
	Leave     Leaving // what the robot does at the end of its program
}

// Config makes a Loop. Zero values mean the defaults.
type Config struct {
	Model *robot.Model
	Bus   servo.Bus
	Settings

	Inverter servo.Inverter // of commands; nil is what Settings.Inversion chooses

	Orders      int // room for orders, default 256
	Reports     int // room for reports, default 4096
	Controllers []Registration

	Tap   Tap   // sees every tick; nil is none
	Probe Probe // times the stages; nil is none
}

// Registration is one controller of a loop: loaded, and running from the start
// unless it is halted.
type Registration struct {
	Name        string
	Kind        string // by which a replay makes it again
	Controller  control.Controller
	Pending     float32 // priority while it asks
	Operational float32 // priority once it runs
	Remote      bool    // a stand-in for external controllers, which answer for themselves
	Supports    bool    // it knows which feet stand: while it is active those that it does not mention stay as they are
}

// Loop is the cycle of one robot.
type Loop struct {
	cfg   Config
	dof   int
	all   robot.Set // every joint
	arb   *arbiter.Direct
	seats []*seat

	orders    *rt.Ring[Order]
	reports   *rt.Ring[Report]
	snapshots *rt.Latest[Snapshot]
	stopLine  stopLine
	heard     heard

	// owned by Step, in the order in which a tick fills them
	tick     servo.Tick
	now      float64            // s, without the gaps of missed ticks
	ticking  bool               // a tick was run
	behind   int64              // ns that the cycle has missed so far
	raw      *servo.Measurement // as exchanged at the end of the last tick
	reading  *servo.Measurement // the newest of it that was finite
	measured control.Measured   // by estimate
	feeling  feeling
	base     bases
	powered  power
	stops    stopping
	leaving  leaving
	faults   monitor
	falls    falls
	rates    rates
	input    control.Input      // that controllers see
	resolver *control.Resolver  // limbs become joints
	merge    *control.Aggregate // references of all owners
	mode     []servo.Mode       // [joints] by energise: torque or not; by invert: how
	shaper   *control.Shaper
	command  *control.Motion // the shaper's
	volts    float64         // supply as measured in this tick, 0 if it was not
	models   *servo.ByModel  // the inverter, if it goes by models
	byModel  robot.Set       // joints that are driven by their servos' models
	cycles   cycles          // which of them have the torques that the motion needs
	asked    servo.Command   // of one joint: what the inverter is given
	setpoint []servo.Setpoint
	guards   *control.Guard

	placed []int // scratch of an order Place
	taken  TickRecord
	box    blackBox
	lost   uint64 // reports for which there was no room
}

// Defaults of Config.
const (
	defaultStopDeadline   = 2.0 // s
	defaultCrouchDeadline = 5.0 // s
	defaultOrders         = 256
	defaultReports        = 4096
	ordersPerTick         = 16
)

// reserve is the room among the reports below which no more orders are taken:
// what runs has enough of it to end, so no report is ever lost.
const reserve = 1024

// New makes a loop, with its power off. A robot whose joints are not all of one
// coordinate, or that has no resources, cannot be controlled.
func New(cfg Config) (*Loop, error) {
	setDefaults(&cfg)
	merge, err := control.NewAggregate(cfg.Model)
	if err != nil {
		return nil, err
	}
	shaper, err := control.NewShaper(cfg.Model, cfg.Transition, cfg.Bridge, merge)
	if err != nil {
		return nil, err
	}
	if cfg.Inverter == nil {
		if cfg.Inverter, err = servo.NewInverter(cfg.Inversion); err != nil {
			return nil, err
		}
	}
	resolver, err := control.NewResolver(cfg.Model)
	if err != nil {
		return nil, err
	}
	n := len(cfg.Model.Joints())
	base, err := newBases(cfg.Model, merge, cfg.Sensors.Touch)
	if err != nil {
		return nil, err
	}
	l := &Loop{cfg: cfg, dof: n, all: control.JointLeaves(n), base: base, rates: rates{all: 1},
		arb:     arbiter.NewDirect(arbiter.Config{Policy: cfg.Policy, RoundTimeout: cfg.RoundTimeout, Lease: cfg.Lease, RemoteTimeout: cfg.RemoteTimeout, SilenceConsents: cfg.SilenceConsents}),
		orders:  rt.NewRing[Order](cfg.Orders),
		reports: rt.NewRing[Report](cfg.Reports),
		raw:     servo.NewMeasurement(n, cfg.Sensors), reading: servo.NewMeasurement(n, cfg.Sensors), setpoint: make([]servo.Setpoint, n),
		mode: make([]servo.Mode, n), placed: make([]int, 0, n),
		heard:    heard{ticks: make([]atomic.Uint64, n)},
		resolver: resolver, merge: merge, shaper: shaper, command: &shaper.Motion, guards: control.NewGuard(control.JointGuards(cfg.Model)),
	}
	l.makeStates()
	if err := l.useModels(); err != nil {
		return nil, err
	}
	if err := l.cycles.init(l); err != nil {
		return nil, fmt.Errorf("loop: %w", err)
	}
	if err := l.feeling.init(l); err != nil {
		return nil, fmt.Errorf("loop: %w", err)
	}
	l.faults.init(cfg.Model, cfg.Faults, cfg.GapPauses)
	l.falls.init(cfg.Model)
	for _, p := range cfg.Leave.Rest {
		if p.Joint < 0 || int(p.Joint) >= n || !finite(p.Position) {
			return nil, fmt.Errorf("loop: leaving: joint %d of %d cannot rest at %g", p.Joint, n, p.Position)
		}
	}
	for _, r := range cfg.Controllers {
		if err := l.register(r); err != nil {
			return nil, err
		}
	}
	if l.feeling.sense != nil {
		for _, s := range l.seats {
			s.felt.init(n)
		}
	}
	return l, nil
}

// useModels lets goals go beyond the limits of joints where servo models need it.
func (l *Loop) useModels() error {
	var ok bool
	if l.models, ok = l.cfg.Inverter.(*servo.ByModel); !ok {
		return nil
	}
	if n := len(l.cfg.Inversion.Models); n != l.dof {
		return fmt.Errorf("loop: %d servo models for %d joints", n, l.dof)
	}
	if l.cfg.ByModel {
		l.byModel = l.all
	}
	for j, m := range l.cfg.Inversion.Models {
		if m != nil {
			l.reach(j, m)
		}
	}
	return nil
}

func setDefaults(c *Config) {
	if c.StopDeadline == 0 {
		c.StopDeadline = defaultStopDeadline
	}
	if c.CrouchDeadline == 0 {
		c.CrouchDeadline = defaultCrouchDeadline
	}
	if c.Leave.Speed == 0 {
		c.Leave.Speed = defaultLeaveSpeed
	}
	if c.Leave.Deadline == 0 {
		c.Leave.Deadline = defaultLeaveDeadline
	}
	if c.RemoteTimeout == 0 {
		c.RemoteTimeout = max(arbiter.DefaultRemoteTimeout, c.RoundTimeout)
	}
	if c.Lease == 0 {
		c.Lease = arbiter.DefaultLease
	}
	if c.Orders == 0 {
		c.Orders = defaultOrders
	}
	if c.Reports == 0 {
		c.Reports = defaultReports
	}
	c.Reports = max(c.Reports, 2*reserve)
}

func (l *Loop) makeStates() {
	n, chains, outputs := l.dof, len(l.cfg.Model.Chains()), l.merge.Outputs()
	l.measured = control.NewMeasured(n, chains, l.cfg.Sensors)
	l.input = control.Input{Cmd: l.command, Meas: &l.measured}
	l.snapshots = rt.NewLatest(func(s *Snapshot) {
		s.Command, s.Measured = control.NewMotion(n, chains, outputs), control.NewMeasured(n, chains, l.cfg.Sensors)
		s.Cut, s.Age = make([]control.Cut, n), make([]uint32, len(l.merge.Age))
		s.Active, s.Mode = make([]Activity, len(l.cfg.Controllers)), make([]servo.Mode, n)
		s.External, s.Limbs = make([]external.Joint, n), make([]external.Limb, chains)
		s.Needed, s.Forces = make([]float64, n), make([]floatingbase.ContactWrench, 0, chains)
		s.WholeBody.init(chains)
	})
	l.stops.from, l.stops.still = make([]float64, n), make([]float64, n)
	l.box.init(n)
	l.taken.Orders = make([]Order, 0, ordersPerTick)
}

// Command returns the command of the last tick, or of the one under way. For the thread that
// steps. Loop-safe.
func (l *Loop) Command() *control.Motion { return l.command }

// Step runs one tick. Loop-safe.
func (l *Loop) Step(t servo.Tick) {
	l.miss(t)
	l.tick, l.now = t, float64(t.Time-l.behind)*1e-9
	l.input.Tick, l.input.Whole, l.input.Torques = t, l.cycles.two, l.cycles.chosen
	l.shaper.Begin(l.now, t.Dt)
	l.mark(Begin)
	l.read()
	l.mark(Read)
	l.estimate()
	l.mark(Estimate)
	l.decide()
	l.mark(Orders)
	l.control()
	l.mark(Control)
	l.aggregate()
	l.mark(Aggregate)
	l.limit()
	l.mark(Limit)
	l.dynamics()
	l.mark(Dynamics)
	l.invert()
	l.mark(Invert)
	l.guard()
	l.mark(Guard)
	l.write()
	l.mark(Write)
	l.publish()
	l.mark(Publish)
}

// read takes what the bus said at the end of the last tick. What is not finite
// was not measured: the last that was grows older.
func (l *Loop) read() {
	l.reading.Update(l.raw)
	l.heard.note(l)
}

// estimate makes the measured state of what was read.
func (l *Loop) estimate() {
	m := &l.measured
	volts := 0.0 // of servos that were heard; the best of them is nearest to the supply
	for j := range l.reading.Joints {
		r := &l.reading.Joints[j]
		m.Q[j], m.V[j], m.Effort[j] = r.Position, r.Velocity, r.Effort
		m.Age[j], m.Fault[j] = r.Age, r.Fault
		if r.Age == 0 {
			volts = max(volts, r.Voltage)
		}
	}
	if l.volts = volts; volts > 0 {
		m.Volt = volts
	}
	copy(m.IMU, l.reading.IMU)
	copy(m.Touch, l.reading.Touch)
	l.feeling.update(l)
	l.base.measure(l)
}

// decide settles what may move: the stop word, orders, power, stops and faults.
func (l *Loop) decide() {
	l.powered.update(l)
	l.readStop()
	l.drainOrders()
	l.arbitrate()
	l.stops.update(l)
	l.leaving.update(l)
	l.faults.update(l)
	l.falls.update(l)
}

// control lets every active controller make its reference.
func (l *Loop) control() {
	for _, s := range l.seats {
		switch {
		case s.program != nil:
			s.update()
		case s.operational(): // it ended inside a hook, where it could not give back
			_ = l.arb.Stop(l.tick.Time, s.id)
		}
	}
}

// aggregate gives each leaf its one writer, each joint its reference, and begins
// hand-overs where the writer changed or jumped.
func (l *Loop) aggregate() {
	l.merge.Begin()
	for _, s := range l.seats {
		if s.program == nil {
			continue
		}
		s.give()
		if !l.crowded() { // otherwise nothing reads the reports: events gather, and leave together, with the goal's end at the latest
			s.tellEvents()
		}
		if s.status != control.Going {
			s.end(s.status, s.why) // its last reference still counts in this tick
		}
	}
	l.merge.End()
	l.energise()
	l.shaper.References(l.mode)
	for _, s := range l.seats {
		l.shaper.HandOver(s.id, s.ref.Peak)
	}
	l.shaper.Lead(l.leaving.share(l)) // joints on their way to a safe pose, or one to leave in
}

// ownedBy returns what a controller owns, as the arbiter has it.
func (l *Loop) ownedBy(id arbiter.ClientID) robot.Set {
	own := l.seats[id].owned()
	if l.cfg.Policy == arbiter.PolicyNone { // several hold a leaf, one of them owns it
		for leaf := range own.All {
			if l.arb.Owner(leaf) != id {
				own = own.Without(leaf)
			}
		}
	}
	return own
}

func (l *Loop) jointOf(leaf robot.LeafID) robot.JointID {
	if int(leaf) < l.dof {
		return robot.JointID(leaf)
	}
	return robot.NoJoint
}

// energise finds which servos have torque. One that gets it now begins at the
// measured position, at rest, so that nothing jumps.
func (l *Loop) energise() {
	for j := range l.mode {
		mode := l.powered.mode(l, j)
		if mode.Powered() && !l.mode[j].Powered() {
			l.seed(j)
		}
		l.mode[j] = mode
	}
}

// seed puts the command of a joint to where the joint is, and forgets what led to
// where it was.
func (l *Loop) seed(j int) {
	l.follow(j)
	l.guards.Reset(j)
	l.shaper.Forget(j)
}

func (l *Loop) write() {
	l.faults.bus = l.cfg.Bus.Exchange(l.tick, l.raw, l.setpoint)
}

func (l *Loop) publish() {
	s := l.snapshots.Slot()
	s.Tick, s.Power, s.Faults, s.Raised, s.Lost = l.tick, l.powered.state, l.faults.latch.active, l.faults.latch.raised(), l.lost
	s.Wanted, s.Rate = l.wantedRate(), l.achievedRate()
	s.Stopped, s.Paused, s.Limp = l.stops.blocks(), l.rates.paused, l.powered.unpowered(l)
	s.Command.Copy(l.command)
	s.Measured.Copy(&l.measured)
	for i, seat := range l.seats {
		seat.activity(&s.Active[i])
	}
	copy(s.Mode, l.mode)
	copy(s.Cut, l.shaper.Cut)
	if l.models != nil {
		s.Inversion = l.models.State()
	}
	copy(s.Age, l.merge.Age)
	l.cycles.tell(s)
	l.feeling.tell(s)
	s.Owner = l.owners()
	l.snapshots.Publish()
	l.box.add(l)
	l.record()
}

func finite(x float64) bool { return x-x == 0 }
