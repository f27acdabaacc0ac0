package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/urdf/xacro/value"
)

// plenty is a budget that no honest expression comes near.
const plenty = 1_000_000

type names map[string]value.Value

func (n names) Lookup(name string) (value.Value, bool, error) {
	if v, ok := n[name]; ok {
		return v, true, nil
	}
	v, ok := Global(name)
	return v, ok, nil
}

func (n names) Names() []string { return slices.Sorted(maps.Keys(n)) }

func dict(t testing.TB, pairs ...value.Value) *value.Dict {
	t.Helper()
	d := value.NewDict()
	for i := 0; i < len(pairs); i += 2 {
		if err := d.Set(value.NewBudget(plenty), pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// testNames are the names that tools/oracle/expand_xacro.py gives the outside evaluator.
func testNames(t testing.TB) names {
	inner := dict(t, "c", value.List{value.Int(10), value.Int(20), value.Int(30)})
	return names{
		"n": value.Int(7), "x": 0.5, "s": "Forward left", "t": "", "on": true, "none": nil,
		"l": value.List{value.Int(3), 1.5, "a", value.List{value.Int(2)}},
		"q": value.Tuple{value.Int(1), value.Int(2)},
		"d": dict(t, "a", value.Int(1), "b", inner),
	}
}

// outcome is what an expression gives: its str and repr, or nil for an error.
func outcome(t testing.TB, src string, scope Scope) []string {
	t.Helper()
	b := value.NewBudget(plenty)
	v, err := Eval(src, scope, b)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.From < 0 || e.To < e.From || e.To > len(src) {
			t.Fatalf("%s: error %v has no place in the expression", src, err)
		}
		return nil
	}
	s, err := value.Str(b, v)
	if err != nil {
		return nil
	}
	r, err := value.Repr(b, v)
	if err != nil {
		return nil
	}
	return []string{s, r}
}

// TestEqualsPython compares with what xacro's own evaluator gave for the same
// lines; see testdata/README.md.
func TestEqualsPython(t *testing.T) {
	text, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/expressions.json")
	if err != nil {
		t.Fatal(err)
	}
	var want [][]string
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d expressions, %d results", len(lines), len(want))
	}
	scope := testNames(t)
	for i, line := range lines {
		if got := outcome(t, line, scope); !approx.SameText(fmt.Sprint(got), fmt.Sprint(want[i])) {
			t.Errorf("%s\n got %q\nwant %q", line, got, want[i])
		}
	}
}

// TestBeyondPython lists where the language gives more than xacro's, or other.
func TestBeyondPython(t *testing.T) {
	scope := testNames(t)
	for _, tc := range []struct{ name, src, want string }{
		{"functions of python need no name space", "abs(-3) + sum([1, 2])", "6"},
		{"a dict written with braces", "{'a': 1, 'b': [2]}", "{'a': 1, 'b': [2]}"},
		{"a dict comprehension", "{k: len(k) for k in ['a', 'bb']}", "{'a': 1, 'bb': 2}"},
		{"every dict has dotted access", "dict(a=dict(b=5)).a.b", "5"},
		{"what Python computes lazily is a list", "map(float, ['1'])", "[1.0]"},
		{"the cube root is rounded correctly", "cbrt(27)", "3.0"},
		{"line breaks are white space", "1 +\n2", "3"},
	} {
		if got := outcome(t, tc.src, scope); got == nil || got[0] != tc.want {
			t.Errorf("%s: %s = %q, want %s", tc.name, tc.src, got, tc.want)
		}
	}
}

// TestRefuses names what the error says and at which part of the expression.
func TestRefuses(t *testing.T) {
	scope := testNames(t)
	for _, tc := range []struct{ name, src, part, msg string }{
		{"undefined name", "1 + unknown", "unknown", "undefined name"},
		{"nothing", "", "", "empty"},
		{"half an expression", "1 +", "", "ends too early"},
		{"missing parenthesis", "(1 + 2", "", ") expected"},
		{"two values", "1 2", "2", "not expected"},
		{"missing else", "1 if 2", "", "else expected"},
		{"wrong types", "n + (s - 1)", "s - 1", "str - int has no meaning"},
		{"missing key", "d['z']", "d['z']", "no key 'z'"},
		{"missing attribute", "n.real", "n.real", "no attribute real"},
		{"missing member", "math.sine(1)", "math.sine", "no member"},
		{"index out of range", "l[9]", "l[9]", "index 9 is out of range"},
		{"division by zero", "1 + n / 0", "n / 0", "division by zero"},
		{"wrong number of arguments", "sin(1, 2)", "sin(1, 2)", "does not take 2 arguments"},
		{"unknown argument", "round(1.5, places=1)", "round(1.5, places=1)", "no argument named places"},
		{"argument twice", "dict(a=1, a=2)", "dict(a=1, a=2)", "given twice"},
		{"domain", "sqrt(-1)", "sqrt(-1)", "no finite value"},
		{"complex", "(-8.0) ** 0.5", "(-8.0) ** 0.5", "complex"},
		{"calling a number", "n(1)", "n(1)", "int cannot be called"},
		{"hidden names", "__import__('os')", "__import__", "two underscores"},
		{"hidden attributes", "().__class__", "__class__", "two underscores"},
		{"dunder inside of a name space", "math.__loader__", "__loader__", "two underscores"},
		{"lambda", "lambda: 1", "lambda", "comprehension"},
		{"assignment", "x = 1", "=", "not expected"},
		{"walrus", "(y := 1)", ":", ") expected"},
		{"set", "{1, 2}", ",", "no sets"},
		{"imaginary number", "1j", "1j", "malformed number"},
		{"octal of old", "017", "017", "malformed number"},
		{"unfinished string", "'abc", "'abc", "string does not end"},
		{"bad escape", `'\xg1'`, `'\xg1'`, "malformed escape"},
		{"strange character", "1 ? 2", "?", "character"},
		{"is between numbers", "n is 7", "n is 7", "use =="},
		{"changing a list", "l.append(1)", "l.append", "no attribute append"},
	} {
		_, err := Eval(tc.src, scope, value.NewBudget(plenty))
		var e *Error
		if !errors.As(err, &e) || e.Part() != tc.part || !strings.Contains(e.Msg, tc.msg) {
			t.Errorf("%s: %s: error %v, want %q at %q", tc.name, tc.src, err, tc.msg, tc.part)
		}
	}
}

// TestBombsAreRefused holds expressions that would fill memory or run for ages.
func TestBombsAreRefused(t *testing.T) {
	nested := value.Value(value.List{value.Int(1)})
	for range 60 {
		nested = value.List{nested, nested} // 2⁶⁰ leaves in a few bytes
	}
	deep := value.Value(value.List{})
	for range 100_000 {
		deep = value.List{deep}
	}
	scope := testNames(t)
	scope["nested"], scope["deep"] = nested, deep
	for _, tc := range []struct{ name, src string }{
		{"huge power", "10 ** 10 ** 10"},
		{"tower of powers", "9 ** 9 ** 9 ** 9 ** 9"},
		{"huge shift", "1 << 10 ** 9"},
		{"huge negative power", "2 ** -(2 ** 5000)"},
		{"long string", "'a' * 10 ** 9"},
		{"long string by doubling", "('a' * 2 ** 19) * 2 ** 19"},
		{"long string by replacing", "('a' * 10 ** 6).replace('a', 'b' * 10 ** 6)"},
		{"long string by replacing nothing", "('a' * 10 ** 6).replace('', 'b' * 10 ** 6)"},
		{"long string by joining", "('a' * 10 ** 6).join(['b'] * 10 ** 4)"},
		{"long string by formatting", "'%1000000000d' % 1"},
		{"long list", "[0] * 10 ** 9"},
		{"long range", "list(range(10 ** 9))"},
		{"endless range", "sum(range(2 ** 31))"},
		{"many combinations", "[1 for a in range(60000) for b in range(60000)]"},
		{"many combinations that yield nothing", "[1 for a in range(60000) for b in range(60000) if False]"},
		{"factorial", "factorial(10 ** 9)"},
		{"binomial", "comb(10 ** 9, 5 * 10 ** 8)"},
		{"permutations", "perm(10 ** 9)"},
		{"text of a nested list", "str(nested)"},
		{"comparison of nested lists", "nested == nested + []"},
		{"order of nested lists", "nested < nested + [1]"},
		{"search in a nested list", "[nested].count(nested + [])"},
		{"text of a deep list", "str(deep)"},
		{"comparison of deep lists", "deep == [deep]"},
		{"long number", strings.Repeat("9", 5000)},
		{"number as string", "int('9' * 100000)"},
		{"parentheses", strings.Repeat("(", 50_000) + "1" + strings.Repeat(")", 50_000)},
		{"brackets", strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000)},
		{"signs", strings.Repeat("-", 50_000) + "1"},
		{"nots", strings.Repeat("not ", 10_000) + "1"},
		{"powers", strings.Repeat("1**", 20_000) + "1"},
		{"conditions", strings.Repeat("1 if 0 else ", 5_000) + "1"},
		{"long source", strings.Repeat("1+", 100_000) + "1"},
		{"spread", "max(*([0] * 60000), *([0] * 60000), *list(range(10 ** 7)))"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if v, err := Eval(tc.src, scope, value.NewBudget(plenty)); err == nil {
				t.Errorf("%.40s gives a value of type %s", tc.src, value.TypeName(v))
			}
		})
	}
	// long but flat is no bomb
	if v, err := Eval(strings.Repeat("1+", 30_000)+"1", scope, value.NewBudget(plenty)); err != nil || fmt.Sprint(v) != "30001" {
		t.Errorf("a long sum gives %v, %v", v, err)
	}
}

// FuzzExpr: no panic, no hang, errors with a place, results that have a text
// within bounds; what is printed as a literal reads back as the same.
func FuzzExpr(f *testing.F) {
	text, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if i%7 == 0 {
			f.Add(line)
		}
	}
	f.Add("{'a': [x for x in range(3) if x]}.a[-1:]")
	f.Add("'%(a)5.2f|%%' % dict(a=1)")
	scope := testNames(f)
	f.Fuzz(func(t *testing.T, src string) {
		b := value.NewBudget(20_000)
		v, err := Eval(src, scope, b)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.From < 0 || e.To < e.From || e.To > len(src) {
				t.Fatalf("%q: error %v has no place", src, err)
			}
			return
		}
		s, err := value.Repr(b, v)
		if err != nil || strings.Contains(s, "range(") || strings.Contains(s, "inf") || strings.Contains(s, "nan") {
			return
		}
		again, err := Eval(s, scope, value.NewBudget(plenty))
		if err != nil {
			if strings.HasPrefix(err.Error(), "malformed number") || len(s) > MaxSource || strings.Contains(err.Error(), "nests deeper") {
				return
			}
			t.Fatalf("%q gives %s, which does not read back: %v", src, s, err)
		}
		if twice, err := value.Repr(value.NewBudget(plenty), again); err != nil || twice != s {
			t.Fatalf("%q gives %s, which reads back as %s, %v", src, s, twice, err)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	scope := testNames(b)
	p, err := Parse("0.5 * n * (3 * x ** 2 + d.b.c[1]) / 12 if on else 0")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Eval(scope, value.NewBudget(plenty)); err != nil {
			b.Fatal(err)
		}
	}
}
