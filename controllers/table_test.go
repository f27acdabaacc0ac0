package controllers

import (
	"errors"
	"slices"
	"testing"

	"poise/control"
	"poise/internal/rig"
)

// TestTableIsComplete: every controller has a name and a line about it of its own, and a kind
// with a maker and a reader that refuses nonsense with an error.
func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Table {
		k := d.Kind
		if d.Name == "" || seen[d.Name] || k.Name == "" || k.Short == "" || k.New == nil || k.Decode == nil {
			t.Errorf("controller %q of kind %q", d.Name, k.Name)
		}
		if d.Seats > 0 && !(d.Pending > 0 && d.Operational > 0) {
			t.Errorf("controller %s has priorities %g and %g", d.Name, d.Pending, d.Operational)
		}
		if seen[d.Short()] {
			t.Errorf("controller %s says the same as another: %s", d.Name, d.Short())
		}
		seen[d.Name], seen[d.Short()] = true, true
		for _, bad := range []string{"", "{", "\x00", "null garbage"} {
			if p, err := k.Decode([]byte(bad)); err == nil {
				t.Errorf("%s reads %q as %+v", k.Name, bad, p)
			}
		}
	}
}

// TestEveryKindFitsThePony, and an arm does without those that need legs and eyes.
func TestEveryKindFitsThePony(t *testing.T) {
	for robot, unfit := range map[string][]string{"pony": nil, "arm6": {"stance", "look_at", "step", "walk", "get_up"}} {
		m := rig.Model(t, robot)
		for _, k := range Kinds() {
			_, err := k.New(m, control.Transition{})
			if got := errors.Is(err, control.ErrUnfit); got != slices.Contains(unfit, k.Name) || err != nil && !got {
				t.Errorf("%s on %s: %v", k.Name, robot, err)
			}
		}
	}
}

// TestTuning: seats and priorities are those of the configuration where it says some.
func TestTuning(t *testing.T) {
	all, err := For(rig.Model(t, "arm6"), control.Transition{}, map[string]Tuning{"trajectory": {Seats: 2, Pending: 30, Operational: 60}, "remote": {}})
	if err != nil {
		t.Fatal(err)
	}
	seats := map[string]int{}
	for _, s := range all {
		seats[s.Declaration.Name]++
		if s.Declaration.Name == "trajectory" && (s.Loop.Pending != 30 || s.Loop.Operational != 60) {
			t.Errorf("%s: priorities %g and %g", s.Loop.Name, s.Loop.Pending, s.Loop.Operational)
		}
	}
	if seats["trajectory"] != 2 || seats["remote"] != 0 || seats["hold"] != 1 {
		t.Errorf("seats: %v", seats)
	}
}
