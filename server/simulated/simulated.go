package simulated

import (
	"math"
	"strings"

	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/server/config"
	"poise/servo/sim"
)

// Ideal returns a machine that is where it was told to be.
func Ideal(m *robot.Model) *sim.Bus {
	return sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints())), Position: Rest(m)})
}

// Real returns a machine that lags, is noisy and sags, with a cycle of some period, s.
func Real(m *robot.Model, c *config.Sim, period float64) *sim.Bus {
	like := sim.Servo{Lag: c.Lag, Delay: int(c.Delay/period + 0.5), Noise: c.Noise, Stiffness: c.Stiffness, Loss: c.Loss}
	return sim.New(sim.Config{Servos: realServos(m, like), Position: Rest(m), Seed: uint64(c.Seed), Load: gravityLoad(m)})
}

// Rest is where a simulated robot begins: standing or at home if it knows such a
// pose, otherwise as near to zero as its limits allow.
func Rest(m *robot.Model) []float64 {
	q := make([]float64, len(m.Joints()))
	for i, j := range m.Joints() {
		lower, upper := math.Inf(-1), math.Inf(1)
		if j.Limits.Lower.Has {
			lower = j.Limits.Lower.Value
		}
		if j.Limits.Upper.Has {
			upper = j.Limits.Upper.Value
		}
		q[i] = min(max(0, lower), upper)
	}
	for _, name := range []string{"stand", "home", "ready"} {
		found := false
		for _, p := range m.Poses() {
			if p.Name != name && !strings.HasSuffix(p.Name, "/"+name) {
				continue
			}
			found = true
			for i, j := range p.Joints {
				q[j] = p.Q[i][0]
			}
		}
		if found {
			break
		}
	}
	return q
}

// realServos gives every joint of the simulated real robot such a servo, as stiff as
// its joint is strong if nobody says how stiff.
func realServos(m *robot.Model, like sim.Servo) []sim.Servo {
	all := make([]sim.Servo, len(m.Joints()))
	for i, j := range m.Joints() {
		if j.Virtual {
			continue // nothing moves it, so nothing lags
		}
		all[i] = like
		if like.Stiffness == 0 && j.Limits.Effort.Has {
			all[i].Stiffness = config.StiffnessPerEffort * j.Limits.Effort.Value
		}
	}
	return all
}

// gravityLoad returns what each joint carries at a pose, with the robot standing on
// its feet: it makes the servos of a simulated robot sag.
func gravityLoad(m *robot.Model) func(dst, q []float64) {
	d := dynamics.NewData(m)
	full := make([]float64, m.NumQ())
	tau := make([]float64, m.NumV())
	kinematics.NewSpace(m).NeutralTo(full)
	return func(dst, q []float64) {
		for i, j := range m.Joints() {
			full[j.Q] = q[i]
		}
		d.GravityTo(tau, full)
		for i, j := range m.Joints() {
			dst[i] = tau[j.V]
		}
	}
}
