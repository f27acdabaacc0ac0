package sim

import (
	"context"
	"sync/atomic"

	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/servo"
)

// Settings are those of the driver: how a simulated robot differs from an ideal one.
type Settings struct {
	Placed    bool    `yaml:"placed_at_once" doc:"joints can be put somewhere at once, as an editor wants; otherwise those without torque can be posed by hand, as with a real robot"`
	Lag       float64 `yaml:"lag" doc:"s; time constant of a servo" range:"0 … 10 s"`
	Delay     float64 `yaml:"delay" doc:"s between a setpoint and its effect" range:"0 … 1 s"`
	Noise     float64 `yaml:"noise" doc:"rad; standard deviation of a reading" range:"0 … 1 rad"`
	Quantum   float64 `yaml:"resolution" doc:"rad; step of a reading, 0 is exact" range:"0 … 1 rad"`
	Gravity   bool    `yaml:"gravity" doc:"joints carry the robot's weight, and sag"`
	Stiffness float64 `yaml:"stiffness" doc:"N·m/rad; a joint sags by gravity torque ÷ stiffness; 0 is 16 for every N·m of its effort limit, so that it gives by 0.06 rad at most" range:"0 … 1e+09 N·m/rad"`
	Loss      float64 `yaml:"packet_loss" doc:"share of packets that are lost, 0 … 1" range:"0 … 1"`
	Seed      int     `yaml:"seed" doc:"of noise and loss: the same seed, the same run"`
}

// DefaultSettings returns those of an ideal robot.
func DefaultSettings() Settings { return Settings{Placed: true, Seed: 1} }

// RealSettings returns those of a robot that plays a real one: it lags, is noisy and sags.
func RealSettings() Settings { return Settings{Lag: 0.03, Noise: 0.0005, Gravity: true, Seed: 1} }

// StiffnessPerEffort is the stiffness of a servo that none is set for, N·m/rad for every
// N·m of the joint's effort limit: strong joints are stiff ones.
const StiffnessPerEffort = 16

// driver is a simulated robot as a servo.Driver. While it is closed its joints stay where
// they are.
type driver struct {
	bus   *Bus
	seed  uint64
	exact bool
	open  atomic.Bool
}

// NewDriver returns the driver of a robot whose cycle has some period, s. The robot
// begins in its rest pose. The driver is a servo.Placer or a servo.HandPoser, as the
// settings say.
func NewDriver(m *robot.Model, period float64, s Settings) (servo.Driver, error) {
	like := Servo{Lag: s.Lag, Delay: int(s.Delay/period + 0.5), Noise: s.Noise, Quantum: s.Quantum, Loss: s.Loss}
	if s.Gravity {
		like.Stiffness = s.Stiffness
	}
	c := Config{Servos: servos(m, like, s.Gravity), Position: m.RestPositions(), Seed: uint64(s.Seed)}
	if s.Gravity {
		c.Load = gravityLoad(m)
	}
	d := &driver{bus: New(c), seed: c.Seed, exact: like == Servo{} && !s.Gravity}
	if s.Placed {
		return placed{d}, nil
	}
	return posed{d}, nil
}

// servos gives every joint a servo like this one, as stiff as the joint is strong if
// nothing says how stiff.
func servos(m *robot.Model, like Servo, gravity bool) []Servo {
	all := make([]Servo, len(m.Joints()))
	for i, j := range m.Joints() {
		if j.Virtual {
			continue // it has no servo that could lag
		}
		all[i] = like
		if gravity && like.Stiffness == 0 && j.Limits.Effort.Has {
			all[i].Stiffness = StiffnessPerEffort * j.Limits.Effort.Value
		}
	}
	return all
}

// gravityLoad returns what each joint carries at a pose, with the base held.
func gravityLoad(m *robot.Model) func(dst, q []float64) {
	d := dynamics.NewData(m)
	full := make([]float64, m.NumQ())
	tau := make([]float64, m.NumV())
	kinematics.NewSpace(m).NeutralTo(full)
	return func(dst, q []float64) {
		for i, j := range m.Joints() {
			full[j.Q] = q[i]
		}
		d.GravityTo(tau, full)
		for i, j := range m.Joints() {
			dst[i] = tau[j.V]
		}
	}
}

// placed is a driver whose joints can be put somewhere at once.
type placed struct{ *driver }

// posed is a driver whose limp joints can be posed by hand.
type posed struct{ *driver }

var (
	_ servo.Driver    = (*driver)(nil)
	_ servo.Placer    = placed{}
	_ servo.HandPoser = posed{}
)

// Place implements servo.Placer. Loop-safe.
func (d placed) Place(joints []int, positions []float64) { d.bus.Place(joints, positions) }

// PoseByHand implements servo.HandPoser. Concurrent.
func (d posed) PoseByHand(joint int, position float64) bool {
	return d.open.Load() && position-position == 0 && d.bus.PoseByHand(joint, position)
}

// Capabilities implements servo.Driver.
func (d *driver) Capabilities() servo.Capabilities {
	return servo.Capabilities{Simulated: true, Exact: d.exact, Torque: true, Stiffness: true, Modes: servo.AllModes}
}

// Open implements servo.Driver.
func (d *driver) Open(context.Context) error {
	if !d.open.Load() {
		d.bus.restart(d.seed)
		d.open.Store(true)
	}
	return nil
}

// Close implements servo.Driver.
func (d *driver) Close() error {
	d.open.Store(false)
	return nil
}

// Exchange implements servo.Bus. Loop-safe.
func (d *driver) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	if d.open.Load() {
		return d.bus.Exchange(t, dst, src)
	}
	return d.bus.nothing(dst)
}

// restart lets a robot begin anew where its joints are: without torque, and with nothing
// on its way to or from the servos.
func (b *Bus) restart(seed uint64) {
	b.rng = newRand(seed)
	for i := range b.state {
		s := &b.state[i]
		at := s.position
		*s = state{position: at, ramp: at, goal: servo.Setpoint{Position: at}, last: servo.Reading{Age: servo.Never}}
		b.limp[i].Store(true)
	}
	for _, sent := range b.queue {
		clear(sent)
	}
	for ok := true; ok; {
		_, ok = b.moves.TryReceive()
	}
}
