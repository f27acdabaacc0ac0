package planner

import (
	"math"
	"slices"

	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// Scaling factors lie in (minScaling, 1]; the lower end is excluded, as in Pilz.
const minScaling = 0.0001

// restSpeed is the joint speed below which a start state counts as at rest.
const restSpeed = 1e-8

// leastSpeed is what a limit on a link's speed must be at least, m/s: with less
// nothing arrives.
const leastSpeed = 1e-9

// Scene is what a request meets: the robot and where it is. It keeps memory for its
// next request, and serves one goroutine.
type Scene struct {
	Model   *robot.Model
	Current []float64 // whole configuration
	// AllowMoving lets a start state have speed.
	AllowMoving bool
	// AnySpeedLink takes the speed limit of a link that does not exist for the
	// tool's, and does without if none is named, as Pilz does.
	AnySpeedLink bool
	// Extensions takes what Pilz has no words for: a circle's path constraint
	// named "circle", or "center" and "interim" followed by ":angle=1.2" or
	// ":angle=270deg"; a sphere around a waypoint of a polyline as the radius of
	// its corner.
	Extensions bool

	start, end *kinematics.Data
	solver     *ik.Solver // of the joints and the link last asked for
	joints     []robot.JointID
	link       robot.FrameID
}

// Resolve gives a request's names a meaning and checks everything that can be
// checked before geometry begins. The order of the checks is Pilz's: a request
// with several mistakes is refused for the same one.
func (s *Scene) Resolve(req *Request) (*Task, *Refusal) {
	if s.start == nil {
		s.start = kinematics.NewData(s.Model)
	}
	r := resolver{Scene: s, req: req, data: s.start}
	for _, step := range []func() *Refusal{
		r.scaling, r.group, r.start, r.goalShape, r.viaShape, r.goal, r.via, r.speed,
	} {
		if why := step(); why != nil {
			return nil, why
		}
	}
	return &r.task, nil
}

// solverOf returns a solver for joints that carry a link.
func (s *Scene) solverOf(joints []robot.JointID, link robot.FrameID) (*ik.Solver, error) {
	if s.solver != nil && s.link == link && slices.Equal(s.joints, joints) {
		return s.solver, nil
	}
	solver, err := ik.New(s.Model, ik.Options{}, joints, link)
	if err == nil {
		s.solver, s.joints, s.link = solver, joints, link
	}
	return solver, err
}

// resolver fills a Task step by step.
type resolver struct {
	*Scene
	req  *Request
	task Task
	data *kinematics.Data // at the start configuration once that is known
}

func (r *resolver) scaling() *Refusal {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"max_velocity_scaling_factor", r.req.VelocityScaling},
		{"max_acceleration_scaling_factor", r.req.AccelerationScaling},
	} {
		if !(f.value > minScaling && f.value <= 1) {
			why := Refuse(BadRequest, "%s is %g, and must be above %g and at most 1", f.name, f.value, minScaling)
			why.Value, why.Limit = f.value, 1
			return why
		}
	}
	r.task.Command = r.req.Command
	r.task.VelocityScaling, r.task.AccelerationScaling = r.req.VelocityScaling, r.req.AccelerationScaling
	r.task.Smoothness = r.req.Smoothness
	return nil
}

func (r *resolver) group() *Refusal {
	if r.req.Command == Unknown {
		return Refuse(UnknownCommand, "planner_id %q is unknown", r.req.CommandName).
			With("use PTP, LIN, CIRC or POLYLINE%s", problem.Hint(r.req.CommandName, []string{"PTP", "LIN", "CIRC", "POLYLINE"}))
	}
	id, ok := r.Model.Group(r.req.Group)
	if !ok {
		return Refuse(UnknownGroup, "group %q is unknown", r.req.Group).
			With("%s", problem.Unknown("", "group", r.req.Group, r.Model.GroupNames()).Help)
	}
	r.task.Group = &r.Model.Groups()[id]
	for _, j := range r.task.Group.Joints {
		if r.Model.Joints()[j].Kind.NumQ() == 1 {
			r.task.Joints = append(r.task.Joints, j)
		}
	}
	if len(r.task.Joints) == 0 {
		return Refuse(UnknownGroup, "group %q has no joint that can be planned for", r.req.Group)
	}
	return nil
}

func (r *resolver) start() *Refusal {
	st := &r.req.Start
	r.task.Start = slices.Clone(r.Current)
	r.task.StartVelocity = make([]float64, len(r.task.Joints))
	if !st.Empty() {
		if why := r.givenStart(st); why != nil {
			return why
		}
	}
	for _, j := range r.task.Joints {
		joint := &r.Model.Joints()[j]
		if q := r.task.Start[joint.Q]; !joint.Limits.Contains(q) && joint.Kind != robot.Continuous {
			why := Refuse(BadState, "start state: joint %q is at %g, outside its limits %s", joint.Name, q, joint.Limits.Range())
			why.Joint, why.Value, why.Limit = joint.Name, q, nearestBound(joint.Limits, q)
			return why.With("move the joint inside first")
		}
	}
	r.data.UpdatePosition(r.task.Start)
	return nil
}

func nearestBound(l robot.Limits, q float64) float64 {
	if l.Upper.Has && q > l.Upper.Value {
		return l.Upper.Value
	}
	return l.Lower.Value
}

func (r *resolver) givenStart(st *StartState) *Refusal {
	if len(st.Names) != len(st.Position) {
		return Refuse(BadState, "start state names %d joints and gives %d positions", len(st.Names), len(st.Position))
	}
	if len(st.Velocity) != 0 && len(st.Velocity) != len(st.Names) {
		return Refuse(BadState, "start state names %d joints and gives %d velocities", len(st.Names), len(st.Velocity))
	}
	if r.Extensions && len(st.Effort) != 0 && len(st.Effort) != len(st.Names) {
		return Refuse(BadState, "start state names %d joints and gives %d efforts", len(st.Names), len(st.Effort))
	}
	seen := map[string]bool{}
	for i, name := range st.Names {
		id, ok := r.Model.Joint(name)
		if !ok || r.Model.Joints()[id].Kind.NumQ() != 1 {
			if r.isFollower(name) {
				continue // its leader says it all
			}
			return Refuse(BadState, "start state: joint %q is unknown%s", name, problem.Hint(name, r.Model.JointNames()))
		}
		if seen[name] {
			return Refuse(BadState, "start state: joint %q is named twice", name)
		}
		seen[name] = true
		if q := st.Position[i]; math.IsNaN(q) || math.IsInf(q, 0) {
			return Refuse(BadState, "start state: joint %q is at %g, which is not finite", name, q)
		}
		r.task.Start[r.Model.Joints()[id].Q] = st.Position[i]
		if len(st.Velocity) == 0 {
			continue
		}
		k := slices.Index(r.task.Joints, id)
		if k < 0 {
			continue
		}
		v := st.Velocity[i]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Refuse(BadState, "start state: joint %q moves at %g, which is not finite", name, v)
		}
		if math.Abs(v) >= restSpeed {
			if !r.AllowMoving {
				why := Refuse(BadState, "start state: joint %q moves at %g rad/s, and must be at rest", name, v)
				why.Joint, why.Value, why.Limit = name, v, restSpeed
				return why
			}
			r.task.StartVelocity[k] = v
		}
	}
	return nil
}

func (r *resolver) isFollower(name string) bool {
	return slices.ContainsFunc(r.Model.Bodies(), func(b robot.Body) bool { return b.Mimic && b.Name == name })
}

// goalShape checks what was said about the goal, before what it means.
func (r *resolver) goalShape() *Refusal {
	if len(r.req.Goals) != 1 {
		return Refuse(BadGoal, "%d goals given, want exactly one", len(r.req.Goals))
	}
	g := &r.req.Goals[0]
	joints := len(g.Joints) > 0
	pose := len(g.Positions) == 1 && len(g.Orientations) == 1
	if joints == pose || (joints && len(g.Positions)+len(g.Orientations) > 0) {
		return Refuse(BadGoal, "the goal has %d joint, %d position and %d orientation constraints", len(g.Joints), len(g.Positions), len(g.Orientations)).
			With("give either joint constraints, or one position and one orientation constraint")
	}
	if joints {
		return r.jointGoalShape(g.Joints)
	}
	p, o := &g.Positions[0], &g.Orientations[0]
	switch {
	case p.Link == "":
		return Refuse(BadGoal, "the position constraint names no link")
	case o.Link == "":
		return Refuse(BadGoal, "the orientation constraint names no link")
	case p.Link != o.Link:
		return Refuse(BadGoal, "the position constraint is about link %q, the orientation constraint about %q", p.Link, o.Link)
	}
	link, ok := r.Model.Frame(p.Link)
	if !ok || !r.carries(link) {
		return Refuse(NoSolution, "group %q does not move link %q as its tip", r.req.Group, p.Link).With("%s", r.tipHelp())
	}
	r.task.Link = link
	if len(p.Points) == 0 {
		return Refuse(BadGoal, "the position constraint has no primitive pose")
	}
	if r.Extensions && len(p.Points) > 1 {
		return Refuse(BadGoal, "the position constraint has %d primitive poses, and a goal is one place", len(p.Points))
	}
	return nil
}

func (r *resolver) tipHelp() string {
	if r.task.Group.Tip == robot.NoFrame {
		return "the group has no single tip"
	}
	return "use its tip " + r.Model.Frames()[r.task.Group.Tip].Name + ", or a link that is fixed to it"
}

// carries reports whether the whole chain of the group moves the link: it is the
// tip, or hangs on it.
func (r *resolver) carries(link robot.FrameID) bool {
	tip := r.task.Group.Tip
	if tip == robot.NoFrame {
		return false
	}
	frames, bodies := r.Model.Frames(), r.Model.Bodies()
	for b := frames[link].Body; b != robot.World; b = bodies[b].Parent {
		if b == frames[tip].Body {
			return true
		}
	}
	return frames[tip].Body == robot.World
}

func (r *resolver) jointGoalShape(goals []JointGoal) *Refusal {
	r.task.Named = make([]bool, len(r.task.Joints))
	r.task.Goal = slices.Clone(r.task.Start)
	for _, g := range goals {
		id, ok := r.Model.Joint(g.Joint)
		k := slices.Index(r.task.Joints, id)
		if !ok || k < 0 {
			var names []string
			for _, j := range r.task.Joints {
				names = append(names, r.Model.Joints()[j].Name)
			}
			return Refuse(BadGoal, "goal: joint %q is not in group %q%s", g.Joint, r.req.Group, problem.Hint(g.Joint, names))
		}
		j := &r.Model.Joints()[id]
		switch {
		case r.task.Named[k]:
			return Refuse(BadGoal, "goal: joint %q is named twice", g.Joint)
		case math.IsNaN(g.Position) || math.IsInf(g.Position, 0):
			return Refuse(BadGoal, "goal: joint %q is to go to %g, which is not finite", g.Joint, g.Position)
		case j.Kind != robot.Continuous && !j.Limits.Contains(g.Position):
			why := Refuse(BadGoal, "goal: joint %q is to go to %g, outside its limits %s", g.Joint, g.Position, j.Limits.Range())
			why.Joint, why.Value, why.Limit = g.Joint, g.Position, nearestBound(j.Limits, g.Position)
			return why
		}
		r.task.Named[k] = true
		r.task.Goal[j.Q] = g.Position
	}
	return nil
}

// goal finds the pose and the joints of the goal.
func (r *resolver) goal() *Refusal {
	t := &r.task
	if t.Goal != nil {
		return r.jointGoal()
	}
	t.Cartesian = true
	g := &r.req.Goals[0]
	p, o := &g.Positions[0], &g.Orientations[0]
	X, why := r.frame(p.Frame)
	if why != nil {
		return why
	}
	Xo := X
	if o.Frame != "" && o.Frame != p.Frame {
		if Xo, why = r.frame(o.Frame); why != nil {
			return why
		}
	}
	q, ok := o.Orientation.Unit()
	if !ok {
		return Refuse(BadGoal, "the goal's orientation is %v, which is not a quaternion", o.Orientation)
	}
	if !p.Points[0].Position.Finite() || !p.Offset.Finite() {
		return Refuse(BadGoal, "the goal's position %v or offset %v is not finite", p.Points[0].Position, p.Offset)
	}
	t.GoalPose.R = Xo.R.Mul(q.Matrix())
	t.GoalPose.P = X.Apply(p.Points[0].Position).Sub(t.GoalPose.R.MulVec(p.Offset))
	t.StartPose = r.data.Pose(r.data.At(t.Link))
	solver, err := r.solverOf(t.Joints, t.Link)
	if err != nil {
		return Refuse(NoSolution, "%v", err)
	}
	t.Goal = make([]float64, r.Model.NumQ())
	res := solver.PoseTo(t.Goal, t.GoalPose, t.Start)
	if res.Status != ik.Solved {
		return r.unreachable("the goal", t.GoalPose, res)
	}
	t.Named = make([]bool, len(t.Joints))
	for i := range t.Named {
		t.Named[i] = true
	}
	return nil
}

func (r *resolver) unreachable(what string, X spatial.Pose, res ik.Result) *Refusal {
	return Unreachable(r.Model, what, X, res)
}

// Unreachable words the answer of the inverse kinematics to a pose.
func Unreachable(m *robot.Model, what string, X spatial.Pose, res ik.Result) *Refusal {
	refusal := Refuse(NoSolution, "%s at (%.4g, %.4g, %.4g) m is not reached: the nearest joint position found stays %.3g m and %.3g rad away",
		what, X.P.X, X.P.Y, X.P.Z, res.PositionError, res.RotationError)
	refusal.Value = res.PositionError
	if res.Status == ik.AtLimits {
		j := &m.Joints()[res.Joint]
		refusal.Joint, refusal.Limit = j.Name, nearestBound(j.Limits, math.Inf(1))
		refusal.Help = "joint " + j.Name + " would have to go " + short(res.Excess) + " beyond its limits " + j.Limits.Range()
	}
	return refusal
}

// jointGoal finds the pose of a goal given in joints, for commands that need one.
func (r *resolver) jointGoal() *Refusal {
	t := &r.task
	if t.Command == PTP {
		return nil
	}
	for k, named := range t.Named {
		if !named {
			return Refuse(BadGoal, "the goal names %d of the group's %d joints, and %s needs all: %q is missing",
				len(r.req.Goals[0].Joints), len(t.Joints), t.Command, r.Model.Joints()[t.Joints[k]].Name)
		}
	}
	t.Link = t.Group.Tip
	if t.Link == robot.NoFrame {
		return Refuse(NoSolution, "group %q has no single tip that could follow a path", t.Group.Name)
	}
	if t.Command == CIRC {
		name := r.req.Via.Points[0].Link
		link, ok := r.Model.Frame(name)
		if !ok {
			return Refuse(UnknownLink, "the circle's auxiliary point is about link %q, which is unknown%s", name, problem.Hint(name, r.Model.FrameNames()))
		}
		if !r.carries(link) {
			return Refuse(NoSolution, "group %q does not move link %q as its tip", t.Group.Name, name).With("%s", r.tipHelp())
		}
		t.Link = link
	}
	t.StartPose = r.data.Pose(r.data.At(t.Link))
	if r.end == nil {
		r.end = kinematics.NewData(r.Model)
	}
	end := r.end
	end.UpdatePosition(t.Goal)
	t.GoalPose = end.Pose(end.At(t.Link))
	return nil
}

// speed finds the link whose speed is limited.
func (r *resolver) speed() *Refusal {
	t := &r.task
	if math.IsNaN(r.req.MaxSpeed) || math.IsInf(r.req.MaxSpeed, 0) {
		return Refuse(BadRequest, "max_cartesian_speed is %g", r.req.MaxSpeed)
	}
	if !(r.req.MaxSpeed > 0) || r.req.SpeedLink == "" && r.AnySpeedLink {
		return nil
	}
	if r.req.MaxSpeed < leastSpeed {
		why := Refuse(BadRequest, "max_cartesian_speed is %g m/s, and must be at least %g, or 0 for no limit", r.req.MaxSpeed, leastSpeed)
		why.Value, why.Limit = r.req.MaxSpeed, leastSpeed
		return why
	}
	link, ok := r.Model.Frame(r.req.SpeedLink)
	switch {
	case !ok && r.AnySpeedLink:
		link, ok = t.Link, true
	case r.req.SpeedLink == "" && (t.Cartesian || t.Command != PTP):
		link, ok = t.Link, true
	case r.req.SpeedLink == "" && t.Group.Tip != robot.NoFrame:
		link, ok = t.Group.Tip, true
	}
	if !ok {
		return Refuse(UnknownLink, "max_cartesian_speed is given, and cartesian_speed_limited_link %q is unknown%s", r.req.SpeedLink,
			problem.Hint(r.req.SpeedLink, r.Model.FrameNames()))
	}
	t.MaxSpeed, t.SpeedLink = r.req.MaxSpeed, link
	return nil
}

// frame returns the pose of a frame at the start: the robot's root for "", or any
// of its links.
func (r *resolver) frame(name string) (spatial.Pose, *Refusal) {
	if name == "" {
		name = r.Model.Frames()[0].Name
	}
	id, ok := r.Model.Frame(name)
	if !ok {
		if name == "world" { // what tools call the root when they do not know its name
			return r.data.Pose(r.data.At(0)), nil
		}
		return spatial.Pose{}, Refuse(UnknownFrame, "frame %q is unknown", name).
			With("use a link of the robot, or leave it empty for its root%s", problem.Hint(name, r.Model.FrameNames()))
	}
	return r.data.Pose(r.data.At(id)), nil
}
