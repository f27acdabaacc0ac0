package xmltree

import "testing"

// TestRebind moves an element to another document: its prefix follows the
// declarations there, or brings its own.
func TestRebind(t *testing.T) {
	parse := func(text string) *Node {
		n, err := Parse([]byte(text), "test.xml", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	from := parse(`<r xmlns="urn:default" xmlns:a="urn:a" xmlns:b="urn:b"><a:x b:y="1" xml:lang="en"/><z/></r>`)
	to := parse(`<r xmlns:a="urn:other"/>`)
	to.Children = from.Children
	Rebind(to)
	back := parse(string(Print(to)))
	x, z := back.Children[0], back.Children[1]
	if x.Space != "urn:other" || x.Attrs[0].Space != "urn:b" || x.Attrs[1].Space != xmlSpace || z.Space != "" {
		t.Errorf("printed as\n%s", Print(to))
	}
	if !Equal(back, to) {
		t.Errorf("what was rebound does not read back as it is:\n%s", Print(to))
	}
}

func TestDeclare(t *testing.T) {
	n := &Node{Name: "a"}
	for _, tc := range []struct {
		prefix, uri string
		want        bool
	}{{"p", "urn:p", true}, {"p", "urn:p", true}, {"p", "urn:q", false}, {"", "urn:d", true}} {
		if got := n.Declare(Attr{Name: tc.prefix, Value: tc.uri}); got != tc.want {
			t.Errorf("Declare(%s, %s) = %t", tc.prefix, tc.uri, got)
		}
	}
	if len(n.Spaces) != 2 {
		t.Errorf("%d declarations, want 2", len(n.Spaces))
	}
}
