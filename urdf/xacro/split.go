package xacro

import "strings"

// maxPart bounds the inside of a ${…} or $(…).
const maxPart = 1 << 16

// split cuts a text into parts: kind '{' for the inside of ${…}, '(' for that of
// $(…), 't' for text, 0 for an opening without an end. $${ and $$( stand for ${
// and $(; each further $ stands for itself.
func split(text string, part func(kind byte, part string, off int) error) error {
	for off := 0; off < len(text); {
		i := strings.IndexByte(text[off:], '$')
		if i < 0 {
			return part('t', text[off:], off)
		}
		if i > 0 {
			if err := part('t', text[off:off+i], off); err != nil {
				return err
			}
			off += i
		}
		rest := text[off:]
		run := len(rest) - len(strings.TrimLeft(rest, "$"))
		kind := byte('t')
		if run < len(rest) && (rest[run] == '{' || rest[run] == '(') {
			kind = rest[run]
		}
		size := run
		switch {
		case kind == 't':
			rest = rest[:run]
		case run > 1:
			kind, size = 't', run+1
			rest = rest[1:size]
		default:
			inside, ok := inside(rest[2:], kind)
			if !ok {
				return part(0, rest[:2], off)
			}
			size = len(inside) + 3
			rest = inside
		}
		if err := part(kind, rest, off); err != nil {
			return err
		}
		off += size
	}
	return nil
}

// inside returns what stands before the closing bracket. Brackets nest, and in
// expressions strings are passed over; where that finds no end, the first
// closing bracket is it. What is longer than an expression is not looked at.
func inside(text string, open byte) (string, bool) {
	text = text[:min(len(text), maxPart)]
	closing := byte('}')
	quotes := `'"`
	if open == '(' {
		closing = ')'
		if !strings.HasPrefix(text, "eval ") {
			quotes = ""
		}
	}
	depth := 0
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case strings.IndexByte(quotes, c) >= 0:
			quote = c
		case c == open:
			depth++
		case c == closing && depth > 0:
			depth--
		case c == closing:
			return text[:i], true
		}
	}
	i := strings.IndexByte(text, closing)
	return text[:max(i, 0)], i >= 0
}
