package move

import (
	"math/rand/v2"
	"testing"
)

const benchPool = 256

// benchTasks makes tasks for a number of axes, from rest or from moving states.
func benchTasks(axes int, moving bool) (limits [][]Limits, from, to [][]State) {
	r := rand.New(rand.NewPCG(1, 2))
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	for range benchPool {
		var l []Limits
		var a, b []State
		for range axes {
			l = append(l, Symmetric(between(0.5, 4), between(0.5, 8), between(1, 40)))
			s := State{P: between(-3, 3)}
			if moving {
				s.V, s.A = between(-0.5, 0.5), between(-0.5, 0.5)
			}
			a, b = append(a, s), append(b, State{P: between(-3, 3)})
		}
		limits, from, to = append(limits, l), append(from, a), append(to, b)
	}
	return limits, from, to
}

func BenchmarkReach(b *testing.B) {
	for _, c := range []struct {
		name   string
		axes   int
		moving bool
	}{
		{"rest/1", 1, false}, {"rest/7", 7, false}, {"moving/1", 1, true}, {"moving/7", 7, true}, {"moving/30", 30, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			limits, from, to := benchTasks(c.axes, c.moving)
			m, err := New(limits[0])
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				k := i % benchPool
				if err := m.SetLimits(limits[k]); err != nil {
					b.Fatal(err)
				}
				if err := m.Reach(from[k], to[k], Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStop(b *testing.B) {
	limits, from, _ := benchTasks(7, true)
	m, err := New(limits[0])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := m.Stop(from[i%benchPool]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	limits, from, to := benchTasks(7, true)
	m, err := New(limits[0])
	if err != nil {
		b.Fatal(err)
	}
	if err := m.Reach(from[0], to[0], Options{}); err != nil {
		b.Fatal(err)
	}
	dst := make([]State, 7)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.StatesTo(dst, m.Duration()*float64(i%benchPool)/benchPool)
	}
}
