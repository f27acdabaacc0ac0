package feedforward

import "math"

// Numbers of the accelerations.
const (
	window    = 5    // velocities in the filtered difference
	doubts    = 5    // ticks in a row after which a claim is not believed, or is again
	agreement = 0.1  // share of an acceleration by which claim and motion may differ,
	floor     = 0.5  // and so much besides, rad/s² or m/s²
	steepest  = 200. // rad/s² or m/s²: of a joint that declares no limit
)

// Accelerations finds the accelerations of commanded joints.
type Accelerations struct {
	A     []float64 // [joints] of the last update
	limit []float64
	joint []trail
}

// trail is what is remembered of a joint.
type trail struct {
	n       int             // updates since it began, up to window + 1
	v       [window]float64 // mean velocities of the last periods, newest first
	q       float64         // position,
	claim   float64         // and claimed acceleration, at the last update
	doubt   int             // updates in a row in which the claim was wrong, or right again
	guessed bool            // the claim is not believed
	share   float64         // of the filtered difference in what comes out
}

// NewAccelerations makes room for joints with limits; 0 and +∞ are none.
func NewAccelerations(limits []float64) *Accelerations {
	a := &Accelerations{A: make([]float64, len(limits)), limit: make([]float64, len(limits)), joint: make([]trail, len(limits))}
	for j, x := range limits {
		if !(x > 0) || x > steepest {
			x = steepest
		}
		a.limit[j] = x
	}
	return a
}

// Begin forgets how joints moved. Loop-safe.
func (a *Accelerations) Begin() { clear(a.joint) }

// Update finds the acceleration of a joint of which a reference claims one. One that does not
// move on its own, because it has no torque, is at rest. Loop-safe.
func (a *Accelerations) Update(j int, q, claim float64, moves bool, dt float64) {
	t := &a.joint[j]
	if !moves || !finite(q) || !finite(claim) {
		*t = trail{q: q}
		a.A[j] = 0
		return
	}
	if t.n == 0 {
		*t = trail{n: 1, q: q, claim: claim}
		a.A[j] = a.clip(j, claim)
		return
	}
	copy(t.v[1:], t.v[:window-1])
	t.v[0] = (q - t.q) / dt
	if t.n++; t.n > 2 { // two velocities are known: their difference is the acceleration a period ago
		t.judge((t.v[0] - t.v[1]) / dt)
	}
	t.q, t.claim, t.n = q, claim, min(t.n, window+1)
	to := 0.0
	if t.guessed {
		to = 1
	}
	t.share += max(-1.0/window, min(1.0/window, to-t.share))
	out := claim
	if t.share > 0 {
		out += t.share * (t.slope(dt) - claim)
	}
	a.A[j] = a.clip(j, out)
}

// judge compares what was claimed for the last update with how the joint moved there.
func (t *trail) judge(moved float64) {
	wrong := math.Abs(moved-t.claim) > agreement*max(math.Abs(moved), math.Abs(t.claim))+floor
	if wrong == t.guessed {
		t.doubt = 0
		return
	}
	if t.doubt++; t.doubt >= doubts {
		t.guessed, t.doubt = wrong, 0
	}
}

// slope is the derivative of a line through the last velocities (Savitzky and Golay), two
// periods and a half old; 0 until there are enough.
func (t *trail) slope(dt float64) float64 {
	if t.n <= window {
		return 0
	}
	return (2*t.v[0] + t.v[1] - t.v[3] - 2*t.v[4]) / (10 * dt)
}

func (a *Accelerations) clip(j int, x float64) float64 {
	return max(-a.limit[j], min(a.limit[j], x))
}

func finite(x float64) bool { return x-x == 0 }
