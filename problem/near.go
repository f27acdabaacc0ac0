package problem

import (
	"fmt"
	"slices"
	"strings"
)

const (
	mostNear   = 4   // names that are proposed; of more, none is likelier than the others
	longestFit = 200 // letters of a name that is compared
)

// Near returns the names that may have been meant by name: those that
// differ by the fewest letters, and by few; if there are none, those that have it in
// them or are in it. Case does not count.
func Near(name string, candidates []string) (near []string) {
	want := []rune(strings.ToLower(name))
	if len(want) > longestFit {
		return nil
	}
	best := 1 + max(len(want)-1, 0)/3 // letters that may differ: of three, one
	var rows rows
	for _, c := range candidates {
		switch d := rows.distance(want, []rune(strings.ToLower(c)), best); {
		case d < best:
			best, near = d, []string{c}
		case d == best && c != "" && !slices.Contains(near, c):
			near = append(near, c)
		}
	}
	if len(near) == 0 {
		for _, c := range candidates {
			a, b := string(want), strings.ToLower(c)
			if a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a)) && !slices.Contains(near, c) {
				near = append(near, c)
			}
		}
	}
	if len(near) > mostNear {
		return nil
	}
	return near
}

// DidYouMean asks for the names near to one that does not exist, "" if none is.
func DidYouMean(name string, candidates []string) string {
	return Ask(Near(name, candidates))
}

// Ask asks whether one of a few names was meant, "" if there is none.
func Ask(near []string) string {
	if len(near) == 0 {
		return ""
	}
	quoted := make([]string, len(near))
	for i, n := range near {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	last := len(quoted) - 1
	if last == 0 {
		return "did you mean " + quoted[0] + "?"
	}
	return "did you mean " + strings.Join(quoted[:last], ", ") + " or " + quoted[last] + "?"
}

// Hint is DidYouMean at the end of a sentence: after a semicolon, or nothing.
func Hint(name string, candidates []string) string {
	if ask := DidYouMean(name, candidates); ask != "" {
		return "; " + ask
	}
	return ""
}

// Unknown is the problem of a name that is not among those there are.
func Unknown(code Code, what, name string, names []string) *Problem {
	p := New(code, "there is no %s %q", what, name)
	switch ask := DidYouMean(name, names); {
	case ask != "":
		p.Help = ask
	case len(names) == 0:
		p.Help = "there is none at all"
	case len(names) > 8:
		p.Help = "there are " + strings.Join(names[:8], ", ") + ", …"
	default:
		p.Help = "there are " + strings.Join(names, ", ")
	}
	return p
}

// rows is the memory of distance, for many candidates.
type rows struct{ before, last, row []int }

// distance counts the letters to insert, delete, change or swap with their neighbour
// between a and b (Damerau 1964); beyond most it returns most+1.
func (r *rows) distance(a, b []rune, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	if n := len(b) + 1; cap(r.row) < n {
		r.before, r.last, r.row = make([]int, 2*n), make([]int, 2*n), make([]int, 2*n)
	}
	before, last, row := r.before[:len(b)+1], r.last[:len(b)+1], r.row[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return min(row[len(b)], most+1)
}
