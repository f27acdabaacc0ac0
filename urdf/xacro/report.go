package xacro

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"poise/problem"
)

// MissingFile is the code of a file that does not exist.
const MissingFile problem.Code = "missing_file"

// same reports whether two problems are the same mistake, met on different ways.
func same(a, b *problem.Problem) bool {
	return a.Pos == b.Pos && a.Excerpt == b.Excerpt && a.Text == b.Text
}

// The bounds of a report.
const (
	maxErrors = 100
	maxVia    = 4
	maxMsg    = 300    // bytes
	maxMet    = 10_000 // mistakes met again and again
)

// log collects the mistakes of a document that is made of many files and expanded
// through many macros: each once, with its place and the way there. Its zero value
// is empty.
type log struct {
	Warnings []*problem.Problem
	Halted   bool // a bound is reached: what follows is not collected
	errs     []error
	met      int // mistakes, the known ones too
	via      []step
}

// step is a macro, an include or a property on the way to a place.
type step struct {
	what, name string
	pos        problem.Pos
}

// Push goes a step on: what name pos. Pop goes back.
func (l *log) Push(what, name string, pos problem.Pos) {
	l.via = append(l.via, step{what, name, pos})
}

// Pop takes the last step back.
func (l *log) Pop() { l.via = l.via[:len(l.via)-1] }

// At makes an error at a place.
func (l *log) At(pos problem.Pos, text, format string, args ...any) *problem.Problem {
	var via []string
	for i := len(l.via) - 1; i >= 0 && len(via) < maxVia; i-- {
		v := l.via[i]
		via = append(via, fmt.Sprintf(v.what, v.name, v.pos))
	}
	return &problem.Problem{Pos: pos, Excerpt: excerpt(text), Text: cutMessage(fmt.Sprintf(format, args...)), Via: strings.Join(via, ", ")}
}

// Fail collects an error, if it is one; the same mistake met again on another
// way counts once.
func (l *log) Fail(err error) {
	if err == nil || l.Halted {
		return
	}
	e, _ := err.(*problem.Problem)
	known := slices.ContainsFunc(l.errs, func(old error) bool {
		o, ok := old.(*problem.Problem)
		return ok && e != nil && same(e, o) || old == err
	})
	if !known {
		l.errs = append(l.errs, err)
	}
	l.met++
	l.Halted = len(l.errs) >= maxErrors || l.met >= maxMet
}

// Halt collects an error that ends everything.
func (l *log) Halt(err error) {
	l.Fail(err)
	l.Halted = true
}

// Warn collects a warning.
func (l *log) Warn(pos problem.Pos, text, format string, args ...any) {
	l.addWarning(l.At(pos, text, format, args...))
}

func (l *log) addWarning(w *problem.Problem) {
	if len(l.Warnings) < maxErrors && !slices.ContainsFunc(l.Warnings, func(old *problem.Problem) bool { return same(old, w) }) {
		l.Warnings = append(l.Warnings, w)
	}
}

// Failures tells how many errors were collected.
func (l *log) Failures() int { return len(l.errs) }

// Err joins all errors.
func (l *log) Err() error { return errors.Join(l.errs...) }

// excerpt shortens text to what fits on a line.
func excerpt(s string) string {
	const most = 80
	if len(s) > 16*most {
		s = s[:16*most] // before the words are looked at
	}
	return cut(strings.Join(strings.Fields(s), " "), most)
}

// cutMessage shortens a message to what a problem tells.
func cutMessage(msg string) string { return cut(msg, maxMsg) }

// cut shortens text to at most that many bytes, between characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most] + "…"
}
