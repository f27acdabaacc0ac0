package server

import (
	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/server/config"
	"poise/servo/sim"
)

// idealBus returns a machine that is where it was told to be.
func idealBus(m *robot.Model) *sim.Bus {
	return sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints())), Position: m.RestPositions()})
}

// realBus returns a machine that lags, is noisy and sags, with a cycle of some period, s.
func realBus(m *robot.Model, c *config.Sim, period float64) *sim.Bus {
	like := sim.Servo{Lag: c.Lag, Delay: int(c.Delay/period + 0.5), Noise: c.Noise, Stiffness: c.Stiffness, Loss: c.Loss}
	return sim.New(sim.Config{Servos: realServos(m, like), Position: m.RestPositions(), Seed: uint64(c.Seed), Load: gravityLoad(m)})
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
