package scenario

import (
	"math"

	"poise/contact"
	"poise/estimate"
	"poise/kinematics"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// estimates is what a robot on feet knows of itself by its sensors and its targets, held
// against the truth.
type estimates struct {
	has      bool // it has feet and a base that moves
	measured servo.Measurement
	sensed   []robot.ChainID // of each touch switch
	odometry *estimate.Odometry
	attitude estimate.Attitude
	input    estimate.Input
	off      float64 // of the base from where odometry has it, m; NaN before the first period

	ground     *contact.Ground // of the targets
	kin        *kinematics.Data
	targets, q []float64
	stand      []contact.Foot
	feet       []int // of observed.feet, that stand
	at         []spatial.Vec3
	load       []float64
}

// beginEstimates lets odometry begin at the truth.
func (r *run) beginEstimates(sensed []robot.ChainID) error {
	e, m := &r.known, r.p.m
	e.off = math.NaN()
	if e.has = m.Floating() && len(sensed) > 0; !e.has {
		return nil
	}
	for _, j := range m.Joints() {
		if j.Kind.NumQ() != 1 {
			e.has = false // odometry has one number for a joint
			return nil
		}
	}
	var err error
	if e.odometry, err = estimate.NewOdometry(m); err != nil {
		return err
	}
	if e.ground, err = contact.NewGround(m); err != nil {
		return err
	}
	e.odometry.Measure()
	e.odometry.Place(base(r.state.Q))
	e.sensed, e.kin, e.q = sensed, kinematics.NewData(m), make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(e.q)
	e.measured.Joints = make([]servo.Reading, len(m.Joints()))
	e.measured.IMU = []servo.Inertial{{Age: servo.Never}}
	e.measured.Touch = make([]servo.Contact, len(sensed))
	e.input.Q = make([]float64, len(m.Joints()))
	for i, j := range m.Joints() {
		e.input.Q[i] = r.state.Q[j.Q]
	}
	return nil
}

// measure reads the sensors after a period and follows the base by them.
func (r *run) measure() {
	if e := &r.known; e.has && r.err == nil {
		r.bus.Measure(&e.measured)
		r.follow(&e.measured)
	}
}

// follow updates odometry by what was measured: joints, touch switches, and the orientation
// of the inertial unit.
func (r *run) follow(read *servo.Measurement) {
	e, m := &r.known, r.p.m
	if !e.has {
		return
	}
	for i := range read.Joints {
		if read.Joints[i].Age != servo.Never {
			e.input.Q[i] = read.Joints[i].Position
		}
	}
	e.input.Time, e.input.Feet = r.now(), e.input.Feet[:0]
	for k, c := range e.sensed {
		if read.Touch[k].Pressed {
			e.input.Feet = append(e.input.Feet, estimate.Foot{Foot: contact.Foot{Chain: c, Contact: m.Chains()[c].Contact}, Weight: 1})
		}
	}
	e.input.Orientation = estimate.Orientation{}
	if u := &read.IMU[0]; u.Age != servo.Never {
		e.input.Orientation = e.attitude.Update(u, e.odometry.Base().Pose.R, m.Gravity().Norm(), r.p.s.period())
	}
	found := e.odometry.Update(&e.input)
	e.off = found.Pose.P.Sub(base(r.state.Q).P).Norm()
}

// forceError is the root of the mean square, over all feet, of what they carry less what
// those that carry would carry if the robot stood still as its targets have it. It is false
// if no foot carries.
func (r *run) forceError() (float64, bool) {
	e, o, m := &r.known, &r.observed, r.p.m
	if !e.has || len(o.feet) != len(e.sensed) {
		return 0, false
	}
	e.stand, e.feet, e.at = e.stand[:0], e.feet[:0], e.at[:0]
	for i, c := range e.sensed {
		if o.feet[i].force > carries*o.weight {
			e.stand, e.feet = append(e.stand, contact.Foot{Chain: c, Contact: m.Chains()[c].Contact}), append(e.feet, i)
		}
	}
	if len(e.stand) == 0 {
		return 0, false
	}
	joints := e.targets[:0]
	for i, j := range m.Joints() {
		joints = append(joints, r.target(i))
		e.q[j.Q] = joints[i]
	}
	X, ok := e.ground.Settle(joints, e.stand)
	if !ok {
		return 0, false
	}
	X = spatial.Pose{R: r.bus.Input().Ground.R}.Mul(X)
	Q := X.R.Quat()
	copy(e.q, []float64{X.P.X, X.P.Y, X.P.Z, Q.X, Q.Y, Q.Z, Q.W})
	e.kin.UpdatePosition(e.q)
	com, _ := e.kin.Com()
	for _, i := range e.feet {
		e.at = append(e.at, e.kin.Pose(e.kin.At(o.feet[i].link)).Apply(o.feet[i].mid))
	}
	e.load = evenLoads(e.load[:0], e.at, com, m.Mass()*m.Gravity().Norm())
	sum := 0.0
	for i := range o.feet {
		off := o.feet[i].vertical
		for k, f := range e.feet {
			if f == i {
				off -= e.load[k]
			}
		}
		sum += off * off
	}
	return math.Sqrt(sum / float64(len(o.feet))), true
}

// evenLoads returns the vertical forces at some points that carry a weight with its centre
// above or beside them: those with the least sum of squares that balance it, none of them
// negative. With p the places seen from their middle, f = Aᵀ·(A·Aᵀ + ε)⁻¹·b, A's columns
// (1, p.x, p.y); places in a line, or one alone, balance what they can.
func evenLoads(dst []float64, at []spatial.Vec3, com spatial.Vec3, weight float64) []float64 {
	used := make([]bool, len(at))
	for i := range used {
		used[i] = true
	}
	dst = append(dst, make([]float64, len(at))...)
	for range at {
		var mean spatial.Vec3
		n := 0.0
		for i, p := range at {
			if used[i] {
				mean, n = mean.Add(p), n+1
			}
		}
		mean = mean.Scale(1 / n)
		var xx, xy, yy float64
		for i, p := range at {
			if used[i] {
				x, y := p.X-mean.X, p.Y-mean.Y
				xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
			}
		}
		const small = 1e-9 // m²
		xx, yy = xx+small, yy+small
		bx, by := weight*(com.X-mean.X), weight*(com.Y-mean.Y)
		det := xx*yy - xy*xy
		u, v := (yy*bx-xy*by)/det, (xx*by-xy*bx)/det
		again := false
		for i, p := range at {
			if dst[i] = 0; !used[i] {
				continue
			}
			if dst[i] = weight/n + u*(p.X-mean.X) + v*(p.Y-mean.Y); dst[i] < 0 && n > 1 {
				used[i], dst[i], again = false, 0, true
			}
		}
		if !again {
			break
		}
	}
	return dst
}
