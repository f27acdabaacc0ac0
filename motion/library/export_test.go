package library

import "sync/atomic"

// Interrupt lets a test stop a writer at each step.
func (l *Library) Interrupt(f func(step string)) { l.interrupt = f }

// ReadPlain reads a plain file.
var ReadPlain = readPlain

// Hang lets the disk hang for those who read, until release is called.
func (l *Library) Hang() (release func()) {
	hung, over := make(chan struct{}), make(chan struct{})
	go func() { _ = l.reading.do(func(*atomic.Bool) error { close(hung); <-over; return nil }) }()
	<-hung
	return func() { close(over) }
}

// Forget makes the memory for motions small, as if many had been read.
func (l *Library) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, c := range l.files {
		l.files[name] = &cached{version: c.version, info: c.info, young: c.young}
	}
	l.held = 0
}
