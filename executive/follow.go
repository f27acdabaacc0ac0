package executive

import (
	"math"

	"poise/control"
	"poise/control/follow"
	"poise/planner"
	"poise/problem"
	"poise/robot"
	"poise/trajectory"
)

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

// Action returns the name of its action.
func (g *Follow) Action() string { return "follow" }

func (g *Follow) prepare(v *view) (*work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	goal := g.Goal
	goal.Begin = follow.CycleTime(g.Stamp, v.now.Tick)
	v.keep("follow", &goal)
	var end float64
	if g.Return {
		if end = goal.End(); !goal.Loop {
			v.addReturn(&goal)
		}
	}
	w, why := v.compile(&goal, g.Append)
	if why != nil {
		return nil, why
	}
	w.rate, w.to = g.Rate, end
	return w, nil
}

// Action returns the name of its action.
func (g *Execute) Action() string { return "execute" }

func (g *Execute) prepare(v *view) (*work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	goal := g.Goal
	if len(g.Motions) > 0 {
		goal = joinMotions(v.cfg.Model, g.Motions)
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
	w.rate = g.Rate
	return w, nil
}

// slowest is the speed below which a planned motion is not played instead of being
// refused.
const slowest = 0.5

// compileSlower makes the work of a planned motion. A plan keeps its limits at its
// samples; the curve between them may pass them where the plan has corners. Time
// cures that: such a motion is played a little slower, along the same path.
func (v *view) compileSlower(g *follow.Goal) (*work, []Explanation) {
	speed := 1.0
	for {
		w, why := v.compile(g, false)
		next := speed * passesAt(why)
		switch {
		case why == nil && speed < 1:
			x := *problem.New("slowed", "played at %.3g %% of its planned speed: between its samples it would pass limits", 100*speed)
			x.Value = speed
			w.notes = []Explanation{x}
			return w, nil
		case why == nil || next < slowest:
			return w, why
		}
		*g = slower(g, next/speed)
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
		case follow.BeyondVelocity:
			speed = min(speed, ratio)
		case follow.BeyondAcceleration:
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
func (v *view) startsElsewhere(g *follow.Goal) (reasons []Explanation) {
	if len(g.Points) == 0 || g.Points[0].Time > 0 || g.Approach > 0 {
		return nil
	}
	for k, name := range g.Joints {
		id, ok := v.cfg.Model.Joint(name)
		if !ok || k >= len(g.Points[0].Position) {
			continue
		}
		at, want := v.now.Command.Q[id], g.Points[0].Position[k]
		if v.cfg.Model.Joints()[id].Kind == robot.Continuous {
			want = trajectory.Nearest(want, at)
		}
		if off := math.Abs(at - want); off > startTolerance {
			r := control.Reason{Code: control.StartTooFar, Joint: id, Value: off, Max: startTolerance}
			x := v.words.Reason(r, "")
			x.Owner = ""
			reasons = append(reasons, x)
		}
	}
	return reasons
}

// compile makes the work of a trajectory.
func (v *view) compile(g *follow.Goal, extend bool) (*work, []Explanation) {
	var p *follow.Program
	var err error
	running := (*follow.Program)(nil)
	if extend {
		running = v.runningOn(g.Joints)
	}
	if running != nil {
		p, err = follow.Append(v.cfg.Model, v.cfg.Follow, running, g)
	} else {
		p, err = follow.Compile(v.cfg.Model, v.cfg.Follow, &v.now.Command, g)
	}
	if err != nil {
		return nil, followProblems(err)
	}
	w := newWork(v.cfg.pool(follow.Kind.Name), p)
	if len(w.pool) == 0 {
		return nil, []Explanation{*problem.New("no_controller", "no controller plays trajectories")}
	}
	w.table = g.Table
	if !extend {
		w.steps = v.footing(g)
	}
	if !g.Loop {
		w.duration = p.Curve().End()
	}
	joints := p.Record().Joints
	w.joints = make([]robot.JointID, len(joints))
	for i, j := range joints {
		w.joints[i] = robot.JointID(j)
	}
	if len(g.Events) > 0 {
		w.event = p.Event
	}
	return w, nil
}

// runningOn returns the program that moves some of these joints now, nil if none
// does.
func (v *view) runningOn(joints []string) (last *follow.Program) {
	set := v.leavesOf(joints)
	for _, w := range v.running {
		if p, ok := w.program.(*follow.Program); ok && w.claim.Overlaps(set) {
			last = p
		}
	}
	return last
}

func (v *view) leavesOf(joints []string) (set robot.Set) {
	for _, name := range joints {
		if id, ok := v.cfg.Model.Joint(name); ok {
			set = set.With(robot.LeafID(id))
		}
	}
	return set
}

// followProblems explains what is wrong with a trajectory.
func followProblems(err error) (all []Explanation) {
	for _, p := range problem.In(err) {
		all = append(all, *p)
	}
	if len(all) == 0 {
		all = problem.All("invalid_goal", err)
	}
	return all
}

// addReturn lets a goal go back to where its joints are commanded to be now.
func (v *view) addReturn(g *follow.Goal) {
	limits, _, err := control.JointLimits(v.cfg.Model, v.cfg.Follow.Transition)
	if err == nil { // otherwise the compiler says what is wrong
		appendReturn(g, v.cfg.Model, limits, returnSpeed{Share: v.cfg.Approach.Share, Speed: v.cfg.Approach.Speed}, v.now.Command.Q)
	}
}
