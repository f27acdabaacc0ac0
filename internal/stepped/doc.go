// Package stepped lets whole programs run in the stepped time of testing/synctest: a
// network in memory, and a clock for runner.Config that sleeps as Go sleeps.
//
//	synctest.Test(t, func(t *testing.T) {
//		var network stepped.Net
//		l, err := network.Listen("tcp", "127.0.0.1:0")
//		go http.Serve(l, handler)
//		answer, err := network.Client().Get("http://" + l.Addr().String())
//	})
//
// In such a bubble time passes only while every goroutine waits, so that a slow or busy
// machine changes nothing of what a test sees.
package stepped

import "time"

// Clock is a runner's clock in the time of Go.
type Clock struct{}

// Now returns the time, ns.
func (Clock) Now() int64 { return time.Now().UnixNano() }

// SleepUntil returns when Now has reached a time.
func (Clock) SleepUntil(ns int64) { time.Sleep(time.Duration(ns - time.Now().UnixNano())) }

// Stamp is the time for messages.
func (Clock) Stamp() int64 { return time.Now().UnixNano() }
