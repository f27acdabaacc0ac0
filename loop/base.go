package loop

import (
	"poise/arbiter"
	"poise/control"
	"poise/estimate"
	"poise/robot"
	"poise/servo"
)

// bases finds out where the base of the robot is, twice and by the same odometry:
// where the joints are measured to be, and where they are commanded to be.
type bases struct {
	measured *estimate.Base
	command  *estimate.Base
	leaf     robot.LeafID // of the base,
	floats   bool         // if there is one
	supports []support    // of each chain
	sample   estimate.Sample
	told     []bool // of each chain, by the last tick: somebody says whether it stands
	placed   bool   // joints were put somewhere at once in this tick
	begun    bool   // every joint was read
}

// support is the leaf of a chain's contact.
type support struct {
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
	b.told = make([]bool, len(m.Chains()))
	for i := range m.Chains() {
		leaf, has := merge.Support(i)
		b.supports = append(b.supports, support{leaf, has})
	}
	b.leaf, b.floats = merge.Base()
	return b, nil
}

// measure fills in the measured base, and which feet stand by the measured joints. What
// is commanded of feet is that of the last tick, as the joints are.
func (b *bases) measure(l *Loop) {
	m := &l.measured
	if !b.begun {
		b.begun = true
		for j := range m.Age {
			b.begun = b.begun && m.Age[j] != servo.Never
		}
	}
	b.sample = estimate.Sample{Time: l.now, Q: m.Q, V: m.V, Support: l.command.Support, Told: b.told, Begun: b.begun}
	b.measured.Update(&b.sample)
	m.Base = b.measured.Motion()
	for i := range m.Support {
		m.Support[i] = control.Support{Weight: b.measured.Support(i), Contact: l.command.Support[i].Contact}
	}
}

// refer fills in the commanded base, unless its owner did, and which feet stand where
// nobody commands it.
func (b *bases) refer(l *Loop) {
	b.hear(l)
	c := l.command
	if b.floats && l.merge.Writer[b.leaf] != arbiter.Nobody {
		b.command.Set(l.now, c.Base)
		return
	}
	b.sample = estimate.Sample{Time: l.now, Q: c.Q, V: c.V, A: c.A, Support: c.Support, Told: b.told, Begun: b.begun}
	b.command.Update(&b.sample)
	l.shaper.SetBase(b.command.Motion())
	for i, told := range b.told {
		if b.supports[i].has && !told {
			w := b.command.Support(i)
			c.Support[i].Weight, l.merge.Motion.Support[i].Weight = w, w
		}
	}
}

// hear finds out for which chains somebody says whether they stand: the owner of their
// contact, or an active controller that leaves them as they are. Of joints that were
// put somewhere at once nobody but an owner can know.
func (b *bases) hear(l *Loop) {
	known := false
	for _, s := range l.slots {
		known = known || s.program != nil && s.knows
	}
	for i, s := range b.supports {
		b.told[i] = known && !b.placed || s.has && l.merge.Writer[s.leaf] != arbiter.Nobody
	}
	b.placed = false
}
