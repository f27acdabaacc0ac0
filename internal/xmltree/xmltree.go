// Package xmltree reads an XML document into a small tree that remembers the
// line of everything, strictly and in bounded memory.
//
// It is the ground of urdf, srdf and xacro: encoding/xml does the tokens, this
// package adds positions, name spaces kept as written, and refusal of what a
// robot description never needs (DTDs and entities, bombs, endless nesting).
package xmltree

import "fmt"

// Node is an element, or a piece of text between elements (Name empty).
type Node struct {
	Space    string // URI of the element's name space, "" if none
	Prefix   string // prefix as written, "" if none
	Name     string // local name; "" for text
	Attrs    []Attr // in document order, without xmlns declarations
	Children []*Node
	Text     string // for a text node only
	Pos      Pos
}

// Attr is one attribute.
type Attr struct {
	Space, Prefix, Name string
	Value               string
	Pos                 Pos
}

// Pos is a place in a file. Line counts from 1.
type Pos struct {
	File string
	Line int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Limits bound what Parse accepts; the zero value of a field means its default.
type Limits struct {
	Bytes int // size of the document
	Depth int // nesting of elements
	Nodes int // elements and pieces of text
}

// Error is a problem with a document, at a place.
type Error struct {
	Pos  Pos
	Text string // the offending text, may be empty
	Msg  string
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: %s", e.Pos, e.Msg)
	}
	return fmt.Sprintf("%s: %s: %q", e.Pos, e.Msg, e.Text)
}
