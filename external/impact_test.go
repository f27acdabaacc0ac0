package external_test

import (
	"math"
	"testing"

	"poise/external"
	"poise/robot"
	"poise/spatial"
)

// hits lets a force act from the side on feet that swing, at random instants and directions.
func hits(t testing.TB, c config, force float64, n int) (latency []float64, landed, missed int) {
	p := newPlant(t, c)
	p.expect(0.5)
	p.run(2)
	for range n {
		p.run(0.4 + 0.5*p.rng.Float64())
		foot, angle := p.feet[p.rng.IntN(len(p.feet))], 2*math.Pi*p.rng.Float64()
		f := spatial.Vec3{X: math.Cos(angle), Y: math.Sin(angle)}.Scale(force)
		p.dueAt = p.rng.Float64()
		p.due = func() { p.push(foot, f) }
		began, found, down := p.time()+p.delay(), -1.0, false
		for p.time() < began+0.2 {
			p.step()
			for _, e := range p.sense.Events() {
				switch {
				case e.Chain != foot || found >= 0:
				case e.Kind == external.Impact:
					found = p.time() - began
				case e.Kind == external.TouchDown:
					down = true
				}
			}
		}
		p.push(foot, spatial.Vec3{})
		switch {
		case found >= 0:
			latency = append(latency, found)
		case down:
			landed++
		default:
			missed++
		}
	}
	return latency, landed, missed
}

// TestRandomImpacts: 15 N from the side on a foot in the middle of its swing are told as an impact, and within 60 ms, in 95 of 100 cases.
func TestRandomImpacts(t *testing.T) {
	n := 60
	if soak() {
		n = 1000
	}
	for _, dt := range []float64{0.0224, 0.0112} {
		latency, landed, missed := hits(t, config{dt: dt, seed: 3, off: 0.05, speed: 1, pose: crouched}, 15, n)
		t.Logf("%.1f ms: %d of %d told, median %.1f ms, p95 %.1f ms; %d told as a touch-down alone, %d not at all", 1e3*dt, len(latency), n, 1e3*quantile(latency, 0.5), 1e3*quantile(latency, 0.95), landed, missed)
		if landed+missed > n/20 || quantile(latency, 0.9) > 0.06 {
			t.Errorf("%.1f ms: of %d impacts %d are told as a touch-down, %d not at all, 90 of 100 within %.0f ms", 1e3*dt, n, landed, missed, 1e3*quantile(latency, 0.9))
		}
	}
}

// TestUnexplainedElsewhere: a force on the knee is not one on the sole, and what the wrench of the sole cannot explain says so.
func TestUnexplainedElsewhere(t *testing.T) {
	p := newPlant(t, config{dt: 0.0112, seed: 2, off: 0.05, pose: crouched})
	for i := range p.waves {
		p.waves[i] = nil
	}
	p.run(1)
	for _, foot := range p.feet {
		c := &p.m.Chains()[foot]
		p.push(foot, spatial.Vec3{X: 8})
		p.run(0.6)
		sole := p.sense.Limb(foot).Unexplained
		knee := p.m.Joints()[kneeOf(p.m, foot)]
		in := p.bus.Input()
		in.Pushes = in.Pushes[:1]
		in.Pushes[0].Body, in.Pushes[0].Point, in.Pushes[0].Force = knee.Body, spatial.Vec3{}, spatial.Vec3{X: 25}
		p.run(0.6)
		if there := p.sense.Limb(foot).Unexplained; there < 2*sole || there < 0.2 {
			t.Errorf("%s: %.3f N·m are not explained of a force on the knee, %.3f of one on the sole", c.Name, there, sole)
		}
		p.push(foot, spatial.Vec3{})
		p.run(0.6)
	}
}

// kneeOf returns the joint of a leg below which nothing feels a force on it.
func kneeOf(m *robot.Model, foot robot.ChainID) robot.JointID {
	joints := m.Chains()[foot].Joints // the last is virtual
	return joints[len(joints)-4]
}
