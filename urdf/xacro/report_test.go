package xacro

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"poise/problem"
)

func TestLogCollectsEachMistakeOnce(t *testing.T) {
	var l log
	pos := problem.Pos{File: "a.xacro", Line: 3}
	l.Push("macro %s called at %s", "leg", problem.Pos{File: "b.xacro", Line: 7})
	l.Fail(l.At(pos, "${x}", "undefined %s", "name"))
	l.Pop()
	l.Push("macro %s called at %s", "leg", problem.Pos{File: "b.xacro", Line: 8})
	l.Fail(l.At(pos, "${x}", "undefined %s", "name"))
	l.Pop()
	l.Fail(nil)
	want := `a.xacro:3: undefined name: "${x}" (macro leg called at b.xacro:7)`
	if l.Failures() != 1 || l.Err().Error() != want {
		t.Errorf("log has %d errors: %v\nwant %s", l.Failures(), l.Err(), want)
	}
	var p *problem.Problem
	if !errors.As(l.Err(), &p) || p.Pos != pos {
		t.Errorf("the error is no problem at its place: %v", p)
	}
	l.Warn(pos, "w", "look")
	l.Warn(pos, "w", "look")
	if len(l.Warnings) != 1 {
		t.Errorf("%d warnings, want 1", len(l.Warnings))
	}
}

// TestLogEndsWithOneMistakeMetOften: an expansion that repeats a mistake a
// million times has told it once.
func TestLogEndsWithOneMistakeMetOften(t *testing.T) {
	var l log
	n := 0
	for ; !l.Halted && n < 1_000_000; n++ {
		l.Fail(l.At(problem.Pos{Line: 1}, "", "wrong"))
	}
	if !l.Halted || l.Failures() != 1 {
		t.Errorf("after %d times %d errors, halted %t", n, l.Failures(), l.Halted)
	}
}

func TestMessagesAreShort(t *testing.T) {
	var l log
	if e := l.At(problem.Pos{}, "", "unknown: %s", strings.Repeat("é", 10_000)); len(e.Text) > maxMsg+len("…") || !utf8.ValidString(e.Text) {
		t.Errorf("a message has %d bytes: %q", len(e.Text), e.Text)
	}
}

func TestLogEnds(t *testing.T) {
	var l log
	for i := range 10 * maxErrors {
		l.Fail(l.At(problem.Pos{Line: i}, "", "wrong"))
	}
	if l.Failures() != maxErrors || !l.Halted {
		t.Errorf("%d errors, halted: %t", l.Failures(), l.Halted)
	}
}

func TestExcerpt(t *testing.T) {
	for _, s := range []string{"", "short", " two\n words ", strings.Repeat("é", 200), strings.Repeat("x", 5000), strings.Repeat("名", 1000)} {
		got := excerpt(s)
		if len(got) > 84 || !utf8.ValidString(got) || strings.ContainsAny(got, "\n") {
			t.Errorf("excerpt(%.20q) = %q", s, got)
		}
	}
	if got := excerpt(" two\n words "); got != "two words" {
		t.Errorf("excerpt folds to %q", got)
	}
}
