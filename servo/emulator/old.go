package emulator

import (
	"encoding/binary"
	"math"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/dynamixel"
	"poise/servo/protocol1"
)

// Dynamixel instructions of Protocol 1.0 besides those of Feetech.
const oldBulkRead = 0x92

// Error bits of a reply.
const (
	oldRange       = 0x08
	oldInstruction = 0x40
)

// old reports whether it speaks Protocol 1.0.
func (s *Servo) old() bool { return s.Model.Variant == "ax" || s.Model.Variant == "mx" }

// makeOld fills a control table with what a new AX or MX servo has.
func makeOld(s *Servo) {
	r := &s.ram
	binary.LittleEndian.PutUint16(r[0:], uint16(s.Model.Number))
	code, _ := dynamixel.Old{}.BaudCode(s.Baud)
	r[2], r[3], r[4], r[5] = 24, byte(s.ID), byte(code), 0
	binary.LittleEndian.PutUint16(r[8:], uint16(s.Model.High))
	r[11], r[12], r[13] = 70, 60, 140
	binary.LittleEndian.PutUint16(r[14:], 1023)
	r[16], r[17], r[18] = 2, 0x24, 0x24
	binary.LittleEndian.PutUint16(r[30:], uint16(s.present()))
	binary.LittleEndian.PutUint16(r[34:], 1023)
}

// fillOld brings what it measures into its control table.
func fillOld(s *Servo) {
	r, w := &s.ram, s.e.cfg.World.Read(s.index)
	binary.LittleEndian.PutUint16(r[36:], uint16(s.present()))
	binary.LittleEndian.PutUint16(r[38:], uint16(magnitude(s.scale.Shaft(w.Velocity, s.Model.Step)/oldSpeed(s), 10)))
	binary.LittleEndian.PutUint16(r[40:], uint16(magnitude(s.scale.Load(w.Effort, s.Model.Step)/s.Model.Effort, 10)))
	r[42], r[43] = byte(math.Round(w.Voltage*10)), byte(w.Temperature)
	r[24] = 0
	if s.mode == servo.Position {
		r[24] = 1
	}
}

// oldSpeed is the unit of speeds, rad/s.
func oldSpeed(s *Servo) float64 {
	if s.Model.Variant == "ax" {
		return 0.111 * 2 * math.Pi / 60
	}
	return 0.114 * 2 * math.Pi / 60
}

func oldReply(s *Servo, status byte, data []byte) answer {
	return answer{time.Duration(s.ram[5]) * 2 * time.Microsecond, protocol1.Append(nil, s.ID, byte(s.status)|status, data)}
}

// handleOld carries out an instruction of Protocol 1.0.
func handleOld(servos []*Servo, p bus.Packet) (all []answer) {
	switch p.Kind {
	case ftSyncWrite:
		if len(p.Data) < 2 {
			return nil
		}
		at, n := int(p.Data[0]), int(p.Data[1])
		for rest := p.Data[2:]; n > 0 && len(rest) > n; rest = rest[n+1:] {
			if s := withID(servos, int(rest[0])); s != nil {
				oldWrite(s, at, rest[1:n+1])
			}
		}
		return nil
	case oldBulkRead:
		for rest := p.Data[min(1, len(p.Data)):]; len(rest) >= 3; rest = rest[3:] {
			s := withID(servos, int(rest[1]))
			if s == nil || s.Model.Variant != "mx" || int(rest[2])+int(rest[0]) > len(s.ram) {
				return all // those behind it wait for its reply, in vain
			}
			fillOld(s)
			all = append(all, oldReply(s, 0, s.ram[rest[2]:int(rest[2])+int(rest[0])]))
		}
		return all
	}
	for _, s := range servos {
		if s.ID != p.ID && p.ID != protocol1.Broadcast {
			continue
		}
		if status, data := oldOne(s, p); p.ID != protocol1.Broadcast && replies(s.ram[16], p.Kind) {
			all = append(all, oldReply(s, status, data))
		}
	}
	return all
}

// oldOne carries an instruction out that is for one servo.
func oldOne(s *Servo, p bus.Packet) (status byte, data []byte) {
	fillOld(s)
	switch p.Kind {
	case ftPing:
		return 0, nil
	case ftRead:
		if len(p.Data) != 2 || int(p.Data[0])+int(p.Data[1]) > len(s.ram) {
			return oldRange, nil
		}
		return 0, append([]byte(nil), s.ram[p.Data[0]:int(p.Data[0])+int(p.Data[1])]...)
	case ftWrite:
		if len(p.Data) < 2 {
			return oldRange, nil
		}
		return oldWrite(s, int(p.Data[0]), p.Data[1:]), nil
	}
	return oldInstruction, nil
}

// oldWrite writes registers, and does what they mean: a goal switches torque on.
func oldWrite(s *Servo, at int, data []byte) (status byte) {
	if at+len(data) > len(s.ram) || at < 3 || at >= 36 && at < 44 {
		return oldRange
	}
	if at < 24 {
		s.log("saved", "register %d", at)
	}
	covers := func(r, size int) bool { return at <= r && at+len(data) >= r+size }
	copy(s.ram[at:], data)
	if covers(3, 1) {
		s.ID = int(s.ram[3])
	}
	if covers(4, 1) {
		s.listen(dynamixel.Old{}, s.ram[4])
	}
	if covers(24, 1) {
		if data[24-at] == 0 {
			s.torque(servo.Off)
		} else if s.mode != servo.Position && s.strong() {
			s.torque(servo.Position)
		}
	}
	if covers(30, 2) {
		oldGoal(s)
	}
	return 0
}

// strong reports whether its torque limit, which is 0 after it has protected itself, lets it have any.
func (s *Servo) strong() bool { return binary.LittleEndian.Uint16(s.ram[34:]) > 0 }

// oldGoal takes a goal, with the speed that stands behind it.
func oldGoal(s *Servo) {
	goal := int32(binary.LittleEndian.Uint16(s.ram[30:]))
	low, high := int32(binary.LittleEndian.Uint16(s.ram[6:])), int32(binary.LittleEndian.Uint16(s.ram[8:]))
	goal = max(low, min(goal, high))
	if !s.strong() {
		s.goal = goal
		return
	}
	if s.mode != servo.Position {
		s.offered(goal)
		s.goal = goal
		s.torque(servo.Position)
	}
	seconds := 0.0
	if v := float64(binary.LittleEndian.Uint16(s.ram[32:])&1023) * oldSpeed(s); v > 0 {
		seconds = math.Abs(float64(goal-s.present())) * s.Model.Step / v
	}
	s.aim(goal, seconds)
}
