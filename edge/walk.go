package edge

import (
	"fmt"
	"math"

	"poise/control"
	"poise/control/walk"
	"poise/executive"
	"poise/gait"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
	"poise/servo"
)

// WalkTo walks to a place, or by footsteps.
var WalkTo = Translation[poisemsgs.WalkToGoal, poisemsgs.WalkToFeedback, poisemsgs.WalkToResult]{
	Goal: func(m *robot.Model, g *poisemsgs.WalkToGoal) (executive.Goal, error) {
		return goalOr(walkGoal(m, g))
	},
	Feedback: walkFeedback,
	Result: func(_ *robot.Model, r *executive.Result) poisemsgs.WalkToResult {
		return poisemsgs.WalkToResult{Code: r.Code, Message: r.Text(), Explanations: Explanations(r.Explanations)}
	},
}

// walkGoal converts a place to walk to. Without a frame it is one of the world, as odometry has it.
func walkGoal(m *robot.Model, g *poisemsgs.WalkToGoal) (*executive.WalkTo, error) {
	base, known := InBase(m, &g.Target.Header)
	if !known {
		return nil, unknownFrame(m, g.Target.Header.FrameID)
	}
	goal := &executive.WalkTo{InBase: base, Gait: g.Gait, Speed: g.Speed, Near: g.PositionTolerance, NearYaw: g.OrientationTolerance}
	for i, s := range g.Footsteps {
		for _, x := range []float64{s.X, s.Y, s.Yaw} {
			if !(math.Abs(x) <= farthest) {
				return nil, fmt.Errorf("footsteps[%d]: %g is not within -%g … %g", i, x, farthest, farthest)
			}
		}
		goal.Steps = append(goal.Steps, executive.Footstep{Limb: s.Limb, X: s.X, Y: s.Y, Yaw: s.Yaw})
	}
	if len(goal.Steps) > 0 {
		return goal, nil
	}
	X, ok := PoseOf(g.Target.Pose)
	if !ok {
		return nil, fmt.Errorf("target.pose: the orientation has no length: {w: 1} looks along x")
	}
	for _, x := range []float64{X.P.X, X.P.Y, X.P.Z} { // no height counts, but one that is no number would make all three so
		if !(math.Abs(x) <= farthest) {
			return nil, fmt.Errorf("target.pose.position: %g m is not within -%g … %g m", x, farthest, farthest)
		}
	}
	goal.To = X
	return goal, nil
}

// farthest is how far away a place may be, m.
const farthest = 1e4

// walkFeedback says how far it is.
func walkFeedback(f *executive.Feedback) *poisemsgs.WalkToFeedback {
	return &poisemsgs.WalkToFeedback{Base: msgs.PoseStamped{Header: msgs.Header{Stamp: Stamp(f.Tick), FrameID: WorldFrame}, Pose: Pose(f.Base)},
		DistanceRemaining: f.Remaining, TurnRemaining: f.RemainingTurn, Time: f.Time}
}

// WalkParameters reads the parameters of a gait.
func WalkParameters(m *robot.Model, now servo.Tick, v *poisemsgs.GaitParameters) (control.Program, error) {
	g := robot.Gait{Name: v.Gait, Period: v.Period, Duty: v.Duty, Lift: v.Lift, Speed: v.Speed}
	n := len(v.Limbs)
	if len(v.Phase) != 0 && len(v.Phase) != n {
		return nil, fmt.Errorf("%d limbs and %d phases: there must be one each, or none", n, len(v.Phase))
	}
	if legs := standing(m); n != 0 && n < legs {
		return nil, fmt.Errorf("limbs has %d of the %d legs: it has all, or none", n, legs)
	}
	for i, name := range v.Limbs {
		id, ok := m.Chain(name)
		if !ok || m.Chains()[id].Contact == robot.NoContact {
			return nil, fmt.Errorf("limb %q is no leg%s", name, problem.Hint(name, m.ChainNames()))
		}
		if _, twice := g.Phase[id]; twice {
			return nil, fmt.Errorf("limb %q is named twice", name)
		}
		if g.Phase == nil {
			g.Phase = map[robot.ChainID]float64{}
		}
		g.Phase[id] = float64(i) / float64(n)
		if len(v.Phase) > 0 {
			if g.Phase[id] = v.Phase[i]; !(v.Phase[i] >= 0 && v.Phase[i] < 1) {
				return nil, fmt.Errorf("phase of %q: %g is not at least 0 and below 1 (1 is 0 of the next round)", name, v.Phase[i])
			}
		}
	}
	p, err := walk.Tune(m, &g)
	if err != nil {
		return nil, err
	}
	p.At = now.Time
	return p, nil
}

// standing counts the limbs that a robot stands on.
func standing(m *robot.Model) (n int) {
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			n++
		}
	}
	return n
}

// WalkGround reads what is known of the ground: boxes of the world, as odometry has it.
func WalkGround(m *robot.Model, now servo.Tick, v *poisemsgs.KnownGround) (control.Program, error) {
	if base, known := InBase(m, &v.Header); !known || base {
		return nil, fmt.Errorf("frame_id is %q: boxes stand in %q (or empty)", v.Header.FrameID, WorldFrame)
	}
	boxes := make([]gait.Box, 0, len(v.Boxes))
	for _, b := range v.Boxes {
		boxes = append(boxes, gait.Box{At: gait.Point{X: b.X, Y: b.Y}, Yaw: b.Yaw, Length: b.Length, Width: b.Width, Height: b.Height})
	}
	g, err := walk.Boxes(m, boxes)
	if err != nil {
		return nil, err
	}
	g.At = now.Time
	return g, nil
}
