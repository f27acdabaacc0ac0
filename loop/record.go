package loop

import (
	"math"
	"math/bits"

	"poise/arbiter"
	"poise/control"
	"poise/servo"
	"poise/spatial"
)

// Stage is a part of a tick.
type Stage uint8

// The stages, in order. Begin is the start of a tick.
const (
	Begin Stage = iota
	Read
	Estimate
	Orders // with power, stops, faults and arbitration
	Control
	Aggregate // with the bridge's hand-overs
	Limit
	Dynamics
	Invert
	Guard
	Write
	Publish
	NumStages
)

var stageNames = [NumStages]string{"begin", "read", "estimate", "orders", "control", "aggregate", "limit", "dynamics", "invert", "guard", "write", "publish"}

func (s Stage) String() string { return stageNames[s] }

// Probe is called when a stage is over. It is for measurements: nothing of it comes
// back into the tick. Loop-safe.
type Probe interface{ Done(s Stage) }

func (l *Loop) mark(s Stage) {
	if l.cfg.Probe != nil {
		l.cfg.Probe.Done(s)
	}
}

// SetProbe makes p time the stages; nil ends that. Setup.
func (l *Loop) SetProbe(p Probe) { l.cfg.Probe = p }

// TickRecord is everything that came into one tick, and a hash of what came of it.
type TickRecord struct {
	Tick        servo.Tick
	Stop        uint8  // stop word: 0, or category + 1; and whether Leave was asked for
	Late        uint32 // periods by which the tick was late
	Orders      []Order
	Measurement *servo.Measurement // as exchanged at the end of the tick
	Setpoints   []servo.Setpoint   // that the servos were told in it
	Bus         servo.Fault
	Hash        uint64

	Command  *control.Motion
	Measured *control.Measured
	Writer   []arbiter.ClientID // of each leaf
	Power    Power
	Faults   int // active
}

// Repeat asks a loop again for what was asked of it in a recorded tick besides orders; it
// reports whether that was a stop, or to leave.
func (l *Loop) Repeat(stop uint8, late uint32) bool {
	if stop&leaveBit != 0 {
		l.Leave()
	}
	if category := stop &^ leaveBit; category != 0 {
		l.Stop(category - 1)
	}
	if late > 0 {
		l.Late(late)
	}
	return stop != 0
}

// Tap sees every tick. What a record points to is valid during the call only. It
// must be loop-safe.
type Tap interface{ Tick(r *TickRecord) }

func (l *Loop) record() {
	if l.cfg.Tap == nil {
		return
	}
	f := &l.taken
	f.Tick, f.Measurement, f.Setpoints, f.Bus, f.Hash = l.tick, l.raw, l.setpoint, l.faults.bus, l.hash()
	f.Measured = &l.measured
	f.Command, f.Writer, f.Power, f.Faults = l.command, l.merge.Writer, l.powered.state, l.faults.latch.active
	l.cfg.Tap.Tick(f)
}

// hash condenses the command, the setpoints, where the base is and the arbiter's
// state: two runs that agree in it have done the same, bit for bit.
func (l *Loop) hash() uint64 {
	h := l.arb.Hash()
	mix := func(v uint64) { h = (h ^ v) * 1099511628211; h ^= h >> 29 }
	c := l.command
	for j := range c.Q {
		s := &l.setpoint[j]
		mix(math.Float64bits(c.Q[j]))
		mix(math.Float64bits(c.V[j]))
		mix(math.Float64bits(c.A[j]))
		mix(math.Float64bits(c.Tau[j]))
		mix(math.Float64bits(s.Position))
		mix(math.Float64bits(s.Velocity))
		mix(math.Float64bits(s.Effort))
		// these change rarely: turned against each other they share a step
		mix(uint64(s.Mode) ^ math.Float64bits(s.Stiffness) ^ bits.RotateLeft64(math.Float64bits(s.PlayTime), 16) ^
			bits.RotateLeft64(math.Float64bits(s.Kp), 32) ^ bits.RotateLeft64(math.Float64bits(s.Kd), 48))
	}
	for _, x := range c.Output {
		mix(math.Float64bits(x))
	}
	vec := func(v *spatial.Vec3) {
		mix(math.Float64bits(v.X))
		mix(math.Float64bits(v.Y))
		mix(math.Float64bits(v.Z))
	}
	for i := range c.Support {
		s := &c.Support[i]
		mix(math.Float64bits(s.Weight) ^ uint64(s.Contact))
		mix(math.Float64bits(s.Friction))
		vec(&s.Normal)
		vec(&s.Wrench.Force)
		vec(&s.Wrench.Torque)
	}
	moving := func(x *control.BaseRef) {
		for _, r := range x.Pose.R {
			mix(math.Float64bits(r))
		}
		vec(&x.Pose.P)
		vec(&x.Twist.Angular)
		vec(&x.Twist.Linear)
		vec(&x.Acceleration.Angular)
		vec(&x.Acceleration.Linear)
	}
	moving(&c.Base)
	moving(&l.measured.Base)
	for i := range c.Limb {
		if c.Limb[i].Has {
			moving((*control.BaseRef)(&c.Limb[i]))
		}
	}
	mix(uint64(l.powered.state)<<32 | uint64(l.faults.latch.active))
	return h
}
