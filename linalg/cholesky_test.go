package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/linalg"
)

// tolSolve is for well-conditioned random systems of up to 30 unknowns.
var tolSolve = approx.Tol{Abs: 1e-11}

// noTol accepts any positive pivot.
const noTol = 0

func TestCholeskySolvesWhatItFactors(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := 0; n <= 30; n++ {
		A := spd(rng, n)
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		b := mul(A, x, n)
		L := make([]float64, n*n)
		if row := linalg.CholeskyTo(L, A, n, noTol); row != n {
			t.Fatalf("seed %d, n %d: stopped at row %d", seed, n, row)
		}
		linalg.CholeskySolve(b, L, n)
		approx.Equal(t, fmt.Sprintf("x, n=%d", n), b, x, tolSolve)

		// L·Lᵀ is A again
		for i := range n {
			for j := 0; j <= i; j++ {
				s := 0.0
				for k := 0; k <= j; k++ {
					s += L[i*n+k] * L[j*n+k]
				}
				approx.Scalar(t, fmt.Sprintf("L·Lᵀ(%d,%d), n=%d", i, j, n), s, A[i*n+j], tolSolve)
			}
		}

		// in place
		if linalg.CholeskyTo(A, A, n, noTol); n > 0 && A[n*n-1] != L[n*n-1] {
			t.Errorf("in place, n=%d: last pivot %v, want %v", n, A[n*n-1], L[n*n-1])
		}
	}
}

func TestSkylineIsCholesky(t *testing.T) {
	const seed = 8
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := 0; n <= 30; n++ {
		// rows that begin with zeros: G·Gᵀ + 1 of blocks and a full last row
		A := spd(rng, n)
		for i := range n {
			begin := rng.IntN(i + 1)
			if i == n-1 {
				begin = 0
			}
			for j := range begin {
				A[i*n+j], A[j*n+i] = 0, 0
			}
			A[i*n+i] += 30 // stays positive definite
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		b := mul(A, x, n)
		dense, sky := make([]float64, n*n), make([]float64, n*n)
		first := make([]int, n)
		if a, b := linalg.CholeskyTo(dense, A, n, noTol), linalg.SkylineTo(sky, A, first, n, noTol); a != n || b != n {
			t.Fatalf("seed %d, n %d: stopped at rows %d, %d", seed, n, a, b)
		}
		approx.Equal(t, fmt.Sprintf("L, n=%d", n), sky, dense, tolSolve)
		linalg.SkylineSolve(b, sky, first, n)
		approx.Equal(t, fmt.Sprintf("x, n=%d", n), b, x, tolSolve)

		// in place
		linalg.SkylineTo(A, A, first, n, noTol)
		for i := range n {
			for j := range i + 1 {
				if A[i*n+j] != sky[i*n+j] {
					t.Fatalf("in place, n=%d: L(%d,%d) = %v, want %v", n, i, j, A[i*n+j], sky[i*n+j])
				}
			}
		}
	}
}

func TestCholeskyNamesTheBadRow(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		name string
		A    []float64
		n    int
		tol  float64
		row  int
	}{
		{"zero", []float64{0}, 1, 0, 0},
		{"negative", []float64{-1}, 1, 0, 0},
		{"indefinite", []float64{1, 2, 2, 1}, 2, 0, 1},
		{"rank one", []float64{1, 2, 2, 4}, 2, 0, 1},
		{"pivot below tolerance", []float64{1, 1, 1, 1 + 1e-14}, 2, 1e-12, 1},
		{"pivot above tolerance", []float64{1, 1, 1, 1 + 1e-10}, 2, 1e-12, 2},
		{"NaN", []float64{1, 0, nan, 1}, 2, 0, 1},
		{"infinite", []float64{inf}, 1, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			L := make([]float64, tc.n*tc.n)
			if row := linalg.CholeskyTo(L, tc.A, tc.n, tc.tol); row != tc.row {
				t.Errorf("CholeskyTo stopped at row %d, want %d", row, tc.row)
			}
			if row := linalg.SkylineTo(L, tc.A, make([]int, tc.n), tc.n, tc.tol); row != tc.row {
				t.Errorf("SkylineTo stopped at row %d, want %d", row, tc.row)
			}
		})
	}
}

func TestCholeskyNoAlloc(t *testing.T) {
	const n = 12
	A := spd(rand.New(rand.NewPCG(1, 1)), n)
	L, b, first := make([]float64, n*n), make([]float64, n), make([]int, n)
	if got := testing.AllocsPerRun(100, func() {
		linalg.CholeskyTo(L, A, n, noTol)
		linalg.CholeskySolve(b, L, n)
		linalg.SkylineTo(L, A, first, n, noTol)
		linalg.SkylineSolve(b, L, first, n)
	}); got != 0 {
		t.Errorf("factor and solve allocate %v times", got)
	}
}

func TestWrongLengthPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "linalg: len(A) = 3, want 4" {
			t.Errorf("panic %v", r)
		}
	}()
	linalg.CholeskyTo(make([]float64, 4), make([]float64, 3), 2, 0)
}

func ExampleCholeskyTo() {
	A := []float64{4, 2, 2, 3}
	b := []float64{2, 5}
	L := make([]float64, 4)
	if row := linalg.CholeskyTo(L, A, 2, 1e-12); row < 2 {
		fmt.Println("singular at row", row)
	}
	linalg.CholeskySolve(b, L, 2)
	fmt.Printf("%.3f\n", b)
	// Output: [-0.500 2.000]
}

// spd returns G·Gᵀ + 1 for a random G.
func spd(rng *rand.Rand, n int) []float64 {
	G := make([]float64, n*n)
	for i := range G {
		G[i] = rng.NormFloat64()
	}
	A := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				A[i*n+j] += G[i*n+k] * G[j*n+k]
			}
		}
		A[i*n+i]++
	}
	return A
}

func mul(A, x []float64, n int) []float64 {
	y := make([]float64, n)
	for i := range n {
		for j := range n {
			y[i] += A[i*n+j] * x[j]
		}
	}
	return y
}
