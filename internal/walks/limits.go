package walks

import (
	"fmt"
	"math"

	"poise/robot"
)

// Limits watches how far the commands of a cycle keep the limits of its joints.
type Limits struct {
	Acceleration float64 // largest share of a joint's limit
	Velocity     float64 // the same
	Outside      float64 // farthest that a joint is beyond its range, rad
	Change       float64 // largest change of an acceleration in a tick, as a share of its limit

	m       *robot.Model
	period  float64 // s
	q, v, a []float64
	looks   []int // at each joint since it was let out
}

// NewLimits makes one for the period of a cycle, s.
func NewLimits(m *robot.Model, period float64) *Limits {
	n := len(m.Joints())
	return &Limits{m: m, period: period, q: make([]float64, n), v: make([]float64, n), a: make([]float64, n), looks: make([]int, n)}
}

// Look takes the command of a tick, after each. Joints that are let out follow what is measured: nil lets none out.
func (l *Limits) Look(q []float64, out func(robot.JointID) bool) {
	for j, x := range q {
		v := (x - l.q[j]) / l.period
		a := (v - l.v[j]) / l.period
		change := a - l.a[j]
		l.q[j], l.v[j], l.a[j] = x, v, a
		if out != nil && out(robot.JointID(j)) {
			l.looks[j] = 0
			continue
		}
		l.looks[j]++
		most := &l.m.Joints()[j].Limits
		if most.Lower.Has {
			l.Outside = max(l.Outside, most.Lower.Value-x)
		}
		if most.Upper.Has {
			l.Outside = max(l.Outside, x-most.Upper.Value)
		}
		if most.Velocity.Has && l.looks[j] > 2 {
			l.Velocity = max(l.Velocity, math.Abs(v)/most.Velocity.Value)
		}
		if most.Acceleration.Has && l.looks[j] > 3 {
			l.Acceleration = max(l.Acceleration, math.Abs(a)/most.Acceleration.Value)
			if l.looks[j] > 4 {
				l.Change = max(l.Change, math.Abs(change)/most.Acceleration.Value)
			}
		}
	}
}

func (l *Limits) String() string {
	return fmt.Sprintf("accelerations %.2f of their limits, changing by %.2f in a tick, speeds %.2f, ranges passed by %.2g rad", l.Acceleration, l.Change, l.Velocity, l.Outside)
}

// Kept reports whether the limits were kept in a cycle of motion control.
func (l *Limits) Kept(cycle int) bool {
	const (
		rounding = 1e-6
		lands    = 1.2 // in cycle 2, which takes the velocity of an impact from a foot that lands
	)
	most := 1 + rounding
	if cycle == 2 {
		most = lands
	}
	return l.Acceleration <= most && l.Velocity <= 1+rounding && l.Outside <= rounding
}
