package servo

import (
	"math"

	"poise/spatial"
)

// Never is the age of what was never measured.
const Never = math.MaxUint32

// Reading is the state that a servo reports.
type Reading struct {
	Position, Velocity float64 // rad or m, and per s; an angle without limits counts its turns as setpoints do
	Effort             float64 // that the servo gives, N·m or N
	Voltage            float64 // V; 0 if it does not measure it
	Temperature        float64 // °C
	Age                uint32  // ticks since it was measured; Never if it was not
	Fault              Fault
}

// Finite reports whether every number of the reading is finite.
func (r *Reading) Finite() bool {
	return finite(r.Position) && finite(r.Velocity) && finite(r.Effort) && finite(r.Voltage) && finite(r.Temperature)
}

// Inertial is what an inertial unit measures. Its axes are those of the unit.
type Inertial struct {
	Orientation  spatial.Quat // of the unit in the world, R_WI; zero if the unit estimates none
	Rate         spatial.Vec3 // angular velocity, rad/s
	Acceleration spatial.Vec3 // specific force, m/s²: at rest it is 9.81 upwards
	Age          uint32       // ticks since it was measured; Never if it was not
}

// Finite reports whether every number of the measurement is finite.
func (i *Inertial) Finite() bool {
	o := &i.Orientation
	return finite(o.W) && finite(o.X) && finite(o.Y) && finite(o.Z) && i.Rate.Finite() && i.Acceleration.Finite()
}

// Contact is what a touch switch or a force sensor measures.
type Contact struct {
	Force   spatial.Vec3 // on the robot, in the sensor's axes, N; a sensor of the normal force alone fills Z, a switch nothing
	Moment  spatial.Vec3 // about the middle of the sole, in the same axes, N·m; zero where it is not felt: then the middle counts
	Pressed bool         // it touches something
	Age     uint32       // ticks since it was measured; Never if it was not
}

// Finite reports whether every number of the measurement is finite.
func (c *Contact) Finite() bool { return c.Force.Finite() && c.Moment.Finite() }

// Sensors says what a robot measures besides its joints.
type Sensors struct {
	IMU   int `json:"imu"`   // inertial units
	Touch int `json:"touch"` // touch and force sensors
}

// Measurement is everything that a bus measures in one exchange, each part with
// its age. It is allocated once for a robot, by NewMeasurement.
type Measurement struct {
	Joints []Reading  // of each joint, in array order
	IMU    []Inertial // of each inertial unit
	Touch  []Contact  // of each touch or force sensor
}

// NewMeasurement returns a measurement with room for a robot, and nothing
// measured yet.
func NewMeasurement(joints int, s Sensors) *Measurement {
	m := &Measurement{Joints: make([]Reading, joints), IMU: make([]Inertial, s.IMU), Touch: make([]Contact, s.Touch)}
	for i := range m.Joints {
		m.Joints[i].Age = Never
	}
	for i := range m.IMU {
		m.IMU[i].Age = Never
	}
	for i := range m.Touch {
		m.Touch[i].Age = Never
	}
	return m
}

// Copy makes m equal to src, which is for the same robot. Loop-safe.
func (m *Measurement) Copy(src *Measurement) {
	copy(m.Joints, src.Joints)
	copy(m.IMU, src.IMU)
	copy(m.Touch, src.Touch)
}

// Update takes from src what is finite, and lets the rest of m grow older by a
// tick: what is not finite was not measured. A joint whose position or velocity is not
// then has a SensorFault. The other numbers it can move on without: they are 0. Loop-safe.
func (m *Measurement) Update(src *Measurement) {
	for i := range m.Joints {
		m.Joints[i].update(&src.Joints[i])
	}
	for i := range m.IMU {
		if src.IMU[i].Finite() {
			m.IMU[i] = src.IMU[i]
		} else {
			m.IMU[i].Age = older(m.IMU[i].Age)
		}
	}
	for i := range m.Touch {
		if src.Touch[i].Finite() {
			m.Touch[i] = src.Touch[i]
		} else {
			m.Touch[i].Age = older(m.Touch[i].Age)
		}
	}
}

// update takes a newer reading, if the joint can move on it.
func (r *Reading) update(now *Reading) {
	switch {
	case now.Finite():
		*r = *now
	case finite(now.Position) && finite(now.Velocity):
		*r = *now
		for _, x := range [...]*float64{&r.Voltage, &r.Effort, &r.Temperature} {
			if !finite(*x) {
				*x = 0
			}
		}
	default:
		r.Age, r.Fault = older(r.Age), now.Fault|SensorFault
	}
}

// older returns an age a tick later.
func older(age uint32) uint32 {
	if age == Never {
		return Never
	}
	return age + 1
}

func finite(x float64) bool { return x-x == 0 }
