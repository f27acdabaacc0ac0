// Package runner gives loops their time: one thread of its own, absolute
// deadlines, and honest figures about how well it kept them.
//
//	r, err := runner.New(runner.Config{Members: []runner.Member{{Loop: l, Period: time.Millisecond}}})
//	err = r.Run(ctx)   // until ctx is done; then ramp, hold or let go as the loop is told, close
//
// Several loops share the thread, each with its period; where deadlines coincide, the
// earlier member goes first. A late tick is run once, and its number skips
// the periods that were missed, so that cycle time follows the clock. Motions catch up
// within their limits, and never jump. The loop is told how late the tick is; its
// fault monitor decides what to do about it.
package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"poise/internal/rt"
	"poise/loop"
	"poise/servo"
)

// Periods: the default of virtual robots, and the clock of HerkuleX servos, of
// which the period of their bus is a multiple.
const (
	DefaultPeriod = time.Millisecond
	HerkuleXTick  = 11200 * time.Microsecond
)

// Clock is where a runner has its time from. A bus with a clock of its own can be
// one: then the loop follows the hardware.
type Clock interface {
	Now() int64           // ns, monotonic
	SleepUntil(ns int64)  // returns when Now has reached it
	Stamp() (epoch int64) // ns since 1970, for messages only
}

// Member is one loop of a runner.
type Member struct {
	Name   string
	Loop   *loop.Loop
	Period time.Duration // 0 is DefaultPeriod
	Unit   time.Duration // the bus's own tick, of which Period must be a multiple; 0 is any
	Close  func() error  // closes the bus after the last tick; may be nil
}

// Config makes a Runner. Zero values mean the defaults.
type Config struct {
	Members  []Member
	Priority int           // of SCHED_FIFO, 1 … 99; 0 does not ask for real time
	Patience time.Duration // how long a ramp may take at the end, default 3 s; what the loops do then has deadlines of its own
	Clock    Clock         // nil is the machine's
	Probe    bool          // time every stage
}

const defaultPatience = 3 * time.Second

// Stats are figures of one member since the start.
type Stats struct {
	Name     string
	Ticks    uint64
	Overruns uint64       // ticks that were not done when the next was due
	Missed   uint64       // periods that passed without a tick
	Lateness rt.Histogram // from deadline to start, ns
	Work     rt.Histogram // from start to end, ns
	Stages   []rt.Histogram
}

// Runner steps loops. Make one with New.
type Runner struct {
	cfg     Config
	clock   Clock
	members []*member

	readers sync.Mutex // among those who ask for figures; no tick takes it
	said    string
	real    bool
}

// member is a loop with its timing, owned by Run.
type member struct {
	Member
	period    int64
	due       int64 // ns
	n         uint64
	overran   bool
	published uint64
	dead      error
	turns     atomic.Uint64 // n, for those who watch
	probe     *probe
	stats     Stats
	latest    *rt.Latest[Stats]
}

// New checks a configuration; all problems are reported at once.
func New(c Config) (*Runner, error) {
	var errs []error
	if len(c.Members) == 0 {
		errs = append(errs, errors.New("runner: no loop to run"))
	}
	if c.Priority < 0 || c.Priority > 99 {
		errs = append(errs, fmt.Errorf("runner: priority %d, must be 0 (none) or 1 … 99", c.Priority))
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	r := &Runner{cfg: c, clock: c.Clock, said: "not started"}
	if r.clock == nil {
		r.clock = machine{}
	}
	for i, m := range c.Members {
		if m.Period == 0 {
			m.Period = DefaultPeriod
		}
		if m.Name == "" {
			m.Name = fmt.Sprint("loop ", i+1)
		}
		if m.Period < 0 || m.Period > time.Second {
			errs = append(errs, fmt.Errorf("runner: %s: period %v, must be above zero and at most 1s", m.Name, m.Period))
		}
		if m.Unit > 0 && m.Period%m.Unit != 0 {
			errs = append(errs, fmt.Errorf("runner: %s: period %v is no multiple of %v, the tick of its bus; %v would be", m.Name, m.Period, m.Unit, max(m.Period.Round(m.Unit), m.Unit)))
		}
		x := &member{Member: m, period: m.Period.Nanoseconds(), stats: Stats{Name: m.Name}}
		if c.Probe && m.Loop != nil {
			x.probe = &probe{clock: r.clock, stages: make([]rt.Histogram, loop.NumStages)}
			m.Loop.SetProbe(x.probe)
		}
		x.latest = rt.NewLatest(func(s *Stats) { *s = Stats{Name: m.Name, Stages: make([]rt.Histogram, loop.NumStages)} })
		r.members = append(r.members, x)
	}
	return r, errors.Join(errs...)
}

// Stats returns the newest figures, at most a second old, and what the system
// granted. Concurrent.
func (r *Runner) Stats() (stats []Stats, said string, realtime bool) {
	r.readers.Lock()
	defer r.readers.Unlock()
	for _, m := range r.members {
		newest, _ := m.latest.Load()
		s := *newest
		s.Stages = slices.Clone(s.Stages)
		stats = append(stats, s)
	}
	return stats, r.said, r.real
}

// Turns returns how many ticks of a member are over. It waits for nothing: a count that
// stands still tells of a cycle that hangs. Concurrent.
func (r *Runner) Turns(member int) uint64 { return r.members[member].turns.Load() }

// Run steps all loops until ctx is done, on a thread of its own. Then every robot
// ramps down and is left as its loop is told (loop.Leaving), and its bus is closed,
// whatever goes wrong on the way. It returns what did.
func (r *Runner) Run(ctx context.Context) error {
	rt.LockThread() // for good: the thread ends with its goroutine
	said, real := "real time was not asked for: lateness depends on what else runs", false
	if r.cfg.Priority > 0 {
		said, real = rt.Realtime(r.cfg.Priority)
	}
	r.readers.Lock()
	r.said, r.real = said, real
	r.readers.Unlock()

	start := r.clock.Now()
	for _, m := range r.members {
		m.due = start + m.period
	}
	done := ctx.Done()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			running = r.turn(r.earliest(nil)) == nil
		}
	}
	return r.shutDown()
}

// earliest returns the member whose deadline comes first, nil if there is none for
// which keep is true.
func (r *Runner) earliest(keep func(*member) bool) (first *member) {
	for _, m := range r.members {
		if m.dead == nil && (keep == nil || keep(m)) && (first == nil || m.due < first.due) {
			first = m
		}
	}
	return first
}

// turn waits for a member's deadline and runs its tick.
func (r *Runner) turn(m *member) error {
	r.clock.SleepUntil(m.due)
	began := r.clock.Now()
	late := max(began-m.due, 0)
	missed := late / m.period
	m.due += missed * m.period // the next deadline stays on the grid
	verdict := uint32(missed)
	if m.overran && missed == 0 {
		verdict = 1
	}
	if verdict > 0 {
		m.Loop.Late(verdict)
	}
	m.stats.Lateness.Add(late)
	m.stats.Missed += uint64(missed)
	worked := r.work()
	m.n += uint64(missed) // time goes on, and motions catch up
	m.dead = m.step(servo.Tick{N: m.n, Time: int64(m.n) * m.period, Dt: time.Duration(m.period).Seconds(), Stamp: r.clock.Stamp()})
	m.n++
	m.turns.Store(m.n)
	m.due += m.period
	ended := r.clock.Now()
	m.stats.Work.Add(r.work() - worked)
	m.stats.Ticks++
	if m.overran = ended > m.due; m.overran {
		m.stats.Overruns++
	}
	m.publish(false)
	return m.dead
}

// work is the time by which the work of a tick is measured: simulated time stands still
// during a tick.
func (r *Runner) work() int64 {
	if s, ok := r.clock.(*Simulated); ok {
		return s.Work()
	}
	return r.clock.Now()
}

// step runs a tick. A panic that is not a controller's is a mistake of the program:
// the robot is left at once, and Run ends with the reason.
func (m *member) step(t servo.Tick) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("runner: %s: tick %d: %v\n%s", m.Name, t.N, p, debug.Stack())
		}
	}()
	m.Loop.Step(t)
	return nil
}

// publish shows the figures, once a second.
func (m *member) publish(now bool) {
	if !now && (m.stats.Ticks-m.published)*uint64(m.period) < uint64(time.Second) {
		return
	}
	m.published = m.stats.Ticks
	slot := m.latest.Slot()
	stages := slot.Stages
	if m.probe != nil {
		copy(stages, m.probe.stages)
	}
	*slot = m.stats
	slot.Stages = stages
	m.latest.Publish()
}

// shutDown ends in order: ramp, what each robot does when it is left, bus. Each step has
// a deadline, and the next happens regardless.
func (r *Runner) shutDown() error {
	var errs []error
	patience := r.cfg.Patience
	for _, m := range r.members {
		m.Loop.Leave()
		if v := m.Loop.Leaving(); v.Do == loop.LeaveRest {
			patience = max(patience, r.cfg.Patience+time.Duration(v.Deadline*1e9))
		}
	}
	over := r.clock.Now() + patience.Nanoseconds()
	leaving := func(m *member) bool { return !m.Loop.Left() }
	for m := r.earliest(leaving); m != nil && r.clock.Now() < over; m = r.earliest(leaving) {
		_ = r.turn(m) // kept in m.dead
	}
	for _, m := range r.members {
		errs = append(errs, m.dead)
		if leaving(m) {
			errs = append(errs, m.letGo(servo.Tick{N: m.n, Time: int64(m.n) * m.period, Dt: time.Duration(m.period).Seconds(), Stamp: r.clock.Stamp()}))
		}
		if m.Close != nil {
			if err := m.Close(); err != nil {
				errs = append(errs, fmt.Errorf("runner: %s: %w", m.Name, err))
			}
		}
		m.publish(true)
	}
	return errors.Join(errs...)
}

// letGo takes the torque away past a loop that did not come to its end, unless the robot
// is to hold: then its servos keep the last that they were told.
func (m *member) letGo(t servo.Tick) (err error) {
	if m.Loop.Leaving().Do == loop.LeaveHold {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("runner: %s: torque off: %v", m.Name, p)
		}
	}()
	m.Loop.LetGo(t)
	return nil
}

// probe times stages.
type probe struct {
	clock  Clock
	last   int64
	stages []rt.Histogram
}

// Done notes the end of a stage. Loop-safe.
func (p *probe) Done(s loop.Stage) {
	now := p.clock.Now()
	if s != loop.Begin {
		p.stages[s].Add(now - p.last)
	}
	p.last = now
}

// machine is the machine's clock.
type machine struct{}

func (machine) Now() int64          { return rt.Now() }
func (machine) SleepUntil(ns int64) { rt.SleepUntil(ns) }
func (machine) Stamp() int64        { return time.Now().UnixNano() }
