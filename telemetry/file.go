package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"poise/loop"
)

// File is a recording on its way to the disk: the Tap of a loop, and the goroutine that
// writes. The loop never waits for it; what the disk cannot take is counted.
//
// It is a ring: the first part has the name itself, further ones have numbers behind it
// (run.poise, run.poise.000002, …), and the oldest goes when there are too many bytes or
// minutes. What is written survives the death of the process. A disk that is full makes
// the ring shorter; when nothing can be written at all, State says so until it can.
//
//	h, err := telemetry.NewHeader("pony", 1e-3, &config)
//	config.Tap, err = telemetry.Create("run.poise", h, telemetry.Options{})
//	…                            // the loop runs, and has stopped
//	err = file.Close()
type File struct {
	rec     *Recorder
	name    string
	options Options
	stop    context.CancelFunc
	ended   chan struct{}
	saves   chan string // reasons why the ring is to be saved

	mu    sync.Mutex
	parts []*part // oldest first; the last is being written
	lost  uint64  // ticks that could not be written
	err   error   // why nothing is written just now
	saved error   // of the last save

	encoder  *encoder // of the last part; nil if there is none. The goroutine's own
	gap      uint64   // ticks that are missing before the next; the goroutine's own, as all below
	buffered uint64   // ticks that were not flushed yet
	retry    time.Time
	count    int    // of parts
	numbers  uint64 // of programs
}

// part is one file of the ring.
type part struct {
	name  string
	file  *os.File // nil once it is whole
	bytes int64
	ticks uint64
}

// Options bound a recording. Zero values mean the defaults.
type Options struct {
	Room  int64         // bytes of all parts; default DefaultRoom
	Time  time.Duration // that the ring keeps at least, if it has the room; default all that has
	Saves int           // how many saved rings are kept; default 10
}

// DefaultRoom is how long a recording may become by default, bytes.
const DefaultRoom = 1 << 30

// Parts of a ring: so many fit into its room and its time, and one ends after so much in
// any case. A disk that refuses is tried again after a while.
const (
	ringParts  = 8
	retryEvery = time.Second
	saveSoon   = 2 * time.Second // what follows a fault is saved, too
)

// Create begins a recording of the loop that the header describes, in a file that must not
// exist yet: recordings are evidence.
func Create(name string, h Header, o Options) (*File, error) {
	if o.Room == 0 {
		o.Room = DefaultRoom
	}
	if o.Saves == 0 {
		o.Saves = 10
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &File{rec: NewRecorder(h), name: name, options: o, stop: stop, ended: make(chan struct{}), saves: make(chan string, 8)}
	if err := f.begin(); err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(f.ended)
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
	return bytes, f.rec.Lost() + f.lost, errors.Join(f.err, f.saved)
}

// Close writes what is left, and returns what is wrong at the end. The loop must have
// stopped.
func (f *File) Close() error {
	f.stop()
	<-f.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// run writes until ctx is done, and then what is left.
func (f *File) run(ctx context.Context) {
	timer := time.NewTicker(flushEvery)
	defer timer.Stop()
	reasons, due := "", time.Time{}
	for {
		f.drain()
		select {
		case <-ctx.Done():
			f.drain()
			select {
			case reason := <-f.saves:
				reasons = with(reasons, reason)
			default:
			}
			if reasons != "" {
				f.save(reasons)
			}
			f.finish()
			return
		case reason := <-f.saves:
			if reasons == "" {
				due = time.Now().Add(saveSoon)
			}
			reasons = with(reasons, reason)
		case now := <-timer.C:
			if reasons != "" && now.After(due) {
				f.save(reasons)
				reasons = ""
			}
		}
	}
}

// with adds a reason to those that there are.
func with(reasons, more string) string {
	switch {
	case reasons == "":
		return more
	case slices.Contains(strings.Split(reasons, "+"), more):
		return reasons
	}
	return reasons + "+" + more
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
		if noRoom(err) {
			f.drop(1)
		}
		return
	}
	f.buffered = 0
}

// write writes a tick, in a new part if there is none or the last is long enough. If the
// disk refuses, the oldest part makes room; without one the tick is lost and counted.
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
		if !noRoom(err) || !f.drop(1) {
			break
		}
		f.retry = time.Time{}
	}
	f.gap += tick.missing + 1
	f.mu.Lock()
	f.lost++
	f.mu.Unlock()
}

// noRoom reports whether a disk is full.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func (f *File) last() *part { return f.parts[len(f.parts)-1] }

// full reports whether the last part is as long as one may be.
func (f *File) full() bool {
	p := f.last()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.options.Time > 0 && float64(p.ticks)*f.rec.header.Period >= f.options.Time.Seconds()/ringParts {
		return true
	}
	return p.bytes+int64(f.encoder.w.Buffered()) >= f.options.Room/ringParts
}

// begin begins a part, and lets the oldest go if there are too many.
func (f *File) begin() error {
	for f.tooMuch() && f.drop(0) {
	}
	name := f.name
	if f.count > 0 {
		name = fmt.Sprintf("%s.%06d", f.name, f.count+1)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	f.count++
	p := &part{name: name, file: file}
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

// drop removes the oldest part, if more than some are left.
func (f *File) drop(least int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.parts) <= least || f.parts[0].file != nil {
		return false
	}
	if err := os.Remove(f.parts[0].name); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	f.close()
}

// finish ends a part in order.
func (f *File) finish() {
	if f.encoder == nil {
		return
	}
	if err := f.encoder.flush(); err != nil {
		f.fail(err)
		return
	}
	if err := f.last().file.Sync(); err != nil {
		f.fail(err)
		return
	}
	f.buffered = 0
	f.close()
}

func (f *File) close() {
	if f.encoder == nil {
		return
	}
	f.numbers = f.encoder.count
	f.encoder = nil
	p := f.last()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := p.file.Close(); err != nil && f.err == nil {
		f.err = err
	}
	p.file = nil
	if p.bytes == 0 && os.Remove(p.name) == nil { // the disk took nothing of it
		f.parts = f.parts[:len(f.parts)-1]
	}
}

// partWriter counts what is written of a part.
type partWriter struct {
	f *File
	p *part
}

func (w *partWriter) Write(b []byte) (int, error) {
	n, err := w.p.file.Write(b)
	w.f.mu.Lock()
	w.p.bytes += int64(n)
	w.f.mu.Unlock()
	return n, err
}

// save keeps all parts in a folder of their own: as second names of the same files, which
// costs nothing and needs no room. Only so many are kept.
func (f *File) save(reasons string) {
	f.finish()
	err := f.link(filepath.Join(f.name+savedFolder, time.Now().UTC().Format("20060102-150405.000")+"-"+reasons))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saved = nil
	if err != nil {
		f.saved = fmt.Errorf("the recording %s cannot be saved: %w", f.name, err)
	}
}

// savedFolder is what the folder of saved rings is called, after the recording.
const savedFolder = ".saved"

func (f *File) link(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	f.mu.Lock()
	parts := slices.Clone(f.parts)
	f.mu.Unlock()
	for _, p := range parts {
		errs = append(errs, os.Link(p.name, filepath.Join(dir, filepath.Base(p.name))))
	}
	return errors.Join(append(errs, f.forget())...)
}

// forget removes the oldest saved rings. Their names begin with their times.
func (f *File) forget() error {
	dir := f.name + savedFolder
	all, err := os.ReadDir(dir)
	for i := 0; i < len(all)-f.options.Saves; i++ {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, all[i].Name())))
	}
	return err
}

// PutAside moves what an earlier run has left of a recording among the saved rings, under a
// name that says why. It returns the folder, "" if there was nothing.
func PutAside(name, reason string) (dir string, err error) {
	parts := Parts(name)
	if len(parts) == 0 {
		return "", nil
	}
	at, err := os.Stat(parts[len(parts)-1])
	if err != nil {
		return "", err
	}
	dir = filepath.Join(name+savedFolder, at.ModTime().UTC().Format("20060102-150405.000")+"-"+reason)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	var errs []error
	for _, p := range parts {
		errs = append(errs, os.Rename(p, filepath.Join(dir, filepath.Base(p))))
	}
	return dir, errors.Join(errs...)
}

// Parts lists the files of a recording in their order: of one that is named by its first
// part, even if that was overwritten, or of a folder in which a ring was saved.
func Parts(name string) (all []string) {
	if at, err := os.Stat(name); err == nil && at.IsDir() {
		files, _ := filepath.Glob(filepath.Join(escape(name), "*")) // the pattern is good
		return files                                                // in the order of names: the first part has the shortest
	} else if err == nil {
		all = append(all, name)
	}
	more, _ := filepath.Glob(escape(name) + ".[0-9][0-9][0-9][0-9][0-9][0-9]") // the pattern is good
	return append(all, more...)
}

// escape makes a name a pattern of itself.
func escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

var _ loop.Tap = (*File)(nil)
