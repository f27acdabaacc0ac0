package motion

import (
	"fmt"
	"math"
	"slices"

	"poise/motion/forces"
	"poise/problem"
	"poise/trajectory"
	"poise/trajectory/spline"
)

const (
	fitSlack  = 1e-9    // what rounding may add to a value at its limit, as lint has it
	fitMargin = 1.001   // more than just enough, so that rounding to milliseconds breaks nothing
	fitRounds = 60      // of lengthening single stretches, before all are lengthened alike
	fitForces = 12      // of them, for the sake of forces: each looks along the whole motion
	fitStep   = 0.05    // s between looks at forces, before they are looked at as lint does
	fitLooks  = 100_000 // at forces in all: some seconds
	fitTries  = 400     // of lengthening all alike, for what rounding takes back
)

// limitsOnly is the text with which slow_to_fit does not look at forces.
const limitsOnly = "limits"

// slowToFit lengthens the stretches between rows in which a joint is too fast, accelerates too
// much or needs more torque than it has, or in which the robot would not stand (package
// forces, as lint has it), and leaves the others as they are. A curve is smooth across its
// rows, so a longer stretch changes its neighbours: what is too fast then is lengthened in
// the next round. If that comes to no end, or pushes a joint out of its range, all
// stretches are lengthened alike, which keeps the shape of the curve. Events and disabled
// rows keep their place in their stretch. What is beyond its limit at rest, time does not mend:
// then nothing is changed.
func (e *edit) slowToFit() {
	if e.m == nil {
		e.add(problem.Problem{Code: ErrOperation, Text: "without a robot there are no limits to fit"})
		return
	}
	if text := e.text(); text != "" && text != limitsOnly {
		e.add(problem.Problem{Code: ErrOperation, Text: fmt.Sprintf("slow_to_fit: %q is unknown: without a text all is heeded, with %q only limits of joints%s", text, limitsOnly, problem.Hint(text, []string{limitsOnly}))})
		return
	}
	slices.SortStableFunc(e.d.Points, byTime)
	before := e.d.Clone()
	first, ok := e.fit()
	if ok && first.hopeless == nil {
		e.addForces(&first)
	}
	switch {
	case !ok || first.fits():
		return
	case first.hopeless != nil:
		e.add(*first.hopeless)
		return
	}
	if e.fitEach(first) {
		return
	}
	factor := first.worst
	for range fitTries {
		e.d = before.Clone()
		e.stretch(slices.Repeat([]float64{factor}, len(first.factors)))
		fit, ok := e.fit()
		if ok && fit.fits() {
			e.addForces(&fit)
		}
		if !ok || fit.fits() {
			return
		}
		if fit.hopeless != nil && fit.hopeless.Code != ErrOperation { // the same at any pace
			e.add(*fit.hopeless)
			return
		}
		factor *= math.Max(1.005, fit.worst)
	}
	e.add(problem.Problem{Code: ErrOperation, Text: fmt.Sprintf("no times within the limits were found, up to %.0f times as long", factor)})
}

// fitEach lengthens single stretches, round by round, and reports whether the motion fits then,
// or cannot be judged.
func (e *edit) fitEach(fit fitting) bool {
	for round, forced := 0, 0; round < fitRounds && forced < fitForces && fit.hopeless == nil; round++ {
		e.stretch(fit.factors)
		var ok bool
		if fit, ok = e.fit(); !ok {
			return true
		}
		if fit.fits() {
			if e.addForces(&fit); fit.fits() {
				return true
			}
			forced++
		}
	}
	return false
}

// fitting says by how much each stretch between two enabled rows has to be longer.
type fitting struct {
	factors  []float64 // 1 and more
	worst    float64
	rows     []float64        // times of the enabled rows
	hopeless *problem.Problem // that time does not mend: a position, or a force at rest
}

func (f *fitting) fits() bool { return f.worst <= 1 && f.hopeless == nil }

// fit judges the whole motion, and the part between the marks by itself: it begins and
// ends at rest where the whole goes on.
func (e *edit) fit() (f fitting, ok bool) {
	var rows []float64 // times
	for _, p := range e.d.Points {
		if p.Enabled {
			rows = append(rows, p.Time)
		}
	}
	if len(rows) < 2 {
		e.add(problem.Problem{Code: ErrOperation, Value: float64(len(rows)), Limit: 2, Text: fmt.Sprintf("%d rows are enabled: a motion needs two", len(rows))})
		return f, false
	}
	f.factors = slices.Repeat([]float64{1}, len(rows)-1)
	f.worst, f.rows = 1, rows
	for _, part := range []Part{{}, {Marked: true}} {
		g, err := e.d.Goal(part)
		if err == nil && len(g.Points) < 2 {
			continue // nothing lies between the marks
		}
		var s *spline.Spline
		if err == nil {
			s, err = g.Curve(e.m)
		}
		if err != nil {
			e.add(problem.Problem{Code: ErrOperation, Text: err.Error()})
			return f, false
		}
		f.judge(s, LimitsOf(e.m, g.Moved()), g.Moved(), rows, g.Table.Zero)
	}
	return f, true
}

// addForces takes torque and balance into account, of the whole motion and of the part between
// the marks. A robot whose forces cannot be computed has only limits of its joints.
func (e *edit) addForces(f *fitting) {
	if e.text() == limitsOnly {
		return
	}
	for _, part := range []Part{{}, {Marked: true}} {
		g, err := e.d.Goal(part)
		if err != nil || len(g.Points) < 2 || part.Marked && e.d.Marked(StartMark) < 0 && e.d.Marked(EndMark) < 0 {
			continue
		}
		s, err := e.d.Stance(g, e.m)
		if err != nil {
			continue
		}
		if at, falls := s.FirstFall(); falls && s.Known() == nil {
			f.hopeless = &problem.Problem{Code: ErrAtRest, At: at + g.Table.Zero, Text: fmt.Sprintf("more time does not help: %s at %.4g s", forces.NoFoot, at+g.Table.Zero),
				Help: fmt.Sprintf("let a foot stand, or heed limits of joints alone (the text %q)", limitsOnly)}
			return
		}
		if e.looks > fitLooks {
			f.hopeless = &problem.Problem{Code: ErrTooLong, Value: e.d.Duration(),
				Text: fmt.Sprintf("no times were found for a motion of %.4g s and %d rows within %d looks at its forces", e.d.Duration(), len(f.rows), fitLooks),
				Help: fmt.Sprintf("fit parts of it, or heed limits of joints alone (the text %q)", limitsOnly)}
			return
		}
		r, err := e.judge(s, forces.Options{Step: fitStep, Period: fitStep}) // in most rounds that finds enough
		if err == nil && len(r.Spans) == 0 && f.fits() {
			r, err = e.judge(s, forces.Options{})
		}
		if err != nil {
			continue
		}
		for _, p := range r.Spans {
			if p.Static {
				x := problem.Problem{Code: ErrAtRest, At: p.StillAt + g.Table.Zero, Value: p.Still, Limit: p.Rests, Text: "more time does not help: " + p.RestText(e.m),
					Help: fmt.Sprintf("change the pose, or heed limits of joints alone (the text %q)", limitsOnly)}
				if math.IsInf(x.Value, 0) { // there is no number: the text says why
					x.Value, x.Limit = 0, 0
				}
				switch p.Kind {
				case forces.Torque:
					x.Joint = e.m.Joints()[p.Joint].Name
				case forces.Unloaded:
					x.Joint = e.m.Chains()[p.Chain].Name
				}
				f.hopeless = &x
				return
			}
		}
		for _, n := range r.Needs {
			f.lengthen(f.rows, n.Time+g.Table.Zero, n.Factor)
		}
	}
}

// judge looks at forces, and counts how often.
func (e *edit) judge(s *forces.Stance, o forces.Options) (*forces.Report, error) {
	r, err := s.Judge(o)
	if err == nil {
		e.looks += r.Looks
	}
	return r, err
}

// judge takes a curve into account that begins at a time of the table.
func (f *fitting) judge(s *spline.Spline, limits *trajectory.Limits, joints []string, rows []float64, zero float64) {
	for _, v := range limits.Violations(s, fitSlack) {
		switch v.Quantity {
		case spline.Position:
			f.hopeless = &problem.Problem{Code: ErrOperation, Joint: joints[v.Joint], At: v.Time + zero, Value: v.Value, Limit: v.Limit,
				Text: fmt.Sprintf("more time does not help: %s comes to %.4g at %.3f s, its limit is %.4g", joints[v.Joint], v.Value, v.Time+zero, v.Limit)}
		case spline.Velocity:
			f.lengthen(rows, v.Time+zero, v.Ratio())
		case spline.Acceleration:
			f.lengthen(rows, v.Time+zero, math.Sqrt(v.Ratio()))
		}
	}
	if f.worst <= 1 {
		return
	}
	// the worst of each joint is found; the other stretches that need it, too
	knots := s.Knots()
	for i := range s.Segments() {
		for j := range joints {
			_, _, speed, faster, slower, _ := limits.Of(j)
			middle := (knots[i]+knots[i+1])/2 + zero
			f.lengthen(rows, middle, peak(s, i, j, spline.Velocity, speed))
			f.lengthen(rows, middle, math.Sqrt(peak(s, i, j, spline.Acceleration, math.Max(faster, slower))))
		}
	}
}

// peak returns which share of a limit a joint needs at most in a segment.
func peak(s *spline.Spline, segment, joint int, d spline.Derivative, limit float64) float64 {
	knots := s.Knots()
	least, most := s.SegmentRange(segment, joint, d, knots[segment], knots[segment+1])
	return math.Max(-least.Value, most.Value) / limit
}

// lengthen notes that the stretch at a time has to be longer by a factor.
func (f *fitting) lengthen(rows []float64, at, factor float64) {
	if !(factor > 1+fitSlack) || math.IsInf(factor, 0) {
		return
	}
	i, _ := slices.BinarySearch(rows, at)
	i = min(max(i-1, 0), len(f.factors)-1)
	f.factors[i] = math.Max(f.factors[i], factor*fitMargin)
	f.worst = math.Max(f.worst, factor*fitMargin)
}

// stretch lengthens the stretches between enabled rows, to whole milliseconds; what lies
// between two rows moves with them.
func (e *edit) stretch(factors []float64) {
	var old []float64
	for _, p := range e.d.Points {
		if p.Enabled {
			old = append(old, p.Time)
		}
	}
	now := slices.Clone(old)
	now[0] = milliseconds(old[0])
	for i, factor := range factors {
		long := old[i+1] - old[i]
		if factor > 1 {
			long = math.Ceil(long*factor*1000-1e-6) / 1000
		}
		now[i+1] = milliseconds(math.Max(now[i]+long, now[i]+0.001)) // times rise
	}
	moved := func(t float64) float64 {
		i, found := slices.BinarySearch(old, t)
		switch {
		case found:
			return now[i]
		case i == 0:
			return milliseconds(t)
		case i == len(old):
			return milliseconds(t + now[i-1] - old[i-1])
		}
		return milliseconds(now[i-1] + (t-old[i-1])*(now[i]-now[i-1])/(old[i]-old[i-1]))
	}
	for i := range e.d.Points {
		e.d.Points[i].Time = moved(e.d.Points[i].Time)
	}
	for i := range e.d.Events {
		e.d.Events[i].Time = moved(e.d.Events[i].Time)
	}
}
