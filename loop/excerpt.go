package loop

import (
	"sync/atomic"

	"poise/servo"
)

// boxTicks is how many ticks the black box remembers: a second at 1 kHz, more on
// slower buses.
const boxTicks = 1024

// numExcerpts is how many excerpts may be out at a time.
const numExcerpts = 2

// Moment is the state of all joints after one tick.
type Moment struct {
	Tick     servo.Tick
	Q, V     []float64 // commanded
	Measured []float64
}

// Excerpt is the last second of states before something went wrong, oldest first.
// Its memory is the loop's: the reader releases it.
type Excerpt struct {
	Moments []Moment
	room    []Moment
	out     atomic.Bool
}

// Release gives an excerpt back. Concurrent.
func (e *Excerpt) Release() { e.out.Store(false) }

// blackBox remembers the last ticks.
type blackBox struct {
	moments  []Moment // a ring
	count    uint64
	excerpts [numExcerpts]Excerpt
}

func (b *blackBox) init(joints int) {
	b.moments = makeMoments(joints)
	for i := range b.excerpts {
		b.excerpts[i].room = makeMoments(joints)
	}
}

func makeMoments(joints int) []Moment {
	block := make([]float64, 3*joints*boxTicks)
	take := func() []float64 { x := block[:joints:joints]; block = block[joints:]; return x }
	all := make([]Moment, boxTicks)
	for i := range all {
		all[i] = Moment{Q: take(), V: take(), Measured: take()}
	}
	return all
}

// add remembers the tick that ends.
func (b *blackBox) add(l *Loop) {
	b.moments[b.count%boxTicks].set(l.tick, l.command.Q, l.command.V, l.measured.Q)
	b.count++
}

func (m *Moment) set(t servo.Tick, q, v, measured []float64) {
	m.Tick = t
	copy(m.Q, q)
	copy(m.V, v)
	copy(m.Measured, measured)
}

// excerpt copies what is remembered, nil if all excerpts are out.
func (b *blackBox) excerpt() *Excerpt {
	for i := range b.excerpts {
		e := &b.excerpts[i]
		if !e.out.CompareAndSwap(false, true) {
			continue
		}
		n := min(b.count, boxTicks)
		e.Moments = e.room[:n]
		for k := range e.Moments {
			m := &b.moments[(b.count-n+uint64(k))%boxTicks]
			e.Moments[k].set(m.Tick, m.Q, m.V, m.Measured)
		}
		return e
	}
	return nil
}
