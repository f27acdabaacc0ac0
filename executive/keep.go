package executive

import (
	"strings"

	"poise/control/follow"
	"poise/motion"
	"poise/planner"
	"poise/robot"
	"poise/servo"
)

// Kept is the last trajectory that was received or planned: it can be stored as a
// motion.
type Kept struct {
	Source string // "follow", "execute", "motion", "plan" or "move"
	Tick   servo.Tick
	Goal   follow.Goal
	Pose   []float64 // of each joint of the robot, when it came
}

func (v *view) keep(source string, g *follow.Goal) {
	goal := *g
	goal.Begin = 0
	v.kept = &Kept{Source: source, Goal: goal, Tick: v.now.Tick, Pose: v.now.Command.Q}
}

func (v *view) keepMotions(source string, motions []*planner.Motion) {
	if len(motions) > 0 {
		g := joinMotions(v.cfg.Model, motions)
		v.keep(source, &g)
	}
}

// Document makes a stored motion of the trajectory. Its rows capture all joints of
// the robot; dense samples are thinned to the key points that give the same motion
// within a milliradian.
func (k *Kept) Document(m *robot.Model) (*motion.Document, error) {
	d, err := motion.FromGoal(m, &k.Goal, k.Pose)
	if err == nil {
		d.Description = strings.TrimSpace("kept from " + k.Source + " " + d.Description)
	}
	return d, err
}
