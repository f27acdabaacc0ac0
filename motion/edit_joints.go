package motion

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"poise/control/follow"
	"poise/problem"
	"poise/trajectory"
)

func (e *edit) setDescription() { e.d.Description = e.text() }

func (e *edit) setTags() { e.d.Tags = slices.Clone(e.op.Texts) }

func (e *edit) setLoop() { e.d.Loop = e.op.Value != 0 }

func (e *edit) setGoalTimeTolerance() {
	e.finite(e.op.Value, "the goal time tolerance", -1, "")
	e.d.GoalTimeTolerance = e.op.Value
}

func (e *edit) setStartPose() {
	e.d.StartPose = e.text()
	if e.m == nil || e.d.StartPose == "" {
		return
	}
	if _, ok := e.m.Pose(e.d.StartPose); !ok {
		e.add(problem.Problem{Code: ErrName, Text: fmt.Sprintf("pose %q does not exist%s", e.d.StartPose, problem.Hint(e.d.StartPose, e.m.PoseNames()))})
	}
}

// addJoints lets joints take part. Where rows did not capture one it needs a value:
// without, the complaint is the question for it.
func (e *edit) addJoints() {
	var given []float64
	if len(e.op.Values) > 0 {
		given = e.values()
	}
	for i, name := range e.op.Names {
		if name == "" {
			e.add(problem.Problem{Code: ErrName, Text: "a joint has no name"})
			continue
		}
		e.knownJoint(name)
		if e.d.Joint(name) >= 0 {
			e.add(problem.Problem{Code: ErrName, Joint: name, Text: fmt.Sprintf("joint %q takes part already", name)})
			continue
		}
		e.d.Joints = append(e.d.Joints, Joint{Name: name, Enabled: true})
		lacking := e.lacking(name)
		switch {
		case len(lacking) == 0:
		case given == nil:
			e.add(problem.Problem{Code: ErrMissing, Joint: name, Row: lacking[0] + 1,
				Text: fmt.Sprintf("did not capture joint %q%s: give it one value, or its present one", name, alsoRows(lacking[1:]))})
		default:
			c := e.column(name)
			for _, row := range lacking {
				e.d.Points[row].Positions[c] = given[i]
			}
		}
		e.column(name) // a table without rows has the column too
	}
}

// lacking lists the rows that did not capture a joint.
func (e *edit) lacking(name string) (rows []int) {
	for i := range e.d.Points {
		if _, ok := e.d.Captured(i, name); !ok {
			rows = append(rows, i)
		}
	}
	return rows
}

func alsoRows(rows []int) string {
	if len(rows) == 0 {
		return ""
	}
	var all []string
	for _, r := range rows {
		all = append(all, strconv.Itoa(r+1))
	}
	return " (nor did rows " + strings.Join(all, ", ") + ")"
}

// column returns the column of a joint and makes one, not captured yet, if there is
// none.
func (e *edit) column(name string) int {
	c := e.d.Column(name)
	if c >= 0 {
		return c
	}
	e.d.Columns = append(e.d.Columns, name)
	for i := range e.d.Points {
		p := &e.d.Points[i]
		p.Positions = append(p.Positions, math.NaN())
	}
	return len(e.d.Columns) - 1
}

func (e *edit) removeJoints() {
	for _, name := range e.op.Names {
		if e.listed(name) != nil {
			e.d.Joints = slices.DeleteFunc(e.d.Joints, func(j Joint) bool { return j.Name == name })
			e.d.Order = slices.DeleteFunc(e.d.Order, func(n string) bool { return n == name })
		}
	}
}

func (e *edit) enableJoints() { e.eachListed(func(j *Joint) { j.Enabled = true }) }

func (e *edit) disableJoints() { e.eachListed(func(j *Joint) { j.Enabled = false }) }

func (e *edit) orderJoints() {
	var ordered []Joint
	for _, name := range e.op.Names {
		switch j := e.listed(name); {
		case j == nil:
		case slices.ContainsFunc(ordered, func(o Joint) bool { return o.Name == name }):
			e.add(problem.Problem{Code: ErrName, Joint: name, Text: fmt.Sprintf("joint %q comes twice", name)})
		default:
			ordered = append(ordered, *j)
		}
	}
	for _, j := range e.d.Joints {
		if !slices.Contains(e.op.Names, j.Name) {
			ordered = append(ordered, j)
		}
	}
	e.d.Joints, e.d.Order = ordered, nil
}

func (e *edit) setPathTolerance() {
	e.finite(e.op.Value, "the tolerance", -1, "")
	e.eachListed(func(j *Joint) { j.Path = withPosition(j.Path, e.op.Value) })
}

func (e *edit) setGoalTolerance() {
	e.finite(e.op.Value, "the tolerance", -1, "")
	e.eachListed(func(j *Joint) { j.Goal = withPosition(j.Goal, e.op.Value) })
}

func withPosition(t *trajectory.Tolerance, position float64) *trajectory.Tolerance {
	if t == nil {
		t = &trajectory.Tolerance{}
	}
	t.Position = position
	return t
}

func (e *edit) clearTolerances() { e.eachListed(func(j *Joint) { j.Path, j.Goal = nil, nil }) }

// --- supports

func (e *edit) knownChain(name string) {
	if e.m == nil {
		return
	}
	var standing []string
	for _, c := range e.m.Chains() {
		if c.Contact >= 0 {
			standing = append(standing, c.Name)
		}
	}
	if !slices.Contains(standing, name) {
		e.add(problem.Problem{Code: ErrUnknownChain, Joint: name, Text: fmt.Sprintf("no chain %q can stand%s", name, problem.Hint(name, standing))})
	}
}

func (e *edit) addSupports() {
	values := e.values()
	for i, name := range e.op.Names {
		e.knownChain(name)
		if name == "" || slices.Contains(e.d.Chains, name) {
			e.add(problem.Problem{Code: ErrName, Joint: name, Text: fmt.Sprintf("chain %q has a support track already, or no name", name)})
			continue
		}
		e.d.Chains = append(e.d.Chains, name)
		for row := range e.d.Points {
			p := &e.d.Points[row]
			p.Supports = append(p.Supports, values[i])
		}
	}
}

// track returns the column of a chain's support, −1 with a complaint if there is none.
func (e *edit) track(name string) int {
	c := slices.Index(e.d.Chains, name)
	if c < 0 {
		e.add(problem.Problem{Code: ErrUnknownChain, Joint: name, Text: fmt.Sprintf("chain %q has no support track%s", name, problem.Hint(name, e.d.Chains))})
	}
	return c
}

func (e *edit) removeSupports() {
	for _, name := range e.op.Names {
		c := e.track(name)
		if c < 0 {
			continue
		}
		e.d.Chains = slices.Delete(e.d.Chains, c, c+1)
		e.d.Order = slices.DeleteFunc(e.d.Order, func(n string) bool { return n == follow.SupportPrefix+name })
		for row := range e.d.Points {
			p := &e.d.Points[row]
			p.Supports = slices.Delete(p.Supports, c, c+1)
		}
	}
}

func (e *edit) setSupports() {
	values := e.values()
	for i, name := range e.op.Names {
		if c := e.track(name); c >= 0 {
			for _, row := range e.rows(true) {
				e.d.Points[row].Supports[c] = values[i]
			}
		}
	}
}
