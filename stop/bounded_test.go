package stop_test

import (
	"testing"

	"poise/stop"
)

// TestAFloodOfStopsIsShared: of a kind two are under way, the third waits and the rest go
// with it; another kind is not held up; when one is settled the one that waits begins.
func TestAFloodOfStopsIsShared(t *testing.T) {
	type begun struct {
		kind    string
		one     int
		settled func()
	}
	var all []begun
	b := stop.Bounded[string, int]{Most: 2, Begin: func(kind string, one int, settled func()) {
		all = append(all, begun{kind, one, settled})
	}}
	for i, want := range []int{0, 1, 2, 2, 2} {
		if got := b.Ask("soft", i); got != want {
			t.Errorf("stop %d goes with %d, want %d", i, got, want)
		}
	}
	if got := b.Ask("hard", 5); got != 5 {
		t.Errorf("a stop of another kind goes with %d", got)
	}
	if len(all) != 3 {
		t.Fatalf("%d have begun, want two of one kind and one of the other", len(all))
	}
	all[0].settled()
	if len(all) != 4 || all[3].one != 2 || all[3].kind != "soft" {
		t.Fatalf("after one is settled %d have begun, the last is %+v", len(all), all[len(all)-1])
	}
	for _, i := range []int{1, 2, 3} {
		all[i].settled()
	}
	if len(all) != 4 {
		t.Errorf("%d have begun, and nothing waited", len(all))
	}
	if got := b.Ask("soft", 6); got != 6 || len(all) != 5 {
		t.Errorf("after all are settled a stop goes with %d, %d have begun", got, len(all))
	}
}
