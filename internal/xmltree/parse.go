package xmltree

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"poise/problem"
)

// Limits bound what Parse accepts; the zero value of a field means its default.
type Limits struct {
	Bytes int // size of the document; 16 MiB
	Depth int // nesting of elements; 256
	Nodes int // elements, attributes and pieces of text together; 250,000
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 16 << 20
	}
	if l.Depth == 0 {
		l.Depth = 256
	}
	if l.Nodes == 0 {
		l.Nodes = 250_000
	}
	return l
}

// The name spaces that XML itself binds.
const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
)

const (
	maxErrors = 100  // how many mistakes are collected from one document
	maxAttrs  = 1000 // of one element
)

// Parse reads a document and returns its root element. The file's name is only
// put into positions. The error joins one or more *problem.Problem.
func Parse(data []byte, file string, lim Limits) (*Node, error) {
	lim = lim.withDefaults()
	if len(data) > lim.Bytes {
		return nil, &problem.Problem{Pos: problem.Pos{File: file, Line: 1}, Text: fmt.Sprintf("document is larger than %d bytes", lim.Bytes)}
	}
	src, err := decode(data, file)
	if err != nil {
		return nil, err
	}
	p := &parser{
		src: src, file: file, lim: lim, seenLine: 1,
		bound: map[string][]string{"": {""}, "xml": {xmlSpace}},
	}
	if err := p.document(); err != nil {
		p.errs = append(p.errs, err)
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return p.root, nil
}

// parser walks once over src. A mistake that leaves the structure clear is
// collected in errs, any other is returned and ends the walk.
type parser struct {
	src  string
	off  int
	file string
	lim  Limits
	errs []error

	root  *Node
	open  []*Node             // elements not yet closed
	nodes int                 // counted against lim.Nodes
	bound map[string][]string // prefix → its URIs, innermost last

	text     []byte      // since the last tag
	textPos  problem.Pos // of the first character that is not white space
	verbatim bool        // all of it but white space stands in CDATA sections

	seenOff, seenLine int // newlines counted so far
}

// pos returns the place of an offset; offsets come nearly always in rising order.
func (p *parser) pos(off int) problem.Pos {
	if off < p.seenOff {
		p.seenOff, p.seenLine = 0, 1
	}
	p.seenLine += strings.Count(p.src[p.seenOff:off], "\n")
	p.seenOff = off
	return problem.Pos{File: p.file, Line: p.seenLine}
}

func (p *parser) fail(off int, text, format string, args ...any) error {
	return &problem.Problem{Pos: p.pos(off), Excerpt: excerpt(text), Text: fmt.Sprintf(format, args...)}
}

// note collects a mistake after which reading can go on.
func (p *parser) note(pos problem.Pos, text, format string, args ...any) error {
	err := &problem.Problem{Pos: pos, Excerpt: excerpt(text), Text: fmt.Sprintf(format, args...)}
	if len(p.errs)+1 >= maxErrors {
		return err
	}
	p.errs = append(p.errs, err)
	return nil
}

func (p *parser) count(off int) error {
	if p.nodes++; p.nodes > p.lim.Nodes {
		return p.fail(off, "", "more than %d elements, attributes and texts", p.lim.Nodes)
	}
	return nil
}

func (p *parser) document() error {
	for p.off < len(p.src) {
		rest := p.src[p.off:]
		var err error
		switch {
		case rest[0] != '<':
			err = p.characters()
		case strings.HasPrefix(rest, "<!--"):
			err = p.comment()
		case strings.HasPrefix(rest, "<![CDATA["):
			err = p.cdata()
		case strings.HasPrefix(rest, "<!"):
			err = p.fail(p.off, rest, "document types and entities are not read")
		case strings.HasPrefix(rest, "<?"):
			err = p.instruction()
		case strings.HasPrefix(rest, "</"):
			err = p.endTag()
		default:
			err = p.startTag()
		}
		if err != nil {
			return err
		}
	}
	if n := len(p.open); n > 0 {
		e := p.open[n-1]
		return p.fail(p.off, "<"+e.QName()+">", "document ends before the element of line %d does", e.Pos.Line)
	}
	if p.root == nil {
		return p.fail(p.off, "", "document has no element")
	}
	return nil
}

// outside refuses text before and after the root element.
func (p *parser) outside(off int, text string) error {
	where := "before the root element"
	if p.root != nil {
		where = "after the end of the root element"
	}
	return p.fail(off, text, "text %s", where)
}

func (p *parser) characters() error {
	start := p.off
	raw := p.src[start:]
	if end := strings.IndexByte(raw, '<'); end >= 0 {
		raw = raw[:end]
	}
	p.off += len(raw)
	if len(p.open) == 0 {
		if lead := len(raw) - len(strings.TrimLeft(raw, spaces)); lead < len(raw) {
			return p.outside(start+lead, raw[lead:])
		}
		return nil
	}
	if i := strings.Index(raw, "]]>"); i >= 0 {
		return p.fail(start+i, raw[i:], "]]> outside of a CDATA section")
	}
	text, err := p.expand(raw, start)
	if err != nil {
		return err
	}
	p.addText(text, raw, start, false)
	return nil
}

// addText appends to the text since the last tag; raw is how it was written.
func (p *parser) addText(text, raw string, off int, verbatim bool) {
	if !blank(text) {
		p.verbatim = verbatim && (p.verbatim || p.textPos.Line == 0)
		if p.textPos.Line == 0 {
			p.textPos = p.pos(off + len(raw) - len(strings.TrimLeft(raw, spaces)))
		}
	}
	p.text = append(p.text, text...)
}

// flushText makes a node of the text since the last tag, unless it is white space.
func (p *parser) flushText() error {
	if p.textPos.Line > 0 {
		if err := p.count(p.off); err != nil {
			return err
		}
		top := p.open[len(p.open)-1]
		top.Children = append(top.Children, &Node{Text: string(p.text), Verbatim: p.verbatim, Pos: p.textPos})
	}
	p.text, p.textPos = p.text[:0], problem.Pos{}
	return nil
}

func (p *parser) comment() error {
	body := p.src[p.off+4:]
	end := strings.Index(body, "--")
	if end < 0 {
		return p.fail(p.off, p.src[p.off:], "comment does not end")
	}
	if !strings.HasPrefix(body[end:], "-->") {
		return p.fail(p.off+4+end, body[end:], "-- inside a comment")
	}
	p.off += 4 + end + 3
	return nil
}

func (p *parser) cdata() error {
	const open = len("<![CDATA[")
	if len(p.open) == 0 {
		return p.outside(p.off, p.src[p.off:])
	}
	body := p.src[p.off+open:]
	end := strings.Index(body, "]]>")
	if end < 0 {
		return p.fail(p.off, p.src[p.off:], "CDATA section does not end")
	}
	p.addText(body[:end], body[:end], p.off+open, true)
	p.off += open + end + 3
	return nil
}

func (p *parser) instruction() error {
	start := p.off
	end := strings.Index(p.src[start:], "?>")
	if end < 0 {
		return p.fail(start, p.src[start:], "processing instruction does not end")
	}
	p.off += 2
	target, ok := p.name()
	whole := p.src[start : start+end+2]
	switch rest := p.src[p.off : start+end+len("?>")]; {
	case !ok || rest != "?>" && !isSpace(rest[0]):
		return p.fail(start, whole, "malformed processing instruction")
	case strings.EqualFold(target, "xml"):
		return p.fail(start, whole, "XML declaration that is not at the very start of the document")
	}
	p.off = start + end + 2
	return nil
}

func (p *parser) endTag() error {
	start := p.off
	if err := p.flushText(); err != nil {
		return err
	}
	p.off += 2
	name, _ := p.name()
	if p.off < len(p.src) && p.src[p.off] == ':' {
		p.off++
		local, _ := p.name()
		name += ":" + local
	}
	p.skipSpace()
	if p.off >= len(p.src) || p.src[p.off] != '>' {
		return p.fail(start, p.src[start:], "malformed end tag")
	}
	p.off++
	if len(p.open) == 0 {
		return p.fail(start, p.src[start:p.off], "end tag without a start tag")
	}
	top := p.open[len(p.open)-1]
	if name != top.QName() {
		return p.fail(start, p.src[start:p.off], "end tag where <%s> of line %d should end", excerpt(top.QName()), top.Pos.Line)
	}
	p.open = p.open[:len(p.open)-1]
	p.unbind(top)
	return nil
}

func (p *parser) unbind(n *Node) {
	for _, d := range n.Spaces {
		uris := p.bound[d.Name]
		p.bound[d.Name] = uris[:len(uris)-1]
	}
}

func (p *parser) startTag() error {
	start := p.off
	if p.root != nil && len(p.open) == 0 {
		return p.fail(start, p.src[start:], "element after the end of the root element")
	}
	if len(p.open) > 0 {
		if err := p.flushText(); err != nil {
			return err
		}
	}
	if len(p.open) >= p.lim.Depth {
		return p.fail(start, p.src[start:], "elements nest deeper than %d", p.lim.Depth)
	}
	if err := p.count(start); err != nil {
		return err
	}
	n := &Node{Pos: p.pos(start)}
	p.off++
	var ok bool
	if n.Prefix, n.Name, ok = p.qualifiedName(); !ok {
		return p.fail(start, p.src[start:], "malformed start tag")
	}
	empty, err := p.attributes(n)
	if err != nil {
		return err
	}
	if err := p.resolve(n); err != nil {
		return err
	}
	if len(p.open) == 0 {
		p.root = n
	} else {
		top := p.open[len(p.open)-1]
		top.Children = append(top.Children, n)
	}
	if empty {
		p.unbind(n)
	} else {
		p.open = append(p.open, n)
	}
	return nil
}

// attributes reads up to the end of a start tag; empty tells that it was "/>".
func (p *parser) attributes(n *Node) (empty bool, err error) {
	for {
		spaced := p.skipSpace()
		rest := p.src[p.off:]
		switch {
		case rest == "":
			return false, p.fail(p.off, "<"+n.QName(), "start tag does not end")
		case rest[0] == '>':
			p.off++
			return false, nil
		case strings.HasPrefix(rest, "/>"):
			p.off += 2
			return true, nil
		case !spaced:
			return false, p.fail(p.off, rest, "white space expected in <%s>", excerpt(n.QName()))
		}
		if err := p.attribute(n); err != nil {
			return false, err
		}
	}
}

func (p *parser) attribute(n *Node) error {
	start := p.off
	if err := p.count(start); err != nil {
		return err
	}
	if len(n.Attrs)+len(n.Spaces) >= maxAttrs {
		return p.fail(start, "<"+n.QName(), "element has more than %d attributes", maxAttrs)
	}
	a := Attr{Pos: p.pos(start)}
	var ok bool
	if a.Prefix, a.Name, ok = p.qualifiedName(); !ok {
		return p.fail(start, p.src[start:], "malformed attribute in <%s>", excerpt(n.QName()))
	}
	p.skipSpace()
	if p.off >= len(p.src) || p.src[p.off] != '=' {
		return p.fail(start, p.src[start:], "attribute without a value")
	}
	p.off++
	p.skipSpace()
	if p.off >= len(p.src) || p.src[p.off] != '"' && p.src[p.off] != '\'' {
		return p.fail(start, p.src[start:], "value of an attribute without quotes")
	}
	quote := p.src[p.off]
	p.off++
	end := strings.IndexByte(p.src[p.off:], quote)
	if end < 0 {
		return p.fail(start, p.src[start:], "value of an attribute does not end")
	}
	raw := p.src[p.off : p.off+end]
	if i := strings.IndexByte(raw, '<'); i >= 0 {
		return p.fail(start, p.src[start:], "< inside the value of an attribute (a quote may be missing)")
	}
	// literal white space becomes spaces before references are expanded (XML 1.0 §3.3.3)
	value, err := p.expand(attributeSpace.Replace(raw), p.off)
	if err != nil {
		return err
	}
	p.off += end + 1
	a.Value = value
	switch {
	case a.Prefix == "xmlns":
		n.Spaces = append(n.Spaces, a)
	case a.Prefix == "" && a.Name == "xmlns":
		a.Prefix, a.Name = "xmlns", ""
		n.Spaces = append(n.Spaces, a)
	default:
		n.Attrs = append(n.Attrs, a)
	}
	return nil
}

var attributeSpace = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// resolve binds the declared name spaces and gives the element and its
// attributes theirs; it refuses a name that comes twice.
func (p *parser) resolve(n *Node) error {
	for i := range n.Spaces {
		d := &n.Spaces[i]
		d.Space = xmlnsSpace
		p.bound[d.Name] = append(p.bound[d.Name], d.Value)
		reserved := d.Name == "xmlns" || d.Value == xmlnsSpace || (d.Name == "xml") != (d.Value == xmlSpace)
		if reserved || d.Value == "" && d.Name != "" {
			if err := p.note(d.Pos, declared(d)+"="+strconv.Quote(d.Value), "name space declaration that XML forbids"); err != nil {
				return err
			}
		}
	}
	var err error
	if n.Space, err = p.lookup(n.Prefix, n.QName(), n.Pos); err != nil {
		return err
	}
	for i := range n.Attrs {
		a := &n.Attrs[i]
		if a.Prefix != "" {
			if a.Space, err = p.lookup(a.Prefix, a.QName(), a.Pos); err != nil {
				return err
			}
		}
	}
	if err := p.unique(n.Spaces, declared); err != nil {
		return err
	}
	return p.unique(n.Attrs, (*Attr).QName)
}

// declared returns the name of a declaration as written.
func declared(d *Attr) string {
	if d.Name == "" {
		return "xmlns"
	}
	return "xmlns:" + d.Name
}

// unique refuses an attribute that comes twice.
func (p *parser) unique(attrs []Attr, written func(*Attr) string) error {
	const few = 8 // below it comparing all with all is faster than a map
	var taken map[[2]string]bool
	if len(attrs) > few {
		taken = make(map[[2]string]bool, len(attrs))
	}
	for i := range attrs {
		a := &attrs[i]
		again := taken[[2]string{a.Space, a.Name}]
		if taken != nil {
			taken[[2]string{a.Space, a.Name}] = true
		} else {
			for j := range i {
				again = again || attrs[j].Name == a.Name && attrs[j].Space == a.Space
			}
		}
		if again {
			if err := p.note(a.Pos, written(a), "attribute comes twice"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parser) lookup(prefix, written string, pos problem.Pos) (string, error) {
	if uris := p.bound[prefix]; len(uris) > 0 {
		return uris[len(uris)-1], nil
	}
	return "", p.note(pos, written, "name space prefix without a declaration (xmlns:%s=\"…\")", excerpt(prefix))
}
