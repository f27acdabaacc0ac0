package xacro

import (
	"fmt"
	"strings"
	"unicode"
)

// param is a parameter of a macro: name, name:=default, name:=^ (the caller's
// property of that name), name:=^|default, *block or **block.
type param struct {
	Name       string
	Forward    bool   // :=^
	Default    string // as written
	HasDefault bool
}

// IsBlock tells whether the parameter takes an element.
func (p param) IsBlock() bool { return p.Name[0] == '*' }

// readParams reads the attribute params.
func readParams(s string) ([]param, error) {
	var out []param
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		if s == "" {
			return out, nil
		}
		end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == ':' || r == '=' })
		if end < 0 {
			end = len(s)
		}
		p := param{Name: s[:end]}
		if strings.Trim(p.Name, "*") == "" {
			return nil, fmt.Errorf("a parameter has no name")
		}
		s = s[end:]
		if rest, ok := cutAssign(s); ok {
			rest, p.Forward = strings.CutPrefix(rest, "^")
			if p.Forward {
				rest = strings.TrimPrefix(rest, "|")
			}
			size, err := defaultLength(rest)
			if err != nil {
				return nil, fmt.Errorf("default of %s: %w", p.Name, err)
			}
			p.Default, s = rest[:size], rest[size:]
			p.HasDefault = p.Default != ""
		}
		if p.IsBlock() && (p.Forward || p.HasDefault) {
			return nil, fmt.Errorf("block parameter %s cannot have a default", p.Name)
		}
		out = append(out, p)
	}
}

// cutAssign takes := or = and the white space around it off the front.
func cutAssign(s string) (string, bool) {
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	rest, _ = strings.CutPrefix(rest, ":")
	rest, ok := strings.CutPrefix(rest, "=")
	if !ok {
		return s, false
	}
	return strings.TrimLeftFunc(rest, unicode.IsSpace), true
}

// defaultLength is the length up to the first white space that is neither in
// quotes nor in ${…} or $(…).
func defaultLength(s string) (int, error) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			return i, nil
		case c == '\'' || c == '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return 0, fmt.Errorf("quote without its end")
			}
			i += end + 2
		case c == '$' && i+1 < len(s) && (s[i+1] == '{' || s[i+1] == '('):
			in, ok := inside(s[i+2:], s[i+1])
			if !ok {
				return 0, fmt.Errorf("%s without its end", s[i:i+2])
			}
			i += len(in) + 3
		default:
			i++
		}
	}
	return len(s), nil
}
