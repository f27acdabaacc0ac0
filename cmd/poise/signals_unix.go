//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endingSignals are those after which the robots ramp down before the server ends. All
// that come later are taken and change nothing: the end has time limits of its own, and only
// SIGKILL, which no program can take, cuts it off. One that the server was started to
// ignore, as by nohup, stays ignored. Writing to a closed pipe or beyond a limit is an error
// of that writing alone.
func endingSignals() (all []os.Signal) {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGXCPU} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}

// tryLock locks a file for this process, and reports whether it could.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
