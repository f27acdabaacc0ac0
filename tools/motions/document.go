package main

import (
	"fmt"
	"math"
	"slices"

	"poise/motion"
	"poise/robot"
	"poise/trajectory"
)

// Tolerances of all motions, as experience with small servos suggests: half a
// radian on the way, ten degrees at the end; the pose of an arm matters more.
const (
	ponyPath, ponyGoal = 0.5, 0.174
	armPath, armGoal   = 0.2, 0.05
	fingerTolerance    = 0.01 // m, on the way; at the end half of it
)

// document makes rows at the given times. What changes takes part, and of a limb that
// is led every joint that has a servo: who moves a leg has to hold all of it.
func (p *performance) document(times []float64) (*motion.Document, error) {
	sc := p.score
	d := &motion.Document{Description: sc.description, Tags: sc.tags, StartPose: sc.start, Loop: sc.loop,
		GoalTimeTolerance: 1, Columns: p.joints, Events: sc.events}
	for _, t := range times {
		q, err := p.pose(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sc.name, err)
		}
		d.Points = append(d.Points, motion.Point{Time: t, Enabled: true, Positions: q})
	}
	p.label(d)
	for j, name := range p.joints {
		if p.tracks[name] != nil || changes(d.Points, j) || p.holds(robot.JointID(j)) {
			path, goal := p.tolerances(j)
			d.Joints = append(d.Joints, motion.Joint{Name: name, Enabled: true,
				Path: &trajectory.Tolerance{Position: path}, Goal: &trajectory.Tolerance{Position: goal}})
		}
	}
	p.supports(d)
	return d, nil
}

// label gives each label to the row nearest to its time.
func (p *performance) label(d *motion.Document) {
	for time, text := range p.score.labels {
		nearest := &d.Points[0]
		for i := range d.Points {
			if math.Abs(d.Points[i].Time-time) < math.Abs(nearest.Time-time) {
				nearest = &d.Points[i]
			}
		}
		nearest.Label = text
	}
}

// holds tells whether a joint leads to the tip of a limb that is led; what lies behind
// the tip exists in poses only.
func (p *performance) holds(j robot.JointID) bool {
	return slices.ContainsFunc(p.solved, func(l *limb) bool {
		chain := p.m.Chains()[l.chain]
		path, _ := p.m.Path(chain.Base, chain.Tip)
		return slices.Contains(path, j)
	})
}

// changes tells whether a column does not stay as it is.
func changes(rows []motion.Point, column int) bool {
	return slices.ContainsFunc(rows, func(r motion.Point) bool {
		return math.Abs(r.Positions[column]-rows[0].Positions[column]) > 1/decimals
	})
}

func (p *performance) tolerances(joint int) (path, goal float64) {
	switch limits := p.m.Joints()[joint].Limits; {
	case p.m.Floating():
		return ponyPath, ponyGoal
	case limits.Upper.Has && limits.Upper.Value < 0.1: // a finger
		return fingerTolerance, fingerTolerance / 2
	}
	return armPath, armGoal
}

// supports says from which row on a leg stands: it is free from the row at which it
// begins to rise to the one at which it is down again.
func (p *performance) supports(d *motion.Document) {
	for _, l := range p.solved {
		if !l.stands {
			continue
		}
		d.Chains = append(d.Chains, l.name)
		up := func(row int) bool {
			if row >= len(d.Points) {
				return false
			}
			return p.offset(l.name, d.Points[row].Time)[2] > 0
		}
		for row := range d.Points {
			share := 1.0
			if up(row) || up(row+1) {
				share = 0
			}
			d.Points[row].Supports = append(d.Points[row].Supports, share)
		}
	}
}
