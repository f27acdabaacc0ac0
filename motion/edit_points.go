package motion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/problem"
)

// addPoint adds a row from a joint state.
func (e *edit) addPoint() {
	e.freeTime(e.op.Time)
	p := Point{Time: e.op.Time, Label: e.text(), Enabled: true}
	p.Supports = e.supportsAt(e.op.Time)
	e.capture(&p)
	e.d.Points = append(e.d.Points, p)
}

// updatePoints captures rows anew.
func (e *edit) updatePoints() {
	for _, row := range e.rows(false) {
		p := e.d.Points[row]
		e.capture(&p)
		e.d.Points[row] = p
		if e.len() > 0 {
			return // every row would say the same
		}
	}
}

// supportsAt returns the supports that hold at a time: those of the row before, else
// of the row after; a table's first row stands.
func (e *edit) supportsAt(t float64) []float64 {
	rows := slices.Clone(e.d.Points)
	slices.SortStableFunc(rows, byTime)
	if len(rows) == 0 {
		return slices.Repeat([]float64{1}, len(e.d.Chains))
	}
	at := rows[0]
	for _, p := range rows {
		if p.Time < t {
			at = p
		}
	}
	return slices.Clone(at.Supports)
}

// capture takes a joint state into a row: all that the robot has of it, so that
// joints can be taken in later. A joint that takes part and is not in the state is
// never made up.
func (e *edit) capture(p *Point) {
	if len(e.op.Names) != len(e.op.Values) {
		e.add(problem.Problem{Code: ErrSize, Value: float64(len(e.op.Values)), Limit: float64(len(e.op.Names)),
			Text: fmt.Sprintf("a joint state of %d names and %d positions", len(e.op.Names), len(e.op.Values))})
		return
	}
	state := map[string]float64{}
	for i, name := range e.op.Names {
		if _, twice := state[name]; twice {
			e.add(problem.Problem{Code: ErrName, Joint: name, Text: fmt.Sprintf("%q comes twice in the joint state", name)})
		}
		state[name] = e.op.Values[i]
	}
	for _, j := range e.d.Joints {
		if v, ok := state[j.Name]; !ok {
			e.add(problem.Problem{Code: ErrMissing, Joint: j.Name, Text: fmt.Sprintf("joint %q takes part and is missing in the joint state", j.Name)})
		} else {
			e.finite(v, "position of "+j.Name, -1, j.Name)
		}
	}
	for i, chain := range e.d.Chains {
		if v, ok := state[follow.SupportPrefix+chain]; ok {
			e.finite(v, "support of "+chain, -1, chain)
			p.Supports[i] = v
		}
	}
	if e.len() > 0 {
		return
	}
	for _, name := range e.stateColumns() {
		e.column(name)
	}
	p.Positions = make([]float64, len(e.d.Columns))
	for c, name := range e.d.Columns {
		if p.Positions[c] = math.NaN(); !math.IsInf(state[name], 0) {
			if v, ok := state[name]; ok {
				p.Positions[c] = v
			}
		}
	}
}

// stateColumns lists the joints of the state in the order of the robot; without a robot
// as they come. Mimic joints and supports are left out.
func (e *edit) stateColumns() (names []string) {
	if e.m == nil {
		for _, n := range e.op.Names {
			if n != "" && !strings.HasPrefix(n, follow.SupportPrefix) {
				names = append(names, n)
			}
		}
		return names
	}
	for _, j := range e.m.Joints() {
		if j.Kind.NumQ() == 1 && slices.Contains(e.op.Names, j.Name) {
			names = append(names, j.Name)
		}
	}
	return names
}

func (e *edit) duplicatePoints() {
	rows := e.rows(false)
	if len(rows) == 0 {
		return
	}
	by := e.op.Time - e.d.Points[rows[0]].Time
	for _, row := range rows {
		p := e.d.Points[row]
		p.Time += by
		if row == rows[0] {
			p.Time = e.op.Time
		}
		e.freeTime(p.Time)
		p.Mark = NoMark
		p.Positions, p.Supports = slices.Clone(p.Positions), slices.Clone(p.Supports)
		e.d.Points = append(e.d.Points, p)
	}
}

func (e *edit) deletePoints() {
	rows := e.rows(false)
	for i := len(rows) - 1; i >= 0; i-- {
		e.d.Points = slices.Delete(e.d.Points, rows[i], rows[i]+1)
	}
}

func (e *edit) enablePoints() {
	for _, row := range e.rows(true) {
		e.d.Points[row].Enabled = true
	}
}

func (e *edit) disablePoints() {
	for _, row := range e.rows(false) {
		p := &e.d.Points[row]
		if p.Mark != NoMark {
			e.add(problem.Problem{Code: ErrMark, Row: row + 1, Text: fmt.Sprintf("has the %s mark and cannot be disabled", p.Mark)})
		}
		p.Enabled = false
	}
}

func (e *edit) setLabels() {
	e.rows(false) // are they there?
	rows := e.op.Rows
	if n := len(e.op.Texts); n != 1 && n != len(rows) {
		e.add(problem.Problem{Code: ErrSize, Value: float64(n), Limit: float64(len(rows)), Text: fmt.Sprintf("%d labels for %d rows", n, len(rows))})
	}
	if e.len() > 0 {
		return
	}
	for i, row := range rows {
		e.d.Points[row].Label = e.op.Texts[min(i, len(e.op.Texts)-1)]
	}
}

func (e *edit) setPositions() {
	rows, values := e.rows(true), e.values()
	for i, name := range e.op.Names {
		c := e.d.Column(name)
		if c < 0 {
			e.add(problem.Problem{Code: ErrUnknownJoint, Joint: name, Text: fmt.Sprintf("no row captured joint %q: let it take part first", name)})
			continue
		}
		for _, row := range rows {
			e.d.Points[row].Positions[c] = values[i]
		}
	}
}

func (e *edit) setTime() {
	if row := e.row(); row >= 0 {
		e.freeTime(e.op.Time, row)
		e.d.Points[row].Time = e.op.Time
	}
}

func (e *edit) shiftTimes() {
	e.finite(e.op.Time, "the time", -1, "")
	rows := e.rows(true)
	for _, row := range rows {
		t := e.d.Points[row].Time + e.op.Time
		e.freeTime(t, rows...) // rows that move together cannot meet
		e.d.Points[row].Time = t
	}
	if len(e.op.Rows) > 0 {
		return
	}
	for i := range e.d.Events {
		ev := &e.d.Events[i]
		if ev.Time += e.op.Time; ev.Time < 0 {
			e.add(problem.Problem{Code: ErrOrder, Value: ev.Time, Text: fmt.Sprintf("event %d would leave at %v s, before the beginning", i+1, ev.Time)})
		}
	}
}

func (e *edit) scaleTimes() {
	if !(e.op.Value > 0) || math.IsInf(e.op.Value, 0) {
		e.add(problem.Problem{Code: ErrOperation, Value: e.op.Value, Text: fmt.Sprintf("times cannot be multiplied by %v: it must be more than 0", e.op.Value)})
		return
	}
	for i := range e.d.Points {
		e.d.Points[i].Time = milliseconds(e.d.Points[i].Time * e.op.Value)
	}
	for i := range e.d.Events {
		e.d.Events[i].Time = milliseconds(e.d.Events[i].Time * e.op.Value)
	}
}

// milliseconds rounds a computed time, s: people read it.
func milliseconds(t float64) float64 { return math.Round(t*1000) / 1000 }

func (e *edit) markStart() { e.mark(StartMark) }

func (e *edit) markEnd() { e.mark(EndMark) }

func (e *edit) mark(m Mark) {
	row := -1
	if len(e.op.Rows) > 0 {
		if row = e.row(); row < 0 {
			return
		}
		switch p := e.d.Points[row]; {
		case !p.Enabled:
			e.add(problem.Problem{Code: ErrMark, Row: row + 1, Text: fmt.Sprintf("is disabled and cannot have the %s mark", m)})
		case p.Mark != NoMark && p.Mark != m:
			e.add(problem.Problem{Code: ErrMark, Row: row + 1, Text: fmt.Sprintf("has the %s mark already", p.Mark)})
		}
	}
	if old := e.d.Marked(m); old >= 0 {
		e.d.Points[old].Mark = NoMark
	}
	if row >= 0 {
		e.d.Points[row].Mark = m
	}
}

// trim keeps what part execution would play, with the disabled rows in between.
func (e *edit) trim() {
	from, to := e.d.PartSpan()
	e.d.Points = slices.DeleteFunc(e.d.Points, func(p Point) bool { return p.Time < from || p.Time > to })
	e.d.Events = slices.DeleteFunc(e.d.Events, func(ev follow.Event) bool { return ev.Time < from || ev.Time > to })
	for i := range e.d.Points {
		e.d.Points[i].Time -= from
		e.d.Points[i].Mark = NoMark
	}
	for i := range e.d.Events {
		e.d.Events[i].Time -= from
	}
}

// --- events

func (e *edit) event() follow.Event {
	e.finite(e.op.Time, "the time", -1, "")
	if e.op.Time < 0 {
		e.add(problem.Problem{Code: ErrOrder, Value: e.op.Time, Text: fmt.Sprintf("time %v s is before the beginning, 0", e.op.Time)})
	}
	t := append(slices.Clone(e.op.Texts), "", "", "")
	if t[0] == "" || len(e.op.Texts) > 3 {
		e.add(problem.Problem{Code: ErrOperation, Text: "an event needs texts: type, command, options"})
	}
	return follow.Event{Time: e.op.Time, Type: t[0], Command: t[1], Options: t[2]}
}

func (e *edit) sortEvents() {
	slices.SortStableFunc(e.d.Events, func(a, b follow.Event) int { return byTime(Point{Time: a.Time}, Point{Time: b.Time}) })
}

func (e *edit) addEvent() {
	e.d.Events = append(e.d.Events, e.event())
	e.sortEvents()
}

func (e *edit) setEvent() {
	rows := e.numbers(len(e.d.Events), "event")
	if len(rows) != 1 {
		e.add(problem.Problem{Code: ErrOperation, Text: "set_event takes the number of one event"})
		return
	}
	e.d.Events[rows[0]] = e.event()
	e.sortEvents()
}

func (e *edit) deleteEvents() {
	rows := e.numbers(len(e.d.Events), "event")
	for i := len(rows) - 1; i >= 0; i-- {
		e.d.Events = slices.Delete(e.d.Events, rows[i], rows[i]+1)
	}
}
