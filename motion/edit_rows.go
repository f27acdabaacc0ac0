package motion

import (
	"fmt"
	"math"
	"slices"

	"poise/control/follow"
	"poise/problem"
)

// applyPose puts the joints of a named pose into rows: a part of the body, or all of it.
func (e *edit) applyPose() {
	rows := e.rows(false)
	if e.m == nil {
		e.add(problem.Problem{Code: ErrOperation, Text: "without a robot there are no named poses"})
		return
	}
	pose, ok := e.m.Pose(e.text())
	if !ok {
		e.add(problem.Problem{Code: ErrName, Text: fmt.Sprintf("pose %q does not exist%s", e.text(), problem.Hint(e.text(), e.m.PoseNames()))})
		return
	}
	for i, id := range pose.Joints {
		if len(pose.Q[i]) != 1 {
			continue
		}
		c := e.column(e.m.Joints()[id].Name)
		for _, row := range rows {
			e.d.Points[row].Positions[c] = pose.Q[i][0]
		}
	}
}

// thin leaves out rows of a recording that are not needed: the curve through those that
// stay meets each one that goes within the value, in every joint that takes part. Rows
// with a label or a mark, disabled ones, and those where a support changes all stay.
//
// It begins with the rows that have to stay and takes in, of each span between two of
// them, the row that is missed most, until none is missed by more than is allowed.
func (e *edit) thin() {
	if !(e.op.Value > 0) || math.IsInf(e.op.Value, 0) {
		e.add(problem.Problem{Code: ErrOperation, Value: e.op.Value, Text: fmt.Sprintf("rows cannot be met within %v: it must be more than 0", e.op.Value)})
		return
	}
	g, err := e.d.Goal(Part{})
	if err != nil {
		e.add(problem.Problem{Code: ErrMissing, Text: err.Error()})
		return
	}
	columns, _ := g.Columns()
	n := len(g.Points)
	if n < 3 || len(columns) == 0 {
		return
	}
	var rows []int // of the document, for each of the goal
	for i, p := range e.d.Points {
		if p.Enabled {
			rows = append(rows, i)
		}
	}
	stays := make([]bool, n)
	for i, row := range rows {
		p := e.d.Points[row]
		stays[i] = i == 0 || i == n-1 || p.Label != "" || p.Mark != NoMark || !slices.Equal(p.Supports, e.d.Points[rows[i-1]].Supports)
	}
	for {
		missed, err := missed(g, stays, e.op.Value)
		if err != nil {
			e.add(problem.Problem{Code: ErrOrder, Text: err.Error()})
			return
		}
		if len(missed) == 0 {
			break
		}
		for _, i := range missed {
			stays[i] = true
		}
	}
	for i := n - 1; i >= 0; i-- {
		if !stays[i] {
			e.d.Points = slices.Delete(e.d.Points, rows[i], rows[i]+1)
		}
	}
}

// missed returns, for each span between two rows that stay, the row that the curve
// through them misses most, if that is by more than a distance.
func missed(g *follow.Goal, stays []bool, within float64) (rows []int, err error) {
	kept := follow.Goal{Joints: g.Joints}
	for i, p := range g.Points {
		if stays[i] {
			kept.Points = append(kept.Points, p)
		}
	}
	curve, err := kept.Curve(nil)
	if err != nil {
		return nil, err
	}
	columns, _ := g.Columns()
	q := make([]float64, len(columns))
	cursor := curve.Cursor()
	worst, at := within, -1
	for i, p := range g.Points {
		if stays[i] {
			if at >= 0 {
				rows = append(rows, at)
			}
			worst, at = within, -1
			continue
		}
		cursor.PositionTo(q, p.Time)
		for j, k := range columns {
			if miss := math.Abs(q[j] - p.Position[k]); miss > worst {
				worst, at = miss, i
			}
		}
	}
	return rows, nil
}
