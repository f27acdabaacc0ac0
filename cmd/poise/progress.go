package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// patience is how long a command may take before it shows that it is at work.
const patience = 500 * time.Millisecond

// isTerminal reports whether people see what is written: it goes neither to a file nor to a program.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// progress shows a moving bar on a terminal while something takes longer than
// patience, and nothing anywhere else. The returned function ends it.
func progress(w io.Writer, what string) (end func()) { return progressShare(w, what, nil) }

// progressShare is progress for something whose share is known, 0 … 1: the bar fills.
func progressShare(w io.Writer, what string, share func() float64) (end func()) {
	if !isTerminal(w) {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { showProgress(w, what, share, done) })
	return func() { close(done); wg.Wait() }
}

// showProgress lets a mark run to and fro, with the time so far, until done.
func showProgress(w io.Writer, what string, share func() float64, done <-chan struct{}) {
	const width = 24
	begin := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	shown := false
	for n := 0; ; n++ {
		select {
		case <-done:
			if shown {
				fmt.Fprintf(w, "\r%s\r", strings.Repeat(" ", width+len(what)+16))
			}
			return
		case <-tick.C:
			if time.Since(begin) < patience {
				continue
			}
			shown = true
			if share != nil {
				full := min(width, max(0, int(share()*width)))
				fmt.Fprintf(w, "\r%s [%s%s] %.1f s", what, strings.Repeat("=", full), strings.Repeat("-", width-full), time.Since(begin).Seconds())
				continue
			}
			at := n % (2 * width)
			if at >= width {
				at = 2*width - 1 - at
			}
			fmt.Fprintf(w, "\r%s [%s=%s] %.1f s", what, strings.Repeat("-", at), strings.Repeat("-", width-1-at), time.Since(begin).Seconds())
		}
	}
}
