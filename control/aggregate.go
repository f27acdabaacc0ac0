package control

import (
	"math"

	"poise/arbiter"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/move"
)

// Aggregate merges the partial references of all controllers into one reference
// for the whole robot, once per tick:
//
//	a.Begin()
//	a.Take(who, owns, reference)   // of each active controller
//	a.End()
//
// A leaf is accepted from its owner alone. A leaf without a writer keeps its last
// value, at rest: the holder then holds the joint with its last feed-forward, and in
// the reference feed-forward and twists are zero, so that nothing continues to move.
type Aggregate struct {
	Reference []move.State // of each joint that has a writer: position, velocity, acceleration
	Motion    Motion       // the rest of the reference: all but Q, V and A

	Writer []arbiter.ClientID // of each leaf, this tick; NoClient is the holder
	Age    []uint32           // of each leaf: ticks since it had a writer
	Fresh  robot.Set          // leaves with another writer than a tick ago, or one that jumped

	leaves []robot.LeafResource
	chains []chainLeaves
	output []int // index into Output, by leaf
	before []arbiter.ClientID

	contacts int
}

// chainLeaves are the leaves of one limb.
type chainLeaves struct {
	joints  robot.Set
	support robot.LeafID
	has     bool // a support leaf
}

// NewAggregate returns the aggregate of a robot. Legs carry until a controller
// says otherwise.
func NewAggregate(m *robot.Model) (*Aggregate, error) {
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	leaves := res.Leaves()
	joints, chains, outputs := len(m.Joints()), m.Chains(), 0
	a := &Aggregate{Reference: make([]move.State, joints), leaves: leaves, output: make([]int, len(leaves)),
		Writer: make([]arbiter.ClientID, len(leaves)), Age: make([]uint32, len(leaves)), before: make([]arbiter.ClientID, len(leaves)),
		chains: make([]chainLeaves, len(chains)), contacts: len(m.Contacts())}
	for i, c := range chains {
		for _, j := range c.Joints {
			a.chains[i].joints = a.chains[i].joints.With(res.OfJoint(j))
		}
	}
	for i, l := range leaves {
		a.Writer[i], a.Age[i] = arbiter.NoClient, math.MaxUint32
		switch l.Kind {
		case robot.SupportLeaf:
			a.chains[l.Chain].support, a.chains[l.Chain].has = robot.LeafID(i), true
		case robot.OutputLeaf:
			a.output[i] = outputs
			outputs++
		}
	}
	a.Motion = NewMotion(joints, len(chains), outputs)
	for i, c := range chains {
		a.Motion.Support[i].Contact = c.Contact
		if c.Contact != robot.NoContact {
			a.Motion.Support[i].Weight = 1
		}
	}
	for j := range a.Motion.Stiff {
		a.Motion.Stiff[j] = 1
	}
	return a, nil
}

// Outputs returns how many typed values the robot has.
func (a *Aggregate) Outputs() int { return len(a.Motion.Output) }

// Whole adds to a set what belongs to it: the owner of all joints of a limb owns
// its support, too. Loop-safe.
func (a *Aggregate) Whole(s robot.Set) robot.Set {
	for i := range a.chains {
		if c := &a.chains[i]; c.has && s.Contains(c.joints) {
			s = s.With(c.support)
		}
	}
	return s
}

// Limb returns the joints of a chain, as leaves.
func (a *Aggregate) Limb(chain int) robot.Set { return a.chains[chain].joints }

// Support returns the leaf of a chain's contact; ok is false if the chain has none.
func (a *Aggregate) Support(chain int) (leaf robot.LeafID, ok bool) {
	return a.chains[chain].support, a.chains[chain].has
}

// Base returns the leaf of the base; ok is false if the base is fixed.
func (a *Aggregate) Base() (leaf robot.LeafID, ok bool) {
	for i := range a.leaves {
		if a.leaves[i].Kind == robot.BaseLeaf {
			return robot.LeafID(i), true
		}
	}
	return 0, false
}

// Begin opens a tick. Loop-safe.
func (a *Aggregate) Begin() {
	copy(a.before, a.Writer)
	a.Fresh = robot.Set{}
	for i := range a.Writer {
		a.Writer[i] = arbiter.NoClient
	}
}

// Take accepts what a reference has of the leaves that who owns. If any of it is
// non-finite, nothing is accepted and that leaf is returned. Loop-safe.
func (a *Aggregate) Take(who arbiter.ClientID, owns robot.Set, r *Reference) (bad robot.LeafID, ok bool) {
	has := r.Has.Intersect(owns)
	if !finite(r.Peak) || !finite(r.Rate) || !finite(r.Time) {
		return firstLeaf(has), false
	}
	for leaf := range has.All {
		if !a.sane(leaf, r) {
			return leaf, false
		}
	}
	for i := range a.chains {
		if c := &a.chains[i]; r.Limb[i].Has && owns.Contains(c.joints) && !(*BaseRef)(&r.Limb[i]).finite() {
			return firstLeaf(c.joints), false
		}
	}
	for leaf := range has.All {
		a.Writer[leaf] = who
		a.Age[leaf] = 0
		if r.Cut || a.before[leaf] != who {
			a.Fresh = a.Fresh.With(leaf)
		}
		a.copyLeaf(leaf, r)
	}
	for i := range a.chains {
		switch joints := a.chains[i].joints; {
		case r.Limb[i].Has && owns.Contains(joints):
			a.Motion.Limb[i], a.Motion.Point[i] = r.Limb[i], r.Point[i]
		case has.Overlaps(joints): // their new owner has no reference of the tip: that of the one before ends
			a.Motion.Limb[i].end()
		}
	}
	return 0, true
}

// sane reports whether what a reference says of a leaf is finite.
func (a *Aggregate) sane(leaf robot.LeafID, r *Reference) bool {
	switch l := &a.leaves[leaf]; l.Kind {
	case robot.BaseLeaf:
		return r.Base.finite()
	case robot.SupportLeaf:
		return r.Support[l.Chain].finite()
	case robot.OutputLeaf:
		return finite(r.Output[a.output[leaf]])
	}
	return finite(r.Q[leaf]) && finite(r.V[leaf]) && finite(r.A[leaf]) && finite(r.Tau[leaf]) && finite(r.Stiff[leaf])
}

func (a *Aggregate) copyLeaf(leaf robot.LeafID, r *Reference) {
	m := &a.Motion
	switch l := &a.leaves[leaf]; l.Kind {
	case robot.JointLeaf:
		a.Reference[leaf] = move.State{P: r.Q[leaf], V: r.V[leaf], A: r.A[leaf]}
		m.Tau[leaf], m.Stiff[leaf] = r.Tau[leaf], min(max(r.Stiff[leaf], 0), 1)
	case robot.BaseLeaf:
		m.Base = r.Base
		m.Base.Has, m.Com, m.ZMP = true, r.Com, r.ZMP
	case robot.SupportLeaf:
		s := r.Support[l.Chain]
		if s.Contact < 0 && s.Contact != robot.NoContact || int(s.Contact) >= a.contacts {
			s.Contact = m.Support[l.Chain].Contact
		}
		s.Weight, s.Friction, s.Swing = min(max(s.Weight, 0), 1), max(s.Friction, 0), min(max(s.Swing, 0), 1)
		if n, ok := s.Normal.Unit(); ok {
			s.Normal = n
		} else {
			s.Normal = spatial.Vec3{}
		}
		m.Support[l.Chain] = s
	case robot.OutputLeaf:
		m.Output[a.output[leaf]] = r.Output[a.output[leaf]]
	}
}

// End closes a tick: what has no writer grows older and is at rest. Loop-safe.
func (a *Aggregate) End() {
	m := &a.Motion
	for i, who := range a.Writer {
		if who != arbiter.NoClient {
			continue
		}
		if a.Age[i] != math.MaxUint32 {
			a.Age[i]++
		}
		if a.before[i] != arbiter.NoClient {
			a.Fresh = a.Fresh.With(robot.LeafID(i))
		}
		switch a.leaves[i].Kind {
		case robot.JointLeaf:
			m.Tau[i], m.Stiff[i] = 0, 1
		case robot.BaseLeaf:
			m.Base.Twist, m.Base.Acceleration, m.Com, m.ZMP = spatial.Twist{}, spatial.Twist{}, false, ZMPRef{}
		case robot.SupportLeaf:
			// what the ground is stays known; forces are asked for by owners only
			s := &m.Support[a.leaves[i].Chain]
			s.Wrench, s.Planned, s.Led, s.Swing = spatial.Wrench{}, false, false, 0
		}
	}
	for i := range a.chains {
		a.rest(&m.Limb[i], a.chains[i].joints)
	}
}

// rest ends the intent for a limb when not all of its joints have one writer.
func (a *Aggregate) rest(limb *LimbRef, joints robot.Set) {
	if !limb.Has {
		return
	}
	one := arbiter.NoClient
	for leaf := range joints.All {
		switch who := a.Writer[leaf]; {
		case who == arbiter.NoClient, one != arbiter.NoClient && who != one:
			limb.end()
			return
		default:
			one = who
		}
	}
}

// end leaves of an intent where the tip was to be.
func (l *LimbRef) end() { l.Has, l.Twist, l.Acceleration = false, spatial.Twist{}, spatial.Twist{} }

// finite reports whether a pose and its motion are finite.
func (x *BaseRef) finite() bool {
	for _, r := range x.Pose.R {
		if !finite(r) {
			return false
		}
	}
	return x.Pose.P.Finite() && finiteTwist(&x.Twist) && finiteTwist(&x.Acceleration)
}

// finite reports whether what is said of a contact is finite.
func (s *Support) finite() bool {
	return finite(s.Weight) && finite(s.Friction) && finite(s.Swing) && s.Normal.Finite() && s.Wrench.Force.Finite() && s.Wrench.Torque.Finite()
}

func finiteTwist(v *spatial.Twist) bool { return v.Angular.Finite() && v.Linear.Finite() }

func firstLeaf(s robot.Set) robot.LeafID {
	for leaf := range s.All {
		return leaf
	}
	return 0
}
