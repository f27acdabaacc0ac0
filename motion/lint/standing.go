package lint

import (
	"fmt"
	"math"
	"slices"

	"poise/contact"
	"poise/control/follow"
	"poise/estimate"
	"poise/motion/forces"
	"poise/problem"
	"poise/robot"
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

// standing looks for feet that slip and for a centre of mass that is not above them.
func (c *checker) standing(g *follow.Goal) {
	ground, err := contact.NewGround(c.m)
	if err != nil {
		return // a robot with joints of several coordinates is not judged
	}
	s, err := c.d.Stance(g, c.m)
	if err != nil || s.Known() != nil {
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
	air := &watch{c: c, rule: Balance, limit: c.o.Margin, below: true, text: func(_, _ float64) string { return forces.NoFoot }}
	falls := c.m.Floating() && c.m.Mass() > 0
	n := len(c.m.Joints())
	q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
	var standing []estimate.Foot
	var feet []contact.Foot
	var b contact.Balance
	for _, t := range times {
		s.StateTo(q, v, a, s.Curve().Segment(t), t)
		standing, feet = s.FeetTo(standing[:0], t), feet[:0]
		for _, f := range standing {
			feet = append(feet, f.Foot)
		}
		odometry.Update(&estimate.Input{Time: t, Q: q, Feet: estimate.Alike(feet)})
		slip.look(t, odometry.Slip(), len(feet) > 1)
		if len(feet) > 0 {
			X_WB, _ := ground.Settle(q, feet)
			ground.BalanceTo(&b, q, feet, X_WB)
		}
		fall.look(t, b.Margin, len(feet) > 0 && falls)
		air.look(t, math.Inf(-1), s.Falls(t))
	}
	slip.end()
	fall.end()
	air.end()
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
	at       float64 // when
}

// look takes the number of one time, if it counts there.
func (w *watch) look(t, value float64, counts bool) {
	bad := counts && (value > w.limit) != w.below && value != w.limit
	switch {
	case !bad:
		w.end()
	case !w.open:
		w.open, w.from, w.to, w.worst, w.at = true, t, t, value, t
	default:
		if w.to = t; (value > w.worst) != w.below {
			w.worst, w.at = value, t
		}
	}
}

func (w *watch) end() {
	if !w.open {
		return
	}
	w.open = false
	f := problem.Problem{Code: w.rule, At: w.from, Until: w.to, WorstAt: w.at, Value: w.worst, Limit: w.limit, Row: w.c.rowAt(w.from) + 1,
		Text: w.text(w.worst, w.limit) + " " + w.c.span(w.from, w.to)}
	if math.IsInf(f.Value, 0) { // there is no number: the text says why
		f.Value, f.Limit = 0, 0
	}
	w.c.add(f)
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
