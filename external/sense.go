package external

import (
	"errors"
	"fmt"

	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/servo"
	"poise/servo/model"
	"poise/spatial"
)

// Options are how forces are estimated and contacts detected: plain data of robot.yaml. Zero
// values mean the defaults.
type Options struct {
	Gain       float64 `json:"gain,omitzero"`        // K·dt of the momentum observer, default 0.3
	Bandwidth  float64 `json:"bandwidth,omitzero"`   // rad/s, of the estimate by the servos' equations, default 65
	Delay      float64 `json:"delay,omitzero"`       // s until a setpoint acts, besides the model's lead
	ModelError float64 `json:"model_error,omitzero"` // relative standard deviation of servo models and masses, default 0.03
	ForceOn    float64 `json:"force_on,omitzero"`    // N: least force of a touch-down, default 1.5
	LiftGate   float64 `json:"lift_gate,omitzero"`   // s after a commanded lift-off in which no touch-down counts, default 0.1
	Impact     float64 `json:"impact,omitzero"`      // standard deviations by which a jump is an impact, default 6
}

// Defaults of Options.
const (
	DefaultGain       = 0.3
	DefaultBandwidth  = 65
	DefaultModelError = 0.03
	DefaultForceOn    = 1.5
	DefaultLiftGate   = 0.1
	DefaultImpact     = 6
)

func (o *Options) setDefaults() {
	set := func(x *float64, to float64) {
		if *x == 0 {
			*x = to
		}
	}
	set(&o.Gain, DefaultGain)
	set(&o.Bandwidth, DefaultBandwidth)
	set(&o.ModelError, DefaultModelError)
	set(&o.ForceOn, DefaultForceOn)
	set(&o.LiftGate, DefaultLiftGate)
	set(&o.Impact, DefaultImpact)
}

// Check returns what is wrong with the options.
func (o *Options) Check() error {
	var wrong []error
	within := func(name string, x, low, high float64) {
		if !(x >= low && x <= high) {
			wrong = append(wrong, fmt.Errorf("external forces: %s is %g, must be within %g … %g", name, x, low, high))
		}
	}
	all := *o
	all.setDefaults()
	within("gain", all.Gain, 0.01, 0.9)
	within("bandwidth", all.Bandwidth, 1, 1000)
	within("delay", all.Delay, 0, 0.2)
	within("model_error", all.ModelError, 1e-4, 1)
	within("force_on", all.ForceOn, 1e-3, 1e4)
	within("lift_gate", all.LiftGate, 0, 10)
	within("impact", all.Impact, 1, 100)
	return errors.Join(wrong...)
}

// Config makes a Sense.
type Config struct {
	Model  *robot.Model
	Servos []*model.Model // of each joint; nil where none is known
	Options
}

// Sample is what is known of a tick: of the period that ended with its readings.
type Sample struct {
	Time      float64          // s, when the readings were taken
	Dt        float64          // period, s
	Missed    bool             // ticks before this one did not take place
	Joints    []servo.Reading  // of each joint
	Setpoints []servo.Setpoint // that the period began with
	Voltage   float64          // of the supply, V; 0 if it is not measured
	Unit      *servo.Inertial  // on the base; nil without
	Base      spatial.Pose     // where the base is, as last estimated
	Twist     spatial.Twist    // how it moves, in base axes
	Reference []float64        // [joints] torque that the command needs, N·m; nil if that is not computed
	Expected  []Expectation    // [chains]
}

// Expectation is what is commanded of a foot.
type Expectation struct {
	Carries bool    // it is to carry
	Phase   float64 // share of its swing that is over, 0 … 1; below 0 if unknown
}

// Joint is the external torque of a joint and what it was found by, N·m or N.
type Joint struct {
	Valid    bool    // its servo has a model and torque, and its readings are fresh
	Servo    float64 // τs: what the servo gave in the last period, without the rotor
	Residual float64 // RNEA − τs in the last period, unfiltered
	Momentum float64 // r: that by the momentum observer
	External float64 // what the world does to the joint, by the servo's own equation
	Beyond   float64 // τs − τref; 0 without a reference
	Sigma    float64 // standard deviation of External
	Friction float64 // dry friction of unknown direction in it
	Lost     float64 // what a lost setpoint may explain of it, on a line that loses readings
}

// Band returns how far External is uncertain, to either side.
func (j *Joint) Band() float64 { return j.Friction + j.Lost + 3*j.Sigma }

// Sense estimates the external forces on a robot. Make one with New.
type Sense struct {
	m     *robot.Model
	opt   Options
	dyn   *dynamics.Data
	kin   *kinematics.Data
	first int // velocity behind the base's

	acts     []actuator
	joints   []Joint
	state    []jointState
	q, v, a  []float64 // of the tick's mean
	needs    []float64 // by inverse dynamics
	track    tracked
	lost     []losses
	loss     float64 // share of readings that are lost
	armature []float64
	last     []float64 // velocities of the tick before
	rate     spatial.Vec3
	base     [6]float64 // residual of the base's rows
	ready    int        // ticks since the beginning, as far as they matter

	limbs    []limb
	contacts []Contact
	jumps    []jump
	events   []Event
	time     float64
}

// jointState is what a joint needs to be followed.
type jointState struct {
	q, lastQ float64 // position now, and a tick ago
	has      bool
	stale    uint32  // ticks without a reading
	same     int     // ticks for which it was the same
	inertia  float64 // of what it moves, with its rotor
	spread   float64 // filtered variance by errors of models
	fresh    int     // ticks since it is valid
}

// longestGap is how many ticks without a reading are bridged.
const longestGap = 3

// settle is how many ticks an observer needs after a beginning, in units of 1/(K·dt).
const settle = 3.0

// New makes the sense of a robot. It fails for robots without mass, for those whose joints are not
// all of one coordinate, and where no servo model is known.
func New(c Config) (*Sense, error) {
	m := c.Model
	if !(m.Mass() > 0) {
		return nil, fmt.Errorf("external forces: robot %q has no mass: no link of its description has an inertial", m.Name())
	}
	if err := c.Options.Check(); err != nil {
		return nil, err
	}
	n := len(m.Joints())
	if len(c.Servos) != n {
		return nil, fmt.Errorf("external forces: %d servo models for %d joints", len(c.Servos), n)
	}
	s := &Sense{m: m, opt: c.Options, dyn: dynamics.NewData(m), kin: kinematics.NewData(m),
		acts: make([]actuator, n), joints: make([]Joint, n), state: make([]jointState, n),
		q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV()),
		needs: make([]float64, m.NumV()), armature: make([]float64, m.NumV()), last: make([]float64, m.NumV())}
	s.opt.setDefaults()
	kinematics.NewSpace(m).NeutralTo(s.q)
	if m.Floating() {
		s.first = 6
	}
	some := false
	for i := range m.Joints() {
		j := &m.Joints()[i]
		if j.Kind.NumQ() != 1 {
			return nil, fmt.Errorf("external forces: joint %q has %d coordinates, and a servo has one", j.Name, j.Kind.NumQ())
		}
		if c.Servos[i] != nil && !j.Virtual {
			s.acts[i] = actuator{known: true, at: c.Servos[i].AtJoint()}
			s.armature[j.V] = s.acts[i].at.A[0] / s.acts[i].at.A[3]
			some = true
		}
	}
	if !some {
		return nil, fmt.Errorf("external forces: no servo of robot %q has a model", m.Name())
	}
	s.weigh()
	s.track.init(m)
	s.lost = make([]losses, n)
	s.makeLimbs()
	s.events = make([]Event, 0, 4*len(m.Chains())+4)
	return s, nil
}

// weigh finds what each joint moves about itself at rest.
func (s *Sense) weigh() {
	nv := s.m.NumV()
	M := make([]float64, nv*nv)
	for i, x := range s.m.RestPositions() {
		s.q[s.m.Joints()[i].Q] = x
	}
	s.dyn.MassMatrixTo(M, s.q, dynamics.Load{Armature: s.armature})
	for i, j := range s.m.Joints() {
		s.state[i].inertia = M[j.V*nv+j.V]
	}
}

// SetServo takes a newer model of a joint's servo. Loop-safe.
func (s *Sense) SetServo(joint int, m *model.Model) {
	if m == nil || s.m.Joints()[joint].Virtual {
		return
	}
	a := &s.acts[joint]
	a.known, a.at = true, m.AtJoint()
	v := s.m.Joints()[joint].V
	was := s.armature[v]
	s.armature[v] = a.at.A[0] / a.at.A[3]
	s.state[joint].inertia += s.armature[v] - was
}

// Joint returns what is felt of a joint. Loop-safe.
func (s *Sense) Joint(j int) *Joint { return &s.joints[j] }

// Joints returns what is felt of every joint: read only. Loop-safe.
func (s *Sense) Joints() []Joint { return s.joints }

// Base returns the wrench of the world on the whole robot, about the base's origin, in world axes:
// of robots with a free base. Loop-safe.
func (s *Sense) Base() spatial.Wrench {
	R := s.kin.BodyPose(robot.World + 1).R
	b := &s.base
	return spatial.Wrench{Force: R.MulVec(spatial.Vec3{X: b[0], Y: b[1], Z: b[2]}), Torque: R.MulVec(spatial.Vec3{X: b[3], Y: b[4], Z: b[5]})}
}

// Reset begins again: nothing is known of what was before. Loop-safe.
func (s *Sense) Reset() {
	for i := range s.state {
		s.state[i].has, s.state[i].fresh = false, 0
		s.acts[i].reset(s.state[i].q)
	}
	s.ready = 0
}

// Update takes a tick. Loop-safe.
func (s *Sense) Update(sample *Sample) {
	s.time = sample.Time
	s.events = s.events[:0]
	if sample.Missed {
		s.Reset()
	}
	s.read(sample)
	s.count(sample)
	s.place(sample)
	s.dyn.InverseTo(s.needs, s.q, s.v, s.a, dynamics.Load{Armature: s.armature})
	s.predictBodies()
	s.observe(sample)
	s.feelLimbs()
	s.judge(sample)
}

// read takes positions: those that were not read go on as they moved.
func (s *Sense) read(sample *Sample) {
	for i := range s.state {
		st, r := &s.state[i], &sample.Joints[i]
		st.lastQ = st.q
		switch {
		case r.Age == 0:
			if st.same++; r.Position != st.q {
				st.same = 0
			}
			st.q, st.stale = r.Position, 0
		case st.has && r.Age != servo.Never:
			st.q += s.last[s.m.Joints()[i].V] * sample.Dt
			st.stale++
		}
		if !st.has || st.stale > longestGap {
			st.lastQ = st.q
			if st.stale > longestGap {
				st.q = r.Position
				st.lastQ = st.q
			}
			if r.Age == servo.Never || st.stale > longestGap {
				st.has, st.fresh = false, 0
				continue
			}
			if !st.has {
				s.acts[i].reset(st.q)
				s.last[s.m.Joints()[i].V] = 0
			}
			st.has = true
		}
	}
}

// place fills in the mean motion of the tick: joints between two readings, the base as its
// inertial unit or odometry has it.
func (s *Sense) place(sample *Sample) {
	for i, j := range s.m.Joints() {
		st := &s.state[i]
		v := (st.q - st.lastQ) / sample.Dt
		s.q[j.Q], s.v[j.V] = (st.q+st.lastQ)/2, v
		s.a[j.V] = (v - s.last[j.V]) / sample.Dt
		if s.ready == 0 || st.fresh == 0 {
			s.a[j.V] = 0
		}
		s.last[j.V] = v
	}
	if s.first == 0 {
		s.ready++
		s.kin.UpdatePosition(s.q)
		return
	}
	X, Q := sample.Base.P, sample.Base.R.Quat()
	s.q[0], s.q[1], s.q[2], s.q[3], s.q[4], s.q[5], s.q[6] = X.X, X.Y, X.Z, Q.X, Q.Y, Q.Z, Q.W
	rate, a := sample.Twist.Angular, spatial.Vec3{}
	if u := sample.Unit; u != nil && u.Age != servo.Never {
		rate = u.Rate
		a = u.Acceleration.Add(sample.Base.R.TMulVec(s.m.Gravity()))
		s.v[0], s.v[1], s.v[2] = 0, 0, 0
		s.last[0], s.last[1], s.last[2] = 0, 0, 0
	} else {
		v := sample.Twist.Linear
		a = v.Sub(spatial.Vec3{X: s.last[0], Y: s.last[1], Z: s.last[2]}).Scale(1 / sample.Dt)
		s.v[0], s.v[1], s.v[2] = v.X, v.Y, v.Z
		s.last[0], s.last[1], s.last[2] = v.X, v.Y, v.Z
	}
	mean, turn := rate.Add(s.rate).Scale(0.5), rate.Sub(s.rate).Scale(1/sample.Dt)
	if s.ready == 0 {
		mean, turn = rate, spatial.Vec3{}
		if sample.Unit == nil || sample.Unit.Age == servo.Never {
			a = spatial.Vec3{}
		}
	}
	s.rate = rate
	s.v[3], s.v[4], s.v[5] = mean.X, mean.Y, mean.Z
	s.a[0], s.a[1], s.a[2], s.a[3], s.a[4], s.a[5] = a.X, a.Y, a.Z, turn.X, turn.Y, turn.Z
	s.ready++
	s.kin.UpdatePosition(s.q)
}

// observe updates the residuals of all rows.
func (s *Sense) observe(sample *Sample) {
	α := s.opt.Gain
	for k := range s.first {
		s.base[k] += α * (s.needs[k] - s.base[k])
		if !finite(s.base[k]) {
			s.base[k] = 0
		}
	}
	for i := range s.joints {
		s.observeJoint(sample, i, α)
	}
}

func (s *Sense) observeJoint(sample *Sample, i int, α float64) {
	j, st, act, v := &s.joints[i], &s.state[i], &s.acts[i], s.m.Joints()[i].V
	volts := sample.Voltage
	if volts <= 0 {
		volts = act.at.Voltage
	}
	g := given{}
	if act.known && st.has {
		ramp := act.advance(&s.track.ramp, &sample.Setpoints[i], s.opt.Delay+act.at.Lead, sample.Dt, st.lastQ)
		g = act.torque(ramp, st.lastQ, st.q, volts, sample.Dt, s.opt.ModelError)
	}
	residual := s.needs[v] - g.tau
	if !g.ok || !finite(residual) {
		*j, st.fresh, st.spread = Joint{}, 0, 0
		return
	}
	st.fresh++
	j.Servo, j.Residual, j.Beyond = g.tau, residual, 0
	if sample.Reference != nil {
		j.Beyond = g.tau - sample.Reference[i]
	}
	if st.fresh == 1 {
		j.Momentum, st.spread = residual, g.spread*g.spread
	}
	j.Momentum += α * (residual - j.Momentum)
	// needs hold the masses' errors, too
	rotor := s.armature[v] * s.a[v]
	spread := g.spread*g.spread + s.opt.ModelError*s.opt.ModelError*(rotor*rotor+(s.needs[v]-rotor)*(s.needs[v]-rotor))
	st.spread += α * (spread - st.spread)
	s.follow(sample, i, volts)
	j.Valid = float64(st.fresh) > settle/α
}

func finite(x float64) bool { return x-x == 0 }
