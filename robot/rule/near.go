package rule

// maxCompared bounds the work that the hints of one report may cost, in pairs
// of letters: many wrong names in a large robot must not take long to tell.
const maxCompared = 1 << 24

// DidYouMean is the function of that name as long as the report's hints have
// not cost much; later problems are told without a hint.
func (r *Report) DidYouMean(name string, candidates []string) string {
	if r.compared > maxCompared {
		return ""
	}
	for _, c := range candidates {
		r.compared += 1 + len(name)*len(c)
	}
	if r.compared > maxCompared {
		return ""
	}
	return DidYouMean(name, candidates)
}

// DidYouMean returns a hint naming the candidates nearest to a name that does
// not exist, "" if none is near.
func DidYouMean(name string, candidates []string) string {
	best := 1 + len(name)/3 // letters that may differ
	var near []string
	for _, c := range candidates {
		switch d := distance(name, c, best); {
		case d < best:
			best, near = d, []string{c}
		case d == best && c != "":
			near = append(near, c)
		}
	}
	if len(near) == 0 || len(near) > 4 {
		return ""
	}
	return "; did you mean " + List(near) + "?"
}

// distance counts the letters to insert, delete or change between a and b
// (Levenshtein); beyond most it returns most+1.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most || len(a) > 200 {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], most+1)
}
