package xmltree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"poise/internal/golden"
	"poise/problem"
)

func mustParse(t *testing.T, doc string) *Node {
	t.Helper()
	n, err := Parse([]byte(doc), "f", Limits{})
	if err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	return n
}

func TestEverythingHasItsLine(t *testing.T) {
	const doc = `<?xml version="1.0"
  encoding="utf-8"?>
<!-- two
lines -->
<robot name="r"
       version="1.0">
  <link
    name="a"/>
  <note>

    hello</note>
</robot>
`
	for _, ends := range []string{"\n", "\r\n", "\r"} {
		for _, mark := range []string{"", "\ufeff"} {
			root := mustParse(t, mark+strings.ReplaceAll(doc, "\n", ends))
			link, note := root.Children[0], root.Children[1]
			got := []int{
				root.Pos.Line, root.Attrs[0].Pos.Line, root.Attrs[1].Pos.Line,
				link.Pos.Line, link.Attrs[0].Pos.Line, note.Pos.Line, note.Children[0].Pos.Line,
			}
			if want := []int{5, 5, 6, 7, 8, 9, 11}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("line ends %q: lines %v, want %v", ends, got, want)
			}
			if text := note.Children[0].Text; text != "\n\n    hello" {
				t.Errorf("line ends %q: text %q", ends, text)
			}
		}
	}
}

func TestWhiteSpaceInAttributesIsNormalised(t *testing.T) {
	n := mustParse(t, "<a lit='1\t2\n3\r\n4' ref='1&#9;2&#xA;3&#13;4' mixed=' &lt;&gt;&amp;&apos;&quot; \"'/>")
	for name, want := range map[string]string{
		"lit": "1 2 3 4", "ref": "1\t2\n3\r4", "mixed": ` <>&'" "`,
	} {
		if got := n.Attr(name).Value; got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestTextIsMergedAndBlanksAreDropped(t *testing.T) {
	n := mustParse(t, "<a> <b/> x<!-- c --> y<![CDATA[<z>&]]><?pi?> <c> <!-- --> </c></a>")
	if len(n.Children) != 3 || n.Children[1].Text != " x y<z>& " || n.Children[2].Children != nil {
		t.Fatalf("%s", Print(n))
	}
}

func TestEncodings(t *testing.T) {
	const want = "Fuß"
	doc := func(declared, name string) []byte {
		return []byte("<?xml version='1.0' encoding='" + declared + "'?><a n='" + name + "'/>")
	}
	utf16Doc := func(big bool, text string) []byte {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			if big {
				b = append(b, byte(u>>8), byte(u))
			} else {
				b = append(b, byte(u), byte(u>>8))
			}
		}
		return b
	}
	for name, data := range map[string][]byte{
		"utf-8":                doc("UTF-8", want),
		"utf-8 with mark":      append([]byte("\xef\xbb\xbf"), doc("utf-8", want)...),
		"latin-1":              doc("ISO-8859-1", "Fu\xdf"),
		"ascii with reference": doc("us-ascii", "Fu&#223;"),
		"utf-16 little endian": utf16Doc(false, "<?xml version='1.0' encoding='utf-16'?><a n='Fuß'/>"),
		"utf-16 big endian":    utf16Doc(true, "<a n='Fuß'/>"),
	} {
		n, err := Parse(data, "f", Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := n.Value("n"); got != want {
			t.Errorf("%s: read %q", name, got)
		}
	}
	for name, data := range map[string][]byte{
		"bytes beyond ascii":     doc("us-ascii", "Fuß"),
		"utf-8 that is not":      doc("utf-8", "Fu\xdf"),
		"unknown encoding":       doc("koi8-r", "x"),
		"utf-16 without mark":    doc("utf-16", "x"),
		"mark contradicts":       append([]byte("\xef\xbb\xbf"), doc("latin-1", "x")...),
		"half a utf-16 unit":     utf16Doc(true, "<a/>")[:9],
		"half a surrogate pair":  []byte("\xfe\xff\x00<\x00a\x00/\x00>\xd8\x00"),
		"nul bytes":              []byte("<a n='\x00'/>"),
		"forbidden code point":   []byte("<a n='\uffff'/>"),
		"declaration unfinished": []byte("<?xml version='1.0'"),
		"declaration disordered": []byte("<?xml encoding='utf-8' version='1.0'?><a/>"),
		"declaration twice":      []byte("<?xml version='1.0'?><?xml version='1.0'?><a/>"),
		"declaration late":       []byte(" <?xml version='1.0'?><a/>"),
		"version of the future":  []byte("<?xml version='2.0'?><a/>"),
	} {
		if _, err := Parse(data, "f", Limits{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNameSpacesAreResolved(t *testing.T) {
	root := mustParse(t, `<r xmlns="D" xmlns:p="P" a="1" p:a="2"><p:x xmlns:p="Q" p:b="3"/><y xmlns=""/><p:z xml:lang="en"/></r>`)
	x, y, z := root.Children[0], root.Children[1], root.Children[2]
	got := []string{
		root.Space, root.Attrs[0].Space, root.Attrs[1].Space, root.Attrs[1].QName(),
		x.Space, x.QName(), x.Attrs[0].Space, y.Space, z.Space, z.Attrs[0].Space,
	}
	want := []string{"D", "", "P", "p:a", "Q", "p:x", "Q", "", "P", xmlSpace}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(root.Spaces) != 2 || root.Spaces[0].Name != "" || root.Spaces[1].Name != "p" || root.Spaces[1].Value != "P" {
		t.Errorf("declarations %+v", root.Spaces)
	}
	if root.Value("a") != "1" || root.Attr("lang") != nil {
		t.Error("Attr must look in no name space only")
	}
}

func TestOddButLegalNamesAreRead(t *testing.T) {
	for _, doc := range []string{"<ρομπότ/>", "<_a.b-c·1/>", "<a ß='x'/>", "<a\n/>", "<a></a\t>", "<a b = 'x' />", "<𐀀/>"} {
		mustParse(t, doc)
	}
}

// Each document is refused at that line with that text and a message holding those words.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		doc, text, words string
		line             int
	}{
		{"", "", "no element", 1},
		{"\n<!-- -->\n", "", "no element", 3},
		{"hello", "hello", "text before the root", 1},
		{"<a/>\n\nb", "b", "text after the end", 3},
		{"<a/>\n<b/>", "<b/>", "element after the end", 2},
		{"<a/><![CDATA[x]]>", "<![CDATA[x]]>", "text after the end", 1},
		{"<a/>\n</a>", "</a>", "without a start tag", 2},
		{"<a>\n<b>\n</a></b>", "</a>", "<b> of line 2", 3},
		{"<a>\n<b/>", "<a>", "element of line 1", 2},
		{"<a\nb='1'", "<a", "does not end", 2},
		{"<a\nb='1'\nb='2'/>", "b", "comes twice", 3},
		{"<a xmlns:p='U' xmlns:q='U'\np:b='' q:b=''/>", "q:b", "comes twice", 2},
		{"<a xmlns:p='U' xmlns:p='V'/>", "xmlns:p", "comes twice", 1},
		{"<a b='' c='' d='' e='' f='' g='' h='' i='' j=''\nb=''/>", "b", "comes twice", 2},
		{"<a b=1/>", "b=1/>", "without quotes", 1},
		{"<a b/>", "b/>", "without a value", 1},
		{"<a b='x'c='y'/>", "c='y'/>", "white space", 1},
		{"<a b='<'/>", "b='<'/>", "a quote may be missing", 1},
		{"<a b='x\n\n", "b='x", "does not end", 1},
		{"<a>\n]]></a>", "]]>", "CDATA", 2},
		{"<a>\n&nbsp;</a>", "&nbsp;", "predefined", 2},
		{"<a b='\n&#0;'/>", "&#0;", "predefined", 2},
		{"<a>&#xD800;</a>", "&#xD800;", "predefined", 1},
		{"<a>&#x110000;</a>", "&#x110000;", "predefined", 1},
		{"<a>&#+5;</a>", "&#+5;", "predefined", 1},
		{"<a>R&D</a>", "&D", "&amp;", 1},
		{"<a><!-- x -- y --></a>", "-- y --></a>", "inside a comment", 1},
		{"<a><!-- x", "<!-- x", "does not end", 1},
		{"<a><![CDATA[ x", "<![CDATA[ x", "does not end", 1},
		{"<a><?pi", "<?pi", "does not end", 1},
		{"<a><??></a>", "<??>", "malformed", 1},
		{"<a>\n<1/></a>", "<1/></a>", "malformed", 2},
		{"<a:b:c xmlns:a='U'/>", ":c xmlns:a='U'/>", "white space", 1},
		{"<:a/>", "<:a/>", "malformed", 1},
		{"<a>\n<p:b/></a>", "p:b", "without a declaration", 2},
		{"<a\np:b=''/>", "p:b", "without a declaration", 2},
		{"<a xmlns:p=''/>", `xmlns:p=""`, "forbids", 1},
		{"<a xmlns:xmlns='U'/>", `xmlns:xmlns="U"`, "forbids", 1},
		{"<a xmlns:xml='U'/>", `xmlns:xml="U"`, "forbids", 1},
		{"<!DOCTYPE a>\n<a/>", "<!DOCTYPE a>", "document types", 1},
		{"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "document types", 1},
		{"<a>\n\x01</a>", "\x01</a>", "control character", 2},
	} {
		n, err := Parse([]byte(c.doc), "f", Limits{})
		var e *problem.Problem
		if n != nil || !errors.As(err, &e) {
			t.Errorf("%q: not refused (%v)", c.doc, err)
			continue
		}
		if e.Pos != (problem.Pos{File: "f", Line: c.line}) || e.Excerpt != c.text || !strings.Contains(e.Text, c.words) {
			t.Errorf("%q:\n got %v\nwant line %d, text %q, words %q", c.doc, err, c.line, c.text, c.words)
		}
	}
}

func TestMistakesThatLeaveTheStructureClearAreReportedTogether(t *testing.T) {
	_, err := Parse([]byte("<a b='&x;' b=''>\n<p:c/>\n<d e='&y;'/>\n</b>"), "f", Limits{})
	if err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("got %v", err)
	}
}

// repeat is a reader of s, n times over, that does not hold it in memory.
type repeat struct {
	s    string
	n    int
	rest string
}

func (r *repeat) Read(b []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.s
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// allocated returns how many bytes f takes from the heap, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Hostile documents cost no more, over time, than some times the largest
// document allowed.
func TestBombsAreRefusedInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); it reads 100 MB")
	}
	const budget = 16 * (16 << 20)
	laughs := "<!DOCTYPE l [<!ENTITY a 'ha'>"
	for i := range 10 {
		laughs += fmt.Sprintf("<!ENTITY %c '%s'>", 'b'+i, strings.Repeat(fmt.Sprintf("&%c;", 'a'+i), 10))
	}
	chunk := strings.Repeat("x", 1<<16)
	for name, c := range map[string]struct {
		r     io.Reader
		words string
	}{
		"billion laughs":         {strings.NewReader(laughs + "]><l>&k;</l>"), "document types"},
		"external entity":        {strings.NewReader("<!DOCTYPE l SYSTEM 'file:///etc/passwd'><l/>"), "document types"},
		"nested a million deep":  {&repeat{s: "<a>", n: 1_000_000}, "nest deeper than 256"},
		"attribute of 100 MB":    {io.MultiReader(strings.NewReader("<a b='"), &repeat{s: chunk, n: 1600}), "larger than 16777216"},
		"attribute never ends":   {io.MultiReader(strings.NewReader("<a b='"), &repeat{s: chunk, n: 255}), "does not end"},
		"four million elements":  {io.MultiReader(strings.NewReader("<a>"), &repeat{s: "<b/>", n: 4_000_000}), "more than 250000"},
		"a million attributes":   {io.MultiReader(strings.NewReader("<a"), &attributes{n: 1_000_000}), "more than 1000 attributes"},
		"elements full of them":  {io.MultiReader(strings.NewReader("<a>"), &elements{n: 1000}), "more than 250000"},
		"texts between comments": {io.MultiReader(strings.NewReader("<a>"), &repeat{s: "x<!---->", n: 2_000_000}), "document ends"},
		"a million entities":     {io.MultiReader(strings.NewReader("<a>"), &repeat{s: "&x;", n: 1_000_000}), "predefined"},
		"a million mistakes":     {io.MultiReader(strings.NewReader("<a>"), &repeat{s: "<p:b/>", n: 1_000_000}), "without a declaration"},
		"name spaces all over":   {io.MultiReader(strings.NewReader("<a>"), &repeat{s: "<b xmlns:p='q'>", n: 250}, &repeat{s: "<p:c/>", n: 1_000_000}), "more than 250000"},
		"brackets":               {&repeat{s: "<", n: 10_000_000}, "malformed"},
	} {
		var err error
		used := allocated(func() { _, err = readFrom(c.r, "f", Limits{}) })
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v", name, err)
		} else if len(err.Error()) > 1<<16 {
			t.Errorf("%s: message of %d bytes", name, len(err.Error()))
		}
		if used > budget {
			t.Errorf("%s: took %d MB, more than %d MB", name, used>>20, budget>>20)
		}
	}
}

// attributes is a reader of different attributes.
type attributes struct{ i, n int }

func (r *attributes) Read(b []byte) (int, error) {
	if r.i == r.n {
		return 0, io.EOF
	}
	r.i++
	return copy(b, fmt.Sprintf(" a%d=''", r.i)), nil
}

// elements is a reader of elements with as many attributes as allowed, all
// different.
type elements struct {
	i, n int
	rest string
}

func (r *elements) Read(b []byte) (int, error) {
	if r.rest == "" {
		if r.i == r.n {
			return 0, io.EOF
		}
		r.i++
		var s strings.Builder
		s.WriteString("<b")
		for j := range maxAttrs {
			fmt.Fprintf(&s, " a%d.%d=''", r.i, j)
		}
		r.rest = s.String() + "/>"
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func TestLimitsCanBeSet(t *testing.T) {
	const doc = "<a b='c'><d>e</d></a>" // 21 bytes, 2 deep, 4 nodes
	if _, err := Parse([]byte(doc), "f", Limits{Bytes: 21, Depth: 2, Nodes: 4}); err != nil {
		t.Error(err)
	}
	for _, lim := range []Limits{{Bytes: 20}, {Depth: 1}, {Nodes: 3}} {
		if _, err := Parse([]byte(doc), "f", lim); err == nil {
			t.Errorf("%+v not kept", lim)
		}
	}
}

func TestEqualSeesEveryDifference(t *testing.T) {
	docs := []string{
		"<a/>", "<b/>", "<a b=''/>", "<a b='1'/>", "<a c='1'/>", "<a>x</a>", "<a>y</a>", "<a><x/></a>", "<a><x/><x/></a>",
		"<a xmlns='U'/>", "<a xmlns='V'/>", "<p:a xmlns:p='U'/>", "<a xmlns:p='U'/>", "<a xmlns:p='U' p:b='1'/>", "<a xmlns:p='U' b='1'/>",
	}
	for i := range docs {
		for j := range docs {
			if got := Equal(mustParse(t, docs[i]), mustParse(t, "\n"+docs[j])); got != (i == j) {
				t.Errorf("Equal(%s, %s) = %v", docs[i], docs[j], got)
			}
		}
	}
}

func TestRealRobotsReadBackAsPrinted(t *testing.T) {
	root := golden.Path(t, "robots")
	files := 0
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".urdf") && !strings.HasSuffix(path, ".srdf") {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		tree, err := Parse(data, filepath.Base(path), Limits{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if msg := disagreement(tree, data); msg != "" {
			t.Errorf("%s: %s", path, msg)
		}
		again, err := Parse(Print(tree), "printed", Limits{})
		if err != nil || !Equal(tree, again) {
			t.Errorf("%s: reads back differently (%v)", path, err)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// TestVerbatim: a reader that looks for meaning in text can tell that CDATA has none.
func TestVerbatim(t *testing.T) {
	for text, want := range map[string]bool{
		"<a>x</a>": false, "<a><![CDATA[x]]></a>": true, "<a>\n <![CDATA[x]]> \n</a>": true, "<a><![CDATA[x]]><![CDATA[y]]></a>": true,
		"<a>x<![CDATA[y]]></a>": false, "<a><![CDATA[x]]>y</a>": false, "<a><![CDATA[ ]]>y</a>": false, "<a><b><![CDATA[x]]></b>y</a>": false,
	} {
		n := mustParse(t, text)
		last := n.Children[len(n.Children)-1]
		if !last.IsText() || last.Verbatim != want {
			t.Errorf("%s: text %q, verbatim %t, want %t", text, last.Text, last.Verbatim, want)
		}
		if same := mustParse(t, string(Print(n))); !Equal(n, same) {
			t.Errorf("%s: printed and read it differs", text)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	n := mustParse(t, "<a xmlns:p='U' b='1'><c d='2'/>x</a>")
	c := n.Clone()
	if !Equal(n, c) {
		t.Fatal("clone differs")
	}
	c.Spaces[0].Value, c.Attrs[0].Value, c.Children[0].Attrs[0].Value, c.Children[1].Text = "?", "?", "?", "?"
	if !Equal(n, mustParse(t, "<a xmlns:p='U' b='1'><c d='2'/>x</a>")) {
		t.Error("the original has changed")
	}
}
