package protocol1

import (
	"bytes"
	"errors"
	"math"
	"time"

	"poise/servo"
	"poise/servo/bus"
)

// Layout is where the registers of a kind of servos are, and what they mean.
type Layout struct {
	Big      bool // the high byte of a word comes first
	SyncRead bool // one question to several servos is answered

	// BulkRead reports whether a model answers one question to several servos in which each waits
	// for the reply of the one before it. It may be nil.
	BulkRead func(m *bus.Model) bool

	Delay    int // return delay, 2 µs
	Limits   int // least and most position: 4 bytes
	Voltages int // that it allows: 2 bytes, 0.1 V
	Torque   int
	Present  int // position, speed, load, voltage, temperature: 8 bytes
	Goal     int // where a goal begins

	// Bits of signs; 0 means unsigned.
	PositionSign, SpeedSign, LoadSign int

	Lock func(m *bus.Model) (address int, has bool) // of EEPROM; nil where it cannot be locked

	// Prepare reads what else has to be known. It may be nil.
	Prepare func(t *Talker, s *bus.Servo) error

	// Unit returns the unit of speeds, rad/s.
	Unit func(s *bus.Servo) float64

	// Ramp appends where to go and how fast.
	Ramp func(l *Layout, dst []byte, g *bus.Goal) []byte

	// BeforeTorque makes it possible. It may be nil.
	BeforeTorque func(t *Talker, s *bus.Servo) error

	// Faults turns the error bits of a reply into faults.
	Faults func(s *bus.Servo, bits byte) servo.Fault
}

// Family is what the talker has to know of one.
type Family struct {
	Layout func(m *bus.Model) *Layout
	Single bool // no group of servos answers one question

	// Identify says what a servo is, by reading its registers.
	Identify func(t *Talker, id int) (bus.Identity, error)
}

// Talker speaks with servos of one family on one line.
type Talker struct {
	family *Family
	line   *bus.Line
	packet []byte
	params []byte
	chain  []*bus.Servo  // that are asked together, in order
	delay  time.Duration // return delay of the slowest
}

// Talk returns the Talker for servos on a line.
func (f *Family) Talk(l *bus.Line) *Talker { return &Talker{family: f, line: l} }

// factoryDelay is the return delay that servos come with.
const factoryDelay = 500 * time.Microsecond

// ask sends an instruction to one servo and waits for its reply with so many bytes. The
// error bits of a reply say how the servo is, not whether it obeys.
func (t *Talker) ask(id int, instruction byte, params []byte, want int) (bus.Packet, error) {
	t.packet = Append(t.packet[:0], id, instruction, params)
	if err := t.line.Ask(t.packet, overhead+want, max(t.delay, factoryDelay)); err != nil {
		return bus.Packet{}, err
	}
	return t.line.Reply(id, func(p bus.Packet) bool { return len(p.Data) == want })
}

// ReadBytes reads registers that follow each other.
func (t *Talker) ReadBytes(id, address, size int) ([]byte, error) {
	p, err := t.ask(id, insRead, []byte{byte(address), byte(size)}, size)
	return p.Data, err
}

// WriteBytes writes registers that follow each other. A servo may be set not to answer writes, and an answer may be
// lost: then they are read back.
func (t *Talker) WriteBytes(id, address int, data ...byte) error {
	t.params = append(append(t.params[:0], byte(address)), data...)
	_, err := t.ask(id, insWrite, t.params, 0)
	if errors.Is(err, bus.ErrSilent) {
		if now, wrong := t.ReadBytes(id, address, len(data)); wrong == nil && bytes.Equal(now, data) {
			return nil
		}
	}
	return err
}

// Ping implements bus.Talker.
func (t *Talker) Ping(id int) (bus.Identity, error) {
	if _, err := t.ask(id, insPing, nil, 0); err != nil {
		return bus.Identity{}, err
	}
	return t.family.Identify(t, id)
}

// searchWait is how long all servos of a line may take to answer a broadcast ping.
const searchWait = 200 * time.Millisecond

// Search implements bus.Talker. Not all models answer, so silence proves nothing.
func (t *Talker) Search() (ids []int, err error) {
	t.packet = Append(t.packet[:0], Broadcast, insPing, nil)
	if err := t.line.Ask(t.packet, overhead, searchWait); err != nil {
		return nil, err
	}
	for {
		p, err := t.line.Next()
		if err != nil {
			return ids, nil
		}
		if len(p.Data) == 0 {
			ids = append(ids, p.ID)
			t.line.Await(overhead, searchWait)
		}
	}
}

// number reads a word in the order of a layout.
func (l *Layout) number(data []byte) (v uint64) {
	for i, b := range data {
		if l.Big {
			v = v<<8 | uint64(b)
		} else {
			v |= uint64(b) << (8 * i)
		}
	}
	return v
}

// Word appends one.
func (l *Layout) Word(dst []byte, v uint16) []byte {
	if l.Big {
		return append(dst, byte(v>>8), byte(v))
	}
	return append(dst, byte(v), byte(v>>8))
}

// signed reads a word with a sign bit.
func signed(bits uint64, sign int) int32 {
	if sign > 0 && bits>>sign&1 != 0 {
		return -int32(bits &^ (1 << sign))
	}
	return int32(bits)
}

// Read implements bus.Talker.
func (t *Talker) Read(id int, m *bus.Model, r *bus.Register) (int64, error) {
	data, err := t.ReadBytes(id, r.Address, r.Size)
	if err != nil {
		return 0, err
	}
	return r.Value(t.family.Layout(m).number(data)), nil
}

// Write implements bus.Talker. A register in EEPROM is unlocked for it, and locked again.
func (t *Talker) Write(id int, m *bus.Model, r *bus.Register, v int64) error {
	bits, err := r.Bits(v)
	if err != nil {
		return err
	}
	layout := t.family.Layout(m)
	data := []byte{byte(bits)}
	if r.Size == 2 {
		data = layout.Word(nil, uint16(bits))
	}
	lock, has := 0, false
	if layout.Lock != nil {
		lock, has = layout.Lock(m)
	}
	if !r.Saved || !has {
		return t.WriteBytes(id, r.Address, data...)
	}
	if err := t.WriteBytes(id, lock, 0); err != nil {
		return err
	}
	if err := t.WriteBytes(id, r.Address, data...); err != nil {
		return err
	}
	if r.Name == "id" {
		id = int(v)
	}
	if r.Name == "baud" {
		return nil // it listens at another rate already
	}
	return t.WriteBytes(id, lock, 1)
}

// Prepare implements bus.Talker.
func (t *Talker) Prepare(s *bus.Servo) error {
	layout := t.family.Layout(s.Model)
	data, err := t.ReadBytes(s.ID, layout.Delay, 1)
	if err != nil {
		return err
	}
	t.delay = max(t.delay, time.Duration(data[0])*2*time.Microsecond)
	if data, err = t.ReadBytes(s.ID, layout.Limits, 4); err != nil {
		return err
	}
	s.Low, s.High, s.Turn = int32(layout.number(data[:2])), int32(layout.number(data[2:])), 0
	if data, err = t.ReadBytes(s.ID, layout.Voltages, 2); err != nil {
		return err
	}
	s.Mid = 0.1 * (float64(data[0]) + float64(data[1])) / 2
	if layout.Prepare != nil {
		if err := layout.Prepare(t, s); err != nil {
			return err
		}
	}
	return t.Slow(s)
}

// stateSize is what States reads of a servo; one byte more makes a late answer differ.
const stateSize = 8

// States implements bus.Talker: one question to all that understand it, one to each other.
func (t *Talker) States(servos []*bus.Servo) error {
	if len(servos) == 0 {
		return nil
	}
	size := stateSize
	if servos[0].Variant {
		size++
	}
	together := 0
	t.order(servos)
	for _, s := range servos {
		s.Heard = false
		layout := t.family.Layout(s.Model)
		if !layout.SyncRead {
			continue
		}
		if together == 0 {
			t.params = append(t.params[:0], byte(layout.Present), byte(size))
		}
		together++
		t.params = append(t.params, byte(s.ID))
	}
	if together > 0 {
		if err := t.syncRead(servos, together, size); err != nil {
			return err
		}
	}
	if err := t.bulkRead(servos, size); err != nil {
		return err
	}
	for _, s := range servos {
		layout := t.family.Layout(s.Model)
		if layout.SyncRead || s.Heard {
			continue
		}
		p, err := t.ask(s.ID, insRead, []byte{byte(layout.Present), byte(size)}, size)
		switch {
		case err == nil:
			t.take(s, p)
		case !errors.Is(err, bus.ErrSilent):
			return err
		}
	}
	return nil
}

// order notes which servos are asked together, one after the other: each waits for the reply of the
// one before it, so those that were silent are last, and in the way of no other.
func (t *Talker) order(servos []*bus.Servo) {
	t.chain = t.chain[:0]
	for _, heard := range [2]bool{true, false} {
		for _, s := range servos {
			if l := t.family.Layout(s.Model); s.Heard == heard && l.BulkRead != nil && l.BulkRead(s.Model) {
				t.chain = append(t.chain, s)
			}
		}
	}
}

// bulkRead asks those of order; who is not heard is asked alone.
func (t *Talker) bulkRead(servos []*bus.Servo, size int) error {
	if len(t.chain) < 2 {
		return nil
	}
	t.params = append(t.params[:0], 0)
	for _, s := range t.chain {
		t.params = append(t.params, byte(size), byte(s.ID), byte(t.family.Layout(s.Model).Present))
	}
	return t.gather(servos, insBulkRead, len(t.chain), size)
}

// slack is what a servo may take beyond its return delay.
const slack = 50 * time.Microsecond

func (t *Talker) syncRead(servos []*bus.Servo, n, size int) error {
	return t.gather(servos, insSyncRead, n, size)
}

// gather sends a question to several servos and takes their replies.
func (t *Talker) gather(servos []*bus.Servo, instruction byte, n, size int) error {
	t.packet = Append(t.packet[:0], Broadcast, instruction, t.params)
	if err := t.line.Ask(t.packet, n*(overhead+size), time.Duration(n)*(t.delay+slack)); err != nil {
		return err
	}
	for n > 0 {
		p, err := t.line.Next()
		if errors.Is(err, bus.ErrSilent) {
			return nil
		}
		if err != nil {
			return err
		}
		s := bus.ServoOf(servos, p.ID)
		if s == nil || s.Heard || len(p.Data) != size {
			t.line.Others++
			continue
		}
		t.take(s, p)
		n--
	}
	return nil
}

// take reads the state out of a reply.
func (t *Talker) take(s *bus.Servo, p bus.Packet) {
	d, l := p.Data, t.family.Layout(s.Model)
	s.Heard = true
	s.State.Position = signed(l.number(d[:2]), l.PositionSign)
	s.State.Velocity = l.Unit(s) * float64(signed(l.number(d[2:4]), l.SpeedSign))
	s.State.Effort = s.Model.Effort * float64(signed(l.number(d[4:6]), l.LoadSign))
	s.State.Voltage, s.State.Temperature = 0.1*float64(d[6]), float64(d[7])
	s.State.Fault = l.Faults(s, byte(p.Status))
}

// Slow implements bus.Talker: voltage and temperature are read every cycle.
func (t *Talker) Slow(s *bus.Servo) error {
	data, err := t.ReadBytes(s.ID, t.family.Layout(s.Model).Torque, 1)
	if err != nil {
		return err
	}
	s.State.Torque = bus.TorqueOff
	if data[0] != 0 {
		s.State.Torque = bus.TorqueOn
	}
	return nil
}

// Goals implements bus.Talker: a packet for servos whose goals have the same place and size.
func (t *Talker) Goals(goals []bus.Goal) error {
	for first := range goals {
		layout := t.family.Layout(goals[first].Servo.Model)
		if t.sent(goals[:first], layout) {
			continue
		}
		t.params = append(t.params[:0], byte(layout.Goal), 0)
		for i := first; i < len(goals); i++ {
			if g := &goals[i]; t.family.Layout(g.Servo.Model) == layout {
				t.params = append(t.params, byte(g.Servo.ID))
				before := len(t.params)
				t.params = layout.Ramp(layout, t.params, g)
				t.params[1] = byte(len(t.params) - before)
			}
		}
		t.packet = Append(t.packet[:0], Broadcast, insSyncWrite, t.params)
		if err := t.line.Send(t.packet); err != nil {
			return err
		}
	}
	return nil
}

// sent reports whether a goal before has the same layout.
func (t *Talker) sent(goals []bus.Goal, layout *Layout) bool {
	for i := range goals {
		if t.family.Layout(goals[i].Servo.Model) == layout {
			return true
		}
	}
	return false
}

// headroom lets a servo be faster than its goals are apart, or it would never catch up.
const headroom = 1.5

// Speed returns how fast a servo has to be to reach its goal in time, steps/s: one that missed
// some goals does not jump.
func Speed(g *bus.Goal) float64 {
	far := math.Abs(float64(g.Position - g.Servo.State.Position))
	return headroom * far / max(g.PlayTime, 0.001)
}

// SwitchOn implements bus.Talker. A goal may switch torque on by itself, so the first one is
// where the servo is.
func (t *Talker) SwitchOn(s *bus.Servo) error {
	layout := t.family.Layout(s.Model)
	if layout.BeforeTorque != nil {
		if err := layout.BeforeTorque(t, s); err != nil {
			return err
		}
	}
	g := bus.Goal{Servo: s, Position: s.State.Position, PlayTime: 0.1}
	if err := t.WriteBytes(s.ID, layout.Goal, layout.Ramp(layout, nil, &g)...); err != nil {
		return err
	}
	if err := t.WriteBytes(s.ID, layout.Torque, 1); err != nil {
		return err
	}
	return t.Slow(s)
}

// Release implements bus.Talker: a packet for servos whose torque has the same place, which is all
// of a family.
func (t *Talker) Release(servos []*bus.Servo) error {
	t.params = append(t.params[:0], byte(t.family.Layout(servos[0].Model).Torque), 1)
	for _, s := range servos {
		t.params = append(t.params, byte(s.ID), 0)
	}
	t.packet = Append(t.packet[:0], Broadcast, insSyncWrite, t.params)
	return t.line.Send(t.packet)
}

// Brake implements bus.Talker.
func (t *Talker) Brake(*bus.Servo) error { return bus.ErrNoBrake }

// Rest implements bus.Talker: they hold their last goal by themselves.
func (t *Talker) Rest([]*bus.Servo) []byte { return nil }

// CycleBytes implements bus.Talker.
func (t *Talker) CycleBytes(n int) (bytes, servoWaits, hostWaits int) {
	if t.family.Single {
		return overhead + 2 + 5*n + n*(overhead+2) + n*(overhead+stateSize), n, n
	}
	return overhead + 2 + 8*n + overhead + 2 + n + n*(overhead+stateSize), n, 1
}

// ReplyDelay implements bus.Talker.
func (t *Talker) ReplyDelay() time.Duration { return t.delay }
