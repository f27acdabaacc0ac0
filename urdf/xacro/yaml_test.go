package xacro

import (
	"errors"
	"strings"
	"testing"

	"poise/problem"
	"poise/urdf/xacro/expr"
	"poise/urdf/xacro/value"
)

const plenty = 100_000

type noNames struct{}

func (noNames) Names() []string { return nil }

func (noNames) Lookup(name string) (value.Value, bool, error) {
	v, ok := expr.Global(name)
	return v, ok, nil
}

func read(text string) (string, error) {
	b := value.NewBudget(plenty)
	v, err := readYAML([]byte(text), "test.yaml", noNames{}, b)
	if err != nil {
		return "", err
	}
	return value.Repr(b, v)
}

// TestScalars: the words of YAML 1.1, as PyYAML resolves them.
func TestScalars(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"1", "1"}, {"-1", "-1"}, {"+1", "1"}, {"0", "0"}, {"010", "8"}, {"08", "'08'"}, {"0x1f", "31"}, {"0b11", "3"}, {"0o17", "'0o17'"},
		{"1_000", "1000"}, {"1:30", "90"}, {"-1:30", "-90"}, {"1:30.5", "90.5"}, {"190:20:30", "685230"}, {"1:60", "'1:60'"},
		{"1.5", "1.5"}, {"1.", "1.0"}, {".5", "0.5"}, {"-.5", "'-.5'"}, {"1e3", "'1e3'"}, {"1.0e3", "'1.0e3'"}, {"1.0e+3", "1000.0"},
		{".inf", "inf"}, {"-.INF", "-inf"}, {".nan", "nan"}, {"+.inf", "inf"},
		{"yes", "True"}, {"No", "False"}, {"ON", "True"}, {"off", "False"}, {"true", "True"}, {"y", "'y'"}, {"tRue", "'tRue'"},
		{"~", "None"}, {"null", "None"}, {"", "None"}, {"'1'", "'1'"}, {`"yes"`, "'yes'"}, {"2024-01-02", "'2024-01-02'"},
		{"!!str 1", "'1'"}, {"!!float 1", "1.0"}, {"!!int '7'", "7"}, {"!!bool yes", "True"}, {"! 12", "12"},
		{"!degrees 180", "3.141592653589793"}, {"!radians pi / 2", "1.5707963267948966"}, {"!millimeters 5", "0.005"},
		{"!inches 1", "0.0254"}, {"!foot 1", "0.3048"}, {"!meters 2", "2.0"},
		{"|\n a\n b", "'a\\nb'"}, {"plain words", "'plain words'"},
	} {
		if got, err := read(tc.text); got != tc.want || err != nil {
			t.Errorf("%q is %s, %v, want %s", tc.text, got, err, tc.want)
		}
	}
}

func TestCollections(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nesting", "a: [1, {b: c}]\nd: {}\n", "{'a': [1, {'b': 'c'}], 'd': {}}"},
		{"keys of any kind", "{1: a, 1.5: b, yes: c, ~: d}", "{1: 'c', 1.5: 'b', None: 'd'}"},
		{"the last of two equal keys counts", "{a: 1, b: 2, a: 3}", "{'a': 3, 'b': 2}"},
		{"anchors", "a: &x [1]\nb: *x\n", "{'a': [1], 'b': [1]}"},
		{"merging", "a: &x {p: 1, q: 2}\nb:\n  r: 0\n  <<: *x\n  p: 3\n", "{'a': {'p': 1, 'q': 2}, 'b': {'p': 3, 'q': 2, 'r': 0}}"},
		{"merging several", "<<: [{a: 1}, {a: 2, b: 3}]\n", "{'a': 1, 'b': 3}"},
		{"quoted << is a key", "'<<': 1\n", "{'<<': 1}"},
		{"nothing", "# only a comment\n", "None"},
	} {
		if got, err := read(tc.text); got != tc.want || err != nil {
			t.Errorf("%s: %q is %s, %v, want %s", tc.name, tc.text, got, err, tc.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		line       int
		msg        string
	}{
		{"syntax", "a: 1\nb: [", 2, "yaml"},
		{"second document", "a: 1\n---\nb: 2\n", 2, "second document"},
		{"code", "a: 1\nb: !!python/object/apply:os.system [ls]\n", 2, "unknown tag"},
		{"unknown unit", "!furlong 1", 1, "unknown tag"},
		{"unit of a list", "!degrees [1]", 1, "unknown tag"},
		{"unit that is no number", "!degrees '[1]'", 1, "number"},
		{"unit that is no expression", "a: !degrees 1 +\n", 1, "ends too early"},
		{"type that does not fit", "a: !!int x\n", 1, "not of the type"},
		{"list as a key", "? [1]\n: 2\n", 1, "key of a dict"},
		{"merging a scalar", "<<: 1\n", 1, "merges mappings"},
		{"anchor in itself", "a: &a [*a]\n", 1, "contain itself"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := read(tc.text)
			var e *problem.Problem
			if !errors.As(err, &e) || e.Pos.Line != tc.line || e.Pos.File != "test.yaml" || !strings.Contains(e.Text, tc.msg) {
				t.Errorf("error is %v, want %q in line %d", err, tc.msg, tc.line)
			}
		})
	}
}

// FuzzYAML: no panic, no hang; a value within its bounds or an error.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"a: &x [1, 1.5, yes]\nb: *x\n<<: {c: d}\n", "!degrees 90", "- |\n  text\n- >-\n  folded\n", "a: &a {<<: *a}\n", "{1: 2, [3]: 4}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { _, _ = read(text) })
}
