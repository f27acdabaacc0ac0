package xacro

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/internal/xmltree"
	"poise/urdf/locate"
)

const seed = 5

// writer makes documents at random that lean on the rules of scopes: what a
// macro sees, when a property is evaluated, where a block is.
type writer struct {
	*rand.Rand
	strings.Builder
	inMacro int
	params  map[string]string // of each macro, as last defined
}

func (w *writer) pick(s ...string) string { return s[w.IntN(len(s))] }

func (w *writer) expression() string {
	name := func() string { return w.pick("a", "b", "c", "d", "a", "b") }
	switch w.IntN(8) {
	case 0:
		return fmt.Sprint(w.IntN(10))
	case 1:
		return fmt.Sprintf("str(%s) + str(%s)", name(), name())
	case 2:
		return fmt.Sprintf("str(%s) + '%s'", name(), w.pick("x", "y"))
	case 3:
		return fmt.Sprintf("%s if %s == %s else %s", name(), name(), name(), name())
	case 4:
		return fmt.Sprintf("[%s, %s]", name(), name())
	case 5:
		return fmt.Sprintf("%s * 2", name())
	}
	return name()
}

func (w *writer) text() string {
	switch w.IntN(7) {
	case 0:
		return fmt.Sprint(w.IntN(100))
	case 1:
		return w.pick("word", "'5'", "true", "1.50", "two words", "")
	case 2:
		return fmt.Sprintf("${%s} and ${%s}", w.expression(), w.expression())
	case 3:
		return fmt.Sprintf("$${%s}", w.pick("a", "b"))
	}
	return fmt.Sprintf("${%s}", w.expression())
}

func (w *writer) attribute(name, v string) string {
	return fmt.Sprintf(` %s="%s"`, name, strings.ReplaceAll(v, "<", "&lt;"))
}

func (w *writer) statements(n, depth int) {
	for range n {
		w.statement(depth)
	}
}

func (w *writer) statement(depth int) {
	kind := w.IntN(12)
	if depth == 0 && kind > 5 {
		kind = w.IntN(6)
	}
	switch kind {
	case 0, 1:
		w.property()
	case 2, 3:
		fmt.Fprintf(w, "<out%s%s/>\n", w.attribute("v", w.text()), w.attribute("w", w.text()))
	case 4, 5:
		w.call()
	case 6:
		fmt.Fprintf(w, `<xacro:%s value="${%s == %d}">`+"\n", "if", w.pick("a", "b", "c"), w.IntN(4))
		w.statements(2, depth-1)
		w.WriteString("</xacro:if>\n")
	case 7:
		w.WriteString(`<xacro:unless value="${len(str(` + w.pick("a", "b") + `)) &gt; 1}">`)
		w.statements(2, depth-1)
		w.WriteString("</xacro:unless>\n")
	case 8, 9:
		w.macro(depth)
	case 10:
		fmt.Fprintf(w, "<group%s>\n", w.attribute("n", w.text()))
		w.statements(2, depth-1)
		w.WriteString("</group>\n")
	case 11:
		fmt.Fprintf(w, `<xacro:property name="blk">`)
		w.statements(1, 0)
		w.WriteString("</xacro:property><xacro:insert_block name=\"blk\"/>\n")
	}
}

func (w *writer) property() {
	more := w.pick("", "", "", ` lazy_eval="false"`)
	if w.inMacro > 0 {
		more = w.pick("", "", ` scope="parent"`, ` scope="global"`, ` lazy_eval="false"`)
	}
	kind := w.pick("value", "value", "value", "default")
	fmt.Fprintf(w, `<xacro:property name="%s"%s%s/>`+"\n", w.pick("a", "b", "c", "d"), w.attribute(kind, w.text()), more)
}

func (w *writer) macro(depth int) {
	params := ""
	for _, p := range []string{"a", "b:=${c}", "b:=^|7", "c:=^", "d:='two words'", "*one", "**many"} {
		if name := strings.Trim(strings.Split(p, ":")[0], "*"); w.IntN(3) == 0 && !strings.Contains(params, name) {
			params += p + " "
		}
	}
	name := w.pick("m", "n", "o")
	if w.inMacro > 0 {
		name = "local"
	}
	fmt.Fprintf(w, `<xacro:macro name="%s" params="%s">`+"\n", name, params)
	w.inMacro++
	w.statements(2, depth-1)
	for _, block := range []string{"one", "many"} {
		if strings.Contains(params, block) {
			fmt.Fprintf(w, `<xacro:insert_block name="%s"/>`+"\n", block)
		}
	}
	w.inMacro--
	w.WriteString("</xacro:macro>\n")
	w.params[name] = params
	if w.inMacro > 0 {
		w.callOf(name)
	}
}

// call calls what cannot call itself; once in a while with a mistake.
func (w *writer) call() {
	if w.inMacro > 0 {
		w.callOf(w.pick("leaf", "twig"))
		return
	}
	w.callOf(w.pick("leaf", "twig", "m", "n", "o", "lib.part"))
}

func (w *writer) callOf(name string) {
	fmt.Fprintf(w, "<xacro:%s", name)
	params := strings.Fields(w.params[name])
	blocks := 0
	for _, p := range params {
		switch key, _, optional := strings.Cut(p, ":"); {
		case strings.HasPrefix(p, "*"):
			blocks++
		case key == "words'": // the rest of a default
		case !optional || w.IntN(2) == 0:
			w.WriteString(w.attribute(key, w.text()))
		}
	}
	if w.IntN(30) == 0 {
		blocks++
	}
	w.WriteString(">\n")
	for range blocks {
		fmt.Fprintf(w, "<blk%s><x%s/></blk>\n", w.attribute("v", w.text()), w.attribute("w", w.text()))
	}
	fmt.Fprintf(w, "</xacro:%s>\n", name)
}

func (w *writer) document() string {
	w.Reset()
	w.params = map[string]string{"m": "a:=3", "n": "a:=^ b:=^|4 *one", "o": "**many", "leaf": "a:=3", "twig": "b:=^ **many", "lib.part": "a:=^ b:=${size}"}
	w.WriteString(`<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="a" value="1"/><xacro:property name="b" value="${a + 1}"/>
<xacro:property name="c" value="${b}"/><xacro:property name="d" value="text"/>
<xacro:include filename="lib.xacro" ns="lib"/>
<xacro:macro name="leaf" params="a:=3"><leaf a="${a}" b="${b}" c="${c}" d="${d}"/></xacro:macro>
<xacro:macro name="twig" params="b:=^ **many"><twig a="${a}" b="${b}"/><xacro:insert_block name="many"/><xacro:leaf/></xacro:macro>
<xacro:macro name="m" params="a:=3"><m a="${a}" b="${b}"/></xacro:macro>
<xacro:macro name="n" params="a:=^ b:=^|4 *one"><n a="${a}"/><xacro:insert_block name="one"/></xacro:macro>
<xacro:macro name="o" params="**many"><o c="${c}"/><xacro:insert_block name="many"/></xacro:macro>
`)
	w.statements(3+w.IntN(8), 3)
	w.WriteString("<last v=\"${lib.size}\"/></robot>\n")
	return w.String()
}

const randomLibrary = `<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="size" value="${a}"/><xacro:property name="d" value="changed" scope="parent"/>
<xacro:macro name="part" params="a:=^ b:=${size}"><part a="${a}" b="${b}" d="${d}"/></xacro:macro>
</robot>`

// TestRandomDocumentsEqualXacro: a document expands to the same tree, or fails,
// on both sides.
func TestRandomDocumentsEqualXacro(t *testing.T) {
	count := 150
	switch {
	case testing.Short():
		count = 30
	case os.Getenv("POISE_SOAK") != "":
		count = 5000
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cases"), 0o755); err != nil {
		t.Fatal(err)
	}
	save := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 0))}
	var cases []map[string]string
	documents := map[string]string{}
	for i := range count {
		name := fmt.Sprintf("random%d", i)
		documents[name] = w.document()
		save("cases/"+name+".xacro", documents[name])
		cases = append(cases, map[string]string{"name": name, "file": name + ".xacro"})
	}
	list, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	save("cases.json", string(list))
	save("cases/lib.xacro", randomLibrary)
	results := runXacro(t, dir, "--tolerant")

	files, failures := locate.Files{FS: os.DirFS(dir)}, 0
	for i := range count {
		name := fmt.Sprintf("random%d", i)
		want := results[name]
		r, err := Expand("/cases/"+name+".xacro", Config{Files: files})
		switch {
		case want == nil && err != nil:
			failures++
		case want == nil || err != nil:
			t.Errorf("seed %d, %d: error %v, ROS xacro fails: %t\n%s", seed, i, err, want == nil, documents[name])
		default:
			tree, err := xmltree.Parse([]byte(*want), name, xmltree.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if d := difference(canonical(r.Root), canonical(tree)); d != "" {
				t.Errorf("seed %d, %d: %s\n%s", seed, i, d, documents[name])
			}
		}
	}
	if failures > count*2/3 {
		t.Errorf("%d of %d documents fail: the generator proves little", failures, count)
	}
	t.Logf("%d of %d documents fail on both sides", failures, count)
}
