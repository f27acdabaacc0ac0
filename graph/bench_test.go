package graph

import (
	"fmt"
	"testing"

	"poise/msgs"
)

// BenchmarkPublish is the cost of a joint state of 30 joints, from Publish to the
// text in the hands of every reader. With 50 readers the text is still made once.
func BenchmarkPublish(b *testing.B) {
	for _, readers := range []int{0, 1, 50} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			g := newGraph(b)
			pub := must[Publisher[msgs.JointState]](b)(Topic[msgs.JointState](g, "joint_states", TopicOptions{}))
			subs := make([]*Subscription, readers)
			for i := range subs {
				subs[i] = must[*Subscription](b)(g.Subscribe("joint_states", SubscribeOptions{}))
			}
			names, values := make([]string, 30), make([]float64, 30)
			for i := range names {
				names[i], values[i] = fmt.Sprintf("joint%d", i), 1/float64(i+3)
			}
			sent := 0
			b.ReportAllocs()
			for b.Loop() {
				pub.PublishFunc(func() *msgs.JointState {
					return &msgs.JointState{Name: names, Position: values, Velocity: values, Effort: values}
				})
				for _, s := range subs {
					m, _, _ := s.Poll()
					sent += len(m.JSON(s.Form()))
				}
			}
			b.ReportMetric(float64(sent)/float64(b.N), "bytes-out/op")
		})
	}
}

// BenchmarkPublishParallel is many publishers of one topic with 50 readers.
func BenchmarkPublishParallel(b *testing.B) {
	g := newGraph(b)
	pub := must[Publisher[msgs.Float64]](b)(Topic[msgs.Float64](g, "x", TopicOptions{}))
	for range 50 {
		must[*Subscription](b)(g.Subscribe("x", SubscribeOptions{}))
	}
	v := &msgs.Float64{Data: 1}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			pub.Publish(v)
		}
	})
}
