package xmltree

import (
	"io"

	"poise/problem"
)

// readFrom parses what a reader gives, never more than the limit.
func readFrom(r io.Reader, file string, lim Limits) (*Node, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(lim.withDefaults().Bytes)+1))
	if err != nil {
		return nil, err
	}
	return Parse(data, file, lim)
}

// Equal reports whether two trees say the same, wherever they were written.
func Equal(a, b *Node) bool {
	if a.Space != b.Space || a.Prefix != b.Prefix || a.Name != b.Name || a.Text != b.Text ||
		!equalAttrs(a.Spaces, b.Spaces) || !equalAttrs(a.Attrs, b.Attrs) || len(a.Children) != len(b.Children) {
		return false
	}
	for i := range a.Children {
		if !Equal(a.Children[i], b.Children[i]) {
			return false
		}
	}
	return true
}

func equalAttrs(a, b []Attr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		x.Pos, y.Pos = problem.Pos{}, problem.Pos{}
		if x != y {
			return false
		}
	}
	return true
}
