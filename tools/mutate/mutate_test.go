package main

import "testing"

// TestMutationsAreFound: a mutation whose text has moved would prove nothing.
func TestMutationsAreFound(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, m := range mutations {
		if _, err := m.apply(root, dir); err != nil {
			t.Error(err)
		}
	}
}
