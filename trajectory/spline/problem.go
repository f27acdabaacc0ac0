package spline

import (
	"errors"
	"fmt"
	"math"
)

// What can be wrong with key points; errors.Is finds them in what the
// constructors return.
var (
	ErrTooFew    = errors.New("too few key points")
	ErrOrder     = errors.New("times do not increase")
	ErrNotFinite = errors.New("not a finite number")
	ErrSize      = errors.New("sizes differ")
	ErrSteep     = errors.New("too steep for floating point")
)

// KeyError is one thing wrong with the key points.
type KeyError struct {
	Kind     error   // one of the Err values above
	Quantity string  // "time", "position", "velocity", "acceleration", "key points"
	Key      int     // which key point, −1 if it is not about one
	Joint    int     // which joint, −1 if it is not about one
	Value    float64 // what was found
	Bound    float64 // what it must exceed (times) or be (sizes); else 0
}

// Error names the thing, the value and the bound.
func (e *KeyError) Error() string {
	at := e.Quantity
	if e.Key >= 0 {
		at = fmt.Sprintf("key %d: %s", e.Key, at)
	}
	if e.Joint >= 0 {
		at = fmt.Sprintf("%s of joint %d", at, e.Joint)
	}
	switch e.Kind {
	case ErrTooFew:
		return fmt.Sprintf("%s: %.0f, at least %.0f are needed", at, e.Value, e.Bound)
	case ErrOrder:
		return fmt.Sprintf("%s %g s is not after %g s", at, e.Value, e.Bound)
	case ErrSize:
		return fmt.Sprintf("%s: %.0f values, want %.0f", at, e.Value, e.Bound)
	case ErrSteep:
		return fmt.Sprintf("%s changes too steeply within %g s", at, e.Value)
	}
	return fmt.Sprintf("%s is %g", at, e.Value)
}

// Is matches the kind.
func (e *KeyError) Is(target error) bool { return target == e.Kind }

// KeyErrors returns what an error of the constructors lists.
func KeyErrors(err error) []*KeyError {
	var list interface{ Unwrap() []error }
	if !errors.As(err, &list) {
		return nil
	}
	var keys []*KeyError
	for _, one := range list.Unwrap() {
		var key *KeyError
		if errors.As(one, &key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// maxReported bounds how many problems one error lists: enough to mend a file,
// not enough to flood a log when a whole table is wrong.
const maxReported = 20

// problems collects what is wrong.
type problems struct {
	list []error
	more int
}

func (p *problems) add(e KeyError) {
	if len(p.list) == maxReported {
		p.more++
		return
	}
	p.list = append(p.list, &e)
}

func (p *problems) err() error {
	if p.more > 0 {
		return fmt.Errorf("spline: %w\nand %d more", errors.Join(p.list...), p.more)
	}
	if len(p.list) > 0 {
		return fmt.Errorf("spline: %w", errors.Join(p.list...))
	}
	return nil
}

// table is one quantity of all keys, named for errors.
type table struct {
	name string
	rows [][]float64
}

// Check reports everything wrong with a table of key points, of which there must
// be at least some number: sizes, order of times, values that are not finite. A
// nil table of velocities or accelerations is absent. It returns the number of
// joints.
func Check(times []float64, least int, positions, velocities, accelerations [][]float64) (joints int, err error) {
	tables := []table{{"position", positions}}
	if velocities != nil {
		tables = append(tables, table{"velocity", velocities})
	}
	if accelerations != nil {
		tables = append(tables, table{"acceleration", accelerations})
	}
	return check(times, least, tables...)
}

// check reports everything wrong with times and tables and returns the number of
// joints.
func check(times []float64, least int, tables ...table) (joints int, err error) {
	var p problems
	if len(times) < least {
		p.add(KeyError{Kind: ErrTooFew, Quantity: "key points", Key: -1, Joint: -1, Value: float64(len(times)), Bound: float64(least)})
	}
	for i, t := range times {
		switch {
		case !finite(t):
			p.add(KeyError{Kind: ErrNotFinite, Quantity: "time", Key: i, Joint: -1, Value: t})
		case i > 0 && finite(times[i-1]) && t <= times[i-1]:
			p.add(KeyError{Kind: ErrOrder, Quantity: "time", Key: i, Joint: -1, Value: t, Bound: times[i-1]})
		}
	}
	if rows := tables[0].rows; len(rows) > 0 {
		joints = len(rows[0])
	}
	if joints == 0 && len(times) > 0 {
		p.add(KeyError{Kind: ErrSize, Quantity: tables[0].name, Key: 0, Joint: -1, Value: 0, Bound: 1})
	}
	for _, tab := range tables {
		tab.check(&p, len(times), joints)
	}
	return joints, p.err()
}

func (tab table) check(p *problems, keys, joints int) {
	if len(tab.rows) != keys {
		p.add(KeyError{Kind: ErrSize, Quantity: tab.name, Key: -1, Joint: -1, Value: float64(len(tab.rows)), Bound: float64(keys)})
	}
	for i, row := range tab.rows {
		if len(row) != joints {
			p.add(KeyError{Kind: ErrSize, Quantity: tab.name, Key: i, Joint: -1, Value: float64(len(row)), Bound: float64(joints)})
		}
		for j, x := range row {
			if !finite(x) {
				p.add(KeyError{Kind: ErrNotFinite, Quantity: tab.name, Key: i, Joint: j, Value: x})
			}
		}
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
