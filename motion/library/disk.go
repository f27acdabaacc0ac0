package library

import (
	"fmt"
	"sync/atomic"
	"time"

	"poise/problem"
)

// How long the disk may take: for looking at some files, for writing one, and for other
// programs that hold the lock on the folder.
const (
	readPatience  = 5 * time.Second
	lockPatience  = 5 * time.Second
	writePatience = 8 * time.Second
)

// disk lets one at a time ask the disk, and leaves behind what takes too long. So at most one
// goroutine hangs with a folder that does, and no caller waits for it for long.
type disk struct {
	turn     chan struct{} // room for the one whose turn it is
	hangs    *atomic.Bool  // whose turn it is has taken too long
	patience time.Duration
}

func newDisk(patience time.Duration) disk {
	return disk{turn: make(chan struct{}, 1), hangs: &atomic.Bool{}, patience: patience}
}

// outcome is how a job ended.
type outcome struct {
	err      error
	panicked any
}

// do runs a job when it has its turn. If it is not over in time, it is left behind: what
// it shares with its caller must not be read then, and it should do no more than it must.
func (d *disk) do(job func(abandoned *atomic.Bool) error) error {
	timer := time.NewTimer(d.patience)
	defer timer.Stop()
	select {
	case d.turn <- struct{}{}:
	default:
		if d.hangs.Load() { // no use waiting
			return d.hanging()
		}
		select {
		case d.turn <- struct{}{}:
		case <-timer.C:
			d.hangs.Store(true)
			return d.hanging()
		}
	}
	d.hangs.Store(false)
	over, abandoned := make(chan outcome, 1), &atomic.Bool{}
	go func() {
		o := outcome{}
		defer func() {
			o.panicked = recover() // goes on where the job was asked for
			<-d.turn
			over <- o
		}()
		o.err = job(abandoned)
	}()
	select {
	case o := <-over:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.err
	case <-timer.C:
		abandoned.Store(true)
		d.hangs.Store(true)
		return d.hanging()
	}
}

func (d *disk) hanging() error {
	return problem.New(ErrHangs, "%s", fmt.Sprintf("the folder of motions has not answered for %v", d.patience))
}
