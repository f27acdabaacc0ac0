package linalg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/linalg"
)

// Products with many rows are those of number after number, whatever the sizes, with wide
// registers and without.
func TestProductsOfRows(t *testing.T) {
	t.Run("wide", productsOfRows)
	t.Run("narrow", func(t *testing.T) {
		linalg.Narrow(t)
		productsOfRows(t)
	})
}

func productsOfRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	vector := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	for trial := range 500 {
		r, n := rng.IntN(20), 1+rng.IntN(40)
		stride := n + rng.IntN(3)
		A := vector(r*stride + n)
		x, y := vector(n), make([]float64, r)
		linalg.MulRows(y, A, x, stride)
		for i := range y {
			if want := inner(x, A[i*stride:]); math.Abs(y[i]-want) > 1e-12 {
				t.Fatalf("trial %d: row %d of %d gives %g, want %g", trial, i, r, y[i], want)
			}
		}
		k, sum := vector(r), vector(n)
		want := append([]float64(nil), sum...)
		for i := range k {
			for j := range want {
				want[j] += k[i] * A[i*stride+j]
			}
		}
		linalg.AddRows(sum, k, A, stride)
		for j := range sum {
			if math.Abs(sum[j]-want[j]) > 1e-12 {
				t.Fatalf("trial %d: sum of %d rows is %g, want %g", trial, r, sum[j], want[j])
			}
		}
		before := append([]float64(nil), A...)
		linalg.AddOuter(A, k, x, stride)
		for i := range A {
			want := before[i]
			if stride > 0 && i/stride < r && i%stride < n {
				want += k[i/stride] * x[i%stride]
			}
			if math.Abs(A[i]-want) > 1e-12 {
				t.Fatalf("trial %d: number %d of the matrix is %g, want %g", trial, i, A[i], want)
			}
		}
	}
}

func BenchmarkRows30(b *testing.B) {
	A, x, y := make([]float64, 900), make([]float64, 30), make([]float64, 30)
	for i := range A {
		A[i] = 1
	}
	b.Run("mul", func(b *testing.B) {
		for b.Loop() {
			linalg.MulRows(y, A, x, 30)
		}
	})
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			linalg.AddRows(y, x, A, 30)
		}
	})
	b.Run("outer", func(b *testing.B) {
		for b.Loop() {
			linalg.AddOuter(A, y, x, 30)
		}
	})
	b.Run("dot", func(b *testing.B) {
		for b.Loop() {
			for i := range 30 {
				y[i] = linalg.Dot(x, A[i*30:i*30+30])
			}
		}
	})
	b.Run("addscaled", func(b *testing.B) {
		for b.Loop() {
			for i := range 30 {
				linalg.AddScaled(y, x[i], A[i*30:i*30+30])
			}
		}
	})
}
