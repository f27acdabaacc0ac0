package executive

import (
	"fmt"
	"math"
	"slices"

	"poise/action"
	"poise/contact"
	"poise/control"
	"poise/control/follow"
	"poise/control/walk"
	"poise/gait"
	"poise/loop"
	"poise/robot"
	"poise/spatial"
)

// A motion begins with its feet somewhere, seen from each other. Where cycle 2 leads the robot, feet that stand are held:
// a walk that ended in the middle of its steps would leave its legs beside every pose. So the goal takes steps first.

// What counts as elsewhere, and as a stand.
const (
	footElsewhere = 0.008 // m that a foot is away from where the motion has it, for steps to be taken;
	footThere     = 0.003 // m, that it is not placed again
	footLevel     = 0.004 // m, of contact points from the ground
	baseLevel     = 0.15  // rad
)

// stepsTo returns the work that puts the feet to where they are with these joints, seen from each other; nil if they are there, or if it is not
// for steps to bring them there: outside of cycle 2, without a controller that walks, where legs are with somebody else or where the
// robot does not stand, now or then.
func (v *view) stepsTo(q []float64) *work {
	m := v.cfg.Model
	pool := v.cfg.pool(walk.Kind.Name)
	if !v.now.Cycle2 || len(pool) == 0 || !v.now.Measured.Base.Has {
		return nil
	}
	p, err := walk.Walk(m)
	if err != nil || len(p.Feet) < 2 {
		return nil
	}
	for i := range v.now.Active {
		if a := &v.now.Active[i]; a.Active && a.Own.Overlaps(p.Needs) {
			return nil
		}
	}
	for _, f := range p.Feet {
		if !(v.now.Command.Support[f.Chain].Weight > 0) {
			return nil
		}
	}
	ground, err := contact.NewGround(m)
	if err != nil {
		return nil
	}
	now, X, ok := soles(ground, v.now.Command.Q, p.Feet)
	then, _, ok2 := soles(ground, q, p.Feet)
	if !ok || !ok2 {
		return nil
	}
	to, turn := laid(then, now)
	order := make([]int, 0, len(now))
	for _, i := range gait.Order(then) {
		if apart(to[i], now[i]) > footThere {
			order = append(order, i)
		}
	}
	far := 0.0
	for i := range to {
		far = max(far, apart(to[i], now[i]))
	}
	if !(far > footElsewhere) {
		return nil
	}
	// from beside the commanded base to the ground of the odometry
	base := contact.Level(v.now.Measured.Base.Pose)
	base.P.Z = 0
	level := contact.Level(X)
	level.P.Z = 0
	move := base.Mul(level.Inverse())
	for _, i := range order {
		at := move.Apply(spatial.Vec3{X: to[i].X, Y: to[i].Y})
		p.Steps = append(p.Steps, walk.Step{Chain: p.Feet[i].Chain, At: gait.Point{X: at.X, Y: at.Y}, Yaw: math.Atan2(move.R[3], move.R[0]) + turn})
	}
	w := newWork(pool, p)
	w.stages = []Stage{{Phase: Stepping, End: math.Inf(1)}}
	return w
}

// soles returns the middles of the soles of a robot that stands with these joints, base over the origin; false if it does not.
func soles(ground *contact.Ground, q []float64, feet []contact.Foot) (at []gait.Point, X spatial.Pose, ok bool) {
	if X, ok = ground.Settle(q, feet); !ok || math.Acos(min(max(X.R[8], -1), 1)) > baseLevel {
		return nil, X, false
	}
	var points []spatial.Vec3
	for _, f := range feet {
		points = ground.PointsTo(points[:0], q, []contact.Foot{f}, X)
		all := ground.Model().Contacts()[f.Contact].Points
		var middle gait.Point
		n := 0.0
		for k, x := range points {
			if !contact.Carries(all, all[k]) {
				continue
			}
			if math.Abs(x.Z) > footLevel {
				return nil, X, false
			}
			middle.X, middle.Y, n = middle.X+x.X, middle.Y+x.Y, n+1
		}
		at = append(at, gait.Point{X: middle.X / n, Y: middle.Y / n})
	}
	return at, X, true
}

// laid moves and turns places as a whole so that they lie as near as can be to others.
func laid(places, onto []gait.Point) (to []gait.Point, turn float64) {
	var a, b gait.Point
	n := float64(len(places))
	for i := range places {
		a.X, a.Y = a.X+places[i].X/n, a.Y+places[i].Y/n
		b.X, b.Y = b.X+onto[i].X/n, b.Y+onto[i].Y/n
	}
	dot, cross := 0.0, 0.0
	for i := range places {
		x, y, u, w := places[i].X-a.X, places[i].Y-a.Y, onto[i].X-b.X, onto[i].Y-b.Y
		dot, cross = dot+x*u+y*w, cross+x*w-y*u
	}
	turn = math.Atan2(cross, dot)
	sin, cos := math.Sincos(turn)
	for i := range places {
		x, y := places[i].X-a.X, places[i].Y-a.Y
		to = append(to, gait.Point{X: b.X + cos*x - sin*y, Y: b.Y + sin*x + cos*y})
	}
	return to, turn
}

func apart(a, b gait.Point) float64 { return math.Hypot(a.X-b.X, a.Y-b.Y) }

// footing returns the steps that a trajectory with an approach takes first, nil for none: all feet have to stand in its first row.
func (v *view) footing(g *follow.Goal) *work {
	if !(g.Approach > 0) || len(g.Points) == 0 {
		return nil
	}
	first := g.Points[0].Position
	joints, supports := g.Columns()
	for _, k := range supports {
		if !(first[k] > 0) {
			return nil
		}
	}
	if freed, _ := g.Freed(v.cfg.Model); len(freed) > 0 {
		return nil
	}
	q := append([]float64(nil), v.now.Command.Q...)
	for _, k := range joints {
		if id, ok := v.cfg.Model.Joint(g.Joints[k]); ok {
			q[id] = first[k]
		}
	}
	return v.stepsTo(q)
}

// posed returns the joints of the robot in a pose of some of them.
func (v *view) posed(p *robot.NamedPose) []float64 {
	q := append([]float64(nil), v.now.Command.Q...)
	for i, id := range p.Joints {
		if len(p.Q[i]) == 1 {
			q[id] = p.Q[i][0]
		}
	}
	return q
}

// takeSteps orders the steps that come before what the goal asks for.
func (j *job) takeSteps() {
	steps := j.work.steps
	steps.before, steps.rate, steps.then = j.work.before, j.work.rate, j.work
	j.stepping, j.stepped, j.stops = true, true, j.e.cfg.Loop.StopState().Asked
	j.h.Accept()
	j.work = steps
	j.dispatch()
}

// replaces reports whether the goals of a controller take joints from older ones.
func (r *robotState) replaces(name string) bool {
	s, ok := r.seat(name)
	return ok && s.Replaces
}

// awaits returns a goal that takes steps first and would then take from some work what it asks for, nil if there is none: what is newer would be replaced by what is
// older.
func (b *goalBook) awaits(w *work, r *robotState) *job {
	for _, j := range b.live {
		if j.work != nil && j.work.then != nil && j.work.then.claim.Overlaps(w.claim) && slices.ContainsFunc(w.pool, r.replaces) {
			return j
		}
	}
	return nil
}

// stepping returns the goal that takes its steps with a controller, nil if there is none.
func (b *goalBook) stepping(s *seat) *job {
	for _, j := range b.live {
		if j.stepping && s != nil && j.seat == s {
			return j
		}
	}
	return nil
}

// patience is the help for a goal that is refused because this one takes steps first.
func (j *job) patience() string {
	return fmt.Sprintf("wait until %s is over, or cancel it", j.title())
}

// title is what people call the goal.
func (j *job) title() string {
	goal := j.goal
	if again, ok := goal.(Resumed); ok {
		goal = again.Goal
	}
	switch g := goal.(type) {
	case *Play:
		return fmt.Sprintf("motion %q", g.Name)
	case *Pose:
		return fmt.Sprintf("pose %q", g.Name)
	}
	return "goal " + j.id.String()
}

// calledOff returns why the goal ends with its steps though these are done: while the last of them ended it was called off, or the robot was stopped.
func (j *job) calledOff() control.Code {
	switch {
	case j.off || j.h.State() == action.Preempting || j.h.State() == action.Recalling:
		return control.Cancelled
	case j.e.cfg.Loop.StopState().Asked != j.stops:
		return control.Stopping
	}
	return control.OK
}

// goOn prepares the goal anew, from where its steps have brought the robot.
func (j *job) goOn() {
	j.stepping, j.time = false, 0
	j.free()
	j.e.prepareSoon(j)
}

// refusedSteps reports whether the goal goes on although its steps were refused: it is then as good as it was without them.
func (j *job) refusedSteps(r *loop.Report) bool {
	if !j.stepping || j.calledOff() != control.OK {
		return false
	}
	switch r.Reason.Code {
	case control.Cancelled, control.Declined, control.Replaced, control.Stopping, control.StoppedByFault, control.PowerOff:
		return false
	}
	j.goOn()
	return true
}
