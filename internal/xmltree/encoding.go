package xmltree

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"poise/problem"
)

// decode returns the document as UTF-8 with line ends made \n (XML 1.0 §2.11),
// without byte-order mark and XML declaration. Lines stay countable: a
// declaration is replaced by its line breaks.
func decode(data []byte, file string) (string, error) {
	fail := func(line int, text, format string, args ...any) error {
		return &problem.Problem{Pos: problem.Pos{File: file, Line: line}, Excerpt: excerpt(text), Text: fmt.Sprintf(format, args...)}
	}
	src, marked := string(data), "" // the encoding that the byte-order mark tells
	switch {
	case strings.HasPrefix(src, "\xef\xbb\xbf"):
		src, marked = src[3:], "utf-8"
	case strings.HasPrefix(src, "\xff\xfe"), strings.HasPrefix(src, "\xfe\xff"):
		if len(data)%2 != 0 {
			return "", fail(1, "", "UTF-16 document with half a character at its end")
		}
		var ok bool
		if src, ok = fromUTF16(data); !ok {
			return "", fail(1, "", "UTF-16 document with half a surrogate pair")
		}
		marked = "utf-16"
	}
	decl, body := splitDeclaration(src)
	encoding := marked
	if decl != "" {
		declared, msg := declaredEncoding(decl)
		if msg == "" && marked != "" && declared != "" && declared != marked {
			msg = "declared encoding contradicts the byte-order mark of " + marked
		}
		if msg != "" {
			return "", fail(1, decl, "%s", msg)
		}
		encoding = declared
	}
	switch {
	case encoding == "us-ascii":
		if i := strings.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
			return "", fail(1+strings.Count(src[:len(decl)+i], "\n"), body[i:], "not US-ASCII as the document declares")
		}
	case encoding == "iso-8859-1":
		body = fromLatin1(body)
	case encoding == "utf-16" && marked == "":
		return "", fail(1, decl, "declared UTF-16 without its byte-order mark")
	}
	src = strings.Repeat("\n", strings.Count(unixLines(decl), "\n")) + unixLines(body)
	if at, msg := illegalChar(src); msg != "" {
		return "", fail(1+strings.Count(src[:at], "\n"), src[at:], "%s", msg)
	}
	return src, nil
}

// splitDeclaration cuts <?xml … ?> off the front.
func splitDeclaration(src string) (decl, body string) {
	if len(src) < 6 || src[:5] != "<?xml" || !isSpace(src[5]) {
		return "", src
	}
	end := strings.Index(src, "?>")
	if end < 0 {
		return src, ""
	}
	return src[:end+2], src[end+2:]
}

// encodings are the names that a document may give its encoding.
var encodings = map[string]string{
	"utf-8": "utf-8", "utf8": "utf-8", "utf-16": "utf-16", "us-ascii": "us-ascii", "ascii": "us-ascii",
	"iso-8859-1": "iso-8859-1", "latin-1": "iso-8859-1", "latin1": "iso-8859-1",
}

// declaredEncoding reads an XML declaration; msg tells what is wrong with it.
func declaredEncoding(decl string) (encoding, msg string) {
	if !strings.HasSuffix(decl, "?>") {
		return "", "XML declaration does not end"
	}
	const bad = "malformed XML declaration"
	rest := decl[5 : len(decl)-2]
	order := 0 // of the pseudo-attributes: version, encoding, standalone
	for {
		trimmed := strings.TrimLeft(rest, spaces)
		if trimmed == "" {
			break
		}
		name, after, ok := strings.Cut(trimmed, "=")
		after = strings.TrimLeft(after, spaces)
		if !ok || len(trimmed) == len(rest) || after == "" || after[0] != '"' && after[0] != '\'' {
			return "", bad
		}
		value, tail, ok := strings.Cut(after[1:], after[:1])
		if !ok {
			return "", bad
		}
		switch name = strings.TrimRight(name, spaces); {
		case name == "version" && order == 0:
			if value != "1.0" && value != "1.1" {
				return "", "XML version is neither 1.0 nor 1.1"
			}
			order = 1
		case name == "encoding" && order == 1 && value != "":
			if encoding = encodings[strings.ToLower(value)]; encoding == "" {
				return "", "encoding is not one of UTF-8, UTF-16, US-ASCII, ISO-8859-1"
			}
			order = 2
		case name == "standalone" && (order == 1 || order == 2) && (value == "yes" || value == "no"):
			order = 3
		default:
			return "", bad
		}
		rest = tail
	}
	if order == 0 {
		return "", "XML declaration without version"
	}
	return encoding, ""
}

// fromUTF16 decodes a document with byte-order mark and an even length; not ok
// if a surrogate stands alone.
func fromUTF16(data []byte) (text string, ok bool) {
	lo, hi := 0, 1 // which byte of a pair is the low one
	if data[0] == 0xfe {
		lo, hi = 1, 0
	}
	units := make([]uint16, 0, len(data)/2-1)
	replaced := 0 // characters written as the one that stands for broken ones
	for i := 2; i < len(data); i += 2 {
		unit := uint16(data[i+hi])<<8 | uint16(data[i+lo])
		if unit == utf8.RuneError {
			replaced++
		}
		units = append(units, unit)
	}
	text = string(utf16.Decode(units))
	return text, strings.Count(text, string(utf8.RuneError)) == replaced
}

func fromLatin1(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func unixLines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// illegalChar finds the first thing in s that XML does not allow as a character.
func illegalChar(s string) (at int, msg string) {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && !isSpace(c) {
				return i, "control character"
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i, "not UTF-8"
		}
		if !isChar(r) {
			return i, "not a character of XML"
		}
		i += size
	}
	return 0, ""
}

// isChar is the production Char of XML 1.0 §2.2.
func isChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || ' ' <= r && r <= 0xD7FF ||
		0xE000 <= r && r <= 0xFFFD || 0x10000 <= r && r <= 0x10FFFF
}

const spaces = " \t\n\r"

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func blank(s string) bool { return strings.TrimLeft(s, spaces) == "" }

// nameStarts are the ranges of NameStartChar without the colon (XML 1.0 §2.3).
var nameStarts = [][2]rune{
	{'a', 'z'}, {'_', '_'}, {'A', 'Z'}, {0xC0, 0xD6}, {0xD8, 0xF6}, {0xF8, 0x2FF},
	{0x370, 0x37D}, {0x37F, 0x1FFF}, {0x200C, 0x200D}, {0x2070, 0x218F}, {0x2C00, 0x2FEF},
	{0x3001, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF},
}

// nameRest are the ranges that NameChar adds.
var nameRest = [][2]rune{{'-', '.'}, {'0', '9'}, {0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}}

func inRanges(r rune, ranges [][2]rune) bool {
	for _, x := range ranges {
		if x[0] <= r && r <= x[1] {
			return true
		}
	}
	return false
}

func isNameStart(r rune) bool { return inRanges(r, nameStarts) }
func isNameChar(r rune) bool {
	return 'a' <= r && r <= 'z' || inRanges(r, nameStarts) || inRanges(r, nameRest)
}

// excerpt shortens offending text to what fits on a line.
func excerpt(s string) string {
	const most = 60
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < most && !blank(s[:i]) {
		s = s[:i]
	}
	return cut(s, most)
}

// cut shortens text to that many bytes, give or take a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
