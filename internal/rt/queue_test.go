package rt

import "testing"

func TestQueueKeepsOrderAndRefusesWhenFull(t *testing.T) {
	made := 0
	q := NewQueue(4, func(p *[]int) { made++; *p = make([]int, 1) })
	if made != 4 {
		t.Fatalf("%d slots were prepared", made)
	}
	for round := range 3 {
		for i := range 4 {
			s := q.Slot()
			if s == nil {
				t.Fatalf("round %d: full after %d", round, i)
			}
			(*s)[0] = 10*round + i
			q.Commit()
		}
		if q.Slot() != nil {
			t.Error("a full queue has a slot")
		}
		for i := range 4 {
			if p := q.Peek(); p == nil || (*p)[0] != 10*round+i {
				t.Fatalf("round %d: %v at %d", round, p, i)
			}
			q.Release()
		}
		if q.Peek() != nil {
			t.Error("an empty queue has something")
		}
	}
}

// TestQueueAcrossGoroutines is for the race detector.
func TestQueueAcrossGoroutines(t *testing.T) {
	const count = 20000
	q := NewQueue[[2]int](8, nil)
	go func() {
		for i := 0; i < count; {
			if s := q.Slot(); s != nil {
				*s = [2]int{i, -i}
				q.Commit()
				i++
			}
		}
	}()
	for i := 0; i < count; {
		p := q.Peek()
		if p == nil {
			continue
		}
		if *p != [2]int{i, -i} {
			t.Fatalf("%v at %d", *p, i)
		}
		q.Release()
		i++
	}
}
