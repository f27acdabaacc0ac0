// Package journal writes lines to a file or pipe that may stall, fail or close; its
// writers never wait.
//
//	w := journal.New(os.Stderr)
//	fmt.Fprintln(w, "a line")        // returns at once
//	err := w.Close(time.Second)      // writes what is left, as far as it can
//
// Its queue is bounded; beyond that lines are dropped and counted, and the first line
// that can be written again says how many are missing.
package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// Bounds of what waits to be written, and of one line.
const (
	MaxBytes = 1 << 20
	MaxLines = 1 << 13
	MaxLine  = 1 << 13 // bytes; longer ones are cut
)

// ErrGone is the end of a journal whose reader has closed its end.
var ErrGone = errors.New("the log is not read any more: its reader has closed it")

// Writer is a bounded queue of lines and the goroutine that writes them. It is safe for
// concurrent use.
type Writer struct {
	dst  io.Writer
	wake chan struct{} // room for one: something waits, or the end is near
	done chan struct{} // closed when nothing more is written
	gone chan struct{} // closed when the reader has gone

	mu      sync.Mutex
	lines   [][]byte
	count   int    // of lines that wait, those under way included
	bytes   int    // of the same
	missing uint64 // dropped since the last line that was taken
	dropped uint64 // ever
	closing bool
	failure error // of the last write; nil when it worked
}

// New returns a journal that writes to dst.
func New(dst io.Writer) *Writer {
	w := &Writer{dst: dst, wake: make(chan struct{}, 1), done: make(chan struct{}), gone: make(chan struct{})}
	go w.run()
	return w
}

// Write takes one line, or a few. It neither waits nor fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := cut(p)
	if w.closing || w.count >= MaxLines || w.bytes+len(line) > MaxBytes {
		w.drop(1)
		return len(p), nil
	}
	if w.missing > 0 {
		w.add(missingLine(w.missing))
		w.missing = 0
	}
	w.add(bytes.Clone(line))
	return len(p), nil
}

func missingLine(n uint64) []byte {
	return fmt.Appendf(nil, "time=%s level=WARN msg=\"log lines are missing here: they were not read in time\" dropped=%d\n",
		time.Now().Format("2006-01-02T15:04:05.000Z07:00"), n)
}

// cut shortens a line that is too long.
func cut(p []byte) []byte {
	if len(p) <= MaxLine {
		return p
	}
	at := MaxLine
	for at > 0 && !utf8.RuneStart(p[at]) {
		at--
	}
	return fmt.Appendf(bytes.Clone(p[:at]), "… (%d bytes in all)\n", len(p))
}

func (w *Writer) add(line []byte) {
	w.lines = append(w.lines, line)
	w.count++
	w.bytes += len(line)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Writer) drop(n int) {
	w.missing += uint64(n)
	w.dropped += uint64(n)
}

// Dropped returns how many lines were lost since the start.
func (w *Writer) Dropped() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dropped
}

// Gone returns a channel that is closed when the reader has closed its end.
func (w *Writer) Gone() <-chan struct{} { return w.gone }

// run writes until the end.
func (w *Writer) run() {
	defer close(w.done)
	for {
		w.mu.Lock()
		batch, closing := w.lines, w.closing
		w.lines = nil
		w.mu.Unlock()
		for i, line := range batch {
			if w.write(line); w.isGone() {
				w.lost(batch[i:])
				return
			}
		}
		switch {
		case len(batch) > 0: // there may be more by now
		case closing:
			return
		default:
			<-w.wake
		}
	}
}

// write writes a line. One that cannot be written, on a full disk for instance, is lost,
// and the next one is tried.
func (w *Writer) write(line []byte) {
	_, err := w.dst.Write(line)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
	w.bytes -= len(line)
	w.failure = err
	switch {
	case err == nil:
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		w.closing = true
		close(w.gone)
	default:
		w.drop(1)
	}
}

func (w *Writer) isGone() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

// lost counts lines that will never be written.
func (w *Writer) lost(rest [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(len(rest) + len(w.lines))
	w.lines, w.count, w.bytes = nil, 0, 0
}

// Err returns why the last line could not be written, nil if it could.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isGone() {
		return ErrGone
	}
	return w.failure
}

// Close writes what is left, but does not wait longer than patience for it: a reader
// that stalls loses the rest. Lines that come later are dropped.
func (w *Writer) Close(patience time.Duration) error {
	w.mu.Lock()
	w.closing = true
	select {
	case w.wake <- struct{}{}:
	default:
	}
	w.mu.Unlock()
	select {
	case <-w.done:
		return w.Err()
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.done:
		return w.Err()
	case <-timer.C:
		w.mu.Lock()
		defer w.mu.Unlock()
		return fmt.Errorf("the log was not read within %v: %d lines are lost", patience, uint64(w.count)+w.dropped)
	}
}
