package loop

import (
	"math"

	"poise/arbiter"
	"poise/control"
	"poise/estimate"
	"poise/feedforward"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// bases estimates where the base of the robot is, twice and by the same odometry:
// for the measured joints, and for the commanded ones.
type bases struct {
	measured  *estimate.Base
	command   *estimate.Base
	sample    estimate.Sample
	leaf      robot.LeafID // of the base,
	floating  bool         // if it is not fixed
	contacts  []contactLeaf
	commanded []bool // of each chain, by the last tick: a controller says whether it stands
	shifted   bool   // the base was put somewhere at once in this tick
	placed    bool   // joints were put somewhere at once in this tick
	moved     bool   // they were, or the base was, in the tick under way

	attitude estimate.Attitude
	gravity  float64
	sensed   []robot.ChainID   // of touch sensors, if there is one for each foot
	touched  []control.Support // [chains] by them,
	weighed  []control.Support // and as odometry weighs them
	felt     []bool            // [chains] all true
	full     float64           // N: a foot that carries as much counts fully
	begun    bool              // every joint was read
}

// contactLeaf is the leaf of a chain's contact, if it has one.
type contactLeaf struct {
	leaf robot.LeafID
	has  bool
}

// fullShare is the share of the weight from which on a foot counts fully in odometry, least
// what one that touches counts for.
const (
	fullShare = 0.1
	least     = 0.05
)

// stale is the age in s from which on a touch sensor is not believed.
const stale = 0.1

func newBases(m *robot.Model, merge *control.Aggregate, touch int) (b bases, err error) {
	if b.measured, err = estimate.NewBase(m); err != nil {
		return b, err
	}
	if b.command, err = estimate.NewBase(m); err != nil {
		return b, err
	}
	b.measured.Measure()
	b.gravity = m.Gravity().Norm()
	if feet := estimate.Sensed(m); len(feet) > 0 && len(feet) == touch {
		n := len(m.Chains())
		b.sensed, b.touched, b.weighed, b.felt = feet, make([]control.Support, n), make([]control.Support, n), make([]bool, n)
		for i := range b.felt {
			b.felt[i] = true
		}
	}
	b.full = max(fullShare*m.Mass()*b.gravity, 1e-9)
	b.leaf, b.floating = merge.Base()
	b.commanded = make([]bool, len(m.Chains()))
	for i := range m.Chains() {
		leaf, has := merge.Support(i)
		b.contacts = append(b.contacts, contactLeaf{leaf, has})
	}
	return b, nil
}

// measure fills in the measured base, and which feet stand by the measured joints. The
// supports are those commanded in the last tick, as the joints are.
func (b *bases) measure(l *Loop) {
	m := &l.measured
	if !b.begun {
		b.begun = true
		for j := range m.Age {
			b.begun = b.begun && m.Age[j] != servo.Never
		}
	}
	b.sample = estimate.Sample{Time: l.now, Q: m.Q, V: m.V, Support: l.command.Support, Commanded: b.commanded, Begun: b.begun}
	if b.floating && len(m.IMU) > 0 {
		b.sample.Orientation = b.attitude.Update(&m.IMU[0], b.measured.Motion().Pose.R, b.gravity, l.tick.Dt)
	}
	touch := b.touch(l)
	if touch {
		b.weigh(l)
		b.sample.Support, b.sample.Commanded = b.weighed, b.felt
	}
	if m.Felt = len(b.sensed) == 0 && l.feeling.stands(l, b.full); m.Felt {
		b.sample.Support, b.sample.Commanded = l.feeling.felt, l.feeling.all
	}
	b.measured.Update(&b.sample)
	m.Base = b.measured.Motion()
	for i := range m.Support {
		m.Support[i] = control.Support{Weight: b.measured.Support(i), Contact: l.command.Support[i].Contact}
		if touch { // a foot that touches before it is to carry is felt so
			m.Support[i].Weight = b.touched[i].Weight
		}
	}
}

// weigh weighs feet that touch by how much a walk has them carry: one that is lifted or comes down drags over the ground while it
// touches. Where that leaves no foot, all that touch count.
func (b *bases) weigh(l *Loop) {
	left := 0.0
	copy(b.weighed, b.touched)
	for _, c := range b.sensed {
		if s := &l.command.Support[c]; s.Planned {
			b.weighed[c].Weight *= s.Weight
		}
		left += b.weighed[c].Weight
	}
	if !(left > 0) {
		copy(b.weighed, b.touched)
	}
}

// touch finds which feet stand by touch sensors; it reports whether all of them were read.
func (b *bases) touch(l *Loop) bool {
	if len(b.sensed) == 0 {
		return false
	}
	for k, c := range b.sensed {
		t := &l.measured.Touch[k]
		if t.Age == servo.Never {
			return false
		}
		s := &b.touched[c]
		*s = control.Support{Contact: l.command.Support[c].Contact}
		if !t.Pressed {
			continue
		}
		s.Weight = 1 // of a switch
		if f := t.Force.Norm(); f > 0 {
			s.Weight = min(max(f/b.full, least), 1)
		}
	}
	return true
}

// feel tells what touch sensors say of each foot; those that were not heard of lately say nothing, and
// switches nothing of loads.
func (b *bases) feel(l *Loop, dst *feedforward.Stage) {
	forces := false
	for k := range b.sensed {
		forces = forces || l.measured.Touch[k].Force != (spatial.Vec3{})
	}
	for k, c := range b.sensed {
		t := &l.measured.Touch[k]
		load := math.NaN()
		switch {
		case t.Age == servo.Never || float64(t.Age)*l.tick.Dt > stale:
			dst.Touch[c] = feedforward.Unknown
		case t.Pressed:
			dst.Touch[c], load = feedforward.Touching, t.Force.Norm()
		default:
			dst.Touch[c], load = feedforward.Aloft, 0
		}
		if !forces {
			load = math.NaN()
		}
		dst.Feel(c, load)
	}
}

// complete fills in the base of the command, unless its owner did, and which feet stand
// where that is not commanded. a are the accelerations of its joints.
func (b *bases) complete(l *Loop, a []float64) {
	b.findCommanded(l)
	c := l.command
	if b.floating && l.merge.Writer[b.leaf] != arbiter.NoClient {
		b.command.Set(l.now, c.Base)
		return
	}
	b.sample = estimate.Sample{Time: l.now, Q: c.Q, V: c.V, A: a, Support: c.Support, Commanded: b.commanded, Begun: b.begun}
	b.command.Update(&b.sample)
	l.shaper.SetBase(b.command.Motion())
	for i := range b.commanded {
		if b.contacts[i].has && !b.commanded[i] {
			w := b.command.Support(i)
			c.Support[i].Weight, l.merge.Motion.Support[i].Weight = w, w
		}
	}
}

// findCommanded finds for which chains a controller says whether they stand: the owner of
// their contact, or an active controller that knows of supports and leaves them as they
// are. Of joints that were placed at once only an owner can say it.
func (b *bases) findCommanded(l *Loop) {
	known := false
	for _, s := range l.seats {
		known = known || s.program != nil && s.supports
	}
	for i, c := range b.contacts {
		b.commanded[i] = known && !b.placed || c.has && l.merge.Writer[c.leaf] != arbiter.NoClient
	}
	b.moved, b.placed = b.placed || b.shifted, false
	b.shifted = false
}

// set carries out an order that says where the base is: odometry goes on from there, and so
// does the base of the command unless it has an owner.
func (b *bases) set(l *Loop, o Order) {
	p, ok := o.Program.(*control.BasePlacement)
	switch {
	case !ok:
		l.refuse(o, control.Because(control.BadProgram))
		return
	case !b.floating:
		l.refuse(o, control.Because(control.NotPlaceable))
		return
	case !p.Pose.P.Finite() || !p.Pose.R.Col(0).Finite() || !p.Pose.R.Col(1).Finite() || !p.Pose.R.Col(2).Finite():
		l.refuse(o, control.Because(control.NonFinite))
		return
	case !(p.Pose.P.Norm() <= 2*control.FarthestBase):
		l.refuse(o, control.BadValue.At(robot.NoJoint, p.Pose.P.Norm(), 2*control.FarthestBase))
		return
	}
	b.measured.Override(l.now, p.Pose, false)
	b.attitude = estimate.Attitude{} // the heading of the unit is counted from this one
	l.measured.Base = b.measured.Motion()
	if l.arb.Owner(b.leaf) == arbiter.NoClient {
		b.command.Override(l.now, p.Pose, true)
		b.shifted = true
	}
}
