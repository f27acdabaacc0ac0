package emulator

import (
	"math"
	"sync"

	"poise/robot"
	"poise/servo"
	"poise/servo/physics"
	"poise/spatial"
)

// World is what the servos move.
type World interface {
	// Tell gives the servo of a joint a new setpoint.
	Tell(joint int, s servo.Setpoint)

	// Advance lets time pass.
	Advance(seconds float64)

	// Read returns how a joint is.
	Read(joint int) servo.Reading

	// Inertial returns what a unit on the base link measures, in the axes of that link.
	Inertial() servo.Inertial
}

// Ideal is a world of joints that are where they are told to be, and stay where they are
// without torque. Concurrent: proofs look at it from outside.
type Ideal struct {
	mu   sync.Mutex
	at   []float64
	v    []float64
	told []servo.Setpoint
	left []float64 // s of play time
	base spatial.Quat
}

// NewIdeal returns a world of joints at some positions.
func NewIdeal(at []float64) *Ideal {
	return &Ideal{at: append([]float64(nil), at...), v: make([]float64, len(at)), told: make([]servo.Setpoint, len(at)), left: make([]float64, len(at)), base: spatial.Quat{W: 1}}
}

// Tell implements World.
func (w *Ideal) Tell(j int, s servo.Setpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[j], w.left[j] = s, s.PlayTime
}

// Advance implements World.
func (w *Ideal) Advance(dt float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for j := range w.at {
		w.v[j] = 0
		switch s := &w.told[j]; s.Mode {
		case servo.Velocity:
			w.v[j] = s.Velocity
			w.at[j] += w.v[j] * dt
		case servo.Effort:
			w.v[j] = s.Effort / thick
			w.at[j] += w.v[j] * dt
		}
		if s := &w.told[j]; s.Mode == servo.Position && dt > 0 {
			step := s.Position - w.at[j]
			if w.left[j] > dt {
				step *= dt / w.left[j]
			}
			w.left[j] = max(0, w.left[j]-dt)
			w.at[j] += step
			w.v[j] = step / dt
		}
	}
}

// thick is how much an ideal joint resists an effort, N·m·s/rad.
const thick = 10

// Voltage and temperature of a world without losses.
const (
	idealVoltage = 7.4
	room         = 25.0
)

// Read implements World.
func (w *Ideal) Read(j int) servo.Reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := servo.Reading{Position: w.at[j], Velocity: w.v[j], Voltage: idealVoltage, Temperature: room}
	if s := &w.told[j]; s.Mode == servo.Effort {
		r.Effort = s.Effort
	}
	return r
}

// Inertial implements World: the base is at rest, upright unless Tilt says otherwise.
func (w *Ideal) Inertial() servo.Inertial {
	w.mu.Lock()
	defer w.mu.Unlock()
	return atRest(w.base)
}

// Tilt turns the base.
func (w *Ideal) Tilt(Q spatial.Quat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.base = Q
}

// atRest is what a unit measures whose rotation does not change.
func atRest(Q spatial.Quat) servo.Inertial {
	return servo.Inertial{Orientation: Q, Acceleration: Q.Matrix().TMulVec(spatial.Vec3{Z: 9.80665})}
}

// Physics is a world in which the robot has mass.
type Physics struct {
	bus  *physics.Bus
	told []servo.Setpoint
	now  *servo.Measurement
	step float64
	debt float64 // s that have passed and are not simulated yet
}

// NewPhysics returns a robot in its rest pose, on the ground if it floats.
func NewPhysics(m *robot.Model) (*Physics, error) {
	s := physics.DefaultSettings()
	d, err := physics.NewDriver(m, s.Step, s)
	if err != nil {
		return nil, err
	}
	w := &Physics{bus: d.(*physics.Driver).Bus(), told: make([]servo.Setpoint, len(m.Joints())), step: s.Step}
	w.now = servo.NewMeasurement(len(w.told), w.bus.Sensors())
	for j, rest := range m.RestPositions() {
		if m.Joints()[j].Virtual {
			w.told[j] = servo.Setpoint{Mode: servo.Position, Position: rest, Stiffness: 1}
		}
	}
	w.bus.Send(w.told)
	w.bus.Step()
	w.bus.Measure(w.now)
	return w, nil
}

// Tell implements World.
func (w *Physics) Tell(j int, s servo.Setpoint) {
	w.told[j] = s
	w.bus.Send(w.told)
}

// longest is how much time is made up for at once: on a computer that is too slow the world
// is slow, and servos still answer in time.
const longest = 0.03 // s

// Advance implements World.
func (w *Physics) Advance(dt float64) {
	w.debt = math.Min(w.debt+dt, longest)
	for ; w.debt >= w.step; w.debt -= w.step {
		w.bus.Step()
	}
	w.bus.Measure(w.now)
}

// Inertial implements World; a base that is fixed is upright.
func (w *Physics) Inertial() servo.Inertial {
	if len(w.now.IMU) == 0 || w.now.IMU[0].Age == servo.Never {
		return atRest(spatial.Quat{W: 1})
	}
	return w.now.IMU[0]
}

// Read implements World.
func (w *Physics) Read(j int) servo.Reading {
	r := w.now.Joints[j]
	if r.Voltage == 0 {
		r.Voltage = idealVoltage
	}
	return r
}
