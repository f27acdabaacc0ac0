package xacro

import (
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
	"poise/urdf/xacro/value"
)

// define handles xacro:macro. A macro of the same name is replaced.
func (ex *expander) define(n *xmltree.Node, e env) {
	a, ok := ex.attrs(n, []string{"name"}, "params")
	if !ok {
		return
	}
	name := strings.TrimPrefix(a[0].Value, prefix+":")
	switch {
	case name == "call":
		ex.Fail(ex.At(a[0].Pos, name, "a macro cannot have the name call"))
		return
	case strings.Contains(name, "."):
		ex.Fail(ex.At(a[0].Pos, name, "name of a macro has a point, which separates name spaces"))
		return
	case name != a[0].Value:
		ex.Warn(a[0].Pos, a[0].Value, "name of a macro needs no prefix")
	}
	m := &macro{name: name, body: n}
	if a[1] != nil {
		params, err := readParams(a[1].Value)
		if err != nil {
			ex.Fail(ex.At(a[1].Pos, a[1].Value, "parameters of macro %s: %v", name, err))
			return
		}
		m.params = params
	}
	e.macros.define(m)
}

// dynamicCall handles xacro:call, which names its macro in an attribute.
func (ex *expander) dynamicCall(n, dst *xmltree.Node, e env) {
	a := n.Attr("macro")
	if a == nil {
		ex.Fail(ex.At(n.Pos, "<xacro:call>", "attribute macro is missing"))
		return
	}
	name, err := ex.evalString(a.Value, e.symbols, a.Pos)
	if err != nil {
		ex.Fail(err)
		return
	}
	var rest []xmltree.Attr
	for _, b := range n.Attrs {
		if b.QName() != "macro" {
			rest = append(rest, b)
		}
	}
	ex.call(n, name, rest, dst, e)
}

// callCost is what a call costs besides its body, in operations of expressions.
const callCost = 10

// call expands a macro into dst.
func (ex *expander) call(n *xmltree.Node, name string, attrs []xmltree.Attr, dst *xmltree.Node, e env) {
	m, seen, around := e.macros.find(name, e.symbols)
	if m == nil {
		known := e.macros.names()
		err := ex.At(n.Pos, "<"+prefix+":"+name+">", "unknown macro; known are %v", known)
		if ex.met < maxErrors { // the search takes its time
			err.Help = problem.DidYouMean(name, known)
		}
		ex.Fail(err)
		return
	}
	inner := env{symbols: ex.scope(around), macros: &macros{parent: seen}, level: e.level}
	ex.spend(callCost, n.Pos)
	ex.Push("macro %s called at %s", m.name, n.Pos)
	defer ex.Pop()
	before := ex.Failures()

	left := ex.passAttrs(m, attrs, inner.symbols, e)
	left = ex.passBlocks(m, n, left, inner.symbols, e)
	ex.passDefaults(m, n, left, inner.symbols, e)

	if ex.Failures() > before || ex.Halted {
		return // the body would only repeat it
	}
	ex.settle(m.body, inner)
	ex.importSpaces(m.body, dst)
	ex.children(m.body.Children, dst, inner)
}

// settle evaluates the attributes of an element that vanishes, because ROS xacro
// does so and thereby evaluates the properties that they name.
func (ex *expander) settle(n *xmltree.Node, e env) {
	for _, a := range n.Attrs {
		_, _ = ex.evalText(a.Value, e.symbols, a.Pos)
	}
}

// passAttrs gives a call's attributes to the parameters of their names and
// returns the parameters that are left.
func (ex *expander) passAttrs(m *macro, attrs []xmltree.Attr, to *scope, e env) []param {
	given := map[string]bool{}
	for _, a := range attrs {
		known := false
		for _, p := range m.params {
			known = known || p.Name == a.QName() && !p.IsBlock()
		}
		if !known {
			ex.Fail(ex.At(a.Pos, a.QName(), "macro %s has no parameter of that name; it has %s", m.name, m.signature()))
			continue
		}
		given[a.Name] = true
		v, err := ex.evalText(a.Value, e.symbols, a.Pos)
		if err != nil {
			ex.Fail(err)
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
func (ex *expander) passBlocks(m *macro, n *xmltree.Node, left []param, to *scope, e env) []param {
	holder := &xmltree.Node{Name: "blocks"}
	ex.children(n.Children, holder, e)
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
			ex.Fail(ex.At(n.Pos, "<"+n.QName()+">", "macro %s needs an element for its block %s", m.name, p.Name))
		default:
			to.setBlock(p.Name, blocks[0])
			blocks = blocks[1:]
		}
	}
	if len(blocks) > 0 {
		ex.Fail(ex.At(blocks[0].Pos, "<"+blocks[0].QName()+">", "macro %s has no block parameter for this element", m.name))
	}
	return rest
}

// passDefaults gives the rest what they are by default, as the caller sees it.
func (ex *expander) passDefaults(m *macro, n *xmltree.Node, left []param, to *scope, e env) {
	var missing []string
	for _, p := range left {
		var v value.Value
		var err error
		switch found := p.Forward && e.symbols.has(p.Name); {
		case found:
			v, _, err = e.symbols.Lookup(p.Name)
		case p.HasDefault:
			v, err = ex.evalText(p.Default, e.symbols, m.body.Attr("params").Pos)
		default:
			missing = append(missing, p.Name)
			continue
		}
		if err != nil {
			ex.Fail(ex.wrap(err, n.Pos, p.Name))
			continue
		}
		to.set(p.Name, v, false, n.Pos)
	}
	if len(missing) > 0 {
		ex.Fail(ex.At(n.Pos, "<"+n.QName()+">", "macro %s is not given %s", m.name, strings.Join(missing, ", ")))
	}
}
