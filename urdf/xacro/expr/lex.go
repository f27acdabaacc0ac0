package expr

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"poise/urdf/xacro/value"
)

type kind uint8

const (
	end kind = iota
	operator
	name
	keyword
	literal
)

type token struct {
	kind     kind
	text     string // as written; of a literal only the span counts
	value    value.Value
	from, to int
}

// operators, longest first.
var operators = []string{
	"**", "//", "<<", ">>", "<=", ">=", "==", "!=",
	"+", "-", "*", "/", "%", "&", "|", "^", "~", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=",
}

// keywords of Python; the language knows only some of them, none is a name.
var keywords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true, "async": true,
	"await": true, "break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true,
	"else": true, "except": true, "finally": true, "for": true, "from": true, "global": true, "if": true,
	"import": true, "in": true, "is": true, "lambda": true, "nonlocal": true, "not": true, "or": true,
	"pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true, "yield": true,
}

// IsName reports whether s can be the name of a property.
func IsName(s string) bool {
	return s != "" && nameLength(s) == len(s) && !keywords[s]
}

func nameLength(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)) {
			return i
		}
	}
	return len(s)
}

// lex splits an expression into tokens; the last one is the end.
func lex(src string) ([]token, error) {
	var tokens []token
	at := 0
	for {
		at += len(src[at:]) - len(strings.TrimLeftFunc(src[at:], unicode.IsSpace))
		rest := src[at:]
		if strings.HasPrefix(rest, "#") { // a comment, up to the end of the line
			line, _, _ := strings.Cut(rest, "\n")
			at += len(line)
			continue
		}
		if rest == "" {
			return append(tokens, token{kind: end, from: at, to: at}), nil
		}
		t, err := next(src, at)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
		at = t.to
	}
}

func next(src string, at int) (token, error) {
	rest := src[at:]
	if isDigit(rest[0]) || rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]) {
		return number(src, at)
	}
	if n := stringPrefix(rest); n >= 0 {
		return text(src, at, n)
	}
	if n := nameLength(rest); n > 0 {
		t := token{kind: name, text: rest[:n], from: at, to: at + n}
		if keywords[t.text] {
			t.kind = keyword
		}
		if strings.HasPrefix(t.text, "__") {
			return t, &Error{Src: src, From: t.from, To: t.to, Msg: "names must not begin with two underscores"}
		}
		return t, nil
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return token{kind: operator, text: op, from: at, to: at + len(op)}, nil
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return token{}, &Error{Src: src, From: at, To: at + size, Msg: "character that no expression has"}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads a literal up to the first character that cannot belong to one.
func number(src string, at int) (token, error) {
	to := at
	radix := len(src) > at+1 && src[at] == '0' && strings.IndexByte("xXoObB", src[at+1]) >= 0
	isFloat := false
	for to < len(src) {
		c := src[to]
		exponent := !radix && (c == 'e' || c == 'E')
		switch {
		case !radix && c == '.', exponent:
			isFloat = true
			to++
			if exponent && to < len(src) && (src[to] == '+' || src[to] == '-') {
				to++
			}
			continue
		case isDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z':
			to++
			continue
		}
		break
	}
	t := token{kind: literal, from: at, to: to}
	written := src[at:to]
	var err error
	switch {
	case isFloat:
		t.value, err = value.ParseFloat(written)
	case radix:
		t.value, err = value.ParseInt(written, 0)
	case len(written) > 1 && written[0] == '0' && strings.Trim(written, "0_") != "":
		err = strconv.ErrSyntax // Python has no octal 017
	default:
		t.value, err = value.ParseInt(written, 10)
	}
	if err != nil {
		return t, &Error{Src: src, From: at, To: to, Msg: "malformed number"}
	}
	return t, nil
}

// stringPrefix returns the length of the prefix of a string literal, −1 if s
// does not begin with one.
func stringPrefix(s string) int {
	for n := range min(2, len(s)) {
		if s[n] == '\'' || s[n] == '"' {
			return n
		}
		if strings.IndexByte("rRuU", s[n]) < 0 {
			return -1
		}
	}
	return -1
}

func text(src string, at, prefix int) (token, error) {
	raw := prefix > 0 && src[at]|0x20 == 'r'
	start := at + prefix
	mark := src[start : start+1]
	if triple := strings.Repeat(mark, 3); strings.HasPrefix(src[start:], triple) {
		mark = triple
	}
	to := start + len(mark)
	for !strings.HasPrefix(src[to:], mark) {
		if to < len(src) && src[to] == '\\' {
			to++
		}
		if to++; to > len(src) || to == len(src) {
			return token{}, &Error{Src: src, From: at, To: len(src), Msg: "string does not end"}
		}
	}
	body := src[start+len(mark) : to]
	to += len(mark)
	t := token{kind: literal, value: body, from: at, to: to}
	if !raw && strings.Contains(body, `\`) {
		plain, ok := unescape(body)
		if !ok {
			return t, &Error{Src: src, From: at, To: to, Msg: "malformed escape in a string"}
		}
		t.value = plain
	}
	return t, nil
}

var escapes = map[byte]string{
	'\\': `\`, '\'': `'`, '"': `"`, '\n': "", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

// unescape keeps a backslash before a character that needs none, as Python does.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			b.WriteString(s)
			return b.String(), true
		}
		b.WriteString(s[:i])
		c := s[i+1]
		s = s[i+2:]
		width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		switch plain, known := escapes[c]; {
		case known:
			b.WriteString(plain)
		case width > 0:
			n, ok := new(big.Int).SetString(s[:min(width, len(s))], 16)
			if !ok || len(s) < width || n.Sign() < 0 || !n.IsInt64() || !utf8.ValidRune(rune(n.Int64())) {
				return "", false
			}
			b.WriteRune(rune(n.Int64()))
			s = s[width:]
		case '0' <= c && c <= '7':
			n := int(c - '0')
			for range 2 {
				if s != "" && '0' <= s[0] && s[0] <= '7' {
					n, s = 8*n+int(s[0]-'0'), s[1:]
				}
			}
			b.WriteRune(rune(n))
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
}
