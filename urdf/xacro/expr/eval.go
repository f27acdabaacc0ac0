package expr

import (
	"errors"
	"fmt"

	"poise/urdf/xacro/value"
)

// Scope says what a name means. An error is one that evaluating the name's own
// definition gave.
type Scope interface {
	Names() []string // that expressions may use, built-in ones apart, in any order
	Lookup(name string) (v value.Value, ok bool, err error)
}

// Eval computes the expression. The error is an *Error.
func (p *Program) Eval(scope Scope, b *value.Budget) (value.Value, error) {
	return p.root.eval(&context{p.src, scope, b})
}

// Eval parses and computes.
func Eval(src string, scope Scope, b *value.Budget) (value.Value, error) {
	p, err := Parse(src)
	if err != nil {
		return nil, err
	}
	return p.Eval(scope, b)
}

type context struct {
	src    string
	scope  Scope
	budget *value.Budget
}

// fail puts an error at a place, unless it has one.
func (c *context) fail(s span, err error) error {
	if _, placed := err.(*Error); placed || err == nil {
		return err
	}
	return &Error{Src: c.src, From: s.from, To: s.to, Msg: err.Error(), Err: err}
}

// done returns a result or puts its error at the node.
func (c *context) done(s span, v value.Value, err error) (value.Value, error) {
	if err == nil {
		err = c.budget.Spend(1)
	}
	if err != nil {
		return nil, c.fail(s, err)
	}
	return v, nil
}

type span struct{ from, to int }

type node interface {
	eval(c *context) (value.Value, error)
}

type (
	literalNode struct {
		span
		v value.Value
	}
	nameNode struct {
		span
		name string
	}
	sequenceNode struct {
		span
		items   []node
		isTuple bool
	}
	dictNode struct {
		span
		keys, values []node
	}
	unaryNode struct {
		span
		op      string
		operand node
	}
	notNode struct {
		span
		operand node
	}
	binaryNode struct {
		span
		op          string
		left, right node
	}
	logicalNode struct {
		span
		or          bool
		left, right node
	}
	comparisonNode struct {
		span
		first node
		ops   []string
		rest  []node
	}
	ternaryNode struct {
		span
		cond, yes, no node
	}
	indexNode struct {
		span
		operand, key node
	}
	sliceNode struct {
		span
		operand node
		bounds  [3]node
	}
	attributeNode struct {
		span
		operand node
		name    string
	}
)

func (n *literalNode) eval(c *context) (value.Value, error) { return c.done(n.span, n.v, nil) }

func (n *nameNode) eval(c *context) (value.Value, error) {
	v, ok, err := c.scope.Lookup(n.name)
	if !ok && err == nil {
		if v, ok = Python(n.name); !ok {
			err = &Undefined{n.name, c.scope}
		}
	}
	return c.done(n.span, v, err)
}

func (c *context) all(nodes []node) ([]value.Value, error) {
	out := make([]value.Value, len(nodes))
	for i, n := range nodes {
		v, err := n.eval(c)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (n *sequenceNode) eval(c *context) (value.Value, error) {
	items, err := c.all(n.items)
	if n.isTuple {
		return c.done(n.span, value.Tuple(items), err)
	}
	return c.done(n.span, value.List(items), err)
}

func (n *dictNode) eval(c *context) (value.Value, error) {
	d := value.NewDict()
	for i := range n.keys {
		pair, err := c.all([]node{n.keys[i], n.values[i]})
		if err == nil {
			err = d.Set(c.budget, pair[0], pair[1])
		}
		if err != nil {
			return nil, c.fail(n.span, err)
		}
	}
	return c.done(n.span, d, nil)
}

func (n *unaryNode) eval(c *context) (value.Value, error) {
	operand, err := n.operand.eval(c)
	if err == nil {
		operand, err = value.Unary(n.op, operand)
	}
	return c.done(n.span, operand, err)
}

func (n *notNode) eval(c *context) (value.Value, error) {
	operand, err := n.operand.eval(c)
	if err != nil {
		return nil, err
	}
	return c.done(n.span, !value.Truth(operand), nil)
}

func (n *binaryNode) eval(c *context) (value.Value, error) {
	left, err := n.left.eval(c)
	if err != nil {
		return nil, err
	}
	right, err := n.right.eval(c)
	if err != nil {
		return nil, err
	}
	v, err := value.Operate(c.budget, n.op, left, right)
	return c.done(n.span, v, err)
}

// logicalNode gives the operand that decided, not its truth.
func (n *logicalNode) eval(c *context) (value.Value, error) {
	left, err := n.left.eval(c)
	if err != nil || value.Truth(left) == n.or {
		return left, err
	}
	return n.right.eval(c)
}

func (n *comparisonNode) eval(c *context) (value.Value, error) {
	left, err := n.first.eval(c)
	if err != nil {
		return nil, err
	}
	for i, op := range n.ops {
		right, err := n.rest[i].eval(c)
		if err != nil {
			return nil, err
		}
		holds, err := c.holds(op, left, right)
		if err != nil {
			return nil, c.fail(n.span, err)
		}
		if !holds {
			return c.done(n.span, false, nil)
		}
		left = right
	}
	return c.done(n.span, true, nil)
}

func (c *context) holds(op string, left, right value.Value) (bool, error) {
	switch op {
	case "==":
		return value.Equal(c.budget, left, right)
	case "!=":
		same, err := value.Equal(c.budget, left, right)
		return !same, err
	case "in":
		return value.Contains(c.budget, right, left)
	case "not in":
		found, err := value.Contains(c.budget, right, left)
		return !found, err
	case "is", "is not":
		same, err := identical(left, right)
		return same == (op == "is"), err
	}
	return value.Ordered(c.budget, op, left, right)
}

// identical compares with None, True and False only: whether two equal numbers
// are one object is an accident of Python.
func identical(left, right value.Value) (bool, error) {
	for _, v := range []value.Value{left, right} {
		switch v.(type) {
		case nil, bool:
			return value.TypeName(left) == value.TypeName(right) && left == right, nil
		}
	}
	return false, errors.New("is needs None, True or False at one side; use ==")
}

func (n *ternaryNode) eval(c *context) (value.Value, error) {
	cond, err := n.cond.eval(c)
	if err != nil {
		return nil, err
	}
	if value.Truth(cond) {
		return n.yes.eval(c)
	}
	return n.no.eval(c)
}

func (n *indexNode) eval(c *context) (value.Value, error) {
	pair, err := c.all([]node{n.operand, n.key})
	if err != nil {
		return nil, err
	}
	if space, ok := pair[0].(Namespace); ok {
		key, _ := pair[1].(string)
		v, err := member(space, key)
		return c.done(n.span, v, err)
	}
	v, err := value.Index(c.budget, pair[0], pair[1])
	return c.done(n.span, v, err)
}

func (n *sliceNode) eval(c *context) (value.Value, error) {
	operand, err := n.operand.eval(c)
	if err != nil {
		return nil, err
	}
	var bounds [3]value.Value
	for i, b := range n.bounds {
		if b == nil {
			continue
		}
		if bounds[i], err = b.eval(c); err != nil {
			return nil, err
		}
	}
	v, err := value.Slice(c.budget, operand, bounds[0], bounds[1], bounds[2])
	return c.done(n.span, v, err)
}

// attributeNode reads a name space, a method, or the key of a dictionary.
func (n *attributeNode) eval(c *context) (value.Value, error) {
	operand, err := n.operand.eval(c)
	if err != nil {
		return nil, err
	}
	if space, ok := operand.(Namespace); ok {
		v, err := member(space, n.name)
		return c.done(n.span, v, err)
	}
	if m := Method(operand, n.name); m != nil {
		return c.done(n.span, m, nil)
	}
	if d, ok := operand.(*value.Dict); ok {
		v, err := value.Index(c.budget, d, n.name)
		return c.done(n.span, v, err)
	}
	return nil, c.fail(n.span, fmt.Errorf("%s has no attribute %s", value.TypeName(operand), n.name))
}

func member(space Namespace, name string) (value.Value, error) {
	v, ok, err := space.Member(name)
	if err == nil && !ok {
		err = fmt.Errorf("%s has no member %q", space.TypeName(), name)
	}
	return v, err
}
