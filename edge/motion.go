package edge

import (
	"fmt"
	"math"

	"poise/control/follow"
	"poise/executive"
	"poise/motion"
	"poise/motion/forces"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
	"poise/trajectory"
)

// Document converts a message to a stored motion, completely: Motion converts it back to
// the same message.
func Document(m *poisemsgs.Motion) *motion.Document {
	d := &motion.Document{Description: m.Description, Tags: m.Tags, StartPose: m.StartPose, Loop: m.Loop,
		GoalTimeTolerance: m.GoalTimeTolerance, Columns: m.Columns, Chains: m.Chains, Order: m.Order}
	for _, j := range m.Joints {
		d.Joints = append(d.Joints, motion.Joint{Name: j.Name, Enabled: j.Enabled, Path: tolerance(j.PathTolerance), Goal: tolerance(j.GoalTolerance)})
	}
	for _, p := range m.Points {
		d.Points = append(d.Points, motion.Point{Time: p.Time, Label: p.Label, Enabled: p.Enabled, Mark: motion.Mark(p.Mark),
			Positions: p.Positions, Supports: p.Supports})
	}
	for _, e := range m.Events {
		d.Events = append(d.Events, follow.Event(e))
	}
	return d
}

func tolerance(list []poisemsgs.MotionTolerance) *trajectory.Tolerance {
	if len(list) == 0 {
		return nil
	}
	t := trajectory.Tolerance(list[0])
	return &t
}

// Motion converts a stored motion to a message.
func Motion(name string, d *motion.Document) poisemsgs.Motion {
	m := poisemsgs.Motion{Name: name, Description: d.Description, Tags: d.Tags, StartPose: d.StartPose, Loop: d.Loop,
		GoalTimeTolerance: d.GoalTimeTolerance, Columns: d.Columns, Chains: d.Chains, Order: d.Order}
	stated := func(t *trajectory.Tolerance) []poisemsgs.MotionTolerance {
		if t == nil {
			return nil
		}
		return []poisemsgs.MotionTolerance{poisemsgs.MotionTolerance(*t)}
	}
	for _, j := range d.Joints {
		m.Joints = append(m.Joints, poisemsgs.MotionJoint{Name: j.Name, Enabled: j.Enabled, PathTolerance: stated(j.Path), GoalTolerance: stated(j.Goal)})
	}
	for _, p := range d.Points {
		m.Points = append(m.Points, poisemsgs.MotionPoint{Time: p.Time, Label: p.Label, Enabled: p.Enabled, Mark: string(p.Mark),
			Positions: p.Positions, Supports: p.Supports})
	}
	for _, e := range d.Events {
		m.Events = append(m.Events, poisemsgs.MotionEvent(e))
	}
	return m
}

// motionGoal converts a goal of ExecuteMotion.
func motionGoal(m *poisemsgs.ExecuteMotionGoal) (executive.Goal, error) {
	g := &executive.Play{Name: m.Name, Loop: m.Loop, Approach: m.Approach, Share: m.ApproachShare,
		Part: motion.Part{Marked: m.Part, Backward: m.Backward}}
	if m.Name == "" {
		g.Name, g.Document = m.Motion.Name, Document(&m.Motion)
	}
	if m.Speed != 0 {
		if g.Part.Scale = 1 / m.Speed; !(m.Speed > 0) || math.IsInf(m.Speed, 0) {
			return nil, fmt.Errorf("speed is %v: it must be more than 0, 1 is as the motion was written", m.Speed)
		}
	}
	if m.Resume {
		return executive.Resumed{Goal: g}, nil
	}
	return g, nil
}

// motionFeedback returns the progress of a motion, in times of its table.
func motionFeedback(f *executive.Feedback) *poisemsgs.ExecuteMotionFeedback {
	phase := f.Phase
	if phase == executive.Stepping {
		phase = executive.Approaching // a part of it, for who draws where the motion is
	}
	return &poisemsgs.ExecuteMotionFeedback{State: string(phase), Time: f.Table, End: f.End, Progress: f.Progress, Rate: f.Rate}
}

// motionResult returns how a motion ended.
func motionResult(r *executive.Result) poisemsgs.ExecuteMotionResult {
	return poisemsgs.ExecuteMotionResult{Code: r.Code, Message: r.Text(), Explanations: Explanations(r.Explanations), Time: r.Table}
}

// Operation converts a message to an edit.
func Operation(m *poisemsgs.MotionOperation) motion.Operation {
	op := motion.Operation{Op: m.Op, Time: m.Time, Value: m.Value, Names: m.Names, Values: m.Values, Texts: m.Texts}
	for _, row := range m.Rows {
		op.Rows = append(op.Rows, int(row))
	}
	return op
}

// Curves converts samples to messages. A limit that the robot does not have is NaN,
// null in JSON.
func Curves(s *motion.Samples) (out []poisemsgs.Curve) {
	for _, c := range s.Curves {
		out = append(out, poisemsgs.Curve{Joint: c.Joint, Position: c.Position, Velocity: c.Velocity, Acceleration: c.Acceleration,
			Lower: bound(c.Limits.Lower), Upper: bound(c.Limits.Upper),
			MaxVelocity: bound(c.Limits.Velocity), MaxAcceleration: bound(c.Limits.Acceleration)})
	}
	return out
}

func bound(l robot.Limit) float64 {
	if !l.Has {
		return math.NaN()
	}
	return l.Value
}

// Forces converts the forces along a motion to a message; err is why there are none. What is not
// there, or not limited, is NaN, null in JSON.
func Forces(m *robot.Model, s *forces.Samples, err error) (out poisemsgs.MotionForces) {
	if err != nil {
		return poisemsgs.MotionForces{Message: err.Error()}
	}
	out = poisemsgs.MotionForces{Known: true, Margin: rounded(s.Margin), Weight: s.Weight}
	for _, j := range s.Joints {
		out.Joints = append(out.Joints, poisemsgs.EffortCurve{Joint: m.Joints()[j.Joint].Name, Effort: rounded(j.Torque), Least: rounded(j.Least), Most: rounded(j.Most)})
	}
	for _, f := range s.Feet {
		out.Feet = append(out.Feet, poisemsgs.FootCurve{Chain: m.Chains()[f.Chain].Name, Force: rounded(f.Force)})
	}
	return out
}

// rounded returns values to a hundred-thousandth: curves are many numbers, and are drawn.
func rounded(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if out[i] = math.Round(v*1e5) / 1e5; math.IsInf(v, 0) {
			out[i] = math.NaN()
		}
	}
	return out
}

// MotionProblems explains what is wrong with a motion or an edit of it.
func MotionProblems(err error) (all []problem.Problem) {
	for _, p := range problem.All("bad_motion", err) {
		x := *problem.New("bad_motion", "%s", p.Error())
		x.Joint, x.Value, x.Limit = p.Joint, p.Value, p.Limit
		all = append(all, x)
	}
	return all
}

// Findings converts findings of lint to messages.
func Findings(all []problem.Problem) (out []poisemsgs.Finding) {
	for _, f := range all {
		out = append(out, poisemsgs.Finding{Rule: string(f.Code), Text: f.Text, Joint: f.Joint, Row: int32(f.Row - 1),
			FromTime: f.At, ToTime: f.Until, WorstTime: f.WorstAt, Value: f.Value, Limit: f.Limit})
	}
	return out
}
