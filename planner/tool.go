package planner

import (
	"math"

	"poise/robot"
)

// Tool bounds how a tool moves along its path, all ≥ 0.
type Tool struct {
	Speed, Acceleration, Deceleration           float64 // m
	Turning, TurnAcceleration, TurnDeceleration float64 // rad
}

// FreeTool bounds nothing.
var FreeTool = Tool{inf, inf, inf, inf, inf, inf}

var inf = math.Inf(1)

// Min returns what keeps both.
func (a Tool) Min(b Tool) Tool {
	return Tool{
		min(a.Speed, b.Speed), min(a.Acceleration, b.Acceleration), min(a.Deceleration, b.Deceleration),
		min(a.Turning, b.Turning), min(a.TurnAcceleration, b.TurnAcceleration), min(a.TurnDeceleration, b.TurnDeceleration),
	}
}

// ToolLimits returns the Cartesian limits that a task may use, not scaled. A
// speed limit on the very link that follows the path takes the place of
// max_trans_vel, if it is lower. Rotational accelerations follow from the others
// by Pilz's rule: max_trans_acc / max_trans_vel · max_rot_vel.
func (task *Task) ToolLimits(m *robot.Model) (t Tool, why *Refusal) {
	l := m.CartesianLimits()
	if l == nil {
		return t, Refuse(MissingLimit, "%s needs Cartesian limits, and the robot has none: max_trans_vel, max_trans_acc, max_trans_dec and max_rot_vel", task.Command).
			With(GiveCartesian)
	}
	for _, k := range []struct {
		name  string
		limit robot.Limit
	}{{"max_trans_vel", l.MaxTransVel}, {"max_trans_acc", l.MaxTransAcc}, {"max_rot_vel", l.MaxRotVel}} {
		if !k.limit.Has {
			return t, Refuse(MissingLimit, "%s needs the Cartesian limit %s, which is not given", task.Command, k.name).
				With("add %s to pilz_cartesian_limits.yaml", k.name)
		}
	}
	t.Speed, t.Acceleration, t.Deceleration = l.MaxTransVel.Value, l.MaxTransAcc.Value, l.MaxTransAcc.Value
	if l.MaxTransDec.Has {
		t.Deceleration = -l.MaxTransDec.Value
	}
	if task.MaxSpeed > 0 && task.SpeedLink == task.Link {
		t.Speed = min(t.Speed, task.MaxSpeed)
	}
	t.Turning = l.MaxRotVel.Value
	t.TurnAcceleration = t.Acceleration / t.Speed * t.Turning
	t.TurnDeceleration = t.Deceleration / t.Speed * t.Turning
	return t, nil
}

// GiveCartesian says what to write for a robot without Cartesian limits.
const GiveCartesian = "write pilz_cartesian_limits.yaml in the robot's folder, with its own numbers (m/s, m/s², rad/s) in place of these: " + robot.ProposedCartesian

// turnOnTheSpot is the way per radian below which a motion is a turn: then it is
// the turn that is commanded, and scaled, m/rad.
const turnOnTheSpot = 0.02

// Scaled returns the limits of a part of a path that turns by angle over a
// distance. Scaling is a command to the tool's way; rotation is no reason to fall
// below it as long as its own limits hold. Only a turn on the spot is scaled
// itself.
func (t Tool) Scaled(velocity, acceleration, distance, angle float64) Tool {
	t.Speed *= velocity
	t.Acceleration *= acceleration
	t.Deceleration *= acceleration
	if distance < turnOnTheSpot*angle {
		t.Turning *= velocity
		t.TurnAcceleration *= acceleration
		t.TurnDeceleration *= acceleration
	}
	return t
}
