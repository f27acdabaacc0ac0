package xacro

import (
	"errors"
	"io/fs"
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
)

// maxOpen is how often a file may be open at the same time: a file that guards
// itself by a condition may come back to itself, one that does not is a cycle.
const maxOpen = 8

// parsed is a file that was read: its root element, or why it has none.
type parsed struct {
	root *xmltree.Node
	err  error
}

// document reads and parses a file once.
func (x *expander) document(name string, pos problem.Pos) (*xmltree.Node, error) {
	key := x.Abs(name)
	if d, ok := x.documents[key]; ok {
		return d.root, d.err
	}
	data, err := x.load(name, pos)
	if err != nil {
		return nil, err
	}
	root, err := xmltree.Parse(data, name, xmltree.Limits{})
	x.documents[key] = parsed{root, err}
	return root, err
}

// load reads a file.
func (x *expander) load(name string, pos problem.Pos) ([]byte, error) {
	data, err := x.Reader.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e := x.At(pos, name, "file does not exist")
		e.Code = MissingFile
		return nil, e
	case err != nil:
		return nil, x.At(pos, name, "file cannot be read: %v", err)
	}
	return data, nil
}

// include expands one or more other files here.
func (x *expander) include(n, dst *xmltree.Node, e env) {
	a, ok := x.attrs(n, []string{"filename"}, "ns", "optional")
	if !ok {
		return
	}
	optional, ok := x.flag(a[2], false, e)
	if !ok {
		return
	}
	spec, err := x.evalString(a[0].Value, e.symbols, a[0].Pos)
	if err != nil {
		x.Fail(err)
		return
	}
	if a[1] != nil {
		space, err := x.evalString(a[1].Value, e.symbols, a[1].Pos)
		if err != nil {
			x.Fail(err)
			return
		}
		e = x.namespaced(space, a[1].Pos, e)
	}
	for range n.Elements() {
		x.Warn(n.Pos, "<xacro:include>", "elements inside of an include are not read")
		break
	}
	names, err := x.matches(spec, a[0])
	if err != nil {
		x.Fail(x.wrap(err, a[0].Pos, a[0].Value))
		return
	}
	for _, name := range names {
		x.includeFile(name, a[0], optional, dst, e)
	}
}

// namespaced is where the contents of an include with ns go.
func (x *expander) namespaced(name string, pos problem.Pos, e env) env {
	inner := x.scope(e.symbols)
	inner.space = true
	e.symbols.set(name, &namespace{name, inner}, false, pos)
	return env{symbols: inner, macros: e.macros.space(name), level: e.level}
}

// matches resolves the name of an include, which may be a pattern.
func (x *expander) matches(spec string, a *xmltree.Attr) ([]string, error) {
	name, err := x.Resolve(spec, x.file())
	if err != nil || !strings.ContainsAny(name, "*[?") {
		return []string{name}, err
	}
	names, err := x.Glob(name)
	if err == nil && len(names) == 0 {
		x.Warn(a.Pos, spec, "no file matches")
	}
	return names, err
}

func (x *expander) includeFile(name string, a *xmltree.Attr, optional bool, dst *xmltree.Node, e env) {
	open := 0
	for _, other := range x.stack {
		if x.Abs(other) == x.Abs(name) {
			open++
		}
	}
	if open >= maxOpen {
		x.halt(a.Pos, "file includes itself without end: %s", excerpt(strings.Join(append(x.stack, name), " → ")))
		return
	}
	root, err := x.document(name, a.Pos)
	if err != nil {
		var e *problem.Problem
		if !optional || !errors.As(err, &e) || e.Code != MissingFile {
			x.Fail(err)
		}
		return
	}
	x.stack = append(x.stack, name)
	x.Push("%s included at %s", name, a.Pos)
	x.attributes(root, &xmltree.Node{}, e) // they go nowhere, but must make sense
	x.importSpaces(root, dst)
	x.children(root.Children, dst, e)
	x.stack = x.stack[:len(x.stack)-1]
	x.Pop()
}

// importSpaces declares the name spaces of an element that vanishes at the one
// that takes its contents.
func (x *expander) importSpaces(from, to *xmltree.Node) {
	for _, d := range from.Spaces {
		if d.Name != prefix && d.Name != "" && !to.Declare(d) {
			x.Warn(d.Pos, d.Value, "name space %s is declared otherwise already", d.Name)
		}
	}
}
