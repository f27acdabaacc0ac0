package emulator

import (
	"encoding/binary"
	"math"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/herkulex"
)

const herkulexName = herkulex.Name

// hxDelay is how long a HerkuleX servo takes before it answers.
const hxDelay = 300 * time.Microsecond

// makeHerkulex fills EEPROM and RAM with what a new servo has.
func makeHerkulex(s *Servo) {
	e := &s.eep
	e[0], e[1], e[2], e[3] = byte(s.Model.Number>>8), byte(s.Model.Number), 0, 93
	code, _ := herkulex.Family{}.BaudCode(s.Baud)
	e[4], e[6], e[7], e[8], e[9] = byte(code), byte(s.ID), 1, 0x7F, 0x33
	e[11], e[12], e[13] = 222, 0x5B, 0x89
	binary.LittleEndian.PutUint16(e[22:], 1023)
	binary.LittleEndian.PutUint16(e[26:], uint16(s.Model.Low))
	binary.LittleEndian.PutUint16(e[28:], uint16(s.Model.High))
	binary.LittleEndian.PutUint16(e[30:], 440)
	binary.LittleEndian.PutUint16(e[32:], 8000)
	s.loadHerkulex()
}

// loadHerkulex is what a servo does when it starts: RAM gets what EEPROM has.
func (s *Servo) loadHerkulex() {
	clear(s.ram[:])
	copy(s.ram[:48], s.eep[6:54])
	s.ID = int(s.eep[6])
	s.listen(herkulex.Family{}, s.eep[4])
}

// fillHerkulex brings what it measures into RAM.
func fillHerkulex(s *Servo) {
	r, w := &s.ram, s.e.cfg.World.Read(s.index)
	dirt := uint16(0x6000) // bits above a position mean nothing
	binary.LittleEndian.PutUint16(r[58:], uint16(s.present())|dirt)
	binary.LittleEndian.PutUint16(r[60:], uint16(s.present()-s.shift()))
	binary.LittleEndian.PutUint16(r[62:], uint16(int16(math.Round(s.scale.Shaft(w.Velocity, s.Model.Step)/(29.09*math.Pi/180)))))
	binary.LittleEndian.PutUint16(r[64:], uint16(int16(s.scale.Load(w.Effort, s.Model.Step)/s.Model.Effort)))
	binary.LittleEndian.PutUint16(r[68:], uint16(s.goal-s.shift()))
	r[54], r[55], r[48] = byte(math.Round(w.Voltage/0.074075)), 128, byte(s.status)
	switch s.mode {
	case servo.Position:
		r[52] = 0x60
	case servo.Brake:
		r[52] = 0x40
	default:
		r[52] = 0
	}
}

func hxReply(s *Servo, command byte, data []byte) answer {
	detail := byte(0x02)
	if s.mode == servo.Position {
		detail |= 0x40
	}
	data = append(append([]byte(nil), data...), byte(s.status), detail)
	return answer{hxDelay, herkulex.Append(nil, s.ID, command|0x40, data)}
}

// handleHerkulex carries out a command.
func handleHerkulex(servos []*Servo, p bus.Packet) (all []answer) {
	if p.Reply {
		return nil
	}
	switch p.Kind {
	case 5, 6:
		hxJog(servos, p)
		return nil
	}
	for _, s := range servos {
		if s.ID != p.ID && p.ID != 0xFE {
			continue
		}
		if a, ok := hxOne(s, p); ok && (p.ID != 0xFE || p.Kind == 7) {
			all = append(all, a)
		}
	}
	return all
}

// hxOne carries a command out that is for one servo.
func hxOne(s *Servo, p bus.Packet) (answer, bool) {
	fillHerkulex(s)
	switch p.Kind {
	case 1, 3:
		if len(p.Data) < 3 || int(p.Data[1]) != len(p.Data)-2 || int(p.Data[0])+int(p.Data[1]) > 256 {
			return answer{}, false
		}
		hxWrite(s, p)
		return hxReply(s, p.Kind, nil), s.ram[1] == 2
	case 2, 4:
		if len(p.Data) != 2 || int(p.Data[0])+int(p.Data[1]) > 256 || s.ram[1] == 0 {
			return answer{}, false
		}
		from := &s.ram
		if p.Kind == 2 {
			from = &s.eep
		}
		at, n := int(p.Data[0]), int(p.Data[1])
		return hxReply(s, p.Kind, append([]byte{p.Data[0], p.Data[1]}, from[at:at+n]...)), true
	case 7:
		return hxReply(s, 7, nil), true
	case 8:
		makeHerkulex(s)
		return hxReply(s, 8, nil), s.ram[1] == 2
	case 9:
		s.Reset()
		return answer{}, false
	}
	return answer{}, false
}

// hxWrite writes registers, and does what they mean.
func hxWrite(s *Servo, p bus.Packet) {
	at, data := int(p.Data[0]), p.Data[2:]
	if p.Kind == 1 {
		s.log("saved", "register %d", at)
		copy(s.eep[at:], data)
		return
	}
	copy(s.ram[at:], data)
	covers := func(r int) bool { return at <= r && at+len(data) > r }
	if covers(0) {
		s.ID = int(s.ram[0])
	}
	if covers(48) {
		s.status = uint16(data[48-at])
	}
	if covers(52) {
		switch data[52-at] {
		case 0x60:
			if s.status&uint16(s.ram[3]) == 0 { // errors keep torque off
				s.goal = s.present()
				s.torque(servo.Position)
			}
		case 0x40:
			s.torque(servo.Brake)
		default:
			s.torque(servo.Off)
		}
	}
}

// hxJog takes goals: I_JOG with a play time each, S_JOG with one for all.
func hxJog(servos []*Servo, p bus.Packet) {
	data, each := p.Data, 5
	common := byte(0)
	if p.Kind == 6 {
		if len(data) == 0 {
			return
		}
		common, data, each = data[0], data[1:], 4
	}
	for ; len(data) >= each; data = data[each:] {
		s := withID(servos, int(data[3]))
		if s == nil {
			continue
		}
		play := common
		if each == 5 {
			play = data[4]
		}
		hxGoal(s, int32(data[0])|int32(data[1])<<8, data[2], play)
	}
}

func hxGoal(s *Servo, goal int32, set, play byte) {
	switch {
	case s.mode != servo.Position:
		if set&1 == 0 {
			s.log(Violation, "a goal without torque, which is ignored")
		}
	case set&1 != 0:
		s.log("stopped", "")
		s.aim(s.present(), 0)
	case set&2 != 0:
		s.log(Violation, "continuous rotation: a dead program would let it turn for ever")
	default:
		low, high := int32(binary.LittleEndian.Uint16(s.ram[20:])), int32(binary.LittleEndian.Uint16(s.ram[22:]))
		s.aim(max(low, min(goal, high)), 0.0112*float64(play))
	}
}
