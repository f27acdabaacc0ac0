package motion

// Verb is a kind of edit, for tests: its word, the fields it reads, what it does.
type Verb struct{ Op, Reads, Does string }

// Operations lists every edit there is.
func Operations() (all []Verb) {
	for _, v := range verbs {
		all = append(all, Verb{v.op, v.reads, v.does})
	}
	return all
}
