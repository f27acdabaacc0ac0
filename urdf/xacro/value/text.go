package value

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var errDepth = fmt.Errorf("lists nest deeper than %d", MaxDepth)

// Str returns what Python's str gives, which is also what xacro puts into the
// document.
func Str(b *Budget, v Value) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return Repr(b, v)
}

// Repr returns what Python's repr gives. A function has no text here: Python
// would print its address, and who prints one has forgotten to call it.
func Repr(b *Budget, v Value) (string, error) {
	w := &writer{budget: b}
	w.value(v, 0)
	return w.String(), w.err
}

// formatFloat writes the shortest digits that read back as the same number,
// with an exponent below 1e-4 and from 1e16 on, as Python does.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	exponent, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if f != 0 && (exponent < -4 || exponent >= 16) {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// writer stops at its first error: a list that contains itself many times over
// is small in memory and endless as text.
type writer struct {
	strings.Builder
	budget *Budget
	err    error
}

func (w *writer) put(s string) {
	if w.err == nil {
		w.err = w.budget.Spend(1 + len(s)/16)
	}
	if w.err == nil && w.Len()+len(s) > MaxBytes {
		w.err = fmt.Errorf("text is longer than %d bytes", MaxBytes)
	}
	if w.err == nil {
		w.WriteString(s)
	}
}

func (w *writer) value(v Value, depth int) {
	if depth > MaxDepth && w.err == nil {
		w.err = errDepth
	}
	if w.err != nil {
		return
	}
	switch v := v.(type) {
	case nil:
		w.put("None")
	case bool:
		w.put(map[bool]string{true: "True", false: "False"}[v])
	case *big.Int:
		w.put(v.String())
	case float64:
		w.put(formatFloat(v))
	case string:
		w.put(quote(v))
	case List:
		w.sequence("[", v, "]", depth)
	case Tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		w.sequence("(", v, end, depth)
	case *Dict:
		w.dict(v, depth)
	case Range:
		w.put(v.text())
	default:
		w.err = errors.New(TypeName(v) + " has no text; is it a function that was not called?")
	}
}

func (r Range) text() string {
	if r.Step == 1 {
		return fmt.Sprintf("range(%d, %d)", r.Start, r.Stop)
	}
	return fmt.Sprintf("range(%d, %d, %d)", r.Start, r.Stop, r.Step)
}

func (w *writer) sequence(open string, items []Value, end string, depth int) {
	w.put(open)
	for i, v := range items {
		if i > 0 {
			w.put(", ")
		}
		w.value(v, depth+1)
	}
	w.put(end)
}

func (w *writer) dict(d *Dict, depth int) {
	w.put("{")
	for i, k := range d.keys {
		if i > 0 {
			w.put(", ")
		}
		w.value(k, depth+1)
		w.put(": ")
		w.value(d.values[i], depth+1)
	}
	w.put("}")
}

// quote writes a string literal, preferably between single quotes.
func quote(s string) string {
	mark := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	var b strings.Builder
	b.WriteRune(mark)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch {
		case r == mark || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(mark)
	return b.String()
}
