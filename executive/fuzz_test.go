package executive

import (
	"math/rand/v2"
	"testing"
)

// tape is chance that the fuzzer decides: each draw takes a byte. Draws are
// scattered, because those of a constant source may be refused for ever.
type tape struct {
	data  []byte
	drawn uint64
}

func (s *tape) Uint64() uint64 {
	var b byte
	if len(s.data) > 0 {
		b, s.data = s.data[0], s.data[1:]
	}
	s.drawn++
	return (uint64(b)<<8 + s.drawn) * 0x9e3779b97f4a7c15
}

// FuzzGoals lets the fuzzer decide what is asked for, and when: every goal ends
// exactly once, every command is answered, nothing is left behind.
func FuzzGoals(f *testing.F) {
	f.Add([]byte("a storm of goals, cancels, stops and switches in a few bytes"))
	f.Add([]byte{})
	f.Add([]byte{0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8, 90, 91, 92, 93, 94, 95, 96, 97})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 256 {
			return
		}
		r := newRig(t, parts{orders: 8, period: 0.01})
		r.checks = false // its motions are fast, and the pony has no acceleration limits that they break
		chance := &tape{data: data}
		rng := rand.New(chance)
		c := newTally()
		for len(chance.data) > 0 {
			r.storm(rng, c)
			r.run(rng.IntN(12))
		}
		r.e.Resume("fuzz", "")
		r.e.SetSpeed("fuzz", 1, "")
		r.e.CancelAll("fuzz")
		r.until(15, "the end of all goals", func() bool { return c.ended == c.asked })
		r.until(15, "the answers to all commands", func() bool { return len(r.e.orders.commands) == 0 })
		if len(c.twice) > 0 || len(r.e.goals.ordered) > 0 || len(r.e.goals.live) > 0 {
			t.Errorf("%d goals, %d ends, %v, %d left behind", c.asked, c.ended, c.twice, len(r.e.goals.live))
		}
	})
}
