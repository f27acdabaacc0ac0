package motion

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// SupportPrefix begins the name of a goal's column that holds a chain's support.
const SupportPrefix = follow.SupportPrefix

// Part says what of a document is played, and how; the zero value is the whole, at
// table times.
type Part struct {
	Marked   bool    // from the start mark to the end mark, counted from the former
	Scale    float64 // times are multiplied by it, > 0; 0 means 1
	Backward bool
}

// Goal is a motion to be played: the enabled rows and joints as arrays. A player
// compiles it; motion/rosgoal writes it as a ROS goal.
type Goal struct {
	Joints            []string
	Path, Goal        []*Tolerance // one per joint, nil where none is stated
	GoalTimeTolerance float64
	Times             []float64
	Positions         [][]float64 // a row per time, a value per joint
	Chains            []string    // whose support is told
	Supports          [][]float64 // a row per time, a value per chain, held until the next
	Order             []string    // of joints and supports/… as one list
	Events            []Event
}

// Goal returns what is played of a document: positions of the enabled joints in the
// enabled rows, supports and events. Every position that was not captured stands in
// the way, as *Problem.
func (d *Document) Goal(part Part) (*Goal, error) {
	var p problems
	if err := d.Check(); err != nil {
		return nil, err
	}
	scale := part.Scale
	if scale == 0 {
		scale = 1
	}
	if !(scale > 0) || math.IsInf(scale, 0) {
		return nil, &Problem{Kind: ErrOperation, Value: scale, Text: fmt.Sprintf("a scale of %v: it must be more than 0", scale)}
	}
	g := &Goal{GoalTimeTolerance: d.GoalTimeTolerance, Chains: slices.Clone(d.Chains)}
	var columns []int
	for _, j := range d.Joints {
		if j.Enabled {
			g.Joints, g.Path, g.Goal = append(g.Joints, j.Name), append(g.Path, j.Path.Clone()), append(g.Goal, j.Goal.Clone())
			columns = append(columns, d.Column(j.Name))
		}
	}
	g.Order = d.goalOrder(g.Joints)

	from, to, zero := math.Inf(-1), math.Inf(1), 0.0
	if part.Marked {
		from, to = d.PartSpan()
		zero = from
	}
	for row, pt := range d.Points {
		if !pt.Enabled || pt.Time < from || pt.Time > to {
			continue
		}
		q := make([]float64, len(columns))
		for i, c := range columns {
			if q[i] = math.NaN(); c >= 0 {
				q[i] = pt.Positions[c]
			}
			if math.IsNaN(q[i]) {
				p.add(Problem{Kind: ErrMissing, Joint: g.Joints[i], Row: row, HasRow: true, Text: fmt.Sprintf("did not capture joint %q", g.Joints[i])})
			}
		}
		for i, s := range pt.Supports {
			if math.IsNaN(s) {
				p.add(Problem{Kind: ErrMissing, Joint: d.Chains[i], Row: row, HasRow: true, Text: fmt.Sprintf("does not say the support of chain %q", d.Chains[i])})
			}
		}
		g.Times = append(g.Times, (pt.Time-zero)*scale)
		g.Positions, g.Supports = append(g.Positions, q), append(g.Supports, slices.Clone(pt.Supports))
	}
	for _, e := range d.Events {
		if e.Time >= from && e.Time <= to {
			e.Time = (e.Time - zero) * scale
			g.Events = append(g.Events, e)
		}
	}
	if part.Backward {
		g.reverse()
	}
	return g, p.err()
}

// PartSpan returns the times between which part execution runs: from mark to mark,
// without one from or to the end of the enabled rows.
func (d *Document) PartSpan() (from, to float64) {
	from, to = d.Span()
	if row := d.Marked(StartMark); row >= 0 {
		from = d.Points[row].Time
	}
	if row := d.Marked(EndMark); row >= 0 {
		to = d.Points[row].Time
	}
	return from, to
}

// goalOrder lists joints and supports as one, in the document's order where it has
// one.
func (d *Document) goalOrder(joints []string) []string {
	all := slices.Clone(joints)
	for _, c := range d.Chains {
		all = append(all, SupportPrefix+c)
	}
	var order []string
	for _, name := range d.Order {
		if slices.Contains(all, name) {
			order = append(order, name)
		}
	}
	for _, name := range all {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// reverse runs the goal backwards in the same span of time. A support holds from its
// row to the next, so it moves by one row.
func (g *Goal) reverse() {
	n := len(g.Times)
	if n == 0 {
		return
	}
	first, last := g.Times[0], g.Times[n-1]
	supports := make([][]float64, n)
	for i := range n {
		supports[i] = g.Supports[max(0, n-2-i)]
		g.Times[i] = first + (last - g.Times[i])
	}
	g.Supports = supports
	slices.Reverse(g.Times)
	slices.Reverse(g.Positions)
	for i := range g.Events {
		g.Events[i].Time = first + (last - g.Events[i].Time)
	}
	slices.Reverse(g.Events)
}

// Curve returns the curve that the goal means: the one that follow plays. It rests at
// both ends and where a row is repeated, and never leaves the range of two
// neighbouring rows. Continuous joints of the robot, which may be nil, go the short
// way from row to row, unless their rows count turns.
func (g *Goal) Curve(m *robot.Model) (*spline.Spline, error) {
	if len(g.Times) == 0 {
		return nil, errors.New("no row is enabled: a motion needs two")
	}
	t := &trajectory.Trajectory{Joints: g.Joints}
	for i, time := range g.Times {
		t.Points = append(t.Points, trajectory.Point{Time: time, Position: slices.Clone(g.Positions[i])})
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	for i, name := range g.Joints {
		if m == nil {
			break
		}
		if id, ok := m.Joint(name); ok && m.Joints()[id].Kind == robot.Continuous {
			follow.Unwrap(t.Points, i)
		}
	}
	return follow.Curve(t.Points)
}

// Follow returns the goal as the controller takes it: supports as columns among the
// joints.
func (g *Goal) Follow() *follow.Goal {
	f := &follow.Goal{Joints: slices.Clone(g.Order), GoalTime: g.GoalTimeTolerance}
	for i, t := range g.Times {
		p := trajectory.Point{Time: t, Position: make([]float64, len(g.Order))}
		for k, name := range g.Order {
			if j := slices.Index(g.Joints, name); j >= 0 {
				p.Position[k] = g.Positions[i][j]
			} else {
				p.Position[k] = g.Supports[i][slices.Index(g.Chains, strings.TrimPrefix(name, SupportPrefix))]
			}
		}
		f.Points = append(f.Points, p)
	}
	for i, name := range g.Joints {
		if t := g.Path[i]; t != nil {
			f.Path = append(f.Path, follow.Tolerance{Joint: name, Position: t.Position, Velocity: t.Velocity, Acceleration: t.Acceleration})
		}
		if t := g.Goal[i]; t != nil {
			f.Final = append(f.Final, follow.Tolerance{Joint: name, Position: t.Position, Velocity: t.Velocity, Acceleration: t.Acceleration})
		}
	}
	for _, e := range g.Events {
		f.Events = append(f.Events, follow.Event(e))
	}
	return f
}

// Duration returns the time from the first row to the last.
func (g *Goal) Duration() float64 {
	if len(g.Times) == 0 {
		return 0
	}
	return g.Times[len(g.Times)-1] - g.Times[0]
}
