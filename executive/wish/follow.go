package wish

import (
	"fmt"
	"math"

	"poise/control"
	"poise/control/follow"
	"poise/executive/compose"
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

func (g *Follow) Prepare(v *View) (*Work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	goal := g.Goal
	goal.Begin = follow.CycleTime(g.Stamp, v.Now.Tick)
	v.keep("follow", &goal)
	var end float64
	if g.Return {
		if end = compose.End(goal.Points); !goal.Loop {
			v.addReturn(&goal)
		}
	}
	w, why := v.compile(&goal, g.Append)
	if why != nil {
		return nil, why
	}
	w.Rate, w.To = g.Rate, end
	return w, nil
}

// Action names the server.
func (g *Execute) Action() string { return "execute" }

func (g *Execute) Prepare(v *View) (*Work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	goal := g.Goal
	if len(g.Motions) > 0 {
		goal = compose.Join(v.Model, g.Motions)
	}
	v.keep("execute", &goal)
	if len(goal.Path) == 0 { // what was planned begins where the robot is
		if why := v.startsElsewhere(&goal); len(why) > 0 {
			return nil, why
		}
	}
	w, why := v.compileSlower(&goal)
	if why != nil {
		return nil, why
	}
	w.Rate = g.Rate
	return w, nil
}

// slowest is the speed below which a planned motion is not played instead of being
// refused.
const slowest = 0.5

// compileSlower makes the work of a planned motion. A plan keeps its limits at its
// samples; the curve between them may pass them where the plan has corners. Time
// cures that: such a motion is played a little slower, along the same path.
func (v *View) compileSlower(g *follow.Goal) (*Work, []Explanation) {
	speed := 1.0
	for {
		w, why := v.compile(g, false)
		next := speed * passesAt(why)
		switch {
		case why == nil && speed < 1:
			x := explain.Because("slowed", fmt.Sprintf("played at %.3g %% of its planned speed: between its samples it would pass limits", 100*speed))
			x.Value = speed
			w.Notes = []Explanation{x}
			return w, nil
		case why == nil || next < slowest:
			return w, why
		}
		*g = compose.Slower(g, next/speed)
		speed = next
	}
}

// passesAt returns the speed at which a motion would keep the limits that it was
// refused for; 0 if speed does not help.
func passesAt(why []Explanation) float64 {
	const margin = 0.999 // so that rounding does not ask for more
	speed := 1.0
	for _, x := range why {
		switch ratio := math.Abs(x.Limit / x.Value); x.Code {
		case explain.Underscored(follow.BeyondVelocity.String()):
			speed = min(speed, ratio)
		case explain.Underscored(follow.BeyondAcceleration.String()):
			speed = min(speed, math.Sqrt(ratio))
		default:
			return 0
		}
	}
	return margin * speed
}

// startTolerance is how far a joint may be from where a planned motion without
// tolerances begins, rad or m.
const startTolerance = 0.01

// startsElsewhere explains which joints are not where a trajectory begins.
func (v *View) startsElsewhere(g *follow.Goal) (why []Explanation) {
	if len(g.Points) == 0 || g.Points[0].Time > 0 || g.Approach > 0 {
		return nil
	}
	for k, name := range g.Joints {
		id, ok := v.Model.Joint(name)
		if !ok || k >= len(g.Points[0].Position) {
			continue
		}
		at, want := v.Now.Command.Q[id], g.Points[0].Position[k]
		if v.Model.Joints()[id].Kind == robot.Continuous {
			want = trajectory.Nearest(want, at)
		}
		if off := math.Abs(at - want); off > startTolerance {
			r := control.Reason{Code: control.StartTooFar, Joint: id, Value: off, Max: startTolerance}
			x := v.Words.Reason(r, "")
			x.Owner = ""
			why = append(why, x)
		}
	}
	return why
}

// compile makes the work of a trajectory.
func (v *View) compile(g *follow.Goal, extend bool) (*Work, []Explanation) {
	var p *follow.Program
	var err error
	running := (*follow.Program)(nil)
	if extend {
		running = v.runningOn(g.Joints)
	}
	if running != nil {
		p, err = follow.Append(v.Model, v.Follow, running, g)
	} else {
		p, err = follow.Compile(v.Model, v.Follow, &v.Now.Command, g)
	}
	if err != nil {
		return nil, followProblems(err)
	}
	w := newWork(v.pool(followKind), p)
	if len(w.Pool) == 0 {
		return nil, []Explanation{explain.Because("no_controller", "no controller plays trajectories")}
	}
	if !g.Loop {
		w.Duration = p.Curve().End()
	}
	joints := p.Record().Joints
	w.Joints = make([]robot.JointID, len(joints))
	for i, j := range joints {
		w.Joints[i] = robot.JointID(j)
	}
	if len(g.Events) > 0 {
		w.Event = p.Event
	}
	return w, nil
}

// runningOn returns the program that moves some of these joints now, nil if none
// does.
func (v *View) runningOn(joints []string) (last *follow.Program) {
	set := v.leavesOf(joints)
	for _, w := range v.Running {
		if p, ok := w.Program.(*follow.Program); ok && w.Claim.Overlaps(set) {
			last = p
		}
	}
	return last
}

func (v *View) leavesOf(joints []string) (set robot.Set) {
	for _, name := range joints {
		if id, ok := v.Model.Joint(name); ok {
			set = set.With(robot.LeafID(id))
		}
	}
	return set
}

// followProblems explains what is wrong with a trajectory.
func followProblems(err error) (all []Explanation) {
	for _, p := range follow.Problems(err) {
		all = append(all, Explanation{Code: explain.Underscored(p.Kind.String()), Text: p.Text, Joint: p.Joint,
			At: p.At, Value: p.Value, Limit: p.Limit, Help: p.Help})
	}
	if len(all) == 0 {
		all = explain.Errors("invalid_goal", err)
	}
	return all
}

// addReturn lets a goal go back to where its joints are commanded to be now.
func (v *View) addReturn(g *follow.Goal) {
	limits, _, err := control.JointLimits(v.Model, v.Follow.Transition)
	if err == nil { // otherwise the compiler says what is wrong
		compose.Return(g, v.Model, limits, compose.Way{Share: v.Approach.Share, Speed: v.Approach.Speed}, v.Now.Command.Q)
	}
}
