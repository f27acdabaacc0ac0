package xacro

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"poise/internal/xmltree"
)

// Error is a mistake in a file, and how the expansion came there.
type Error struct {
	Pos  xmltree.Pos
	Text string // the offending text
	Msg  string
	Via  []string // macros, includes and properties on the way, innermost first

	Missing bool // a file does not exist
}

func (e *Error) Error() string {
	s := e.Unwrap().Error()
	if len(e.Via) > 0 {
		s += " (" + strings.Join(e.Via, ", ") + ")"
	}
	return s
}

// Unwrap returns the mistake without the way.
func (e *Error) Unwrap() error { return &xmltree.Error{Pos: e.Pos, Text: e.Text, Msg: e.Msg} }

func (e *Error) same(o *Error) bool { return e.Pos == o.Pos && e.Text == o.Text && e.Msg == o.Msg }

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
	Warnings []*Error
	Halted   bool // a bound is reached: what follows is not collected
	errs     []error
	met      int // mistakes, the known ones too
	via      []step
}

// step is a macro, an include or a property on the way to a place.
type step struct {
	what, name string
	pos        xmltree.Pos
}

// Push goes a step on: what name pos. Pop goes back.
func (l *log) Push(what, name string, pos xmltree.Pos) {
	l.via = append(l.via, step{what, name, pos})
}

// Pop takes the last step back.
func (l *log) Pop() { l.via = l.via[:len(l.via)-1] }

// At makes an error at a place.
func (l *log) At(pos xmltree.Pos, text, format string, args ...any) *Error {
	e := &Error{Pos: pos, Text: excerpt(text), Msg: cutMessage(fmt.Sprintf(format, args...))}
	for i := len(l.via) - 1; i >= 0 && len(e.Via) < maxVia; i-- {
		v := l.via[i]
		e.Via = append(e.Via, fmt.Sprintf(v.what, v.name, v.pos))
	}
	return e
}

// Fail collects an error, if it is one; the same mistake met again on another
// way counts once.
func (l *log) Fail(err error) {
	if err == nil || l.Halted {
		return
	}
	e, _ := err.(*Error)
	known := slices.ContainsFunc(l.errs, func(old error) bool {
		o, ok := old.(*Error)
		return ok && e != nil && e.same(o) || old == err
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
func (l *log) Warn(pos xmltree.Pos, text, format string, args ...any) {
	if len(l.Warnings) == maxErrors {
		return
	}
	if w := l.At(pos, text, format, args...); !slices.ContainsFunc(l.Warnings, w.same) {
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

// cutMessage shortens a message to what an Error tells.
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
