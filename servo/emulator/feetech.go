package emulator

import (
	"math"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/feetech"
	"poise/servo/protocol1"
)

// Feetech instructions.
const (
	ftPing      = 1
	ftRead      = 2
	ftWrite     = 3
	ftReset     = 8
	ftSyncRead  = 0x82
	ftSyncWrite = 0x83
)

func (s *Servo) big() bool { return s.Model.Variant == "scs" }

func (s *Servo) word(at int) int {
	a, b := int(s.ram[at]), int(s.ram[at+1])
	if s.big() {
		a, b = b, a
	}
	return a | b<<8
}

func (s *Servo) setWord(at, v int) {
	s.ram[at], s.ram[at+1] = byte(v), byte(v>>8)
	if s.big() {
		s.ram[at], s.ram[at+1] = s.ram[at+1], s.ram[at]
	}
}

// magnitude is a number with a sign bit.
func magnitude(v float64, sign int) int {
	n := int(math.Round(math.Abs(v)))
	if n = min(n, 1<<sign-1); v < 0 {
		n |= 1 << sign
	}
	return n
}

// makeFeetech fills a control table with what a new servo has.
func makeFeetech(s *Servo) {
	r := &s.ram
	r[0], r[1], r[2] = 3, 10, 0
	s.setWord(3, s.Model.Number)
	code, _ := feetech.Family{}.BaudCode(s.Baud)
	r[5], r[6], r[7], r[8] = byte(s.ID), byte(code), 0, 1
	s.setWord(9, 0)
	s.setWord(11, int(s.Model.High))
	r[13], r[14], r[15] = 70, 140, 40
	s.setWord(16, 1000)
	r[18] = 0x0C // speeds in steps/s, 0 is fastest
	r[19], r[21], r[22] = 0x2C, 32, 32
	if s.big() {
		r[48] = 1
	} else {
		s.setWord(48, 1000)
		r[55] = 1
	}
	s.setWord(42, magnitude(float64(s.present()), 15))
}

// fillFeetech brings what it measures into its control table.
func fillFeetech(s *Servo) {
	w := s.e.cfg.World.Read(s.index)
	s.setWord(56, magnitude(float64(s.present()), 15))
	unit := 1.0
	if s.ram[18]&4 == 0 && !s.big() {
		unit = 50
	}
	s.setWord(58, magnitude(s.scale.Shaft(w.Velocity, s.Model.Step)/s.Model.Step/unit, 15))
	s.setWord(60, magnitude(s.scale.Load(w.Effort, s.Model.Step)/s.Model.Effort, 10))
	s.ram[62], s.ram[63], s.ram[65] = byte(math.Round(w.Voltage*10)), byte(w.Temperature), byte(s.status)
	s.ram[40] = 0
	if s.mode == servo.Position {
		s.ram[40] = 1
	}
}

func ftReply(s *Servo, data []byte) answer {
	return answer{time.Duration(s.ram[7]) * 2 * time.Microsecond, protocol1.Append(nil, s.ID, byte(s.status), data)}
}

// handleFeetech carries out an instruction.
func handleFeetech(servos []*Servo, p bus.Packet) (all []answer) {
	switch p.Kind {
	case ftSyncRead:
		if len(p.Data) < 2 {
			return nil
		}
		at, n := int(p.Data[0]), int(p.Data[1])
		for _, id := range p.Data[2:] {
			s := withID(servos, int(id))
			if s == nil || s.big() || at+n > 256 {
				continue // the others wait for its time slot and go on
			}
			fillFeetech(s)
			all = append(all, ftReply(s, s.ram[at:at+n]))
		}
		return all
	case ftSyncWrite:
		if len(p.Data) < 2 {
			return nil
		}
		at, n := int(p.Data[0]), int(p.Data[1])
		for rest := p.Data[2:]; n > 0 && len(rest) > n; rest = rest[n+1:] {
			if s := withID(servos, int(rest[0])); s != nil {
				ftWriteTo(s, at, rest[1:n+1])
			}
		}
		return nil
	}
	for _, s := range servos {
		if s.ID != p.ID && p.ID != 0xFE || p.ID == 0xFE && s.big() && p.Kind == ftPing {
			continue
		}
		if a, ok := ftOne(s, p); ok && (p.ID != 0xFE || p.Kind == ftPing) && (s.ram[8] != 0 || p.Kind == ftPing || p.Kind == ftRead) {
			all = append(all, a)
		}
	}
	return all
}

// ftOne carries an instruction out that is for one servo.
func ftOne(s *Servo, p bus.Packet) (answer, bool) {
	fillFeetech(s)
	switch p.Kind {
	case ftPing:
		return ftReply(s, nil), true
	case ftRead:
		if len(p.Data) != 2 || int(p.Data[0])+int(p.Data[1]) > 256 {
			return answer{}, false
		}
		return ftReply(s, s.ram[p.Data[0]:int(p.Data[0])+int(p.Data[1])]), true
	case ftWrite:
		if len(p.Data) < 2 || int(p.Data[0])+len(p.Data)-1 > 256 {
			return answer{}, false
		}
		ftWriteTo(s, int(p.Data[0]), p.Data[1:])
		return ftReply(s, nil), true
	case ftReset:
		s.Reset()
		return ftReply(s, nil), true
	}
	return answer{}, false
}

// ftWriteTo writes registers, and does what they mean: a goal switches torque on.
func ftWriteTo(s *Servo, at int, data []byte) {
	covers := func(r, size int) bool { return at <= r && at+len(data) >= r+size }
	lock := 55
	if s.big() {
		lock = 48
	}
	if at < 40 {
		if s.ram[lock] == 0 {
			s.log("saved", "register %d", at)
		}
	}
	copy(s.ram[at:], data)
	switch {
	case covers(5, 1):
		s.ID = int(s.ram[5])
	case covers(6, 1):
		s.listen(feetech.Family{}, s.ram[6])
	}
	if covers(40, 1) {
		switch data[40-at] {
		case 0:
			s.torque(servo.Off)
		case 1:
			if s.mode != servo.Position {
				s.goal = s.present() // it holds where it is
			}
			s.torque(servo.Position)
		case 128: // here is the middle from now on
			s.setWord(31, magnitude(float64(s.present()-s.shift()-2048), 11))
			s.log("saved", "homing offset")
		}
	}
	if covers(42, 2) {
		ftGoal(s)
	}
}

// ftGoal takes a goal, with the time or the speed that stands beside it.
func ftGoal(s *Servo) {
	bits := s.word(42)
	goal := int32(bits &^ (1 << 15))
	if bits>>15 != 0 {
		goal = -goal
	}
	if low, high := int32(s.word(9)), int32(s.word(11)); high > low {
		goal = max(low, min(goal, high))
	}
	if s.mode != servo.Position {
		s.offered(goal)
		s.goal = goal
		s.torque(servo.Position)
	}
	seconds := float64(s.word(44)) / 1000
	unit := 1.0
	if s.ram[18]&4 == 0 {
		unit = 50
	}
	if v := float64(s.word(46)&^(1<<15)) * unit; v > 0 && seconds == 0 {
		seconds = math.Abs(float64(goal-s.present())) / v
	}
	s.aim(goal, seconds)
}
