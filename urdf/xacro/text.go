package xacro

import (
	"errors"
	"slices"
	"strings"

	"poise/problem"
	"poise/urdf/xacro/expr"
	"poise/urdf/xacro/value"
)

// evalText evaluates the ${…} and $(…) of a text. A text that is nothing but
// one of them has the type of its value, any other is a string. The error is an
// *problem.Problem.
func (ex *expander) evalText(text string, s *scope, pos problem.Pos) (value.Value, error) {
	if strings.IndexByte(text, '$') < 0 {
		return text, nil
	}
	// line breaks survive in text, not in attributes; a node's place is its first word
	counted := len(text) - len(strings.TrimLeft(text, " \t\n\r"))
	var parts []value.Value
	err := split(text, func(kind byte, part string, off int) error {
		if off > counted {
			pos.Line += strings.Count(text[counted:off], "\n")
			counted = off
		}
		var v value.Value = part
		err := ex.budget.Spend(1 + min(len(text)-off, maxPart)/16)
		switch {
		case err != nil:
			err = ex.wrap(err, pos, text)
		case kind == '{':
			v, err = ex.expression(part, s, pos)
		case kind == '(':
			v, err = ex.substitution(part, s, pos)
		case kind == 0:
			err = ex.At(pos, text[off:], "%s without its end", part)
		}
		parts = append(parts, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	var out strings.Builder
	for _, part := range parts {
		t, err := value.Str(ex.budget, part)
		if err == nil {
			err = ex.budget.Spend(1 + len(t)/16)
		}
		if err != nil {
			return nil, ex.wrap(err, pos, text)
		}
		out.WriteString(t)
		if out.Len() > value.MaxBytes {
			return nil, ex.At(pos, text, "text is longer than %d bytes", value.MaxBytes)
		}
	}
	return out.String(), nil
}

// evalString is evalText as it goes into the document.
func (ex *expander) evalString(text string, s *scope, pos problem.Pos) (string, error) {
	v, err := ex.evalText(text, s, pos)
	if err != nil {
		return "", err
	}
	out, err := value.Str(ex.budget, v)
	if err != nil {
		return "", ex.wrap(err, pos, text)
	}
	if strings.ContainsFunc(out, notXML) {
		return "", ex.At(pos, text, "result has a character that XML does not allow")
	}
	return out, nil
}

func notXML(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
}

// maxKept bounds the parsed expressions that are kept, by the bytes of their
// sources.
const maxKept = 1 << 20

// expression evaluates the inside of ${…}, whose own $(…) are put in as text
// first.
func (ex *expander) expression(inside string, s *scope, pos problem.Pos) (value.Value, error) {
	src, err := ex.evalInside(inside, s, pos)
	if err != nil {
		return nil, err
	}
	p := ex.programs[src]
	if p == nil {
		if err := ex.budget.Spend(1 + len(src)); err != nil {
			return nil, ex.wrap(err, pos, "${"+inside+"}")
		}
		if p, err = expr.Parse(src); err != nil {
			return nil, ex.wrap(err, pos, "${"+inside+"}")
		}
		if ex.kept += len(src); ex.kept <= maxKept {
			ex.programs[src] = p
		}
	}
	ex.place = pos
	v, err := p.Eval(s, ex.budget)
	if err != nil {
		return nil, ex.wrap(err, pos, "${"+inside+"}")
	}
	return v, nil
}

func (ex *expander) evalInside(inside string, s *scope, pos problem.Pos) (string, error) {
	if ex.depth > ex.lim.Depth {
		return "", ex.At(pos, inside, "properties refer to each other deeper than %d", ex.lim.Depth)
	}
	ex.depth++
	defer ex.leave()
	v, err := ex.evalText(inside, s, pos)
	if err != nil {
		return "", err
	}
	src, err := value.Str(ex.budget, v)
	if err != nil {
		return "", ex.wrap(err, pos, inside)
	}
	return src, nil
}

// wrap puts an error of an expression at its place; one that the definition of
// a property gave keeps the place that it has.
func (ex *expander) wrap(err error, pos problem.Pos, text string) error {
	var placed *problem.Problem
	if errors.As(err, &placed) {
		return placed
	}
	e := ex.At(pos, text, "%v", err)
	var inner *expr.Error
	if errors.As(err, &inner) {
		if e.Text = cutMessage(inner.Msg); inner.Part() != "" && inner.Part() != strings.TrimSpace(inner.Src) {
			e.Text = cutMessage(inner.Error())
		}
	}
	var undefined *expr.Undefined
	if errors.As(err, &undefined) && ex.met < maxErrors { // the search takes its time
		known := undefined.Known()
		slices.Sort(known)
		e.Help = problem.DidYouMean(undefined.Name, slices.Compact(known))
	}
	if errors.Is(err, value.ErrBudget) {
		ex.Halt(e)
	}
	return e
}
