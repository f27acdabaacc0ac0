package value

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

const (
	seed   = 3
	plenty = 1_000_000
)

func TestFormatFloat(t *testing.T) {
	for _, tc := range []struct {
		f    float64
		want string
	}{
		{0, "0.0"}, {math.Copysign(0, -1), "-0.0"}, {1, "1.0"}, {-1.5, "-1.5"}, {0.30000000000000004, "0.30000000000000004"},
		{1e-4, "0.0001"}, {1e-5, "1e-05"}, {1.5e-7, "1.5e-07"}, {1e15, "1000000000000000.0"},
		{1e16, "1e+16"}, {123456789012345680, "1.2345678901234568e+17"}, {1e100, "1e+100"}, {5e-324, "5e-324"},
		{math.Inf(1), "inf"}, {math.Inf(-1), "-inf"}, {math.NaN(), "nan"},
	} {
		if got := formatFloat(tc.f); got != tc.want {
			t.Errorf("FormatFloat(%g) = %s, want %s", tc.f, got, tc.want)
		}
	}
}

func randomFloat(rng *rand.Rand) float64 {
	if rng.IntN(2) == 0 {
		return rng.NormFloat64() * math.Pow(10, float64(rng.IntN(40)-20))
	}
	return float64(rng.IntN(2_000_001)-1_000_000) / 1000
}

func TestFloatsReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		f := randomFloat(rng)
		if got, err := ParseFloat(formatFloat(f)); got != f || err != nil {
			t.Fatalf("seed %d: %g is written %s and reads %g, %v", seed, f, formatFloat(f), got, err)
		}
	}
}

// TestRoundEqualsDecimalFormatting: strconv rounds the exact decimal expansion,
// Round the exact fraction.
func TestRoundEqualsDecimalFormatting(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		f, digits := randomFloat(rng), rng.IntN(8)
		want, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Round(f, digits); got != want || err != nil {
			t.Fatalf("seed %d: Round(%v, %d) = %v, %v, want %v", seed, f, digits, got, err, want)
		}
	}
}

func operate(t *testing.T, op string, x, y Value) Value {
	t.Helper()
	v, err := Operate(NewBudget(plenty), op, x, y)
	if err != nil {
		t.Fatalf("%v %s %v: %v", x, op, y, err)
	}
	return v
}

// TestFloorDivision: x = (x // y)·y + x % y, and the rest has the sign of y.
func TestFloorDivision(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for range 2000 {
		x, y := Int(rng.IntN(2001)-1000), Int(rng.IntN(100)-50)
		if !Truth(y) {
			continue
		}
		quotient, rest := operate(t, "//", x, y), operate(t, "%", x, y)
		back := operate(t, "+", operate(t, "*", quotient, y), rest)
		if back.(*big.Int).Cmp(x.(*big.Int)) != 0 || rest.(*big.Int).Sign()*y.(*big.Int).Sign() < 0 {
			t.Fatalf("seed %d: %v // %v = %v, rest %v", seed, x, y, quotient, rest)
		}
		// floats that are whole divide as ints do
		f, _ := AsFloat(x)
		g, _ := AsFloat(y)
		if got := operate(t, "//", f, g); formatFloat(got.(float64)) != fmt.Sprint(quotient)+".0" && got != 0.0 {
			t.Fatalf("seed %d: %v // %v = %v, ints give %v", seed, f, g, got, quotient)
		}
	}
}

func TestEqualNumbersAreOneKey(t *testing.T) {
	b := NewBudget(plenty)
	d := NewDict()
	for i, k := range []Value{Int(1), 1.0, true, Tuple{Int(1), "a"}, Tuple{1.0, "a"}, "1", nil} {
		if err := d.Set(b, k, Int(i)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Repr(b, d); got != "{1: 2, (1, 'a'): 4, '1': 5, None: 6}" || err != nil {
		t.Errorf("dict is %s, %v", got, err)
	}
	if err := d.Set(b, List{}, nil); err == nil {
		t.Error("a list is accepted as a key")
	}
}

func TestBudgetEnds(t *testing.T) {
	b := NewBudget(10)
	var err error
	for n := 0; err == nil; n++ {
		if n > 10 {
			t.Fatal("ten units last longer than ten operations")
		}
		_, err = Operate(b, "+", Int(1), Int(2))
	}
	if !errors.Is(err, ErrBudget) {
		t.Errorf("error is %v", err)
	}
	if err := b.Spend(1); !errors.Is(err, ErrBudget) {
		t.Errorf("a spent budget gives %v", err)
	}
}

// TestOrderIsAnOrder: exactly one of <, ==, > holds between numbers.
func TestOrderIsAnOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 3))
	draw := func() Value {
		if rng.IntN(2) == 0 {
			return Int(rng.IntN(7) - 3)
		}
		return float64(rng.IntN(13)-6) / 2
	}
	b := NewBudget(plenty)
	for range 500 {
		v, y := draw(), draw()
		holds := 0
		for _, op := range []string{"<", ">"} {
			if yes, err := Ordered(b, op, v, y); err != nil {
				t.Fatal(err)
			} else if yes {
				holds++
			}
		}
		if same, err := Equal(b, v, y); err != nil {
			t.Fatal(err)
		} else if same {
			holds++
		}
		if holds != 1 {
			t.Fatalf("seed %d: %d of <, ==, > hold between %v and %v", seed, holds, v, y)
		}
	}
}
