package floatingbase_test

import (
	"math"
	"testing"

	"poise/floatingbase"
	"poise/internal/randbot"
	"poise/spatial"
)

// The residual is the least that the limits of contacts allow: a slow method that shares nothing, with
// exact projections onto round cones of force and moment, finds none that is shorter. Points, flat and fixed
// feet, pushed about gently and hard.
func TestResidualIsTheLeast(t *testing.T) {
	s, rng := pony(t), randbot.New(4)
	for _, c := range []struct {
		set    string
		trials int
	}{{"hoof_center", 30}, {"hoof_flat", 12}, {"hoof_fixed", 12}} {
		limited, suffices, moments := 0, 0, 0
		for trial := range c.trials {
			st := s.standing(t, rng, []float64{0.5, 3, 10}[trial%3], c.set)
			st.friction = 0.2 + 0.6*rng.Float64()
			st.supports = st.supports[:1+trial%4]
			ans := s.solve(t, st)
			if ans.Limited {
				limited++
			}
			for _, w := range ans.Contacts {
				if w.Torque.Norm() > 1e-3*s.weight()*s.m.Contacts()[st.supports[0].Contact].Sole {
					moments++
				}
			}
			round := s.limits(st)
			least := s.projectedGradient(st, ans, round)
			// polygons of 64 sides inside the circles, and three chords in place of the arc
			chords := math.Asin(0.6*st.friction) / 3
			inside := cone{friction: round.friction * math.Cos(math.Pi/64), moment: round.moment * math.Cos(math.Pi/64) * math.Cos(chords/2), torsion: round.torsion * math.Cos(math.Pi/64)}
			atMost := s.projectedGradient(st, ans, inside)
			got := math.Hypot(ans.Residual.Force.Norm(), ans.Residual.Torque.Norm())
			if got > atMost+1e-4*s.weight() || got < least-1e-4*s.weight() {
				t.Errorf("%s, trial %d: residual %g, %g to %g are possible", c.set, trial, got, least, atMost)
			}
			if atMost < 1e-6*s.weight() {
				if suffices++; got > 1e-3*s.weight() {
					t.Errorf("%s, trial %d: forces in the cones suffice, but the residual is %g", c.set, trial, got)
				}
			}
		}
		t.Logf("%s: of %d, %d are limited and forces suffice in %d; %d feet have a moment", c.set, c.trials, limited, suffices, moments)
		if limited < c.trials/4 || suffices < 3 || (moments > 0) != (c.set != "hoof_center") {
			t.Errorf("%s: %d limited, %d sufficient trials, %d moments: the test sees too little", c.set, limited, suffices, moments)
		}
	}
}

// cone is the limits of a contact: |ft| ≤ friction·fz, |m| ≤ moment·fz, |mz| ≤ torsion·fz.
type cone struct{ friction, moment, torsion float64 }

// limits are those of all feet of a state, which have one kind of contact.
func (s *subject) limits(st state) cone {
	set := &s.m.Contacts()[st.supports[0].Contact]
	c := cone{friction: st.friction}
	if len(set.Points) > 1 {
		c.moment = set.Sole
	}
	if len(set.Points) > 2 {
		c.torsion = 0.6 * min(st.friction, 1) * set.Sole
	}
	return c
}

// projectedGradient minimises |needed − Σ wrenches| over wrenches in cones by Nesterov's
// accelerated projected gradient and returns the minimum.
func (s *subject) projectedGradient(st state, ans *floatingbase.Answer, within cone) float64 {
	base := spatial.Vec3{X: st.q[0], Y: st.q[1], Z: st.q[2]}
	needed := ans.Residual
	var arms []spatial.Vec3
	for _, c := range ans.Contacts {
		arm := c.Point.Sub(base)
		arms = append(arms, arm)
		needed.Force = needed.Force.Add(c.Force)
		needed.Torque = needed.Torque.Add(arm.Cross(c.Force)).Add(c.Torque)
	}
	left := func(f []spatial.Wrench) (w spatial.Wrench) {
		w = needed
		for i := range f {
			w.Force = w.Force.Sub(f[i].Force)
			w.Torque = w.Torque.Sub(arms[i].Cross(f[i].Force)).Sub(f[i].Torque)
		}
		return w
	}
	step := 1 / (float64(len(arms)) * 1.4)
	x, y := make([]spatial.Wrench, len(arms)), make([]spatial.Wrench, len(arms))
	momentum := 1.0
	for range 10000 {
		w := left(y)
		next := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		for i := range x {
			before := x[i]
			x[i] = within.onto(spatial.Wrench{Force: y[i].Force.Add(w.Force.Add(w.Torque.Cross(arms[i])).Scale(step)), Torque: y[i].Torque.Add(w.Torque.Scale(step))})
			k := (momentum - 1) / next
			y[i] = spatial.Wrench{Force: x[i].Force.Add(x[i].Force.Sub(before.Force).Scale(k)), Torque: x[i].Torque.Add(x[i].Torque.Sub(before.Torque).Scale(k))}
		}
		momentum = next
	}
	w := left(x)
	return math.Hypot(w.Force.Norm(), w.Torque.Norm())
}

// onto projects a wrench onto the cone: for a load fz the rest has a nearest point in closed form, and the distance
// is convex in fz.
func (c cone) onto(w spatial.Wrench) spatial.Wrench {
	if c.moment == 0 {
		return spatial.Wrench{Force: ontoCone(w.Force, c.friction)}
	}
	at := func(z float64) (spatial.Wrench, float64) {
		p := spatial.Wrench{Force: spatial.Vec3{X: w.Force.X, Y: w.Force.Y, Z: z}, Torque: c.ontoMoments(w.Torque, z)}
		if h := math.Hypot(w.Force.X, w.Force.Y); h > c.friction*z {
			p.Force.X, p.Force.Y = w.Force.X*c.friction*z/h, w.Force.Y*c.friction*z/h
		}
		f, m := p.Force.Sub(w.Force), p.Torque.Sub(w.Torque)
		return p, f.Dot(f) + m.Dot(m)
	}
	if p, far := at(w.Force.Z); w.Force.Z >= 0 && far == 0 {
		return p
	}
	low, high := math.Max(0, w.Force.Z), math.Max(0, w.Force.Z)+math.Hypot(w.Force.X, w.Force.Y)+w.Torque.Norm()
	const golden = 0.3819660112501051
	a, b := low+golden*(high-low), high-golden*(high-low)
	_, da := at(a)
	_, db := at(b)
	for range 30 {
		if da < db {
			high, b, db = b, a, da
			a = low + golden*(high-low)
			_, da = at(a)
		} else {
			low, a, da = a, b, db
			b = high - golden*(high-low)
			_, db = at(b)
		}
	}
	p, _ := at((low + high) / 2)
	return p
}

// ontoMoments projects onto the moments that a load allows: a ball between two planes.
func (c cone) ontoMoments(m spatial.Vec3, z float64) spatial.Vec3 {
	r, most := c.moment*z, c.torsion*z
	if c.torsion == 0 {
		m.Z = 0
	}
	inside := m
	if n := m.Norm(); n > r {
		inside = m.Scale(r / n)
	}
	if math.Abs(inside.Z) <= most {
		return inside
	}
	h, edge := math.Hypot(m.X, m.Y), math.Sqrt(r*r-most*most)
	if h > edge {
		m.X, m.Y = m.X*edge/h, m.Y*edge/h
	}
	m.Z = math.Copysign(most, m.Z)
	return m
}

// ontoCone projects onto |tangential| ≤ μ·z.
func ontoCone(f spatial.Vec3, μ float64) spatial.Vec3 {
	h := math.Hypot(f.X, f.Y)
	switch {
	case h <= μ*f.Z:
		return f
	case μ*h <= -f.Z:
		return spatial.Vec3{}
	}
	z := (μ*h + f.Z) / (1 + μ*μ)
	return spatial.Vec3{X: f.X * μ * z / h, Y: f.Y * μ * z / h, Z: z}
}
