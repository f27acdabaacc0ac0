package expr

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"poise/urdf/xacro/value"
)

// one wraps a function of one argument.
func one(name string, do func(b *value.Budget, v value.Value) (value.Value, error)) *Func {
	return &Func{Name: name, Min: 1, Max: 1, Do: func(b *value.Budget, a Args) (value.Value, error) {
		return do(b, a.Pos[0])
	}}
}

var functions = []*Func{
	one("len", func(b *value.Budget, v value.Value) (value.Value, error) {
		n, err := value.Len(v)
		return value.Int(n), err
	}),
	one("abs", func(_ *value.Budget, v value.Value) (value.Value, error) { return value.Unary("abs", v) }),
	one("repr", func(b *value.Budget, v value.Value) (value.Value, error) { return value.Repr(b, v) }),
	one("ord", func(_ *value.Budget, v value.Value) (value.Value, error) {
		s, ok := v.(string)
		if !ok || utf8.RuneCountInString(s) != 1 {
			return nil, errors.New("ord needs one character")
		}
		r, _ := utf8.DecodeRuneInString(s)
		return value.Int(int(r)), nil
	}),
	one("all", func(b *value.Budget, v value.Value) (value.Value, error) { return quantify(b, v, false) }),
	one("any", func(b *value.Budget, v value.Value) (value.Value, error) { return quantify(b, v, true) }),
	one("reversed", func(b *value.Budget, v value.Value) (value.Value, error) {
		return value.Slice(b, v, nil, nil, value.Int(-1))
	}),
	{Name: "bool", Max: 1, Do: func(_ *value.Budget, a Args) (value.Value, error) {
		return len(a.Pos) == 1 && value.Truth(a.Pos[0]), nil
	}},
	{Name: "str", Max: 1, Do: func(b *value.Budget, a Args) (value.Value, error) {
		if len(a.Pos) == 0 {
			return "", nil
		}
		return value.Str(b, a.Pos[0])
	}},
	{Name: "int", Max: 2, Named: []string{"base"}, Do: toInt},
	{Name: "float", Max: 1, Do: toFloat},
	{Name: "list", Max: 1, Do: func(b *value.Budget, a Args) (value.Value, error) {
		items, err := copied(b, a)
		return value.List(items), err
	}},
	{Name: "tuple", Max: 1, Do: func(b *value.Budget, a Args) (value.Value, error) {
		items, err := copied(b, a)
		return value.Tuple(items), err
	}},
	{Name: "dict", Max: 1, Named: []string{"*"}, Do: toDict},
	{Name: "min", Min: 1, Max: -1, Named: []string{"key", "default"}, Do: func(b *value.Budget, a Args) (value.Value, error) {
		return extreme(b, a, "<")
	}},
	{Name: "max", Min: 1, Max: -1, Named: []string{"key", "default"}, Do: func(b *value.Budget, a Args) (value.Value, error) {
		return extreme(b, a, ">")
	}},
	{Name: "round", Min: 1, Max: 2, Named: []string{"ndigits"}, Do: round},
	{Name: "sorted", Min: 1, Max: 1, Named: []string{"key", "reverse"}, Do: sorted},
	{Name: "sum", Min: 1, Max: 2, Named: []string{"start"}, Do: sum},
	{Name: "range", Min: 1, Max: 3, Do: toRange},
	{Name: "map", Min: 2, Max: -1, Do: mapped},
	{Name: "filter", Min: 2, Max: 2, Do: filtered},
	{Name: "zip", Max: -1, Do: func(b *value.Budget, a Args) (value.Value, error) { return zip(b, a.Pos) }},
	{Name: "enumerate", Min: 1, Max: 2, Named: []string{"start"}, Do: enumerate},
	{Name: "divmod", Min: 2, Max: 2, Do: func(b *value.Budget, a Args) (value.Value, error) {
		quotient, err := value.Operate(b, "//", a.Pos[0], a.Pos[1])
		if err != nil {
			return nil, err
		}
		rest, err := value.Operate(b, "%", a.Pos[0], a.Pos[1])
		return value.Tuple{quotient, rest}, err
	}},
	{Name: "isinstance", Min: 2, Max: 2, Do: isInstance},
}

func quantify(b *value.Budget, v value.Value, want bool) (value.Value, error) {
	items, err := value.Items(b, v)
	return slices.ContainsFunc(items, func(v value.Value) bool { return value.Truth(v) == want }) == want, err
}

func toInt(b *value.Budget, a Args) (value.Value, error) {
	if len(a.Pos) == 0 {
		return value.Int(0), nil
	}
	base := a.optional(1, "base", nil)
	switch v := a.Pos[0].(type) {
	case string:
		n := 10
		if base != nil {
			var err error
			if n, err = value.AsInt(base); err != nil || n != 0 && (n < 2 || n > 36) {
				return nil, errors.New("base must be 0 or from 2 to 36")
			}
		}
		return value.ParseInt(v, n)
	case float64:
		if base == nil {
			return value.Whole(v)
		}
	default:
		if base == nil {
			return value.Unary("+", v)
		}
	}
	return nil, errors.New("int with a base needs a string")
}

func toFloat(_ *value.Budget, a Args) (value.Value, error) {
	if len(a.Pos) == 0 {
		return 0.0, nil
	}
	if s, ok := a.Pos[0].(string); ok {
		return value.ParseFloat(s)
	}
	return value.AsFloat(a.Pos[0])
}

// copied returns the elements of the argument, if there is one.
func copied(b *value.Budget, a Args) ([]value.Value, error) {
	if len(a.Pos) == 0 {
		return nil, nil
	}
	items, err := value.Items(b, a.Pos[0])
	return items, err
}

func toDict(b *value.Budget, a Args) (value.Value, error) {
	d := value.NewDict()
	if len(a.Pos) == 1 {
		if from, ok := a.Pos[0].(*value.Dict); ok {
			for i, k := range from.Keys() {
				if err := d.Set(b, k, from.Values()[i]); err != nil {
					return nil, err
				}
			}
		} else if err := setPairs(b, d, a.Pos[0]); err != nil {
			return nil, err
		}
	}
	for i, name := range a.names {
		if err := d.Set(b, name, a.named[i]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func setPairs(b *value.Budget, d *value.Dict, list value.Value) error {
	items, err := value.Items(b, list)
	if err != nil {
		return err
	}
	for _, item := range items {
		pair, err := value.Items(b, item)
		if err != nil {
			return err
		}
		if len(pair) != 2 {
			return fmt.Errorf("dict needs pairs, not %d values", len(pair))
		}
		if err := d.Set(b, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// keyed applies the argument key, if it is given, to all items.
func keyed(b *value.Budget, a Args, items []value.Value) ([]value.Value, error) {
	key, ok := a.Named("key")
	if !ok || key == nil {
		return items, nil
	}
	list, err := mapped(b, Args{Pos: []value.Value{key, value.List(items)}})
	if err != nil {
		return nil, err
	}
	return list.(value.List), nil
}

func extreme(b *value.Budget, a Args, op string) (value.Value, error) {
	items := a.Pos
	if len(items) == 1 {
		var err error
		if items, err = value.Items(b, items[0]); err != nil {
			return nil, err
		}
	}
	if len(items) == 0 {
		if v, ok := a.Named("default"); ok {
			return v, nil
		}
		return nil, errors.New("min or max of nothing")
	}
	keys, err := keyed(b, a, items)
	if err != nil {
		return nil, err
	}
	best := 0
	for i := range items {
		better, err := value.Ordered(b, op, keys[i], keys[best])
		if err != nil {
			return nil, err
		}
		if better {
			best = i
		}
	}
	return items[best], nil
}

func round(b *value.Budget, a Args) (value.Value, error) {
	if err := b.Spend(mathCost); err != nil {
		return nil, err
	}
	digits := a.optional(1, "ndigits", nil)
	if digits == nil {
		return value.RoundToInt(a.Pos[0])
	}
	n, err := value.AsInt(digits)
	if err != nil {
		return nil, err
	}
	return value.Round(a.Pos[0], n)
}

func sorted(b *value.Budget, a Args) (value.Value, error) {
	items, err := value.Items(b, a.Pos[0])
	if err != nil {
		return nil, err
	}
	keys, err := keyed(b, a, items)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	reverse := value.Truth(a.optional(1, "reverse", false))
	less := func(i, j int) bool {
		yes, e := value.Ordered(b, "<", keys[i], keys[j])
		err = errors.Join(err, e)
		return yes
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if reverse {
			i, j = j, i
		}
		switch {
		case err != nil:
			return 0
		case less(i, j):
			return -1
		case less(j, i):
			return 1
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	out := make(value.List, len(items))
	for i, at := range order {
		out[i] = items[at]
	}
	return out, b.Spend(len(out))
}

func sum(b *value.Budget, a Args) (value.Value, error) {
	items, err := value.Items(b, a.Pos[0])
	if err != nil {
		return nil, err
	}
	total := a.optional(1, "start", value.Int(0))
	for _, v := range items {
		if total, err = value.Operate(b, "+", total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func toRange(_ *value.Budget, a Args) (value.Value, error) {
	n := make([]int, len(a.Pos))
	for i, v := range a.Pos {
		var err error
		if n[i], err = value.AsInt(v); err != nil {
			return nil, err
		}
	}
	switch len(n) {
	case 1:
		return value.Range{Start: 0, Stop: n[0], Step: 1}, nil
	case 2:
		return value.Range{Start: n[0], Stop: n[1], Step: 1}, nil
	}
	if n[2] == 0 {
		return nil, errors.New("range with step 0")
	}
	return value.Range{Start: n[0], Stop: n[1], Step: n[2]}, nil
}

func asFunc(v value.Value) (*Func, error) {
	f, ok := v.(*Func)
	if !ok {
		return nil, fmt.Errorf("%s where a function is needed", value.TypeName(v))
	}
	return f, nil
}

func mapped(b *value.Budget, a Args) (value.Value, error) {
	f, err := asFunc(a.Pos[0])
	if err != nil {
		return nil, err
	}
	rows, err := zip(b, a.Pos[1:])
	if err != nil {
		return nil, err
	}
	out := make(value.List, 0, len(rows))
	for _, row := range rows {
		v, err := f.Call(b, Args{Pos: row.(value.Tuple)})
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func filtered(b *value.Budget, a Args) (value.Value, error) {
	items, err := value.Items(b, a.Pos[1])
	if err != nil {
		return nil, err
	}
	out := value.List{}
	for _, v := range items {
		keep := v
		if a.Pos[0] != nil {
			f, err := asFunc(a.Pos[0])
			if err != nil {
				return nil, err
			}
			if keep, err = f.Call(b, Args{Pos: []value.Value{v}}); err != nil {
				return nil, err
			}
		}
		if value.Truth(keep) {
			out = append(out, v)
		}
	}
	return out, b.Spend(len(out))
}

// zip makes tuples of the first, second, … elements, as many as the shortest has.
func zip(b *value.Budget, lists []value.Value) (value.List, error) {
	columns := make([][]value.Value, len(lists))
	n := 0
	for i, l := range lists {
		items, err := value.Items(b, l)
		if err != nil {
			return nil, err
		}
		if columns[i] = items; i == 0 || len(items) < n {
			n = len(items)
		}
	}
	if err := b.Spend(n * (1 + len(lists))); err != nil {
		return nil, err
	}
	out := make(value.List, n)
	for i := range out {
		row := make(value.Tuple, len(columns))
		for j := range columns {
			row[j] = columns[j][i]
		}
		out[i] = row
	}
	return out, nil
}

func enumerate(b *value.Budget, a Args) (value.Value, error) {
	start, err := value.AsInt(a.optional(1, "start", value.Int(0)))
	if err != nil {
		return nil, err
	}
	n, err := value.Len(a.Pos[0])
	if err != nil {
		return nil, err
	}
	return zip(b, []value.Value{value.Range{Start: start, Stop: start + n, Step: 1}, a.Pos[0]})
}

// isInstance knows the types that have a function of their name.
func isInstance(_ *value.Budget, a Args) (value.Value, error) {
	types := []value.Value{a.Pos[1]}
	if t, ok := a.Pos[1].(value.Tuple); ok {
		types = t
	}
	name := value.TypeName(a.Pos[0])
	for _, t := range types {
		f, err := asFunc(t)
		if err != nil {
			return nil, err
		}
		if f.Name == name || f.Name == "int" && name == "bool" {
			return true, nil
		}
	}
	return false, nil
}
