package pilz

import (
	"math"

	"poise/planner"
	"poise/trajectory"
)

// leastMove is the joint movement below which a goal counts as reached, rad or m.
const leastMove = 1e-3

// strictest are the limits that all joints of a group keep in PTP.
type strictest struct{ velocity, acceleration, deceleration float64 }

// common returns the strictest limits of the task's group. One joint that has a
// limit is enough, as in the original.
func (p *Planner) common(task *planner.Task) (strictest, *planner.Refusal) {
	inf := math.Inf(1)
	s := strictest{inf, inf, inf}
	for _, j := range task.Joints {
		joint := &p.Model.Joints()[j]
		if l := joint.Limits.Velocity; l.Has {
			s.velocity = min(s.velocity, l.Value)
		}
		if l := joint.Limits.Acceleration; l.Has {
			s.acceleration = min(s.acceleration, l.Value)
		}
		if l := deceleration(joint); l.Has {
			s.deceleration = min(s.deceleration, -l.Value)
		}
	}
	for _, k := range []struct {
		name  string
		value float64
	}{{"velocity", s.velocity}, {"acceleration", s.acceleration}, {"deceleration", s.deceleration}} {
		if math.IsInf(k.value, 1) {
			return s, planner.Refuse(planner.MissingLimit, "PTP needs a %s limit, and no joint of group %q has one", k.name, task.Group.Name).
				With("give max_%s for its joints in joint_limits.yaml", k.name)
		}
	}
	s.velocity *= task.VelocityScaling
	s.acceleration *= task.AccelerationScaling
	s.deceleration *= task.AccelerationScaling
	return s, nil
}

// pointToPoint moves all joints together: the one that takes longest leads, the
// others share its phases.
func (p *Planner) pointToPoint(task *planner.Task) (*trajectory.Trajectory, *planner.Refusal) {
	limits, refusal := p.common(task)
	if refusal != nil {
		return nil, refusal
	}
	n := len(task.Joints)
	start, goal := make([]float64, n), make([]float64, n)
	far := 0.0
	for i, j := range task.Joints {
		q := p.Model.Joints()[j].Q
		start[i], goal[i] = task.Start[q], task.Goal[q]
		far = max(far, math.Abs(goal[i]-start[i]))
	}
	if far < leastMove {
		t := trajectory.New(1, n)
		t.Points[0].Time = p.sampling()
		copy(t.Points[0].Position, start)
		return t, nil
	}
	lead := fastest(far, limits)
	times, refusal := p.times(lead.duration(), 0)
	if refusal != nil {
		return nil, refusal
	}
	out := trajectory.New(len(times), n)
	for k, t := range times {
		point := &out.Points[k]
		point.Time = t
		s, ds, dds := lead.at(t)
		for i := range n {
			d := goal[i] - start[i]
			point.Position[i] = start[i] + d*s
			point.Velocity[i] = d * ds
			point.Acceleration[i] = d * dds
		}
	}
	end := &out.Points[len(times)-1]
	copy(end.Position, goal)
	rest(end)
	return out, nil
}

// phases is the shape of a point-to-point motion: accelerate, cruise, decelerate,
// from 0 to 1. All joints have it, each times its own way.
type phases struct {
	up, cruise, down float64 // durations
	peak             float64 // speed of the cruise, 1/s
}

// fastest returns the shape of the fastest motion over a distance: the asymmetric
// trapezoid, or the triangle where the distance is too short for full speed.
func fastest(distance float64, l strictest) phases {
	v := l.velocity
	ramps := v * v / 2 * (1/l.acceleration + 1/l.deceleration)
	f := phases{cruise: (distance - ramps) / v}
	if distance <= ramps {
		v = math.Sqrt(2 * distance * l.acceleration * l.deceleration / (l.acceleration + l.deceleration))
		f.cruise = 0
	}
	f.up, f.down = v/l.acceleration, v/l.deceleration
	f.peak = v / distance
	return f
}

func (f *phases) duration() float64 { return f.up + f.cruise + f.down }

// at returns the shape and its derivatives. At a border the acceleration is that
// of the phase before it, and none at the beginning: so the original samples it.
func (f *phases) at(t float64) (s, ds, dds float64) {
	end := f.duration()
	switch {
	case t <= 0:
		return 0, 0, 0
	case t < f.up:
		s, ds = f.peak*t*t/(2*f.up), f.peak*t/f.up
	case t < f.up+f.cruise:
		s, ds = f.peak*(t-f.up/2), f.peak
	case t <= end:
		left := end - t
		s, ds = 1-f.peak*left*left/(2*f.down), f.peak*left/f.down
	default:
		return 1, 0, 0
	}
	switch {
	case t <= f.up:
		dds = f.peak / f.up
	case t > f.up+f.cruise:
		dds = -f.peak / f.down
	}
	return s, ds, dds
}
