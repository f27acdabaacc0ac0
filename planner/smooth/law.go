package smooth

import (
	"fmt"
	"math"
	"sort"
	"sync"

	"poise/trajectory"
	"poise/trajectory/retime"
)

// timedRun is a route on its way from geometry to samples.
type timedRun struct {
	route  *route
	period float64      // between samples, s
	start  float64      // speed along the route with which it begins
	stop   func() error // asked now and then, if not nil; its error ends solve

	law   retime.Law // filled by solve
	sharp float64    // how long the law takes before it is smoothed, if known

	places []place // of the samples, if they were smoothed here
}

// solvers holds the memory of solvers from one plan to the next: most of what a plan
// needs beside its samples.
var solvers = sync.Pool{New: func() any { return new(retime.Solver) }}

func borrowSolver() *retime.Solver { return solvers.Get().(*retime.Solver) }

func giveBack(s *retime.Solver) {
	s.Forget()
	solvers.Put(s)
}

// margins are what the fast way leaves of the joints' limits to the smoothing of
// its samples, one try after the other.
var margins = []float64{0.995, 0.98, 0.95}

// solve finds the fastest law and returns its samples, which begin and end at rest
// unless the start moves.
func (t *timedRun) solve() (*trajectory.Trajectory, error) {
	limits := make([]trajectory.Limits, len(t.route.pieces))
	for i, p := range t.route.pieces {
		limits[i] = p.Limits
	}
	jerky := t.jerky()
	if t.start == 0 && len(t.route.pieces) > manyPieces {
		if out, err := t.quickLong(limits); out != nil || err != nil {
			return out, err
		}
	}
	if t.start == 0 {
		if out, err := t.quickly(limits, jerky); out != nil || err != nil {
			if jerky {
				t.sharp = 0
			}
			return out, err
		}
	}
	solver := borrowSolver()
	defer giveBack(solver)
	if t.sharp == 0 || jerky { // how long will it be?
		if err := solver.Solve(&t.law, &retime.Problem{Path: t.route, Limits: withoutJerk(limits), StartSpeed: t.start, Stop: t.stop}); err != nil {
			return nil, err
		}
		if err := t.fits(); err != nil {
			return nil, err
		}
	}
	if err := solver.Solve(&t.law, &retime.Problem{Path: t.route, Limits: limits, StartSpeed: t.start, Period: t.period, Patient: t.patient(), Stop: t.stop}); err != nil {
		return nil, err
	}
	if err := t.stopped(); err != nil {
		return nil, err
	}
	out, err := trajectory.Sample(retime.NewMotion(t.route, &t.law), t.period)
	if err != nil {
		return nil, err
	}
	if t.start == 0 && !ends(out) { // a law that nothing had to smooth yet
		return t.sampled(1), t.stopped()
	}
	t.places = nil
	return out, nil
}

func (t *timedRun) stopped() error {
	if t.stop == nil {
		return nil
	}
	return t.stop()
}

// jerky reports whether some joint has a jerk limit.
func (t *timedRun) jerky() bool {
	for _, p := range t.route.pieces {
		if p.Limits.Jerk != nil {
			return true
		}
	}
	return false
}

// quickly smooths the samples of a law that leaves some of the joints' limits to
// that; nil if it takes too much nevertheless.
func (t *timedRun) quickly(limits []trajectory.Limits, jerky bool) (*trajectory.Trajectory, error) {
	if !jerky {
		return t.try(limits, margins, 1)
	}
	// a short window makes up for accelerations that jump, from none or to the opposite
	if ramp := t.ramp(limits); 2*ramp <= longestWindow {
		for _, window := range []float64{ramp, 2 * ramp} {
			width := max(1, int(math.Ceil(window/t.period)))
			if out, err := t.try(withoutJerk(limits), margins[1:2], width); out != nil || err != nil {
				return out, err
			}
		}
	}
	return t.try(limits, margins[1:2], 1)
}

// longestWindow is over how long accelerations can be averaged before the path
// under them changes, s.
const longestWindow = 0.08

// ramp returns how long a joint takes to its limit of acceleration, at most.
func (t *timedRun) ramp(limits []trajectory.Limits) (most float64) {
	for _, l := range limits {
		for j := range t.route.Joints() {
			if l.Jerk != nil && !math.IsInf(l.Jerk[j], 1) {
				most = max(most, max(l.Acceleration[j], l.Deceleration[j])/l.Jerk[j])
			}
		}
	}
	return most
}

// try solves with one margin after the other until the samples, averaged over a
// width of periods, keep the limits; nil if none does.
func (t *timedRun) try(limits []trajectory.Limits, margins []float64, width int) (*trajectory.Trajectory, error) {
	solver := borrowSolver()
	defer giveBack(solver)
	slowable := 1.0
	if t.jerky() && t.long() {
		slowable = 1.02
	}
	for i, margin := range margins {
		if err := solver.Solve(&t.law, &retime.Problem{Path: t.route, Limits: tightened(limits, t.route.Joints(), margin), Patient: t.patient(), Stop: t.stop}); err != nil {
			return nil, err
		}
		if i == 0 {
			t.sharp = t.law.Duration()
		}
		if err := t.fits(); err != nil {
			return nil, err
		}
		if err := t.stopped(); err != nil {
			return nil, err
		}
		out := t.sampled(width)
		excess := t.excess(out)
		for k := 0; k < slowings && excess > 1 && excess < slowable; k++ {
			t.law.Slow(excess * (1 + 1e-6))
			out = t.sampled(width)
			excess = t.excess(out)
		}
		if excess == 1 {
			return out, t.stopped()
		}
	}
	return nil, t.stopped()
}

// slowings is how often a long run of jerk-limited joints whose samples exceed a
// limit by little is slowed as a whole, which takes no time to find.
const slowings = 3

// long reports whether a run has so many corners that time to plan counts more
// than care.
func (t *timedRun) long() bool { return len(t.route.pieces) > 7 }

// patient reports whether a run has a corner or two: blending them is to be faster
// than stopping.
func (t *timedRun) patient() bool { return len(t.route.pieces) > 1 && !t.long() }

// longError says that a motion has more samples than any memory should hold.
type longError struct{ Duration, Period float64 }

func (e *longError) Error() string {
	return fmt.Sprintf("the motion would last %.4g s and have more than %d samples every %g s", e.Duration, maxSamples, e.Period)
}

// maxSamples bounds what one motion may need: half an hour at 1 kHz.
const maxSamples = 2_000_000

func (t *timedRun) fits() error {
	if t.law.Duration() <= maxSamples*t.period {
		return nil
	}
	return &longError{t.law.Duration(), t.period}
}

// half returns where on the route the motion is half way between a sample and the
// next.
func (t *timedRun) half(i int) float64 {
	if s := t.places; s != nil {
		return (s[i].s+s[i+1].s)/2 + t.period/8*(s[i].v-s[i+1].v)
	}
	s, _, _ := t.law.At((float64(i) + 0.5) * t.period)
	return s
}

// when returns the time at which the law is at s.
func (t *timedRun) when(s float64) float64 {
	i := sort.Search(t.law.Nodes(), func(i int) bool { _, at := t.law.Node(i); return at >= s })
	time, _ := t.law.Node(min(i, t.law.Nodes()-1))
	return time
}

// speed returns the speed along the route at a time.
func (t *timedRun) speed(time float64) float64 {
	_, v, _ := t.law.At(time)
	return v
}

// ends reports whether a trajectory ends without acceleration, up to rounding.
func ends(t *trajectory.Trajectory) bool {
	const rounding = 1e-9 // of any acceleration limit that makes sense
	for _, a := range t.Points[len(t.Points)-1].Acceleration {
		if math.Abs(a) > rounding {
			return false
		}
	}
	return true
}

// tightened returns limits with a margin on those of the joints.
func tightened(all []trajectory.Limits, joints int, margin float64) []trajectory.Limits {
	out := make([]trajectory.Limits, len(all))
	for i, l := range all {
		out[i] = trajectory.Limits{Velocity: shrunk(l.Velocity, joints, margin), Acceleration: shrunk(l.Acceleration, joints, margin),
			Deceleration: shrunk(l.Deceleration, joints, margin), Jerk: shrunk(l.Jerk, joints, margin)}
	}
	return out
}

func withoutJerk(all []trajectory.Limits) []trajectory.Limits {
	out := append([]trajectory.Limits(nil), all...)
	for i := range out {
		out[i].Jerk = nil
	}
	return out
}

func shrunk(x []float64, joints int, margin float64) []float64 {
	if x == nil {
		return nil
	}
	x = append([]float64(nil), x...)
	for j := range joints {
		x[j] *= margin
	}
	return x
}
