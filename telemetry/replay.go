package telemetry

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"

	"poise/control"
	"poise/loop"
	"poise/robot"
	"poise/servo"
)

// Kind makes controllers of one kind, and programs for them, again.
type Kind struct {
	New    func(m *robot.Model, s loop.Settings) (control.Controller, error)
	Decode func(blob []byte) (control.Program, error)
}

// Kinds are the kinds of controllers that a replay knows, by name.
type Kinds map[string]Kind

// Outcome is what a replay found.
type Outcome struct {
	Ticks, Orders, Stops, Late, Checkpoints, HandOvers, Faults uint64
	Notes                                                      []string // why hashes may differ
	From                                                       uint64   // the first tick
	Turned                                                     bool     // the ring has overwritten its beginning: ticks were read, not run again
	Missing                                                    uint64   // ticks that the recording lacks after the last replayed one
	First                                                      *Difference
}

// Difference is the first difference of a replay from its recording.
type Difference struct {
	Tick      servo.Tick
	Want, Got uint64
	Joints    []JointDifference // at the next checkpoint
}

// JointDifference is one joint's command at a checkpoint: its position, or, where
// that is the same, its feed-forward.
type JointDifference struct {
	Joint     robot.JointID
	Want, Got float64
	Effort    bool // otherwise position
}

func (d *Difference) String() string {
	return fmt.Sprintf("tick %d, %.4f s: hash %016x, recorded %016x", d.Tick.N, float64(d.Tick.Time)*1e-9, d.Got, d.Want)
}

// ErrOtherRobot is a recording of another robot than the one given.
var ErrOtherRobot = errors.New("the recording is of another robot")

// Replay runs a recording again and compares every hash. It ends at the first
// difference, or where ticks are missing. One that begins in the middle cannot be run again,
// since what the loop was like there is not known: it is read to its end, and its ticks are
// counted.
func Replay(r *Reader, m *robot.Model, kinds Kinds) (*Outcome, error) {
	return Look(r, m, kinds, nil, nil)
}

// Look is Replay with two functions, either of which may be nil. The first is called at every exchange with the servos:
// with what was measured and what they were told; it keeps neither. The other is called after every tick: with what the
// loop tells of it, its levels of the whole body among that.
func Look(r *Reader, m *robot.Model, kinds Kinds, watch func(t servo.Tick, measured *servo.Measurement, goals []servo.Setpoint), look func(now *loop.Snapshot)) (*Outcome, error) {
	p, err := newPlayer(r, m, kinds)
	if err != nil {
		return nil, err
	}
	p.watch, p.look = watch, look
	p.out.Turned = r.Turned
	var t Tick
	for {
		err := r.Next(&t)
		if errors.Is(err, io.EOF) {
			return &p.out, nil
		}
		if err != nil {
			return &p.out, err
		}
		if p.out.Ticks == 0 {
			p.next, p.out.From = t.N, t.N
		}
		if r.Turned {
			if err := p.read(&t); err != nil {
				return &p.out, err
			}
			continue
		}
		if t.Missing > 0 {
			p.out.Missing = t.Missing
			return &p.out, nil
		}
		if err := p.step(&t); err != nil {
			return &p.out, err
		}
		if p.out.First != nil && p.seen {
			return &p.out, nil
		}
	}
}

// player is a loop whose bus and orders come from a recording.
type player struct {
	r        *Reader
	l        *loop.Loop
	kinds    Kinds
	out      Outcome
	programs map[uint64]control.Program
	measured *servo.Measurement                                                      // that the next exchange returns
	watch    func(t servo.Tick, measured *servo.Measurement, goals []servo.Setpoint) // may be nil
	look     func(now *loop.Snapshot)                                                // likewise
	bus      servo.Fault
	next     uint64 // tick
	hash     uint64
	state    checkpoint // of the replay
	recorded checkpoint
	seen     bool // a checkpoint after the first difference
}

func newPlayer(r *Reader, m *robot.Model, kinds Kinds) (*player, error) {
	h := &r.Header
	model, err := modelHash(m)
	if err != nil {
		return nil, err
	}
	if model != h.Model || len(m.Joints()) != h.Joints {
		return nil, fmt.Errorf("%w: recorded %q with hash %s, given one with hash %s", ErrOtherRobot, h.Robot, h.Model, model)
	}
	p := &player{r: r, kinds: kinds, programs: map[uint64]control.Program{}, measured: servo.NewMeasurement(h.Joints, h.Settings.Sensors),
		state: newCheckpoint(h.Joints, h.Leaves), recorded: newCheckpoint(h.Joints, h.Leaves)}
	p.notes()
	cfg := loop.Config{Model: m, Bus: p, Tap: p, Settings: h.Settings}
	if h.Virtual {
		cfg.Bus = virtual{p}
	}
	var errs []error
	for _, c := range h.Controllers {
		k, known := kinds[c.Kind]
		if !known {
			errs = append(errs, fmt.Errorf("controller %q is of kind %q, which this program does not have", c.Name, c.Kind))
			continue
		}
		made, err := k.New(m, h.Settings)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		cfg.Controllers = append(cfg.Controllers, loop.Registration{Name: c.Name, Kind: c.Kind, Controller: made, Pending: c.Pending, Operational: c.Operational, Supports: c.Supports, Remote: c.Remote})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	p.l, err = loop.New(cfg)
	return p, err
}

// notes tells what may make hashes differ without anything being wrong.
func (p *player) notes() {
	h := &p.r.Header
	note := func(format string, a ...any) { p.out.Notes = append(p.out.Notes, fmt.Sprintf(format, a...)) }
	if now := runtime.GOOS + "/" + runtime.GOARCH; now != h.Architecture {
		note("recorded on %s, replayed on %s: the last bits of numbers may differ", h.Architecture, now)
	}
	if now := Build(); now != h.Build {
		note("recorded by build %s, replayed by %s", h.Build, now)
	}
	if now := runtime.Version(); now != h.Go {
		note("recorded with %s, replayed with %s", h.Go, now)
	}
	if hash, err := h.configurationHash(); err != nil || hash != h.Configuration {
		note("the recorded configuration does not have its recorded hash")
	}
}

// Exchange returns what was recorded.
func (p *player) Exchange(t servo.Tick, dst *servo.Measurement, goals []servo.Setpoint) servo.Fault {
	dst.Copy(p.measured)
	if p.watch != nil {
		p.watch(t, p.measured, goals)
	}
	return p.bus
}

// virtual is the bus of a robot that can be placed; where it then is was recorded.
type virtual struct{ *player }

func (virtual) Place([]int, []float64) {}

// Tick takes what the replay came to.
func (p *player) Tick(f *loop.TickRecord) {
	p.hash = f.Hash
	p.state.set(f)
}

// step replays one tick.
func (p *player) step(t *Tick) error {
	if t.Dt != p.r.Header.Period || t.N < p.next || t.N > p.next && t.Late == 0 { // numbers of missed ticks are left out
		return &FormatError{t.position, fmt.Sprintf("tick %d with period %g s, and tick %d with %g s was to come", t.N, t.Dt, p.next, p.r.Header.Period)}
	}
	p.next = t.N + 1
	p.measured.Copy(t.Measured)
	p.bus = t.Bus
	if p.l.Repeat(t.Stop, t.Late) {
		p.out.Stops++
	}
	if t.Late > 0 {
		p.out.Late++
	}
	for i := range t.Orders {
		o, err := p.order(&t.Orders[i], t.position)
		if err != nil {
			return err
		}
		if !p.l.Send(o) {
			return &FormatError{t.position, "more orders than a tick can take"}
		}
		p.out.Orders++
	}
	p.l.Step(t.Tick)
	p.out.Ticks++
	p.listen()
	if p.look != nil {
		now, _ := p.l.Snapshot()
		p.look(now)
	}
	if p.hash != t.Hash && p.out.First == nil {
		p.out.First = &Difference{Tick: t.Tick, Want: t.Hash, Got: p.hash}
	}
	has, err := p.r.checkpoint(&p.recorded)
	if err != nil || !has {
		return err
	}
	p.out.Checkpoints++
	p.compare()
	return nil
}

// read counts a tick without running it.
func (p *player) read(t *Tick) error {
	if t.Missing == 0 && p.out.Ticks > 0 && (t.N < p.next || t.N > p.next && t.Late == 0) {
		return &FormatError{t.position, fmt.Sprintf("tick %d, and tick %d was to come", t.N, p.next)}
	}
	p.next = t.N + 1
	p.out.Ticks++
	p.out.Orders += uint64(len(t.Orders))
	p.out.Missing += t.Missing
	if t.Stop != 0 {
		p.out.Stops++
	}
	if t.Late > 0 {
		p.out.Late++
	}
	return nil
}

// order makes a recorded order again.
func (p *player) order(o *Order, at int64) (loop.Order, error) {
	if o.Number == 0 {
		return o.Order, nil
	}
	made, known := p.programs[o.Number]
	if !known || o.Kind == loop.Feed {
		if o.Number == opaque {
			return loop.Order{}, &FormatError{at, "a program that cannot be written down was ordered: the replay ends here"}
		}
		controllers := p.r.Header.Controllers
		decode := control.DecodePlacement
		switch o.Kind {
		case loop.Place:
		case loop.TorqueOn, loop.TorqueOff:
			decode = control.DecodeTorque
		case loop.SetCycle:
			decode = control.DecodeCycle
		case loop.SetBase:
			decode = control.DecodeBasePlacement
		case loop.SetModels:
			decode = control.DecodeServoModels
		default:
			if int(o.Controller) >= len(controllers) {
				return o.Order, nil // refused, whatever it is
			}
			decode = p.kinds[controllers[o.Controller].Kind].Decode
		}
		blob, ok := p.r.Program(o.Number)
		if !ok {
			return loop.Order{}, &FormatError{at, fmt.Sprintf("no program %d for controller %d", o.Number, o.Controller)}
		}
		var err error
		if made, err = decode(blob); err != nil {
			return loop.Order{}, err
		}
		p.programs[o.Number] = made
	}
	o.Order.Program = made
	return o.Order, nil
}

// listen counts what the replay reports.
func (p *player) listen() {
	for {
		rep, ok := p.l.Receive()
		if !ok {
			return
		}
		switch rep.Kind {
		case loop.OwnerChanged:
			p.out.HandOvers++
		case loop.FaultRaised:
			p.out.Faults++
		}
		if rep.Last != nil {
			rep.Last.Release()
		}
	}
}

// compare finds the joints that differ at a checkpoint.
func (p *player) compare() {
	d := p.out.First
	if d == nil {
		return
	}
	p.seen = true
	for j := range p.state.q {
		switch id := robot.JointID(j); {
		case math.Float64bits(p.state.q[j]) != math.Float64bits(p.recorded.q[j]):
			d.Joints = append(d.Joints, JointDifference{Joint: id, Want: p.recorded.q[j], Got: p.state.q[j]})
		case math.Float64bits(p.state.tau[j]) != math.Float64bits(p.recorded.tau[j]):
			d.Joints = append(d.Joints, JointDifference{Joint: id, Want: p.recorded.tau[j], Got: p.state.tau[j], Effort: true})
		}
	}
}
