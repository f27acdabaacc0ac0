package physics

import (
	"math"
	"math/rand/v2"

	"poise/robot"
	"poise/servo"
	"poise/sim"
	"poise/spatial"
)

// Unit is how an inertial unit measures: in the frame of the base.
type Unit struct {
	RateNoise, AccelerationNoise float64      // standard deviations, rad/s and m/s²
	RateBias, AccelerationBias   spatial.Vec3 // rad/s and m/s²
	Delay                        int          // exchanges until a measurement is read
}

// Errors is how much an inertial unit errs.
type Errors struct {
	RateNoise, AccelerationNoise float64 // standard deviations, rad/s and m/s²
	RateBias, AccelerationBias   float64 // sizes of constant errors, rad/s and m/s²
	Delay                        int     // exchanges until a measurement is read
}

// TypicalErrors are those of a small unit (MEMS) whose rates were zeroed at rest, read a period late.
var TypicalErrors = Errors{RateNoise: 0.005, AccelerationNoise: 0.1, RateBias: 0.0003, AccelerationBias: 0.05, Delay: 1}

// Unit returns a unit that errs so, in directions that a seed draws.
func (e Errors) Unit(seed uint64) Unit {
	rng := rand.New(rand.NewPCG(seed, 0x62696173))
	direction := func(size float64) spatial.Vec3 {
		u, _ := spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Unit()
		return u.Scale(size)
	}
	return Unit{RateNoise: e.RateNoise, AccelerationNoise: e.AccelerationNoise, RateBias: direction(e.RateBias), AccelerationBias: direction(e.AccelerationBias), Delay: e.Delay}
}

// Inertial is the inertial unit of a floating base, in whatever engine that base moves.
type Inertial struct {
	Unit
	gravity spatial.Vec3
	rng     *rand.Rand
	sum     spatial.Vec3 // of specific forces since the last reading, world axes
	n       float64
	rate    spatial.Vec3     // as it measures it
	R       spatial.Mat3     // how it has itself turned, by what it measures
	actual  spatial.Mat3     // how it is turned
	begun   bool             // R is known
	queue   []servo.Inertial // ring of the last measurements
	count   int
}

// NewInertial returns a unit at rest whose errors are drawn by a seed. It has no reading before its first step.
func NewInertial(gravity spatial.Vec3, c Unit, seed uint64) *Inertial {
	return &Inertial{Unit: c, gravity: gravity, rng: rand.New(rand.NewPCG(seed, 0x696d75)), queue: make([]servo.Inertial, c.Delay+1)}
}

// Step adds a step of h: the unit averages accelerations over its period. The velocity of the base was `was` and is
// `is`, in world axes; R is its orientation, rate its angular velocity in its own axes. Loop-safe.
func (u *Inertial) Step(R spatial.Mat3, was, is, rate spatial.Vec3, h float64) {
	a := is.Sub(was).Scale(1 / h)
	u.sum, u.n = u.sum.Add(a).Sub(u.gravity), u.n+1
	u.actual = R
	u.rate = rate.Add(u.RateBias).Add(u.noise(u.RateNoise))
	u.turn(u.actual.TMulVec(a.Sub(u.gravity)).Add(u.AccelerationBias), h)
}

// Read fills in what has arrived of what the unit measured. Loop-safe.
func (u *Inertial) Read(dst *servo.Measurement) {
	if len(dst.IMU) == 0 || u.n == 0 {
		return
	}
	now := servo.Inertial{
		Orientation:  u.R.Quat(),
		Rate:         u.rate,
		Acceleration: u.actual.TMulVec(u.sum.Scale(1 / u.n)).Add(u.AccelerationBias).Add(u.noise(u.AccelerationNoise)),
	}
	u.sum, u.n = spatial.Vec3{}, 0
	u.queue[u.count%len(u.queue)] = now
	u.count++
	if u.count < len(u.queue) {
		return // nothing has arrived yet
	}
	dst.IMU[0] = u.queue[u.count%len(u.queue)]
}

// unit is the inertial unit of a robot that may have a floating base.
type unit struct {
	*Inertial
	has bool
	v   spatial.Vec3 // of the base before the step, world axes
}

func (u *unit) init(m *robot.Model, c Unit, seed uint64) {
	u.has, u.Inertial = m.Floating(), NewInertial(m.Gravity(), c, seed)
}

func baseVelocity(s *sim.State) spatial.Vec3 {
	return baseRotation(s).MulVec(spatial.Vec3{X: s.V[0], Y: s.V[1], Z: s.V[2]})
}

func baseRotation(s *sim.State) spatial.Mat3 {
	return spatial.Quat{X: s.Q[3], Y: s.Q[4], Z: s.Q[5], W: s.Q[6]}.Matrix()
}

func (u *unit) before(s *sim.State) {
	if u.has {
		u.v = baseVelocity(s)
	}
}

// after adds what a step has changed.
func (u *unit) after(s *sim.State, h float64) {
	if u.has {
		u.Step(baseRotation(s), u.v, baseVelocity(s), spatial.Vec3{X: s.V[3], Y: s.V[4], Z: s.V[5]}, h)
	}
}

func (u *unit) read(dst *servo.Measurement) {
	if u.has {
		u.Read(dst)
	}
}

// The filter of a unit's orientation: time constant with which gravity corrects its tilt, s, and the share of gravity
// by which a specific force may differ from it and count.
const (
	tiltTime = 3.0
	upWithin = 0.5
)

// turn estimates the orientation from the unit's own measurements, as real units do: rates are integrated at
// every step, and gravity corrects the tilt slowly. The heading drifts with the bias of the rates. It is set
// to the true orientation only when the robot is placed.
func (u *Inertial) turn(felt spatial.Vec3, h float64) {
	if !u.begun {
		u.begun, u.R = true, u.actual
		return
	}
	by := u.rate.Scale(h)
	g := u.gravity.Norm()
	if up, ok := felt.Unit(); ok && math.Abs(felt.Norm()-g) < upWithin*g {
		by = by.Add(up.Cross(u.R.TMulVec(u.gravity.Scale(-1 / g))).Scale(min(h/tiltTime, 1)))
	}
	Q, _ := u.R.Mul(spatial.ExpRotation(by).Matrix()).Quat().Unit()
	u.R = Q.Matrix()
}

// forget drops what was gathered since the last reading: the base was put somewhere.
func (u *Inertial) forget() { u.sum, u.n, u.begun = spatial.Vec3{}, 0, false }

func (u *Inertial) noise(σ float64) (v spatial.Vec3) {
	if σ > 0 {
		v = spatial.Vec3{X: σ * u.rng.NormFloat64(), Y: σ * u.rng.NormFloat64(), Z: σ * u.rng.NormFloat64()}
	}
	return v
}

// age lets readings of sensors grow older by a tick.
func (u *unit) age(dst *servo.Measurement) {
	for i := range dst.IMU {
		if dst.IMU[i].Age != servo.Never {
			dst.IMU[i].Age++
		}
	}
	for i := range dst.Touch {
		if dst.Touch[i].Age != servo.Never {
			dst.Touch[i].Age++
		}
	}
}

// pressed is the force at which a touch switch closes, N.
const pressed = 0.3

// feel reads the touch sensors: of each foot, in the order of sim.Model.Feet. Forces and moments
// are in the axes of the chain's tip.
func (b *Bus) feel(dst *servo.Measurement) {
	clear(b.force)
	clear(b.moment)
	b.contacts = b.data.ContactsTo(b.contacts[:0])
	for _, c := range b.contacts {
		for k, foot := range b.feet {
			if c.Foot == foot || c.Other == robot.NoFrame && b.model.Robot().Chains()[foot].Tip == c.Link {
				b.force[k] = b.force[k].Add(c.Force)
				b.moment[k] = b.moment[k].Add(c.Point.Cross(c.Force))
				break
			}
		}
	}
	up := spatial.Vec3{Z: 1}
	if b.in.Ground != nil {
		up = b.in.Ground.R.Col(2)
	}
	if len(dst.Touch) == 0 {
		return
	}
	b.kin.UpdatePosition(b.state.Q)
	for k := range dst.Touch {
		tip := b.kin.At(b.model.Robot().Chains()[b.feet[k]].Tip)
		X := b.kin.Pose(tip)
		moment := b.moment[k].Sub(X.Apply(b.middle[k]).Cross(b.force[k]))
		dst.Touch[k] = servo.Contact{Force: X.R.TMulVec(b.force[k]), Moment: X.R.TMulVec(moment), Pressed: b.force[k].Dot(up) > pressed}
	}
}
