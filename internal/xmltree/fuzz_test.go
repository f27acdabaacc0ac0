package xmltree

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
)

// disagreement tells where encoding/xml reads a document differently: elements,
// name spaces and attributes, one after the other. Only well-formed documents
// in UTF-8 are comparable.
func disagreement(root *Node, data []byte) string {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	var want []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "encoding/xml refuses it: " + err.Error()
		}
		if e, ok := token.(xml.StartElement); ok {
			s := fmt.Sprintf("{%s}%s", e.Name.Space, e.Name.Local)
			for _, a := range e.Attr {
				if a.Name.Space == "xml" {
					a.Name.Space = xmlSpace
				}
				if a.Name.Local != "xmlns" && a.Name.Space != "xmlns" {
					s += fmt.Sprintf(" {%s}%s=%q", a.Name.Space, a.Name.Local, flat(a.Value))
				}
			}
			want = append(want, s)
		}
	}
	var got []string
	var walk func(n *Node)
	walk = func(n *Node) {
		s := fmt.Sprintf("{%s}%s", n.Space, n.Name)
		for _, a := range n.Attrs {
			s += fmt.Sprintf(" {%s}%s=%q", a.Space, a.Name, flat(a.Value))
		}
		got = append(got, s)
		for c := range n.Elements() {
			walk(c)
		}
	}
	walk(root)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("element %d of %d and %d differs:\n%q\n%q", i, len(got), len(want), got, want)
		}
	}
	return ""
}

// flat makes white space alike: encoding/xml does not normalise attributes.
func flat(s string) string {
	return strings.NewReplacer("\r\n", " ", "\t", " ", "\n", " ", "\r", " ").Replace(s)
}

// peerReads tells whether encoding/xml should agree about a document we accept:
// it knows fewer names and encodings, and takes some character references and
// processing instructions differently.
func peerReads(data []byte) bool {
	for _, c := range data {
		if c >= 0x80 {
			return false
		}
	}
	return !bytes.Contains(data, []byte("<?")) && !bytes.Contains(data, []byte("&#"))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"<a/>", "<a b='c' d=\"e\">f<g/>h<!-- i --><![CDATA[j]]></a>", "<?xml version='1.0' encoding='latin-1'?><a b='\xe9'/>",
		"<p:a xmlns:p='U' p:b='&lt;&#10;'><c xmlns='V'/></p:a>", "\xff\xfe<\x00a\x00/\x00>\x00", "<a>\r\n x &amp; y </a>",
		"<!DOCTYPE a><a/>", "<a><b></a></b>", "<a xml:lang='x'/>", "<a>]]&gt;</a>", "<a> <b/>&#13;</a>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data, "f", Limits{Nodes: 1000})
		if err != nil {
			return
		}
		printed := Print(n)
		again, err := Parse(printed, "f", Limits{})
		if err != nil || !Equal(n, again) {
			t.Fatalf("%q prints as %q and reads back differently (%v)", data, printed, err)
		}
		if peerReads(data) {
			if msg := disagreement(n, data); msg != "" {
				t.Fatalf("%q: %s", data, msg)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	doc := "<robot>" + strings.Repeat("<link name='a'>\n  <inertial><mass value='1'/></inertial>\n</link>\n", 2000) + "</robot>"
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse([]byte(doc), "f", Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
