package value

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
)

// Equal is Python's ==.
func Equal(b *Budget, left, right Value) (bool, error) { return equal(b, left, right, 0) }

func equal(b *Budget, left, right Value, depth int) (bool, error) {
	if depth > MaxDepth {
		return false, errDepth
	}
	if err := b.Spend(1); err != nil {
		return false, err
	}
	if isNumber(left) && isNumber(right) {
		order, nan := compareNumbers(left, right)
		return order == 0 && !nan, nil
	}
	switch left := left.(type) {
	case nil:
		return right == nil, nil
	case string:
		s, ok := right.(string)
		return ok && left == s, b.Spend(len(left) / 64)
	case List:
		if l, ok := right.(List); ok {
			return equalItems(b, left, l, depth)
		}
	case Tuple:
		if l, ok := right.(Tuple); ok {
			return equalItems(b, left, l, depth)
		}
	case *Dict:
		if d, ok := right.(*Dict); ok {
			return equalDicts(b, left, d, depth)
		}
	case Range, Object:
		return left == right, nil
	}
	return false, nil
}

func equalItems(b *Budget, left, right []Value, depth int) (bool, error) {
	if len(left) != len(right) {
		return false, nil
	}
	for i := range left {
		if same, err := equal(b, left[i], right[i], depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func equalDicts(b *Budget, left, right *Dict, depth int) (bool, error) {
	if len(left.keys) != len(right.keys) {
		return false, nil
	}
	for i, k := range left.keys {
		v, ok, err := right.Get(b, k)
		if !ok || err != nil {
			return false, err
		}
		if same, err := equal(b, left.values[i], v, depth+1); !same || err != nil {
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
func compareNumbers(left, right Value) (order int, nan bool) {
	m, leftInt := integer(left)
	n, rightInt := integer(right)
	if leftInt && rightInt {
		return m.Cmp(n), false
	}
	f, g := 0.0, 0.0
	if !leftInt {
		f = left.(float64)
	}
	if !rightInt {
		g = right.(float64)
	}
	switch {
	case math.IsNaN(f) || math.IsNaN(g):
		return 0, true
	case leftInt:
		return new(big.Float).SetInt(m).Cmp(big.NewFloat(g)), false
	case rightInt:
		return big.NewFloat(f).Cmp(new(big.Float).SetInt(n)), false
	}
	return cmp.Compare(f, g), false
}

// Ordered evaluates left op right for one of < <= > >=.
func Ordered(b *Budget, op string, left, right Value) (bool, error) {
	order, nan, err := compare(b, op, left, right, 0)
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

func compare(b *Budget, op string, left, right Value, depth int) (order int, nan bool, err error) {
	if depth > MaxDepth {
		return 0, false, errDepth
	}
	if err := b.Spend(1); err != nil {
		return 0, false, err
	}
	if isNumber(left) && isNumber(right) {
		order, nan = compareNumbers(left, right)
		return order, nan, nil
	}
	switch left := left.(type) {
	case string:
		if s, ok := right.(string); ok {
			return cmp.Compare(left, s), false, b.Spend(len(left) / 64)
		}
	case List:
		if l, ok := right.(List); ok {
			return compareItems(b, op, left, l, depth)
		}
	case Tuple:
		if l, ok := right.(Tuple); ok {
			return compareItems(b, op, left, l, depth)
		}
	}
	return 0, false, fmt.Errorf("%s %s %s has no meaning", TypeName(left), op, TypeName(right))
}

// compareItems looks for the first pair that differs.
func compareItems(b *Budget, op string, left, right []Value, depth int) (int, bool, error) {
	for i := range min(len(left), len(right)) {
		same, err := equal(b, left[i], right[i], depth+1)
		if err != nil {
			return 0, false, err
		}
		if !same {
			return compare(b, op, left[i], right[i], depth+1)
		}
	}
	return cmp.Compare(len(left), len(right)), false, nil
}
