package forces

import (
	"math"

	"poise/robot"
)

// Samples are the forces of a motion at given times.
type Samples struct {
	Times  []float64
	Joints []JointForces // that a servo moves
	Stands bool          // the robot stands on feet: Margin and Feet are there
	Margin []float64     // of the zero-moment point in the supports, m; NaN where no foot stands, −∞ where none presses
	Feet   []FootForces
	Weight float64 // N
}

// JointForces is the torque of a joint and what it can give.
type JointForces struct {
	Joint       robot.JointID
	Torque      []float64 // N·m or N
	Least, Most []float64 // by its limit and its servo at that speed; infinite where nothing limits it
}

// FootForces is what a foot carries.
type FootForces struct {
	Chain robot.ChainID
	Force []float64 // vertical, N; NaN where it does not stand
}

// Sample computes the forces at times that rise. It fails for a robot whose forces cannot be
// computed.
func (s *Stance) Sample(times []float64) (*Samples, error) {
	w, err := s.sweep()
	if err != nil {
		return nil, err
	}
	out := &Samples{Times: times, Stands: s.m.Floating(), Weight: w.weight}
	for j := range s.m.Joints() {
		if !s.m.Joints()[j].Virtual {
			out.Joints = append(out.Joints, JointForces{Joint: robot.JointID(j)})
		}
	}
	if out.Stands {
		for _, f := range s.feet {
			out.Feet = append(out.Feet, FootForces{Chain: f.chain})
		}
	}
	for _, t := range times {
		if err := w.at(s.curve.Segment(t), t); err != nil {
			return nil, err
		}
		out.add(&w.now)
	}
	return out, nil
}

func (s *Samples) add(moment *instant) {
	for i := range s.Joints {
		j := &s.Joints[i]
		k := j.Joint
		lost := moment.motor[k] - moment.torque[k] // what friction and rotor of the servo take
		j.Torque = append(j.Torque, moment.torque[k])
		j.Least = append(j.Least, math.Max(-moment.effort[k], -moment.strength[k]-lost))
		j.Most = append(j.Most, math.Min(moment.effort[k], moment.strength[k]-lost))
	}
	if !s.Stands {
		return
	}
	margin := moment.margin
	if !moment.stands {
		margin = math.NaN()
	}
	s.Margin = append(s.Margin, margin)
	for k := range s.Feet {
		s.Feet[k].Force = append(s.Feet[k].Force, moment.load[k])
	}
}
