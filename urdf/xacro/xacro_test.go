package xacro

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"poise/internal/xmltree"
	"poise/urdf/locate"
)

// expandText expands a document in memory and returns the canonical form of
// what is inside of its root.
func expandText(t *testing.T, c Config, text string, more ...string) string {
	t.Helper()
	c.Files = inMemory(append([]string{"robots/main.xacro", text}, more...)...)
	r, err := Expand("robots/main.xacro", c)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, n := range r.Root.Children {
		out = append(out, strings.TrimSpace(canonical(n)))
	}
	return strings.ReplaceAll(strings.Join(out, " "), "{}", "")
}

// TestBeyondXacro lists where ROS xacro 2.1.1 fails or loses something and we do
// not. These are all deliberate differences that give more.
func TestBeyondXacro(t *testing.T) {
	for _, tc := range []struct{ name, line, want string }{
		{"braces inside of an expression", `<a v="${{'x': 1}['x']}" w="${'}'}"/>`, `<a v="1" w="}">`},
		{"an expression inside of an expression", `<a v="${1 + ${2}}"/>`, `<a v="3">`},
		{"parentheses inside of eval", `<xacro:arg name="n" default="3"/><a v="$(eval arg('n') + max(1, 2))"/>`, `<a v="5">`},
		{"eval of paths", `<a v="$(eval dirname() + '/' + optenv('X', 'y'))"/>`, `<a v="/robots/y">`},
		{"attributes of a condition", `<a><xacro:if value="1"><xacro:attribute name="b" value="2"/></xacro:if></a>`, `<a b="2">`},
		{"attributes of a macro", `<xacro:macro name="m"><xacro:attribute name="b" value="2"/></xacro:macro><a><xacro:m/></a>`, `<a b="2">`},
		{"attributes that are numbers", `<a><xacro:attribute name="b" value="${2}"/></a>`, `<a b="2">`},
		{"dollars that introduce nothing", `<a v="$$ $$x $"/>`, `<a v="$$ $$x $">`},
		{"dirname", `<a v="$(dirname)"/>`, `<a v="/robots">`},
		{"cwd", `<a v="$(cwd)"/>`, `<a v="/">`},
		{"dirname is where it is written", `<xacro:include filename="../lib/m.xacro"/><xacro:where/>`, `<w v="/lib">`},
		{"package:// in an include", `<xacro:include filename="package://p/m.xacro"/>`, `<p>`},
		{"package:// of YAML", `<a v="${xacro.load_yaml('package://p/c.yaml').k}"/>`, `<a v="v">`},
		{"file:// in an include", `<xacro:include filename="file:///packages/p/m.xacro"/>`, `<p>`},
		{"functions of python", `<a v="${abs(-1) + sum([1, 2])}"/>`, `<a v="4">`},
		{"dotted access to every dict", `<a v="${dict(a=1).a}"/>`, `<a v="1">`},
		{"keys that are methods in Python", `<a v="${dict(copy=1).copy}"/>`, `<a v="1">`},
		{"defaults with spaces inside of braces", `<xacro:macro name="m" params="a:=${1 + 1}x b:=2"><a v="${a}${b}"/></xacro:macro><xacro:m/>`, `<a v="2x2">`},
		{"default that cannot be evaluated, of a parameter that is given", `<xacro:macro name="m" params="a:=${nothing}"><a v="${a}"/></xacro:macro><xacro:m a="1"/>`, `<a v="1">`},
		{"removing what is not there", `<xacro:property name="a" remove="true"/><b/>`, `<b>`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := expandText(t, Config{}, robot(tc.line), "lib/m.xacro", robot(`<xacro:macro name="where"><w v="$(dirname)"/></xacro:macro>`),
				"packages/p/m.xacro", robot(`<p/>`), "packages/p/c.yaml", "k: v\n")
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestEnvironmentIsGiven: the process's own environment is never read.
func TestEnvironmentIsGiven(t *testing.T) {
	t.Setenv("POISE_TEST_VARIABLE", "leaked")
	line := robot(`<a v="$(optenv POISE_TEST_VARIABLE none)" w="$(optenv OTHER)"/>`)
	if got := expandText(t, Config{}, line); got != `<a v="none" w="">` {
		t.Errorf("got %s", got)
	}
	c := Config{Env: map[string]string{"POISE_TEST_VARIABLE": "given"}}
	if got := expandText(t, c, line); got != `<a v="given" w="">` {
		t.Errorf("got %s", got)
	}
}

// TestPlaces: every node and attribute says where it was written.
func TestPlaces(t *testing.T) {
	files := inMemory(
		"main.xacro", robot(`<xacro:include filename="lib.xacro"/>`, `<a`, ` v="1"/>`, `<xacro:m><o/></xacro:m>`),
		"lib.xacro", robot(`<xacro:macro name="m" params="*o">`, `<b`, `  v="${1}"/>`, `<xacro:insert_block name="o"/> text</xacro:macro>`),
	)
	r, err := Expand("main.xacro", Config{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range r.Root.Children {
		got = append(got, fmt.Sprintf("%s%s %s", n.Name, strings.TrimSpace(n.Text), n.Pos))
		for _, a := range n.Attrs {
			got = append(got, fmt.Sprintf("@%s %s", a.Name, a.Pos))
		}
	}
	want := "a main.xacro:3, @v main.xacro:4, b lib.xacro:3, @v lib.xacro:4, o main.xacro:5, text lib.xacro:5"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("places are %s\nwant %s", s, want)
	}
	if want := []string{"main.xacro", "lib.xacro"}; !reflect.DeepEqual(r.Files, want) {
		t.Errorf("files read are %v, want %v", r.Files, want)
	}
}

// TestExpansionIsDeterministic: the same input gives the same bytes, and leaves
// no trace in what it was given.
func TestExpansionIsDeterministic(t *testing.T) {
	for _, tc := range testCases(t) {
		var first []byte
		args := map[string]string{"unused": "1"}
		for k, v := range tc.Args {
			args[k] = v
		}
		for range 3 {
			r, err := Expand("/cases/"+tc.File, Config{Files: testFiles(), Args: args, Env: tc.Env})
			if err != nil {
				t.Fatal(err)
			}
			text := xmltree.Print(r.Root)
			if first == nil {
				first = text
			}
			if !bytes.Equal(text, first) || len(args) != len(tc.Args)+1 {
				t.Fatalf("%s: a second run differs", tc.Name)
			}
		}
	}
}

// TestExpandedIsFixed: an expanded document has nothing left to expand.
func TestExpandedIsFixed(t *testing.T) {
	for _, tc := range testCases(t) {
		r, err := Expand("/cases/"+tc.File, Config{Files: testFiles(), Args: tc.Args, Env: tc.Env})
		if err != nil {
			t.Fatal(err)
		}
		text := xmltree.Print(r.Root)
		if bytes.Contains(text, []byte("$")) {
			continue // an escape that was resolved reads as an expression
		}
		again, err := Expand("/again.urdf", Config{Files: inMemory("again.urdf", string(text))})
		if err != nil {
			t.Fatalf("%s: %v", tc.Name, err)
		}
		if d := difference(canonical(again.Root), canonical(r.Root)); d != "" {
			t.Errorf("%s: expanded again: %s", tc.Name, d)
		}
	}
}

func TestNeeded(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		want       bool
	}{
		{"robot.xacro", "", true},
		{"robot.urdf.xacro", "<robot/>", true},
		{"robot.urdf", "<robot name='r'/>", false},
		{"robot.urdf", "<robot xmlns:xacro='http://www.ros.org/wiki/xacro'/>", true},
		{"robot", "<robot/>", false},
	} {
		if got := Needed(tc.name, []byte(tc.data)); got != tc.want {
			t.Errorf("Needed(%s, %s) = %t", tc.name, tc.data, got)
		}
	}
}

func TestParseArgs(t *testing.T) {
	got, err := ParseArgs([]string{"a:=1", "b:=two words", "c:=", " d := x=y "})
	want := map[string]string{"a": "1", "b": "two words", "c": "", "d": "x=y"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("arguments are %v, %v, want %v", got, err, want)
	}
	_, err = ParseArgs([]string{"a", ":=1", "a:=1", "a:=2", "b:=1:=2", "two words:=3"})
	for _, want := range []string{`"a" is not`, `":=1" is not`, `"a" is given twice`, `"b:=1:=2" has more`, `"two words:=3" is not`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %s", err, want)
		}
	}
}

// TestHostileInput holds documents that would run for ages or fill memory. Each
// is refused with a word about the bound; the test's own time is the proof.
func TestHostileInput(t *testing.T) {
	nest := func(n int, open, end string) string {
		return strings.Repeat(open, n) + strings.Repeat(end, n)
	}
	var doubling strings.Builder
	for i := range 100 {
		fmt.Fprintf(&doubling, `<xacro:property name="p%d" value="${[p%d, p%d]}"/>`, i+1, i, i)
	}
	var texts strings.Builder
	for i := range 100 {
		fmt.Fprintf(&texts, `<xacro:property name="p%d" value="${p%d}${p%d}"/>`, i+1, i, i)
	}
	var levels strings.Builder
	for i := range 30 {
		fmt.Fprintf(&levels, `<xacro:macro name="m%d"><xacro:m%d/><xacro:m%d/></xacro:macro>`, i+1, i, i)
	}
	var chain strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&chain, `<xacro:property name="p%d" value="${p%d}"/>`, i, i+1)
	}
	for _, tc := range []struct{ name, doc, want string }{
		{"macro that calls itself", `<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>`, "nest deeper"},
		{"macro that calls itself twice", `<xacro:macro name="m"><xacro:m/><xacro:m/></xacro:macro><xacro:m/>`, "nest deeper"},
		{"macros that call each other", `<xacro:macro name="m"><xacro:n/></xacro:macro><xacro:macro name="n"><xacro:m/></xacro:macro><xacro:m/>`, "nest deeper"},
		{"doubling macros without output", `<xacro:macro name="m0"/>` + levels.String() + `<xacro:m30/>`, "too many steps"},
		{"doubling macros with output", `<xacro:macro name="m0">` + strings.Repeat("<a/>", 20) + `</xacro:macro>` + levels.String() + `<xacro:m30/>`, "more than 500000"},
		{"doubling macros with text", `<xacro:macro name="m0"><a v="${'x' * 1000}"/></xacro:macro>` + levels.String() + `<xacro:m30/>`, "too many steps"},
		{"text that grows at one place", `<xacro:macro name="m0">${'x' * 1000}</xacro:macro>` + levels.String() + `<xacro:m30/>`, "too many steps"},
		{"attributes that grow", `<xacro:macro name="m" params="n"><xacro:if value="${n}"><xacro:attribute name="a${n}" value="1"/><xacro:m n="${n-1}"/></xacro:if></xacro:macro><a><xacro:m n="10000"/></a>`, "nest deeper"},
		{"elements that nest by a macro", `<xacro:macro name="m" params="n"><a><xacro:if value="${n}"><xacro:m n="${n-1}"/></xacro:if></a></xacro:macro><xacro:m n="500"/>`, "deeper than 256"},
		{"blocks that double", `<xacro:macro name="m" params="n *b"><xacro:if value="${n}"><xacro:m n="${n-1}"><c><xacro:insert_block name="b"/><xacro:insert_block name="b"/></c></xacro:m></xacro:if></xacro:macro><xacro:m n="60"><a/></xacro:m>`, "more than 500000"},
		{"file that includes itself", `<xacro:include filename="main.xacro"/>`, "includes itself without end"},
		{"file that includes itself twice", `<xacro:include filename="main.xacro"/><xacro:include filename="./main.xacro"/>`, "includes itself without end"},
		{"files that include each other", `<xacro:include filename="other.xacro"/>`, "includes itself without end"},
		{"files that include each other by patterns", `<xacro:include filename="*.xacro"/>`, "includes itself without end"},
		{"property that needs itself", `<xacro:property name="a" value="${a}"/><b v="${a}"/>`, "defined by itself"},
		{"long chain of properties", chain.String() + `<a v="${p0}"/>`, "deeper than"},
		{"property that doubles a list", `<xacro:property name="p0" value="${[1]}"/>` + doubling.String() + `<a v="${p100}"/>`, "nest deeper"},
		{"property that doubles a text", `<xacro:property name="p0" value="${'xxxxxxxx'}"/>` + texts.String() + `<a v="${p100}"/>`, "longer than"},
		{"power", `<a v="${10**10**10}"/>`, "bits"},
		{"repetition", `<a v="${'a'*10**9}"/>`, "longer than"},
		{"endless work", `<xacro:macro name="m" params="n"><a v="${sum(range(60000))}"/><xacro:if value="${n}"><xacro:m n="${n-1}"/></xacro:if></xacro:macro><xacro:m n="1000"/>`, "too many steps"},
		{"endless trigonometry", `<a v="${[sin(x) for x in range(60000)]}"/>` + `<a v="${[sin(x+1) for x in range(60000)]}"/>`, "too many steps"},
		{"expressions within expressions", `<a v="` + nest(3_100, "${", "}") + `"/>`, "deeper"},
		{"open expressions", `<a v="` + strings.Repeat("${", 100_000) + `"/>`, "without its end"},
		{"comments with braces", `<a v="` + strings.Repeat("${1#{}", 100_000) + `"/>`, "too many steps"},
		{"elements within elements", nest(300, "<a>", "</a>"), "nest deeper than 256"},
		{"entity", `<a>&lol;</a>`, "entity"},
		{"YAML that doubles", `<a v="${xacro.load_yaml('bomb.yaml')}"/>`, "too many steps"},
		{"YAML that contains itself", `<a v="${xacro.load_yaml('cycle.yaml')}"/>`, "contain"},
		{"YAML that merges itself", `<a v="${xacro.load_yaml('merge.yaml')}"/>`, "contain"},
		{"YAML that nests", `<a v="${xacro.load_yaml('deep.yaml')}"/>`, "nests deeper"},
		{"a mistake met again and again", `<xacro:macro name="m0"><a v="${wrong}"/></xacro:macro>` + levels.String() + `<xacro:m30/>`, "undefined name"},
		{"large YAML", `<a v="${xacro.load_yaml('large.yaml')}"/>`, "more than 1048576 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
			for i := range 12 {
				bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
			}
			files := inMemory("main.xacro", robot(tc.doc), "other.xacro", robot(`<xacro:include filename="main.xacro"/>`),
				"bomb.yaml", bomb, "cycle.yaml", "a: &a [*a]\n", "merge.yaml", "a: &a\n  b: 1\n  <<: *a\n",
				"deep.yaml", strings.Repeat("[", 5000)+strings.Repeat("]", 5000), "large.yaml", strings.Repeat("- 1\n", 1<<19))
			// a fifth of the default, which takes two seconds at most
			limits := Limits{Steps: 2_000_000}
			if testing.Short() {
				limits, tc.want = Limits{Steps: 50_000, Nodes: 10_000}, "" // another bound may come first
			}
			_, err := Expand("main.xacro", Config{Files: files, Limits: limits})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %.300v, want one about %q", err, tc.want)
			}
		})
	}
}

// TestManyErrorsEnd: a file that is all wrong does not report without end.
func TestManyErrorsEnd(t *testing.T) {
	var doc strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&doc, "<a v=\"${wrong%d}\"/>\n", i)
	}
	_, err := Expand("main.xacro", Config{Files: inMemory("main.xacro", robot(doc.String()))})
	if n := len(listErrors(err)); n != maxErrors {
		t.Errorf("%d errors are reported, want %d", n, maxErrors)
	}
}

// TestRecursionThatEnds: loops are written as recursion, and a long one is no bomb.
func TestRecursionThatEnds(t *testing.T) {
	doc := robot(`<xacro:macro name="chain" params="n"><link name="l${n}"/><xacro:if value="${n}"><xacro:chain n="${n-1}"/></xacro:if></xacro:macro><xacro:chain n="1200"/>`)
	r, err := Expand("main.xacro", Config{Files: inMemory("main.xacro", doc)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Root.Children); n != 1201 {
		t.Errorf("%d links, want 1201", n)
	}
}

// FuzzExpand: no panic, no hang, and an error or a document that prints and
// reads back. The first file may include the second and read it as YAML.
func FuzzExpand(f *testing.F) {
	library, err := os.ReadFile("testdata/cases/lib/space.xacro")
	if err != nil {
		f.Fatal(err)
	}
	yaml, err := os.ReadFile("testdata/cases/lib/config.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, tc := range testCases(f) {
		text, err := os.ReadFile("testdata/cases/" + tc.File)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), string(library))
	}
	f.Add(robot(`<xacro:include filename="lib/space.xacro" ns="l"/><a v="${l.size}"/>`), string(library))
	f.Add(robot(`<a v="${xacro.load_yaml('lib/space.xacro')}"/>`), string(yaml))
	f.Fuzz(func(t *testing.T, main, second string) {
		fsys := fstest.MapFS{"main.xacro": {Data: []byte(main)}}
		for _, name := range []string{"lib/space.xacro", "lib/config.yaml", "lib/materials.xacro", "packages/p/a.xacro"} {
			fsys[name] = &fstest.MapFile{Data: []byte(second)}
		}
		c := Config{
			Files:  locate.Files{FS: fsys, Packages: []string{"/packages"}},
			Limits: Limits{Steps: 50_000, Nodes: 5_000, Bytes: 1 << 20},
		}
		r, err := Expand("main.xacro", c)
		if err != nil {
			if len(listErrors(err)) == 0 {
				t.Fatalf("error %v has no place", err)
			}
			return
		}
		if _, err := xmltree.Parse(xmltree.Print(r.Root), "printed", xmltree.Limits{}); err != nil {
			t.Fatalf("the expanded document does not read back: %v", err)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	files := testFiles()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Expand("/cases/realistic_leg.xacro", Config{Files: files}); err != nil {
			b.Fatal(err)
		}
	}
}
