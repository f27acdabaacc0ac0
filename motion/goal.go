package motion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/problem"
	"poise/trajectory"
)

// Part says what of a document is played, and how; the zero value is the whole, at
// table times.
type Part struct {
	Marked   bool    // from the start mark to the end mark, counted from the former
	Scale    float64 // times are multiplied by it, > 0; 0 means 1
	Backward bool
}

// Goal returns what is played of a document: positions of the enabled joints in the
// enabled rows, supports and events. Every position that was not captured is an
// error, as *problem.Problem.
func (d *Document) Goal(part Part) (*follow.Goal, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	scale := part.Scale
	if scale == 0 {
		scale = 1
	}
	if !(scale > 0) || math.IsInf(scale, 0) {
		return nil, &problem.Problem{Code: ErrOperation, Value: scale, Text: fmt.Sprintf("a scale of %v: it must be more than 0", scale)}
	}
	g := &follow.Goal{Joints: d.goalColumns(), GoalTime: d.GoalTimeTolerance}
	d.goalTolerances(g)
	from, to, zero := math.Inf(-1), math.Inf(1), 0.0
	if part.Marked {
		from, to = d.PartSpan()
		zero = from
	}
	var p problems
	for row, pt := range d.Points {
		if pt.Enabled && pt.Time >= from && pt.Time <= to {
			g.Points = append(g.Points, trajectory.Point{Time: (pt.Time - zero) * scale, Position: d.goalRow(&p, row, g.Joints)})
		}
	}
	for _, e := range d.Events {
		if e.Time >= from && e.Time <= to {
			e.Time = (e.Time - zero) * scale
			g.Events = append(g.Events, e)
		}
	}
	g.Table = follow.TableTime{Zero: zero, Pace: 1 / scale}
	if part.Backward {
		reverse(g)
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

// goalColumns lists the enabled joints and the supports as one, in the document's
// order where it has one.
func (d *Document) goalColumns() []string {
	var all []string
	for _, j := range d.Joints {
		if j.Enabled {
			all = append(all, j.Name)
		}
	}
	for _, c := range d.Chains {
		all = append(all, follow.SupportPrefix+c)
	}
	var order []string
	for _, name := range slices.Concat(d.Order, all) {
		if slices.Contains(all, name) && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// goalTolerances states the tolerances of a goal's joints.
func (d *Document) goalTolerances(g *follow.Goal) {
	for _, name := range g.Joints {
		k := d.Joint(name)
		if k < 0 {
			continue
		}
		if t := d.Joints[k].Path; t != nil {
			g.Path = append(g.Path, follow.Tolerance{Joint: name, Tolerance: *t})
		}
		if t := d.Joints[k].Goal; t != nil {
			g.Final = append(g.Final, follow.Tolerance{Joint: name, Tolerance: *t})
		}
	}
}

// goalRow returns what a row has of the columns of a goal.
func (d *Document) goalRow(p *problems, row int, columns []string) []float64 {
	q := make([]float64, len(columns))
	for k, name := range columns {
		chain := strings.TrimPrefix(name, follow.SupportPrefix)
		track := slices.Index(d.Chains, chain)
		support := chain != name && track >= 0
		if support {
			q[k] = d.Points[row].Supports[track]
		} else {
			q[k], _ = d.Captured(row, name)
		}
		switch missing := math.IsNaN(q[k]); {
		case missing && support:
			p.add(problem.Problem{Code: ErrMissing, Joint: chain, Row: row + 1, Text: fmt.Sprintf("does not say the support of chain %q", chain)})
		case missing:
			p.add(problem.Problem{Code: ErrMissing, Joint: name, Row: row + 1, Text: fmt.Sprintf("did not capture joint %q", name)})
		}
	}
	return q
}

// reverse runs a goal backwards in the same span of time. A support holds from its
// point to the next, so it moves by one point.
func reverse(g *follow.Goal) {
	n := len(g.Points)
	if n == 0 {
		return
	}
	first, last := g.Points[0].Time, g.Points[n-1].Time
	_, supports := g.Columns()
	points := make([]trajectory.Point, n)
	for i := range points {
		q := slices.Clone(g.Points[n-1-i].Position)
		for _, k := range supports {
			q[k] = g.Points[max(0, n-2-i)].Position[k]
		}
		points[i] = trajectory.Point{Time: first + (last - g.Points[n-1-i].Time), Position: q}
	}
	g.Points = points
	g.Table = follow.TableTime{Zero: g.Table.At(first + last), Pace: -g.Table.Pace}
	for i := range g.Events {
		g.Events[i].Time = first + (last - g.Events[i].Time)
	}
	slices.Reverse(g.Events)
}
