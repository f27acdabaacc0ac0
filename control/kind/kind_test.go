package kind

import (
	"errors"
	"testing"

	"poise/control"
	"poise/internal/rig"
)

// TestTableIsComplete: every kind has a name of its own, a line about it, a maker
// and a reader that refuses nonsense with an error.
func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Table {
		if k.Name == "" || seen[k.Name] || k.Short == "" || k.New == nil || k.Decode == nil {
			t.Errorf("kind %+v", k.Name)
		}
		seen[k.Name] = true
		for _, bad := range []string{"", "{", "\x00", "null garbage"} {
			if p, err := k.Decode([]byte(bad)); err == nil {
				t.Errorf("%s reads %q as %+v", k.Name, bad, p)
			}
		}
		if found, ok := Find(k.Name); !ok || found.Short != k.Short {
			t.Errorf("%s is not found", k.Name)
		}
	}
	if _, ok := Find("gallop"); ok {
		t.Error("found what is not there")
	}
}

// TestEveryKindFitsThePony, and an arm does without those that need legs and eyes.
func TestEveryKindFitsThePony(t *testing.T) {
	all, err := For(rig.Model(t, "pony"), control.Transition{})
	if err != nil || len(all) != len(Table) {
		t.Errorf("%d of %d kinds, %v", len(all), len(Table), err)
	}
	arm := rig.Model(t, "arm6")
	some, err := For(arm, control.Transition{})
	if err != nil || len(some) == 0 || len(some) >= len(Table) {
		t.Errorf("an arm has %d kinds, %v", len(some), err)
	}
	stance, _ := Find("stance")
	if _, err := stance.New(arm, control.Transition{}); !errors.Is(err, control.ErrUnfit) {
		t.Errorf("%v", err)
	}
}
