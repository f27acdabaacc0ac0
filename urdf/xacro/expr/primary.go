package expr

// primary is an atom followed by any number of calls, indices and attributes.
func (p *parser) primary() (node, error) {
	from := p.peek().from
	operand, err := p.atom()
	for err == nil {
		switch {
		case p.accept("."):
			t := p.take()
			if t.kind != name {
				return nil, p.fail(t, "name expected behind the point")
			}
			operand = &attributeNode{p.span(from), operand, t.text}
		case p.is("("):
			operand, err = p.call(operand, from)
		case p.accept("["):
			operand, err = p.index(operand, from)
		default:
			return operand, nil
		}
	}
	return nil, err
}

// brackets: a list, a tuple, a comprehension or an expression in parentheses.
func (p *parser) brackets() (node, error) {
	open := p.take()
	closing, isTuple := ")", open.text == "("
	if !isTuple {
		closing = "]"
	}
	var items []node
	comma := false
	for !p.is(closing) {
		item, err := p.ternary()
		if err != nil {
			return nil, err
		}
		if p.is("for") && len(items) == 0 {
			clauses, err := p.clauses()
			if err == nil {
				err = p.expect(closing)
			}
			return &comprehensionNode{p.span(open.from), nil, item, clauses}, err
		}
		items = append(items, item)
		if comma = p.accept(","); !comma {
			break
		}
	}
	if err := p.expect(closing); err != nil {
		return nil, err
	}
	if isTuple && len(items) == 1 && !comma {
		return items[0], nil
	}
	return &sequenceNode{p.span(open.from), items, isTuple}, nil
}

func (p *parser) dict() (node, error) {
	d := &dictNode{}
	from := p.take().from
	for !p.is("}") {
		key, err := p.ternary()
		if err != nil {
			return nil, err
		}
		if p.is(",") || p.is("}") {
			return nil, p.fail(p.peek(), "there are no sets; : expected")
		}
		if err := p.expect(":"); err != nil {
			return nil, err
		}
		item, err := p.ternary()
		if err != nil {
			return nil, err
		}
		if p.is("for") && len(d.keys) == 0 {
			clauses, err := p.clauses()
			if err == nil {
				err = p.expect("}")
			}
			return &comprehensionNode{p.span(from), key, item, clauses}, err
		}
		d.keys, d.values = append(d.keys, key), append(d.values, item)
		if !p.accept(",") {
			break
		}
	}
	err := p.expect("}")
	d.span = p.span(from)
	return d, err
}

// clauses: for a, b in list if cond for …
func (p *parser) clauses() ([]clause, error) {
	var all []clause
	for p.accept("for") {
		var c clause
		closing := ""
		if p.accept("(") {
			closing = ")"
		}
		for {
			t := p.take()
			if t.kind != name {
				return nil, p.fail(t, "name expected behind for")
			}
			c.names = append(c.names, t.text)
			if !p.accept(",") {
				break
			}
			c.unpack = true
			if p.is("in") || p.is(")") {
				break
			}
		}
		if closing != "" {
			if err := p.expect(closing); err != nil {
				return nil, err
			}
		}
		err := p.expect("in")
		if err == nil {
			c.list, err = p.or()
		}
		for err == nil && p.accept("if") {
			var cond node
			cond, err = p.or()
			c.conds = append(c.conds, cond)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// call reads the arguments of a call.
func (p *parser) call(fn node, from int) (node, error) {
	c := &callNode{fn: fn}
	p.take()
	for !p.is(")") {
		if err := p.argument(c); err != nil {
			return nil, err
		}
		if !p.accept(",") {
			break
		}
	}
	err := p.expect(")")
	c.span = p.span(from)
	return c, err
}

func (p *parser) argument(c *callNode) error {
	a := argument{}
	switch {
	case p.accept("*"):
		a.spread = 1
	case p.accept("**"):
		a.spread = 2
	case p.peek().kind == name && p.tokens[p.at+1].kind == operator && p.tokens[p.at+1].text == "=":
		a.key = p.take().text
		p.take()
	}
	start := p.peek().from
	given, err := p.ternary()
	if err != nil {
		return err
	}
	if p.is("for") && a == (argument{}) {
		clauses, err := p.clauses()
		if err != nil {
			return err
		}
		given = &comprehensionNode{p.span(start), nil, given, clauses}
	}
	a.value = given
	if positional := a.key == "" && a.spread < 2; positional && c.named {
		return p.fail(p.peek(), "argument without a name behind one with a name")
	} else if !positional {
		c.named = true
	}
	c.args = append(c.args, a)
	return nil
}

// index reads [i] or [a:b:c], behind the bracket.
func (p *parser) index(operand node, from int) (node, error) {
	var bounds [3]node
	colons := 0
	for !p.is("]") {
		if p.accept(":") {
			if colons++; colons > 2 {
				return nil, p.unexpected()
			}
			continue
		}
		if bounds[colons] != nil {
			return nil, p.unexpected()
		}
		var err error
		if bounds[colons], err = p.tuple(operator); err != nil {
			return nil, err
		}
	}
	if colons == 0 && bounds[0] == nil {
		return nil, p.unexpected()
	}
	p.take()
	if colons == 0 {
		return &indexNode{p.span(from), operand, bounds[0]}, nil
	}
	return &sliceNode{p.span(from), operand, bounds}, nil
}
