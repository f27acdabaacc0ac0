package telemetry

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"poise/arbiter"
	"poise/internal/rt"
	"poise/loop"
	"poise/servo"
)

// frame is a tick as the cycle hands it over.
type frame struct {
	tick     servo.Tick
	stop     uint8
	late     uint32
	bus      servo.Fault
	hash     uint64
	orders   []loop.Order
	measured *servo.Measurement
	missing  uint64 // ticks before this one for which there was no room
	point    bool   // the checkpoint is filled
	check    checkpoint
}

// checkpoint is the whole state of the command, to see where a replay differs.
type checkpoint struct {
	q, v, a []float64
	tau     []float64
	writer  []arbiter.ClientID
	power   loop.Power
	faults  int
}

func newCheckpoint(joints, leaves int) checkpoint {
	return checkpoint{q: make([]float64, joints), v: make([]float64, joints), a: make([]float64, joints), tau: make([]float64, joints), writer: make([]arbiter.ClientID, leaves)}
}

func (c *checkpoint) set(f *loop.TickRecord) {
	copy(c.q, f.Command.Q)
	copy(c.v, f.Command.V)
	copy(c.a, f.Command.A)
	copy(c.tau, f.Command.Tau)
	copy(c.writer, f.Writer)
	c.power, c.faults = f.Power, f.Faults
}

// Recorder is a loop's flight recorder: its Tap. Make one with NewRecorder.
type Recorder struct {
	header  Header
	every   uint64 // ticks between checkpoints
	cell    uint64 // of the last tick, in such distances
	queue   *rt.Queue[frame]
	missing uint64 // owned by Tick
	lost    atomic.Uint64
}

// Room of a recorder: how much the writer may be late, and how often the whole
// state is written.
const (
	queueTime      = 2.0 // s
	checkpointTime = 2.0 // s
	maxOrders      = 16  // in a tick
)

// NewRecorder returns a recorder for the loop that the header describes.
func NewRecorder(h Header) *Recorder {
	r := &Recorder{header: h, every: max(uint64(checkpointTime/h.Period), 1)}
	r.queue = rt.NewQueue(max(int(queueTime/h.Period), 16), func(f *frame) {
		f.orders = make([]loop.Order, 0, maxOrders)
		f.measured = servo.NewMeasurement(h.Joints, h.Settings.Sensors)
		f.check = newCheckpoint(h.Joints, h.Leaves)
	})
	return r
}

// Tick takes a tick. Loop-safe.
func (r *Recorder) Tick(f *loop.TickRecord) {
	s := r.queue.Slot()
	if s == nil {
		r.missing++
		r.lost.Add(1)
		return
	}
	s.tick, s.stop, s.late, s.bus, s.hash = f.Tick, f.Stop, f.Late, f.Bus, f.Hash
	s.orders = append(s.orders[:0], f.Orders...)
	s.measured.Copy(f.Measurement)
	s.missing, r.missing = r.missing, 0
	cell := f.Tick.N / r.every // numbers of missed ticks are left out
	s.point = f.Tick.N%r.every == 0 || cell != r.cell
	if r.cell = cell; s.point {
		s.check.set(f)
	}
	r.queue.Commit()
}

// Lost returns how many ticks there was no room for. Concurrent.
func (r *Recorder) Lost() uint64 { return r.lost.Load() }

// flushEvery is how often the writer looks for ticks.
const flushEvery = 20 * time.Millisecond

// Run writes the recording until ctx is done, and then what is left of it.
func (r *Recorder) Run(ctx context.Context, w io.Writer) error {
	e, err := newEncoder(w, &r.header)
	if err != nil {
		return err
	}
	timer := time.NewTicker(flushEvery)
	defer timer.Stop()
	for {
		if err := r.drain(e); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			if err := r.drain(e); err != nil {
				return err
			}
			return e.flush()
		case <-timer.C:
		}
	}
}

// drain writes what waits.
func (r *Recorder) drain(e *encoder) error {
	for {
		f := r.queue.Peek()
		if f == nil {
			return e.flush()
		}
		err := e.frame(f)
		clear(f.orders) // programs are not kept alive
		r.queue.Release()
		if err != nil {
			return fmt.Errorf("telemetry: %w", err)
		}
	}
}
