package server

import (
	"sync/atomic"

	"poise/loop"
	"poise/servo"
)

// everyCycle carries the joints of every cycle out of it, where joint_states are asked for more
// often than the pump looks at the newest state. It is the Tap of the loop, before the
// recorder.
type everyCycle struct {
	next  loop.Tap // or nil
	ring  []jointSample
	taken atomic.Uint64 // samples, by the reader
	put   atomic.Uint64 // samples, by the cycle
}

// jointSample is the joints after one cycle.
type jointSample struct {
	tick              servo.Tick
	command, measured jointValues
}

type jointValues struct{ q, v, effort []float64 }

func (j *jointValues) set(q, v, effort []float64) {
	copy(j.q, q)
	copy(j.v, v)
	copy(j.effort, effort)
}

// samples is how many cycles wait for the pump: a second at 1 kHz. If it stands still for longer
// the cycles after that are not told.
const samples = 1024

func newEveryCycle(joints int, next loop.Tap) *everyCycle {
	e := &everyCycle{next: next, ring: make([]jointSample, samples)}
	values := func() jointValues {
		return jointValues{make([]float64, joints), make([]float64, joints), make([]float64, joints)}
	}
	for i := range e.ring {
		e.ring[i] = jointSample{command: values(), measured: values()}
	}
	return e
}

// Tick keeps the joints of a cycle. Loop-safe.
func (e *everyCycle) Tick(r *loop.TickRecord) {
	if e.next != nil {
		e.next.Tick(r)
	}
	put := e.put.Load()
	if put-e.taken.Load() >= samples {
		return
	}
	s := &e.ring[put%samples]
	s.tick = r.Tick
	s.command.set(r.Command.Q, r.Command.V, r.Command.Tau)
	s.measured.set(r.Measured.Q, r.Measured.V, r.Measured.Effort)
	e.put.Store(put + 1)
}

// drain shows every cycle since the last call, oldest first; for one reader.
func (e *everyCycle) drain(f func(*jointSample)) {
	for taken := e.taken.Load(); taken < e.put.Load(); taken++ {
		f(&e.ring[taken%samples])
		e.taken.Store(taken + 1)
	}
}
