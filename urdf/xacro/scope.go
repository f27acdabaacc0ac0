package xacro

import (
	"maps"
	"slices"
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
	"poise/urdf/xacro/expr"
	"poise/urdf/xacro/value"
)

// scope holds the properties and blocks of a file or of a macro's call. A macro
// sees the scope that it is called from, not the one where it is written.
type scope struct {
	x      *expander
	parent *scope // nil outside of all macros
	space  bool   // of an include with a name space
	vars   map[string]*property
	blocks map[string]*xmltree.Node // "*name" the element, "**name" what is in it
}

func (ex *expander) scope(parent *scope) *scope {
	return &scope{x: ex, parent: parent}
}

// property is a value, or the text that will be evaluated when it is first needed.
type property struct {
	v    value.Value
	lazy bool
	busy bool // being evaluated
	pos  problem.Pos
}

// find returns the innermost property of that name, and the scope that has it.
func (s *scope) find(name string) (*property, *scope) {
	for ; s != nil; s = s.parent {
		if p := s.vars[name]; p != nil {
			return p, s
		}
	}
	return nil, nil
}

// has tells whether a name means something: a property or a built-in symbol.
func (s *scope) has(name string) bool {
	p, _ := s.find(name)
	return p != nil || s.builtin(name) != nil
}

func (s *scope) builtin(name string) value.Value {
	if v, ok := s.x.builtins[name]; ok {
		return v
	}
	v, _ := expr.Global(name)
	return v
}

// Lookup makes a scope one for expressions.
func (s *scope) Lookup(name string) (value.Value, bool, error) {
	p, owner := s.find(name)
	if p == nil {
		v := s.builtin(name)
		return v, v != nil, nil
	}
	if p.lazy {
		if err := owner.resolve(name, p); err != nil {
			return nil, true, err
		}
	}
	return p.v, true, nil
}

// Names lists the properties that a scope sees.
func (s *scope) Names() (all []string) {
	for ; s != nil; s = s.parent {
		all = slices.AppendSeq(all, maps.Keys(s.vars))
	}
	return all
}

// resolve evaluates a property in the scope that has it, once.
func (s *scope) resolve(name string, p *property) error {
	ex := s.x
	if p.busy {
		return ex.At(p.pos, name, "property is defined by itself")
	}
	p.busy = true
	ex.Push("property %s of %s", name, p.pos)
	ex.enter(p.pos)
	v, err := ex.evalText(p.v.(string), s, p.pos)
	ex.leave()
	ex.Pop()
	p.busy = false
	if err != nil {
		return err
	}
	p.v, p.lazy = literal(v), false
	return nil
}

// set defines a property. A text that is no literal is evaluated at first use
// if lazy.
func (s *scope) set(name string, v value.Value, lazy bool, pos problem.Pos) {
	if s.builtin(name) != nil {
		s.x.Warn(pos, name, "property hides a built-in symbol")
	}
	v = literal(v)
	_, isText := v.(string)
	if s.vars == nil {
		s.vars = map[string]*property{}
	}
	s.vars[name] = &property{v: v, lazy: lazy && isText, pos: pos}
}

// remove forgets a property in this scope and all outer ones.
func (s *scope) remove(name string) {
	for ; s != nil; s = s.parent {
		delete(s.vars, name)
	}
}

// top is the outermost scope.
func (s *scope) top() *scope {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

// block returns the element of a block, nil if there is not one of that name, and
// whether only its contents are meant. Such blocks come before the others.
func (s *scope) block(name string) (n *xmltree.Node, contents bool) {
	for _, prefix := range []string{"**", "*"} {
		for t := s; t != nil; t = t.parent {
			if n := t.blocks[prefix+name]; n != nil {
				return n, prefix == "**"
			}
		}
	}
	return nil, false
}

func (s *scope) setBlock(name string, n *xmltree.Node) {
	if s.blocks == nil {
		s.blocks = map[string]*xmltree.Node{}
	}
	s.blocks[name] = n
}

// namespace makes the scope of an include a value: ns.property.
type namespace struct {
	name string
	*scope
}

func (n *namespace) TypeName() string { return "name space " + n.name }

func (n *namespace) Member(name string) (value.Value, bool, error) { return n.Lookup(name) }

// macro is a definition.
type macro struct {
	name   string
	body   *xmltree.Node
	params []param
}

// macros are those that a file or a macro's call can see.
type macros struct {
	parent *macros
	named  map[string]*macro
	spaces map[string]*macros
}

func (m *macros) define(d *macro) {
	if m.named == nil {
		m.named = map[string]*macro{}
	}
	m.named[d.name] = d
}

// space opens a name space, empty and without a view of what is outside.
func (m *macros) space(name string) *macros {
	if m.spaces == nil {
		m.spaces = map[string]*macros{}
	}
	m.spaces[name] = &macros{}
	return m.spaces[name]
}

// find resolves the name of a macro, which may go through name spaces: a.b.name.
// The scope is the one that the macro will see: that of its name space.
func (m *macros) find(fullname string, s *scope) (*macro, *macros, *scope) {
	for t := m; t != nil; t = t.parent {
		if found := t.named[fullname]; found != nil {
			return found, m, s
		}
	}
	parts := strings.Split(fullname, ".")
	for _, space := range parts[:len(parts)-1] {
		var inner *macros
		for t := m; t != nil && inner == nil; t = t.parent {
			inner = t.spaces[space]
		}
		p, _ := s.find(space)
		if inner == nil || p == nil {
			return nil, nil, nil
		}
		symbols, ok := p.v.(*namespace)
		if !ok {
			return nil, nil, nil
		}
		m, s = inner, symbols.scope
	}
	if len(parts) > 1 {
		return m.find(parts[len(parts)-1], s)
	}
	return nil, nil, nil
}

// names lists all macros in sight, for a helpful word.
func (m *macros) names() []string {
	var out []string
	for ; m != nil; m = m.parent {
		for name := range m.named {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
