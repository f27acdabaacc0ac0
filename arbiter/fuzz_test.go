package arbiter

import (
	"testing"

	"poise/robot"
)

// FuzzState feeds the arbiter events of any kind, number and order, sense or
// not, and looks for a contradiction after each.
func FuzzState(f *testing.F) {
	f.Add(uint8(1), []byte("\x01\x00\x00\x00\x03\x00\x01\x03\x04\x00\x01\x00\x03\x01\x01\x06\x04\x01\x01\x00\x08\x00\x01\x00"))
	f.Add(uint8(2), []byte("\x03\x00\x01\x0f\x03\x01\x01\xf0\x04\x00\x01\x00\x04\x01\x01\x00\x00\x00\x14\x00\x06\x01\x01\x02"))
	f.Add(uint8(0), []byte("\x03\x00\x01\x11\x04\x00\x01\x00\x03\x01\x01\x11\x04\x01\x01\x00\x07\x01\x01\x01\x02\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, policy uint8, script []byte) {
		var s State
		var out Effects
		s.Init(Config{Policy: Policy(policy % 3), RoundTimeout: 10, Lease: 50})
		const n = 5
		for c := range ClientID(n) {
			s.Handle(&Event{Kind: Register, From: c, Local: c == 0}, &out)
		}
		var now int64
		for ; len(script) >= 4; script = script[4:] {
			kind, from, id, bits := script[0], script[1], script[2], script[3]
			e := Event{Kind: EventKind(kind % 10), From: ClientID(from % (n + 1)), Request: uint64(id % 16), Serial: uint64(id / 8)}
			switch e.Kind {
			case Tick:
				now += int64(id % 32)
			case Request:
				e.Claim = &Claim{Need: robot.Set{uint64(bits & 15)}, Want: robot.Set{uint64(bits >> 2)}}
				e.Claim.SetPriority(float32(from>>4), float32(id>>5))
			default:
				e.Leaves = robot.Set{uint64(bits)}
				e.Local = bits&1 != 0
			}
			e.At = now
			s.Handle(&e, &out)
			if err := broken(&s, n+1, 8); err != nil {
				t.Fatalf("after %v of %d: %v", e.Kind, e.From, err)
			}
		}
		// every round ends
		for at, any := s.Due(); any; at, any = s.Due() {
			s.Handle(&Event{At: at, Kind: Tick, From: NoClient}, &out)
		}
		if s.open != (clientSet{}) {
			t.Fatalf("rounds %v never end", s.open)
		}
	})
}

// FuzzClient feeds a client messages of any kind and order: it never uses a
// leaf that it did not ask for, runs only with all it needs, and its answers
// speak of its own requests.
func FuzzClient(f *testing.F) {
	f.Add([]byte("\x05\x03\x01\x00\x00\x01\x01\x03\x01\x02\x01\x01\x05\x04\x02\x03\x01\x04\x02\x00"))
	f.Add([]byte("\x05\x0f\x00\x01\x01\x0f\x04\x03\x06\x01\x00\x02\x07\x00\x08\x00\x09\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		c := NewClient(3, 0, 20)
		var asked robot.Set
		for ; len(script) >= 2; script = script[2:] {
			op, arg := script[0], script[1]
			now := int64(arg)
			var e Event
			var ok bool
			switch op % 10 {
			case 5:
				claim := Claim{Need: robot.Set{uint64(arg & 7)}, Want: robot.Set{uint64(arg >> 3)}}
				asked = asked.Union(claim.All())
				e, ok = c.Request(now, &claim), true
			case 6:
				e, ok = c.Release(now, robot.Set{uint64(arg)})
			case 7:
				e, ok = c.Quit(now)
			case 8:
				e, ok = c.Report(now)
			case 9:
				e, ok = c.Tick(now)
			default:
				m := Message{To: 3, Kind: MessageKind(op % 10), Request: uint64(op / 10 % 8), Serial: uint64(arg % 16), Leaves: robot.Set{uint64(arg)}}
				e, ok = c.Receive(now, &m, nil)
			}
			if !asked.Contains(c.Owned()) {
				t.Fatalf("uses %v without asking", c.Owned().Minus(asked))
			}
			if c.Operational() && !c.owned.Contains(c.runs.need) {
				t.Fatalf("runs without %v", c.runs.need.Minus(c.owned))
			}
			if !c.Operational() && !c.owned.Empty() {
				t.Fatalf("uses %v while %v", c.owned, c.Phase())
			}
			if ok && e.From != 3 {
				t.Fatalf("answered as %d", e.From)
			}
		}
	})
}
