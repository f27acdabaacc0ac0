package value

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// ParseInt reads a whole number as Python's int does: white space around it,
// a sign and single underscores between digits are allowed. Base 0 looks at
// the prefix.
func ParseInt(s string, base int) (*big.Int, error) {
	digits := strings.TrimFunc(s, unicode.IsSpace)
	body := strings.TrimLeft(digits, "+-")
	if prefix, ok := prefixes[base]; ok {
		if len(body) > 1 && strings.EqualFold(body[:2], prefix) {
			digits = digits[:len(digits)-len(body)] + strings.TrimPrefix(body[2:], "_")
		}
	}
	n, ok := new(big.Int), false
	if len(s) <= MaxBits && len(digits)-len(body) <= 1 && wellSpaced(digits) {
		if base != 0 {
			digits = strings.ReplaceAll(digits, "_", "")
		}
		n, ok = n.SetString(digits, base)
	}
	if !ok || n.BitLen() > MaxBits {
		return nil, fmt.Errorf("%q is not an int", s)
	}
	return n, nil
}

var prefixes = map[int]string{2: "0b", 8: "0o", 16: "0x"}

// wellSpaced refuses underscores at an end or side by side.
func wellSpaced(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return !strings.HasPrefix(s, "_") && !strings.HasSuffix(s, "_") && !strings.Contains(s, "__")
}

// ParseFloat reads a number as Python's float does. What is too large is
// infinite; hexadecimal numbers are not read.
func ParseFloat(s string) (float64, error) {
	text := strings.ToLower(strings.TrimFunc(s, unicode.IsSpace))
	if strings.ContainsAny(text, "xp") || !floatUnderscores(text) {
		return 0, fmt.Errorf("%q is not a float", s)
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, fmt.Errorf("%q is not a float", s)
	}
	return f, nil
}

// floatUnderscores allows an underscore only between two digits.
func floatUnderscores(s string) bool {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i == len(s)-1 || !isDigit(s[i-1]) || !isDigit(s[i+1])) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Round is Python's round to so many digits behind the point: exact halves go
// to the even neighbour, and the number is taken for what it is in binary.
func Round(v Value, digits int) (Value, error) {
	if n, ok := integer(v); ok {
		return roundInt(n, digits)
	}
	f, err := AsFloat(v)
	if err != nil {
		return nil, err
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 || digits > 400 {
		return f, nil
	}
	// the exact value as a fraction, times 10^digits, to the nearest even integer
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(min(max(digits, -digits), 400))), nil))
	if digits < 0 {
		scale.Inv(scale)
	}
	exact := new(big.Rat).SetFloat64(f)
	exact.Mul(exact, scale)
	whole := new(big.Rat).SetInt(halfEven(exact.Num(), exact.Denom()))
	z, _ := whole.Quo(whole, scale).Float64()
	return finite(math.Copysign(z, f))
}

// RoundToInt is Python's round with one argument.
func RoundToInt(v Value) (Value, error) {
	if n, ok := integer(v); ok {
		return n, nil
	}
	f, err := AsFloat(v)
	if err != nil {
		return nil, err
	}
	return Whole(math.RoundToEven(f))
}

func roundInt(n *big.Int, digits int) (Value, error) {
	if digits >= 0 {
		return n, nil
	}
	if -digits > MaxBits {
		return new(big.Int), nil
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-digits)), nil)
	return bounded(scale.Mul(scale, halfEven(n, scale)))
}

// halfEven divides to the nearest integer; den is positive.
func halfEven(num, den *big.Int) *big.Int {
	whole, rest := floorDiv(num, den)
	switch rest.Lsh(rest, 1).Cmp(den) {
	case 1:
		return whole.Add(whole, big.NewInt(1))
	case 0:
		return whole.Add(whole, big.NewInt(int64(whole.Bit(0))))
	}
	return whole
}
