package feetech

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"poise/servo"
	"poise/servo/bus"
)

// Name is that of the family.
const Name = "feetech"

// Family is that of Feetech servos.
type Family struct{}

var _ bus.Family = Family{}

// Name implements bus.Family.
func (Family) Name() string { return Name }

// bauds are in the order of their codes, that of the factory first.
var bauds = []int{1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400}

// Bauds implements bus.Family.
func (Family) Bauds() []int { return bauds }

// BaudCode returns the code of a rate.
func (Family) BaudCode(baud int) (int64, bool) {
	for code, b := range bauds {
		if b == baud {
			return int64(code), true
		}
	}
	return 0, false
}

// Models implements bus.Family.
func (Family) Models() []bus.Model { return models }

// LastID implements bus.Family.
func (Family) LastID() int { return 253 }

// Split implements bus.Family.
func (Family) Split(data []byte) (bus.Packet, int, bool) { return Split(data) }

// Complete implements bus.Searcher: SCS servos do not answer.
func (Family) Complete() bool { return false }

// Talk implements bus.Family.
func (Family) Talk(l *bus.Line) bus.Talker { return &talker{line: l} }

// found is what the registers of a servo said.
type found struct {
	speed float64 // steps/s of a unit of speed
}

type talker struct {
	line   *bus.Line
	packet []byte
	params []byte
	delay  time.Duration // return delay of the slowest
}

// factoryDelay is the return delay that servos come with.
const factoryDelay = 500 * time.Microsecond

// ask sends an instruction to one servo and waits for its reply with so many bytes. The
// error bits of a reply say how the servo is, not whether it obeys.
func (t *talker) ask(id int, instruction byte, params []byte, want int) (bus.Packet, error) {
	t.packet = Append(t.packet[:0], id, instruction, params)
	if err := t.line.Ask(t.packet, overhead+want, max(t.delay, factoryDelay)); err != nil {
		return bus.Packet{}, err
	}
	return t.line.Reply(id, func(p bus.Packet) bool { return len(p.Data) == want })
}

func (t *talker) read(id, address, size int) ([]byte, error) {
	p, err := t.ask(id, insRead, []byte{byte(address), byte(size)}, size)
	return p.Data, err
}

func (t *talker) write(id, address int, data ...byte) error {
	t.params = append(append(t.params[:0], byte(address)), data...)
	_, err := t.ask(id, insWrite, t.params, 0)
	return err
}

// Ping implements bus.Talker. The number of a model is written in its own word order, so it
// is looked for in both.
func (t *talker) Ping(id int) (bus.Identity, error) {
	if _, err := t.ask(id, insPing, nil, 0); err != nil {
		return bus.Identity{}, err
	}
	data, err := t.read(id, 0, addrModel+2)
	if err != nil {
		return bus.Identity{}, err
	}
	little, big := int(data[3])|int(data[4])<<8, int(data[4])|int(data[3])<<8
	number := little
	if m, ok := bus.ModelNumbered(Family{}, big); ok && m.Variant == scs {
		number = big
	}
	return bus.Identity{ID: id, Number: number, Firmware: strconv.Itoa(int(data[0])) + "." + strconv.Itoa(int(data[1]))}, nil
}

// searchWait is how long all servos of a line may take to answer a broadcast ping.
const searchWait = 200 * time.Millisecond

// Search implements bus.Talker. SCS servos do not answer, so silence proves nothing.
func (t *talker) Search() (ids []int, err error) {
	t.packet = Append(t.packet[:0], broadcast, insPing, nil)
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

// number reads a word in the order of a model.
func number(m *bus.Model, data []byte) (v uint64) {
	for i, b := range data {
		if m.Variant == scs {
			v = v<<8 | uint64(b)
		} else {
			v |= uint64(b) << (8 * i)
		}
	}
	return v
}

// word appends one.
func word(dst []byte, m *bus.Model, v uint16) []byte {
	if m.Variant == scs {
		return append(dst, byte(v>>8), byte(v))
	}
	return append(dst, byte(v), byte(v>>8))
}

// signed reads a word with a sign bit.
func signed(bits uint64, sign int) int32 {
	if bits>>sign&1 != 0 {
		return -int32(bits &^ (1 << sign))
	}
	return int32(bits)
}

// magnitude writes a word with sign bit 15.
func magnitude(v int32) uint16 {
	if v < 0 {
		return uint16(-v) | 1<<15
	}
	return uint16(v)
}

// Read implements bus.Talker.
func (t *talker) Read(id int, m *bus.Model, r *bus.Register) (int64, error) {
	data, err := t.read(id, r.Address, r.Size)
	if err != nil {
		return 0, err
	}
	return r.Value(number(m, data)), nil
}

// Write implements bus.Talker. A register in EEPROM is unlocked for it, and locked again.
func (t *talker) Write(id int, m *bus.Model, r *bus.Register, v int64) error {
	bits, err := r.Bits(v)
	if err != nil {
		return err
	}
	data := []byte{byte(bits)}
	if r.Size == 2 {
		data = word(nil, m, uint16(bits))
	}
	if !r.Saved {
		return t.write(id, r.Address, data...)
	}
	lock, _ := m.Register("lock")
	if err := t.write(id, lock.Address, 0); err != nil {
		return err
	}
	if err := t.write(id, r.Address, data...); err != nil {
		return err
	}
	if r.Name == "id" {
		id = int(v)
	}
	if r.Name == "baud" {
		return nil // it listens at another rate already
	}
	return t.write(id, lock.Address, 1)
}

// Bits of the register phase: speeds in steps/s, and a position that counts turns.
const (
	phaseSpeed = 0x04
	phaseTurns = 0x10
	turn       = 4096
)

// Prepare implements bus.Talker.
func (t *talker) Prepare(s *bus.Servo) error {
	data, err := t.read(s.ID, addrDelay, 1)
	if err != nil {
		return err
	}
	t.delay = max(t.delay, time.Duration(data[0])*2*time.Microsecond)
	if data, err = t.read(s.ID, addrMin, 4); err != nil {
		return err
	}
	s.Low, s.High = int32(number(s.Model, data[:2])), int32(number(s.Model, data[2:]))
	unlimited := s.Low == 0 && s.High == 0
	if s.Turn = 0; unlimited {
		s.High = s.Model.High
	}
	if data, err = t.read(s.ID, addrVoltages, 2); err != nil {
		return err
	}
	s.Mid = 0.1 * (float64(data[0]) + float64(data[1])) / 2
	f := &found{speed: 1}
	s.Set = f
	if s.Model.Variant == sts {
		if data, err = t.read(s.ID, addrPhase, 1); err != nil {
			return err
		}
		if data[0]&phaseSpeed == 0 {
			f.speed = 50
		}
		if data[0]&phaseTurns != 0 {
			s.Turn = turn
			if unlimited {
				s.Low, s.High = -math.MaxInt16, math.MaxInt16
			}
		}
		if data, err = t.read(s.ID, addrMode, 1); err != nil {
			return err
		}
		if data[0] != 0 {
			return fmt.Errorf("its mode is %d, must be 0, position: poise bus write … mode 0", data[0])
		}
	}
	return t.Slow(s)
}

// stateSize is what States reads of a servo; one byte more makes a late answer differ.
const stateSize = 8

// States implements bus.Talker: one question to all STS and SMS, one to each SCS.
func (t *talker) States(servos []*bus.Servo) error {
	if len(servos) == 0 {
		return nil
	}
	size := stateSize
	if servos[0].Variant {
		size++
	}
	t.params = append(t.params[:0], addrPresent, byte(size))
	for _, s := range servos {
		s.Heard = false
		if s.Model.Variant == sts {
			t.params = append(t.params, byte(s.ID))
		}
	}
	if n := len(t.params) - 2; n > 0 {
		if err := t.syncRead(servos, n, size); err != nil {
			return err
		}
	}
	for _, s := range servos {
		if s.Model.Variant == sts {
			continue
		}
		p, err := t.ask(s.ID, insRead, []byte{addrPresent, byte(size)}, size)
		switch {
		case err == nil:
			take(s, p)
		case !errors.Is(err, bus.ErrSilent):
			return err
		}
	}
	return nil
}

// slack is what a servo may take beyond its return delay.
const slack = 50 * time.Microsecond

func (t *talker) syncRead(servos []*bus.Servo, n, size int) error {
	t.packet = Append(t.packet[:0], broadcast, insSyncRead, t.params)
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
		s := find(servos, p.ID)
		if s == nil || s.Heard || len(p.Data) != size {
			t.line.Others++
			continue
		}
		take(s, p)
		n--
	}
	return nil
}

func find(servos []*bus.Servo, id int) *bus.Servo {
	for _, s := range servos {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// take reads the state out of a reply.
func take(s *bus.Servo, p bus.Packet) {
	d, m := p.Data, s.Model
	s.Heard = true
	s.State.Position = signed(number(m, d[:2]), 15)
	unit := 1.0
	if f, ok := s.Set.(*found); ok {
		unit = f.speed
	}
	s.State.Velocity = m.Step * unit * float64(signed(number(m, d[2:4]), 15))
	s.State.Effort = m.Effort * float64(signed(number(m, d[4:6]), 10))
	s.State.Voltage, s.State.Temperature = 0.1*float64(d[6]), float64(d[7])
	s.State.Fault = faults(s, byte(p.Status))
}

// faults turns the error bits of a reply into faults.
func faults(s *bus.Servo, bits byte) (f servo.Fault) {
	if bits&0x01 != 0 {
		f |= s.VoltageFault()
	}
	if bits&0x02 != 0 {
		f |= servo.SensorFault
	}
	if bits&0x04 != 0 {
		f |= servo.OverTemperature
	}
	if bits&0x28 != 0 { // current, load
		f |= servo.Overload
	}
	return f
}

// Slow implements bus.Talker: voltage and temperature are read every cycle.
func (t *talker) Slow(s *bus.Servo) error {
	data, err := t.read(s.ID, addrTorque, 1)
	if err != nil {
		return err
	}
	s.State.Torque = bus.TorqueOff
	if data[0] != 0 {
		s.State.Torque = bus.TorqueOn
	}
	return nil
}

// headroom lets a servo be faster than its goals are apart, or it would never catch up.
const headroom = 1.5

// Goals implements bus.Talker. The speed is that which reaches the goal in time: a servo
// that missed some goals does not jump.
func (t *talker) Goals(goals []bus.Goal) error {
	for _, variant := range [...]string{sts, scs} {
		t.params = append(t.params[:0], addrRamp, 7)
		if variant == scs {
			t.params = append(t.params[:0], addrGoal, 6)
		}
		head := len(t.params)
		for _, g := range goals {
			if g.Servo.Model.Variant == variant {
				t.params = append(t.params, byte(g.Servo.ID))
				t.params = ramp(t.params, &g)
			}
		}
		if len(t.params) == head {
			continue
		}
		t.packet = Append(t.packet[:0], broadcast, insSyncWrite, t.params)
		if err := t.line.Send(t.packet); err != nil {
			return err
		}
	}
	return nil
}

// ramp appends where to go and how fast.
func ramp(dst []byte, g *bus.Goal) []byte {
	m := g.Servo.Model
	if m.Variant == scs {
		dst = word(dst, m, uint16(max(g.Position, 0)))
		dst = word(dst, m, uint16(min(1000*g.PlayTime, 9999)))
		return word(dst, m, 0)
	}
	unit := 1.0
	if f, ok := g.Servo.Set.(*found); ok {
		unit = f.speed
	}
	far := math.Abs(float64(g.Position - g.Servo.State.Position))
	speed := headroom*far/max(g.PlayTime, 0.001) + slowest
	dst = append(dst, 0)
	dst = word(dst, m, magnitude(g.Position))
	dst = word(dst, m, 0)
	return word(dst, m, uint16(min(math.Ceil(speed/unit), fastest)))
}

// Speeds of a goal: it is never without any, since 0 may mean either extreme.
const (
	slowest = 50    // steps/s
	fastest = 32000 // units
)

// SwitchOn implements bus.Talker. A goal switches torque on by itself, so the first one is
// where the servo is.
func (t *talker) SwitchOn(s *bus.Servo) error {
	g := bus.Goal{Servo: s, Position: s.State.Position, PlayTime: 0.1}
	address := addrRamp
	if s.Model.Variant == scs {
		address = addrGoal
	}
	if err := t.write(s.ID, address, ramp(nil, &g)...); err != nil {
		return err
	}
	if err := t.write(s.ID, addrTorque, 1); err != nil {
		return err
	}
	return t.Slow(s)
}

// Release implements bus.Talker.
func (t *talker) Release(servos []*bus.Servo) error {
	t.params = append(t.params[:0], addrTorque, 1)
	for _, s := range servos {
		t.params = append(t.params, byte(s.ID), 0)
	}
	t.packet = Append(t.packet[:0], broadcast, insSyncWrite, t.params)
	return t.line.Send(t.packet)
}

// Brake implements bus.Talker.
func (t *talker) Brake(*bus.Servo) error { return bus.ErrNoBrake }

// Rest implements bus.Talker: they hold their last goal by themselves.
func (t *talker) Rest([]*bus.Servo) []byte { return nil }

// CycleBytes implements bus.Talker.
func (t *talker) CycleBytes(n int) (bytes, servoWaits, hostWaits int) {
	return overhead + 2 + 8*n + overhead + 2 + n + n*(overhead+stateSize), n, 1
}

// ReplyDelay implements bus.Talker.
func (t *talker) ReplyDelay() time.Duration { return t.delay }
