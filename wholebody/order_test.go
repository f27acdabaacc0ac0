package wholebody

import (
	"strings"
	"testing"
)

// TestLevelsAreChecked: the shipped orders are lists that can be served; others are refused by name.
func TestLevelsAreChecked(t *testing.T) {
	for _, o := range []Order{Default, Seed, Weighted} {
		if err := CheckLevels(o.Levels()); err != nil {
			t.Errorf("%v: %v", o, err)
		}
		if got, ok := OrderNamed(o.String()); !ok || got != o {
			t.Errorf("%v is not found by its name", o)
		}
	}
	d, c, reg := level("a", DynamicsRows), level("b", ContactRows), level("z", RegularisationRows)
	for _, x := range []struct {
		levels []LevelSpec
		want   string
	}{
		{nil, "0 levels"},
		{[]LevelSpec{c, d, reg}, "not in the first"},
		{[]LevelSpec{d, reg}, "in no level"},
		{[]LevelSpec{d, c}, "last level"},
		{[]LevelSpec{d, c, level("l", LimitRows, ContactRows), reg}, "are in level"},
		{[]LevelSpec{d, c, level("l", BaseRows), level("m", BasePlaneRows), reg}, "halves"},
		{[]LevelSpec{d, c, {Name: "empty"}, reg}, "no rows"},
		{[]LevelSpec{d, c, level("two words", LimitRows), reg}, "without spaces"},
		{[]LevelSpec{d, c, level("l", numRows), reg}, "kinds"},
		{make([]LevelSpec, 17), "17 levels"},
	} {
		if err := CheckLevels(x.levels); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
	for _, name := range RowsNames() {
		if g, ok := RowsNamed(name); !ok || g.String() != name {
			t.Errorf("rows %q are not found", name)
		}
	}
}
