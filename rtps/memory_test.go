package rtps

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/rtps/rtpstest"
)

// inbox collects what a reader receives.
type inbox struct {
	mu  sync.Mutex
	all []string
}

func (i *inbox) receive(s *Sample) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = append(i.all, string(s.Payload))
}

func (i *inbox) list() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string(nil), i.all...)
}

func (i *inbox) len() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.all)
}

// stepped runs a test in stepped time.
func stepped(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func join(t *testing.T, n *rtpstest.Network, host string, index int, change ...func(*Config)) *Participant {
	t.Helper()
	c := Config{Name: host, Dial: func() Transport { return n.Join(host, index) }}
	for _, f := range change {
		f(&c)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func open(c *Config) { c.Open = true }

func writerOf(t *testing.T, p *Participant, q QoS, first int64) *Writer {
	t.Helper()
	w, err := p.NewWriter(WriterConfig{Topic: "rt/chatter", Type: "T", QoS: q, First: first})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func readerOf(t *testing.T, p *Participant, q QoS) (*Reader, *inbox) {
	t.Helper()
	in := &inbox{}
	r, err := p.NewReader(ReaderConfig{Topic: "rt/chatter", Type: "T", QoS: q, Receive: in.receive})
	if err != nil {
		t.Fatal(err)
	}
	return r, in
}

// await waits, in stepped time, until something holds.
func await(t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, within)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
	}
}
