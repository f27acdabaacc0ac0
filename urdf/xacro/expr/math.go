package expr

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"poise/urdf/xacro/value"
)

// realFunctions are the functions of one real number in Python's module math.
var realFunctions = map[string]func(float64) float64{
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"exp": math.Exp, "exp2": math.Exp2, "log2": math.Log2, "log10": math.Log10, "sqrt": math.Sqrt,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh,
	"atanh": math.Atanh, "expm1": math.Expm1, "log1p": math.Log1p, "cbrt": math.Cbrt,
	"erf": math.Erf, "erfc": math.Erfc, "gamma": math.Gamma, "fabs": math.Abs,
	"lgamma":  func(x float64) float64 { y, _ := math.Lgamma(x); return y },
	"radians": func(x float64) float64 { return x * (math.Pi / 180) },
	"degrees": func(x float64) float64 { return x * (180 / math.Pi) },
	"ulp": func(x float64) float64 {
		x = math.Abs(x)
		if x == math.MaxFloat64 {
			return x - math.Nextafter(x, 0)
		}
		return math.Nextafter(x, math.Inf(1)) - x
	},
}

// pairFunctions are those of two.
var pairFunctions = map[string]func(x, y float64) float64{
	"atan2": math.Atan2, "copysign": math.Copysign, "fmod": math.Mod, "remainder": math.Remainder,
	"pow": math.Pow, "nextafter": math.Nextafter,
}

// mathCost is what a call costs: as long as some ten operations.
const mathCost = 10

// mathematics is the module math.
var mathematics = func() map[string]value.Value {
	m := map[string]value.Value{
		"pi": math.Pi, "e": math.E, "tau": 2 * math.Pi, "inf": math.Inf(1), "nan": math.NaN(),
	}
	for name, f := range realFunctions {
		m[name] = one(name, func(b *value.Budget, v value.Value) (value.Value, error) {
			x, err := value.AsFloat(v)
			if err == nil {
				err = b.Spend(mathCost)
			}
			if err != nil {
				return nil, err
			}
			return inDomain(name, f(x), x)
		})
	}
	for name, f := range pairFunctions {
		m[name] = &Func{Name: name, Min: 2, Max: 2, Do: func(b *value.Budget, a Args) (value.Value, error) {
			x, err := floats(b, a.Pos)
			if err != nil {
				return nil, err
			}
			return inDomain(name, f(x[0], x[1]), x...)
		}}
	}
	for name, test := range map[string]func(float64) bool{
		"isnan": math.IsNaN, "isinf": func(x float64) bool { return math.IsInf(x, 0) },
		"isfinite": func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) },
	} {
		m[name] = one(name, func(_ *value.Budget, v value.Value) (value.Value, error) {
			x, err := value.AsFloat(v)
			return test(x), err
		})
	}
	for name, round := range map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc} {
		m[name] = one(name, func(_ *value.Budget, v value.Value) (value.Value, error) {
			if x, ok := v.(float64); ok {
				return value.Whole(round(x))
			}
			return value.Unary("+", v)
		})
	}
	for _, f := range mathFunctions {
		m[f.Name] = f
	}
	return m
}()

// inDomain refuses what no argument called for: a NaN or an infinity.
func inDomain(name string, y float64, x ...float64) (value.Value, error) {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) && !math.IsNaN(y) {
			return y, nil
		}
	}
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return nil, fmt.Errorf("%s has no finite value at %v", name, x)
	}
	return y, nil
}

// floats are the arguments of a function of real numbers.
func floats(b *value.Budget, values []value.Value) ([]float64, error) {
	if err := b.Spend(mathCost + len(values)); err != nil {
		return nil, err
	}
	out := make([]float64, len(values))
	for i, v := range values {
		x, err := value.AsFloat(v)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// floatList is floats of the elements of one value.
func floatList(b *value.Budget, v value.Value) ([]float64, error) {
	items, err := value.Items(b, v)
	if err != nil {
		return nil, err
	}
	return floats(b, items)
}

var mathFunctions = []*Func{
	{Name: "log", Min: 1, Max: 2, Do: func(b *value.Budget, a Args) (value.Value, error) {
		x, err := floats(b, a.Pos)
		if err != nil {
			return nil, err
		}
		y := math.Log(x[0])
		if len(x) == 2 {
			base := math.Log(x[1])
			if base == 0 {
				return nil, errors.New("division by zero")
			}
			y /= base
		}
		return inDomain("log", y, x...)
	}},
	{Name: "ldexp", Min: 2, Max: 2, Do: func(_ *value.Budget, a Args) (value.Value, error) {
		x, err := value.AsFloat(a.Pos[0])
		if err != nil {
			return nil, err
		}
		n, err := value.AsInt(a.Pos[1])
		if err != nil {
			return nil, err
		}
		return inDomain("ldexp", math.Ldexp(x, n), x)
	}},
	one("frexp", func(_ *value.Budget, v value.Value) (value.Value, error) {
		x, err := value.AsFloat(v)
		m, n := math.Frexp(x)
		return value.Tuple{m, value.Int(n)}, err
	}),
	one("modf", func(_ *value.Budget, v value.Value) (value.Value, error) {
		x, err := value.AsFloat(v)
		if math.IsInf(x, 0) {
			return value.Tuple{math.Copysign(0, x), x}, err
		}
		whole := math.Trunc(x)
		return value.Tuple{math.Copysign(x-whole, x), whole}, err
	}),
	{Name: "hypot", Max: -1, Do: func(b *value.Budget, a Args) (value.Value, error) {
		x, err := floats(b, a.Pos)
		if err != nil {
			return nil, err
		}
		return inDomain("hypot", hypot(x...), x...)
	}},
	{Name: "dist", Min: 2, Max: 2, Do: distance},
	{Name: "isclose", Min: 2, Max: 2, Named: []string{"rel_tol", "abs_tol"}, Do: isClose},
	one("fsum", func(b *value.Budget, v value.Value) (value.Value, error) {
		x, err := floatList(b, v)
		if err != nil {
			return nil, err
		}
		for _, f := range x {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, errors.New("fsum needs finite numbers")
			}
		}
		return inDomain("fsum", exactSum(x))
	}),
	{Name: "prod", Min: 1, Max: 1, Named: []string{"start"}, Do: func(b *value.Budget, a Args) (value.Value, error) {
		items, err := value.Items(b, a.Pos[0])
		total := a.optional(1, "start", value.Int(1))
		for _, v := range items {
			if err == nil {
				total, err = value.Operate(b, "*", total, v)
			}
		}
		return total, err
	}},
	{Name: "gcd", Max: -1, Do: func(b *value.Budget, a Args) (value.Value, error) {
		return fold(b, a, 0, func(z, n *big.Int) *big.Int { return z.GCD(nil, nil, z, n) })
	}},
	{Name: "lcm", Max: -1, Do: func(b *value.Budget, a Args) (value.Value, error) {
		return fold(b, a, 1, func(z, n *big.Int) *big.Int {
			if n.Sign() == 0 || z.Sign() == 0 {
				return new(big.Int)
			}
			common := new(big.Int).GCD(nil, nil, z, n)
			return z.Mul(z, n.Quo(n, common))
		})
	}},
	one("isqrt", func(_ *value.Budget, v value.Value) (value.Value, error) {
		n, err := whole(v)
		if err != nil {
			return nil, err
		}
		return new(big.Int).Sqrt(n), nil
	}),
	one("factorial", func(b *value.Budget, v value.Value) (value.Value, error) {
		n, err := whole(v)
		if err != nil {
			return nil, err
		}
		return falling(b, n, n, false)
	}),
	{Name: "perm", Min: 1, Max: 2, Do: func(b *value.Budget, a Args) (value.Value, error) { return choose(b, a, false) }},
	{Name: "comb", Min: 2, Max: 2, Do: func(b *value.Budget, a Args) (value.Value, error) { return choose(b, a, true) }},
}

// hypot returns the length of a vector.
func hypot(v ...float64) (length float64) {
	for _, x := range v {
		length = math.Hypot(length, x)
	}
	return length
}

// exactSum returns the sum of finite numbers, rounded once.
func exactSum(v []float64) float64 {
	total := new(big.Float).SetPrec(3 * 1024) // holds every float64 and 10⁹⁰⁰ of them
	for _, x := range v {
		total.Add(total, new(big.Float).SetFloat64(x))
	}
	f, _ := total.Float64()
	return f
}

func distance(b *value.Budget, a Args) (value.Value, error) {
	p, err := floatList(b, a.Pos[0])
	if err != nil {
		return nil, err
	}
	q, err := floatList(b, a.Pos[1])
	if err != nil {
		return nil, err
	}
	if len(p) != len(q) {
		return nil, fmt.Errorf("dist between %d and %d coordinates", len(p), len(q))
	}
	for i := range p {
		p[i] -= q[i]
	}
	return inDomain("dist", hypot(p...), p...)
}

func isClose(b *value.Budget, a Args) (value.Value, error) {
	x, err := floats(b, append(a.Pos[:2:2], a.optional(2, "rel_tol", 1e-9), a.optional(2, "abs_tol", 0.0)))
	if err != nil {
		return nil, err
	}
	p, q := x[0], x[1]
	if p == q || math.IsInf(p, 0) || math.IsInf(q, 0) {
		return p == q, nil
	}
	return math.Abs(p-q) <= max(x[2]*max(math.Abs(p), math.Abs(q)), x[3]), nil
}

// whole returns a number that counts something, as a copy.
func whole(v value.Value) (*big.Int, error) {
	n, err := value.Unary("+", v)
	z, ok := n.(*big.Int)
	if err != nil || !ok || z.Sign() < 0 {
		return nil, errors.New("int that is not negative is needed")
	}
	return new(big.Int).Set(z), nil
}

func fold(b *value.Budget, a Args, start int64, f func(z, n *big.Int) *big.Int) (value.Value, error) {
	z := big.NewInt(start)
	for _, v := range a.Pos {
		v, err := value.Unary("abs", v)
		if err != nil {
			return nil, err
		}
		n, err := whole(v)
		if err != nil {
			return nil, err
		}
		if z = f(z, n); z.BitLen() > value.MaxBits {
			return nil, errLarge
		}
	}
	return z, nil
}

var errLarge = fmt.Errorf("int has more than %d bits", value.MaxBits)

func choose(b *value.Budget, a Args, divide bool) (value.Value, error) {
	n, err := whole(a.Pos[0])
	if err != nil {
		return nil, err
	}
	k := n
	if len(a.Pos) == 2 {
		if k, err = whole(a.Pos[1]); err != nil {
			return nil, err
		}
	}
	if k.Cmp(n) > 0 {
		return value.Int(0), nil
	}
	if other := new(big.Int).Sub(n, k); divide && other.Cmp(k) < 0 {
		k = other
	}
	return falling(b, n, k, divide)
}

// falling is n·(n−1)·…, k factors, divided by k! if asked. The result has at
// least k−1 bits, so the bound on bits bounds the steps.
func falling(b *value.Budget, n, k *big.Int, divide bool) (value.Value, error) {
	z := big.NewInt(1)
	for i := int64(0); k.Cmp(big.NewInt(i)) > 0; i++ {
		z.Mul(z, new(big.Int).Sub(n, big.NewInt(i)))
		if divide {
			z.Quo(z, big.NewInt(i+1))
		}
		if z.BitLen() > value.MaxBits {
			return nil, errLarge
		}
		if err := b.Spend(1 + z.BitLen()/256); err != nil {
			return nil, err
		}
	}
	return z, nil
}
