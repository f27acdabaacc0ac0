package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"unicode"

	"poise/control/follow"
	"poise/edge"
	"poise/internal/plot"
	"poise/motion"
	motionforces "poise/motion/forces"
	"poise/motion/library"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/robot"
	"poise/trajectory"
)

// shownMotion is a motion for programs: its document, and what the library knows.
type shownMotion struct {
	Name     string  `json:"name"`
	Version  string  `json:"version"`
	Shipped  bool    `json:"shipped"`
	Duration float64 `json:"duration"`
	*motion.Document
}

func shown(m *library.Motion) shownMotion {
	return shownMotion{m.Name, m.Version, m.Shipped, m.Document.Duration(), withLists(m.Document)}
}

// show prints a motion as tables.
func (j *motionsJob) show(args []string) error {
	m, err := j.one(args)
	if err != nil {
		return err
	}
	if j.e.json {
		return j.print(struct {
			answered
			shownMotion
		}{answered{true, fmt.Sprintf("%s: %.4g s", m.Name, m.Document.Duration())}, shown(m)})
	}
	d := m.Document
	fmt.Fprintf(j.e.out, "%s: %.4g s, version %s\n", m.Name, d.Duration(), m.Version)
	for _, line := range []struct{ what, text string }{
		{"", d.Description}, {"tags: ", strings.Join(d.Tags, ", ")}, {"start pose: ", d.StartPose},
	} {
		if line.text != "" {
			fmt.Fprintf(visible{j.e.out}, "%s%s\n", line.what, line.text)
		}
	}
	if d.Loop {
		fmt.Fprintln(j.e.out, "loop: it may be repeated")
	}
	if d.GoalTimeTolerance != 0 {
		fmt.Fprintf(j.e.out, "goal time tolerance: %v s\n", d.GoalTimeTolerance)
	}
	w := tabwriter.NewWriter(visible{j.e.out}, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nJoints (of %d captured):\n  name\tpath tolerance\tgoal tolerance\t\n", len(d.Columns))
	for _, joint := range d.Joints {
		off := ""
		if !joint.Enabled {
			off = "off"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", joint.Name, toleranceWord(joint.Path), toleranceWord(joint.Goal), off)
	}
	showPoints(w, d)
	if len(d.Events) > 0 {
		fmt.Fprintf(w, "\nEvents:\n  time\ttype\tcommand\toptions\n")
		for _, e := range d.Events {
			fmt.Fprintf(w, "  %v\t%s\t%s\t%s\n", e.Time, e.Type, e.Command, e.Options)
		}
	}
	return w.Flush()
}

func toleranceWord(t *trajectory.Tolerance) string {
	switch {
	case t == nil:
		return "–"
	case t.Position == 0:
		return "default"
	case t.Position < 0:
		return "none"
	}
	return fmt.Sprintf("%.4g", t.Position)
}

// showPoints prints the rows: the joints that take part, and the supports.
func showPoints(w *tabwriter.Writer, d *motion.Document) {
	fmt.Fprint(w, "\nPoints:\n  #\ttime\tlabel\t")
	for _, c := range d.Chains {
		fmt.Fprintf(w, "\t%s", follow.SupportPrefix+c)
	}
	for _, joint := range d.Joints {
		fmt.Fprintf(w, "\t%s", joint.Name)
	}
	fmt.Fprintln(w)
	for row, p := range d.Points {
		flags := []string{}
		if p.Mark != motion.NoMark {
			flags = append(flags, string(p.Mark))
		}
		if !p.Enabled {
			flags = append(flags, "off")
		}
		fmt.Fprintf(w, "  %d\t%v\t%s\t%s", row+1, p.Time, p.Label, strings.Join(flags, " "))
		for _, s := range p.Supports {
			fmt.Fprintf(w, "\t%s", valueWord(s))
		}
		for _, joint := range d.Joints {
			v, _ := d.Captured(row, joint.Name)
			fmt.Fprintf(w, "\t%s", valueWord(v))
		}
		fmt.Fprintln(w)
	}
}

func valueWord(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.4g", x)
}

// withLists returns a copy whose lists are there even if they are empty: programs like
// [] better than null.
func withLists(d *motion.Document) *motion.Document {
	c := d.Clone()
	for _, list := range []*[]string{&c.Tags, &c.Columns, &c.Chains, &c.Order} {
		if *list == nil {
			*list = []string{}
		}
	}
	if c.Joints == nil {
		c.Joints = []motion.Joint{}
	}
	if c.Points == nil {
		c.Points = []motion.Point{}
	}
	if c.Events == nil {
		c.Events = []follow.Event{}
	}
	return c
}

// curveJSON is a joint's curve for programs; a limit that is not there is null.
type curveJSON struct {
	Joint           string    `json:"joint"`
	Position        []float64 `json:"position"`
	Velocity        []float64 `json:"velocity"`
	Acceleration    []float64 `json:"acceleration"`
	Lower           *float64  `json:"lower"`
	Upper           *float64  `json:"upper"`
	MaxVelocity     *float64  `json:"max_velocity"`
	MaxAcceleration *float64  `json:"max_acceleration"`
}

// preview draws the curves of a motion, or tells them.
func (j *motionsJob) preview(args []string) error {
	m, err := j.one(args)
	if err != nil {
		return err
	}
	g, err := m.Document.Goal(j.part())
	if err != nil {
		return err
	}
	s, err := motion.Sample(g, j.model, j.period)
	if err != nil {
		return err
	}
	if j.plot != "" {
		if err := drawMotion(m.Name, s, j.plot); err != nil {
			return err
		}
	}
	switch {
	case j.e.json:
		curves := []curveJSON{}
		for _, c := range s.Curves {
			l := c.Limits
			curves = append(curves, curveJSON{c.Joint, c.Position, c.Velocity, c.Acceleration, orNull(l.Lower), orNull(l.Upper), orNull(l.Velocity), orNull(l.Acceleration)})
		}
		along, err := m.Document.Forces(g, j.model, s.Times)
		forces := edge.Forces(j.model, along, err)
		return j.print(struct {
			answered
			Name   string          `json:"name"`
			Times  []float64       `json:"times"`
			Curves []curveJSON     `json:"curves"`
			Forces json.RawMessage `json:"forces"`
		}{answered{true, fmt.Sprintf("%s: %d curves over %.4g s", m.Name, len(curves), g.Duration())}, m.Name, s.Times, curves, rosjson.Append(nil, &forces, msgs.ROS2)})
	case j.plot != "":
		_, err := fmt.Fprintf(j.e.out, "%s: %d curves over %.4g s → %s\n", m.Name, len(s.Curves), g.Duration(), j.plot)
		return err
	}
	return errors.Join(j.previewText(g, m.Name), j.previewForces(g, m.Document))
}

func orNull(l robot.Limit) *float64 {
	if !l.Has {
		return nil
	}
	return &l.Value
}

// previewText tells the extremes of each joint, exact ones of the curve.
func (j *motionsJob) previewText(g *follow.Goal, name string) error {
	peaks, err := motion.Peaks(g, j.model)
	if err != nil {
		return err
	}
	fmt.Fprintf(j.e.out, "%s: %.4g s, extremes of the curve that is played (limit in brackets)\n", name, g.Duration())
	w := tabwriter.NewWriter(visible{j.e.out}, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  joint\tlowest\thighest\tfastest\tstrongest")
	limit := func(l robot.Limit) string {
		if !l.Has {
			return "–"
		}
		return fmt.Sprintf("%.4g", l.Value)
	}
	for _, p := range peaks {
		fmt.Fprintf(w, "  %s\t%.4g (%s)\t%.4g (%s)\t%.4g (%s)\t%.4g (%s)\n", p.Joint, p.Low, limit(p.Limits.Lower), p.High, limit(p.Limits.Upper),
			p.Velocity, limit(p.Limits.Velocity), p.Acceleration, limit(p.Limits.Acceleration))
	}
	return w.Flush()
}

// previewForces tells how near to its limits the motion comes by its forces.
func (j *motionsJob) previewForces(g *follow.Goal, d *motion.Document) error {
	s, err := d.Stance(g, j.model)
	if err != nil {
		return err
	}
	r, err := s.Judge(motionforces.Options{})
	if err != nil {
		_, err = fmt.Fprintf(j.e.out, "\nForces are not known: %s\n", err)
		return err
	}
	fmt.Fprintln(j.e.out, "\nTorques, each when it is nearest to its limit (in brackets); that of a servo has its friction and rotor in it")
	w := tabwriter.NewWriter(visible{j.e.out}, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  joint\ttorque\tat, s\tof")
	for _, p := range r.Peaks {
		limit := "–"
		if !math.IsInf(p.Limit, 0) {
			limit = fmt.Sprintf("%.4g", p.Limit)
		}
		of := "joint"
		if p.Servo {
			of = "servo"
		}
		fmt.Fprintf(w, "  %s\t%.4g (%s)\t%.4g\t%s\n", j.model.Joints()[p.Joint].Name, p.Value, limit, p.At, of)
	}
	if err := w.Flush(); err != nil || !r.Stand.Judged {
		return err
	}
	fmt.Fprintf(j.e.out, "\nThe zero-moment point is at the least %s, at %.4g s\n", motionforces.Place(r.Stand.Margin), r.Stand.At)
	for _, f := range r.Stand.Feet {
		if name := j.model.Chains()[f.Chain].Name; math.IsNaN(f.Force) {
			fmt.Fprintf(j.e.out, "  %s does not stand\n", name)
		} else {
			fmt.Fprintf(j.e.out, "  %s carries at least %.3g N while it stands, at %.4g s\n", name, f.Force, f.At)
		}
	}
	return nil
}

// perPanel is how many curves one picture of joints with the same limits holds.
const perPanel = 6

// drawMotion draws positions, velocities and accelerations. Joints share a panel if
// they share the limits that are drawn in it.
func drawMotion(name string, s *motion.Samples, file string) error {
	c := plot.Chart{Title: name, XLabel: "time, s", X: s.Times}
	for _, q := range []struct {
		title  string
		of     func(motion.Curve) []float64
		limits func(robot.Limits) []float64
	}{
		{"position, rad or m", func(c motion.Curve) []float64 { return c.Position }, func(l robot.Limits) []float64 { return both(l.Lower, l.Upper) }},
		{"velocity, rad/s or m/s", func(c motion.Curve) []float64 { return c.Velocity }, func(l robot.Limits) []float64 { return plusMinus(l.Velocity) }},
		{"acceleration, rad/s² or m/s²", func(c motion.Curve) []float64 { return c.Acceleration }, func(l robot.Limits) []float64 { return plusMinus(l.Acceleration) }},
	} {
		panels := map[string]int{} // by limits: the panel that still has room
		for _, curve := range s.Curves {
			limits := q.limits(curve.Limits)
			key := fmt.Sprint(limits)
			k, ok := panels[key]
			if !ok || len(c.Panels[k].Series) == perPanel {
				k = len(c.Panels)
				panels[key] = k
				c.Panels = append(c.Panels, plot.Panel{Title: q.title, Limits: limits})
			}
			c.Panels[k].Series = append(c.Panels[k].Series, plot.Series{Name: curve.Joint, Y: q.of(curve)})
		}
	}
	return c.Save(file)
}

func both(low, high robot.Limit) (all []float64) {
	for _, l := range []robot.Limit{low, high} {
		if l.Has {
			all = append(all, l.Value)
		}
	}
	return all
}

func plusMinus(l robot.Limit) []float64 {
	if !l.Has {
		return nil
	}
	return []float64{-l.Value, l.Value}
}

// visible prints text of a file on a terminal: control characters,
// which a terminal would obey, become marks.
type visible struct{ to io.Writer }

func (v visible) Write(b []byte) (int, error) {
	shown := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, string(b))
	if _, err := io.WriteString(v.to, shown); err != nil {
		return 0, err
	}
	return len(b), nil
}
