package lint

import (
	"errors"
	"fmt"
	"math"

	"poise/control/follow"
	"poise/motion"
	"poise/problem"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// slack is what rounding may add to a value at its limit.
const slack = 1e-9

// perSegment is in how many steps a segment that breaks a limit is looked at, to tell
// from when to when. Whether a limit is broken at all is exact.
const perSegment = 24

// noCurve says why a motion has no curve, with the joint by its name.
func noCurve(joints []string, err error) problem.Problem {
	var key *spline.KeyError
	if !errors.As(err, &key) || key.Joint < 0 || key.Joint >= len(joints) || key.Key < 0 {
		return problem.Problem{Code: Table, Text: err.Error()}
	}
	name := joints[key.Joint]
	text := fmt.Sprintf("%s of %s is %g", key.Quantity, name, key.Value)
	if errors.Is(key, spline.ErrSteep) {
		text = fmt.Sprintf("%s of %s changes too steeply within %g s", key.Quantity, name, key.Value)
	}
	return problem.Problem{Code: Table, Joint: name, Text: fmt.Sprintf("%s, from point %d of those that are played", text, key.Key+1)}
}

// curve looks for limits that the motion breaks at any instant.
func (c *checker) curve(g *follow.Goal) {
	joints := g.Moved()
	s, err := g.Curve(c.m)
	if err != nil {
		c.add(noCurve(joints, err))
		return
	}
	limits := motion.LimitsOf(c.m, joints)
	for _, q := range []spline.Derivative{spline.Position, spline.Velocity, spline.Acceleration} {
		for _, v := range limits.Violations(s, slack) {
			if v.Quantity == q {
				c.broken(joints[v.Joint], s, limits, v)
			}
		}
	}
}

// broken adds a finding for each span of time in which a limit is broken.
func (c *checker) broken(joint string, s *spline.Spline, limits *trajectory.Limits, v trajectory.Violation) {
	type span struct {
		from, to, at float64
		value, limit float64
	}
	var all []span
	open := false
	look := func(t, value, limit float64, bad bool) {
		switch {
		case !bad:
			open = false
		case !open:
			all, open = append(all, span{t, t, t, value, limit}), true
		default:
			last := &all[len(all)-1]
			if last.to = t; math.Abs(value-limit) > math.Abs(last.value-last.limit) {
				last.at, last.value, last.limit = t, value, limit
			}
		}
	}
	n := s.Joints()
	x := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	knots := s.Knots()
	for seg := range s.Segments() {
		for k := range perSegment + 1 {
			t := knots[seg] + (knots[seg+1]-knots[seg])*float64(k)/perSegment
			s.SegmentTo(x[0], x[1], x[2], seg, t)
			value := x[v.Quantity][v.Joint]
			limit, bad := beyond(limits, v, value, x[1][v.Joint])
			look(t, value, limit, bad)
		}
	}
	// the exact worst may lie between two looks
	found := false
	for i := range all {
		if st := &all[i]; v.Time >= st.from-1e-12 && v.Time <= st.to+1e-12 {
			st.at, st.value, st.limit, found = v.Time, v.Value, v.Limit, true
		}
	}
	if !found {
		all = append(all, span{v.Time, v.Time, v.Time, v.Value, v.Limit})
	}
	for _, st := range all {
		f := c.limitFinding(joint, v, st.from, st.to, st.value, st.limit)
		f.WorstAt = st.at
		c.add(f)
	}
}

// beyond returns the limit that a value meets and whether it is broken.
func beyond(limits *trajectory.Limits, v trajectory.Violation, value, velocity float64) (limit float64, bad bool) {
	lower, upper, speed, faster, slower, _ := limits.Of(v.Joint)
	switch v.Quantity {
	case spline.Position:
		if value < lower {
			return lower, value < lower-slack
		}
		return upper, value > upper+slack
	case spline.Velocity:
		return math.Copysign(speed, value), math.Abs(value) > speed*(1+slack)
	}
	most, braking := faster, value*velocity < 0
	if v.Braking {
		most = slower
	}
	// where both limits are the same, braking makes no difference
	if faster != slower && braking != v.Braking && velocity != 0 {
		return most, false
	}
	return math.Copysign(most, value), math.Abs(value) > most*(1+slack)
}

func (c *checker) limitFinding(name string, v trajectory.Violation, from, to, value, limit float64) problem.Problem {
	unit := "rad"
	if id, ok := c.m.Joint(name); ok && c.m.Joints()[id].Kind == robot.Prismatic {
		unit = "m"
	}
	f := problem.Problem{Joint: name, At: from, Until: to, Value: value, Limit: limit, Row: c.rowAt(from) + 1}
	what := v.Quantity.String()
	switch v.Quantity {
	case spline.Position:
		f.Code = Position
	case spline.Velocity:
		f.Code, unit = Velocity, unit+"/s"
	default:
		f.Code, unit = Acceleration, unit+"/s²"
		if v.Braking {
			what = "deceleration"
		}
	}
	f.Text = fmt.Sprintf("%s of %s is %s %s, limit %s %s", what, name, short(value), unit, short(limit), c.span(from, to))
	return f
}

// rowAt returns the last enabled row that is not after a time.
func (c *checker) rowAt(t float64) int {
	row := c.rows[0]
	for _, r := range c.rows {
		if c.d.Points[r].Time <= t {
			row = r
		}
	}
	return row
}

// span words from when to when, and between which rows.
func (c *checker) span(from, to float64) string {
	if to-from < 1e-9 {
		return fmt.Sprintf("(at %s s, row %d)", short(from), c.rowAt(from)+1)
	}
	return fmt.Sprintf("(%s s to %s s, from row %d)", short(from), short(to), c.rowAt(from)+1)
}
