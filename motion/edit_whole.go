package motion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/problem"
	"poise/robot"
)

// reverse lets the motion run backwards within the same span of time. A support
// holds from its row to the next, so what held between two rows holds between their
// images only if it moves by one row; the last row keeps what held when the motion
// began. Enabled rows count for that: between them lie the intervals that are played.
func (e *edit) reverse() {
	d := e.d
	if len(d.Points) == 0 {
		return
	}
	first, last := d.Points[0].Time, d.Points[0].Time
	for _, p := range d.Points {
		first, last = min(first, p.Time), max(last, p.Time)
	}
	slices.SortStableFunc(d.Points, byTime)
	before := make([][]float64, len(d.Points)) // supports of the row played before each
	for i := range d.Points {
		before[i] = d.Points[i].Supports
		for k := i - 1; k >= 0; k-- {
			if d.Points[k].Enabled || !d.Points[i].Enabled {
				before[i] = d.Points[k].Supports
				break
			}
		}
	}
	for i := range d.Points {
		p := &d.Points[i]
		p.Time = first + (last - p.Time)
		p.Supports = slices.Clone(before[i])
		switch p.Mark {
		case StartMark:
			p.Mark = EndMark
		case EndMark:
			p.Mark = StartMark
		}
	}
	slices.Reverse(d.Points)
	for i := range d.Events {
		d.Events[i].Time = first + (last - d.Events[i].Time)
	}
	slices.Reverse(d.Events)
	e.sortEvents()
}

// mirror swaps left and right, in the whole document or in some rows and joints.
func (e *edit) mirror() {
	if e.m == nil || e.m.Mirror() == nil {
		e.add(problem.Problem{Code: ErrMirror, Text: "the robot has no mirror table"})
		return
	}
	if len(e.op.Rows) == 0 && len(e.op.Names) == 0 {
		e.mirrorAll()
		return
	}
	names := e.op.Names
	if len(names) == 0 {
		names = e.d.Columns
	}
	for _, row := range e.rows(true) {
		old := slices.Clone(e.d.Points[row].Positions)
		for _, name := range names {
			of, sign := e.image(name)
			from, to := e.d.Column(of), e.d.Column(name)
			switch {
			case sign == 0:
			case to < 0 || from < 0 || math.IsNaN(old[from]):
				e.add(problem.Problem{Code: ErrMissing, Joint: name, Row: row + 1, Text: fmt.Sprintf("does not capture both %q and its mirror image %q", name, of)})
			default:
				e.d.Points[row].Positions[to] = flipped(old[from], sign)
			}
		}
		if len(e.op.Names) == 0 {
			old := slices.Clone(e.d.Points[row].Supports)
			for i, chain := range e.d.Chains {
				if k := slices.Index(e.d.Chains, e.chainImage(chain)); k >= 0 {
					e.d.Points[row].Supports[i] = old[k]
				}
			}
		}
		if e.len() > 0 {
			return
		}
	}
}

// mirrorAll renames every joint and chain to its image and gives values their sign.
// Columns keep their order where the table has both sides.
func (e *edit) mirrorAll() {
	d := e.d
	signs := make([]float64, len(d.Columns))
	columns := make([]string, len(d.Columns))
	for i, name := range d.Columns {
		columns[i], signs[i] = e.image(name)
	}
	for i := range d.Joints {
		d.Joints[i].Name, _ = e.image(d.Joints[i].Name)
	}
	chains := make([]string, len(d.Chains))
	for i, name := range d.Chains {
		chains[i] = e.chainImage(name)
	}
	for i, name := range d.Order {
		if chain, ok := strings.CutPrefix(name, follow.SupportPrefix); ok {
			d.Order[i] = follow.SupportPrefix + e.chainImage(chain)
		} else {
			d.Order[i], _ = e.image(name)
		}
	}
	if e.len() > 0 {
		return
	}
	for row := range d.Points {
		p := &d.Points[row]
		for i := range p.Positions {
			p.Positions[i] = flipped(p.Positions[i], signs[i])
		}
		p.Positions = arranged(d.Columns, columns, p.Positions)
		p.Supports = arranged(d.Chains, chains, p.Supports)
	}
	d.Columns, d.Chains = arranged(d.Columns, columns, columns), arranged(d.Chains, chains, chains)
}

// flipped is a product that knows no negative zero: files would show it.
func flipped(x, sign float64) float64 {
	if x == 0 {
		return 0
	}
	return sign * x
}

// arranged returns values, which belong to the names now, in the order of the names
// before if both are the same names.
func arranged[T any](before, now []string, values []T) []T {
	out := make([]T, len(values))
	for i, name := range before {
		k := slices.Index(now, name)
		if k < 0 {
			return values
		}
		out[i] = values[k]
	}
	return out
}

// image returns the joint whose position, times the sign, is the mirrored one's.
func (e *edit) image(name string) (of string, sign float64) {
	id, ok := e.m.Joint(name)
	if !ok {
		e.knownJoint(name)
		return name, 0
	}
	m := e.m.Mirror()[id]
	if m.Sign == 0 || m.Of == robot.NoJoint {
		e.add(problem.Problem{Code: ErrMirror, Joint: name, Text: fmt.Sprintf("joint %q has no mirror image", name)})
		return name, 0
	}
	return e.m.Joints()[m.Of].Name, m.Sign
}

func (e *edit) chainImage(name string) string {
	id, ok := e.m.Chain(name)
	if !ok {
		e.knownChain(name)
		return name
	}
	image := e.m.Chains()[id].Mirror
	if image == robot.NoChain {
		e.add(problem.Problem{Code: ErrMirror, Joint: name, Text: fmt.Sprintf("chain %q has no mirror image", name)})
		return name
	}
	return e.m.Chains()[image].Name
}
