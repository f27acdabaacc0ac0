package rtps

import (
	"runtime/metrics"
	"testing"
	"time"

	"poise/rtps/rtpstest"
)

// goroutines returns how many have been started since the program began.
func goroutines(t *testing.T) uint64 {
	t.Helper()
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		t.Skip("absent: this Go does not count goroutines")
	}
	return s[0].Value.Uint64()
}

// TestNoGoroutinePerSample: samples are sent and received, acknowledged and put together of fragments by the
// goroutines that a participant has from its beginning.
func TestNoGoroutinePerSample(t *testing.T) {
	for name, c := range map[string]struct {
		reliable bool
		size     int
	}{"reliable": {true, 200}, "best effort": {false, 200}, "of fragments": {true, 5000}} {
		t.Run(name, func(t *testing.T) {
			network := rtpstest.New(1)
			network.Direct = true
			small := func(c *Config) { c.FragmentSize = 512 }
			a, b := join(t, network, "127.0.0.1", 0, small), join(t, network, "127.0.0.1", 1)
			q := QoS{Reliable: c.reliable, Depth: 100}
			w := writerOf(t, a, q, 0)
			const samples = 2000
			came := make(chan struct{}, samples)
			r, err := b.NewReader(ReaderConfig{Topic: "rt/chatter", Type: "T", QoS: q, Receive: func(*Sample) { came <- struct{}{} }})
			if err != nil {
				t.Fatal(err)
			}
			for w.Matched() == 0 || r.Matched() == 0 {
				time.Sleep(time.Millisecond)
			}
			data := append([]byte{0, 1, 0, 0}, make([]byte, c.size)...)
			send := func(count int) {
				for range count {
					if _, err := w.Write(data, nil); err != nil {
						t.Fatal(err)
					}
					<-came
				}
			}
			send(10)
			before := goroutines(t)
			send(samples)
			if more := goroutines(t) - before; more > samples/100 { // those of the runtime itself are a few
				t.Errorf("%d goroutines were started for %d samples", more, samples)
			}
		})
	}
}
