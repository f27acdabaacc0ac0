package xacro

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"poise/problem"
	"poise/urdf/locate"
)

// robot puts lines into a document; the first of them is line 2.
func robot(lines ...string) string {
	return "<robot name=\"r\" xmlns:xacro=\"http://www.ros.org/wiki/xacro\">\n" + strings.Join(lines, "\n") + "\n</robot>\n"
}

// inMemory makes files out of pairs of name and contents.
func inMemory(pairs ...string) locate.Files {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return locate.Files{FS: m, Packages: []string{"/packages"}}
}

// listErrors takes a joined error apart.
func listErrors(err error) []*problem.Problem {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*problem.Problem
		for _, e := range joined.Unwrap() {
			all = append(all, listErrors(e)...)
		}
		return all
	}
	var e *problem.Problem
	if errors.As(err, &e) {
		return []*problem.Problem{e}
	}
	return nil
}

// TestMistakes: each is reported with file, line, offending text and reason.
func TestMistakes(t *testing.T) {
	library := robot(
		`<xacro:macro name="leg" params="name side:=left *origin">`,
		`  <link name="${name}_${sde}"/>`,
		`</xacro:macro>`,
		`<xacro:property name="late" value="${1/zero}"/>`,
	)
	for _, tc := range []struct {
		name, line string // a line of main.xacro, its line 2
		pos        string
		text, msg  string
	}{
		{"undefined property", `<a v="${foo + 1}"/>`, "main.xacro:2", "${foo + 1}", `undefined name: "foo"`},
		{"undefined property in text", "<a>one\n two ${foo}</a>", "main.xacro:3", "${foo}", "undefined name"},
		{"place of an attribute", "<a x='1'\n   y='2'\n   v=\"${foo}\"/>", "main.xacro:4", "${foo}", "undefined name"},
		{"syntax", `<a v="${1 +}"/>`, "main.xacro:2", "${1 +}", "ends too early"},
		{"empty expression", `<a v="${}"/>`, "main.xacro:2", "${}", "empty"},
		{"open expression", `<a v="x ${1 + 2"/>`, "main.xacro:2", "${1 + 2", "${ without its end"},
		{"open substitution", `<a v="$(arg x"/>`, "main.xacro:2", "$(arg x", "$( without its end"},
		{"types", `<a v="${'a' + 1}"/>`, "main.xacro:2", "${'a' + 1}", "str + int has no meaning"},
		{"function not called", `<a v="${sin}"/>`, "main.xacro:2", "${sin}", "function sin has no text"},
		{"character that XML has not", `<a v="${'\x00'}"/>`, "main.xacro:2", `${'\x00'}`, "character that XML does not allow"},

		{"undefined argument", `<a v="$(arg foo)"/>`, "main.xacro:2", "$(arg foo)", "undefined argument foo"},
		{"unknown substitution", `<a v="$(foo bar)"/>`, "main.xacro:2", "$(foo bar)", "unknown substitution"},
		{"misspelt substitution", `<a v="$(fnd bar)"/>`, "main.xacro:2", "$(fnd bar)", `did you mean "find"?`},
		{"empty substitution", `<a v="$()"/>`, "main.xacro:2", "$()", "empty substitution"},
		{"substitution without its word", `<a v="$(find)"/>`, "main.xacro:2", "$(find)", "0 words"},
		{"environment that is not given", `<a v="$(env HOME)"/>`, "main.xacro:2", "$(env HOME)", "not given"},
		{"eval", `<a v="$(eval foo)"/>`, "main.xacro:2", "$(eval foo)", "undefined name"},
		{"unknown package", `<a v="$(find foo)"/>`, "main.xacro:2", "$(find foo)", `package "foo" is in none`},
		{"package that climbs", `<a v="$(find ..)"/>`, "main.xacro:2", "$(find ..)", "not the name of a package"},

		{"unknown macro", `<xacro:foo/>`, "main.xacro:2", "<xacro:foo>", "unknown macro; known are [leg]"},
		{"unknown macro of a name space", `<xacro:lib.foo/>`, "main.xacro:2", "<xacro:lib.foo>", "unknown macro"},
		{"unknown parameter", `<xacro:leg nam="a" name="b"><o/></xacro:leg>`, "main.xacro:2", "nam", "macro leg has no parameter of that name; it has [name side *origin]"},
		{"missing parameter", `<xacro:leg><o/></xacro:leg>`, "main.xacro:2", "<xacro:leg>", "macro leg is not given name"},
		{"missing block", `<xacro:leg name="a"/>`, "main.xacro:2", "<xacro:leg>", "needs an element for its block *origin"},
		{"one block too many", "<xacro:leg name='a'><o/>\n<p/></xacro:leg>", "main.xacro:3", "<p>", "no block parameter for this element"},
		{"property to forward", `<xacro:macro name="m" params="q:=^"><a/></xacro:macro><xacro:m/>`, "main.xacro:2", "<xacro:m>", "not given q"},
		{"mistake inside of a macro", `<xacro:leg name="a"><o/></xacro:leg>`, "lib.xacro:3", "${sde}", "undefined name"},
		{"mistake in a default", `<xacro:macro name="m" params="q:=${foo}"><a/></xacro:macro><xacro:m/>`, "main.xacro:2", "${foo}", "undefined name"},
		{"mistake in a parameter", `<xacro:leg name="${foo}"><o/></xacro:leg>`, "main.xacro:2", "${foo}", "undefined name"},
		{"macro without a name", `<xacro:macro params="a"/>`, "main.xacro:2", "<xacro:macro>", "attribute name is missing"},
		{"macro with the name call", `<xacro:macro name="call"/>`, "main.xacro:2", "call", "cannot have the name call"},
		{"macro with a point", `<xacro:macro name="a.b"/>`, "main.xacro:2", "a.b", "separates name spaces"},
		{"parameters", `<xacro:macro name="m" params="a:='b"/>`, "main.xacro:2", "a:='b", "quote without its end"},
		{"block with a default", `<xacro:macro name="m" params="*a:=b"/>`, "main.xacro:2", "*a:=b", "cannot have a default"},
		{"call of nothing", `<xacro:call/>`, "main.xacro:2", "<xacro:call>", "attribute macro is missing"},
		{"call of an unknown macro", `<xacro:call macro="${'foo'}"/>`, "main.xacro:2", "<xacro:foo>", "unknown macro"},

		{"property that needs itself", `<xacro:property name="p" value="${q}"/><xacro:property name="q" value="${p+1}"/><a v="${p}"/>`, "main.xacro:2", "p", "defined by itself"},
		{"property evaluated late", `<xacro:property name="zero" value="0"/><a v="${late}"/>`, "lib.xacro:5", "${1/zero}", "division by zero"},
		{"property without a name", `<xacro:property value="1"/>`, "main.xacro:2", "<xacro:property>", "attribute name is missing"},
		{"property with a strange name", `<xacro:property name="a-b" value="1"/>`, "main.xacro:2", "a-b", "not an identifier"},
		{"property named as a keyword", `<xacro:property name="in" value="1"/>`, "main.xacro:2", "in", "not an identifier"},
		{"hidden property", `<xacro:property name="__a" value="1"/>`, "main.xacro:2", "__a", "two underscores"},
		{"value and default", `<xacro:property name="a" value="1" default="2"/>`, "main.xacro:2", "a", "more than one of value, default and remove"},
		{"scope", `<xacro:property name="a" value="1" scope="outer"/>`, "main.xacro:2", "outer", "neither parent nor global"},
		{"parent of the outermost scope", `<xacro:property name="a" value="1" scope="parent"/>`, "main.xacro:2", "parent", "no scope around"},
		{"lazy_eval", `<xacro:property name="a" value="1" lazy_eval="maybe"/>`, "main.xacro:2", "maybe", "neither true nor false"},
		{"undefined block", `<xacro:insert_block name="b"/>`, "main.xacro:2", "b", "undefined block"},

		{"condition", `<xacro:if value="maybe"><a/></xacro:if>`, "main.xacro:2", "maybe", `"maybe" is neither true nor false`},
		{"condition that is a fraction", `<xacro:if value="1.0"><a/></xacro:if>`, "main.xacro:2", "1.0", "neither true nor false"},
		{"condition without a value", `<xacro:unless><a/></xacro:unless>`, "main.xacro:2", "<xacro:unless>", "attribute value is missing"},
		{"argument without a default", `<xacro:arg name="a"/>`, "main.xacro:2", "<xacro:arg>", "attribute default is missing"},
		{"element without a name", `<xacro:element/>`, "main.xacro:2", "<xacro:element>", "xacro:name is missing"},
		{"element with a bad name", `<xacro:element xacro:name="${1}"/>`, "main.xacro:2", "1", "not a name for an element"},
		{"attribute with a bad name", `<xacro:attribute name="a b" value=""/>`, "main.xacro:2", "a b", "not a name for an attribute"},
		{"attribute that declares", `<xacro:attribute name="xmlns:a" value="b"/>`, "main.xacro:2", "xmlns:a", "not a name for an attribute"},

		{"missing include", `<xacro:include filename="none.xacro"/>`, "main.xacro:2", "none.xacro", "does not exist"},
		{"include without a name", `<xacro:include/>`, "main.xacro:2", "<xacro:include>", "attribute filename is missing"},
		{"include of a folder", `<xacro:include filename="packages"/>`, "main.xacro:2", "packages", "not a regular file"},
		{"include that is not XML", `<xacro:include filename="broken.xacro"/>`, "broken.xacro:2", "</b>", "end tag"},
		{"mistake in an include", `<xacro:include filename="bad.xacro"/>`, "bad.xacro:2", "${foo}", "undefined name"},
		{"include from an unknown package", `<xacro:include filename="package://foo/a.xacro"/>`, "main.xacro:2", "package://foo/a.xacro", `package "foo"`},

		{"missing YAML", `<a v="${xacro.load_yaml('none.yaml')}"/>`, "main.xacro:2", "${xacro.load_yaml('none.yaml')}", "does not exist: none.yaml"},
		{"broken YAML", `<a v="${xacro.load_yaml('broken.yaml')}"/>`, "broken.yaml:2", "", "yaml"},
		{"unknown tag of YAML", `<a v="${xacro.load_yaml('tag.yaml')}"/>`, "tag.yaml:2", "!!python/object:os.system", "unknown tag"},
		{"bad unit of YAML", `<a v="${xacro.load_yaml('unit.yaml')}"/>`, "unit.yaml:1", "90 +", "ends too early"},
		{"missing key of YAML", `<a v="${xacro.load_yaml('good.yaml').b}"/>`, "main.xacro:2", "${xacro.load_yaml('good.yaml').b}", "no key 'b'"},
		{"fatal", `<a v="${xacro.fatal('no', 1)}"/>`, "main.xacro:2", "${xacro.fatal('no', 1)}", "no 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := inMemory(
				"main.xacro", robot(tc.line, `<xacro:include filename="lib.xacro"/>`), "lib.xacro", library,
				"bad.xacro", robot(`<a v="${foo}"/>`), "broken.xacro", "<a>\n</b>", "packages/p/a.xacro", robot(),
				"broken.yaml", "a: 1\nb: [\n", "tag.yaml", "a: 1\nb: !!python/object:os.system {}\n",
				"unit.yaml", "a: !degrees 90 +\n", "good.yaml", "a: 1\n",
			)
			if strings.Contains(tc.line, "leg") || strings.Contains(tc.line, "late") || strings.Contains(tc.line, "xacro:foo") || strings.Contains(tc.line, "lib.") {
				// the library first
				main := robot(`<xacro:include filename="lib.xacro"/>`)
				main = strings.Replace(main, ">\n", ">", 1)
				main = strings.Replace(main, "\n</robot>", "\n"+tc.line+"</robot>", 1)
				files.FS.(fstest.MapFS)["main.xacro"].Data = []byte(main)
			}
			_, err := Expand("main.xacro", Config{Files: files})
			for _, e := range listErrors(err) {
				if e.Pos.String() == tc.pos && e.Excerpt == tc.text && strings.Contains(e.Text, tc.msg) {
					return
				}
			}
			t.Errorf("error is\n%v\nwant %s: %s: %q", err, tc.pos, tc.msg, tc.text)
		})
	}
}

// TestAllMistakesAtOnce: one run tells everything that is wrong, each once.
func TestAllMistakesAtOnce(t *testing.T) {
	files := inMemory("main.xacro", robot(
		`<a v="${one}" w="${1/0}"/>`,                       // 2
		`<xacro:unknown/>`,                                 // 3
		`<xacro:macro name="m" params="p"><b v="${two}"/>`, // 4
		`</xacro:macro>`,                                   // 5
		`<xacro:m p="1"/><xacro:m p="2"/><xacro:m q="3"/>`, // 6
		`<xacro:property name="late" value="${three}"/>`,   // 7
		`<c v="${late}"/><c v="${late}"/>`,                 // 8
		`<xacro:include filename="none.xacro"/>`,           // 9
		`<xacro:if value="perhaps"/>`,                      // 10
		`<xacro:include filename="lib.xacro"/>`,            // 11
		`text $(arg four)<xacro:include filename="broken.xacro"/><xacro:include filename="broken.xacro"/>`, // 12
	), "lib.xacro", robot(`<d v="${five}"/>`), "broken.xacro", "<a>\n</b>")
	_, err := Expand("main.xacro", Config{Files: files})
	var got []string
	for _, e := range listErrors(err) {
		got = append(got, fmt.Sprintf("%s %s", e.Pos, e.Excerpt))
	}
	want := []string{
		"main.xacro:2 ${one}", "main.xacro:2 ${1/0}", "main.xacro:3 <xacro:unknown>", "main.xacro:4 ${two}",
		"main.xacro:6 q", "main.xacro:6 <xacro:m>", "main.xacro:7 ${three}", "main.xacro:9 none.xacro",
		"main.xacro:10 perhaps", "lib.xacro:2 ${five}", "main.xacro:12 $(arg four)", "broken.xacro:2 </b>",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("mistakes are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestErrorsTellMacrosAndIncludes: an error has its place, and the macros and includes that lead there.
func TestErrorsTellMacrosAndIncludes(t *testing.T) {
	files := inMemory(
		"robots/main.xacro", robot(`<xacro:include filename="../lib/leg.xacro"/>`, `<xacro:leg/>`),
		"lib/leg.xacro", robot(`<xacro:property name="mass" value="${density * 2}"/>`, `<xacro:macro name="leg" params="">`, `<mass value="${mass}"/></xacro:macro>`),
	)
	_, err := Expand("robots/main.xacro", Config{Files: files})
	want := `lib/leg.xacro:2: undefined name: "density": "${density * 2}" (property mass of lib/leg.xacro:2, macro leg called at robots/main.xacro:3)`
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v\nwant\n%s", err, want)
	}
	var p *problem.Problem
	if !errors.As(err, &p) || p.Pos.Line != 2 {
		t.Errorf("%v is no problem with a place", err)
	}
}

func TestWarnings(t *testing.T) {
	files := inMemory("main.xacro", robot(
		`<xacro:property name="pi" value="3"/>`,
		`<xacro:property name="a" valeu="3" value="1"/>`,
		`<xacro:include filename="none_*.xacro"/>`,
		`<xacro:macro name="xacro:m"/>`,
		`<a v="${xacro.warning('look out')}"/>`,
	))
	r, err := Expand("main.xacro", Config{Files: files, Args: map[string]string{"typo": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range r.Warnings {
		got = append(got, w.Error())
	}
	want := []string{
		`main.xacro:2: property hides a built-in symbol: "pi"`,
		`main.xacro:3: unknown attribute of <xacro:property>: "valeu"; did you mean "value"?`,
		`main.xacro:4: no file matches: "none_*.xacro"`,
		`main.xacro:5: name of a macro needs no prefix: "xacro:m"`,
		`main.xacro:6: warning of the file: "look out"`,
		`main.xacro:1: argument is not used by the file: "typo"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
