package external

import "math"

// substeps of a period in which a joint is predicted: goals ramp, and dry friction comes and goes
// within it.
const substeps = 8

// tracker follows a joint by the equation of its servo: where it is, how it moves, and the torque
// that the world adds,
//
//	M·v̇ = k·(ramp − q) − d·v − dry·sign(v) − rest + w,   ẇ = noise
//
// as an extended Kalman filter of position readings. M·v is the joint's part of the generalised
// momentum: w is the residual of the momentum that is predicted, not of one that is differentiated
// from readings in steps. Friction acts by the predicted velocity.
type tracker struct {
	q, v, w float64
	P       [6]float64 // covariance: qq qv qw vv vw ww
	N       [6]float64 // the same as long as the world does nothing: by readings alone
	mean    float64    // of w over the last ticks: w overshoots what acts
	stuck   bool       // dry friction held it through the last period
	held    float64    // s for which that is so, and readings agree
	known   float64    // what acts on it then, as far as friction leaves it known,
	before  float64    // and the mean when it came to rest
	a       float64    // mean acceleration of it
}

// law is how a joint moves in a period.
type law struct {
	M, k, d, dry float64 // at the joint
	rest         float64 // what the bodies need besides M·v̇, and the servo's offset
	most         float64 // greatest torque of the motor
	effort       float64 // feed-forward
	dt           float64
}

// begin starts at rest at a reading.
func (t *tracker) begin(q, step, rest float64) {
	P := [6]float64{step * step, 0, 0, 1e-2, 0, rest * rest}
	*t = tracker{q: q, P: P, N: P}
}

// predict moves the joint by a period; ramp holds the mean goal of each substep. It returns the
// mean of the servo's torque without friction.
func (t *tracker) predict(l *law, ramp *[substeps]float64) (servo float64) {
	h := l.dt / substeps
	D := 1 + h*l.d/l.M + h*h*l.k/l.M
	v0 := t.v
	t.stuck = true
	for _, g := range ramp {
		y := l.k*(g-t.q) + l.effort
		k := l.k
		if math.Abs(y) > l.most {
			y, k = math.Copysign(l.most, y), 0
		}
		den := D
		if k == 0 {
			den = 1 + h*l.d/l.M
		}
		servo += y
		v := (t.v + h/l.M*(y-l.rest+t.w)) / den
		if f := h / l.M * l.dry / den; math.Abs(v) > f {
			v -= math.Copysign(f, v)
			t.stuck = false
		} else {
			v = 0
		}
		t.v = v
		t.q += h * v
	}
	t.a = (t.v - v0) / l.dt
	return servo / substeps
}

// spread propagates the covariances by the same steps, linear as the joint is when it slides: by F, which it returns.
func (t *tracker) spread(l *law) (F [3][3]float64) {
	h := l.dt / substeps
	D := 1 + h*l.d/l.M + h*h*l.k/l.M
	for c := range 3 {
		x := [3]float64{}
		x[c] = 1
		for range substeps {
			x[1] = (x[1] - h*l.k/l.M*x[0] + h/l.M*x[2]) / D
			x[0] += h * x[1]
		}
		F[0][c], F[1][c], F[2][c] = x[0], x[1], x[2]
	}
	carry(&t.P, &F)
	carry(&t.N, &F)
	return F
}

// carry replaces a covariance S by F·S·Fᵀ.
func carry(p *[6]float64, F *[3][3]float64) {
	S := [3][3]float64{{p[0], p[1], p[2]}, {p[1], p[3], p[4]}, {p[2], p[4], p[5]}}
	var G [3][3]float64 // F·S
	for i := range 3 {
		for j := range 3 {
			G[i][j] = F[i][0]*S[0][j] + F[i][1]*S[1][j] + F[i][2]*S[2][j]
		}
	}
	at := func(i, j int) float64 { return G[i][0]*F[j][0] + G[i][1]*F[j][1] + G[i][2]*F[j][2] }
	*p = [6]float64{at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)}
}

// noise adds what the world may do: a variance of w.
func (t *tracker) noise(w float64) { t.P[5] += w }

// off returns the innovation of a reading: how far it is outside of half a step about the prediction.
func (t *tracker) off(q, half float64) float64 {
	e := q - t.q
	return e - math.Max(-half, math.Min(half, e))
}

// hold updates the torque of a joint that dry friction holds. Without friction w would hold it, so the
// external torque is within the friction, and the errors of the reading, of w. The estimate from when
// the joint came to rest is kept, as far as it is within that; after restTime it moves to the mean of the
// last ticks of motion.
func (t *tracker) hold(w, friction, errors, dt float64) {
	if t.held == 0 {
		t.known, t.before = t.w, t.mean
	} else if t.held > restTime {
		t.known += restGain * (t.before - t.known)
	}
	t.held += dt
	t.known = math.Max(w-friction-errors, math.Min(w+friction+errors, t.known))
	t.w += holdGain * (t.known - t.w)
	t.mean += meanGain * (t.w - t.mean)
	t.v = 0
	t.P = [6]float64{t.P[0], 0, 0, 0, 0, friction*friction/3 + errors*errors}
	t.N = [6]float64{t.N[0], 0, 0, 0, 0, errors * errors}
}

// holdGain is the share by which w approaches the known torque in a tick.
const holdGain = 0.3

// A joint that is held for longer than restTime does not just reverse: each tick brings its known torque nearer
// to the mean before, by restGain.
const (
	restTime = 0.25 // s
	restGain = 0.15
)

// meanGain is the share of a tick in the mean of the torque.
const meanGain = 0.35

// correct updates state and covariances by an innovation e and returns the gain K = P·h/s. Both
// covariances become (1 − K·hᵀ)·S·(1 − K·hᵀ)ᵀ + K·Kᵀ·variance, N with the variance while nothing acts.
func (t *tracker) correct(e, variance, quiet float64) (K [3]float64) {
	c := [3]float64{t.P[0], t.P[1], t.P[2]}
	s := c[0] + variance
	K = [3]float64{c[0] / s, c[1] / s, c[2] / s}
	t.q, t.v, t.w = t.q+K[0]*e, t.v+K[1]*e, t.w+K[2]*e
	t.mean += meanGain * (t.w - t.mean)
	t.held = 0
	shrink(&t.P, &K, variance)
	shrink(&t.N, &K, quiet)
	return K
}

// shrink is the covariance S after a reading was used with a gain.
func shrink(p *[6]float64, K *[3]float64, variance float64) {
	c := [3]float64{p[0], p[1], p[2]}
	s := c[0] + variance
	at := func(i, j int) float64 { return -K[i]*c[j] - K[j]*c[i] + K[i]*K[j]*s }
	p[0] += at(0, 0)
	p[1] += at(0, 1)
	p[2] += at(0, 2)
	p[3] += at(1, 1)
	p[4] += at(1, 2)
	p[5] += at(2, 2)
}
