package emulator

import (
	"encoding/binary"
	"math"

	"poise/servo"
)

// Operating modes of Dynamixel servos.
const (
	dxlVelocity        = 1
	dxlPosition        = 3
	dxlCurrentPosition = 5
)

// dxlGoals takes goals of a write, or says why not.
func dxlGoals(s *Servo, at int, data []byte, covers func(register, size int) bool) (status byte) {
	position, velocity, current := covers(116, 4), covers(104, 4), covers(102, 2)
	if s.trip && (position || velocity || current) {
		return dxlRange
	}
	if current {
		limit := int(binary.LittleEndian.Uint16(s.ram[38:]))
		if now := int(int16(binary.LittleEndian.Uint16(data[102-at:]))); now < -limit || now > limit {
			return dxlLimit
		}
	}
	if velocity {
		now, limit := int32(binary.LittleEndian.Uint32(data[104-at:])), int32(binary.LittleEndian.Uint32(s.ram[44:]))
		if now < -limit || now > limit {
			return dxlLimit
		}
		if s.mode == servo.Off && now != 0 {
			s.log(Violation, "a velocity of %d units, without torque", now)
		}
	}
	if !position {
		return 0
	}
	goal := int32(binary.LittleEndian.Uint32(data[116-at:]))
	low, high := int32(binary.LittleEndian.Uint32(s.ram[52:])), int32(binary.LittleEndian.Uint32(s.ram[48:]))
	if s.ram[11] == dxlPosition && (goal < low || goal > high) {
		return dxlLimit
	}
	if s.mode == servo.Off && s.ram[11] != dxlVelocity {
		s.offered(goal)
	}
	s.goal = goal
	return 0
}

// settleMode gives goals what they have after a start, or after the operating mode was changed.
func (s *Servo) settleMode() {
	copy(s.ram[102:104], s.ram[38:40])
	binary.LittleEndian.PutUint32(s.ram[104:], 0)
	s.goal = s.present()
	binary.LittleEndian.PutUint32(s.ram[116:], uint32(s.goal))
}

// drive lets a servo with torque do what its goals say in its mode.
func (s *Servo) drive() {
	switch s.ram[11] {
	case dxlVelocity:
		shaft := float64(int32(binary.LittleEndian.Uint32(s.ram[104:]))) * 0.229 * 2 * math.Pi / 60
		s.e.cfg.World.Tell(s.index, servo.Setpoint{Mode: servo.Velocity, Velocity: s.scale.Velocity(shaft, s.Model.Step)})
		return
	case dxlCurrentPosition:
		current, limit := int16(binary.LittleEndian.Uint16(s.ram[102:])), int16(binary.LittleEndian.Uint16(s.ram[38:]))
		if current >= limit {
			break
		}
		// far from its goal its current is all that it gives; what is near it, it holds as well as it can
		far := float64(s.goal-s.present()) * s.Model.Step
		shaft := math.Max(-1, math.Min(far/full, 1)) * float64(current) * s.Model.Effort
		s.e.cfg.World.Tell(s.index, servo.Setpoint{Mode: servo.Effort, Effort: s.scale.Effort(shaft, s.Model.Step)})
		return
	}
	seconds := 0.0
	if v := binary.LittleEndian.Uint32(s.ram[112:]); v > 0 {
		seconds = math.Abs(float64(s.goal-s.present())) * s.Model.Step / (float64(v) * 0.229 * 2 * math.Pi / 60)
	}
	s.aim(s.goal, seconds)
}

// full is how far from its goal a servo gives the current that it is allowed, rad.
const full = 0.1
