package loop

import (
	"sync"
	"testing"
)

// TestEveryStopIsTaken: many ask while a cycle takes. No stop is lost, each is taken with
// its own category or a more severe one, and numbers only grow.
func TestEveryStopIsTaken(t *testing.T) {
	var s stopLine
	const askers, each = 8, 2000
	var all sync.WaitGroup
	for i := range askers {
		all.Go(func() {
			last := uint64(0)
			for range each {
				n := s.ask(uint8(i % 4)) // 3 is 2
				if n <= last {
					t.Errorf("stop %d after %d", n, last)
				}
				last = n
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
		}
		word, number := s.take()
		if word > 3 || word != 0 && (number != s.taken.Load() || number == 0) {
			t.Fatalf("word %d of stop %d", word, number)
		}
		s.end(number, word, 0, 0)
	}
	if _, number := s.take(); s.asked.Load()&stopMask != 0 || s.taken.Load() != askers*each || number > askers*each {
		t.Errorf("%d stops taken, want %d", s.taken.Load(), askers*each)
	}
}

func TestTheMoreSevereStopWins(t *testing.T) {
	var s stopLine
	for _, category := range []uint8{2, 0, 1, 9} {
		s.ask(category)
	}
	if word, number := s.take(); word != 1 || number != 4 {
		t.Errorf("word %d of stop %d, want category 0 of stop 4", word, number)
	}
	if word, _ := s.take(); word != 0 {
		t.Errorf("word %d when nothing was asked", word)
	}
	if n := testing.AllocsPerRun(100, func() { s.ask(2); s.take(); s.end(1, 2, 0, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
