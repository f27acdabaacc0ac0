package strictyaml

import (
	"reflect"
	"strings"
	"sync"
	"testing"
)

type limb struct {
	Name string  `yaml:",key"`
	Line int     `yaml:",line"`
	Tip  string  `yaml:"tip"`
	Gain float64 `yaml:"gain"`
	On   *bool   `yaml:"on"`
}

type value struct {
	Joint string  `yaml:",key"`
	Value float64 `yaml:",value"`
}

type pose struct {
	Name   string  `yaml:",key"`
	Line   int     `yaml:",line"`
	Joints []value `yaml:",inline"`
}

type item struct {
	Line int    `yaml:",line"`
	Left string `yaml:"left"`
}

type file struct {
	Name   string      `yaml:"name"`
	Count  int         `yaml:"count"`
	Limbs  []limb      `yaml:"limbs"`
	Poses  []pose      `yaml:"poses"`
	Items  []item      `yaml:"items"`
	Points [][]float64 `yaml:"points"`
	Hidden string      `yaml:"-"`

	Lines map[string]int `yaml:",lines"`
}

func TestDecodeFillsEverything(t *testing.T) {
	text := `name: 12
count: 3
limbs:
  b: {tip: x, gain: 2}
  a:
    tip: y
    on: false
poses:
  up: {j2: 1, j1: -0.5}
items:
  - left: l
  - {left: m}
points: [[1, 2.5], [0x10]]
`
	var got file
	if err := Decode([]byte(text), "f.yaml", &got); err != nil {
		t.Fatal(err)
	}
	off := false
	want := file{
		Name: "12", Count: 3,
		Limbs:  []limb{{"b", 4, "x", 2, nil}, {"a", 5, "y", 0, &off}},
		Poses:  []pose{{"up", 9, []value{{"j2", 1}, {"j1", -0.5}}}},
		Items:  []item{{11, "l"}, {12, "m"}},
		Points: [][]float64{{1, 2.5}, {16}},
		Lines:  map[string]int{"name": 1, "count": 2, "limbs": 3, "poses": 8, "items": 10, "points": 13},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "name: a\nnmae: b\n", `f.yaml:2: unknown key "nmae"; did you mean "name"?`},
		{"unknown key that is near to none", "name: a\nspeed: 1\n", `f.yaml:2: unknown key "speed"; known are name, count, limbs, poses, items, points`},
		{"unknown key below", "limbs:\n  a:\n    tap: b\n", `f.yaml:3: limbs.a: unknown key "tap"; did you mean "tip"?`},
		{"a key that is not for files", "Hidden: b\n", `unknown key "Hidden"`},
		{"the mark of a hidden field", "\"-\": b\n", `unknown key "-"`},
		{"the mark of a special field", "limbs:\n  a: {\",key\": b}\n", `unknown key ",key"`},
		{"key twice", "name: a\nname: b\n", `f.yaml:2: key "name" comes twice, first on line 1`},
		{"element twice", "limbs: {a: {}, a: {}}\n", `f.yaml:1: limbs: key "a" comes twice`},
		{"text for a number", "limbs: {a: {gain: \"2\"}}\n", `f.yaml:1: limbs.a.gain: "2" must be a finite number`},
		{"infinite", "limbs: {a: {gain: .inf}}\n", `".inf" must be a finite number`},
		{"not a number", "limbs: {a: {gain: .nan}}\n", `".nan" must be a finite number`},
		{"fraction for an integer", "count: 1.5\n", `count: "1.5" must be an integer`},
		{"yes for true", "limbs: {a: {on: yes}}\n", `"yes" must be true or false`},
		{"list for a mapping", "limbs: [a]\n", `limbs: is a list, must be a mapping`},
		{"mapping for a list", "points: {a: b}\n", `points: is a mapping, must be a list`},
		{"text for a list", "points: a\n", `points: is "a", must be a list`},
		{"empty value", "name:\n", `name: is empty, must be a text`},
		{"key that is no word", "? [a]\n: b\n", `a key must be a word`},
		{"broken YAML", "name: a\n  b: [\n", "f.yaml:2: "},
		{"second document", "name: a\n---\nname: b\n", "f.yaml:2: a second document begins here"},
		{"top that is no mapping", "- a\n", "f.yaml:1: is a list, must be a mapping"},
		{"merge key", "limbs:\n  a: &a {tip: x}\n  b: {<<: *a}\n", `unknown key "<<"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var f file
			err := Decode([]byte(tc.text), "f.yaml", &f)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// TestWhatCannotBeReadIsAbsent: behind a pointer it is nil, not zero.
func TestWhatCannotBeReadIsAbsent(t *testing.T) {
	var f struct {
		Good *float64 `yaml:"good"`
		Bad  *float64 `yaml:"bad"`
		None *int     `yaml:"none"`
		Part *struct {
			A float64 `yaml:"a"`
		} `yaml:"part"`
	}
	err := Decode([]byte("good: 1\nbad: x\nnone: 1.5\npart: {a: 2, b: 3}\n"), "f.yaml", &f)
	if err == nil || f.Good == nil || f.Bad != nil || f.None != nil || f.Part == nil || f.Part.A != 2 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestDecodeReportsAllAtOnce(t *testing.T) {
	var f file
	err := Decode([]byte("nope: 1\ncount: x\nlimbs: {a: {gain: y}}\n"), "f.yaml", &f)
	if n := len(err.(interface{ Unwrap() []error }).Unwrap()); n != 3 {
		t.Errorf("%d problems in %v, want 3", n, err)
	}
}

func TestAliasesAreFollowedWithinABudget(t *testing.T) {
	var f file
	if err := Decode([]byte("points: [&p [1, 2], *p]\n"), "f.yaml", &f); err != nil || len(f.Points) != 2 || f.Points[1][1] != 2 {
		t.Errorf("points %v, error %v", f.Points, err)
	}
	bomb := "name: &a [" + strings.Repeat("1,", 999) + "1]\npoints: [" + strings.Repeat("*a,", 9999) + "*a]\n"
	if err := Decode([]byte(bomb), "f.yaml", &f); err == nil || !strings.Contains(err.Error(), "aliases unfold") {
		t.Errorf("a bomb of aliases: %v", err)
	}
	ring := "points: &a [*a]\n"
	if err := Decode([]byte(ring), "f.yaml", &f); err == nil {
		t.Error("a ring of aliases was taken")
	}
}

func TestSyntaxErrorsHaveTheirLine(t *testing.T) {
	for _, tc := range []struct {
		text string
		line string
	}{
		{"a: last\nb: [head\nc: ]\n", "f.yaml:2:"},
		{"a: [a]\nb:\n- c: x\n  d: [a]\n e: 1\n", "f.yaml:5:"},
		{"a: [a]\nb: last\n- x\n", "f.yaml:3:"},
		{"a: 1\nb: }\n", "f.yaml:2:"},
		{"a: 1\nb: {c\n", "f.yaml:2:"},
		{"a: 1\nb: !x!y 1\n", "f.yaml:2:"},
		{"a: 1\nb: @last\nc: 3\n", "f.yaml:2:"},
		{"a: 1\n\tb: 1\n", "f.yaml:2:"},
		{"a: b: c\n", "f.yaml:1:"},
		{"a: [b\n", "f.yaml:1:"},
		{"a: 1\nb: *c\n", "f.yaml:2:"},
	} {
		if _, err := Parse([]byte(tc.text), "f.yaml"); err == nil || !strings.HasPrefix(err.Error(), tc.line) {
			t.Errorf("Parse(%q): %v, want %s", tc.text, err, tc.line)
		}
	}
}

func TestNodeWaitsToBeDecoded(t *testing.T) {
	var f struct {
		Either []Node `yaml:"either"`
	}
	if err := Decode([]byte("either:\n- 3\n- {x: 1, y: 2}\n"), "f.yaml", &f); err != nil || len(f.Either) != 2 {
		t.Fatal(f, err)
	}
	number, x := f.Either[0], 0
	if _, mapping := number.Mapping(); mapping || number.Line() != 2 || number.Path() != "either[0]" || number.Decode(&x) != nil || x != 3 {
		t.Errorf("number: line %d, path %s, %d", number.Line(), number.Path(), x)
	}
	keys, mapping := f.Either[1].Mapping()
	if !mapping || !reflect.DeepEqual(keys, []string{"x", "y"}) {
		t.Errorf("mapping: %v %v", keys, mapping)
	}
	if err := f.Either[1].Decode(&x); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:3: either[1]: ") {
		t.Errorf("error %v", err)
	}
	if (Node{}).Line() != 0 {
		t.Error("a node that is not there has a line")
	}
}

func TestANodeIsDecodedBySeveralAtOnce(t *testing.T) {
	var f struct {
		Is Node `yaml:"is"`
	}
	if err := Decode([]byte("is: 3\n"), "f.yaml", &f); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				truth, number := false, 0.0
				if err := f.Is.Decode(&truth); err == nil {
					t.Error("3 was read as the truth")
				}
				if err := f.Is.Decode(&number); err != nil || number != 3 {
					t.Errorf("read as %g: %v", number, err)
				}
			}
		})
	}
	all.Wait()
}

func TestSizeIsBounded(t *testing.T) {
	var f file
	if err := Decode(make([]byte, usual.Bytes+1), "f.yaml", &f); err == nil {
		t.Error("an oversized document was taken")
	}
}

func TestOnlyOpensAWrapper(t *testing.T) {
	n, err := Parse([]byte("wrap:\n  name: a\n  nope: b\n"), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	in, ok := n.Only("wrap")
	if !ok {
		t.Fatal("Only(wrap) found nothing")
	}
	var f file
	if err := in.Decode(&f); err == nil || !strings.Contains(err.Error(), `f.yaml:3: wrap: unknown key "nope"`) || f.Name != "a" {
		t.Errorf("name %q, error %v", f.Name, err)
	}
	if _, ok := in.Only("name"); ok {
		t.Error("Only found a key that has company")
	}
}

func TestEmptyDocumentChangesNothing(t *testing.T) {
	for _, text := range []string{"", "# a comment\n", "---\n", "~\n"} {
		f := file{Name: "kept"}
		if err := Decode([]byte(text), "f.yaml", &f); err != nil || f.Name != "kept" {
			t.Errorf("Decode(%q): name %q, error %v", text, f.Name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("name: a\nlimbs: {a: {tip: x, gain: 1}}\npoints: [[1]]\n"))
	f.Add([]byte("points: [&a [1], *a]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("limbs: &x\n  a: *x\n"))
	f.Add([]byte("name: !!binary x\ncount: !!float 3\n"))
	f.Add([]byte("? {a: b}\n: - c\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v file
		first := Decode(data, "f.yaml", &v)
		var w file
		second := Decode(data, "f.yaml", &w)
		if (first == nil) != (second == nil) || first == nil && !reflect.DeepEqual(v, w) {
			t.Errorf("two readings differ: %v, %v", first, second)
		}
	})
}

func TestDecodeWithinBounds(t *testing.T) {
	var got file
	text := []byte("points: [[1, 2], [3, 4]]\n")
	if err := DecodeWithin(text, "f.yaml", &got, Bounds{Bytes: len(text), Values: 100}); err != nil || len(got.Points) != 2 {
		t.Fatal(got, err)
	}
	if err := DecodeWithin(text, "f.yaml", &got, Bounds{Bytes: len(text) - 1, Values: 100}); err == nil || !strings.Contains(err.Error(), "at most 24") {
		t.Error(err)
	}
	if err := DecodeWithin(text, "f.yaml", &got, Bounds{Bytes: len(text), Values: 5}); err == nil || !strings.Contains(err.Error(), "more than 5 values") {
		t.Error(err)
	}
}
