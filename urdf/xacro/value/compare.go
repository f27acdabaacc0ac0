package value

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
)

// Equal is Python's ==.
func Equal(b *Budget, x, y Value) (bool, error) { return equal(b, x, y, 0) }

func equal(b *Budget, x, y Value, depth int) (bool, error) {
	if depth > MaxDepth {
		return false, errDepth
	}
	if err := b.Spend(1); err != nil {
		return false, err
	}
	if isNumber(x) && isNumber(y) {
		order, nan := compareNumbers(x, y)
		return order == 0 && !nan, nil
	}
	switch x := x.(type) {
	case nil:
		return y == nil, nil
	case string:
		s, ok := y.(string)
		return ok && x == s, b.Spend(len(x) / 64)
	case List:
		if l, ok := y.(List); ok {
			return equalItems(b, x, l, depth)
		}
	case Tuple:
		if l, ok := y.(Tuple); ok {
			return equalItems(b, x, l, depth)
		}
	case *Dict:
		if d, ok := y.(*Dict); ok {
			return equalDicts(b, x, d, depth)
		}
	case Range, Object:
		return x == y, nil
	}
	return false, nil
}

func equalItems(b *Budget, x, y []Value, depth int) (bool, error) {
	if len(x) != len(y) {
		return false, nil
	}
	for i := range x {
		if same, err := equal(b, x[i], y[i], depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func equalDicts(b *Budget, x, y *Dict, depth int) (bool, error) {
	if len(x.keys) != len(y.keys) {
		return false, nil
	}
	for i, k := range x.keys {
		v, ok, err := y.Get(b, k)
		if !ok || err != nil {
			return false, err
		}
		if same, err := equal(b, x.values[i], v, depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func isNumber(v Value) bool {
	switch v.(type) {
	case bool, *big.Int, float64:
		return true
	}
	return false
}

// compareNumbers is exact: no int is rounded to a float first.
func compareNumbers(x, y Value) (order int, nan bool) {
	m, xInt := integer(x)
	n, yInt := integer(y)
	if xInt && yInt {
		return m.Cmp(n), false
	}
	f, g := 0.0, 0.0
	if !xInt {
		f = x.(float64)
	}
	if !yInt {
		g = y.(float64)
	}
	switch {
	case math.IsNaN(f) || math.IsNaN(g):
		return 0, true
	case xInt:
		return new(big.Float).SetInt(m).Cmp(big.NewFloat(g)), false
	case yInt:
		return big.NewFloat(f).Cmp(new(big.Float).SetInt(n)), false
	}
	return cmp.Compare(f, g), false
}

// Ordered evaluates x op y for one of < <= > >=.
func Ordered(b *Budget, op string, x, y Value) (bool, error) {
	order, nan, err := compare(b, op, x, y, 0)
	if err != nil || nan {
		return false, err
	}
	switch op {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

func compare(b *Budget, op string, x, y Value, depth int) (order int, nan bool, err error) {
	if depth > MaxDepth {
		return 0, false, errDepth
	}
	if err := b.Spend(1); err != nil {
		return 0, false, err
	}
	if isNumber(x) && isNumber(y) {
		order, nan = compareNumbers(x, y)
		return order, nan, nil
	}
	switch x := x.(type) {
	case string:
		if s, ok := y.(string); ok {
			return cmp.Compare(x, s), false, b.Spend(len(x) / 64)
		}
	case List:
		if l, ok := y.(List); ok {
			return compareItems(b, op, x, l, depth)
		}
	case Tuple:
		if l, ok := y.(Tuple); ok {
			return compareItems(b, op, x, l, depth)
		}
	}
	return 0, false, fmt.Errorf("%s %s %s has no meaning", TypeName(x), op, TypeName(y))
}

// compareItems looks for the first pair that differs.
func compareItems(b *Budget, op string, x, y []Value, depth int) (int, bool, error) {
	for i := range min(len(x), len(y)) {
		same, err := equal(b, x[i], y[i], depth+1)
		if err != nil {
			return 0, false, err
		}
		if !same {
			return compare(b, op, x[i], y[i], depth+1)
		}
	}
	return cmp.Compare(len(x), len(y)), false, nil
}
