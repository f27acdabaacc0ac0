package xmltree

import (
	"iter"

	"poise/problem"
)

// Node is an element, or a piece of text between elements (Name empty).
type Node struct {
	Space    string // URI of the element's name space, "" if none
	Prefix   string // prefix as written, "" if none
	Name     string // local name; "" for text
	Spaces   []Attr // xmlns declarations as written: Name is the prefix, "" for the default
	Attrs    []Attr // in document order, without xmlns declarations
	Children []*Node
	Text     string // for a text node only
	Verbatim bool   // the text stands in CDATA sections; the same text otherwise
	Pos      problem.Pos
}

// Attr is one attribute.
type Attr struct {
	Space, Prefix, Name string
	Value               string
	Pos                 problem.Pos
}

// IsText reports whether n is text.
func (n *Node) IsText() bool { return n.Name == "" }

// QName returns the element's name as written: prefix:name, or name.
func (n *Node) QName() string { return qname(n.Prefix, n.Name) }

// QName returns the attribute's name as written.
func (a *Attr) QName() string { return qname(a.Prefix, a.Name) }

func qname(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + ":" + name
}

// Attr returns the attribute of that name in no name space, nil if there is none.
func (n *Node) Attr(name string) *Attr {
	for i := range n.Attrs {
		if a := &n.Attrs[i]; a.Name == name && a.Space == "" {
			return a
		}
	}
	return nil
}

// Value returns the value of an attribute in no name space, "" if there is none.
func (n *Node) Value(name string) string {
	if a := n.Attr(name); a != nil {
		return a.Value
	}
	return ""
}

// Elements yields the children that are elements.
func (n *Node) Elements() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for _, c := range n.Children {
			if !c.IsText() && !yield(c) {
				return
			}
		}
	}
}

// Clone returns a copy that shares nothing with n but its strings.
func (n *Node) Clone() *Node {
	c := *n
	c.Spaces = append([]Attr(nil), n.Spaces...)
	c.Attrs = append([]Attr(nil), n.Attrs...)
	c.Children = nil
	if len(n.Children) > 0 {
		c.Children = make([]*Node, len(n.Children))
		for i, child := range n.Children {
			c.Children[i] = child.Clone()
		}
	}
	return &c
}
