package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"poise/loop"
)

// File is a recording on its way to the disk: the Tap of a loop, and the goroutine that
// writes. The loop never waits for it; what the disk cannot take is counted.
//
// It is a ring: the first part has the name itself, further ones have numbers behind it
// (run.poise, run.poise.000002, …), and the oldest goes when there are too many bytes or
// minutes. What is written survives the death of the process. On a disk that is full the
// recording lives on what it has itself (see giveUp); when nothing can be written at all,
// State says so until it can.
//
//	h, err := telemetry.NewHeader("pony", 1e-3, &config)
//	config.Tap, err = telemetry.Create("run.poise", h, telemetry.Options{})
//	…                            // the loop runs, and has stopped
//	err = file.Close()
type File struct {
	rec     *Recorder
	name    string
	options Options
	disk    disk
	stop    context.CancelFunc
	ended   chan struct{}
	saves   chan string // reasons why the ring is to be saved

	mu    sync.Mutex
	parts []*part // oldest first; the last is being written
	lost  uint64  // ticks that could not be written
	err   error   // why nothing is written just now
	saved error   // of the last save
	sync  error   // of the last part that was ended

	encoder  *encoder // of the last part; nil if there is none. The goroutine's own
	gap      uint64   // ticks that are missing before the next; the goroutine's own, as all below
	buffered uint64   // ticks that were not flushed yet
	retry    time.Time
	savedAt  time.Time
	count    int    // of parts
	numbers  uint64 // of programs
	syncs    sync.WaitGroup
}

// part is one file of the ring.
type part struct {
	name  string
	file  diskFile // nil once it is whole
	bytes int64
	limit int64 // bytes; then the next one begins
	ticks uint64
}

// Options bound a recording. Zero values mean the defaults.
type Options struct {
	Room  int64         // bytes of all parts; default DefaultRoom
	Time  time.Duration // that the ring keeps at least, if it has the room; default all that has
	Saves int           // how many saved rings are kept; default 10
	Saved int64         // bytes that saved rings may take besides the ring; default DefaultRoom
}

// DefaultRoom is how long a recording may become by default, bytes.
const DefaultRoom = 1 << 30

// Parts of a ring: so many fit into its room, its time and what is free on the disk, and one
// ends after so much in any case. A disk that refuses is tried again after a while.
const (
	ringParts  = 8
	leastPart  = 64 << 10 // bytes
	retryEvery = time.Second
	saveSoon   = 2 * time.Second // what follows a fault is saved, too
)

// Create begins a recording of the loop that the header describes, in a file that must not
// exist yet: recordings are evidence. A disk that is full is no reason not to begin.
func Create(name string, h Header, o Options) (*File, error) { return create(realDisk{}, name, h, o) }

func create(d disk, name string, h Header, o Options) (*File, error) {
	if o.Room == 0 {
		o.Room = DefaultRoom
	}
	if o.Saves == 0 {
		o.Saves = 10
	}
	if o.Saved == 0 {
		o.Saved = DefaultRoom
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &File{rec: NewRecorder(h), name: name, options: o, disk: d, stop: stop, ended: make(chan struct{}), saves: make(chan string, 8)}
	if err := f.begin(); noRoom(err) {
		f.fail(err)
	} else if err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(f.ended)
		if err := f.forget(); err != nil { // what was put aside counts
			f.mu.Lock()
			f.saved = err
			f.mu.Unlock()
		}
		f.run(ctx)
	}()
	return f, nil
}

// Tick takes a tick. Loop-safe.
func (f *File) Tick(frame *loop.TickRecord) { f.rec.Tick(frame) }

// Save keeps what the ring has, and the next seconds, in a folder of its own beside it. It
// returns at once; what is asked for at about the same time is one save.
func (f *File) Save(reason string) {
	select {
	case f.saves <- reason:
	default:
	}
}

// State returns how long the recording is, how many ticks it lacks, and why it is not
// written just now, or could not be saved, if that is so. Concurrent.
func (f *File) State() (bytes int64, lost uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.parts {
		bytes += p.bytes
	}
	return bytes, f.rec.Lost() + f.lost, errors.Join(f.err, f.sync, f.saved)
}

// Close writes what is left, and returns what is wrong at the end. The loop must have
// stopped.
func (f *File) Close() error {
	f.stop()
	<-f.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.err, f.sync)
}

// run writes until ctx is done, and then what is left.
func (f *File) run(ctx context.Context) {
	timer := time.NewTicker(flushEvery)
	defer timer.Stop()
	defer f.syncs.Wait()
	var next pending
	for {
		f.drain()
		select {
		case <-ctx.Done():
			f.drain()
			for asked := true; asked; {
				select {
				case reason := <-f.saves:
					next.add(f, reason)
				default:
					asked = false
				}
			}
			if next.reasons != "" {
				f.save(&next)
			}
			f.end()
			return
		case reason := <-f.saves:
			next.add(f, reason)
		case now := <-timer.C:
			if next.reasons != "" && now.After(next.due) {
				f.save(&next)
				next = pending{}
			}
		}
	}
}

// drain writes what waits.
func (f *File) drain() {
	for tick := f.rec.queue.Peek(); tick != nil; tick = f.rec.queue.Peek() {
		f.write(tick)
		clear(tick.orders) // programs are not kept alive
		f.rec.queue.Release()
	}
	if f.encoder == nil {
		return
	}
	if err := f.encoder.flush(); err != nil {
		f.fail(err)
		return
	}
	f.buffered = 0
}

// write writes a tick, in a new part if there is none or the last is long enough. If the
// disk refuses, the tick is lost and counted.
func (f *File) write(tick *frame) {
	tick.missing += f.gap
	f.gap = 0
	if f.encoder != nil && f.full() {
		f.finish()
	}
	for f.encoder != nil || !time.Now().Before(f.retry) {
		var err error
		if f.encoder == nil {
			err = f.begin()
		}
		if err == nil {
			err = f.encoder.frame(tick)
		}
		if err == nil {
			p := f.last()
			f.mu.Lock()
			p.ticks++
			if p.bytes > 0 { // the disk takes it
				f.err = nil
			}
			f.mu.Unlock()
			f.buffered++
			return
		}
		f.fail(err)
	}
	f.gap += tick.missing + 1
	f.mu.Lock()
	f.lost++
	f.mu.Unlock()
}

func (f *File) last() *part { return f.parts[len(f.parts)-1] }

// full reports whether the last part is as long as one may be.
func (f *File) full() bool {
	p := f.last()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.options.Time > 0 && float64(p.ticks)*f.rec.header.Period >= f.options.Time.Seconds()/ringParts {
		return true
	}
	return p.bytes+int64(f.encoder.w.Buffered()) >= p.limit
}

// partLimit is how many bytes the next part may have: its share of the room or, if there is
// less on the disk, of that.
func (f *File) partLimit() int64 {
	limit := f.options.Room / ringParts
	free, known := f.disk.Free(filepath.Dir(f.name))
	if !known {
		return limit
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.parts {
		free += p.bytes
	}
	return min(limit, max(free/ringParts, leastPart))
}

// begin begins a part, and lets the oldest go if there are too many.
func (f *File) begin() error {
	for f.tooMuch() && f.drop(0) {
	}
	name := f.name
	if f.count > 0 {
		name = fmt.Sprintf("%s.%06d", f.name, f.count+1)
	}
	var file diskFile
	err := f.insist(func() (err error) {
		file, err = f.disk.Create(name)
		return err
	})
	if err != nil {
		return err
	}
	f.count++
	p := &part{name: name, file: file, limit: f.partLimit()}
	f.mu.Lock()
	f.parts = append(f.parts, p)
	f.mu.Unlock()
	f.encoder, err = newEncoder(&partWriter{f, p}, &f.rec.header)
	if f.encoder != nil {
		f.encoder.count = f.numbers
	}
	return err
}

// tooMuch reports whether the oldest part is not needed any more.
func (f *File) tooMuch() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.parts) < 2 {
		return false
	}
	bytes, ticks := int64(0), uint64(0)
	for i, p := range f.parts {
		bytes += p.bytes
		if i > 0 {
			ticks += p.ticks
		}
	}
	enough := f.options.Time > 0 && float64(ticks)*f.rec.header.Period >= f.options.Time.Seconds()
	return enough || bytes > f.options.Room/ringParts*(ringParts-1)
}

// drop removes the oldest part, if more than some are left and it is not being written.
func (f *File) drop(least int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.parts) <= least || f.parts[0].file != nil {
		return false
	}
	if err := f.disk.Remove(f.parts[0].name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f.parts = slices.Delete(f.parts, 0, 1)
	return true
}

// fail ends a part that the disk refuses.
func (f *File) fail(err error) {
	f.retry = time.Now().Add(retryEvery)
	f.gap += f.buffered
	f.mu.Lock()
	f.lost += f.buffered
	f.err = fmt.Errorf("the recording %s cannot be written: %w", f.name, err)
	f.mu.Unlock()
	f.buffered = 0
	f.close(false)
}

// finish ends a part in order. Whether it has reached the medium is seen to beside it.
func (f *File) finish() {
	if f.encoder == nil {
		return
	}
	if err := f.encoder.flush(); err != nil {
		f.fail(err)
		return
	}
	f.buffered = 0
	f.close(true)
}

// end ends the recording in order, and says so in it: in a part of its own where a save has just
// ended the last one.
func (f *File) end() {
	var err error
	if f.encoder == nil {
		err = f.begin()
	}
	if err == nil {
		err = f.encoder.record(endRecord, nil)
	}
	if err != nil {
		f.fail(err)
		return
	}
	f.finish()
}

// close closes the last part. What was written in order is brought to the medium, beside
// what goes on.
func (f *File) close(inOrder bool) {
	if f.encoder == nil {
		return
	}
	f.numbers = f.encoder.count
	f.encoder = nil
	p := f.last()
	f.mu.Lock()
	defer f.mu.Unlock()
	file := p.file
	p.file = nil
	if inOrder {
		f.syncs.Go(func() { f.bringToMedium(file) })
	} else if err := file.Close(); err != nil {
		f.err = errors.Join(f.err, err)
	}
	if p.bytes == 0 && f.disk.Remove(p.name) == nil { // the disk took nothing of it
		f.parts = f.parts[:len(f.parts)-1]
	}
}

func (f *File) bringToMedium(file diskFile) {
	err := errors.Join(file.Sync(), file.Close())
	if err != nil {
		err = fmt.Errorf("the recording %s may not be on the disk: %w", f.name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sync = err
}

// partWriter counts what is written of a part, and makes room for it.
type partWriter struct {
	f *File
	p *part
}

func (w *partWriter) Write(b []byte) (n int, err error) {
	err = w.f.insist(func() error {
		k, err := w.p.file.Write(b[n:])
		n += k
		w.f.mu.Lock()
		w.p.bytes += int64(k)
		w.f.mu.Unlock()
		return err
	})
	return n, err
}

var _ loop.Tap = (*File)(nil)
