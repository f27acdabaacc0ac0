package edge

import (
	"math"
	"slices"

	"poise/arbiter"
	"poise/loop"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/wholebody"
	"poise/wholebody/stage"
)

// Levels words how the whole body of a robot serves what is asked of it.
type Levels struct {
	m           *robot.Model
	names       *wholebody.Names
	controllers []string
}

// NewLevels returns the words of a robot whose controllers have these names, in the order of their seats.
func NewLevels(m *robot.Model, controllers []string) *Levels {
	return &Levels{m, wholebody.NewNames(m), controllers}
}

// Message words the levels of a snapshot.
func (v *Levels) Message(now *loop.Snapshot) *poisemsgs.LevelsState {
	w := &now.WholeBody
	out := &poisemsgs.LevelsState{Header: Header(now.Tick, WorldFrame), Status: w.State.Status.String(), Reason: w.State.Why.String(), Feasible: w.State.Feasible,
		Iterations: uint32(w.State.Iterations), Prevented: w.State.Prevented, BaseRatio: w.State.Base}
	if now.Cycle2 && out.Reason == "" && w.State.Supports != stage.Area {
		out.Reason = w.State.Supports.String()
	}
	if !math.IsInf(w.State.Margin, 0) {
		out.Margin = w.State.Margin
	}
	for i := range w.Levels {
		l := &w.Levels[i]
		level := poisemsgs.LevelState{Name: l.Name, Residual: l.Residual, Slack: l.Slack, Status: l.Status.String(), Iterations: uint32(l.Iterations), Safety: l.Safety,
			AskedBy: v.askedBy(now, l.Asked)}
		for _, row := range l.Active {
			level.Active = append(level.Active, v.names.Row(row))
		}
		out.Levels = append(out.Levels, level)
	}
	if now.Cycle2 {
		for i := range w.Limbs {
			l := &w.Limbs[i]
			out.Limbs = append(out.Limbs, poisemsgs.LevelLimbState{Name: v.m.Chains()[i].Name, Ratio: l.Ratio, Kept: l.Kept, Lands: l.Lands, Point: l.Point})
		}
	}
	return out
}

// askedBy names the controllers that own leaves, "robot" where what is asked for is no controller's.
func (v *Levels) askedBy(now *loop.Snapshot, leaves robot.Set) (names []string) {
	for leaf := range leaves.All {
		name := "robot"
		if who := now.Owner[leaf]; who != arbiter.NoClient && int(who) < len(v.controllers) {
			name = v.controllers[who]
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		names = []string{"robot"}
	}
	return names
}
