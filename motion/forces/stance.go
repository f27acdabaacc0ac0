package forces

import (
	"fmt"
	"slices"

	"poise/contact"
	"poise/control"
	"poise/control/follow"
	"poise/estimate"
	"poise/robot"
	"poise/trajectory/spline"
)

// Rest tells where a joint is that a motion does not move; known is false if that is a guess.
type Rest func(robot.JointID) (q float64, known bool)

// Stance is how a robot is while it plays a goal: its joints, and the feet that stand.
type Stance struct {
	m      *robot.Model
	curve  *spline.Spline
	tracks *spline.Steps // the columns of the goal; nil if no support is told
	times  []float64     // of the goal's points
	column []int         // of each joint in the curve, −1 if it does not move
	rest   []float64     // of each joint that does not move
	known  []bool        // of each joint: where it is is no guess
	feet   []foot
	moved  [3][]float64 // position, velocity and acceleration of the curve's joints
}

// foot is a chain that can stand.
type foot struct {
	chain robot.ChainID
	track int  // column of its support in the goal, −1 if it has none
	holds bool // without a track: it stands
}

// NewStance gathers what is known of a robot that plays a goal of at least two points.
func NewStance(g *follow.Goal, m *robot.Model, rest Rest) (*Stance, error) {
	joints, moved := m.Joints(), g.Moved()
	s := &Stance{m: m, column: make([]int, len(joints)), rest: make([]float64, len(joints)), known: make([]bool, len(joints))}
	for j := range joints {
		s.column[j] = slices.Index(moved, joints[j].Name)
		s.rest[j], s.known[j] = rest(robot.JointID(j))
		s.known[j] = s.known[j] || s.column[j] >= 0
	}
	freed, _ := g.Freed(m)
	for i, chain := range m.Chains() {
		if id := robot.ChainID(i); chain.Contact != robot.NoContact {
			s.feet = append(s.feet, foot{chain: id, track: slices.Index(g.Joints, follow.SupportPrefix+chain.Name), holds: !slices.Contains(freed, id)})
		}
	}
	var err error
	if s.curve, err = g.Curve(m); err != nil {
		return nil, err
	}
	for k := range s.moved {
		s.moved[k] = make([]float64, s.curve.Joints())
	}
	for _, p := range g.Points {
		s.times = append(s.times, p.Time)
	}
	if _, supports := g.Columns(); len(supports) > 0 {
		var rows [][]float64
		for _, p := range g.Points {
			rows = append(rows, p.Position)
		}
		s.tracks, err = spline.NewSteps(s.times, rows)
	}
	return s, err
}

// leg lists the joints between the base and what a chain stands on: what lies behind its tip
// does not move the contact.
func (s *Stance) leg(c robot.Chain) []robot.JointID {
	leg, _ := s.m.Path(c.Base, c.Tip)
	return leg
}

// Known returns why it cannot be judged how the robot stands; nil if it can: where the joints of
// every foot that may stand are is known.
func (s *Stance) Known() error {
	for _, f := range s.feet {
		if f.track < 0 && !f.holds {
			continue
		}
		c := s.m.Chains()[f.chain]
		for _, j := range s.leg(c) {
			if !s.known[j] {
				return fmt.Errorf("the position of joint %q of %q is unknown: no row captures it, and no pose of robot %q has it", s.m.Joints()[j].Name, c.Name, s.m.Name())
			}
		}
	}
	return nil
}

// Curve returns what the moved joints follow.
func (s *Stance) Curve() *spline.Spline { return s.curve }

// StateTo fills in every joint of the robot at a time in a segment of the curve.
func (s *Stance) StateTo(q, v, a []float64, segment int, t float64) {
	s.curve.SegmentTo(s.moved[0], s.moved[1], s.moved[2], segment, t)
	for j, col := range s.column {
		if q[j], v[j], a[j] = s.rest[j], 0, 0; col >= 0 {
			q[j], v[j], a[j] = s.moved[0][col], s.moved[1][col], s.moved[2][col]
		}
	}
}

// Falls reports whether nothing holds the robot at a time: it has mass and feet, and none stands.
func (s *Stance) Falls(t float64) bool {
	if !s.m.Floating() || !(s.m.Mass() > 0) || len(s.feet) == 0 {
		return false
	}
	for i := range s.feet {
		if s.support(&s.feet[i], t).Weight > 0 {
			return false
		}
	}
	return true
}

// FirstFall returns the first time from which on the robot falls: supports change at points alone.
func (s *Stance) FirstFall() (at float64, ok bool) {
	i := slices.IndexFunc(s.times, s.Falls)
	if i < 0 {
		return 0, false
	}
	return s.times[i], true
}

// NoFoot says what Falls finds.
const NoFoot = "no foot stands, and the robot falls"

// FeetTo appends the feet that stand at a time, with their shares.
func (s *Stance) FeetTo(dst []estimate.Foot, t float64) []estimate.Foot {
	for i := range s.feet {
		f := &s.feet[i]
		if at := s.support(f, t); at.Weight > 0 {
			dst = append(dst, estimate.Foot{Foot: contact.Foot{Chain: f.chain, Contact: at.Contact}, Weight: at.Weight})
		}
	}
	return dst
}

// support returns how a foot stands at a time.
func (s *Stance) support(f *foot, t float64) control.Support {
	own := s.m.Chains()[f.chain].Contact
	at := control.Support{Contact: own}
	switch {
	case f.track >= 0:
		at = follow.SupportValue(s.m, own, s.tracks.At(t)[f.track])
	case f.holds:
		at.Weight = 1
	}
	return at
}
