package physics

import (
	"fmt"
	"math"

	"poise/kinematics"
	"poise/robot"
	"poise/sim"
	"poise/spatial"
)

// Spring draws a point of a body to a point of the world, damped, as a hand that holds it.
type Spring struct {
	body      robot.BodyID
	point     spatial.Vec3 // in the body
	target    spatial.Vec3 // in the world
	stiffness float64      // N/m
	brake     float64      // N·s/m
	most      float64      // N

	last spatial.Vec3 // where the point was
	seen bool
}

const (
	springStretch  = 0.05 // m by which a spring stretches that carries the whole robot
	springStrength = 5    // times the robot's weight
)

// NewSpring returns a spring of a stiffness, N/m; 0 is one that can carry the robot.
func NewSpring(m *robot.Model, body robot.BodyID, point, target spatial.Vec3, stiffness float64) (Spring, error) {
	weight := m.Mass() * m.Gravity().Norm()
	if stiffness == 0 {
		stiffness = weight / springStretch
	}
	if !target.Finite() || !point.Finite() || !(stiffness > 0 && stiffness*springStretch <= springStrength*weight) {
		return Spring{}, fmt.Errorf("a stiffness of %g N/m: 0 (a good one) … %.4g N/m are wanted, and finite points", stiffness, springStrength*weight/springStretch)
	}
	return Spring{body: body, point: point, target: target, stiffness: stiffness,
		brake: math.Sqrt(stiffness * m.Bodies()[body].Inertia.Mass), most: springStrength * weight}, nil
}

// Push returns the force of the spring for a step of a length, s. The kinematics has the
// robot's configuration. Loop-safe.
func (s *Spring) Push(k *kinematics.Data, step float64) sim.Push {
	at := k.BodyPose(s.body).Apply(s.point)
	force := s.target.Sub(at).Scale(s.stiffness)
	if s.seen {
		force = force.Sub(at.Sub(s.last).Scale(s.brake / step))
	}
	if f := force.Norm(); f > s.most {
		force = force.Scale(s.most / f)
	}
	s.last, s.seen = at, true
	return sim.Push{Body: s.body, Point: s.point, Force: force}
}
