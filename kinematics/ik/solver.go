package ik

import (
	"fmt"
	"math"

	"poise/robot"
	"poise/spatial"
)

// Status says how a solution attempt ended.
type Status uint8

// The ways to end. Only Solved has brought every tip where it was wanted.
const (
	Solved      Status = iota
	AtLimits           // a pose like this is reached only outside the joint limits named in the result
	Unreachable        // no joint position within the limits was found that comes closer
)

func (s Status) String() string {
	return [...]string{"solved", "stopped by joint limits", "unreachable"}[s]
}

// Free, as a tolerance, leaves an axis alone.
var Free = math.Inf(1)

// Target is what one tip is wanted to do.
type Target struct {
	Pose spatial.Pose // X_WF, the wanted pose of the tip in the world

	// Tolerance is how far the tip may stay away along and about the axes of
	// Pose: x y z in metres, then about x y z in radians. Zero is exact, Free
	// leaves the axis alone.
	Tolerance [6]float64
}

// PositionOnly is the tolerance of a target whose orientation does not matter.
var PositionOnly = [6]float64{0, 0, 0, Free, Free, Free}

// Options tune a Solver; the zero value of a field means its default.
type Options struct {
	PositionTolerance float64 // when a tip has arrived, m; default 1e-8
	RotationTolerance float64 // rad; default 1e-8
	MaxIterations     int     // of one attempt; default 60
	MaxRestarts       int     // attempts after the first; default 200

	// Posture, if not nil, is a whole configuration that joints go towards where
	// the task leaves them room. Its length is the model's NumQ.
	Posture []float64
}

// hopelessRestarts is how many attempts are made at a pose that the closed form
// has shown to be out of reach.
const hopelessRestarts = 4

// Result tells what was reached and what stood in the way.
type Result struct {
	Status        Status
	PositionError float64       // largest distance of a tip from its target, beyond the tolerance, m
	RotationError float64       // largest angle, beyond the tolerance, rad
	Joint         robot.JointID // the joint whose limit stood most in the way; NoJoint if none did
	Excess        float64       // by how much it would have to go beyond, rad or m
	Iterations    int           // in all attempts; 0 for a closed form
	Restarts      int
	Branches      int // closed form: how many solutions there were within the limits; 0 if it was not needed
}

// Solver finds joint positions for one set of tips. It is bound to its Model and
// holds the memory of its work: one per goroutine.
type Solver struct {
	m      *robot.Model
	opt    Options
	tree   tree
	closed *closedForm // nil if the geometry allows none
	work   workspace
	alone  [1]Target // SolveTo without a slice of the caller's
}

// New returns a Solver that moves the given joints to bring the tips to their
// targets. With no joints given it moves all that the tips hang on. Joints of
// more than one coordinate are held, and so is a floating base.
func New(m *robot.Model, opt Options, joints []robot.JointID, tips ...robot.FrameID) (*Solver, error) {
	if len(tips) == 0 {
		return nil, fmt.Errorf("ik: no tip given")
	}
	if opt.Posture != nil && len(opt.Posture) != m.NumQ() {
		return nil, fmt.Errorf("ik: posture has %d numbers, the robot %d", len(opt.Posture), m.NumQ())
	}
	opt.setDefaults()
	s := &Solver{m: m, opt: opt}
	if err := s.tree.build(m, joints, tips); err != nil {
		return nil, err
	}
	s.closed = findClosedForm(&s.tree)
	s.work.init(&s.tree)
	return s, nil
}

func (o *Options) setDefaults() {
	if o.PositionTolerance == 0 {
		o.PositionTolerance = 1e-8
	}
	if o.RotationTolerance == 0 {
		o.RotationTolerance = 1e-8
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 60
	}
	if o.MaxRestarts == 0 {
		o.MaxRestarts = 200
	}
}

// ClosedForm reports whether the solver solves exact poses in closed form.
func (s *Solver) ClosedForm() bool { return s.closed != nil }

// Joints returns the joints that the solver moves, in array order.
func (s *Solver) Joints() []robot.JointID { return s.tree.joints }

// PoseTo stores in q a configuration that brings the first tip to pose, starting
// from seed; it is SolveTo for one exact target. Loop-safe.
func (s *Solver) PoseTo(q []float64, pose spatial.Pose, seed []float64) Result {
	s.alone[0] = Target{Pose: pose}
	return s.SolveTo(q, s.alone[:], seed)
}

// SolveTo stores in q the configuration that was found, or the best one if none
// was: joints that the solver does not move keep the value of the seed. There is
// one target per tip; one that is not finite is unreachable, and q then is the
// seed. q and seed have length NumQ and may alias. Loop-safe.
func (s *Solver) SolveTo(q []float64, targets []Target, seed []float64) Result {
	if len(q) != s.m.NumQ() || len(seed) != s.m.NumQ() {
		panic(fmt.Sprintf("ik: len(q) = %d, len(seed) = %d, want %d", len(q), len(seed), s.m.NumQ()))
	}
	if len(targets) != len(s.tree.tips) {
		panic(fmt.Sprintf("ik: %d targets for %d tips", len(targets), len(s.tree.tips)))
	}
	copy(q, seed)
	for i := range targets {
		if !finite(&targets[i].Pose) {
			return Result{Status: Unreachable, Joint: robot.NoJoint, PositionError: math.Inf(1), RotationError: math.Inf(1)}
		}
	}
	s.tree.freeze(seed)
	restarts := s.opt.MaxRestarts
	if s.closed != nil && s.opt.Posture == nil && targets[0].Tolerance == ([6]float64{}) {
		if r, done := s.solveNearby(q, targets); done {
			return r
		}
		r, done := s.solveClosed(q, &targets[0])
		if done {
			return r
		}
		if r.Joint == robot.NoJoint {
			// there is no exact solution: a few attempts tell how near one gets
			restarts = min(restarts, hopelessRestarts)
		}
	}
	return s.solveNumeric(q, targets, restarts)
}

func finite(X *spatial.Pose) bool {
	ok := X.P.Finite()
	for _, v := range X.R {
		ok = ok && v-v == 0
	}
	return ok
}

// store writes the moved coordinates x into the configuration q.
func (s *Solver) store(q, x []float64) {
	for i, at := range s.tree.index {
		q[at] = x[i]
	}
}

// limitSlack is how far rounding may put an angle at a limit beyond it, rad.
const limitSlack = 1e-9

// nearestTurn returns the value that equals x up to whole turns, lies within the
// bounds and is nearest to seed. What is beyond a bound by rounding alone is put
// onto it. If none lies within, it returns the one that is least outside, and ok is
// false. Continuous joints have infinite bounds.
func nearestTurn(x, seed, lower, upper float64) (best float64, ok bool) {
	const turn = 2 * math.Pi
	low, high := lower-limitSlack, upper+limitSlack
	best = x + turn*math.Round((seed-x)/turn)
	if best >= low && best <= high {
		return min(max(best, lower), upper), true
	}
	// the turn next to the seed is out of bounds: the nearest one inside, if there
	// is one, is next to the bound that was crossed
	below, above := x+turn*math.Floor((high-x)/turn), x+turn*math.Ceil((low-x)/turn)
	switch {
	case below >= low && best > upper:
		return min(max(below, lower), upper), true
	case above <= high && best < lower:
		return min(max(above, lower), upper), true
	case lower-below < above-upper:
		return below, false
	}
	return above, false
}
