package rule

import (
	"fmt"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	for _, tc := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"foream", []string{"upper_arm", "forearm"}, `; did you mean "forearm"?`},
		{"joint_7", []string{"joint_1", "joint_2", "tool"}, `; did you mean "joint_1", "joint_2"?`},
		{"joint_7", []string{"a", "b"}, ""},
		{"", []string{"a"}, `; did you mean "a"?`},
		{"x", nil, ""},
	} {
		if got := DidYouMean(tc.name, tc.candidates); got != tc.want {
			t.Errorf("%q of %q: %s, want %s", tc.name, tc.candidates, got, tc.want)
		}
	}
}

// TestHintsOfOneReportAreBounded: thousands of wrong names in a robot of
// thousands of links are told, but not all with a hint.
func TestHintsOfOneReportAreBounded(t *testing.T) {
	candidates := make([]string, 5000)
	for i := range candidates {
		candidates[i] = fmt.Sprintf("link_number_%d", i)
	}
	var r Report
	given := 0
	for i := range 100_000 {
		if r.DidYouMean(fmt.Sprintf("link_numbr_%d", i), candidates) != "" {
			given++
		}
	}
	if given == 0 || given > 100 {
		t.Errorf("%d hints given, want some and not more than 100", given)
	}
}
