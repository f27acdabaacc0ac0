package xacro

import (
	"slices"
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
	"poise/urdf/xacro/expr"
)

// prefix marks the elements and attributes that belong to xacro.
const prefix = "xacro"

// env is what the elements of a place can see.
type env struct {
	symbols *scope
	macros  *macros
	level   int // nesting in the expanded document
}

// maxLevel is the depth of an expanded document, the same as of one that is read.
const maxLevel = 256

// root expands the document's element. It is never a macro itself.
func (ex *expander) root(source *xmltree.Node) *xmltree.Node {
	e := env{symbols: ex.scope(nil), macros: &macros{}}
	root := ex.shell(source)
	if a := xacroAttr(source, "targetNamespace"); a != nil {
		root.Spaces = slices.DeleteFunc(root.Spaces, func(d xmltree.Attr) bool { return d.Name == "" })
		root.Declare(xmltree.Attr{Value: a.Value, Pos: a.Pos})
	}
	ex.attributes(source, root, e)
	ex.children(source.Children, root, e)
	return root
}

// shell is an element without attributes and children, and without what only
// xacro needs.
func (ex *expander) shell(source *xmltree.Node) *xmltree.Node {
	ex.made(1, source.Pos)
	n := &xmltree.Node{Space: source.Space, Prefix: source.Prefix, Name: source.Name, Pos: source.Pos}
	for _, d := range source.Spaces {
		if d.Name != prefix {
			n.Spaces = append(n.Spaces, d)
		}
	}
	return n
}

func (ex *expander) attributes(source, dst *xmltree.Node, e env) {
	for _, a := range source.Attrs {
		if a.Prefix == prefix {
			continue
		}
		v, err := ex.evalString(a.Value, e.symbols, a.Pos)
		if err != nil {
			ex.Fail(err)
			continue
		}
		a.Value = v
		dst.Attrs = append(dst.Attrs, a)
		ex.made(1, a.Pos)
		ex.spend(len(v)/16, a.Pos)
	}
}

// children expands nodes into dst.
func (ex *expander) children(nodes []*xmltree.Node, dst *xmltree.Node, e env) {
	for _, n := range nodes {
		if ex.Halted {
			return
		}
		if n.IsText() {
			ex.text(n, dst, e)
		} else {
			ex.element(n, dst, e)
		}
	}
}

func (ex *expander) text(n, dst *xmltree.Node, e env) {
	v := n.Text
	if !n.Verbatim { // ROS xacro leaves CDATA sections alone
		var err error
		if v, err = ex.evalString(n.Text, e.symbols, n.Pos); err != nil {
			ex.Fail(err)
			return
		}
	}
	if strings.TrimSpace(v) == "" {
		return
	}
	ex.made(1, n.Pos)
	ex.spend(1+len(v)/16, n.Pos)
	if last := len(dst.Children) - 1; last >= 0 && dst.Children[last].IsText() {
		dst.Children[last].Text += v
		dst.Children[last].Verbatim = dst.Children[last].Verbatim && n.Verbatim
		ex.spend(len(dst.Children[last].Text)/16, n.Pos)
		return
	}
	dst.Children = append(dst.Children, &xmltree.Node{Text: v, Verbatim: n.Verbatim, Pos: n.Pos})
}

// element expands one element into dst: itself, or what xacro makes of it.
func (ex *expander) element(n, dst *xmltree.Node, e env) {
	ex.enter(n.Pos)
	defer ex.leave()
	if ex.Halted {
		return
	}
	if n.Prefix != prefix {
		if e.level++; e.level > maxLevel {
			ex.halt(n.Pos, "elements of the expanded document nest deeper than %d", maxLevel)
			return
		}
		out := ex.shell(n)
		dst.Children = append(dst.Children, out)
		ex.attributes(n, out, e)
		ex.children(n.Children, out, e)
		return
	}
	switch n.Name {
	case "property":
		ex.property(n, e)
	case "macro":
		ex.define(n, e)
	case "include":
		ex.include(n, dst, e)
	case "insert_block":
		ex.insertBlock(n, dst, e)
	case "if", "unless":
		ex.condition(n, dst, e)
	case "arg":
		ex.argument(n, e)
	case "element":
		ex.rename(n, dst, e)
	case "attribute":
		ex.attribute(n, dst, e)
	case "call":
		ex.dynamicCall(n, dst, e)
	default:
		ex.call(n, n.Name, n.Attrs, dst, e)
	}
}

// attrs fetches required and optional attributes in that order, nil for an
// optional one that is missing. Others are worth a warning.
func (ex *expander) attrs(n *xmltree.Node, required []string, optional ...string) ([]*xmltree.Attr, bool) {
	out := make([]*xmltree.Attr, 0, len(required)+len(optional))
	ok := true
	for _, name := range required {
		a := n.Attr(name)
		if a == nil {
			ex.Fail(ex.At(n.Pos, "<"+n.QName()+">", "attribute %s is missing", name))
			ok = false
		}
		out = append(out, a)
	}
	for _, name := range optional {
		out = append(out, n.Attr(name))
	}
	for _, a := range n.Attrs {
		if a.Prefix == "" && !slices.Contains(required, a.Name) && !slices.Contains(optional, a.Name) {
			w := ex.At(a.Pos, a.Name, "unknown attribute of <%s>", n.QName())
			ex.addWarning(w.With("%s", problem.DidYouMean(a.Name, slices.Concat(required, optional))))
		}
	}
	return out, ok
}

func xacroAttr(n *xmltree.Node, name string) *xmltree.Attr {
	for i := range n.Attrs {
		if a := &n.Attrs[i]; a.Prefix == prefix && a.Name == name {
			return a
		}
	}
	return nil
}

// flag evaluates an optional attribute that is true or false.
func (ex *expander) flag(a *xmltree.Attr, missing bool, e env) (bool, bool) {
	if a == nil {
		return missing, true
	}
	v, err := ex.evalText(a.Value, e.symbols, a.Pos)
	if err != nil {
		ex.Fail(err)
		return false, false
	}
	yes, err := truth(v)
	if err != nil {
		ex.Fail(ex.At(a.Pos, a.Value, "%s: %v", a.Name, err))
	}
	return yes, err == nil
}

func (ex *expander) condition(n, dst *xmltree.Node, e env) {
	a, ok := ex.attrs(n, []string{"value"})
	if !ok {
		return
	}
	if yes, ok := ex.flag(a[0], false, e); ok && yes == (n.Name == "if") {
		ex.children(n.Children, dst, e)
	}
}

// argument declares $(arg name). What the caller gave stays.
func (ex *expander) argument(n *xmltree.Node, e env) {
	a, ok := ex.attrs(n, []string{"name", "default"})
	if !ok {
		return
	}
	ex.used[a[0].Value] = true
	if _, given := ex.args[a[0].Value]; given {
		return
	}
	v, err := ex.evalString(a[1].Value, e.symbols, a[1].Pos)
	ex.Fail(err)
	ex.args[a[0].Value] = v
}

// rename handles xacro:element, whose tag is computed. It may become any
// element, also a macro.
func (ex *expander) rename(n, dst *xmltree.Node, e env) {
	a := xacroAttr(n, "name")
	if a == nil {
		ex.Fail(ex.At(n.Pos, "<xacro:element>", "attribute xacro:name is missing"))
		return
	}
	name, err := ex.evalString(a.Value, e.symbols, a.Pos)
	if err != nil {
		ex.Fail(err)
		return
	}
	p, local, ok := xmlName(name)
	if !ok {
		ex.Fail(ex.At(a.Pos, name, "not a name for an element"))
		return
	}
	renamed := *n
	renamed.Space, renamed.Prefix, renamed.Name = "", p, local
	renamed.Attrs = slices.DeleteFunc(slices.Clone(n.Attrs), func(b xmltree.Attr) bool { return b.Prefix == prefix && b.Name == "name" })
	ex.element(&renamed, dst, e)
}

// attribute handles xacro:attribute, which sets one of the element around it.
func (ex *expander) attribute(n, dst *xmltree.Node, e env) {
	a, ok := ex.attrs(n, []string{"name", "value"})
	if !ok {
		return
	}
	name, err := ex.evalString(a[0].Value, e.symbols, a[0].Pos)
	if err != nil {
		ex.Fail(err)
		return
	}
	v, err := ex.evalString(a[1].Value, e.symbols, a[1].Pos)
	if err != nil {
		ex.Fail(err)
		return
	}
	p, local, ok := xmlName(name)
	if !ok || p == prefix || p == "xmlns" || name == "xmlns" {
		ex.Fail(ex.At(a[0].Pos, name, "not a name for an attribute"))
		return
	}
	ex.made(1, n.Pos)
	for i := range dst.Attrs {
		if dst.Attrs[i].QName() == name {
			dst.Attrs[i].Value, dst.Attrs[i].Pos = v, n.Pos
			return
		}
	}
	ex.spend(len(dst.Attrs), n.Pos)
	dst.Attrs = append(dst.Attrs, xmltree.Attr{Prefix: p, Name: local, Value: v, Pos: n.Pos})
}

// insertBlock puts a block here and evaluates it, again if it came as a
// parameter: it sees the macro's own properties.
func (ex *expander) insertBlock(n, dst *xmltree.Node, e env) {
	a, ok := ex.attrs(n, []string{"name"})
	if !ok {
		return
	}
	block, contents := e.symbols.block(a[0].Value)
	switch {
	case block == nil:
		ex.Fail(ex.At(a[0].Pos, a[0].Value, "undefined block"))
	case contents:
		ex.settle(block, e)
		ex.children(block.Children, dst, e)
	default:
		ex.element(block, dst, e)
	}
}

// property defines a property, a block, or removes a property.
func (ex *expander) property(n *xmltree.Node, e env) {
	a, ok := ex.attrs(n, []string{"name"}, "value", "default", "remove", "scope", "lazy_eval")
	if !ok {
		return
	}
	val, def, scopeAttr := a[1], a[2], a[4]
	name, err := ex.evalString(a[0].Value, e.symbols, a[0].Pos)
	if err != nil {
		ex.Fail(err)
		return
	}
	remove, ok1 := ex.flag(a[3], false, e)
	lazy, ok2 := ex.flag(a[5], true, e)
	switch {
	case !ok1 || !ok2:
		return
	case !expr.IsName(name):
		ex.Fail(ex.At(a[0].Pos, name, "name of a property is not an identifier"))
		return
	case strings.HasPrefix(name, "__"):
		ex.Fail(ex.At(a[0].Pos, name, "name of a property begins with two underscores"))
		return
	case val != nil && def != nil || remove && (val != nil || def != nil):
		ex.Fail(ex.At(n.Pos, name, "property has more than one of value, default and remove"))
		return
	case remove:
		e.symbols.remove(name)
		return
	case def != nil:
		if e.symbols.has(name) {
			return
		}
		val = def
	}
	target, lazy := ex.target(scopeAttr, lazy, e)
	if target == nil {
		return
	}
	if val == nil {
		target.setBlock("**"+name, n)
		return
	}
	if lazy {
		target.set(name, val.Value, true, val.Pos)
		return
	}
	v, err := ex.evalText(val.Value, e.symbols, val.Pos)
	if err != nil {
		ex.Fail(err)
		return
	}
	target.set(name, v, false, val.Pos)
}

// target is the scope that a property goes to. Outside of its own scope it
// cannot be evaluated later.
func (ex *expander) target(a *xmltree.Attr, lazy bool, e env) (*scope, bool) {
	switch {
	case a == nil:
		return e.symbols, lazy
	case a.Value == "global":
		return e.symbols.top(), false
	case a.Value != "parent":
		ex.Fail(ex.At(a.Pos, a.Value, "scope is neither parent nor global"))
		return nil, false
	}
	target := e.symbols.parent
	if !e.symbols.space {
		for target != nil && target.space {
			target = target.parent
		}
	}
	if target == nil {
		ex.Fail(ex.At(a.Pos, a.Value, "there is no scope around the outermost one"))
	}
	return target, false
}
