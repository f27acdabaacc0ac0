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
func (ex *expander) document(name string, pos problem.Pos) (*xmltree.Node, error) {
	key := ex.Abs(name)
	if d, ok := ex.documents[key]; ok {
		return d.root, d.err
	}
	data, err := ex.load(name, pos)
	if err != nil {
		return nil, err
	}
	root, err := xmltree.Parse(data, name, xmltree.Limits{})
	ex.documents[key] = parsed{root, err}
	return root, err
}

// load reads a file.
func (ex *expander) load(name string, pos problem.Pos) ([]byte, error) {
	data, err := ex.Reader.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e := ex.At(pos, name, "file does not exist")
		e.Code = MissingFile
		return nil, e
	case err != nil:
		return nil, ex.At(pos, name, "file cannot be read: %v", err)
	}
	return data, nil
}

// include expands one or more other files here.
func (ex *expander) include(n, dst *xmltree.Node, e env) {
	a, ok := ex.attrs(n, []string{"filename"}, "ns", "optional")
	if !ok {
		return
	}
	optional, ok := ex.flag(a[2], false, e)
	if !ok {
		return
	}
	spec, err := ex.evalString(a[0].Value, e.symbols, a[0].Pos)
	if err != nil {
		ex.Fail(err)
		return
	}
	if a[1] != nil {
		space, err := ex.evalString(a[1].Value, e.symbols, a[1].Pos)
		if err != nil {
			ex.Fail(err)
			return
		}
		e = ex.namespaced(space, a[1].Pos, e)
	}
	for range n.Elements() {
		ex.Warn(n.Pos, "<xacro:include>", "elements inside of an include are not read")
		break
	}
	names, err := ex.matches(spec, a[0])
	if err != nil {
		ex.Fail(ex.wrap(err, a[0].Pos, a[0].Value))
		return
	}
	for _, name := range names {
		ex.includeFile(name, a[0], optional, dst, e)
	}
}

// namespaced is where the contents of an include with ns go.
func (ex *expander) namespaced(name string, pos problem.Pos, e env) env {
	inner := ex.scope(e.symbols)
	inner.space = true
	e.symbols.set(name, &namespace{name, inner}, false, pos)
	return env{symbols: inner, macros: e.macros.space(name), level: e.level}
}

// matches resolves the name of an include, which may be a pattern.
func (ex *expander) matches(spec string, a *xmltree.Attr) ([]string, error) {
	name, err := ex.Resolve(spec, ex.file())
	if err != nil || !strings.ContainsAny(name, "*[?") {
		return []string{name}, err
	}
	names, err := ex.Glob(name)
	if err == nil && len(names) == 0 {
		ex.Warn(a.Pos, spec, "no file matches")
	}
	return names, err
}

func (ex *expander) includeFile(name string, a *xmltree.Attr, optional bool, dst *xmltree.Node, e env) {
	open := 0
	for _, other := range ex.stack {
		if ex.Abs(other) == ex.Abs(name) {
			open++
		}
	}
	if open >= maxOpen {
		ex.halt(a.Pos, "file includes itself without end: %s", excerpt(strings.Join(append(ex.stack, name), " → ")))
		return
	}
	root, err := ex.document(name, a.Pos)
	if err != nil {
		var e *problem.Problem
		if !optional || !errors.As(err, &e) || e.Code != MissingFile {
			ex.Fail(err)
		}
		return
	}
	ex.stack = append(ex.stack, name)
	ex.Push("%s included at %s", name, a.Pos)
	ex.attributes(root, &xmltree.Node{}, e) // they go nowhere, but must make sense
	ex.importSpaces(root, dst)
	ex.children(root.Children, dst, e)
	ex.stack = ex.stack[:len(ex.stack)-1]
	ex.Pop()
}

// importSpaces declares the name spaces of an element that vanishes at the one
// that takes its contents.
func (ex *expander) importSpaces(from, to *xmltree.Node) {
	for _, d := range from.Spaces {
		if d.Name != prefix && d.Name != "" && !to.Declare(d) {
			ex.Warn(d.Pos, d.Value, "name space %s is declared otherwise already", d.Name)
		}
	}
}
