package estimate

import (
	"poise/contact"
	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// Foot is a foot that stands.
type Foot struct {
	contact.Foot
	Weight float64 // how much it counts beside the others, > 0
}

// Alike returns feet that carry alike.
func Alike(feet []contact.Foot) []Foot {
	all := make([]Foot, len(feet))
	for i, f := range feet {
		all[i] = Foot{f, 1}
	}
	return all
}

// Orientation is how the base is turned, as an inertial unit knows it.
type Orientation struct {
	R    spatial.Mat3 // R_WB
	Rate spatial.Vec3 // angular velocity, in base axes
	Has  bool
}

// Input is what odometry gets in one update.
type Input struct {
	Time        float64   // s
	Q, V, A     []float64 // of each joint; V or A is nil if it is not known, which counts as zero
	Feet        []Foot    // that stand
	Orientation Orientation
}

// Odometry follows the base of a robot whose feet stay where they touch: each foot
// keeps its place from the moment it stands until it is lifted. The pose is the
// weighted registration of the feet with their places (contact.Register), twist and
// acceleration are its derivatives.
//
// When other feet stand than before, those that fit their places badly may leave the
// base elsewhere: the difference is bridged, so that pose, twist and acceleration go
// on without a step. While no foot stands the base comes to rest and stays; an
// orientation that is given still turns it.
type Odometry struct {
	ground  *contact.Ground
	feet    []Foot
	matches []contact.Match // of the contact points of feet, one foot after the other
	spare   []contact.Match
	plain   []contact.Foot    // scratch
	legs    [][]robot.JointID // of each chain: joints between the base and its tip

	found  control.BaseRef // by registration
	base   control.BaseRef // and bridged
	bridge control.PoseBridge
	lean   lean
	slip   float64
	time   float64 // of the last update, s
	begun  bool
	placed bool         // the base was put somewhere: nothing is continuous with it
	floor  spatial.Pose // X_WF: its plane z = 0 is the ground
	last   last
	real   realFeet
}

// last is what an update was made of.
type last struct{ q, v, a []float64 }

// NewOdometry returns the odometry of a robot. Its first update settles it: feet on
// the ground z = 0, base above the origin, x ahead. A robot with a fixed base stays
// at the origin.
func NewOdometry(m *robot.Model) (*Odometry, error) {
	ground, err := contact.NewGround(m)
	if err != nil {
		return nil, err
	}
	n, feet, points := len(m.Joints()), len(m.Chains()), 0
	for i := range m.Contacts() {
		points = max(points, len(m.Contacts()[i].Points))
	}
	o := &Odometry{
		ground: ground, base: atRest(spatial.IdentityPose), found: atRest(spatial.IdentityPose), floor: spatial.IdentityPose,
		feet: make([]Foot, 0, feet), plain: make([]contact.Foot, 0, feet),
		matches: make([]contact.Match, 0, feet*points), spare: make([]contact.Match, 0, feet*points),
		last: last{q: make([]float64, n), v: make([]float64, n), a: make([]float64, n)},
	}
	for _, c := range m.Chains() {
		leg, _ := m.Path(0, c.Tip)
		o.legs = append(o.legs, leg)
	}
	return o, nil
}

func atRest(X spatial.Pose) control.BaseRef { return control.BaseRef{Pose: X, Has: true} }

// Base returns where the base is and how it moves, as of the last update.
func (o *Odometry) Base() control.BaseRef { return o.base }

// Slip returns the largest distance of a standing foot from its place, m: feet that
// slipped, or legs that work against each other.
func (o *Odometry) Slip() float64 { return o.slip }

// Set says where the base is and how it moves at a time (s), from a source that knows:
// odometry goes on from there. Feet stand from the next update on where they then are.
// Loop-safe.
func (o *Odometry) Set(t float64, base control.BaseRef) {
	o.base, o.found, o.time = base, base, t
	o.feet, o.matches = o.feet[:0], o.matches[:0]
	o.bridge.Drop()
	o.begun, o.slip, o.lean.active, o.real.surface.on = true, 0, false, false
}

// Place puts the base somewhere at once, at rest: the next update begins there.
// Loop-safe.
func (o *Odometry) Place(X_WB spatial.Pose) {
	o.Set(o.time, atRest(X_WB))
	o.placed = true
}

// Update returns the base for what is known now. Loop-safe.
func (o *Odometry) Update(input *Input) control.BaseRef {
	if !o.ground.Model().Floating() {
		return o.base
	}
	if !o.begun {
		o.begin(input)
	}
	if o.real.on {
		input = o.trusted(input)
	}
	if !o.unchanged(input) {
		o.step(input)
	}
	dt := input.Time - o.time
	o.time, o.placed = input.Time, false
	if o.real.on {
		o.watch(dt)
	}
	return o.base
}

// begin settles the robot on its feet.
func (o *Odometry) begin(input *Input) {
	o.plain = o.plain[:0]
	for i := range input.Feet {
		o.plain = append(o.plain, input.Feet[i].Foot)
	}
	X, _ := o.ground.Settle(input.Q, o.plain)
	o.time = input.Time
	o.Place(X)
	o.begun = len(input.Feet) > 0 || input.Orientation.Has
}

// unchanged reports whether the input differs from the last one in nothing but time,
// and time changes nothing.
func (o *Odometry) unchanged(input *Input) bool {
	if len(input.Feet) == 0 || len(input.Feet) != len(o.feet) || o.bridge.Active() || o.lean.active || input.Orientation.Has {
		return false
	}
	for i, f := range input.Feet {
		if f != o.feet[i] {
			return false
		}
		for _, j := range o.legs[f.Chain] {
			if input.Q[j] != o.last.q[j] || at(input.V, int(j)) != o.last.v[j] || at(input.A, int(j)) != o.last.a[j] {
				return false
			}
		}
	}
	return true
}

// step follows the feet to now.
func (o *Odometry) step(input *Input) {
	copy(o.last.q, input.Q)
	remember(o.last.v, input.V)
	remember(o.last.a, input.A)
	same := o.sameFeet(input)
	if !same {
		o.keep(input)
	}
	if len(input.Feet) > 0 {
		o.ground.Move(input.Q, input.V, input.A)
	}
	switch {
	case len(input.Feet) == 0:
		o.rest(input, !same || o.placed)
	case same:
		o.stand(input, &o.found)
	case len(o.feet) == 0:
		// all feet are new: they stand where the base brings them by itself
		ahead := o.base.At(input.Time - o.time)
		if o.placed { // and leans to there
			ahead = o.found.At(input.Time - o.time)
		}
		down := o.landed(input, ahead)
		o.change(input, down, ahead)
		if down.Pose != ahead.Pose {
			o.bridge.Begin(input.Time, &ahead, &o.found)
		}
	default:
		// those that stood say where the base is, and the others stand there
		alone := o.kept(input)
		bridged := alone
		o.bridge.Apply(input.Time, &bridged)
		o.change(input, alone, bridged)
	}
	if o.real.on {
		o.walk(input, !same)
	}
	o.base = o.found
	o.bridge.Apply(input.Time, &o.base)
	o.lean.apply(input.Time, &o.base.Pose.R)
}

// lean blends a new tilt in gradually: the base is turned by φ, which fades in its own axes. This is not a motion
// of the robot, so it adds neither twist nor acceleration.
type lean struct {
	φ      spatial.Vec3
	began  float64 // s
	active bool
}

// leanTime is how long a tilt takes, s.
const leanTime = 1.0

func (l *lean) apply(t float64, R *spatial.Mat3) {
	if !l.active {
		return
	}
	s := (t - l.began) / leanTime
	if l.active = s < 1; l.active {
		*R = R.Mul(spatial.ExpRotation(l.φ.Scale(1 - s*s*(3-2*s))).Matrix())
	}
}

// rest leaves the base alone while no foot stands: it stops, and stays.
func (o *Odometry) rest(input *Input, lifted bool) {
	o.slip = 0
	if lifted {
		o.found = atRest(o.bridge.Rest(o.time, &o.base))
	}
	if input.Orientation.Has {
		o.found.Pose.R, o.found.Twist.Angular = input.Orientation.R, input.Orientation.Rate
		o.bridge.Drop()
	}
}

// change lets other feet stand than before: new ones stand where they are with the
// base as it is. The command, which is as it is with its bridge, goes on smoothly.
func (o *Odometry) change(input *Input, base, bridged control.BaseRef) {
	if input.Orientation.Has {
		base.Pose.R = input.Orientation.R
	}
	o.stand(input, &base)
	if !o.placed && !near(&base, &o.found) {
		o.bridge.Begin(input.Time, &bridged, &o.found)
	}
}

func (o *Odometry) sameFeet(input *Input) bool {
	if len(input.Feet) != len(o.feet) {
		return false
	}
	for i := range input.Feet {
		if input.Feet[i].Foot != o.feet[i].Foot {
			return false
		}
	}
	return true
}

// Differences of poses (m, rad), twists and accelerations (per s, per s²) that are
// rounding.
const (
	samePose         = 1e-12
	sameTwist        = 1e-9
	sameAcceleration = 1e-6
)

// keep forgets feet that stand no more, and bridges to where the others alone left the
// base at the last update.
func (o *Odometry) keep(input *Input) {
	feet, matches := o.feet[:0], o.matches[:0]
	from := 0
	for _, f := range o.feet {
		n := o.points(f.Foot)
		for i := range input.Feet {
			if input.Feet[i].Foot == f.Foot {
				feet = append(feet, input.Feet[i])
				for _, m := range o.matches[from : from+n] {
					m.Weight = input.Feet[i].Weight
					matches = append(matches, m)
				}
			}
		}
		from += n
	}
	o.feet, o.matches = feet, matches
	if len(feet) == 0 || o.placed {
		return
	}
	back := o.fit(o.matches, &input.Orientation, o.found.Pose)
	if near(&back, &o.base) {
		o.bridge.Drop()
		return
	}
	o.bridge.Begin(o.time, &o.base, &back)
}

// points returns how many contact points a foot has.
func (o *Odometry) points(f contact.Foot) int {
	return len(o.ground.Model().Contacts()[f.Contact].Points)
}

// kept returns the base as the feet have it now that stood before.
func (o *Odometry) kept(input *Input) control.BaseRef {
	now := o.spare[:0]
	first := 0
	for _, f := range o.feet {
		now = o.ground.MatchesTo(now, f.Foot)
		for ; first < len(now); first++ {
			now[first].Anchor, now[first].Weight = o.matches[first].Anchor, f.Weight
		}
	}
	o.spare = now
	return o.fit(now, &input.Orientation, o.found.Pose)
}

// stand lets the feet of the input stand, where they stood or, if they are new, where
// the base has them, and finds the base from all of them.
func (o *Odometry) stand(input *Input, base *control.BaseRef) {
	now := o.spare[:0]
	for i := range input.Feet {
		f := &input.Feet[i]
		first := len(now)
		now = o.ground.MatchesTo(now, f.Foot)
		at, stood := o.find(f.Foot)
		for k := range now[first:] {
			m := &now[first+k]
			if m.Weight = f.Weight; stood {
				m.Anchor = o.matches[at+k].Anchor
			} else {
				m.Anchor = base.Pose.Apply(m.P)
			}
		}
	}
	if o.real.on {
		o.ripen(input, now, base.Pose)
	}
	o.feet = append(o.feet[:0], input.Feet...)
	o.matches, o.spare = now, o.matches
	o.found = o.fit(now, &input.Orientation, base.Pose)
}

// find returns where the matches of a foot begin that stands.
func (o *Odometry) find(f contact.Foot) (first int, ok bool) {
	for i := range o.feet {
		if o.feet[i].Foot == f {
			return first, true
		}
		first += o.points(o.feet[i].Foot)
	}
	return 0, false
}

// fit registers points with their anchors, and notes the slip.
func (o *Odometry) fit(all []contact.Match, known *Orientation, guess spatial.Pose) control.BaseRef {
	var r contact.Registration
	switch {
	case known.Has:
		guess.R = known.R
		r = contact.RegisterTurned(all, guess, known.Rate)
	case o.real.on:
		r = contact.RegisterNoisy(all, guess, pointNoise)
	default:
		r = contact.Register(all, guess)
	}
	o.slip = r.Worst
	return control.BaseRef{Pose: r.Pose, Twist: r.Twist, Acceleration: r.Acceleration, Has: true}
}

// stay gives all feet that stand new places: where the base has them.
func (o *Odometry) stay() {
	for i := range o.matches {
		m := &o.matches[i]
		m.Anchor = o.found.Pose.Apply(m.P)
	}
}

// near reports whether two motions differ by rounding only.
func near(a, b *control.BaseRef) bool {
	d := a.Pose.Inverse().Mul(b.Pose)
	same := func(a, b spatial.Twist, limit float64) bool {
		return a.Linear.Sub(b.Linear).Norm() < limit && a.Angular.Sub(b.Angular).Norm() < limit
	}
	return d.P.Norm() < samePose && d.R.Quat().Log().Norm() < samePose &&
		same(a.Twist, b.Twist, sameTwist) && same(a.Acceleration, b.Acceleration, sameAcceleration)
}

// at returns x[i], 0 if there is no x.
func at(x []float64, i int) float64 {
	if x == nil {
		return 0
	}
	return x[i]
}

func remember(dst, x []float64) {
	if x == nil {
		clear(dst)
		return
	}
	copy(dst, x)
}
