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
	holds bool // without a track: it does not move, so it stands
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
	for id, chain := range m.Chains() {
		if chain.Contact == robot.NoContact {
			continue
		}
		s.feet = append(s.feet, foot{chain: robot.ChainID(id), track: slices.Index(g.Joints, follow.SupportPrefix+chain.Name), holds: !s.moves(chain)})
	}
	var err error
	if s.curve, err = g.Curve(m); err != nil {
		return nil, err
	}
	for k := range s.moved {
		s.moved[k] = make([]float64, s.curve.Joints())
	}
	if _, supports := g.Columns(); len(supports) > 0 {
		var times []float64
		var rows [][]float64
		for _, p := range g.Points {
			times, rows = append(times, p.Time), append(rows, p.Position)
		}
		s.tracks, err = spline.NewSteps(times, rows)
	}
	return s, err
}

// leg lists the joints between the base and what a chain stands on: what lies behind its tip
// does not move the contact.
func (s *Stance) leg(c robot.Chain) []robot.JointID {
	leg, _ := s.m.Path(c.Base, c.Tip)
	return leg
}

func (s *Stance) moves(c robot.Chain) bool {
	return slices.ContainsFunc(s.leg(c), func(j robot.JointID) bool { return s.column[j] >= 0 })
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
				return fmt.Errorf("where joint %q of %q is is not known: no row captures it, and no pose of robot %q has it", s.m.Joints()[j].Name, c.Name, s.m.Name())
			}
		}
	}
	return nil
}

// StandOnAll lets every foot that the robot declares stand, if no track says anything and the
// motion moves all of them.
func (s *Stance) StandOnAll() {
	for _, f := range s.feet {
		if f.track >= 0 || f.holds {
			return
		}
	}
	for i := range s.feet {
		s.feet[i].holds = true
	}
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

// FeetTo appends the feet that stand at a time, with their shares.
func (s *Stance) FeetTo(dst []estimate.Foot, t float64) []estimate.Foot {
	var values []float64
	if s.tracks != nil {
		values = s.tracks.At(t)
	}
	for _, f := range s.feet {
		own := s.m.Chains()[f.chain].Contact
		at := control.Support{Contact: own}
		switch {
		case f.track >= 0:
			at = follow.SupportValue(s.m, own, values[f.track])
		case f.holds:
			at.Weight = 1
		}
		if at.Weight > 0 {
			dst = append(dst, estimate.Foot{Foot: contact.Foot{Chain: f.chain, Contact: at.Contact}, Weight: at.Weight})
		}
	}
	return dst
}
