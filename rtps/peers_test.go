package rtps

import (
	"net/netip"
	"testing"
	"time"

	"poise/rtps/rtpstest"
)

// noMulticast is a network that carries none.
type noMulticast struct{ *rtpstest.Port }

func (noMulticast) Announce([]byte) error { return nil }

// TestPeersMeetWithoutMulticast: a participant is found at an address that it is told, both ways, also
// when the other one comes later; without such an address two do not meet, and a closed one tells no
// other machine.
func TestPeersMeetWithoutMulticast(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(1)
		on := func(host string, isOpen bool, peers ...string) *Participant {
			return join(t, n, host, 0, func(c *Config) {
				c.Open, c.Dial = isOpen, func() Transport { return noMulticast{n.Join(host, 0)} }
				for _, p := range peers {
					c.Peers = append(c.Peers, netip.MustParseAddr(p))
				}
			})
		}
		a := on("10.0.0.1", true, "10.0.0.2")
		w := writerOf(t, a, QoS{Reliable: true, Depth: 10}, 0)
		time.Sleep(5 * time.Second) // the other one is not there yet
		b := on("10.0.0.2", true)
		_, in := readerOf(t, b, QoS{Reliable: true, Depth: 10})
		await(t, "a match", 5*time.Second, func() bool { return w.Matched() == 1 })
		_, _ = w.Write(text(1, 20), nil)
		await(t, "a sample", time.Second, func() bool { return in.len() == 1 })
		c, d, e := on("10.0.0.3", true), on("10.0.0.4", true), on("10.0.0.5", false, "10.0.0.3")
		time.Sleep(10 * time.Second)
		if len(c.Others()) != 0 || len(d.Others()) != 0 || len(e.Others()) != 0 {
			t.Errorf("without peers %d, %d, closed %d others are found", len(c.Others()), len(d.Others()), len(e.Others()))
		}
		if got := c.Stats().Datagrams; got != 0 {
			t.Errorf("%d datagrams came", got)
		}
	})
}
