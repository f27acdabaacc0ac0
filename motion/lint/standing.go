package lint

import (
	"fmt"
	"math"
	"slices"

	"poise/contact"
	"poise/control/follow"
	"poise/estimate"
	"poise/problem"
	"poise/robot"
	"poise/trajectory/spline"
)

// contactOf returns the contact with which a chain stands for a value of its support
// track: up to 1 its own, above the one of that number. Ok is false if there is none.
func contactOf(m *robot.Model, chain string, support float64) (id robot.ContactID, ok bool) {
	c, known := m.Chain(chain)
	if !known || support <= 0 {
		return robot.NoContact, true
	}
	if support <= 1 {
		return m.Chains()[c].Contact, true
	}
	if n := int(support); n < len(m.Contacts()) {
		return robot.ContactID(n), true
	}
	return m.Chains()[c].Contact, false
}

// stance is what is known of a robot while it plays a motion.
type stance struct {
	curve  *spline.Spline
	tracks *spline.Steps // the columns of the goal; nil if no support is told
	column []int         // of each joint in the curve, −1 if it does not move
	rest   []float64     // of each joint that does not move
	feet   []foot
}

// foot is a chain that can stand.
type foot struct {
	chain robot.ChainID
	own   robot.ContactID
	track int  // column of its support in the goal, −1 if it has none
	holds bool // without a track: it does not move, so it stands
}

// standing looks for feet that slip and for a centre of mass that is not above them.
func (c *checker) standing(g *follow.Goal) {
	ground, err := contact.NewGround(c.m)
	if err != nil {
		return // a robot with joints of several coordinates is not judged
	}
	s, ok := c.stance(g)
	if !ok {
		return
	}
	first, last := g.Points[0].Time, g.End()
	steps := min(int(math.Ceil((last-first)/c.o.Step)), maxSteps)
	var times []float64
	for _, p := range g.Points { // where supports change
		times = append(times, p.Time)
	}
	for k := range steps {
		times = append(times, first+(last-first)*float64(k)/float64(steps))
	}
	slices.Sort(times)
	times = slices.Compact(times)

	odometry, err := estimate.NewOdometry(c.m)
	if err != nil {
		return
	}
	slip := &watch{c: c, rule: Slip, limit: c.o.Slip, text: slipText}
	fall := &watch{c: c, rule: Balance, limit: c.o.Margin, below: true, text: fallText}
	q := make([]float64, len(s.column))
	moving := make([]float64, s.curve.Joints())
	var feet []contact.Foot
	var b contact.Balance
	for _, t := range times {
		s.curve.PositionTo(moving, t)
		for j, col := range s.column {
			if q[j] = s.rest[j]; col >= 0 {
				q[j] = moving[col]
			}
		}
		feet = s.feetTo(feet[:0], c.m, t)
		odometry.Update(&estimate.Input{Time: t, Q: q, Feet: estimate.Alike(feet)})
		slip.look(t, odometry.Slip(), len(feet) > 1)
		if len(feet) > 0 {
			X_WB, _ := ground.Settle(q, feet)
			ground.BalanceTo(&b, q, feet, X_WB)
		}
		fall.look(t, b.Margin, len(feet) > 0 && c.m.Floating())
	}
	slip.end()
	fall.end()
}

// stance gathers what is known; ok is false if that is not enough to judge.
func (c *checker) stance(g *follow.Goal) (s *stance, ok bool) {
	joints, moved := c.m.Joints(), g.Moved()
	s = &stance{column: make([]int, len(joints)), rest: make([]float64, len(joints))}
	known := make([]bool, len(joints))
	for j := range joints {
		s.column[j] = slices.Index(moved, joints[j].Name)
		s.rest[j], known[j] = c.restOf(robot.JointID(j))
		known[j] = known[j] || s.column[j] >= 0
	}
	for id, chain := range c.m.Chains() {
		if chain.Contact == robot.NoContact {
			continue
		}
		leg, _ := c.m.Path(chain.Base, chain.Tip) // what lies behind the tip does not move the contact
		moves := slices.ContainsFunc(leg, func(j robot.JointID) bool { return s.column[j] >= 0 })
		f := foot{chain: robot.ChainID(id), own: chain.Contact, track: slices.Index(g.Joints, follow.SupportPrefix+chain.Name), holds: !moves}
		if f.track < 0 && !f.holds {
			continue // moved and not said to stand: it is free
		}
		if slices.ContainsFunc(leg, func(j robot.JointID) bool { return !known[j] }) {
			return nil, false
		}
		s.feet = append(s.feet, f)
	}
	var err error
	if s.curve, err = g.Curve(c.m); err != nil {
		return nil, false
	}
	if _, supports := g.Columns(); len(supports) > 0 {
		var times []float64
		var rows [][]float64
		for _, p := range g.Points {
			times, rows = append(times, p.Time), append(rows, p.Position)
		}
		s.tracks, err = spline.NewSteps(times, rows)
	}
	return s, err == nil && len(s.feet) > 0
}

// restOf returns where a joint is that the motion does not move: as its first row
// captured it, as the start pose has it, else as the first of the robot's poses that
// has it.
func (c *checker) restOf(id robot.JointID) (q float64, known bool) {
	joint := c.m.Joints()[id]
	if v, captured := c.d.Captured(c.rows[0], joint.Name); captured {
		return v, true
	}
	poses := c.m.Poses()
	if pose, ok := c.m.Pose(c.d.StartPose); ok {
		poses = append([]robot.NamedPose{*pose}, poses...)
	}
	for _, p := range poses {
		if i := slices.Index(p.Joints, id); i >= 0 && len(p.Q[i]) == 1 {
			return p.Q[i][0], true
		}
	}
	if l := joint.Limits; l.Lower.Has && l.Upper.Has {
		q = min(max(0, l.Lower.Value), l.Upper.Value)
	}
	return q, false
}

// feetTo appends the feet that stand at a time.
func (s *stance) feetTo(dst []contact.Foot, m *robot.Model, t float64) []contact.Foot {
	var values []float64
	if s.tracks != nil {
		values = s.tracks.At(t)
	}
	for _, f := range s.feet {
		id := f.own
		if f.track >= 0 {
			if id, _ = contactOf(m, m.Chains()[f.chain].Name, values[f.track]); id == robot.NoContact {
				continue
			}
		}
		dst = append(dst, contact.Foot{Chain: f.chain, Contact: id})
	}
	return dst
}

// watch makes findings of the times in which a number is beyond its limit.
type watch struct {
	c     *checker
	rule  problem.Code
	text  func(worst, limit float64) string
	limit float64
	below bool // the limit is a least one

	open     bool
	from, to float64
	worst    float64
}

// look takes the number of one time, if it counts there.
func (w *watch) look(t, value float64, counts bool) {
	bad := counts && (value > w.limit) != w.below && value != w.limit
	switch {
	case !bad:
		w.end()
	case !w.open:
		w.open, w.from, w.to, w.worst = true, t, t, value
	default:
		if w.to = t; (value > w.worst) != w.below {
			w.worst = value
		}
	}
}

func (w *watch) end() {
	if !w.open {
		return
	}
	w.open = false
	worst := w.worst
	if math.IsInf(worst, 0) {
		worst = -math.MaxFloat64
	}
	w.c.add(problem.Problem{Code: w.rule, At: w.from, Until: w.to, Value: worst, Limit: w.limit, Row: w.c.rowAt(w.from) + 1,
		Text: w.text(w.worst, w.limit) + " " + w.c.span(w.from, w.to)})
}

func slipText(worst, limit float64) string {
	return fmt.Sprintf("a standing foot moves by %s m, limit %s", short(worst), short(limit))
}

func fallText(worst, limit float64) string {
	where := fmt.Sprintf("%s m outside the supports", short(-worst))
	switch {
	case math.IsInf(worst, -1):
		where = "above no support"
	case worst >= 0:
		where = fmt.Sprintf("only %s m inside the supports", short(worst))
	}
	return fmt.Sprintf("the centre of mass is %s, it has to be %s m inside", where, short(limit))
}
