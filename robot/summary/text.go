package summary

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"poise/problem"
	"poise/robot"
)

// Print writes what a robot is as a table for people.
func Print(w io.Writer, m *robot.Model, warnings []string) error {
	p := &printer{w: w, m: m}
	p.head()
	p.joints()
	p.missing()
	p.cycles()
	p.mimics()
	p.groups()
	p.chains()
	p.rest()
	p.line("")
	if len(warnings) == 0 {
		p.line("No warnings.")
	} else {
		p.line("%s:", problem.Count(len(warnings), "warning"))
	}
	for _, text := range warnings {
		p.line("  %s", text)
	}
	return p.err
}

type printer struct {
	w   io.Writer
	m   *robot.Model
	err error
}

func (p *printer) line(format string, a ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", a...)
	}
}

// table prints rows with aligned columns under a head, which may be nil; a
// column that no row fills is left out.
func (p *printer) table(head []string, rows [][]string) {
	used := map[int]bool{}
	for _, row := range rows {
		for i, cell := range row {
			used[i] = used[i] || cell != ""
		}
	}
	if head != nil {
		rows = append([][]string{head}, rows...)
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if used[i] {
				fmt.Fprintf(t, "%s\t", cell)
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	for text := range strings.Lines(b.String()) {
		p.line("  %s", strings.TrimRight(text, " \n"))
	}
}

func (p *printer) head() {
	m, base := p.m, "fixed base"
	if m.Floating() {
		base = "floating base"
	}
	p.line("%s: %s, %s, %s, %.6g kg, nq %d, nv %d", m.Name(), base, problem.Count(len(m.Joints()), "joint"), problem.Count(len(m.Frames()), "link"), m.Mass(), m.NumQ(), m.NumV())
	g := m.Gravity()
	if g.X != 0 || g.Y != 0 || g.Z != -robot.StandardGravity {
		p.line("gravity %g %g %g m/s²", g.X, g.Y, g.Z)
	}
}

func (p *printer) joints() {
	p.line("")
	if len(p.m.Joints()) == 0 {
		p.line("No joint moves.")
		return
	}
	p.line("Joints, in the order of all arrays (rad, m, s; – means not given):")
	head := []string{"#", "name", "type", "lower", "upper", "velocity", "effort", "accel.", "decel.", "jerk", "servo", "limits from"}
	var rows [][]string
	for i, j := range p.m.Joints() {
		l := j.Limits
		rows = append(rows, []string{
			strconv.Itoa(i), j.Name, j.Kind.String(),
			number(l.Lower), number(l.Upper), number(l.Velocity), number(l.Effort),
			number(l.Acceleration), number(l.Deceleration), number(l.Jerk), p.servo(robot.JointID(i)), sources(l),
		})
	}
	p.table(head, rows)
}

func (p *printer) servo(id robot.JointID) string {
	s := p.m.Servo(id)
	switch {
	case s.Assigned:
		return strings.TrimPrefix(fmt.Sprintf("%s:%d", s.Bus, s.ID), ":")
	case p.m.Joints()[id].Virtual:
		return "none"
	}
	return ""
}

// missing says which limits a planner will ask for.
func (p *printer) missing() {
	var names []string
	for _, j := range p.m.Joints() {
		if j.Kind.NumQ() == 1 && (!j.Limits.Velocity.Has || !j.Limits.Acceleration.Has) {
			names = append(names, j.Name)
		}
	}
	if len(names) > 0 {
		p.line("  %s without a velocity or acceleration limit: --write-limits proposes some", problem.Count(len(names), "joint"))
	}
	if a := p.m.TransitionAcceleration(); a.Has {
		p.line("  hand-overs assume an acceleration of %g (%s)", a.Value, shortSource(a.Source))
	}
}

// cycles says what cycle 1 lacks.
func (p *printer) cycles() {
	lacks := CycleOneLacks(p.m)
	if len(lacks) == 0 && len(p.m.Joints()) > 0 {
		p.line("  cycle 1 has all it needs: masses, and a model of every servo")
	}
	for _, text := range lacks {
		p.line("  cycle 1 lacks %s", text)
	}
}

func (p *printer) mimics() {
	var rows [][]string
	for _, b := range p.m.Bodies() {
		if b.Mimic {
			rows = append(rows, []string{b.Name, fmt.Sprintf("= %g · %s %+g", b.Ratio, p.m.Joints()[b.Joint].Name, b.Offset)})
		}
	}
	if len(rows) > 0 {
		p.line("")
		p.line("Followers:")
		p.table(nil, rows)
	}
}

func (p *printer) groups() {
	p.line("")
	p.line("Groups (* may be owned as a resource):")
	var rows [][]string
	for i, g := range p.m.Groups() {
		name, tip := g.Name, "–"
		if g.Resource {
			name += " *"
		}
		if g.Tip != robot.NoFrame {
			tip = p.m.Frames()[g.Tip].Name
		}
		safe := p.m.SafeState(robot.GroupID(i)).Do.String()
		if safe != "" {
			safe = "safe state: " + safe
		}
		rows = append(rows, []string{name, "tip " + tip, p.names(g.Joints), safe})
	}
	p.table(nil, rows)
	if _, err := p.m.Resources(); err != nil {
		p.line("  cannot be controlled: %v", err)
	}
}

func (p *printer) chains() {
	if len(p.m.Chains()) == 0 {
		return
	}
	p.line("")
	p.line("Chains:")
	var rows [][]string
	for _, c := range p.m.Chains() {
		contact, mirror := "", ""
		if c.Contact != robot.NoContact {
			contact = "stands on " + p.m.Contacts()[c.Contact].Name
		}
		if c.Mirror != robot.NoChain {
			mirror = "mirrors " + p.m.Chains()[c.Mirror].Name
		}
		frames := p.m.Frames()
		rows = append(rows, []string{c.Name, frames[c.Base].Name + " → " + frames[c.VirtualTip].Name, contact, mirror})
	}
	p.table(nil, rows)
}

func (p *printer) rest() {
	if c := p.m.CartesianLimits(); c != nil {
		p.line("")
		p.line("Tip: %g m/s, %g and %g m/s², %g rad/s (%s)", c.MaxTransVel.Value, c.MaxTransAcc.Value, c.MaxTransDec.Value,
			c.MaxRotVel.Value, shortSource(c.MaxTransVel.Source))
	}
	var poses []string
	for _, pose := range p.m.Poses() {
		poses = append(poses, pose.Name)
	}
	if len(poses) > 0 {
		p.line("")
		p.line("Poses: %s", strings.Join(poses, ", "))
	}
}

// names lists joints, and shortens long lists.
func (p *printer) names(joints []robot.JointID) string {
	const most = 8
	var names []string
	for i, j := range joints {
		if i == most {
			names = append(names, fmt.Sprintf("… (%d)", len(joints)))
			break
		}
		names = append(names, p.m.Joints()[j].Name)
	}
	if names == nil {
		return "no joint"
	}
	return strings.Join(names, " ")
}

// sources says where the limits come from: one file and line for each run of
// limits from the same file.
func sources(l robot.Limits) string {
	type origin struct {
		file   string
		lines  []int
		limits []string
	}
	var all []*origin
	for name, limit := range l.All {
		if !limit.Has {
			continue
		}
		file, number, _ := cutLine(limit.Source)
		i := slices.IndexFunc(all, func(o *origin) bool { return o.file == file })
		if i < 0 {
			i = len(all)
			all = append(all, &origin{file: file})
		}
		all[i].lines = append(all[i].lines, number)
		all[i].limits = append(all[i].limits, name)
	}
	var texts []string
	for _, o := range all {
		text := fmt.Sprintf("%s:%d", path.Base(o.file), slices.Min(o.lines))
		if last := slices.Max(o.lines); last > slices.Min(o.lines) {
			text += fmt.Sprintf("-%d", last)
		}
		if len(all) > 1 {
			text += " (" + strings.Join(o.limits, " ") + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// cutLine takes "file:12" apart.
func cutLine(source string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(source, ':')
	if i < 0 {
		return source, 0, false
	}
	n, err := strconv.Atoi(source[i+1:])
	return source[:i], n, err == nil
}

func shortSource(source string) string { return path.Base(source) }

func number(l robot.Limit) string {
	if !l.Has {
		return "–"
	}
	return strconv.FormatFloat(l.Value, 'g', 6, 64)
}
