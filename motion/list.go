package motion

import (
	"slices"

	"poise/control/follow"
	"poise/robot"
)

// maxHistory bounds how many edits can be undone.
const maxHistory = 1000

// List is a document under edit: the WaypointsList of the editor. Rows are sorted by
// time; every edit can be undone and redone. It serves one goroutine.
type List struct {
	m      *robot.Model
	past   []*Document // the present one is the last
	future []*Document // what was undone, the next to redo last
	saved  *Document   // what stands in the file
}

// NewList begins to edit a document, of a robot or of none (nil); see Apply. The
// document is copied, its rows sorted by time.
func NewList(m *robot.Model, d *Document) (*List, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	c := d.Clone()
	slices.SortStableFunc(c.Points, byTime)
	return &List{m: m, past: []*Document{c}, saved: c}, nil
}

// Document returns the document as it is now. It never changes: the next edit makes
// another one. Read only.
func (l *List) Document() *Document { return l.past[len(l.past)-1] }

// Do carries out an edit. What was undone before can no longer be redone.
func (l *List) Do(op Operation) error {
	d, err := Apply(l.Document(), l.m, op)
	if err != nil {
		return err
	}
	l.past, l.future = append(l.past, d), nil
	if len(l.past) > maxHistory+1 {
		l.past = slices.Delete(l.past, 0, 1)
	}
	return nil
}

// Undo takes the last edit back; it reports whether there was one.
func (l *List) Undo() bool {
	n := len(l.past)
	if n < 2 {
		return false
	}
	l.future, l.past = append(l.future, l.past[n-1]), l.past[:n-1]
	return true
}

// Redo carries out again what was undone last; it reports whether there was anything.
func (l *List) Redo() bool {
	n := len(l.future)
	if n == 0 {
		return false
	}
	l.past, l.future = append(l.past, l.future[n-1]), l.future[:n-1]
	return true
}

// Steps returns how many edits can be undone and redone.
func (l *List) Steps() (undo, redo int) { return len(l.past) - 1, len(l.future) }

// Saved notes that the document as it is now stands in its file.
func (l *List) Saved() { l.saved = l.Document() }

// Changed reports whether edits would be lost: the document is not the one saved.
func (l *List) Changed() bool { return l.saved != l.Document() }

// Goal returns what would be played; see Document.Goal.
func (l *List) Goal(p Part) (*follow.Goal, error) { return l.Document().Goal(p) }
