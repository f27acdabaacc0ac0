package value

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

// spec is one conversion of a format: %[(key)][flags][width][.precision]verb.
type spec struct {
	flags     string
	width     int
	precision int // -1 if not given
	verb      byte
}

// Format is Python's format % args: what C's printf does, and %r.
func Format(b *Budget, format string, args Value) (Value, error) {
	list, isTuple := args.(Tuple)
	if !isTuple {
		list = Tuple{args}
	}
	dict, _ := args.(*Dict)
	var out strings.Builder
	used := 0
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			break
		}
		out.WriteString(format[:i])
		format = format[i+1:]
		var arg Value
		named := strings.HasPrefix(format, "(")
		var err error
		if named {
			if arg, format, err = byKey(b, format, dict); err != nil {
				return nil, err
			}
		}
		var s spec
		if s, format, err = parseSpec(format); err != nil {
			return nil, err
		}
		if s.verb == '%' {
			out.WriteByte('%')
			continue
		}
		if !named {
			if used >= len(list) {
				return nil, errors.New("too few values for the format")
			}
			arg = list[used]
			used++
		}
		text, err := s.format(b, arg)
		if err != nil {
			return nil, err
		}
		out.WriteString(text)
		if err := b.Spend(1 + len(text)/16); err != nil {
			return nil, err
		}
		if out.Len() > MaxBytes {
			return nil, fmt.Errorf("string is longer than %d bytes", MaxBytes)
		}
	}
	if used < len(list) && !keyed(args) {
		return nil, errors.New("too many values for the format")
	}
	return b.text(out.String() + format)
}

// byKey looks up the (key) at the front of a conversion.
func byKey(b *Budget, format string, dict *Dict) (arg Value, rest string, err error) {
	key, rest, ok := strings.Cut(format[1:], ")")
	if !ok || dict == nil {
		return nil, "", errors.New("%(key) needs a closing parenthesis and a dict")
	}
	arg, err = Index(b, dict, key)
	return arg, rest, err
}

// keyed tells what a format may leave unused, because it could ask by key.
func keyed(v Value) bool {
	switch v.(type) {
	case *Dict, List, Range:
		return true
	}
	return false
}

// maxWidth bounds width and precision of a conversion.
const maxWidth = 1000

func parseSpec(s string) (spec, string, error) {
	number := func() (n int) {
		for len(s) > 0 && isDigit(s[0]) {
			n = min(10*n+int(s[0]-'0'), maxWidth+1)
			s = s[1:]
		}
		return n
	}
	rest := strings.TrimLeft(s, "-+ #0")
	p := spec{flags: s[:len(s)-len(rest)], precision: -1}
	s = rest
	p.width = number()
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		p.precision = number()
	}
	if s == "" {
		return p, "", errors.New("incomplete format")
	}
	if p.width > maxWidth || p.precision > maxWidth {
		return p, "", fmt.Errorf("width of a format is above %d", maxWidth)
	}
	p.verb = s[0]
	return p, s[1:], nil
}

func (p spec) format(b *Budget, v Value) (string, error) {
	switch p.verb {
	case 's', 'r':
		text, err := Str(b, v)
		if p.verb == 'r' {
			text, err = Repr(b, v)
		}
		if err != nil {
			return "", err
		}
		if p.precision >= 0 && utf8.RuneCountInString(text) > p.precision {
			text = string([]rune(text)[:p.precision])
		}
		return p.pad("", text, false), nil
	case 'd', 'i', 'u', 'x', 'X', 'o':
		return p.integer(v)
	case 'f', 'F', 'e', 'E', 'g', 'G':
		f, err := AsFloat(v)
		if err != nil {
			return "", err
		}
		precision := p.precision
		if precision < 0 {
			precision = 6
		}
		if precision == 0 && (p.verb == 'g' || p.verb == 'G') {
			precision = 1
		}
		text := strings.ToLower(fmt.Sprintf("%.*"+string(p.verb), precision, f))
		text = strings.TrimPrefix(text, "+") // Go writes +Inf
		if p.verb < 'a' {
			text = strings.ToUpper(text)
		}
		digits, negative := strings.CutPrefix(text, "-")
		return p.pad(p.sign(negative), digits, true), nil
	}
	return "", fmt.Errorf("unsupported format character %q", p.verb)
}

func (p spec) integer(v Value) (string, error) {
	n, ok := integer(v)
	if f, isFloat := v.(float64); isFloat && strings.IndexByte("diu", p.verb) >= 0 {
		whole, err := Whole(f)
		if err != nil {
			return "", err
		}
		n, ok = whole.(*big.Int), true
	}
	if !ok {
		return "", fmt.Errorf("%%%c needs a number, not %s", p.verb, TypeName(v))
	}
	base := map[byte]int{'x': 16, 'X': 16, 'o': 8}[p.verb]
	if base == 0 {
		base = 10
	}
	digits := new(big.Int).Abs(n).Text(base)
	if p.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	digits = strings.Repeat("0", max(0, p.precision-len(digits))) + digits
	lead := p.sign(n.Sign() < 0)
	if strings.Contains(p.flags, "#") && base != 10 {
		lead += "0" + string(p.verb)
	}
	return p.pad(lead, digits, true), nil
}

func (p spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case strings.Contains(p.flags, "+"):
		return "+"
	case strings.Contains(p.flags, " "):
		return " "
	}
	return ""
}

func (p spec) pad(lead, text string, numeric bool) string {
	missing := max(0, p.width-len(lead)-utf8.RuneCountInString(text))
	switch {
	case strings.Contains(p.flags, "-"):
		return lead + text + strings.Repeat(" ", missing)
	case numeric && strings.Contains(p.flags, "0"):
		return lead + strings.Repeat("0", missing) + text
	}
	return strings.Repeat(" ", missing) + lead + text
}
