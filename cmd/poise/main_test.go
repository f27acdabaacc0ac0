package main

import (
	"strings"
	"testing"
)

// TestUnknownCommands are answered with the one that was meant.
func TestUnknownCommands(t *testing.T) {
	for word, want := range map[string]string{
		"srve":  `poise: srve: unknown command (poise help lists them); did you mean "serve"?`,
		"Play":  `did you mean "play"?`,
		"xyzzy": "poise: xyzzy: unknown command (poise help lists them)\n",
	} {
		if code, _, errs := runWords(word); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %q, want %q", word, code, errs, want)
		}
	}
}
