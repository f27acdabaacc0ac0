package explain

import (
	"slices"
	"strings"
)

// Near returns the names that somebody who wrote name may have meant, best first,
// at most three: those that differ by few letters, or have it in them.
func Near(name string, names []string) []string {
	type match struct {
		name string
		off  int
	}
	var all []match
	want := strings.ToLower(name)
	for _, n := range names {
		have := strings.ToLower(n)
		off := distance(want, have)
		switch {
		case off <= max(1, len(want)/3):
			all = append(all, match{n, off})
		case want != "" && (strings.Contains(have, want) || have != "" && strings.Contains(want, have)):
			all = append(all, match{n, max(len(want), len(have))})
		}
	}
	slices.SortStableFunc(all, func(a, b match) int { return a.off - b.off })
	var out []string
	for _, m := range all {
		if len(out) < 3 && !slices.Contains(out, m.name) {
			out = append(out, m.name)
		}
	}
	return out
}

// didYouMean words the near names, "" if there are none.
func didYouMean(name string, names []string) string {
	near := Near(name, names)
	if len(near) == 0 {
		return ""
	}
	for i := range near {
		near[i] = quoted(near[i])
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// UnknownName explains a name that is not among those there are.
func UnknownName(code, what, name string, names []string) Explanation {
	help := didYouMean(name, names)
	switch {
	case help != "":
	case len(names) == 0:
		help = "there is none at all"
	default:
		shown := names
		if len(shown) > 8 {
			shown = append(slices.Clone(shown[:8]), "…")
		}
		help = "there are " + strings.Join(shown, ", ")
	}
	return Because(code, "there is no "+what+" "+quoted(name)).With(help)
}

// distance is how many letters have to be changed, put in or left out (Levenshtein
// 1966) to make one word of another.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			change := diagonal
			if x[i] != y[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
