package herkulex

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"poise/servo"
	"poise/servo/bus"
)

// Name is that of the family.
const Name = "herkulex"

// Family is that of HerkuleX servos.
type Family struct{}

var _ bus.Family = Family{}

// Name implements bus.Family.
func (Family) Name() string { return Name }

// Bauds implements bus.Family.
func (Family) Bauds() []int { return []int{115200, 57600, 200000, 250000, 400000, 500000, 666666} }

// baudCodes are those of the register baud.
var baudCodes = map[int]int64{57600: 0x22, 115200: 0x10, 200000: 0x09, 250000: 0x07, 400000: 0x04, 500000: 0x03, 666666: 0x02}

// BaudCode returns the code of a rate.
func (Family) BaudCode(baud int) (int64, bool) {
	code, ok := baudCodes[baud]
	return code, ok
}

// Models implements bus.Family.
func (Family) Models() []bus.Model { return models }

// LastID implements bus.Family.
func (Family) LastID() int { return 253 }

// Split implements bus.Family.
func (Family) Split(data []byte) (bus.Packet, int, bool) { return Split(data) }

// Talk implements bus.Family.
func (Family) Talk(l *bus.Line) bus.Talker { return &talker{line: l} }

type talker struct {
	line   *bus.Line
	packet []byte
	params []byte
}

// replyDelay is how long a servo takes before it answers.
const replyDelay = 300 * time.Microsecond

// readSize is how many bytes a reply with registers has: address, length, data, status.
func readSize(data int) int { return overhead + 4 + data }

// ask sends a command to one servo and waits for its reply.
func (t *talker) ask(id int, command byte, data []byte, answer int, fits func(bus.Packet) bool) (bus.Packet, error) {
	t.packet = Append(t.packet[:0], id, command, data)
	if err := t.line.Ask(t.packet, answer, 2*replyDelay); err != nil {
		return bus.Packet{}, err
	}
	return t.line.Reply(id, func(p bus.Packet) bool { return p.Kind == command|reply && (fits == nil || fits(p)) })
}

// read reads registers of RAM or EEPROM. Its answer says which they are, so that no other
// can be taken for it.
func (t *talker) read(id int, command byte, address, size int) (bus.Packet, error) {
	p, err := t.ask(id, command, []byte{byte(address), byte(size)}, readSize(size), func(p bus.Packet) bool { return isRead(p, address, size) })
	if err == nil {
		p.Data = p.Data[2:]
	}
	return p, err
}

// isRead reports whether a reply has these registers.
func isRead(p bus.Packet, address, size int) bool {
	return len(p.Data) == size+2 && int(p.Data[0]) == address && int(p.Data[1]) == size
}

// tries is how often a register is written before it is given up: writes are not answered.
const tries = 3

// write writes registers and reads them back.
func (t *talker) write(id int, command byte, address int, data ...byte) error {
	var err error
	for range tries {
		t.params = append(append(t.params[:0], byte(address), byte(len(data))), data...)
		t.packet = Append(t.packet[:0], id, command, t.params)
		if err = t.line.Send(t.packet); err != nil {
			return err
		}
		var p bus.Packet
		if p, err = t.read(id, command+1, address, len(data)); err == nil && bytes.Equal(p.Data, data) {
			return nil
		}
	}
	if err == nil {
		err = fmt.Errorf("servo %d: register %d does not take %X", id, address, data)
	}
	return err
}

// Ping implements bus.Talker.
func (t *talker) Ping(id int) (bus.Identity, error) {
	if _, err := t.ask(id, cmdStat, nil, overhead+2, nil); err != nil {
		return bus.Identity{}, err
	}
	p, err := t.read(id, cmdEEPRead, 0, 4)
	if err != nil {
		return bus.Identity{}, err
	}
	return bus.Identity{ID: id, Number: int(p.Data[0])<<8 | int(p.Data[1]), Firmware: strconv.Itoa(int(p.Data[2])) + "." + strconv.Itoa(int(p.Data[3]))}, nil
}

// Search implements bus.Talker: all would answer over each other.
func (t *talker) Search() ([]int, error) { return nil, bus.ErrSilent }

// Read implements bus.Talker.
func (t *talker) Read(id int, _ *bus.Model, r *bus.Register) (int64, error) {
	command := byte(cmdRAMRead)
	if r.Saved {
		command = cmdEEPRead
	}
	p, err := t.read(id, command, r.Address, r.Size)
	if err != nil {
		return 0, err
	}
	if r.Name == "model" || r.Name == "firmware" { // written as two numbers
		return int64(p.Data[0])<<8 | int64(p.Data[1]), nil
	}
	return r.Value(word(p.Data)), nil
}

// Write implements bus.Talker.
func (t *talker) Write(id int, _ *bus.Model, r *bus.Register, v int64) error {
	bits, err := r.Bits(v)
	if err != nil {
		return err
	}
	data := []byte{byte(bits), byte(bits >> 8)}[:r.Size]
	if r.Saved {
		return t.write(id, cmdEEPWrite, r.Address, data...)
	}
	return t.write(id, cmdRAMWrite, r.Address, data...)
}

// Reboot lets a servo start anew, with what its EEPROM has.
func (t *talker) Reboot(id int) error {
	return t.line.Send(Append(t.packet[:0], id, cmdReboot, nil))
}

func word(data []byte) (v uint64) {
	for i, b := range data {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// Prepare implements bus.Talker.
func (t *talker) Prepare(s *bus.Servo) error {
	p, err := t.read(s.ID, cmdRAMRead, ramPolicy, 1)
	if err != nil {
		return err
	}
	if p.Data[0] == 0 { // it would answer nothing but STAT
		if err := t.write(s.ID, cmdRAMWrite, ramPolicy, 1); err != nil {
			return err
		}
	}
	if p, err = t.read(s.ID, cmdRAMRead, ramVoltages, 2); err != nil {
		return err
	}
	s.Mid = voltageUnit * (float64(p.Data[0]) + float64(p.Data[1])) / 2
	if p, err = t.read(s.ID, cmdRAMRead, ramLimits, 4); err != nil {
		return err
	}
	s.Low, s.High = int32(word(p.Data[:2])), int32(word(p.Data[2:]))
	return t.Slow(s)
}

// stateSize is what States reads of a servo: both positions and velocity.
const stateSize = 6

// States implements bus.Talker. Each is asked when the one before has answered: two replies
// at a time would run into each other.
func (t *talker) States(servos []*bus.Servo) error {
	for _, s := range servos {
		s.Heard = false
		p, err := t.read(s.ID, cmdRAMRead, ramPosition, stateSize)
		switch {
		case err == nil:
			take(s, p)
			s.Heard = true
		case !errors.Is(err, bus.ErrSilent):
			return err
		}
	}
	return nil
}

// take reads the state out of a reply.
func take(s *bus.Servo, p bus.Packet) {
	s.State.Position = int32(word(p.Data[:2])) & mask(s.Model)
	s.State.Velocity = velocityUnit * float64(int16(word(p.Data[4:6])))
	status(s, p.Status)
}

// mask keeps the bits of a position: those above it carry dirt.
func mask(m *bus.Model) int32 { return 2*m.Centre - 1 }

// velocityUnit is that of the register, rad/s: 29.09 °/s.
const velocityUnit = 29.09 * math.Pi / 180

// Bits of the status.
const (
	errVoltage     = 0x01
	errPosition    = 0x02
	errTemperature = 0x04
	errPacket      = 0x08
	errOverload    = 0x10
	errDriver      = 0x20
	errEEPROM      = 0x40
	detailMotorOn  = 0x40
)

// status reads the bits that every reply has.
func status(s *bus.Servo, bits uint16) {
	s.State.Torque = bus.TorqueOff
	if bits>>8&detailMotorOn != 0 {
		s.State.Torque = bus.TorqueOn
	}
	var f servo.Fault
	if bits&errVoltage != 0 {
		f |= s.VoltageFault()
	}
	if bits&errPosition != 0 {
		f |= servo.OutOfRange
	}
	if bits&errTemperature != 0 {
		f |= servo.OverTemperature
	}
	if bits&errPacket != 0 {
		f |= servo.BadPacket
	}
	if bits&(errOverload|errDriver) != 0 {
		f |= servo.Overload
	}
	if bits&errEEPROM != 0 {
		f |= servo.SensorFault
	}
	s.State.Fault = f
}

// slowSize is what Slow reads: from torque to PWM.
const slowSize = 14

// Slow implements bus.Talker. A packet that the servo did not understand is an error that it
// keeps; it is cleared, since it says nothing of the servo.
func (t *talker) Slow(s *bus.Servo) error {
	p, err := t.read(s.ID, cmdRAMRead, ramTorque, slowSize)
	if err != nil {
		return err
	}
	s.State.Voltage, s.State.Temperature = voltageUnit*float64(p.Data[2]), celsius(p.Data[3])
	s.State.Effort = s.Model.Effort * float64(int16(word(p.Data[slowSize-2:])))
	status(s, p.Status)
	if p.Status&0xFF == errPacket {
		return t.clear(s)
	}
	return nil
}

// clear forgets the errors of a servo.
func (t *talker) clear(s *bus.Servo) error {
	t.packet = Append(t.packet[:0], s.ID, cmdRAMWrite, []byte{ramStatus, 2, 0, 0})
	return t.line.Send(t.packet)
}

// Goals implements bus.Talker: one play time for all, the longest.
func (t *talker) Goals(goals []bus.Goal) error {
	for len(goals) > 0 {
		part := goals[:min(len(goals), (maxSize-overhead-1)/4)]
		goals = goals[len(part):]
		play := 0.0
		for _, g := range part {
			play = max(play, g.PlayTime)
		}
		t.params = append(t.params[:0], playTime(play))
		for _, g := range part {
			t.params = append(t.params, byte(g.Position), byte(g.Position>>8), 0, byte(g.Servo.ID))
		}
		t.packet = Append(t.packet[:0], broadcast, cmdSJog, t.params)
		if err := t.line.Send(t.packet); err != nil {
			return err
		}
	}
	return nil
}

// playTime returns the code of a time.
func playTime(s float64) byte { return byte(max(1, min(math.Round(s/timeUnit), longestPlay))) }

// SwitchOn implements bus.Talker: goals are ignored without torque, so torque comes first
// and the present position at once.
func (t *talker) SwitchOn(s *bus.Servo) error {
	if err := t.clear(s); err != nil {
		return err
	}
	if err := t.torque(s, torqueOn); err != nil {
		return err
	}
	return t.Goals([]bus.Goal{{Servo: s, Position: s.State.Position, PlayTime: timeUnit}})
}

// Release implements bus.Talker. A write to all was found not to work, so each has its own.
func (t *talker) Release(servos []*bus.Servo) error {
	t.packet = t.packet[:0]
	for _, s := range servos {
		t.packet = Append(t.packet, s.ID, cmdRAMWrite, []byte{ramTorque, 1, torqueFree})
	}
	return t.line.Send(t.packet)
}

// Brake implements bus.Talker.
func (t *talker) Brake(s *bus.Servo) error { return t.torque(s, torqueBrake) }

// torque sets the register and sees what the servo made of it.
func (t *talker) torque(s *bus.Servo, to byte) error {
	if err := t.write(s.ID, cmdRAMWrite, ramTorque, to); err != nil {
		return err
	}
	return t.Slow(s)
}

// stopFlag of a goal lets a servo stop where it is.
const stopFlag = 0x01

// Rest implements bus.Talker. The first bytes end a packet that was cut off.
func (t *talker) Rest(servos []*bus.Servo) []byte {
	params := []byte{1}
	for _, s := range servos {
		params = append(params, 0, 0, stopFlag, byte(s.ID))
	}
	return Append(make([]byte, maxSize), broadcast, cmdSJog, params)
}

// CycleBytes implements bus.Talker.
func (t *talker) CycleBytes(n int) (bytes, servoWaits, hostWaits int) {
	return overhead + 1 + 4*n + n*(overhead+2+readSize(stateSize)), n, n
}

// ReplyDelay implements bus.Talker.
func (t *talker) ReplyDelay() time.Duration { return replyDelay }
