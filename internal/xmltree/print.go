package xmltree

import "strings"

// Print writes the tree as an XML document with declaration, such that Parse
// gives an Equal tree again. Elements are indented except beside text, where
// white space counts.
func Print(n *Node) []byte {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n")
	printNode(&b, n, "\n", true)
	b.WriteByte('\n')
	return []byte(b.String())
}

// printNode writes n; lead is the line break and indent of its line.
func printNode(b *strings.Builder, n *Node, lead string, indent bool) {
	if n.IsText() {
		textEscaper.WriteString(b, n.Text)
		return
	}
	b.WriteByte('<')
	b.WriteString(n.QName())
	for i := range n.Spaces {
		printAttr(b, declared(&n.Spaces[i]), n.Spaces[i].Value)
	}
	for i := range n.Attrs {
		printAttr(b, n.Attrs[i].QName(), n.Attrs[i].Value)
	}
	if len(n.Children) == 0 {
		b.WriteString("/>")
		return
	}
	b.WriteByte('>')
	for _, c := range n.Children {
		indent = indent && !c.IsText()
	}
	for _, c := range n.Children {
		if indent {
			b.WriteString(lead + "  ")
		}
		printNode(b, c, lead+"  ", indent)
	}
	if indent {
		b.WriteString(lead)
	}
	b.WriteString("</")
	b.WriteString(n.QName())
	b.WriteByte('>')
}

func printAttr(b *strings.Builder, name, value string) {
	b.WriteByte(' ')
	b.WriteString(name)
	b.WriteString(`="`)
	attrEscaper.WriteString(b, value)
	b.WriteByte('"')
}

// A carriage return is a line end unless escaped; so is every kind of white
// space in an attribute a mere space.
var (
	textEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	attrEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;",
		"\t", "&#9;", "\n", "&#10;", "\r", "&#13;")
)
