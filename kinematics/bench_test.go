package kinematics_test

import (
	"fmt"
	"testing"

	"poise/internal/oracle"
	"poise/kinematics"
)

// bench runs f over a pool of states for each robot of the speed table.
func bench(b *testing.B, f func(d *kinematics.Data, s oracle.States, tip kinematics.Place, J []float64, i int)) {
	for _, r := range oracle.Benches {
		b.Run(r.Name, func(b *testing.B) {
			m := oracle.Robot(b, r.Name, r.Base)
			id, ok := m.Frame(r.Tip)
			if !ok {
				b.Fatalf("%s has no frame %s", r.Name, r.Tip)
			}
			d, s := kinematics.NewData(m), oracle.NewStates(m)
			J := make([]float64, 6*m.NumV())
			tip := d.At(id)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				f(d, s, tip, J, i%oracle.Pool)
				i++
			}
		})
	}
}

func BenchmarkPosition(b *testing.B) {
	bench(b, func(d *kinematics.Data, s oracle.States, _ kinematics.Place, _ []float64, i int) {
		d.UpdatePosition(s.Q[i])
	})
}

func BenchmarkVelocity(b *testing.B) {
	bench(b, func(d *kinematics.Data, s oracle.States, _ kinematics.Place, _ []float64, i int) {
		d.UpdatePosition(s.Q[i])
		d.UpdateVelocity(s.V[i])
	})
}

func BenchmarkAcceleration(b *testing.B) {
	bench(b, func(d *kinematics.Data, s oracle.States, _ kinematics.Place, _ []float64, i int) {
		d.UpdatePosition(s.Q[i])
		d.UpdateVelocity(s.V[i])
		d.UpdateAcceleration(s.A[i])
	})
}

func BenchmarkJacobian(b *testing.B) {
	bench(b, func(d *kinematics.Data, s oracle.States, tip kinematics.Place, J []float64, i int) {
		d.UpdatePosition(s.Q[i])
		d.JacobianTo(J, tip)
	})
}

// BenchmarkJacobianOne follows only the bodies that carry the frame.
func BenchmarkJacobianOne(b *testing.B) {
	for _, r := range oracle.Benches {
		b.Run(r.Name, func(b *testing.B) {
			m := oracle.Robot(b, r.Name, r.Base)
			id, _ := m.Frame(r.Tip)
			f := m.Frames()[id]
			tip := kinematics.Place{Body: f.Body, Pose: f.Pose}
			d, s := kinematics.NewDataFor(m, tip), oracle.NewStates(m)
			J := make([]float64, 6*m.NumV())
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				d.UpdatePosition(s.Q[i%oracle.Pool])
				d.JacobianTo(J, tip)
				i++
			}
		})
	}
}

// BenchmarkGrowth shows that time grows with the number of bodies and no faster.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{10, 50, 200, 500, 1000, 2000} {
		m := oracle.Chain(b, n)
		d, s := kinematics.NewData(m), oracle.NewStates(m)
		b.Run(fmt.Sprintf("Position/%d", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				d.UpdatePosition(s.Q[i%oracle.Pool])
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/body")
		})
	}
}
