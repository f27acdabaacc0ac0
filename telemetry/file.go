package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"poise/loop"
)

// File is a recording on its way to a file: the Tap of a loop, and the goroutine
// that writes. The loop never waits for it; what the disk cannot take is counted.
//
//	h, err := telemetry.NewHeader("pony", 1e-3, &config)
//	config.Tap, err = telemetry.Create("run.poise", h, 0)
//	…                            // the loop runs, and has stopped
//	err = file.Close()
type File struct {
	rec   *Recorder
	file  *os.File
	stop  context.CancelFunc
	ended chan struct{}
	room  int64
	bytes atomic.Int64
	err   error // once ended is closed
}

// DefaultRoom is how long a file may become by default, bytes.
const DefaultRoom = 1 << 30

// ErrFull is the end of a recording that became as long as it may be. What was
// written until then replays.
var ErrFull = errors.New("the recording is as long as it may be")

// Create begins a recording of the loop that the header describes, in a file that
// must not exist yet: recordings are evidence. room bounds its length, bytes; 0 is
// DefaultRoom.
func Create(name string, h Header, room int64) (*File, error) {
	if room == 0 {
		room = DefaultRoom
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &File{rec: NewRecorder(h), file: file, stop: stop, ended: make(chan struct{}), room: room}
	go func() {
		defer close(f.ended)
		f.err = f.rec.Run(ctx, f)
	}()
	return f, nil
}

// Tick takes a tick. Loop-safe.
func (f *File) Tick(frame *loop.TickRecord) { f.rec.Tick(frame) }

// Write is for the recorder, which writes whole records.
func (f *File) Write(b []byte) (int, error) {
	if f.bytes.Load()+int64(len(b)) > f.room {
		return 0, fmt.Errorf("%w: %d bytes", ErrFull, f.room)
	}
	n, err := f.file.Write(b)
	f.bytes.Add(int64(n))
	return n, err
}

// State returns how long the file is, how many ticks it lacks, and what ended it
// before its time, if something did. Concurrent.
func (f *File) State() (bytes int64, lost uint64, err error) {
	select {
	case <-f.ended:
		err = f.err
	default:
	}
	return f.bytes.Load(), f.rec.Lost(), err
}

// Close writes what is left, and returns what went wrong since Create. The loop
// must have stopped.
func (f *File) Close() error {
	f.stop()
	<-f.ended
	return errors.Join(f.err, f.file.Sync(), f.file.Close())
}

var _ loop.Tap = (*File)(nil)
