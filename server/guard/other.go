//go:build !unix

package guard

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"poise/servo"
)

// Feed is the child's end; here there is none.
type Feed struct{}

// Guard is the parent's end; here it cannot run.
type Guard struct {
	Command  *exec.Cmd
	Patience time.Duration
	Signals  <-chan os.Signal
	Log      io.Writer
}

// FromEnvironment returns nil: there are no guards here.
func FromEnvironment() (*Feed, error) { return nil, nil }

// Guarded reports false.
func Guarded() bool { return false }

// Gone never is.
func (*Feed) Gone() <-chan struct{} { return nil }

// Beat does nothing.
func (*Feed) Beat(Sign) {}

// Ending does nothing.
func (*Feed) Ending() {}

// Rest does nothing.
func (*Feed) Rest(string, []servo.RestWrite) error { return nil }

// Run fails.
func (*Guard) Run() (int, error) { return 0, errors.New("guard: needs a Unix system") }
