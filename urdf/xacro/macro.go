package xacro

import (
	"strings"

	"poise/internal/xmltree"
	"poise/urdf/xacro/value"
)

// define handles xacro:macro. A macro of the same name is replaced.
func (x *expander) define(n *xmltree.Node, e env) {
	a, ok := x.attrs(n, []string{"name"}, "params")
	if !ok {
		return
	}
	name := strings.TrimPrefix(a[0].Value, prefix+":")
	switch {
	case name == "call":
		x.Fail(x.At(a[0].Pos, name, "a macro cannot have the name call"))
		return
	case strings.Contains(name, "."):
		x.Fail(x.At(a[0].Pos, name, "name of a macro has a point, which separates name spaces"))
		return
	case name != a[0].Value:
		x.Warn(a[0].Pos, a[0].Value, "name of a macro needs no prefix")
	}
	m := &macro{name: name, body: n}
	if a[1] != nil {
		params, err := readParams(a[1].Value)
		if err != nil {
			x.Fail(x.At(a[1].Pos, a[1].Value, "parameters of macro %s: %v", name, err))
			return
		}
		m.params = params
	}
	e.macros.define(m)
}

// dynamicCall handles xacro:call, which names its macro in an attribute.
func (x *expander) dynamicCall(n, dst *xmltree.Node, e env) {
	a := n.Attr("macro")
	if a == nil {
		x.Fail(x.At(n.Pos, "<xacro:call>", "attribute macro is missing"))
		return
	}
	name, err := x.evalString(a.Value, e.symbols, a.Pos)
	if err != nil {
		x.Fail(err)
		return
	}
	var rest []xmltree.Attr
	for _, b := range n.Attrs {
		if b.QName() != "macro" {
			rest = append(rest, b)
		}
	}
	x.call(n, name, rest, dst, e)
}

// callCost is what a call costs besides its body, in operations of expressions.
const callCost = 10

// call expands a macro into dst.
func (x *expander) call(n *xmltree.Node, name string, attrs []xmltree.Attr, dst *xmltree.Node, e env) {
	m, seen, around := e.macros.find(name, e.symbols)
	if m == nil {
		x.Fail(x.At(n.Pos, "<"+prefix+":"+name+">", "unknown macro; known are %v", e.macros.names()))
		return
	}
	inner := env{symbols: x.scope(around), macros: &macros{parent: seen}, level: e.level}
	x.spend(callCost, n.Pos)
	x.Push("macro %s called at %s", m.name, n.Pos)
	defer x.Pop()
	before := x.Failures()

	left := x.passAttrs(m, attrs, inner.symbols, e)
	left = x.passBlocks(m, n, left, inner.symbols, e)
	x.passDefaults(m, n, left, inner.symbols, e)

	if x.Failures() > before || x.Halted {
		return // the body would only repeat it
	}
	x.settle(m.body, inner)
	x.importSpaces(m.body, dst)
	x.children(m.body.Children, dst, inner)
}

// settle evaluates the attributes of an element that vanishes, because ROS xacro
// does so and thereby evaluates the properties that they name.
func (x *expander) settle(n *xmltree.Node, e env) {
	for _, a := range n.Attrs {
		_, _ = x.evalText(a.Value, e.symbols, a.Pos)
	}
}

// passAttrs gives a call's attributes to the parameters of their names and
// returns the parameters that are left.
func (x *expander) passAttrs(m *macro, attrs []xmltree.Attr, to *scope, e env) []param {
	given := map[string]bool{}
	for _, a := range attrs {
		known := false
		for _, p := range m.params {
			known = known || p.Name == a.QName() && !p.IsBlock()
		}
		if !known {
			x.Fail(x.At(a.Pos, a.QName(), "macro %s has no parameter of that name; it has %s", m.name, m.signature()))
			continue
		}
		given[a.Name] = true
		v, err := x.evalText(a.Value, e.symbols, a.Pos)
		if err != nil {
			x.Fail(err)
			continue
		}
		to.set(a.Name, v, false, a.Pos)
	}
	var left []param
	for _, p := range m.params {
		if !given[p.Name] {
			left = append(left, p)
		}
	}
	return left
}

func (m *macro) signature() string {
	names := make([]string, len(m.params))
	for i, p := range m.params {
		names[i] = p.Name
	}
	return "[" + strings.Join(names, " ") + "]"
}

// passBlocks expands the elements inside of a call, where the caller stands,
// and gives them in order to the block parameters.
func (x *expander) passBlocks(m *macro, n *xmltree.Node, left []param, to *scope, e env) []param {
	holder := &xmltree.Node{Name: "blocks"}
	x.children(n.Children, holder, e)
	var blocks []*xmltree.Node
	for b := range holder.Elements() {
		blocks = append(blocks, b)
	}
	var rest []param
	for _, p := range left {
		switch {
		case !p.IsBlock():
			rest = append(rest, p)
		case len(blocks) == 0:
			x.Fail(x.At(n.Pos, "<"+n.QName()+">", "macro %s needs an element for its block %s", m.name, p.Name))
		default:
			to.setBlock(p.Name, blocks[0])
			blocks = blocks[1:]
		}
	}
	if len(blocks) > 0 {
		x.Fail(x.At(blocks[0].Pos, "<"+blocks[0].QName()+">", "macro %s has no block parameter for this element", m.name))
	}
	return rest
}

// passDefaults gives the rest what they are by default, as the caller sees it.
func (x *expander) passDefaults(m *macro, n *xmltree.Node, left []param, to *scope, e env) {
	var missing []string
	for _, p := range left {
		var v value.Value
		var err error
		switch found := p.Forward && e.symbols.has(p.Name); {
		case found:
			v, _, err = e.symbols.Lookup(p.Name)
		case p.HasDefault:
			v, err = x.evalText(p.Default, e.symbols, m.body.Attr("params").Pos)
		default:
			missing = append(missing, p.Name)
			continue
		}
		if err != nil {
			x.Fail(x.wrap(err, n.Pos, p.Name))
			continue
		}
		to.set(p.Name, v, false, n.Pos)
	}
	if len(missing) > 0 {
		x.Fail(x.At(n.Pos, "<"+n.QName()+">", "macro %s is not given %s", m.name, strings.Join(missing, ", ")))
	}
}
