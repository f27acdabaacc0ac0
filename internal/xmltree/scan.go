package xmltree

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// qualifiedName reads name or prefix:name.
func (p *parser) qualifiedName() (prefix, local string, ok bool) {
	local, ok = p.name()
	if ok && p.off < len(p.src) && p.src[p.off] == ':' {
		p.off++
		prefix = local
		local, ok = p.name()
	}
	return prefix, local, ok
}

// name reads a name without colon.
func (p *parser) name() (string, bool) {
	start := p.off
	for p.off < len(p.src) {
		r, size := rune(p.src[p.off]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(p.src[p.off:])
		}
		if p.off == start && !isNameStart(r) || !isNameChar(r) {
			break
		}
		p.off += size
	}
	return p.src[start:p.off], p.off > start
}

func (p *parser) skipSpace() bool {
	start := p.off
	for p.off < len(p.src) && isSpace(p.src[p.off]) {
		p.off++
	}
	return p.off > start
}

// predefined are the only entities we read.
var predefined = map[string]string{"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": `"`}

// expand replaces references; raw stands at offset off.
func (p *parser) expand(raw string, off int) (string, error) {
	amp := strings.IndexByte(raw, '&')
	if amp < 0 {
		return raw, nil
	}
	var b strings.Builder
	for at := 0; ; {
		b.WriteString(raw[at : at+amp])
		at += amp
		end := strings.IndexByte(raw[at:], ';')
		if end < 0 {
			return "", p.fail(off+at, raw[at:], "& without a ; (write &amp;)")
		}
		ref := raw[at+1 : at+end]
		text, ok := predefined[ref]
		if !ok {
			text, ok = charReference(ref)
		}
		if !ok {
			if err := p.note(p.pos(off+at), "&"+ref+";", "neither a predefined entity nor a character"); err != nil {
				return "", err
			}
		}
		b.WriteString(text)
		at += end + 1
		if amp = strings.IndexByte(raw[at:], '&'); amp < 0 {
			b.WriteString(raw[at:])
			return b.String(), nil
		}
	}
}

// charReference reads #10 or #xA.
func charReference(ref string) (string, bool) {
	digits, base := strings.TrimPrefix(ref, "#"), 10
	if len(digits) == len(ref) {
		return "", false
	}
	if strings.HasPrefix(digits, "x") {
		digits, base = digits[1:], 16
	}
	if digits == "" || digits[0] == '+' || digits[0] == '-' || len(digits) > 100 {
		return "", false
	}
	r, err := strconv.ParseUint(digits, base, 32)
	if err != nil || r > utf8.MaxRune || !isChar(rune(r)) {
		return "", false
	}
	return string(rune(r)), true
}
