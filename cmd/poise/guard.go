package main

import (
	"os"
	"os/exec"
	"os/signal"
	"time"

	"poise/internal/journal"
	"poise/server/config"
	"poise/server/guard"
)

// runGuard starts the server as a child with the same command line, and watches it. The
// guard ends as its child did.
func runGuard(e *env, c *config.Config) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, endingSignals()...)
	defer signal.Ignore(endingSignals()...) // one more of them would replace the exit code of the child
	child := exec.Command(program, os.Args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	lines := journal.New(e.err) // a log that is not read must not keep the servos from their rest
	e.err, e.flush = lines, func() { _ = lines.Close(time.Second) }
	g := guard.Guard{Command: child, Patience: time.Duration(c.Guard.Patience * 1e9), Signals: signals, Log: lines}
	code, err := g.Run()
	if err == nil && code != exitOK {
		return exitError(code)
	}
	return err
}
