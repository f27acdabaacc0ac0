package expr

import (
	"fmt"
	"maps"
	"slices"

	"poise/urdf/xacro/value"
)

// The bounds of an expression.
const (
	MaxSource = 1 << 16 // bytes
	MaxDepth  = 100     // parentheses within parentheses
)

// Error is a mistake in an expression, or one that its evaluation found.
type Error struct {
	Src      string // the whole expression
	From, To int    // the offending part of it
	Msg      string
	Err      error // what a name or a function reported, nil if nothing
}

func (e *Error) Error() string {
	if part := e.Part(); part != "" {
		return fmt.Sprintf("%s: %q", e.Msg, part)
	}
	return e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// Undefined is a name that means nothing where it stands.
type Undefined struct {
	Name  string
	Scope Scope
}

func (*Undefined) Error() string { return "undefined name" }

// Known returns the names that could have been meant. Short ones of the built-in names, which
// are part of many words, are not.
func (u *Undefined) Known() []string {
	all := slices.Concat(slices.Collect(maps.Keys(globals)), slices.Collect(maps.Keys(python)))
	all = slices.DeleteFunc(all, func(name string) bool { return 2*len(name) < len(u.Name) })
	return append(all, u.Scope.Names()...)
}

// Part returns the offending text.
func (e *Error) Part() string { return e.Src[e.From:e.To] }

// Program is a parsed expression. It does not change and may be used by many.
type Program struct {
	src  string
	root node
}

// Parse reads an expression. The error is an *Error.
func Parse(src string) (*Program, error) {
	if len(src) > MaxSource {
		return nil, &Error{Src: src, To: 20, Msg: fmt.Sprintf("expression is longer than %d bytes", MaxSource)}
	}
	tokens, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, tokens: tokens}
	root, err := p.tuple(end)
	if err == nil && p.peek().kind != end {
		err = p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return &Program{src, root}, nil
}

type parser struct {
	src    string
	tokens []token
	at     int
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// is tells whether the next token is that operator or keyword.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == operator || t.kind == keyword) && t.text == text
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if !p.accept(text) {
		return p.fail(p.peek(), fmt.Sprintf("%s expected", text))
	}
	return nil
}

func (p *parser) fail(t token, msg string) error {
	return &Error{Src: p.src, From: t.from, To: t.to, Msg: msg}
}

func (p *parser) unexpected() error {
	switch t := p.peek(); {
	case t.kind == end && p.at == 0:
		return p.fail(t, "expression is empty")
	case t.kind == end:
		return p.fail(t, "expression ends too early")
	case t.kind == keyword && t.text == "lambda":
		return p.fail(t, "no functions can be defined; a comprehension may do")
	default:
		return p.fail(t, "not expected here")
	}
}

func (p *parser) enter() error {
	if p.depth++; p.depth > MaxDepth {
		return p.fail(p.peek(), fmt.Sprintf("expression nests deeper than %d", MaxDepth))
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// span covers from a token's start to the last token taken.
func (p *parser) span(from int) span { return span{from, p.tokens[p.at-1].to} }

// tuple reads one expression, or several with commas between: a tuple. closing
// is the kind of token that may follow a last comma.
func (p *parser) tuple(closing kind) (node, error) {
	from := p.peek().from
	first, err := p.ternary()
	if err != nil || !p.is(",") {
		return first, err
	}
	items := []node{first}
	for p.accept(",") {
		if t := p.peek(); t.kind == closing && (closing == end || t.text == ")" || t.text == "]") {
			break
		}
		item, err := p.ternary()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return &sequenceNode{p.span(from), items, true}, nil
}

// ternary: yes if cond else no
func (p *parser) ternary() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	from := p.peek().from
	yes, err := p.or()
	if err != nil || !p.accept("if") {
		return yes, err
	}
	cond, err := p.or()
	if err != nil {
		return nil, err
	}
	if err := p.expect("else"); err != nil {
		return nil, err
	}
	no, err := p.ternary()
	return &ternaryNode{p.span(from), cond, yes, no}, err
}

func (p *parser) or() (node, error) { return p.logical("or", p.and) }

func (p *parser) and() (node, error) { return p.logical("and", p.not) }

func (p *parser) logical(op string, operand func() (node, error)) (node, error) {
	from := p.peek().from
	left, err := operand()
	for err == nil && p.accept(op) {
		var right node
		right, err = operand()
		left = &logicalNode{p.span(from), op == "or", left, right}
	}
	return left, err
}

func (p *parser) not() (node, error) {
	if !p.is("not") {
		return p.comparison()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	from := p.take().from
	operand, err := p.not()
	return &notNode{p.span(from), operand}, err
}

// comparison: a chain such as 0 < x <= 1
func (p *parser) comparison() (node, error) {
	from := p.peek().from
	first, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	chain := &comparisonNode{first: first}
	for {
		op := p.comparator()
		if op == "" {
			break
		}
		next, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		chain.ops, chain.rest = append(chain.ops, op), append(chain.rest, next)
	}
	if len(chain.ops) == 0 {
		return first, nil
	}
	chain.span = p.span(from)
	return chain, nil
}

func (p *parser) comparator() string {
	for _, op := range []string{"<", "<=", ">", ">=", "==", "!=", "in"} {
		if p.accept(op) {
			return op
		}
	}
	if p.is("not") && p.tokens[p.at+1].text == "in" {
		p.at += 2
		return "not in"
	}
	if p.accept("is") {
		if p.accept("not") {
			return "is not"
		}
		return "is"
	}
	return ""
}

// levels are the binary operators, the loosest first.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%"}}

func (p *parser) binary(level int) (node, error) {
	if level == len(levels) {
		return p.unary()
	}
	from := p.peek().from
	left, err := p.binary(level + 1)
	for err == nil {
		op := ""
		for _, candidate := range levels[level] {
			if p.accept(candidate) {
				op = candidate
				break
			}
		}
		if op == "" {
			return left, nil
		}
		var right node
		right, err = p.binary(level + 1)
		left = &binaryNode{p.span(from), op, left, right}
	}
	return left, err
}

// unary binds looser than ** to its right: -2**2 is -4, 2**-1 is 0.5.
func (p *parser) unary() (node, error) {
	if !p.is("-") && !p.is("+") && !p.is("~") {
		return p.power()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	op := p.take()
	operand, err := p.unary()
	return &unaryNode{p.span(op.from), op.text, operand}, err
}

func (p *parser) power() (node, error) {
	from := p.peek().from
	left, err := p.primary()
	if err != nil || !p.accept("**") {
		return left, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	right, err := p.unary()
	return &binaryNode{p.span(from), "**", left, right}, err
}

// atom is a literal, a name, or something in brackets.
func (p *parser) atom() (node, error) {
	t := p.peek()
	switch {
	case t.kind == literal:
		return p.literal()
	case t.kind == name:
		p.at++
		return &nameNode{p.span(t.from), t.text}, nil
	case t.kind == keyword:
		constant, ok := map[string]value.Value{"True": true, "False": false, "None": nil}[t.text]
		if !ok {
			return nil, p.unexpected()
		}
		p.at++
		return &literalNode{p.span(t.from), constant}, nil
	case p.is("("), p.is("["):
		return p.brackets()
	case p.is("{"):
		return p.dict()
	}
	return nil, p.unexpected()
}

// literal joins strings that stand side by side.
func (p *parser) literal() (node, error) {
	t := p.take()
	s, isString := t.value.(string)
	for isString && p.peek().kind == literal {
		u, ok := p.peek().value.(string)
		if !ok {
			break
		}
		p.at++
		s += u
		t.value = s
	}
	return &literalNode{p.span(t.from), t.value}, nil
}
