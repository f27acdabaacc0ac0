package xacro

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"poise/internal/xmltree"
	"poise/urdf/locate"
)

// maxOpen is how often a file may be open at the same time: a file that guards
// itself by a condition may come back to itself, one that does not is a cycle.
const maxOpen = 8

// document reads and parses a file once.
func (x *expander) document(name string, pos xmltree.Pos) (*xmltree.Node, error) {
	key := x.Abs(name)
	if root := x.documents[key]; root != nil {
		return root, nil
	}
	data, err := x.load(name, pos)
	if err != nil {
		return nil, err
	}
	root, err := xmltree.Parse(data, name, xmltree.Limits{})
	if err != nil {
		return nil, err
	}
	x.documents[key] = root
	return root, nil
}

// load reads a file within the bound for all of them.
func (x *expander) load(name string, pos xmltree.Pos) ([]byte, error) {
	data, err := x.Files.Read(name, x.lim.Bytes-x.bytes)
	switch {
	case errors.Is(err, locate.ErrTooLarge):
		return nil, x.at(pos, name, "the files read together have more than %d bytes", x.lim.Bytes)
	case errors.Is(err, fs.ErrNotExist):
		e := x.at(pos, name, "file does not exist")
		e.missing = true
		return nil, e
	case err != nil:
		return nil, x.at(pos, name, "file cannot be read: %v", cause(err))
	}
	x.bytes += len(data)
	x.read = append(x.read, name)
	return data, nil
}

// cause leaves out the name that a path error repeats.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
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
		x.fail(err)
		return
	}
	if a[1] != nil {
		space, err := x.evalString(a[1].Value, e.symbols, a[1].Pos)
		if err != nil {
			x.fail(err)
			return
		}
		e = x.namespaced(space, a[1].Pos, e)
	}
	for range n.Elements() {
		x.warn(n.Pos, "<xacro:include>", "elements inside of an include are not read")
		break
	}
	names, err := x.matches(spec, a[0])
	if err != nil {
		x.fail(x.wrap(err, a[0].Pos, a[0].Value))
		return
	}
	for _, name := range names {
		x.includeFile(name, a[0], optional, dst, e)
	}
}

// namespaced is where the contents of an include with ns go.
func (x *expander) namespaced(name string, pos xmltree.Pos, e env) env {
	inner := x.scope(e.symbols)
	inner.space = true
	e.symbols.set(name, &namespace{name, inner}, false, pos)
	e.macros.spaces[name] = newMacros(nil)
	return env{symbols: inner, macros: e.macros.spaces[name], level: e.level}
}

// matches resolves the name of an include, which may be a pattern.
func (x *expander) matches(spec string, a *xmltree.Attr) ([]string, error) {
	name, err := x.Resolve(spec, x.file())
	if err != nil || !strings.ContainsAny(name, "*[?") {
		return []string{name}, err
	}
	names, err := x.Glob(name)
	if err == nil && len(names) == 0 {
		x.warn(a.Pos, spec, "no file matches")
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
		var e *Error
		if !optional || !errors.As(err, &e) || !e.missing {
			x.fail(err)
		}
		return
	}
	x.stack = append(x.stack, name)
	x.via = append(x.via, fmt.Sprintf("included at %s", a.Pos))
	x.attributes(root, &xmltree.Node{}, e) // they go nowhere, but must make sense
	x.importSpaces(root, dst)
	x.children(root.Children, dst, e)
	x.stack = x.stack[:len(x.stack)-1]
	x.via = x.via[:len(x.via)-1]
}

// importSpaces declares the name spaces of an element that vanishes at the one
// that takes its contents.
func (x *expander) importSpaces(from, to *xmltree.Node) {
	for _, d := range from.Spaces {
		if d.Name != prefix && d.Name != "" && !setSpace(to, d, false) {
			x.warn(d.Pos, d.Value, "name space %s is declared otherwise already", d.Name)
		}
	}
}

// setSpace declares a name space, and tells whether it is declared that way.
func setSpace(n *xmltree.Node, d xmltree.Attr, replace bool) bool {
	for i, old := range n.Spaces {
		if old.Name == d.Name {
			if replace {
				n.Spaces[i].Value = d.Value
			}
			return n.Spaces[i].Value == d.Value
		}
	}
	n.Spaces = append(n.Spaces, d)
	return true
}

// bindSpaces gives every element and attribute the name space that its prefix
// has at the place where it stands now. A prefix whose declaration got lost is
// declared again.
func bindSpaces(n *xmltree.Node, bound map[string]string) {
	if n.IsText() {
		return
	}
	if len(n.Spaces) > 0 {
		inner := make(map[string]string, len(bound)+len(n.Spaces))
		for p, uri := range bound {
			inner[p] = uri
		}
		for _, d := range n.Spaces {
			inner[d.Name] = d.Value
		}
		bound = inner
	}
	resolve := func(p, was string) string {
		uri, ok := bound[p]
		if !ok && p != "" && p != "xml" && was != "" {
			n.Spaces = append(n.Spaces, xmltree.Attr{Prefix: "xmlns", Name: p, Value: was, Pos: n.Pos})
			return was
		}
		if !ok && p != "" {
			return was
		}
		return uri
	}
	n.Space = resolve(n.Prefix, n.Space)
	for i := range n.Attrs {
		if a := &n.Attrs[i]; a.Prefix != "" {
			a.Space = resolve(a.Prefix, a.Space)
		}
	}
	for _, c := range n.Children {
		bindSpaces(c, bound)
	}
}
