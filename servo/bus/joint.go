package bus

import (
	"math"

	"poise/robot"
)

// Scale converts steps of a servo to the position of its joint:
//
//	q = ± gear · step · (reading − zero)
type Scale struct {
	zero float64 // reading at the joint's zero
	per  float64 // rad of the joint for a step, below zero if it is reversed
}

// ScaleOf returns that of a joint by its robot.yaml.
func ScaleOf(s robot.Servo, m *Model) Scale {
	per := m.Step * s.Gear
	if s.Reversed {
		per = -per
	}
	return Scale{zero: s.Zero, per: per}
}

// Position returns where the joint is at a reading, rad. Loop-safe.
func (s Scale) Position(steps int32) float64 { return s.per * (float64(steps) - s.zero) }

// Steps returns the nearest reading of a position. Loop-safe.
func (s Scale) Steps(q float64) int32 {
	x := math.Round(s.zero + q/s.per)
	return int32(max(math.MinInt32, min(x, math.MaxInt32)))
}

// Velocity returns the joint's velocity by that of the servo's shaft, rad/s. Loop-safe.
func (s Scale) Velocity(shaft, step float64) float64 { return shaft * s.per / step }

// Effort returns what the joint gets of what the servo gives, N·m. Loop-safe.
func (s Scale) Effort(shaft, step float64) float64 { return shaft * step / s.per }

// Load returns what the servo gives of what the joint gets, N·m.
func (s Scale) Load(joint, step float64) float64 { return joint * s.per / step }

// Shaft returns the velocity of the servo's shaft by that of the joint, rad/s.
func (s Scale) Shaft(joint, step float64) float64 { return joint * step / s.per }
