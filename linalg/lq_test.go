package linalg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/linalg"
)

// rowsOf makes r rows of k numbers of the given rank.
func rowsOf(rng *rand.Rand, r, k, rank int) [][]float64 {
	left, right := make([]float64, r*rank), make([]float64, rank*k)
	for i := range left {
		left[i] = rng.NormFloat64()
	}
	for i := range right {
		right[i] = rng.NormFloat64()
	}
	rows := make([][]float64, r)
	for i := range rows {
		rows[i] = make([]float64, k)
		for j := range rank {
			for m := range k {
				rows[i][m] += left[i*rank+j] * right[j*k+m]
			}
		}
	}
	return rows
}

func inner(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// The answer is the shortest one nearest to what is asked: its error is orthogonal to what rows
// can do, and it is orthogonal to their null space. Vectors of the null space do nothing.
func TestLQSolvesLeastSquaresShortest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	f := linalg.NewLQ(12, 10)
	for trial := range 500 {
		r, k := 1+rng.IntN(12), 1+rng.IntN(10)
		rank := 1 + rng.IntN(min(r, k))
		rows, b := rowsOf(rng, r, k, rank), make([]float64, r)
		f.Reset(k)
		for i, row := range rows {
			copy(f.Row(math.Sqrt(inner(row, row))), row)
			b[i] = rng.NormFloat64()
		}
		if got := f.Decompose(1e-10); got != rank {
			t.Fatalf("trial %d: rank %d, want %d", trial, got, rank)
		}
		x := make([]float64, k)
		f.Solve(x, b)
		left := make([]float64, r)
		for i, row := range rows {
			left[i] = inner(row, x) - b[i]
		}
		for m := range k {
			sum := 0.0
			for i := range rows {
				sum += rows[i][m] * left[i]
			}
			if math.Abs(sum) > 1e-9 {
				t.Fatalf("trial %d: the error has %g of column %d", trial, sum, m)
			}
		}
		for m := rank; m < k; m++ {
			null := make([]float64, k)
			null[m] = 1
			f.TurnBack(null)
			if math.Abs(inner(null, x)) > 1e-9*math.Sqrt(inner(x, x)+1) {
				t.Fatalf("trial %d: not the shortest", trial)
			}
			for _, row := range rows {
				if math.Abs(inner(row, null)) > 1e-9*math.Sqrt(inner(row, row)) {
					t.Fatalf("trial %d: a vector of the null space does %g", trial, inner(row, null))
				}
			}
		}
	}
}

func TestLQMultipliers(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	f := linalg.NewLQ(8, 10)
	for trial := range 200 {
		r := 1 + rng.IntN(8)
		rows, want, g := rowsOf(rng, r, 10, r), make([]float64, r), make([]float64, 10)
		f.Reset(10)
		for i, row := range rows {
			copy(f.Row(math.Sqrt(inner(row, row))), row)
			want[i] = rng.NormFloat64()
			for m, c := range row {
				g[m] += want[i] * c
			}
		}
		f.Decompose(1e-10)
		u := make([]float64, r)
		f.Multipliers(u, g)
		for i := range u {
			if math.Abs(u[i]-want[i]) > 1e-7 {
				t.Fatalf("trial %d: %v, want %v", trial, u, want)
			}
		}
	}
}

// Turn and TurnBack undo each other.
func TestLQTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	f := linalg.NewLQ(4, 9)
	f.Reset(9)
	for _, row := range rowsOf(rng, 4, 9, 4) {
		copy(f.Row(math.Sqrt(inner(row, row))), row)
	}
	f.Decompose(1e-10)
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	f.Turn(x)
	f.TurnBack(x)
	for i, e := range x {
		if math.Abs(e-float64(i+1)) > 1e-12 {
			t.Fatalf("%v", x)
		}
	}
}
