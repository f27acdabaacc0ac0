package main

import (
	"math"

	"poise/internal/plot"
	"poise/planner"
	"poise/robot"
)

// drawPlan draws planned motions one behind the other: positions, velocities and
// accelerations of the joints, each with its own limits, and the speed of the tool.
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
	for _, j := range joints {
		joint := &m.Joints()[j]
		for k, limits := range limitLines(joint) {
			panels[k].Series = append(panels[k].Series, plot.Series{Name: joint.Name, Limits: limits})
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
	if l := m.CartesianLimits(); l != nil && l.MaxTransVel.Has {
		tool.Limits = []float64{l.MaxTransVel.Value}
	}
	c.Panels = append(panels, tool)
	return c.Save(file)
}

// limitLines returns what bounds position, velocity and acceleration of a joint.
func limitLines(j *robot.Joint) (lines [3][]float64) {
	add := func(k int, l robot.Limit, signs ...float64) {
		for _, sign := range signs {
			if l.Has {
				lines[k] = append(lines[k], sign*l.Value)
			}
		}
	}
	if j.Kind != robot.Continuous {
		add(0, j.Limits.Lower, 1)
		add(0, j.Limits.Upper, 1)
	}
	add(1, j.Limits.Velocity, -1, 1)
	add(2, j.Limits.Acceleration, -1, 1)
	if d := j.Limits.Deceleration; d.Value != -j.Limits.Acceleration.Value {
		add(2, d, -1, 1)
	}
	return lines
}
