package gait

import (
	"math"
	"testing"
)

// TestBrace: at any instant of a trot and of a crawl, feet in the air come down within the time that is given, those that are about to be lifted stay, and
// it comes to rest between them; speeds are continuous and accelerations within the bound beside that of the swing, loads do not jump, and
// it walks on when it is told to.
func TestBrace(t *testing.T) {
	const within, most, dt = 0.1, 20, 0.001
	for _, name := range []string{"trot", "crawl"} {
		for k := range 16 {
			p := newWalker(t, four, name).Planner
			p.Command(Velocity{X: 0.05})
			for range 3000 + int(float64(k)/16*p.gait.Period/dt) {
				p.Advance(dt)
			}
			var was [4]Motion
			var weight [4]float64
			up := 0
			for i := range was {
				was[i], _, _, _ = p.Foot(i, 0)
				weight[i] = p.Weight(i)
				if swings, _, _ := p.Aloft(i); swings {
					up++
				}
			}
			p.Brace(within, most)
			for n := range 1500 {
				if n > 0 {
					p.Advance(dt)
				}
				for i := range was {
					m, _, _, _ := p.Foot(i, 0)
					if by := m.V.Sub(was[i].V).Norm(); by > 0.05 || m.P.Sub(was[i].P).Norm() > 0.002 {
						t.Fatalf("%s, %d/16, %d ms: foot %d jumps by %v m and %g m/s", name, k, n, i, m.P.Sub(was[i].P), by)
					}
					if a := math.Hypot(m.A.X, m.A.Y); a > 2*most {
						t.Fatalf("%s, %d/16, %d ms: foot %d is accelerated by %g m/s²", name, k, n, i, a)
					}
					before, _, _, _ := p.Foot(i, -dt)
					after, _, _, _ := p.Foot(i, dt)
					if n == 0 && before.P.Sub(m.P.Scale(2)).Add(after.P).Norm()/(dt*dt) > m.A.Norm()+5 {
						t.Fatalf("%s, %d/16: foot %d bends where it is braced", name, k, i)
					}
					if w := p.Weight(i); math.Abs(w-weight[i]) > 1.01*dt/p.cfg.Fade {
						t.Fatalf("%s, %d/16, %d ms: the load of foot %d goes from %g to %g", name, k, n, i, weight[i], w)
					} else if weight[i] = w; n > 110 && p.feet[i].z != m.P.Z {
						t.Fatalf("%s, %d/16, %d ms: foot %d is in the air", name, k, n, i)
					}
					was[i] = m
				}
			}
			if p.Phase() != Stands {
				t.Fatalf("%s, %d/16: it %v", name, k, p.Phase())
			}
			com := p.Com(0).P
			middle, _ := p.middle()
			if math.Hypot(com.X-middle.X, com.Y-middle.Y) > 1e-3 {
				t.Errorf("%s, %d/16: it rests %v beside the middle of its feet, %v", name, k, com, middle)
			}
			p.Stop(false)
			for range 4000 {
				p.Advance(dt)
			}
			if v := p.Com(0).V.X; p.Phase() != Walks || v < 0.03 {
				t.Errorf("%s, %d/16, %d feet in the air: it %v at %g m/s afterwards", name, k, up, p.Phase(), v)
			}
		}
	}
}
