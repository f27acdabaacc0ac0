package loop

import (
	"poise/arbiter"
	"poise/control"
	"poise/estimate"
	"poise/robot"
	"poise/servo"
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
	placed    bool   // joints were put somewhere at once in this tick
	begun     bool   // every joint was read
}

// contactLeaf is the leaf of a chain's contact, if it has one.
type contactLeaf struct {
	leaf robot.LeafID
	has  bool
}

func newBases(m *robot.Model, merge *control.Aggregate) (b bases, err error) {
	if b.measured, err = estimate.NewBase(m); err != nil {
		return b, err
	}
	if b.command, err = estimate.NewBase(m); err != nil {
		return b, err
	}
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
	b.measured.Update(&b.sample)
	m.Base = b.measured.Motion()
	for i := range m.Support {
		m.Support[i] = control.Support{Weight: b.measured.Support(i), Contact: l.command.Support[i].Contact}
	}
}

// complete fills in the base of the command, unless its owner did, and which feet stand
// where that is not commanded.
func (b *bases) complete(l *Loop) {
	b.findCommanded(l)
	c := l.command
	if b.floating && l.merge.Writer[b.leaf] != arbiter.NoClient {
		b.command.Set(l.now, c.Base)
		return
	}
	b.sample = estimate.Sample{Time: l.now, Q: c.Q, V: c.V, A: c.A, Support: c.Support, Commanded: b.commanded, Begun: b.begun}
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
	b.placed = false
}
