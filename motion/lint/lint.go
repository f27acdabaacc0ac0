package lint

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/motion"
	"poise/problem"
	"poise/robot"
)

// Rule is one thing that is looked for.
type Rule struct {
	Name  problem.Code
	Finds string
}

// The names of the rules: the codes of what they find.
const (
	Table        problem.Code = "table"
	Points       problem.Code = "points"
	Order        problem.Code = "order"
	Marks        problem.Code = "marks"
	UnknownJoint problem.Code = "unknown_joint"
	UnknownChain problem.Code = "unknown_chain"
	MissingJoint problem.Code = "missing_joint"
	StartPose    problem.Code = "start_pose"
	Support      problem.Code = "support"
	Event        problem.Code = "event"
	Loop         problem.Code = "loop"
	Position     problem.Code = "position"
	Velocity     problem.Code = "velocity"
	Acceleration problem.Code = "acceleration"
	Slip         problem.Code = "slip"
	Balance      problem.Code = "balance"
	Torque       problem.Code = "torque"
	ZMP          problem.Code = "zmp"
	Unloaded     problem.Code = "unloaded"
	ContactForce problem.Code = "contact_force"
)

// Rules lists everything that is looked for.
func Rules() []Rule {
	return []Rule{
		{Table, "rows and columns that do not fit, names that come twice, values that are not finite"},
		{Points, "fewer than two enabled rows: nothing moves"},
		{Order, "times that do not rise, or begin before zero"},
		{Marks, "a start mark that is not before the end mark, a mark on a disabled row"},
		{UnknownJoint, "joints that the robot does not have"},
		{UnknownChain, "support tracks of chains that cannot stand"},
		{MissingJoint, "joints that take part and were not captured in a row; no joint at all"},
		{StartPose, "a start pose that the robot does not have, or in which the motion does not begin"},
		{Support, "supports that are missing, negative, or of a contact that the robot does not have"},
		{Event, "events before the first or after the last row, or without a type"},
		{Loop, "a loop whose end is not its beginning"},
		{Position, "positions beyond a joint's range, between rows too"},
		{Velocity, "velocities above a joint's limit"},
		{Acceleration, "accelerations above a joint's limit, braking apart where it has its own"},
		{Slip, "feet that stand and move against each other"},
		{Balance, "the centre of mass leaving the supports, and times at which no foot stands"},
		{Torque, "torques above a joint's limit of effort, or above what its servo can give at that speed"},
		{ZMP, "the zero-moment point leaving the supports while the centre of mass is above them: the motion is too fast to stand"},
		{Unloaded, "feet that are declared to stand and carry nothing"},
		{ContactForce, "forces that feet cannot give: they would slide, or their shares are too small"},
	}
}

// Options are what may be set; zero values mean the defaults.
type Options struct {
	Slip   float64 // m that a standing foot may move; default 0.005
	Margin float64 // m by which centre of mass and zero-moment point have to be inside the supports; default 0
	Step   float64 // s between looks at slip and balance; default 0.01
	Period float64 // s between looks at forces close to a limit: that of the cycle; default 0.001
	Seam   float64 // rad or m between the end and the beginning of a loop; default 0.001
	Start  float64 // rad or m between the start pose and the first row; default 0.1
}

// maxSteps bounds the looks at slip and balance of one motion.
const maxSteps = 20_000

func (o Options) orDefault() Options {
	set := func(x *float64, standard float64) {
		if *x == 0 {
			*x = standard
		}
	}
	set(&o.Slip, 0.005)
	set(&o.Step, 0.01)
	set(&o.Seam, 0.001)
	set(&o.Start, 0.1)
	return o
}

// checker looks at one motion.
type checker struct {
	d    *motion.Document
	m    *robot.Model
	o    Options
	rows []int // that are enabled
	all  []problem.Problem
}

// Check returns everything wrong with a motion for a robot, in the order of Rules.
func Check(d *motion.Document, m *robot.Model, o Options) []problem.Problem {
	c := &checker{d: d, m: m, o: o.orDefault()}
	if err := d.Check(); err != nil {
		c.table(err)
		return c.all // the rest would stumble
	}
	for i, p := range d.Points {
		if p.Enabled {
			c.rows = append(c.rows, i)
		}
	}
	rising := c.order()
	c.marks()
	playable := c.names()
	c.supports()
	c.events()
	c.seam()
	if g, err := playable.Goal(motion.Part{}); err == nil && rising && len(c.rows) >= 2 && len(g.Moved()) > 0 {
		c.curve(g)
		c.standing(g)
		c.forces(g)
	}
	rank := map[problem.Code]int{}
	for i, r := range Rules() {
		rank[r.Name] = i
	}
	slices.SortStableFunc(c.all, func(a, b problem.Problem) int { return rank[a.Code] - rank[b.Code] })
	return c.all
}

func (c *checker) add(f problem.Problem) { c.all = append(c.all, f) }

// table tells what does not fit.
func (c *checker) table(err error) {
	var joined interface{ Unwrap() []error }
	list := []error{err}
	if errors.As(err, &joined) {
		list = joined.Unwrap()
	}
	for _, one := range list {
		f := problem.Problem{Code: Table, Text: one.Error()}
		var p *problem.Problem
		if errors.As(one, &p) {
			f.Joint, f.Row, f.Value, f.Limit = p.Joint, p.Row, p.Value, p.Limit
			if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) {
				f.Value = 0
			}
		}
		c.add(f)
	}
}

// at returns a finding at a row.
func (c *checker) at(rule problem.Code, row int, joint, format string, a ...any) problem.Problem {
	t := c.d.Points[row].Time
	return problem.Problem{Code: rule, Joint: joint, At: t, Until: t, Row: row + 1,
		Text: fmt.Sprintf(format, a...) + fmt.Sprintf(" (row %d, %s s)", row+1, short(t))}
}

// order looks at the times; it reports whether those of enabled rows rise.
func (c *checker) order() (rising bool) {
	if len(c.rows) < 2 {
		c.add(problem.Problem{Code: Points, Value: float64(len(c.rows)), Limit: 2, Text: fmt.Sprintf("%d enabled rows: a motion needs two", len(c.rows))})
	}
	rising = true
	last := -1 // enabled row before
	for i, p := range c.d.Points {
		switch {
		case p.Time < 0:
			f := c.at(Order, i, "", "a time before zero")
			f.Value = p.Time
			c.add(f)
		case i > 0 && p.Time < c.d.Points[i-1].Time:
			f := c.at(Order, i, "", "comes after a row at %s s", short(c.d.Points[i-1].Time))
			f.Value, f.Limit = p.Time, c.d.Points[i-1].Time
			c.add(f)
		case p.Enabled && last >= 0 && p.Time == c.d.Points[last].Time:
			f := c.at(Order, i, "", "has the time of row %d", last+1)
			f.Value, f.Limit = p.Time, p.Time
			c.add(f)
		}
		if p.Enabled {
			rising = rising && (last < 0 || p.Time > c.d.Points[last].Time)
			last = i
		}
	}
	return rising
}

func (c *checker) marks() {
	start, end := c.d.Marked(motion.StartMark), c.d.Marked(motion.EndMark)
	for _, row := range []int{start, end} {
		if row >= 0 && !c.d.Points[row].Enabled {
			c.add(c.at(Marks, row, "", "the %s mark is on a disabled row", c.d.Points[row].Mark))
		}
	}
	if start >= 0 && end >= 0 && c.d.Points[start].Time >= c.d.Points[end].Time {
		c.add(c.at(Marks, start, "", "the start mark is not before the end mark of row %d", end+1))
	}
}

// names looks for joints, chains and poses that are not there, and returns the
// document with only those joints that can be played.
func (c *checker) names() *motion.Document {
	known := make([]string, 0, len(c.m.Joints()))
	for _, j := range c.m.Joints() {
		known = append(known, j.Name)
	}
	unknown := func(name, what string) bool {
		id, ok := c.m.Joint(name)
		if !ok {
			c.add(problem.Problem{Code: UnknownJoint, Joint: name, Text: fmt.Sprintf("%s %q does not exist%s", what, name, problem.Hint(name, known))})
		} else if kind := c.m.Joints()[id].Kind; kind.NumQ() != 1 {
			c.add(problem.Problem{Code: UnknownJoint, Joint: name, Text: fmt.Sprintf("%s %q is %v: its position is not one number", what, name, kind)})
			return true
		}
		return !ok
	}
	playable := c.d.Clone()
	enabled := 0
	for i := range playable.Joints {
		j := &playable.Joints[i]
		switch {
		case unknown(j.Name, "joint"):
			j.Enabled = false
		case j.Enabled:
			enabled++
			j.Enabled = c.captured(j.Name)
		}
	}
	for _, name := range c.d.Columns {
		if c.d.Joint(name) < 0 {
			unknown(name, "captured joint")
		}
	}
	if enabled == 0 {
		c.add(problem.Problem{Code: MissingJoint, Text: "no joint of the robot takes part"})
	}
	c.chains()
	c.startPose()
	return playable
}

// startPose looks whether the pose in which the motion has to begin is there, and is
// where the first row begins.
func (c *checker) startPose() {
	if c.d.StartPose == "" {
		return
	}
	pose, ok := c.m.Pose(c.d.StartPose)
	if !ok {
		var poses []string
		for _, p := range c.m.Poses() {
			poses = append(poses, p.Name)
		}
		c.add(problem.Problem{Code: StartPose, Text: fmt.Sprintf("start pose %q does not exist%s", c.d.StartPose, problem.Hint(c.d.StartPose, poses))})
		return
	}
	for i, id := range pose.Joints {
		name := c.m.Joints()[id].Name
		part := c.d.Joint(name)
		if len(c.rows) == 0 || part < 0 || !c.d.Joints[part].Enabled || len(pose.Q[i]) != 1 {
			continue
		}
		if v, ok := c.d.Captured(c.rows[0], name); ok && math.Abs(v-pose.Q[i][0]) > c.o.Start {
			f := c.at(StartPose, c.rows[0], name, "begins with %s at %s, in the pose %q it is at %s", name, short(v), c.d.StartPose, short(pose.Q[i][0]))
			f.Value, f.Limit = v-pose.Q[i][0], c.o.Start
			c.add(f)
		}
	}
}

// captured looks for rows that did not capture a joint.
func (c *checker) captured(name string) bool {
	var lacking []int
	for _, row := range c.rows {
		if _, ok := c.d.Captured(row, name); !ok {
			lacking = append(lacking, row)
		}
	}
	if len(lacking) == 0 {
		return true
	}
	f := c.at(MissingJoint, lacking[0], name, "joint %q takes part and was not captured in %d of %d enabled rows", name, len(lacking), len(c.rows))
	f.Until = c.d.Points[lacking[len(lacking)-1]].Time
	c.add(f)
	return false
}

func (c *checker) chains() {
	var standing []string
	for _, chain := range c.m.Chains() {
		if chain.Contact != robot.NoContact {
			standing = append(standing, chain.Name)
		}
	}
	for _, name := range c.d.Chains {
		if !slices.Contains(standing, name) {
			c.add(problem.Problem{Code: UnknownChain, Joint: name, Text: fmt.Sprintf("no chain %q can stand%s", name, problem.Hint(name, standing))})
		}
	}
}

// supports looks at the values of support tracks.
func (c *checker) supports() {
	for _, row := range c.rows {
		for i, s := range c.d.Points[row].Supports {
			chain := c.d.Chains[i]
			switch _, fits := contactOf(c.m, chain, s); {
			case math.IsNaN(s):
				c.add(c.at(Support, row, chain, "the support of %q is not told", chain))
			case s < 0:
				f := c.at(Support, row, chain, "the support of %q is %s, must not be negative", chain, short(s))
				f.Value = s
				c.add(f)
			case !fits:
				f := c.at(Support, row, chain, "the support of %q asks for contact %d, the robot has %d", chain, int(s), len(c.m.Contacts()))
				f.Value, f.Limit = s, float64(len(c.m.Contacts()))
				c.add(f)
			}
		}
	}
}

func (c *checker) events() {
	first, last := c.d.Span()
	for i, e := range c.d.Events {
		f := problem.Problem{Code: Event, At: e.Time, Until: e.Time, Value: e.Time}
		name := fmt.Sprintf("event %d (%s)", i+1, strings.TrimSpace(e.Type+" "+e.Command))
		switch {
		case e.Time > last:
			f.Limit, f.Text = last, fmt.Sprintf("%s at %s s is past the end, %s s", name, short(e.Time), short(last))
		case e.Time < first:
			f.Limit, f.Text = first, fmt.Sprintf("%s at %s s is before the beginning, %s s", name, short(e.Time), short(first))
		case e.Type == "":
			f.Text = fmt.Sprintf("event %d at %s s has no type", i+1, short(e.Time))
		default:
			continue
		}
		c.add(f)
	}
}

// seam looks whether a loop ends where it begins.
func (c *checker) seam() {
	if !c.d.Loop || len(c.rows) < 2 {
		return
	}
	first, last := c.rows[0], c.rows[len(c.rows)-1]
	for _, j := range c.d.Joints {
		a, okA := c.d.Captured(first, j.Name)
		b, okB := c.d.Captured(last, j.Name)
		if gap := b - a; j.Enabled && okA && okB && math.Abs(gap) > c.o.Seam && !c.wholeTurns(j.Name, gap) {
			f := c.at(Loop, last, j.Name, "the loop ends with %s at %s, %s from its beginning %s", j.Name, short(b), short(gap), short(a))
			f.Value, f.Limit = gap, c.o.Seam
			c.add(f)
		}
	}
	for i, chain := range c.d.Chains {
		a, b := c.d.Points[first].Supports[i], c.d.Points[last].Supports[i]
		if (a > 0) != (b > 0) {
			f := c.at(Loop, last, chain, "the loop ends with support %s of %q and begins with %s", short(b), chain, short(a))
			f.Value, f.Limit = b, a
			c.add(f)
		}
	}
}

// wholeTurns reports whether a continuous joint ends where it began.
func (c *checker) wholeTurns(name string, gap float64) bool {
	id, ok := c.m.Joint(name)
	return ok && c.m.Joints()[id].Kind == robot.Continuous && math.Abs(math.Remainder(gap, 2*math.Pi)) <= c.o.Seam
}

// short prints a number for a message.
func short(x float64) string { return fmt.Sprintf("%.4g", x) }
