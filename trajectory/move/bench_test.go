package move

import (
	"math/rand/v2"
	"testing"
	"time"
)

func benchAxes(moving bool) (l []Limits, from, to []State) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4096 {
		l = append(l, Symmetric(.1+12*r.Float64(), .1+12*r.Float64(), .1+12*r.Float64()))
		s := State{P: 4 * r.NormFloat64()}
		if moving {
			s.V, s.A = .8*r.NormFloat64(), .8*r.NormFloat64()
		}
		from = append(from, s)
		to = append(to, State{P: 4 * r.NormFloat64()})
	}
	return
}

func BenchmarkAxis(b *testing.B) {
	for _, moving := range []bool{false, true} {
		l, from, to := benchAxes(moving)
		name := "rest"
		if moving {
			name = "moving"
		}
		b.Run(name+"/solve", func(b *testing.B) {
			var x axis
			i := 0
			for b.Loop() {
				k := i & 4095
				i++
				x.reach(&l[k], from[k], to[k])
			}
		})
		b.Run(name+"/stretch", func(b *testing.B) {
			var x axis
			var p Profile
			i := 0
			for b.Loop() {
				k := i & 4095
				i++
				x.reach(&l[k], from[k], to[k])
				x.writeTo(&p, x.next(0)*1.2)
			}
		})
	}
}

func TestMeanOfMin(t *testing.T) {
	for _, moving := range []bool{false, true} {
		l, from, to := benchAxes(moving)
		const N = 7
		var ms []*Motion
		n := len(l) / N
		for i := range n {
			m, err := New(l[N*i : N*i+N])
			if err != nil {
				t.Fatal(err)
			}
			ms = append(ms, m)
		}
		best := make([]time.Duration, n)
		for rep := range 60 {
			for i := range n {
				ms[0].SetLimits(l[N*i : N*i+N])
				s := time.Now()
				ms[0].Reach(from[N*i:N*i+N], to[N*i:N*i+N], Options{})
				d := time.Since(s)
				if rep == 0 || d < best[i] {
					best[i] = d
				}
			}
		}
		sum := time.Duration(0)
		for _, b := range best {
			sum += b
		}
		t.Logf("moving %v: mean of min %v", moving, sum/time.Duration(n))
	}
}
