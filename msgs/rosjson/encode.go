package rosjson

import (
	"encoding/base64"
	"math"
	"reflect"
	"strconv"
	"sync"
	"unicode/utf8"

	"poise/msgs"
)

// Marshal writes a message as JSON on one line, in the ROS 2 form.
func Marshal(msg any) []byte { return Append(nil, msg, msgs.ROS2) }

// Append writes a message, or a pointer to one, as JSON on one line in the given
// form: fields in message order, lists never null, a non-finite number as null,
// bytes (uint8[]) as base64, as rosbridge does.
func Append(b []byte, msg any, form msgs.Form) []byte {
	v := reflect.ValueOf(msg)
	if v.Kind() != reflect.Pointer {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p
	}
	v = v.Elem()
	return writerOf(v.Type(), form)(b, v)
}

// writer appends an addressable value.
type writer func(b []byte, v reflect.Value) []byte

type writerKey struct {
	t    reflect.Type
	form msgs.Form
}

// writers holds a writer for every type seen.
var writers sync.Map

func writerOf(t reflect.Type, form msgs.Form) writer {
	key := writerKey{t, form}
	if w, ok := writers.Load(key); ok {
		return w.(writer)
	}
	w := makeWriter(t, form)
	writers.Store(key, w)
	return w
}

func makeWriter(t reflect.Type, form msgs.Form) writer {
	switch t.Kind() {
	case reflect.Struct:
		if form == msgs.ROS1 && (t == timeType || t == durationType) {
			return writeOldTime
		}
		return structWriter(t, form)
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Uint8:
			return writeBytes
		case reflect.Float64:
			return writeFloats
		}
		return listWriter(writerOf(t.Elem(), form))
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return writeBytes
		}
		return listWriter(writerOf(t.Elem(), form))
	case reflect.String:
		return func(b []byte, v reflect.Value) []byte { return appendString(b, v.String()) }
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) }
	case reflect.Float64, reflect.Float32:
		bits := t.Bits()
		return func(b []byte, v reflect.Value) []byte { return appendFloat(b, v.Float(), bits) }
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) }
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendUint(b, v.Uint(), 10) }
	}
	panic("rosjson: a message cannot hold " + t.String())
}

// part is a field as a form writes it.
type part struct {
	index int
	head  string // `,"name":`
	write writer
}

func partsOf(t reflect.Type, form msgs.Form) (parts []part) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !inForm(f, form) {
			continue
		}
		head := strconv.Quote(fieldName(f, form)) + ":"
		if len(parts) > 0 {
			head = "," + head
		}
		parts = append(parts, part{i, head, writerOf(f.Type, form)})
	}
	return parts
}

func structWriter(t reflect.Type, form msgs.Form) writer {
	parts := partsOf(t, form)
	return func(b []byte, v reflect.Value) []byte {
		b = append(b, '{')
		for i := range parts {
			b = append(b, parts[i].head...)
			b = parts[i].write(b, v.Field(parts[i].index))
		}
		return append(b, '}')
	}
}

func listWriter(item writer) writer {
	return func(b []byte, v reflect.Value) []byte {
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = item(b, v.Index(i))
		}
		return append(b, ']')
	}
}

func writeFloats(b []byte, v reflect.Value) []byte {
	b = append(b, '[')
	for i, x := range *v.Addr().Interface().(*[]float64) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFloat(b, x, 64)
	}
	return append(b, ']')
}

func writeBytes(b []byte, v reflect.Value) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, v.Bytes())
	return append(b, '"')
}

// writeOldTime writes a time or a duration with the names of ROS 1. Their values are
// those of ROS 2, negative durations included.
func writeOldTime(b []byte, v reflect.Value) []byte {
	b = append(b, `{"secs":`...)
	b = strconv.AppendInt(b, v.Field(0).Int(), 10)
	b = append(b, `,"nsecs":`...)
	b = strconv.AppendUint(b, v.Field(1).Uint(), 10)
	return append(b, '}')
}

// appendFloat writes a number as encoding/json does: plain digits, an exponent
// where it is very small or large, and null if it is non-finite.
func appendFloat(b []byte, x float64, bits int) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, x, format, -1, bits)
}

// appendString quotes a string. Invalid UTF-8 is replaced.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
