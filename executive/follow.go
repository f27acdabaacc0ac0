package executive

import (
	"math"
	"slices"

	"poise/control"
	"poise/control/follow"
	"poise/executive/explain"
	"poise/planner"
	"poise/robot"
	"poise/trajectory"
)

// followKind is the kind of the controllers that play trajectories.
const followKind = "follow"

// Follow plays a trajectory, with its events.
type Follow struct {
	Goal   follow.Goal // Begin is made of Stamp
	Stamp  int64       // ns since the epoch, when its clock is at zero; 0 is when it starts
	Append bool        // goes on where the one that moves its joints ends
	Return bool        // goes back to where the joints were before it began
	Rate   float64     // of its clock; 0 is 1
}

// Execute performs what was planned, here or elsewhere.
type Execute struct {
	Motions []*planner.Motion // one after the other, or
	Goal    follow.Goal       // a trajectory, if there are none
	Rate    float64           // of its clock; 0 is 1
}

// Action names the server.
func (g *Follow) Action() string { return "follow" }

func (g *Follow) prepare(v *view) (*work, []Explanation) {
	goal := g.Goal
	goal.Begin = follow.CycleTime(g.Stamp, v.snap.Tick)
	v.keep("follow", &goal)
	var end float64
	if g.Return {
		if end = endOf(goal.Points); !goal.Loop {
			v.addReturn(&goal)
		}
	}
	w, why := v.compile(&goal, g.Append)
	if why != nil {
		return nil, why
	}
	w.rate, w.to = g.Rate, end
	return w, checkRate(g.Rate)
}

// Action names the server.
func (g *Execute) Action() string { return "execute" }

func (g *Execute) prepare(v *view) (*work, []Explanation) {
	goal := g.Goal
	if len(g.Motions) > 0 {
		goal = joined(v.e.model, g.Motions)
	}
	v.keep("execute", &goal)
	if len(goal.Path) == 0 { // what was planned begins where the robot is
		if why := v.startsElsewhere(&goal); len(why) > 0 {
			return nil, why
		}
	}
	w, why := v.compile(&goal, false)
	if why != nil {
		return nil, why
	}
	w.rate = g.Rate
	return w, checkRate(g.Rate)
}

// startTolerance is how far a joint may be from where a planned motion without
// tolerances begins, rad or m.
const startTolerance = 0.01

// startsElsewhere explains which joints are not where a trajectory begins.
func (v *view) startsElsewhere(g *follow.Goal) (why []Explanation) {
	e := v.e
	if len(g.Points) == 0 || g.Points[0].Time > 0 || g.Approach > 0 {
		return nil
	}
	for k, name := range g.Joints {
		id, ok := e.model.Joint(name)
		if !ok || k >= len(g.Points[0].Position) {
			continue
		}
		at, want := v.snap.Command.Q[id], g.Points[0].Position[k]
		if e.model.Joints()[id].Kind == robot.Continuous {
			want = trajectory.Nearest(want, at)
		}
		if off := math.Abs(at - want); off > startTolerance {
			r := control.Reason{Code: control.StartTooFar, Joint: id, Value: off, Max: startTolerance}
			x := e.words.Reason(r, "")
			x.Owner = ""
			why = append(why, x)
		}
	}
	return why
}

// compile makes the work of a trajectory.
func (v *view) compile(g *follow.Goal, extend bool) (*work, []Explanation) {
	e := v.e
	var p *follow.Program
	var err error
	running := (*follow.Program)(nil)
	if extend {
		running = v.runningOn(g.Joints)
	}
	if running != nil {
		p, err = running.Append(e.model, e.cfg.Follow, g)
	} else {
		p, err = follow.Compile(e.model, e.cfg.Follow, &v.snap.Command, g)
	}
	if err != nil {
		return nil, followProblems(err)
	}
	w := newWork(e.pool(followKind), p)
	if len(w.pool) == 0 {
		return nil, []Explanation{explain.Because("no_controller", "no controller plays trajectories")}
	}
	if !g.Loop {
		w.duration = p.End()
	}
	joints, _ := p.Columns()
	w.joints = make([]robot.JointID, len(joints))
	for i, j := range joints {
		w.joints[i] = robot.JointID(j)
	}
	if len(g.Events) > 0 {
		w.event = func(n uint32) Event {
			ev := p.Event(n)
			return Event{Time: ev.Time, Type: ev.Type, Command: ev.Command, Options: ev.Options}
		}
	}
	return w, nil
}

// runningOn returns the program that moves some of these joints now, nil if none
// does.
func (v *view) runningOn(joints []string) (last *follow.Program) {
	set := v.e.leavesOf(joints)
	for _, w := range v.running {
		if p, ok := w.program.(*follow.Program); ok && w.claim.Overlaps(set) {
			last = p
		}
	}
	return last
}

func (e *Executive) leavesOf(joints []string) (set robot.Set) {
	for _, name := range joints {
		if id, ok := e.model.Joint(name); ok {
			set = set.With(robot.LeafID(id))
		}
	}
	return set
}

// followProblems explains what is wrong with a trajectory.
func followProblems(err error) (all []Explanation) {
	for _, p := range follow.Problems(err) {
		all = append(all, Explanation{Code: underscore(p.Kind.String()), Text: p.Text, Joint: p.Joint,
			At: p.At, Value: p.Value, Limit: p.Limit, Help: p.Help})
	}
	if len(all) == 0 {
		all = explain.Errors("invalid_goal", err)
	}
	return all
}

// Shape of the way back to where a motion began.
const (
	returnRest = 0.1 // s that the motion rests at its end
	returnMin  = 0.2 // s that the way takes at least
)

// addReturn appends the way back to where the joints are commanded to be now. The
// way is a cubic or quintic from rest to rest; its peaks are at most 15/8·d/T and
// 6·d/T².
func (v *view) addReturn(g *follow.Goal) {
	e := v.e
	n := len(g.Points)
	if n == 0 || len(g.Points[n-1].Position) != len(g.Joints) {
		return // the compiler says what is wrong
	}
	last := g.Points[n-1]
	limits, _, err := control.JointLimits(e.model, e.cfg.Follow.Transition)
	if err != nil {
		return
	}
	back := slices.Clone(last.Position)
	duration := returnMin
	for k, name := range g.Joints {
		id, ok := e.model.Joint(name)
		if !ok {
			continue
		}
		back[k] = v.snap.Command.Q[id]
		d, l := math.Abs(back[k]-last.Position[k]), limits[id]
		share := e.cfg.Approach.Share
		speed := l.VelMax
		if math.IsInf(speed, 1) {
			speed = e.cfg.Approach.Speed / share
		}
		duration = max(duration, 1.875*d/(share*speed), math.Sqrt(6*d/(share*l.AccMax)))
	}
	rest := func(t float64, q []float64) trajectory.Point {
		p := trajectory.Point{Time: t, Position: q}
		if len(last.Velocity) > 0 {
			p.Velocity = make([]float64, len(q))
		}
		if len(last.Acceleration) > 0 {
			p.Acceleration = make([]float64, len(q))
		}
		return p
	}
	g.Points = append(slices.Clone(g.Points), rest(last.Time+returnRest, last.Position), rest(last.Time+returnRest+duration, back))
	// where it ends is not where the goal's own tolerance was meant for, and no worse
}

func endOf(points []trajectory.Point) float64 {
	if len(points) == 0 {
		return 0
	}
	return points[len(points)-1].Time
}

// joined makes one trajectory of motions of several groups, one after the other;
// joints of the others hold meanwhile.
func joined(model *robot.Model, motions []*planner.Motion) follow.Goal {
	joints := moved(motions)
	g := follow.Goal{}
	at := make([]float64, len(joints))
	for k, j := range joints {
		g.Joints = append(g.Joints, model.Joints()[j].Name)
		at[k] = motions[0].Start[model.Joints()[j].Q]
	}
	end := 0.0
	for i, m := range motions {
		column := make([]int, len(m.Joints))
		for c, j := range m.Joints {
			column[c] = slices.Index(joints, j)
		}
		start := m.Trajectory.Start()
		for p := range m.Trajectory.Points {
			if i > 0 && p == 0 {
				continue // where the one before ends
			}
			src := &m.Trajectory.Points[p]
			dst := trajectory.Point{Time: end + src.Time - start, Position: slices.Clone(at),
				Velocity: make([]float64, len(at)), Acceleration: make([]float64, len(at))}
			for c, k := range column {
				dst.Position[k] = src.Position[c]
				if len(src.Velocity) > 0 && len(src.Acceleration) > 0 {
					dst.Velocity[k], dst.Acceleration[k] = src.Velocity[c], src.Acceleration[c]
				}
			}
			at = dst.Position
			g.Points = append(g.Points, dst)
		}
		end = endOf(g.Points)
	}
	return g
}
