package physics

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"poise/robot"
	"poise/servo"
	"poise/sim"
)

// Settings are those of the driver.
type Settings struct {
	Step       float64 `yaml:"step" doc:"s; longest step of physics: it is shortened until the period is a whole number of steps" range:"0.0001 … 0.005 s"`
	Friction   float64 `yaml:"friction" doc:"coefficient of friction of the ground" range:"0 … 10"`
	Delay      float64 `yaml:"delay" doc:"s between a setpoint and its effect" range:"0 … 0.3 s"`
	Jitter     float64 `yaml:"jitter" doc:"s that a setpoint may take longer, at random" range:"0 … 0.3 s"`
	Loss       float64 `yaml:"packet_loss" doc:"share of packets that are lost, 0 … 1" range:"0 … 1"`
	Resistance float64 `yaml:"resistance" doc:"Ω; of the supply, which sags by it" range:"0 … 10 Ω"`
	RateNoise  float64 `yaml:"rate_noise" doc:"rad/s; standard deviation of the inertial unit's rates" range:"0 … 1 rad/s"`
	Noise      float64 `yaml:"acceleration_noise" doc:"m/s²; standard deviation of its accelerations" range:"0 … 10 m/s²"`
	RateBias   float64 `yaml:"rate_bias" doc:"rad/s; constant error of its rates, in a direction drawn by the seed" range:"0 … 1 rad/s"`
	Bias       float64 `yaml:"acceleration_bias" doc:"m/s²; the same of its accelerations" range:"0 … 10 m/s²"`
	UnitDelay  int     `yaml:"unit_delay" doc:"periods until its measurement is read" range:"0 … 20"`
	Seed       int     `yaml:"seed" doc:"of all that is drawn at random: the same seed, the same run"`
	Servos     string  `yaml:"servos" doc:"file of servo models (docs/servo-models.md) that the simulated servos have, by joint or type, and that nothing else is told of: for servo_ident; others have those of the robot"`
	World      string  `yaml:"world" doc:"file with the ground (docs/physics.md): friction, slope, boxes, bumps, and links that touch each other; empty is level ground"`

	Around *Around `yaml:"-"` // what the file says, and the robot's own files; nil is nothing
}

// DefaultSettings returns those of a robot on level ground with a perfect line.
func DefaultSettings() Settings {
	return Settings{Step: sim.DefaultStep, Friction: sim.DefaultFriction, Seed: 1}
}

// Driver is a robot with mass as a servo.Driver. While it is closed time stands still.
type Driver struct {
	bus   *Bus
	world *World
	open  atomic.Bool
}

// NewDriver returns the driver of a robot whose cycle has some period, s. The robot begins
// in its rest pose, a floating one on its feet.
func NewDriver(m *robot.Model, period float64, s Settings) (servo.Driver, error) {
	if !(s.Step > 0) || !(period > 0) {
		return nil, fmt.Errorf("physics: a period of %g s and a step of %g s must be positive", period, s.Step)
	}
	// a period is a whole number of steps: 22.4 ms are 23
	s.Step = period / math.Ceil(period/s.Step-1e-6)
	for _, j := range m.Joints() {
		if j.Kind.NumQ() != 1 {
			return nil, fmt.Errorf("physics: joint %q has %d coordinates, and a servo moves one", j.Name, j.Kind.NumQ())
		}
	}
	around := Around{}
	if s.Around != nil {
		around = *s.Around
	}
	motors := MotorsOf(m)
	for j, s := range around.Servos {
		motors[j] = FromModel(s)
	}
	config := sim.Config{Step: s.Step, Passive: PassiveOf(motors), Mesh: around.Mesh, Touch: around.Touch, Apart: around.Apart}
	model, err := sim.NewModel(m, config)
	if err != nil {
		return nil, err
	}
	ground := around.Ground
	if ground == nil {
		ground = sim.Level()
		ground.Friction = s.Friction
	}
	start, err := model.Settled(m.RestPositions(), ground)
	if err != nil {
		return nil, err
	}
	bus := New(Config{Model: model, Motors: motors, Ground: ground, Start: start, Seed: uint64(s.Seed),
		Line: Line{Delay: s.Delay, Jitter: s.Jitter, Loss: s.Loss}, Supply: Supply{Resistance: s.Resistance},
		Unit: s.unit()})
	return &Driver{bus: bus, world: newWorld(bus, model, config, around.Slope)}, nil
}

// unit returns how the inertial unit measures.
func (s *Settings) unit() Unit {
	return Errors{s.RateNoise, s.Noise, s.RateBias, s.Bias, s.UnitDelay}.Unit(uint64(s.Seed))
}

// PassiveOf returns how joints resist by their motors.
func PassiveOf(motors []Motor) []sim.Passive {
	passive := make([]sim.Passive, len(motors))
	for i := range motors {
		passive[i] = motors[i].Passive
	}
	return passive
}

var _ servo.Driver = (*Driver)(nil)

// Bus returns the robot behind the driver, for the goroutine that exchanges.
func (d *Driver) Bus() *Bus { return d.bus }

// World returns what the robot stands in.
func (d *Driver) World() *World { return d.world }

// Capabilities implements servo.Driver.
func (d *Driver) Capabilities() servo.Capabilities {
	return servo.Capabilities{Simulated: true, Torque: true, Models: true, Stiffness: true, Modes: servo.AllModes, Sensors: d.bus.Sensors()}
}

// Open implements servo.Driver. Servos begin without torque; the robot is where it was.
func (d *Driver) Open(context.Context) error {
	if !d.open.Load() {
		d.bus.restart()
		d.open.Store(true)
	}
	return nil
}

// Close implements servo.Driver.
func (d *Driver) Close() error {
	d.open.Store(false)
	return nil
}

// Exchange implements servo.Bus. Loop-safe.
func (d *Driver) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	if d.open.Load() {
		return d.bus.Exchange(t, dst, src)
	}
	for i := range dst.Joints {
		dst.Joints[i] = d.bus.older(i)
	}
	d.bus.unit.age(dst)
	return servo.BusDown
}

// restart lets servos begin anew: without torque, and with nothing on its way.
func (b *Bus) restart() {
	for i := range b.joints {
		q := b.state.Q[b.model.Robot().Joints()[i].Q]
		was := &b.joints[i]
		b.joints[i] = joint{goal: servo.Setpoint{Position: q}, ramp: q, last: servo.Reading{Age: servo.Never}, trouble: was.trouble, stuck: was.stuck}
	}
}
