package rosjson

import (
	"io"
	"reflect"
	"sync"

	"poise/msgs"
)

// chunk is how much text Write gathers before it writes.
const chunk = 64 << 10

// Write writes a message, or a pointer to one, as Append does, piece by piece: the text of a
// large message is never in memory as a whole.
func Write(w io.Writer, msg any, form msgs.Form) error {
	v := reflect.Indirect(reflect.ValueOf(msg))
	if !v.CanAddr() {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p.Elem()
	}
	s := streamer{to: w, form: form}
	s.value(v)
	s.flush(1)
	return s.err
}

// streamer writes a message in chunks.
type streamer struct {
	to   io.Writer
	form msgs.Form
	b    []byte
	err  error
}

// flush writes what has been gathered, if that is much.
func (s *streamer) flush(much int) {
	if len(s.b) < much || s.err != nil {
		return
	}
	_, s.err = s.to.Write(s.b)
	s.b = s.b[:0]
}

func (s *streamer) value(v reflect.Value) {
	t := v.Type()
	switch {
	case s.err != nil:
	case !mayBeLong(t):
		s.b = writerOf(t, s.form)(s.b, v)
	case t.Kind() == reflect.Struct:
		s.b = append(s.b, '{')
		for _, p := range longParts(t, s.form) {
			s.b = append(s.b, p.head...)
			s.value(v.Field(p.index))
		}
		s.b = append(s.b, '}')
	default:
		s.b = append(s.b, '[')
		for i := range v.Len() {
			if i > 0 {
				s.b = append(s.b, ',')
			}
			s.value(v.Index(i))
		}
		s.b = append(s.b, ']')
	}
	s.flush(chunk)
}

// long and longForms hold what mayBeLong and longParts found.
var long, longForms sync.Map

// mayBeLong reports whether a value is better written piece by piece: it has lists of
// structs or strings.
func mayBeLong(t reflect.Type) bool {
	if known, ok := long.Load(t); ok {
		return known.(bool)
	}
	found := false
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		k := t.Elem().Kind()
		found = k == reflect.Struct || k == reflect.Slice || k == reflect.String
	case reflect.Struct:
		for i := range t.NumField() {
			found = found || mayBeLong(t.Field(i).Type)
		}
	}
	long.Store(t, found)
	return found
}

func longParts(t reflect.Type, form msgs.Form) []part {
	key := writerKey{t, form}
	if p, ok := longForms.Load(key); ok {
		return p.([]part)
	}
	p := partsOf(t, form)
	longForms.Store(key, p)
	return p
}

// Memory returns about how many bytes a message, or what a pointer to one points to, takes
// in memory: itself, and what its lists and strings hold.
func Memory(msg any) int64 {
	v := reflect.Indirect(reflect.ValueOf(msg))
	return int64(v.Type().Size()) + beyond(v)
}

// beyond returns what a value holds besides itself.
func beyond(v reflect.Value) (n int64) {
	switch v.Kind() {
	case reflect.String:
		return int64(v.Len())
	case reflect.Slice:
		n = int64(v.Cap()) * int64(v.Type().Elem().Size())
		if holdsMore(v.Type().Elem()) {
			for i := range v.Len() {
				n += beyond(v.Index(i))
			}
		}
	case reflect.Array:
		if holdsMore(v.Type().Elem()) {
			for i := range v.Len() {
				n += beyond(v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += beyond(v.Field(i))
		}
	}
	return n
}

// holdsMore reports whether values of a type can hold more than themselves.
func holdsMore(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Slice, reflect.Struct:
		return true
	case reflect.Array:
		return holdsMore(t.Elem())
	}
	return false
}
