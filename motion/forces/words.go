package forces

import (
	"fmt"
	"math"

	"poise/robot"
)

// Text says what is beyond its limit, by how much, when it is worst, and whether more time would
// help.
func (p *Span) Text(m *robot.Model) string {
	text := p.words(m, p.Value, p.Limit, p.At)
	if p.Kind == Torque {
		text += fmt.Sprintf(": %.3g too much", math.Abs(p.Value-p.Limit))
	}
	if p.Static {
		text += "; more time does not help: " + p.RestText(m)
	}
	return text
}

// RestText says what of it is beyond its limit at rest, if Static.
func (p *Span) RestText(m *robot.Model) string {
	return "at rest " + p.words(m, p.Still, p.Rests, p.StillAt)
}

// words names the thing, its value, its limit and when that is.
func (p *Span) words(m *robot.Model, value, limit, at float64) string {
	switch p.Kind {
	case Torque:
		joint, unit, whose := &m.Joints()[p.Joint], "N·m", ""
		if joint.Kind == robot.Prismatic {
			unit = "N"
		}
		if p.Servo {
			whose = "the servo of "
		}
		return fmt.Sprintf("torque of %s%s is %.4g %s at %.4g s, limit %.4g", whose, joint.Name, value, unit, at, limit)
	case ZMP:
		return fmt.Sprintf("the zero-moment point is %s at %.4g s, it has to be %.4g m inside", Place(value), at, limit)
	case Unloaded:
		return fmt.Sprintf("%s is said to stand and carries %.3g N at %.4g s, at least %.3g", m.Chains()[p.Chain].Name, math.Max(value, 0), at, limit)
	}
	return fmt.Sprintf("the feet cannot give %.3g N of the force that is needed at %.4g s, limit %.3g", value, at, limit)
}

// Place says where a point is for a margin.
func Place(margin float64) string {
	switch {
	case math.IsInf(margin, -1):
		return "nowhere, for no foot presses on the ground,"
	case margin < 0:
		return fmt.Sprintf("%.4g m outside the supports", -margin)
	}
	return fmt.Sprintf("%.4g m inside the supports", margin)
}
