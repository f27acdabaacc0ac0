package dynamixel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"poise/servo"
	"poise/servo/bus"
)

// Name is that of the family.
const Name = "dynamixel"

// Family is that of Dynamixel servos with Protocol 2.0.
type Family struct{}

var _ bus.Family = Family{}

// Name implements bus.Family.
func (Family) Name() string { return Name }

// Bauds implements bus.Family; baudCodes has their codes.
func (Family) Bauds() []int {
	return []int{57600, 1_000_000, 115200, 2_000_000, 3_000_000, 4_000_000, 4_500_000, 9600}
}

// baudCodes are those of the register baud.
var baudCodes = []int{9600, 57600, 115200, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000}

// BaudCode returns the code of a rate.
func (Family) BaudCode(baud int) (int64, bool) {
	for code, b := range baudCodes {
		if b == baud {
			return int64(code), true
		}
	}
	return 0, false
}

// Models implements bus.Family.
func (Family) Models() []bus.Model { return models }

// LastID implements bus.Family.
func (Family) LastID() int { return 252 }

// Split implements bus.Family.
func (Family) Split(data []byte) (bus.Packet, int, bool) { return Split(data) }

// Complete implements bus.Searcher.
func (Family) Complete() bool { return true }

// Talk implements bus.Family.
func (Family) Talk(l *bus.Line) bus.Talker { return &talker{line: l} }

type talker struct {
	line   *bus.Line
	packet []byte
	params []byte
	delay  time.Duration // return delay of the slowest
	turn   int           // goals that were sent
}

// factoryDelay is the return delay that servos come with.
const factoryDelay = 500 * time.Microsecond

// replySize is how many bytes a reply with data has.
func replySize(data int) int { return overhead + 1 + data }

// ask sends an instruction to one servo and waits for its reply with so many bytes.
func (t *talker) ask(id int, instruction byte, params []byte, want int) ([]byte, error) {
	t.packet = Append(t.packet[:0], id, instruction, params)
	if err := t.line.Ask(t.packet, replySize(want), max(t.delay, factoryDelay)); err != nil {
		return nil, err
	}
	p, err := t.line.Reply(id, func(p bus.Packet) bool { return len(p.Data) == want || p.Status&0x7F != 0 })
	if err != nil {
		return nil, err
	}
	if err := refusal(id, p.Status); err != nil {
		return nil, err
	}
	return p.Data, nil
}

var errorNumbers = []string{"", "could not carry the request out", "does not know the instruction", "heard a broken packet",
	"the value is out of range", "the length is wrong", "the value is beyond a limit", "the register cannot be written now"}

// refusal turns an error number into an error; the alert bit is not an error.
func refusal(id int, status uint16) error {
	number := int(status & 0x7F)
	if number == 0 {
		return nil
	}
	why := "error " + strconv.Itoa(number)
	if number < len(errorNumbers) {
		why = errorNumbers[number]
	}
	return &bus.StatusError{ID: id, Status: status, Why: why}
}

// Ping implements bus.Talker.
func (t *talker) Ping(id int) (bus.Identity, error) {
	data, err := t.ask(id, insPing, nil, 3)
	if err != nil {
		return bus.Identity{}, err
	}
	return bus.Identity{ID: id, Number: int(data[0]) | int(data[1])<<8, Firmware: strconv.Itoa(int(data[2]))}, nil
}

// searchWait is how long all servos of a line may take to answer a broadcast ping.
const searchWait = 300 * time.Millisecond

// Search implements bus.Talker.
func (t *talker) Search() ([]int, error) {
	t.packet = Append(t.packet[:0], broadcast, insPing, nil)
	if err := t.line.Ask(t.packet, replySize(3), searchWait); err != nil {
		return nil, err
	}
	var ids []int
	for {
		p, err := t.line.Next()
		if err != nil {
			return ids, nil
		}
		if len(p.Data) == 3 {
			ids = append(ids, p.ID)
			t.line.Await(replySize(3), searchWait)
		}
	}
}

func (t *talker) read(id, address, size int) ([]byte, error) {
	return t.ask(id, insRead, []byte{byte(address), byte(address >> 8), byte(size), byte(size >> 8)}, size)
}

func (t *talker) write(id, address int, data ...byte) error {
	t.params = append(t.params[:0], byte(address), byte(address>>8))
	t.params = append(t.params, data...)
	_, err := t.ask(id, insWrite, t.params, 0)
	if errors.Is(err, bus.ErrSilent) { // it may be set not to answer writes, or its answer was lost
		if now, wrong := t.read(id, address, len(data)); wrong == nil && bytes.Equal(now, data) {
			return nil
		}
	}
	return err
}

// Read implements bus.Talker.
func (t *talker) Read(id int, _ *bus.Model, r *bus.Register) (int64, error) {
	data, err := t.read(id, r.Address, r.Size)
	if err != nil {
		return 0, err
	}
	return r.Value(number(data)), nil
}

// Write implements bus.Talker.
func (t *talker) Write(id int, _ *bus.Model, r *bus.Register, v int64) error {
	bits, err := r.Bits(v)
	if err != nil {
		return err
	}
	return t.write(id, r.Address, bytesOf(bits, r.Size)...)
}

// number reads little-endian bytes.
func number(data []byte) (v uint64) {
	for i, b := range data {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func bytesOf(bits uint64, size int) []byte {
	return binary.LittleEndian.AppendUint64(nil, bits)[:size]
}

// turn is how many steps a turn has.
const turn = 4096

// Prepare implements bus.Talker.
func (t *talker) Prepare(s *bus.Servo) error {
	data, err := t.read(s.ID, addrReturnDelay, 3)
	if err != nil {
		return err
	}
	t.delay = max(t.delay, time.Duration(data[0])*2*time.Microsecond)
	if err := t.operate(s, data[2], data[1]); err != nil {
		return err
	}
	if data, err = t.read(s.ID, addrVoltages, 4); err != nil {
		return err
	}
	s.Mid = 0.1 * float64(number(data[:2])+number(data[2:])) / 2
	if err := t.limits(s); err != nil {
		return err
	}
	return t.Slow(s)
}

// stateSize is what States reads of a servo; one byte more makes a late answer differ.
const stateSize = 10

// States implements bus.Talker.
func (t *talker) States(servos []*bus.Servo) error {
	if len(servos) == 0 {
		return nil
	}
	size := stateSize
	if servos[0].Variant {
		size++
	}
	t.params = append(t.params[:0], addrPresent, 0, byte(size), 0)
	for _, s := range servos {
		s.Heard = false
		t.params = append(t.params, byte(s.ID))
	}
	t.packet = Append(t.packet[:0], broadcast, insSyncRead, t.params)
	delay := time.Duration(len(servos)) * (t.delay + slack)
	if err := t.line.Ask(t.packet, len(servos)*replySize(size), delay); err != nil {
		return err
	}
	for left := len(servos); left > 0; {
		p, err := t.line.Next()
		if errors.Is(err, bus.ErrSilent) {
			return nil
		}
		if err != nil {
			return err
		}
		if s := bus.ServoOf(servos, p.ID); s != nil && !s.Heard && len(p.Data) == size {
			take(s, p)
			left--
		} else {
			t.line.Others++
		}
	}
	return nil
}

// slack is what a servo may take beyond its return delay.
const slack = 50 * time.Microsecond

// take reads the state out of a reply.
func take(s *bus.Servo, p bus.Packet) {
	d := p.Data
	s.Heard = true
	s.State.Position = int32(number(d[6:10]))
	s.State.Velocity = velocityUnit * float64(int32(number(d[2:6])))
	s.State.Effort = s.Model.Effort * float64(int16(number(d[:2])))
}

// Slow implements bus.Talker. It reads torque and errors, then voltage and temperature.
func (t *talker) Slow(s *bus.Servo) error {
	data, err := t.read(s.ID, addrTorque, addrHardwareErr-addrTorque+1)
	if err != nil {
		return err
	}
	s.State.Torque = bus.TorqueOff
	if data[0] != 0 {
		s.State.Torque = bus.TorqueOn
	}
	bits := data[addrHardwareErr-addrTorque]
	if data, err = t.read(s.ID, addrPresentInput, 3); err != nil {
		return err
	}
	s.State.Voltage, s.State.Temperature = 0.1*float64(number(data[:2])), float64(data[2])
	s.State.Fault = faults(s, bits)
	return nil
}

// faults turns the bits of the hardware error register into faults.
func faults(s *bus.Servo, bits byte) (f servo.Fault) {
	if bits&0x01 != 0 {
		f |= s.VoltageFault()
	}
	if bits&0x04 != 0 {
		f |= servo.OverTemperature
	}
	if bits&0x08 != 0 {
		f |= servo.SensorFault
	}
	if bits&0x30 != 0 { // an electrical shock, or too much load
		f |= servo.Overload
	}
	return f
}

// watchdogTicks of 20 ms are how long a servo waits for packets before it stops by itself.
const watchdogTicks = 25

// SwitchOn implements bus.Talker: an old goal would be driven to, so the goal is set first. Goals are refused until a watchdog
// that has tripped is cleared.
func (t *talker) SwitchOn(s *bus.Servo) error {
	if err := t.write(s.ID, addrWatchdog, 0); err != nil {
		return err
	}
	if err := t.settle(s); err != nil {
		return err
	}
	if err := t.write(s.ID, addrTorque, 1); err != nil {
		return err
	}
	if err := t.write(s.ID, addrWatchdog, watchdogTicks); err != nil {
		return err
	}
	return t.Slow(s)
}

// Tripped implements bus.Watchdog.
func (t *talker) Tripped(s *bus.Servo) (bool, error) {
	data, err := t.read(s.ID, addrWatchdog, 1)
	return err == nil && data[0] == 0xFF, err
}

// Release implements bus.Talker.
func (t *talker) Release(servos []*bus.Servo) error {
	t.params = append(t.params[:0], addrTorque, 0, 1, 0)
	for _, s := range servos {
		t.params = append(t.params, byte(s.ID), 0)
	}
	t.packet = Append(t.packet[:0], broadcast, insSyncWrite, t.params)
	return t.line.Send(t.packet)
}

// Brake implements bus.Talker.
func (t *talker) Brake(*bus.Servo) error { return bus.ErrNoBrake }

// Rest implements bus.Talker: a watchdog of 20 ms trips, and a tripped servo stops where it
// is. The first bytes end a packet that was cut off.
func (t *talker) Rest(servos []*bus.Servo) []byte {
	params := []byte{addrWatchdog, 0, 1, 0}
	for _, s := range servos {
		params = append(params, byte(s.ID), 1)
	}
	return Append(make([]byte, 16), broadcast, insSyncWrite, params)
}

// Leave implements bus.Leaver: servos that keep a velocity or an effort hold where they are, then the watchdog is switched
// off, so that all hold and obey the next program.
func (t *talker) Leave(servos []*bus.Servo) error {
	for _, s := range servos {
		if s.Modes&^servo.ModesOf(servo.Position) == 0 {
			continue
		}
		if err := t.settle(s); err != nil {
			return err // its watchdog stops it
		}
	}
	t.params = append(t.params[:0], addrWatchdog, 0, 1, 0)
	for _, s := range servos {
		t.params = append(t.params, byte(s.ID), 0)
	}
	t.packet = Append(t.packet[:0], broadcast, insSyncWrite, t.params)
	return t.line.Send(t.packet)
}

// CycleBytes implements bus.Talker.
func (t *talker) CycleBytes(n int) (bytes, servoWaits, hostWaits int) {
	return overhead + 4 + 5*n + overhead + 4 + n + n*replySize(stateSize), n, 1
}

// ReplyDelay implements bus.Talker.
func (t *talker) ReplyDelay() time.Duration { return t.delay }
