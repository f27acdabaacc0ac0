package expr

import (
	"fmt"
	"maps"
	"slices"

	"poise/urdf/xacro/value"
)

type argument struct {
	value  node
	key    string // of key=x
	spread int    // 1 for *x, 2 for **x
}

type callNode struct {
	span
	fn    node
	args  []argument
	named bool // while parsing: an argument with a name was seen
}

func (n *callNode) eval(c *context) (value.Value, error) {
	fn, err := n.fn.eval(c)
	if err != nil {
		return nil, err
	}
	f, ok := fn.(*Func)
	if !ok {
		return nil, c.fail(n.span, fmt.Errorf("%s cannot be called", value.TypeName(fn)))
	}
	var args Args
	for _, a := range n.args {
		v, err := a.value.eval(c)
		if err == nil {
			err = a.pass(c.budget, &args, v)
		}
		if err != nil {
			return nil, c.fail(n.span, err)
		}
	}
	v, err := f.Call(c.budget, args)
	return c.done(n.span, v, err)
}

// pass adds an argument to those of a call.
func (a argument) pass(b *value.Budget, args *Args, v value.Value) error {
	switch {
	case a.spread == 1:
		items, err := value.Items(b, v)
		if err != nil {
			return err
		}
		args.Pos = append(args.Pos, items...)
		return b.Spend(len(items))
	case a.spread == 2:
		d, ok := v.(*value.Dict)
		if !ok {
			return fmt.Errorf("** needs a dict, not %s", value.TypeName(v))
		}
		for i, k := range d.Keys() {
			key, ok := k.(string)
			if !ok {
				return fmt.Errorf("names of arguments are strings, not %s", value.TypeName(k))
			}
			if err := args.Name(b, key, d.Values()[i]); err != nil {
				return err
			}
		}
		return nil
	case a.key != "":
		return args.Name(b, a.key, v)
	}
	args.Pos = append(args.Pos, v)
	return nil
}

// clause is one "for … in … if …" of a comprehension.
type clause struct {
	names  []string
	unpack bool // several names, or one with a comma
	list   node
	conds  []node
}

type comprehensionNode struct {
	span
	key, item node // key is nil unless it makes a dict
	clauses   []clause
}

func (n *comprehensionNode) eval(c *context) (value.Value, error) {
	out := value.List{}
	d := value.NewDict()
	err := n.loop(c, n.clauses, func(c *context) error {
		item, err := n.item.eval(c)
		if err != nil {
			return err
		}
		if n.key == nil {
			if out = append(out, item); len(out) > value.MaxItems {
				return fmt.Errorf("list is longer than %d elements", value.MaxItems)
			}
			return c.budget.Spend(1)
		}
		key, err := n.key.eval(c)
		if err != nil {
			return err
		}
		return d.Set(c.budget, key, item)
	})
	if n.key != nil {
		return c.done(n.span, d, err)
	}
	return c.done(n.span, out, err)
}

// loop runs body once for every combination that the clauses let through.
func (n *comprehensionNode) loop(c *context, clauses []clause, body func(*context) error) error {
	if len(clauses) == 0 {
		return body(c)
	}
	cl := clauses[0]
	list, err := cl.list.eval(c)
	if err != nil {
		return err
	}
	items, err := value.Items(c.budget, list)
	if err != nil {
		return c.fail(n.span, err)
	}
	inner := *c
	for _, item := range items {
		vars, err := cl.bind(c.budget, item)
		if err != nil {
			return c.fail(n.span, err)
		}
		inner.scope = &locals{c.scope, vars}
		pass := true
		for _, cond := range cl.conds {
			v, err := cond.eval(&inner)
			if err != nil {
				return err
			}
			if pass = value.Truth(v); !pass {
				break
			}
		}
		if pass {
			if err := n.loop(&inner, clauses[1:], body); err != nil {
				return err
			}
		}
	}
	return nil
}

func (cl clause) bind(b *value.Budget, item value.Value) (map[string]value.Value, error) {
	vars := make(map[string]value.Value, len(cl.names))
	if !cl.unpack {
		vars[cl.names[0]] = item
		return vars, b.Spend(1)
	}
	parts, err := value.Items(b, item)
	if err != nil {
		return nil, err
	}
	if len(parts) != len(cl.names) {
		return nil, fmt.Errorf("%d values for %d names", len(parts), len(cl.names))
	}
	for i, name := range cl.names {
		vars[name] = parts[i]
	}
	return vars, nil
}

// locals are the names that a comprehension binds.
type locals struct {
	outer Scope
	vars  map[string]value.Value
}

func (l *locals) Lookup(name string) (value.Value, bool, error) {
	if v, ok := l.vars[name]; ok {
		return v, true, nil
	}
	return l.outer.Lookup(name)
}

func (l *locals) Names() []string {
	return slices.AppendSeq(l.outer.Names(), maps.Keys(l.vars))
}
