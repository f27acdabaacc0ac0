package urdf

import (
	"poise/internal/xmltree"
	"poise/spatial"
)

func (r reader) joint(n *xmltree.Node) Joint {
	r.Attributes(n, "name", "type")
	j := Joint{Name: r.Name(n, "name"), Axis: spatial.Vec3{X: 1}, Pos: n.Pos}
	kind, _ := r.Choice(n, "type", jointTypeNames[:])
	j.Type = JointType(kind)
	var parent, child bool
	for c := range r.Children(n, "parent", "child", "origin", "axis", "limit", "dynamics", "mimic",
		"safety_controller", "calibration") {
		switch c.Name {
		case "parent":
			parent = true
			r.Leaf(c, "link")
			j.Parent = r.Name(c, "link")
		case "child":
			child = true
			r.Leaf(c, "link")
			j.Child = r.Name(c, "link")
		case "origin":
			j.Origin = r.origin(c)
		case "axis":
			r.Leaf(c, "xyz")
			if v, ok := r.vec3(c, "xyz"); ok {
				j.Axis = v
			}
		case "limit":
			j.Limit = r.limit(c)
		case "dynamics":
			r.Leaf(c, "damping", "friction")
			j.Dynamics = &Dynamics{Damping: r.NumberOr(c, "damping", 0), Friction: r.NumberOr(c, "friction", 0)}
		case "mimic":
			j.Mimic = r.mimic(c)
		case "safety_controller":
			j.Safety = r.safety(c)
		case "calibration":
			j.Calibration = r.calibration(c)
		default:
			r.Unknown(n, c, "parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "safety_controller", "calibration")
		}
	}
	r.Need(n, "parent", parent)
	r.Need(n, "child", child)
	return j
}

// limit reads a range. One with an error is returned empty: it is there, which
// counts for joints that must have one.
func (r reader) limit(n *xmltree.Node) *Limit {
	r.Leaf(n, "lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk")
	failed := r.Failed()
	l := &Limit{Pos: n.Pos}
	for _, f := range l.fields() {
		x := r.Optional(n, f.name)
		switch {
		case x != nil:
			*f.value = *x
			l.Has |= f.is
			if f.is&(HasAcceleration|HasDeceleration|HasJerk) != 0 {
				r.NotNegative(n, f.name, *x)
			}
		case f.is&(HasEffort|HasVelocity) != 0 && n.Attr(f.name) == nil:
			r.Warnf(n.Pos, "<limit> without %s", f.name)
		}
	}
	if failed() {
		return &Limit{Pos: n.Pos}
	}
	return l
}

// limitField is one attribute of <limit>.
type limitField struct {
	name  string
	value *float64
	is    LimitSet
}

func (l *Limit) fields() [7]limitField {
	return [7]limitField{
		{"lower", &l.Lower, HasLower},
		{"upper", &l.Upper, HasUpper},
		{"effort", &l.Effort, HasEffort},
		{"velocity", &l.Velocity, HasVelocity},
		{"acceleration", &l.Acceleration, HasAcceleration},
		{"deceleration", &l.Deceleration, HasDeceleration},
		{"jerk", &l.Jerk, HasJerk},
	}
}

func (r reader) mimic(n *xmltree.Node) *Mimic {
	r.Leaf(n, "joint", "multiplier", "offset")
	failed := r.Failed()
	m := &Mimic{
		Joint:      r.Name(n, "joint"),
		Multiplier: r.NumberOr(n, "multiplier", 1),
		Offset:     r.NumberOr(n, "offset", 0),
		Pos:        n.Pos,
	}
	if failed() {
		return nil
	}
	return m
}

func (r reader) safety(n *xmltree.Node) *Safety {
	r.Leaf(n, "soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")
	if n.Attr("k_velocity") == nil {
		r.Warnf(n.Pos, "<safety_controller> without k_velocity")
	}
	return &Safety{
		SoftLower: r.NumberOr(n, "soft_lower_limit", 0),
		SoftUpper: r.NumberOr(n, "soft_upper_limit", 0),
		KPosition: r.NumberOr(n, "k_position", 0),
		KVelocity: r.NumberOr(n, "k_velocity", 0),
	}
}

func (r reader) calibration(n *xmltree.Node) *Calibration {
	r.Leaf(n, "reference_position", "rising", "falling")
	return &Calibration{
		Reference: r.Optional(n, "reference_position"),
		Rising:    r.Optional(n, "rising"),
		Falling:   r.Optional(n, "falling"),
	}
}
