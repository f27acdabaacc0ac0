package executive

import (
	"poise/control/pose"
	"poise/problem"
)

// Pose goes to a named pose of the robot.
type Pose struct {
	Name  string
	Speed float64 // share of the limits of velocity, 0 … 1; 0 is 1
}

// Action returns the name of its action.
func (g *Pose) Action() string { return "pose" }

func (g *Pose) prepare(v *view) (*work, []Explanation) {
	named, ok := v.cfg.Model.Pose(g.Name)
	if !ok {
		return nil, []Explanation{*problem.Unknown("unknown_pose", "pose", g.Name, v.poseNames())}
	}
	p, err := pose.Named(v.cfg.Model, g.Name, g.Speed)
	if err != nil {
		return nil, problem.All("bad_pose", err)
	}
	w := newWork(v.cfg.pool(pose.Kind.Name), p)
	if len(w.pool) == 0 {
		return nil, []Explanation{*problem.New("no_controller", "no controller goes to poses")}
	}
	w.steps = v.stepsTo(v.posed(named))
	return w, nil
}
