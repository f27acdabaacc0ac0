package identify

import (
	"math"

	"poise/servo/model"
)

// Online estimates the parameters of a servo while it runs, by recursive least squares with forgetting (Ljung,
// "System Identification", 1999, 11.2), and by how much its model errs. It is a monitor: it changes no model.
type Online struct {
	m     model.Model // in force, at the joint
	θ     [4]float64  // a0 … a3 over those of the model
	p     [16]float64
	error float64 // mean square of what the model leaves of the goal's distance, rad², forgotten likewise
	count float64 // of samples that count, forgotten likewise
}

const (
	forgetting = 0.995
	firstP     = 1e4 // of parameters that are scaled to 1: they are unknown. With 0 they would never move
	mostP      = 1e6 // trace of P above which nothing excites the parameters: they stay
	least      = 100 // samples before anything is said
)

// NewOnline begins with the model in force.
func NewOnline(m *model.Model) *Online {
	o := &Online{m: m.AtJoint()}
	for i := range 4 {
		o.θ[i], o.p[5*i] = 1, firstP
	}
	return o
}

// Add takes one sample: the goal as the servo follows it, when it takes effect, and how the joint moves and is loaded then.
// Slow motion does not count: the sign of friction is not sure.
func (o *Online) Add(goal, q, v, a, torque, gain, voltage float64) {
	k := gain * voltage
	if math.Abs(v) < movingSpeed || !(k > 0) || math.IsNaN(goal+q+v+a+torque) {
		return
	}
	m := &o.m
	y := k*(goal-q) - m.A[5]
	if m.A[4] != 0 && m.Speed > 0 {
		y -= math.Copysign(m.A[4]*math.Exp(-math.Abs(v)/m.Speed), v)
	}
	φ := [4]float64{m.A[0] * a, m.A[1] * v, math.Copysign(m.A[2], v), m.A[3] * torque}
	left := y
	for i := range φ {
		left -= φ[i]
	}
	o.count = forgetting*o.count + 1
	o.error = forgetting*o.error + (left/k)*(left/k)
	o.estimate(φ, y)
}

// estimate is a step of the recursion; y is scaled by the regressor, so that parameters are near 1.
func (o *Online) estimate(φ [4]float64, y float64) {
	if trace := o.p[0] + o.p[5] + o.p[10] + o.p[15]; trace > mostP {
		return
	}
	size := 0.0
	for _, x := range φ {
		size += x * x
	}
	if size = math.Sqrt(size); !(size > 0) {
		return
	}
	var pφ [4]float64
	for i := range φ {
		φ[i] /= size
	}
	for i := range pφ {
		for j := range φ {
			pφ[i] += o.p[4*i+j] * φ[j]
		}
	}
	s, e := forgetting, y/size
	for i := range φ {
		s += φ[i] * pφ[i]
		e -= φ[i] * o.θ[i]
	}
	for i := range pφ {
		o.θ[i] += pφ[i] / s * e
		for j := range pφ {
			o.p[4*i+j] = (o.p[4*i+j] - pφ[i]*pφ[j]/s) / forgetting
		}
	}
}

// Estimate returns a0 … a3 as they show now, and by how much the model errs, rad (RMS); not before enough was seen.
func (o *Online) Estimate() (parameters [4]float64, rms float64, ok bool) {
	if !(o.count >= least) {
		return parameters, 0, false
	}
	for i := range parameters {
		parameters[i] = o.θ[i] * o.m.A[i]
	}
	return parameters, math.Sqrt(o.error / o.count), true
}

// Moved is how a joint moved at one of its readings, by local smoothing, and what its servo was led to when that took effect.
type Moved struct {
	Time, Goal, Position, Velocity, Acceleration float64
	Gain, Voltage                                float64
}

// Smoothed returns how a joint moved in the middle of some rows; their ends have too few neighbours.
func Smoothed(rows []Row, delay float64) (all []Moved) {
	if len(rows) < 8 {
		return nil
	}
	s := newSeries(rows, 1, new(loading))
	edge := math.Max(smoothing, 3.2*s.period)
	ramp, k := line{knots: s.ramp}, 0
	for _, r := range s.readings {
		goal, _ := ramp.at(r.t - delay)
		for k+1 < len(rows) && rows[k+1].MeasuredAt <= r.t {
			k++
		}
		if r.t-edge < s.begin || r.t+edge > s.end {
			continue
		}
		all = append(all, Moved{Time: r.t, Goal: goal, Position: r.q, Velocity: r.v, Acceleration: r.a, Gain: rows[k].Kp, Voltage: rows[k].Voltage})
	}
	return all
}
