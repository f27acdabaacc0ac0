package main

import (
	"math"

	"poise/internal/plot"
	"poise/planner"
	"poise/robot"
)

// drawPlan draws planned motions one behind the other: positions, velocities and
// accelerations with the limits that all drawn joints share, and the speed of the
// tool.
func drawPlan(m *robot.Model, motions []*planner.Motion, file string) error {
	c := plot.Chart{Title: m.Name() + ": planned motion", XLabel: "time, s"}
	var joints []robot.JointID
	index := map[robot.JointID]int{}
	for _, mo := range motions {
		for _, j := range mo.Joints {
			if _, seen := index[j]; !seen {
				index[j] = len(joints)
				joints = append(joints, j)
			}
		}
	}
	panels := []plot.Panel{{Title: "position, rad or m"}, {Title: "velocity, rad/s or m/s"}, {Title: "acceleration, rad/s² or m/s²"}}
	for k := range panels {
		for _, j := range joints {
			panels[k].Series = append(panels[k].Series, plot.Series{Name: m.Joints()[j].Name})
		}
	}
	tool := plot.Panel{Title: "speed of the tool, m/s", Series: []plot.Series{{Name: "tool"}}}
	begin := 0.0
	for _, mo := range motions {
		speeds := make([]float64, len(mo.Trajectory.Points))
		if mo.Group.Tip != robot.NoFrame {
			speeds = toolSpeed(m, mo, mo.Group.Tip)
		}
		for i, p := range mo.Trajectory.Points {
			c.X = append(c.X, begin+p.Time)
			for k, values := range [][]float64{p.Position, p.Velocity, p.Acceleration} {
				for s := range panels[k].Series {
					panels[k].Series[s].Y = append(panels[k].Series[s].Y, math.NaN())
				}
				for n, j := range mo.Joints {
					y := panels[k].Series[index[j]].Y
					y[len(y)-1] = values[n]
				}
			}
			tool.Series[0].Y = append(tool.Series[0].Y, speeds[i])
		}
		begin += mo.Trajectory.Duration()
	}
	panels[1].Limits = shared(m, joints, func(l robot.Limits) robot.Limit { return l.Velocity })
	panels[2].Limits = shared(m, joints, func(l robot.Limits) robot.Limit { return l.Acceleration })
	if l := m.CartesianLimits(); l != nil && l.MaxTransVel.Has {
		tool.Limits = []float64{l.MaxTransVel.Value}
	}
	c.Panels = append(panels, tool)
	return c.Save(file)
}

// shared returns the strictest limit of the joints, both ways; none if one has
// none.
func shared(m *robot.Model, joints []robot.JointID, of func(robot.Limits) robot.Limit) []float64 {
	least := math.Inf(1)
	for _, j := range joints {
		if l := of(m.Joints()[j].Limits); l.Has {
			least = min(least, l.Value)
		}
	}
	if math.IsInf(least, 1) {
		return nil
	}
	return []float64{-least, least}
}
