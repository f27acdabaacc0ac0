package value

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Operate evaluates left op right for Python's binary operators + - * / // % ** & | ^
// << >>.
func Operate(b *Budget, op string, left, right Value) (Value, error) {
	if err := b.Spend(1); err != nil {
		return nil, err
	}
	m, leftInt := integer(left)
	n, rightInt := integer(right)
	switch {
	case leftInt && rightInt:
		z, err := operateInts(b, op, m, n)
		if isBool(left) && isBool(right) && strings.Contains("&|^", op) && err == nil {
			return Truth(z), nil
		}
		return z, err
	case isNumber(left) && isNumber(right):
		f, err := AsFloat(left)
		if err != nil {
			return nil, err
		}
		g, err := AsFloat(right)
		if err != nil {
			return nil, err
		}
		return operateFloats(b, op, f, g)
	case op == "+":
		return concatenate(b, left, right)
	case op == "*" && rightInt:
		return repeat(b, left, right)
	case op == "*" && leftInt:
		return repeat(b, right, left)
	case op == "%":
		if format, ok := left.(string); ok {
			return Format(b, format, right)
		}
	}
	return nil, noMeaning(op, left, right)
}

func isBool(v Value) bool { _, ok := v.(bool); return ok }

func noMeaning(op string, left, right Value) error {
	return fmt.Errorf("%s %s %s has no meaning", TypeName(left), op, TypeName(right))
}

var errZero = errors.New("division by zero")

func operateInts(b *Budget, op string, m, n *big.Int) (Value, error) {
	if err := b.Spend((m.BitLen() + n.BitLen()) / 256); err != nil {
		return nil, err
	}
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(m, n)
	case "-":
		z.Sub(m, n)
	case "*":
		z.Mul(m, n)
	case "&":
		z.And(m, n)
	case "|":
		z.Or(m, n)
	case "^":
		z.Xor(m, n)
	case "<<", ">>":
		return shift(op, m, n)
	case "**":
		return powerInts(b, m, n)
	default:
		if n.Sign() == 0 {
			return nil, errZero
		}
		if op == "/" {
			f, _ := new(big.Rat).SetFrac(m, n).Float64()
			if f == 0 && (m.Sign() < 0) != (n.Sign() < 0) { // 0 / -1 is -0.0
				f = math.Copysign(0, -1)
			}
			return finite(f)
		}
		quotient, rest := floorDiv(m, n)
		if z = quotient; op == "%" {
			z = rest
		}
	}
	return bounded(z)
}

// floorDiv rounds the quotient down, so that the rest has the divisor's sign.
func floorDiv(m, n *big.Int) (quotient, rest *big.Int) {
	quotient, rest = new(big.Int).QuoRem(m, n, new(big.Int))
	if rest.Sign() != 0 && rest.Sign() != n.Sign() {
		quotient.Sub(quotient, big.NewInt(1))
		rest.Add(rest, n)
	}
	return quotient, rest
}

var errBits = fmt.Errorf("int has more than %d bits", MaxBits)

func bounded(z *big.Int) (Value, error) {
	if z.BitLen() > MaxBits {
		return nil, errBits
	}
	return z, nil
}

func shift(op string, m, n *big.Int) (Value, error) {
	switch {
	case n.Sign() < 0:
		return nil, errors.New("shift by a negative number of bits")
	case op == ">>":
		if n.BitLen() > 31 {
			n = big.NewInt(MaxBits)
		}
		return new(big.Int).Rsh(m, uint(n.Int64())), nil
	case n.BitLen() > 31 || m.BitLen()+int(n.Int64()) > MaxBits:
		return nil, errBits
	}
	return new(big.Int).Lsh(m, uint(n.Int64())), nil
}

// powerInts looks at the size of the result before it computes it.
func powerInts(b *Budget, m, n *big.Int) (Value, error) {
	if n.Sign() < 0 {
		if m.Sign() == 0 {
			return nil, errZero
		}
		f, err := AsFloat(m)
		if err != nil {
			return nil, err
		}
		g, err := AsFloat(n)
		if err != nil {
			return nil, err
		}
		return operateFloats(b, "**", f, g)
	}
	if m.BitLen() <= 1 && n.Sign() > 0 { // -1, 0, 1: only parity counts
		n = big.NewInt(2 - int64(n.Bit(0)))
	}
	if n.BitLen() > 31 || (m.BitLen()-1)*int(n.Int64()) > MaxBits {
		return nil, errBits
	}
	return bounded(new(big.Int).Exp(m, n, nil))
}

func finite(f float64) (Value, error) {
	if math.IsInf(f, 0) {
		return nil, errors.New("result is too large for a float")
	}
	return f, nil
}

func operateFloats(b *Budget, op string, f, g float64) (Value, error) {
	switch op {
	case "+":
		return f + g, nil
	case "-":
		return f - g, nil
	case "*":
		return f * g, nil
	case "**":
		return power(b, f, g)
	case "/", "//", "%":
		if g == 0 {
			return nil, errZero
		}
		switch quotient, rest := floorDivFloats(f, g); op {
		case "//":
			return quotient, nil
		case "%":
			return rest, nil
		}
		return f / g, nil
	}
	return nil, noMeaning(op, f, g)
}

// floorDivFloats takes the exact rest first: f/g rounded could lie above an
// integer that the true quotient does not reach.
func floorDivFloats(f, g float64) (quotient, rest float64) {
	rest = math.Mod(f, g)
	quotient = (f - rest) / g
	if rest == 0 {
		rest = math.Copysign(0, g)
	} else if (g < 0) != (rest < 0) {
		rest += g
		quotient--
	}
	if quotient == 0 {
		return math.Copysign(0, f/g), rest
	}
	whole := math.Floor(quotient)
	if quotient-whole > 0.5 {
		whole++
	}
	return whole, rest
}

// powerCost is what a power costs, in operations.
const powerCost = 10

func power(b *Budget, f, g float64) (Value, error) {
	if err := b.Spend(powerCost); err != nil {
		return nil, err
	}
	if f == 0 && g < 0 {
		return nil, errZero
	}
	z := math.Pow(f, g)
	switch given := math.IsInf(f, 0) || math.IsInf(g, 0); {
	case math.IsNaN(z) && !math.IsNaN(f) && !math.IsNaN(g):
		return nil, errors.New("a root of a negative number is complex")
	case given:
		return z, nil
	}
	return finite(z)
}

// Unary evaluates op v for Python's + - ~ and for abs.
func Unary(op string, v Value) (Value, error) {
	if n, ok := integer(v); ok {
		switch z := new(big.Int); op {
		case "-":
			return z.Neg(n), nil
		case "~":
			return z.Not(n), nil
		case "abs":
			return z.Abs(n), nil
		}
		return n, nil
	}
	if f, ok := v.(float64); ok && op != "~" {
		switch op {
		case "-":
			return -f, nil
		case "abs":
			return math.Abs(f), nil
		}
		return f, nil
	}
	return nil, fmt.Errorf("%s of %s has no meaning", op, TypeName(v))
}

func concatenate(b *Budget, left, right Value) (Value, error) {
	switch left := left.(type) {
	case string:
		if s, ok := right.(string); ok {
			if len(left)+len(s) > MaxBytes {
				return nil, fmt.Errorf("string is longer than %d bytes", MaxBytes)
			}
			return b.text(left + s)
		}
	case List:
		if l, ok := right.(List); ok {
			items, err := join(b, left, l)
			return List(items), err
		}
	case Tuple:
		if l, ok := right.(Tuple); ok {
			items, err := join(b, left, l)
			return Tuple(items), err
		}
	}
	return nil, noMeaning("+", left, right)
}

func join(b *Budget, left, right []Value) ([]Value, error) {
	if err := b.items(len(left) + len(right)); err != nil {
		return nil, err
	}
	return append(append(make([]Value, 0, len(left)+len(right)), left...), right...), nil
}

func repeat(b *Budget, items, times Value) (Value, error) {
	switch items := items.(type) {
	case string:
		n, err := copies(len(items), times)
		if err != nil {
			return nil, err
		}
		if n*len(items) > MaxBytes {
			return nil, fmt.Errorf("string is longer than %d bytes", MaxBytes)
		}
		return b.text(strings.Repeat(items, n))
	case List:
		repeated, err := repeatItems(b, items, times)
		return List(repeated), err
	case Tuple:
		repeated, err := repeatItems(b, items, times)
		return Tuple(repeated), err
	}
	return nil, noMeaning("*", items, times)
}

// copies says how often something of that size is to be repeated; what is empty
// stays empty.
func copies(size int, times Value) (int, error) {
	if n, _ := integer(times); n.Sign() <= 0 || size == 0 {
		return 0, nil
	}
	return AsInt(times)
}

func repeatItems(b *Budget, items []Value, times Value) ([]Value, error) {
	n, err := copies(len(items), times)
	if err != nil {
		return nil, err
	}
	if err := b.items(n * len(items)); err != nil {
		return nil, err
	}
	out := make([]Value, 0, n*len(items))
	for range n {
		out = append(out, items...)
	}
	return out, nil
}
