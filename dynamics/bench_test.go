package dynamics_test

import (
	"fmt"
	"testing"

	"poise/dynamics"
	"poise/internal/oracle"
)

// bench runs f over a pool of states for each robot of the speed table.
func bench(b *testing.B, f func(d *dynamics.Data, s oracle.States, out, M []float64, i int)) {
	for _, r := range oracle.Benches {
		b.Run(r.Name, func(b *testing.B) {
			m := oracle.Robot(b, r.Name, r.Base)
			d, s := dynamics.NewData(m), oracle.NewStates(m)
			out, M := make([]float64, m.NumV()), make([]float64, m.NumV()*m.NumV())
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				f(d, s, out, M, i%oracle.Pool)
				i++
			}
		})
	}
}

func BenchmarkInverse(b *testing.B) {
	bench(b, func(d *dynamics.Data, s oracle.States, out, _ []float64, i int) {
		d.InverseTo(out, s.Q[i], s.V[i], s.A[i], none)
	})
}

func BenchmarkMassMatrix(b *testing.B) {
	bench(b, func(d *dynamics.Data, s oracle.States, _, M []float64, i int) { d.MassMatrixTo(M, s.Q[i], none) })
}

func BenchmarkForward(b *testing.B) {
	bench(b, func(d *dynamics.Data, s oracle.States, out, _ []float64, i int) {
		if err := d.ForwardTo(out, s.Q[i], s.V[i], s.A[i], none); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkGravity(b *testing.B) {
	bench(b, func(d *dynamics.Data, s oracle.States, out, _ []float64, i int) { d.GravityTo(out, s.Q[i]) })
}

func BenchmarkMomentum(b *testing.B) {
	bench(b, func(d *dynamics.Data, s oracle.States, _, _ []float64, i int) { d.Momentum(s.Q[i], s.V[i]) })
}

// BenchmarkGrowth shows that time grows with the number of bodies and no faster.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{10, 50, 200, 500, 1000, 2000} {
		m := oracle.Chain(b, n)
		d, s := dynamics.NewData(m), oracle.NewStates(m)
		out := make([]float64, n)
		for _, op := range []struct {
			name string
			f    func(i int)
		}{
			{"Inverse", func(i int) { d.InverseTo(out, s.Q[i], s.V[i], s.A[i], none) }},
			{"Forward", func(i int) { _ = d.ForwardTo(out, s.Q[i], s.V[i], s.A[i], none) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", op.name, n), func(b *testing.B) {
				i := 0
				for b.Loop() {
					op.f(i % oracle.Pool)
					i++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/body")
			})
		}
	}
}
