package rosbridge_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"poise/msgs"
	"poise/wire/rosbridge"
)

// BenchmarkFanOut is one joint state from Publish to the sockets of all clients.
func BenchmarkFanOut(b *testing.B) {
	for _, clients := range []int{1, 10, 50} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			bed := newBed(b, rosbridge.Config{})
			var got atomic.Int64
			for range clients {
				p := bed.dial()
				p.send(`{"op":"subscribe","topic":"/joint_states","type":"sensor_msgs/msg/JointState"}`)
				p.read()
				go func() {
					for {
						if _, _, err := p.conn.Read(b.Context()); err != nil {
							return
						}
						got.Add(1)
					}
				}()
			}
			state := &msgs.JointState{Name: make([]string, 30), Position: make([]float64, 30), Velocity: make([]float64, 30), Effort: make([]float64, 30)}
			sent := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				copied := *state
				bed.joints.Publish(&copied)
				for sent += int64(clients); got.Load() < sent; {
					runtime.Gosched()
				}
			}
		})
	}
}
