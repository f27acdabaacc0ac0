package value

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"
)

// Value is one of the types listed in the package comment.
type Value any

// List is a Python list, Tuple a tuple. Their elements must not be changed.
type (
	List  []Value
	Tuple []Value
)

// Range is Python's range: numbers that need no memory.
type Range struct{ Start, Stop, Step int }

// Object is a value that has no arithmetic and no text: a function, a name space.
type Object interface{ TypeName() string }

// The bounds of single values.
const (
	MaxBits  = 4096    // of an int
	MaxBytes = 1 << 20 // of a string
	MaxItems = 1 << 16 // of a list, tuple, dict or range that is walked
	MaxDepth = 100     // of lists within lists
)

// ErrBudget is the error of every operation once a Budget is spent.
var ErrBudget = errors.New("expressions take too many steps")

// Budget bounds what a whole document may cost: about one unit per operation,
// per element of a list and per 16 bytes of text.
type Budget struct{ left int }

// NewBudget returns a budget of so many units.
func NewBudget(units int) *Budget { return &Budget{left: units} }

// Spend takes n units, or fails.
func (b *Budget) Spend(n int) error {
	if b.left < n {
		b.left = 0
		return ErrBudget
	}
	b.left -= n
	return nil
}

// text charges for a string that was made.
func (b *Budget) text(s string) (Value, error) {
	if len(s) > MaxBytes {
		return nil, fmt.Errorf("string is longer than %d bytes", MaxBytes)
	}
	return s, b.Spend(1 + len(s)/16)
}

// items charges for a list that is about to be made.
func (b *Budget) items(n int) error {
	if n > MaxItems {
		return fmt.Errorf("list is longer than %d elements", MaxItems)
	}
	return b.Spend(1 + n)
}

// Int returns an int.
func Int(n int) Value { return big.NewInt(int64(n)) }

// TypeName returns Python's name of a value's type.
func TypeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case List:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case Range:
		return "range"
	case Object:
		return v.TypeName()
	}
	panic(fmt.Sprintf("value: %T is no value", v))
}

// Truth returns what Python's bool gives.
func Truth(v Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case *big.Int:
		return v.Sign() != 0
	case float64:
		return v != 0
	}
	n, err := Len(v)
	return err != nil || n > 0
}

// Len returns the number of elements, or of code points.
func Len(v Value) (int, error) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), nil
	case List:
		return len(v), nil
	case Tuple:
		return len(v), nil
	case *Dict:
		return len(v.keys), nil
	case Range:
		return v.len(), nil
	}
	return 0, fmt.Errorf("%s has no length", TypeName(v))
}

func (r Range) len() int {
	span, step := r.Stop-r.Start, r.Step
	if step < 0 {
		span, step = -span, -step
	}
	if span <= 0 {
		return 0
	}
	return (span-1)/step + 1
}

// Items returns the elements that Python would iterate over.
func Items(b *Budget, v Value) ([]Value, error) {
	switch v := v.(type) {
	case List:
		return v, b.Spend(1)
	case Tuple:
		return v, b.Spend(1)
	case *Dict:
		return v.keys, b.Spend(1)
	case Range:
		n := v.len()
		if err := b.items(n); err != nil {
			return nil, err
		}
		out := make([]Value, n)
		for i := range out {
			out[i] = Int(v.Start + i*v.Step)
		}
		return out, nil
	case string:
		runes := []rune(v)
		if err := b.items(len(runes)); err != nil {
			return nil, err
		}
		out := make([]Value, len(runes))
		for i, r := range runes {
			out[i] = string(r)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s is not something to iterate over", TypeName(v))
}

// AsInt returns v as an index or a count.
func AsInt(v Value) (int, error) {
	n, ok := integer(v)
	if !ok {
		return 0, fmt.Errorf("%s where an int is needed", TypeName(v))
	}
	if !n.IsInt64() || n.Int64() > math.MaxInt32 || n.Int64() < math.MinInt32 {
		return 0, fmt.Errorf("%s is too large a number here", n)
	}
	return int(n.Int64()), nil
}

// AsFloat returns a number as a float.
func AsFloat(v Value) (float64, error) {
	if f, ok := v.(float64); ok {
		return f, nil
	}
	n, ok := integer(v)
	if !ok {
		return 0, fmt.Errorf("%s where a number is needed", TypeName(v))
	}
	f, _ := new(big.Float).SetInt(n).Float64()
	if math.IsInf(f, 0) {
		return 0, errors.New("int is too large for a float")
	}
	return f, nil
}

// integer returns an int or a bool as an int.
func integer(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case *big.Int:
		return v, true
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	}
	return nil, false
}

// Whole returns a finite float as an int, rounded towards zero.
func Whole(f float64) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%s has no integer value", formatFloat(f))
	}
	n, _ := big.NewFloat(f).Int(nil)
	return n, nil
}
