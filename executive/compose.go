package executive

import (
	"math"
	"slices"

	"poise/control/follow"
	"poise/planner"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/move"
)

// joinMotions makes one trajectory of motions of several groups, one after the other;
// joints of the others hold meanwhile.
func joinMotions(model *robot.Model, motions []*planner.Motion) follow.Goal {
	joints := moved(motions)
	g := follow.Goal{}
	at := make([]float64, len(joints))
	for k, j := range joints {
		g.Joints = append(g.Joints, model.Joints()[j].Name)
		at[k] = motions[0].Start[model.Joints()[j].Q]
	}
	end := 0.0
	for i, m := range motions {
		column := make([]int, len(m.Joints))
		for c, j := range m.Joints {
			column[c] = slices.Index(joints, j)
		}
		start := m.Trajectory.Start()
		for p := range m.Trajectory.Points {
			if i > 0 && p == 0 || p == crumb(m.Trajectory.Points) {
				continue // where the one before ends, or hardly before the end
			}
			src := &m.Trajectory.Points[p]
			dst := trajectory.Point{Time: end + src.Time - start, Position: slices.Clone(at),
				Velocity: make([]float64, len(at)), Acceleration: make([]float64, len(at))}
			for c, k := range column {
				dst.Position[k] = src.Position[c]
				if len(src.Velocity) > 0 && len(src.Acceleration) > 0 {
					dst.Velocity[k], dst.Acceleration[k] = src.Velocity[c], src.Acceleration[c]
				}
			}
			at = dst.Position
			g.Points = append(g.Points, dst)
		}
		end = g.End()
	}
	return g
}

// crumb returns the point before the last if it lies so near to it that no curve
// through both keeps its limits: a plan sampled at a fixed period ends with what is
// left of one, be it a ten-thousandth of it. −1 is none.
func crumb(points []trajectory.Point) int {
	const share = 0.25 // of the interval before
	n := len(points)
	if n < 3 || points[n-1].Time-points[n-2].Time >= share*(points[n-2].Time-points[n-3].Time) {
		return -1
	}
	return n - 2
}

// moved returns all joints of some motions, each once, in array order.
func moved(motions []*planner.Motion) (joints []robot.JointID) {
	for _, m := range motions {
		for _, j := range m.Joints {
			if !slices.Contains(joints, j) {
				joints = append(joints, j)
			}
		}
	}
	slices.Sort(joints)
	return joints
}

// Shape of the way back to where a motion began.
const (
	returnRest = 0.1 // s that the motion rests at its end
	returnMin  = 0.2 // s that the way takes at least
)

// returnSpeed says how fast a way back is.
type returnSpeed struct {
	Share float64 // of the joints' limits
	Speed float64 // rad/s or m/s where a joint has no velocity limit
}

// appendReturn appends the way back to a pose (of each joint of the robot) to a goal. It
// is a cubic or quintic from rest to rest; its peaks are at most 15/8·d/T and
// 6·d/T².
func appendReturn(g *follow.Goal, m *robot.Model, limits []move.Limits, limit returnSpeed, pose []float64) {
	n := len(g.Points)
	if n == 0 || len(g.Points[n-1].Position) != len(g.Joints) {
		return // the compiler says what is wrong
	}
	last := g.Points[n-1]
	back := slices.Clone(last.Position)
	duration := returnMin
	for k, name := range g.Joints {
		id, ok := m.Joint(name)
		if !ok {
			continue
		}
		back[k] = pose[id]
		d, l := math.Abs(back[k]-last.Position[k]), limits[id]
		speed := l.VelMax
		if math.IsInf(speed, 1) {
			speed = limit.Speed / limit.Share
		}
		duration = max(duration, 1.875*d/(limit.Share*speed), math.Sqrt(6*d/(limit.Share*l.AccMax)))
	}
	rest := func(t float64, q []float64) trajectory.Point {
		p := trajectory.Point{Time: t, Position: q}
		if len(last.Velocity) > 0 {
			p.Velocity = make([]float64, len(q))
		}
		if len(last.Acceleration) > 0 {
			p.Acceleration = make([]float64, len(q))
		}
		return p
	}
	g.Points = append(slices.Clone(g.Points), rest(last.Time+returnRest, last.Position), rest(last.Time+returnRest+duration, back))
}

// slower returns a goal played at a share of its speed, along the same path.
func slower(g *follow.Goal, speed float64) follow.Goal {
	out := *g
	out.Points, out.Events = make([]trajectory.Point, len(g.Points)), slices.Clone(g.Events)
	scaled := func(x []float64, by float64) []float64 {
		y := slices.Clone(x)
		for i := range y {
			y[i] *= by
		}
		return y
	}
	for i, p := range g.Points {
		out.Points[i] = trajectory.Point{Time: p.Time / speed, Position: slices.Clone(p.Position),
			Velocity: scaled(p.Velocity, speed), Acceleration: scaled(p.Acceleration, speed*speed)}
	}
	for i := range out.Events {
		out.Events[i].Time /= speed
	}
	return out
}
