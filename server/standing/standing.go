package standing

import (
	"slices"
	"sync"

	"poise/contact"
	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// Standing finds out where the base of a robot is. One goroutine updates it; Settle can
// be called by all.
type Standing struct {
	model    *robot.Model
	ground   *contact.Ground
	odometer *contact.Odometer
	feet     []contact.Foot  // that carry
	free     []robot.ChainID // that the last motion lifted
	balance  contact.Balance
	hand     hands

	mu      sync.Mutex // of what others ask for
	base    spatial.Pose
	anchors []spatial.Vec3 // where the feet that stand touch the ground
	touch   []contact.Foot
	asked   *contact.Ground // serves one goroutine at a time
}

// New returns a robot that stands at the origin of the world; one on a fixed base stays
// there.
func New(m *robot.Model) (*Standing, error) {
	ground, err := contact.NewGround(m)
	if err != nil {
		return nil, err
	}
	asked, err := contact.NewGround(m)
	if err != nil {
		return nil, err
	}
	return &Standing{model: m, ground: ground, odometer: contact.NewOdometer(ground), hand: hands{ground: ground}, base: spatial.IdentityPose, asked: asked}, nil
}

// Update returns where the base is, for joints and the supports that are commanded.
// performed says that a motion goes on which knows its feet; otherwise hands may have
// moved them.
func (s *Standing) Update(q []float64, supports []control.Support, performed bool) spatial.Pose {
	if !s.model.Floating() {
		return spatial.IdentityPose
	}
	s.feet, s.free = s.feet[:0], s.free[:0]
	for c, support := range supports {
		chain := &s.model.Chains()[c]
		if chain.Contact == robot.NoContact || support.Weight <= 0 && performed {
			continue
		}
		if support.Weight <= 0 { // hands may put it down again
			s.free = append(s.free, robot.ChainID(c))
		}
		foot := contact.Foot{Chain: robot.ChainID(c), Contact: support.Contact}
		if foot.Contact == robot.NoContact {
			foot.Contact = chain.Contact
		}
		s.feet = append(s.feet, foot)
	}
	if performed {
		s.hand.forget()
	} else {
		if down := s.hand.stand(q, s.feet, s.free, s.odometer.Pose()); down != nil {
			s.odometer.Reset(*down)
		}
		s.feet = slices.DeleteFunc(s.feet, func(f contact.Foot) bool { return slices.Contains(s.hand.air, f.Chain) })
	}
	base := s.odometer.Update(q, s.feet)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base, s.touch = base, append(s.touch[:0], s.feet...)
	s.anchors = s.ground.PointsTo(s.anchors[:0], q, s.feet, base)
	return base
}

// Feet returns those that carry since the last Update.
func (s *Standing) Feet() []contact.Foot { return s.feet }

// Balance returns how well the robot stands on them. It is valid until the next call.
func (s *Standing) Balance(q []float64, base spatial.Pose) *contact.Balance {
	s.ground.BalanceTo(&s.balance, q, s.feet, base)
	return &s.balance
}

// Settle returns where the base would be for some joints, with the feet that stand now
// staying where they are.
func (s *Standing) Settle(joints []float64) spatial.Pose {
	if !s.model.Floating() {
		return spatial.IdentityPose
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	X, _ := s.asked.Fit(joints, s.touch, s.anchors, s.base)
	return X
}

// SetBase writes the pose of a floating base into a configuration.
func SetBase(full []float64, m *robot.Model, base spatial.Pose) {
	if !m.Floating() {
		return
	}
	q := base.R.Quat()
	copy(full, []float64{base.P.X, base.P.Y, base.P.Z, q.X, q.Y, q.Z, q.W})
}
