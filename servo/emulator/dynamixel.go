package emulator

import (
	"encoding/binary"
	"math"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/dynamixel"
)

const dynamixelName = dynamixel.Name

// Error numbers of Dynamixel replies.
const (
	dxlInstruction = 2
	dxlRange       = 4
	dxlLength      = 5
	dxlLimit       = 6
	dxlAccess      = 7
)

func dxlDelay(s *Servo) time.Duration { return time.Duration(s.ram[9]) * 2 * time.Microsecond }

// makeDynamixel fills a control table with what a new X servo has.
func makeDynamixel(s *Servo) {
	r := &s.ram
	binary.LittleEndian.PutUint16(r[0:], uint16(s.Model.Number))
	code, _ := dynamixel.Family{}.BaudCode(s.Baud)
	r[6], r[7], r[8], r[9], r[11], r[12], r[13] = 46, byte(s.ID), byte(code), 0, 3, 255, 2
	r[31] = 80
	binary.LittleEndian.PutUint16(r[32:], 160)
	binary.LittleEndian.PutUint16(r[34:], 55)
	binary.LittleEndian.PutUint16(r[36:], 885)
	binary.LittleEndian.PutUint16(r[38:], 1193)
	binary.LittleEndian.PutUint32(r[44:], 330)
	binary.LittleEndian.PutUint32(r[48:], 4095)
	r[63], r[68] = 0x34, 2
	binary.LittleEndian.PutUint16(r[84:], 800)
	binary.LittleEndian.PutUint32(r[116:], uint32(s.present()))
	for i := range 28 {
		binary.LittleEndian.PutUint16(r[168+2*i:], uint16(224+i))
	}
}

// watch lets the bus watchdog of a servo trip.
func (s *Servo) watch(now time.Time) {
	if s.Model.Family != dynamixelName || s.armed.IsZero() || s.trip || s.mode == servo.Off {
		return
	}
	if limit := time.Duration(s.ram[98]) * 20 * time.Millisecond; now.Sub(s.armed) > limit {
		s.trip = true
		s.ram[98] = 0xFF
		s.aim(s.present(), 0) // whatever its mode, it stands still
		s.log("watchdog", "no packet for %v: it stops where it is", limit)
	}
}

// fillDynamixel brings what it measures into its control table.
func fillDynamixel(s *Servo) {
	r, w := &s.ram, s.e.cfg.World.Read(s.index)
	shaft := s.scale.Shaft(w.Velocity, s.Model.Step)
	binary.LittleEndian.PutUint16(r[126:], uint16(int16(s.scale.Load(w.Effort, s.Model.Step)/s.Model.Effort)))
	binary.LittleEndian.PutUint32(r[128:], uint32(int32(math.Round(shaft/(0.229*2*math.Pi/60)))))
	binary.LittleEndian.PutUint32(r[132:], uint32(s.present()))
	binary.LittleEndian.PutUint16(r[144:], uint16(math.Round(w.Voltage*10)))
	r[146], r[70] = byte(w.Temperature), byte(s.status)
	r[64] = 0
	if s.mode == servo.Position {
		r[64] = 1
	}
}

func dxlReply(s *Servo, status byte, data []byte) answer {
	if s.status != 0 {
		status |= 0x80
	}
	return answer{dxlDelay(s), dynamixel.Append(nil, s.ID, 0x55, append([]byte{status}, data...))}
}

// handleDynamixel carries out an instruction of Protocol 2.0.
func handleDynamixel(servos []*Servo, p bus.Packet) (all []answer) {
	if p.Kind == 0x55 {
		return nil
	}
	for _, s := range servos {
		if !s.trip && !s.armed.IsZero() {
			s.armed = time.Now() // any packet feeds the watchdog
		}
	}
	switch p.Kind {
	case 0x82:
		return dxlSyncRead(servos, p)
	case 0x83:
		dxlSyncWrite(servos, p)
		return nil
	}
	for _, s := range servos {
		if s.ID != p.ID && p.ID != 0xFE {
			continue
		}
		status, data := dxlOne(s, p)
		if (p.ID != 0xFE || p.Kind == 1) && replies(s.ram[68], p.Kind) {
			all = append(all, dxlReply(s, status, data))
		}
	}
	return all
}

// replies reports whether a servo of some reply level answers an instruction: 0 answers pings, 1 reads, too,
// 2 all.
func replies(level, kind byte) bool { return kind == 1 || kind == 2 && level > 0 || level > 1 }

// dxlOne carries an instruction out that is for one servo.
func dxlOne(s *Servo, p bus.Packet) (status byte, data []byte) {
	fillDynamixel(s)
	switch p.Kind {
	case 1:
		return 0, []byte{s.ram[0], s.ram[1], s.ram[6]}
	case 2:
		if len(p.Data) != 4 {
			return dxlLength, nil
		}
		at, n := int(binary.LittleEndian.Uint16(p.Data)), int(binary.LittleEndian.Uint16(p.Data[2:]))
		if at+n > len(s.ram) {
			return dxlRange, nil
		}
		return 0, append([]byte(nil), s.ram[at:at+n]...)
	case 3:
		if len(p.Data) < 3 {
			return dxlLength, nil
		}
		return dxlWrite(s, int(binary.LittleEndian.Uint16(p.Data)), p.Data[2:]), nil
	case 8:
		s.Reset()
		return 0, nil
	}
	return dxlInstruction, nil
}

func dxlSyncRead(servos []*Servo, p bus.Packet) (all []answer) {
	if len(p.Data) < 4 {
		return nil
	}
	at, n := int(binary.LittleEndian.Uint16(p.Data)), int(binary.LittleEndian.Uint16(p.Data[2:]))
	if at+n > 256 {
		return nil
	}
	for _, id := range p.Data[4:] {
		s := withID(servos, int(id))
		if s == nil {
			return all // those behind it wait for its reply, in vain
		}
		fillDynamixel(s)
		all = append(all, dxlReply(s, 0, s.ram[at:at+n]))
	}
	return all
}

func withID(servos []*Servo, id int) *Servo {
	for _, s := range servos {
		if s.ID == id {
			return s
		}
	}
	return nil
}

func dxlSyncWrite(servos []*Servo, p bus.Packet) {
	if len(p.Data) < 4 {
		return
	}
	at, n := int(binary.LittleEndian.Uint16(p.Data)), int(binary.LittleEndian.Uint16(p.Data[2:]))
	for rest := p.Data[4:]; n > 0 && len(rest) > n; rest = rest[n+1:] {
		if s := withID(servos, int(rest[0])); s != nil {
			dxlWrite(s, at, rest[1:n+1])
		}
	}
}

// dxlWrite writes registers, and does what they mean.
func dxlWrite(s *Servo, at int, data []byte) (status byte) {
	switch {
	case at+len(data) > len(s.ram):
		return dxlRange
	case at < 64 && s.mode != servo.Off:
		return dxlAccess // EEPROM is locked while torque is on
	case at <= 6 || at >= 122 && at < 168:
		return dxlAccess
	case at < 64:
		s.log("saved", "register %d", at)
	}
	covers := func(r, size int) bool { return at <= r && at+len(data) >= r+size }
	if status := dxlGoals(s, at, data, covers); status != 0 {
		return status
	}
	if covers(98, 1) {
		if s.trip && s.mode == servo.Position && s.ram[11] == dxlVelocity {
			s.drive() // its old velocity counts again
		}
		s.armed, s.trip = time.Time{}, false
		if data[98-at] > 0 && data[98-at] < 128 {
			s.armed = time.Now()
		}
	}
	copy(s.ram[at:], data)
	if covers(7, 1) {
		s.ID = int(s.ram[7])
	}
	if covers(8, 1) {
		s.listen(dynamixel.Family{}, s.ram[8])
	}
	if covers(64, 1) {
		if data[64-at] == 0 {
			s.torque(servo.Off)
		} else if s.status&uint16(s.ram[63]) == 0 {
			s.torque(servo.Position)
		}
	}
	if covers(11, 1) {
		s.settleMode()
	}
	if s.mode == servo.Position && !s.trip && (covers(102, 2) || covers(104, 4) || covers(116, 4)) {
		s.drive()
	}
	return 0
}
