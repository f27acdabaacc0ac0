package tcpros

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestPublishersAreReadAsListed: a list of all ends those that it leaves out, one of some ends none.
func TestPublishersAreReadAsListed(t *testing.T) {
	reading := map[string]bool{}
	p := Publishers{Most: 3, Own: func(uri string) bool { return uri == "own" }, Read: func(uri string) context.CancelFunc {
		if uri == "refused" {
			return nil
		}
		if reading[uri] {
			t.Errorf("%s is read twice", uri)
		}
		reading[uri] = true
		return func() { delete(reading, uri) }
	}}
	for _, step := range []struct {
		list any
		all  bool
		want string
	}{
		{[]any{"own", "a", "refused", 7}, false, "a"},
		{[]any{"b"}, false, "a b"},
		{"no list", true, "a b"},
		{[]any{"b", "c"}, true, "b c"},
		{[]any{"own", "d", "e", "f", "g"}, true, "d e f"},
		{[]any{}, true, ""},
	} {
		p.Listed(step.list, step.all)
		if got := strings.Join(slices.Sorted(maps.Keys(reading)), " "); got != step.want {
			t.Errorf("after %v: %q are read, not %q", step.list, got, step.want)
		}
	}
}

func TestAddress(t *testing.T) {
	if host, port, err := Address("/a", []any{"TCPROS", "robot", 4711}); host != "robot" || port != "4711" || err != nil {
		t.Errorf("%s %s, %v", host, port, err)
	}
	for _, bad := range []any{nil, 0, []any{}, []any{"UDPROS", "robot", 4711}, []any{"TCPROS", "robot", 0}, []any{"TCPROS", "robot", 65536}, []any{"TCPROS", "robot", "4711"}, []any{"TCPROS", 1, 4711}} {
		if _, _, err := Address("/a", bad); err == nil || !strings.Contains(err.Error(), "/a") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
