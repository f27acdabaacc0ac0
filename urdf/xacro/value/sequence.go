package value

import (
	"fmt"
	"strings"
)

// Index evaluates v[key].
func Index(b *Budget, v, key Value) (Value, error) {
	if d, ok := v.(*Dict); ok {
		found, ok, err := d.Get(b, key)
		if err == nil && !ok {
			text, _ := Repr(b, key)
			err = fmt.Errorf("dict has no key %s", text)
		}
		return found, err
	}
	if err := b.Spend(1); err != nil {
		return nil, err
	}
	n, err := Len(v)
	if err != nil {
		return nil, fmt.Errorf("%s has no elements", TypeName(v))
	}
	i, err := AsInt(key)
	if err != nil {
		return nil, err
	}
	at := i
	if at < 0 {
		at += n
	}
	if at < 0 || at >= n {
		return nil, fmt.Errorf("index %d is out of range: %s has %d elements", i, TypeName(v), n)
	}
	switch v := v.(type) {
	case List:
		return v[at], nil
	case Tuple:
		return v[at], nil
	case Range:
		return Int(v.Start + at*v.Step), nil
	}
	s := v.(string)
	if len(s) == n {
		return s[at : at+1], nil
	}
	return string([]rune(s)[at]), b.Spend(len(s) / 16)
}

// Slice evaluates v[start:stop:step], where nil stands for a bound not given.
func Slice(b *Budget, v, start, stop, step Value) (Value, error) {
	items, err := Items(b, v)
	if _, isDict := v.(*Dict); isDict || err != nil {
		return nil, fmt.Errorf("%s cannot be sliced", TypeName(v))
	}
	if err := b.items(len(items)); err != nil {
		return nil, err
	}
	picked, err := pick(items, start, stop, step)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case string:
		var s strings.Builder
		for _, r := range picked {
			s.WriteString(r.(string))
		}
		return s.String(), nil
	case Tuple:
		return Tuple(picked), nil
	}
	return List(picked), nil
}

func pick(items []Value, start, stop, step Value) ([]Value, error) {
	n, by := len(items), 1
	var err error
	if step != nil {
		if by, err = AsInt(step); err != nil {
			return nil, err
		}
	}
	if by == 0 {
		return nil, fmt.Errorf("slice with step 0")
	}
	low, high := 0, n // where a bound is cut off
	from, to := low, high
	if by < 0 {
		low, high = -1, n-1
		from, to = high, low
	}
	if from, err = sliceBound(start, from, n, low, high); err != nil {
		return nil, err
	}
	if to, err = sliceBound(stop, to, n, low, high); err != nil {
		return nil, err
	}
	picked := []Value{}
	for i := from; by > 0 && i < to || by < 0 && i > to; i += by {
		picked = append(picked, items[i])
	}
	return picked, nil
}

func sliceBound(v Value, missing, n, low, high int) (int, error) {
	if v == nil {
		return missing, nil
	}
	i, err := AsInt(v)
	if err != nil {
		return 0, err
	}
	if i < 0 {
		i += n
	}
	return min(max(i, low), high), nil
}

// Contains evaluates wanted in v.
func Contains(b *Budget, v, wanted Value) (bool, error) {
	switch v := v.(type) {
	case *Dict:
		_, ok, err := v.Get(b, wanted)
		return ok, err
	case string:
		s, ok := wanted.(string)
		if !ok {
			return false, fmt.Errorf("%s in str has no meaning", TypeName(wanted))
		}
		return strings.Contains(v, s), b.Spend(1 + len(v)/16)
	}
	items, err := Items(b, v)
	if err != nil {
		return false, err
	}
	for _, item := range items {
		if same, err := Equal(b, item, wanted); same || err != nil {
			return same, err
		}
	}
	return false, nil
}
