package wholebody

import (
	"math"

	"poise/contact"
	"poise/floatingbase"
	"poise/qp"
	"poise/robot"
	"poise/spatial"
)

// Order is which levels there are and what comes first.
type Order uint8

const (
	Default  Order = iota // limits, then limbs that are not asked to balance, then the base
	Seed                  // the base before all limbs
	Weighted              // safety, then all that is asked for at once, by weights: where levels fail
)

func (o Order) String() string { return [...]string{"default", "seed", "weighted"}[o] }

// Limb asks a point of a chain to accelerate: the origin of the chain's contact set, its tip's
// origin if it has none.
type Limb struct {
	Chain  robot.ChainID
	Linear spatial.Vec3 // classical, world axes, m/s²

	Angular spatial.Vec3 // world axes, rad/s²
	Turns   int          // how many components of Angular count: 0, 2 (x and y) or 3
	Yields  bool         // what the point leaves of its joints does what Joints asks of them; else both are asked for alike
}

// HalfPlane asks the centre of mass to accelerate by Least along a horizontal direction, or more.
type HalfPlane struct {
	Along contact.Point // unit
	Least float64       // m/s²
}

// Joint asks a velocity behind the base's to change.
type Joint struct {
	V            int // index in v
	Acceleration float64
}

// Reach asks a point of the base, which is where a foot stands, to accelerate by Least along a
// direction, or more.
type Reach struct {
	Chain robot.ChainID
	Point spatial.Vec3 // in the world
	Along spatial.Vec3 // unit, world axes
	Least float64      // m/s²
}

// Request is what the robot should do.
type Request struct {
	Supports []floatingbase.Support // those with a coefficient above 0 stand
	Friction float64
	Margin   float64 // of the zero-moment point in the polygon, m
	Order    Order

	Base       spatial.Twist // acceleration of the base's origin, classical, world axes
	HasLinear  bool
	HasAngular bool
	ZMP        contact.Point
	HasZMP     bool
	Limbs      []Limb
	Joints     []Joint

	// Limits of torque and acceleration, one for each velocity behind the base's; nil or
	// infinite for none.
	MaxTorque, MaxAcceleration []float64

	// What motion control needs besides; zero values ask for nothing.
	Levels   []LevelSpec     // in place of Order's; checked by CheckLevels
	Armature []float64       // of the rotor of each velocity behind the base's, in the mass matrix: torques are then those at the rotor
	Feedback []spatial.Twist // of each support: acceleration that takes it back to where it stood, world axes
	Fade     bool            // a support with a coefficient s carries at most s/(1−s) of the weight
	Moments  bool            // moments of soles move the zero-moment point, as they do
	Coarse   bool            // moments of soles are kept in polygons of 16 sides, not of 64: 2 % less of them, and less work
	Fixed    []Joint         // accelerations that nothing changes: joints that no servo moves
	Capture  []HalfPlane     // that keep the capture point inside
	Reach    []Reach         // that keep legs from getting straight
	Com      spatial.Vec3    // acceleration of the centre of mass, world axes,
	HasCom   bool            // which then counts in place of the base's linear one

	// Torques of the time before, one for each velocity behind the base's, and by how much they may change,
	// where that is finite: a level of its own below those of safety.
	Before, Slew []float64

	// Lower limits where they are not the negative of the upper ones.
	MinTorque, MinAcceleration []float64

	Iterations int // of all levels at most; 0 for 2,000
}

// Level is how a level was served.
type Level struct {
	Name       string
	Residual   float64   // Euclidean norm of the errors of its equations
	Slack      float64   // Euclidean norm of what its inequalities are broken by
	Status     qp.Status // Optimal, or why the answer of the levels above was kept
	Iterations int
	Active     []Row // inequalities that are at their bounds or beyond
	Safety     bool  // it decides on whether the answer is feasible
}

// Answer is what Solve computes. The zero value is ready; it grows when it is first used.
type Answer struct {
	Acceleration []float64 // as in dynamics
	Torque       []float64 // one for each velocity behind the base's
	Contacts     []floatingbase.ContactWrench
	Levels       []Level
	Feasible     bool // no safety level is broken by more than 1e-6
	Iterations   int
}

// tolFeasible is how much the levels of safety may be broken by.
const tolFeasible = 1e-6

// refuse returns which number Solve cannot take. The error belongs to the Solver and holds until
// the next Solve.
func (s *Solver) refuse(what string, index int, value float64, want string) error {
	s.fault = floatingbase.InputError{What: what, Index: index, Value: value, Want: want}
	return &s.fault
}

func finite(x float64) bool { return x-x == 0 }

func (s *Solver) check(q, v []float64, r *Request) error {
	for _, x := range [...]struct {
		name   string
		values []float64
		want   int
	}{{"q", q, s.m.NumQ()}, {"v", v, s.nv}} {
		if len(x.values) != x.want {
			return s.refuse("length of "+x.name, -1, float64(len(x.values)), "the robot's")
		}
		for i, value := range x.values {
			if !finite(value) {
				return s.refuse(x.name, i, value, "a finite number")
			}
		}
	}
	switch {
	case !(r.Friction >= 0) || math.IsInf(r.Friction, 0):
		return s.refuse("friction", -1, r.Friction, "a finite number, 0 or more")
	case !(r.Margin >= 0) || math.IsInf(r.Margin, 0):
		return s.refuse("margin", -1, r.Margin, "a finite number, 0 or more")
	case !finite(r.Base.Linear.Norm()) || !finite(r.Base.Angular.Norm()):
		return s.refuse("base", -1, r.Base.Linear.Norm()+r.Base.Angular.Norm(), "finite numbers")
	case r.HasZMP && !finite(r.ZMP.X+r.ZMP.Y):
		return s.refuse("zmp", -1, r.ZMP.X+r.ZMP.Y, "finite numbers")
	}
	if err := s.checkSupports(r); err != nil {
		return err
	}
	return s.checkRequests(r)
}

func (s *Solver) checkSupports(r *Request) error {
	clear(s.stands)
	clear(s.named)
	for i, support := range r.Supports {
		switch {
		case support.Chain < 0 || int(support.Chain) >= len(s.named):
			return s.refuse("chain of support", i, float64(support.Chain), "one of the robot's")
		case s.named[support.Chain]:
			return s.refuse("chain of support", i, float64(support.Chain), "each chain once")
		case support.Contact < 0 || int(support.Contact) >= len(s.models):
			return s.refuse("contact of support", i, float64(support.Contact), "one of the robot's")
		case !(support.Coefficient >= 0 && support.Coefficient <= 1):
			return s.refuse("coefficient of support", i, support.Coefficient, "0 to 1")
		}
		if _, ok := s.models[support.Contact].Origin(); !ok {
			return s.refuse("contact of support", i, float64(support.Contact), "a set with points")
		}
		s.named[support.Chain], s.stands[support.Chain] = true, support.Coefficient > 0
	}
	return nil
}

func (s *Solver) checkRequests(r *Request) error {
	clear(s.named)
	for i, limb := range r.Limbs {
		switch {
		case limb.Chain < 0 || int(limb.Chain) >= len(s.named):
			return s.refuse("chain of limb", i, float64(limb.Chain), "one of the robot's")
		case s.named[limb.Chain]:
			return s.refuse("chain of limb", i, float64(limb.Chain), "each chain once")
		case s.stands[limb.Chain]:
			return s.refuse("chain of limb", i, float64(limb.Chain), "one that does not stand")
		case !finite(limb.Linear.Norm()) || limb.Turns > 0 && !finite(limb.Angular.Norm()):
			return s.refuse("acceleration of limb", i, limb.Linear.Norm()+limb.Angular.Norm(), "finite numbers")
		}
		s.named[limb.Chain] = true
	}
	for i, joint := range r.Joints {
		switch {
		case joint.V < 6 || joint.V >= s.nv:
			return s.refuse("velocity of joint", i, float64(joint.V), "one behind the base's")
		case !finite(joint.Acceleration):
			return s.refuse("acceleration of joint", i, joint.Acceleration, "a finite number")
		}
	}
	if err := s.checkControl(r); err != nil {
		return err
	}
	for _, l := range [...]struct {
		name          string
		limits, lower []float64
	}{{"torque limit", r.MaxTorque, r.MinTorque}, {"acceleration limit", r.MaxAcceleration, r.MinAcceleration}} {
		if l.limits != nil && len(l.limits) != s.nv-6 {
			return s.refuse("number of "+l.name+"s", -1, float64(len(l.limits)), "one for each velocity behind the base's")
		}
		for i, x := range l.limits {
			switch {
			case l.lower == nil && !(x >= 0):
				return s.refuse(l.name, i, x, "0 or more")
			case l.lower != nil && !(x >= l.lower[i]):
				return s.refuse(l.name, i, x, "the lower one or more")
			}
		}
	}
	return nil
}
