package xacro

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"poise/urdf/xacro/value"
)

func TestSplit(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"plain", "t:plain"},
		{"${a}", "{:a"},
		{"a${b}c$(d e)f", "t:a {:b t:c (:d e t:f"},
		{"$${a}", "t:${ t:a}"},
		{"$$$(a)", "t:$$( t:a)"},
		{"5$ $x $", "t:5 t:$ t:  t:$ t:x  t:$"},
		{"${'}'}", "{:'}'"},
		{"${{'a': {}}}x", "{:{'a': {}} t:x"},
		{`${'\'}'}`, `{:'\'}'`},
		{"${1 # it's}", "{:1 # it's"},
		{"$(eval f(')'))", "(:eval f(')')"},
		{"$(optenv X it's) it's", "(:optenv X it's t: it's"},
		{"$(find ${p})", "(:find ${p}"},
		{"${a", "0:${"},
		{"x$(a", "t:x 0:$("},
	} {
		var parts []string
		err := split(tc.text, func(kind byte, part string, off int) error {
			if kind == 0 {
				kind = '0'
			}
			parts = append(parts, fmt.Sprintf("%c:%s", kind, part))
			if kind == 't' && !strings.Contains(tc.text[off:], part) {
				t.Errorf("split(%q): part %q is not at %d", tc.text, part, off)
			}
			return nil
		})
		if got := strings.Join(parts, " "); got != tc.want || err != nil {
			t.Errorf("split(%q) = %s, %v, want %s", tc.text, got, err, tc.want)
		}
	}
}

func TestParams(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "[]"},
		{"a b", "[{a false  false} {b false  false}]"},
		{"a:=1 b=2", "[{a false 1 true} {b false 2 true}]"},
		{" a := 1\n\tb", "[{a false 1 true} {b false  false}]"},
		{"a:='x y' b:=\"p q\"", "[{a false 'x y' true} {b false \"p q\" true}]"},
		{"a:=^ b:=^|1 c:=^|'' d:=^|", "[{a true  false} {b true 1 true} {c true '' true} {d true  false}]"},
		{"a:=${1 + 2} b:=$(arg c d)", "[{a false ${1 + 2} true} {b false $(arg c d) true}]"},
		{"a:=x${b + 1}y c", "[{a false x${b + 1}y true} {c false  false}]"},
		{"*a **b c", "[{*a false  false} {**b false  false} {c false  false}]"},
		{"a:=0 0", "[{a false 0 true} {0 false  false}]"},
	} {
		got, err := readParams(tc.text)
		if fmt.Sprint(got) != tc.want || err != nil {
			t.Errorf("readParams(%q) = %v, %v, want %s", tc.text, got, err, tc.want)
		}
	}
	for _, text := range []string{":=1", "*", "*a:=1", "a:='x", "a:=${x", "a :b"} {
		if got, err := readParams(text); err == nil {
			t.Errorf("readParams(%q) = %v", text, got)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, tc := range []struct {
		text string
		want value.Value
	}{
		{"1", big.NewInt(1)}, {" -7 ", big.NewInt(-7)}, {"007", big.NewInt(7)}, {"1.5", 1.5}, {"1e3", 1000.0}, {".5", 0.5},
		{"true", true}, {"False", false}, {"TRUE", "TRUE"}, {"yes", "yes"}, {"1_000", "1_000"}, {"'1'", "1"}, {"'a b'", "a b"},
		{"''", ""}, {"'", "'"}, {"", ""}, {"0x10", "0x10"}, {"1 2", "1 2"},
	} {
		if got := literal(tc.text); fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", tc.want, tc.want) {
			t.Errorf("literal(%q) = %T %v, want %T %v", tc.text, got, got, tc.want, tc.want)
		}
	}
}

// FuzzSyntax: the parts of a text, put together again, are the text.
func FuzzSyntax(f *testing.F) {
	for _, s := range []string{"a${b}c", "$${x} $(y z)", "a:=${1 + 2} *b c:=^|'x'", "${'}'", "$$$("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = readParams(text)
		var back strings.Builder
		err := split(text, func(kind byte, part string, off int) error {
			switch kind {
			case 't':
				if strings.HasPrefix(part, "$") && strings.ContainsAny(part[len(part)-1:], "{(") {
					part = "$" + part
				}
				back.WriteString(part)
			case '{':
				back.WriteString("${" + part + "}")
			case '(':
				back.WriteString("$(" + part + ")")
			default:
				back.WriteString(text[off:])
			}
			return nil
		})
		if err != nil || back.String() != text {
			t.Errorf("%q comes back as %q, %v", text, back.String(), err)
		}
	})
}
