package rosjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// SyntaxError is text that is not JSON.
type SyntaxError struct {
	Line int // 0 if the text has one line
	Msg  string
}

func (e *SyntaxError) Error() string { return atLine(e.Line, e.Msg) }

// UnmarshalJSON reads JSON, and nothing else, into the message that dst points to.
// Values go straight into the message: no tree is built. All problems are returned
// together; dst is then not to be used.
func UnmarshalJSON(data []byte, dst any) error {
	if len(data) > maxBytes {
		return fmt.Errorf("%d bytes, at most %d are read", len(data), maxBytes)
	}
	s := scanner{data: bytes.TrimPrefix(data, byteOrderMark)}
	s.budget, s.here = budgetFor(len(data)), s.line
	s.value(reflect.ValueOf(dst).Elem())
	if s.broken == nil && s.peek() != 0 {
		s.fall("something follows the value")
	}
	if s.broken != nil && !s.more {
		s.problems = append(s.problems, s.broken)
	}
	return s.result()
}

// scanner is a decoder that reads JSON in one pass.
type scanner struct {
	decoder
	data   []byte
	at     int
	depth  int
	broken error // set once: the text is not JSON from here on
}

// line counts the lines up to here, for problems; 0 in a text without line breaks, as
// wires send it.
func (s *scanner) line() int {
	if bytes.IndexByte(s.data, '\n') < 0 {
		return 0
	}
	return 1 + bytes.Count(s.data[:s.at], []byte{'\n'})
}

func (s *scanner) fall(format string, a ...any) {
	if s.broken == nil {
		s.broken = &SyntaxError{Line: s.line(), Msg: fmt.Sprintf(format, a...)}
		s.at = len(s.data)
	}
}

// peek skips spaces and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
		case 0:
			s.fall("a zero byte")
			return 0
		default:
			return c
		}
	}
	return 0
}

// expect takes one byte.
func (s *scanner) expect(c byte) bool {
	if got := s.peek(); got != c {
		s.unexpected(got, string(c))
		return false
	}
	s.at++
	return true
}

func (s *scanner) unexpected(got byte, want string) {
	if got == 0 {
		s.fall("unexpected EOF")
		return
	}
	s.fall("found %q where %s should stand", got, want)
}

func (s *scanner) value(v reflect.Value) {
	if s.more {
		s.fall("it is not read any further") // enough is known of it
	}
	switch c := s.peek(); c {
	case '{':
		s.object(v)
	case '[':
		s.list(v)
	default:
		s.plain(c, v)
	}
}

// enter bounds how deep objects and lists may be nested.
func (s *scanner) enter() bool {
	if s.depth++; s.depth > maxDepth {
		s.fall("nested deeper than %d", maxDepth)
		return false
	}
	return true
}

func (s *scanner) object(v reflect.Value) {
	if v.IsValid() && v.Kind() != reflect.Struct {
		s.mismatch(object, v)
		v = reflect.Value{}
	}
	var p *plan
	var few [16]bool
	seen := few[:]
	if v.IsValid() {
		p = planOf(v.Type())
		if n := v.NumField(); n > len(few) {
			seen = make([]bool, n)
		}
	}
	s.members('}', func() {
		key := s.key()
		if s.broken != nil || !s.expect(':') {
			return
		}
		if p == nil {
			s.value(reflect.Value{})
			return
		}
		s.member(p, key, seen, v)
	})
}

// member reads the value of one key.
func (s *scanner) member(p *plan, key []byte, seen []bool, v reflect.Value) {
	field, known := p.index[string(key)]
	if !known || seen[field] {
		s.into(step{name: string(key)})
		_, _ = s.field(0, p, string(key), seen)
		s.out()
		s.value(reflect.Value{})
		return
	}
	seen[field] = true
	s.into(step{name: p.own[field]})
	s.value(v.Field(field))
	if p.bounds[field] > 0 {
		s.bound(0, p, v, field)
	}
	s.out()
}

// members calls item for each member of an object or a list.
func (s *scanner) members(end byte, item func()) {
	s.at++
	if !s.enter() {
		return
	}
	for first := true; s.broken == nil; first = false {
		switch c := s.peek(); {
		case c == end:
			s.at++
			s.depth--
			return
		case !first && c != ',':
			s.unexpected(c, `"," or "`+string(end)+`"`)
			return
		case !first:
			s.at++
			if s.peek() == end {
				s.fall("a value should follow the comma")
				return
			}
		}
		item()
	}
}

func (s *scanner) list(v reflect.Value) {
	if v.IsValid() && v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		s.mismatch(list, v)
		v = reflect.Value{}
	}
	if !v.IsValid() {
		s.members(']', func() { s.value(v) })
		return
	}
	slice := v.Kind() == reflect.Slice
	if slice {
		v.SetZero()
	}
	elem := v.Type().Elem()
	if slice {
		s.reserve(v)
	}
	n := 0
	s.members(']', func() {
		item := reflect.Value{}
		switch {
		case slice && s.spend(0, elem):
			extend(v)
			item = v.Index(n)
		case !slice && n < v.Len():
			item = v.Index(n)
		}
		s.into(step{index: n})
		s.value(item)
		s.out()
		n++
	})
	if !slice && n != v.Len() && s.broken == nil {
		s.fail(0, "want a list of %d, got a list of %d", v.Len(), n)
	}
	notNil(v)
}

// reserve makes room for a list of numbers at once, as far as the budget goes: growing
// step by step leaves several times its size behind.
func (s *scanner) reserve(v reflect.Value) {
	switch elem := v.Type().Elem(); elem.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.String:
	default:
		if end := bytes.IndexByte(s.data[s.at:], ']'); end > 1 {
			n := 1 + bytes.Count(s.data[s.at:s.at+end], []byte{','})
			v.Grow(min(n, max(s.budget, 0)/int(elem.Size())))
		}
	}
}

// plain reads a value that is neither an object nor a list.
func (s *scanner) plain(c byte, v reflect.Value) {
	switch {
	case c == '"':
		raw, escaped := s.quoted()
		if s.broken != nil || !v.IsValid() {
			return
		}
		if v.Kind() == reflect.String && !escaped {
			v.SetString(string(raw))
			return
		}
		s.scalar(&node{kind: text, text: unescape(raw, escaped)}, v)
	case c == '-' || c >= '0' && c <= '9':
		s.number(v)
	case s.word("true"), s.word("false"):
		if !v.IsValid() {
			return
		}
		if v.Kind() == reflect.Bool {
			v.SetBool(c == 't')
			return
		}
		s.scalar(&node{kind: boolean, text: strconv.FormatBool(c == 't')}, v)
	case s.word("null"):
		if v.IsValid() {
			s.scalar(&node{kind: null}, v)
		}
	default:
		s.unexpected(c, "a value")
	}
}

// mismatch says that a field does not take an object or a list.
func (s *scanner) mismatch(k kind, v reflect.Value) {
	s.scalar(&node{kind: k}, v)
}

func (s *scanner) word(w string) bool {
	if bytes.HasPrefix(s.data[s.at:], []byte(w)) {
		s.at += len(w)
		return true
	}
	return false
}

// key reads the name of a member.
func (s *scanner) key() []byte {
	if c := s.peek(); c != '"' {
		s.unexpected(c, "the name of a field")
		return nil
	}
	raw, escaped := s.quoted()
	if escaped {
		return []byte(unescape(raw, true))
	}
	return raw
}

// quoted reads a string and returns the text between the quotes, and whether it has to
// be unescaped.
func (s *scanner) quoted() (raw []byte, escaped bool) {
	begin := s.at
	for s.at++; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			raw = s.data[begin+1 : s.at]
			s.at++
			if escaped && !json.Valid(s.data[begin:s.at]) {
				s.fall("a bad escape in a string")
			}
			return raw, escaped || !utf8.Valid(raw)
		case c == '\\':
			escaped = true
			s.at++
		case c < ' ':
			s.fall("byte %#x inside a string", c)
			return nil, false
		}
	}
	s.at = len(s.data)
	s.fall("unexpected EOF")
	return nil, false
}

// unescape resolves escape sequences. Invalid UTF-8 is replaced.
func unescape(raw []byte, escaped bool) string {
	if !escaped {
		return string(raw)
	}
	var out string
	quoted := append(append([]byte{'"'}, raw...), '"')
	if json.Unmarshal(quoted, &out) != nil {
		return ""
	}
	return out
}

func (s *scanner) number(v reflect.Value) {
	begin := s.at
	for s.at < len(s.data) && isNumberByte(s.data[s.at]) {
		s.at++
	}
	raw := s.data[begin:s.at]
	if !validNumber(raw) {
		s.fall("%q is not a number", raw)
		return
	}
	if !v.IsValid() {
		return
	}
	if v.Kind() == reflect.Float64 {
		if x, err := strconv.ParseFloat(string(raw), 64); err == nil {
			v.SetFloat(x)
			return
		}
	}
	s.scalar(&node{kind: number, text: string(raw)}, v)
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// validNumber holds JSON's rules: no leading zeros, digits on both sides of a dot.
func validNumber(b []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		b = b[n:]
		return n > 0
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	if len(b) > 1 && b[0] == '0' && b[1] >= '0' && b[1] <= '9' || !digits() {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		if b = b[1:]; !digits() {
			return false
		}
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		b = b[1:]
		if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
			b = b[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(b) == 0
}
