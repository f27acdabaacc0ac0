package servo

// Tick is one turn of the cycle. Time is N times the period exactly; Stamp is
// the time of day, for messages only and never for maths.
type Tick struct {
	N     uint64
	Time  int64   // ns since the cycle began
	Dt    float64 // period, s
	Stamp int64   // ns since the epoch
}

// Mode is what a servo does with its motor. The numbers are stable: recordings
// hash them.
type Mode uint8

// The modes.
const (
	Off       Mode = iota // no torque: the joint is free
	Position              // goes to Position within PlayTime and holds it
	Velocity              // keeps Velocity
	Effort                // gives Effort, wherever that leads
	Impedance             // spring and damper about Position and Velocity, plus Effort
	Brake                 // motor shorted: resists motion, holds nothing
	NumModes
)

var modeNames = [NumModes]string{"off", "position", "velocity", "effort", "impedance", "brake"}

func (m Mode) String() string {
	if m < NumModes {
		return modeNames[m]
	}
	return "unknown mode"
}

// Powered reports whether the motor is driven: every mode but Off and Brake.
func (m Mode) Powered() bool { return m > Off && m < Brake }

// Setpoint is what one servo is told for the next period. The mode says which
// fields count; a servo ignores the others, and feed-forward that it cannot use.
//
//	mode       Position  Velocity      Effort        Kp, Kd  Stiffness  PlayTime
//	off
//	position   goal      feed-forward  feed-forward          share      of the ramp
//	velocity             goal          feed-forward
//	effort                             goal
//	impedance  goal      goal          feed-forward  gains
//	brake
//
// Units are those of the joint: rad and N·m where it turns, m and N where it
// slides.
type Setpoint struct {
	Mode      Mode
	Position  float64 // rad or m
	Velocity  float64 // rad/s or m/s
	Effort    float64 // N·m or N, on the joint in its positive direction
	Kp        float64 // stiffness of Impedance, N·m/rad or N/m, ≥ 0
	Kd        float64 // damping of Impedance, N·m·s/rad or N·s/m, ≥ 0
	Stiffness float64 // of Position: share of the servo's own full stiffness, 0 … 1
	// Correction is the part of Position by which the goal is beyond where the joint is to be, so that
	// a servo with the share Gain of its full gain gives the torque that the motion needs. A driver whose
	// servos have another gain for a while changes it as much. Gain is 0 where nothing is corrected.
	Correction, Gain float64
	PlayTime         float64 // of Position: time to get there, s, > 0
}

// Finite reports whether a setpoint can be obeyed: every number is finite, or its mode
// needs none. Loop-safe.
func (s *Setpoint) Finite() bool {
	// x − x is zero, or NaN if x is non-finite
	zero := (s.Position - s.Position) + (s.Velocity - s.Velocity) + (s.Effort - s.Effort) + (s.Kp - s.Kp) + (s.Kd - s.Kd) +
		(s.Stiffness - s.Stiffness) + (s.PlayTime - s.PlayTime) + (s.Correction - s.Correction) + (s.Gain - s.Gain)
	return zero == 0 || !s.Mode.Powered()
}

// Bus exchanges setpoints for what is measured, of all joints of a robot in array
// order, once per tick. It never blocks: dst, made by NewMeasurement for the
// robot, is filled with what is known, and src goes out as soon as it can. The
// return value is what is wrong with the bus as a whole. Loop-safe.
type Bus interface {
	Exchange(t Tick, dst *Measurement, src []Setpoint) Fault
}
