package scenario

import (
	"math"
	"slices"

	"poise/problem"
)

// quantities are what can be expected, in the order of the table in docs/physics.md.
var quantities = []string{
	"fallen", "base.x", "base.y", "base.z", "base.roll", "base.pitch", "base.yaw", "tilt", "speed", "distance", "heading",
	"joint_rms", "torque_share", "power", "force_error", "zmp_margin", "slip", "odometry_error",
}

// summaries are the words of of.
var summaries = []string{"worst", "mean", "rms", "last", "p99"}

func (c *checker) checkCriterion(e *Criterion) {
	thing := "expect"
	if e.Name != "" {
		thing = problem.Named("expect", e.Name)
	}
	switch {
	case e.What == "":
		c.errorf(e.Line, thing, "what is missing: one of %s", problem.List(quantities))
		return
	case !slices.Contains(quantities, e.What):
		c.errorf(e.Lines["what"], thing, "what: %q is unknown%s", e.What, c.report.Hint(e.What, quantities))
		return
	}
	if e.Of != "" && !slices.Contains(summaries, e.Of) {
		c.errorf(e.Lines["of"], thing, "of: %q is unknown%s", e.Of, c.report.Hint(e.Of, summaries))
	}
	bounds := 0
	for _, key := range []string{"max", "min", "is"} {
		if e.Lines[key] != 0 {
			bounds++
		}
	}
	if bounds != 1 {
		c.errorf(e.Line, thing, "has %d of max, min and is, must have exactly one", bounds)
		return
	}
	if e.Lines["is"] != 0 {
		if _, err := isValue(e); err != nil {
			c.errorf(e.Lines["is"], thing, "is: a number, true or false")
		}
	}
	if e.From != nil && e.To != nil && *e.From > *e.To {
		c.errorf(e.Line, thing, "from %g s is after to %g s", *e.From, *e.To)
	}
}

// isValue reads is: a number, or the truth as 0 and 1.
func isValue(e *Criterion) (float64, error) {
	truth := false
	if err := e.Is.Decode(&truth); err == nil {
		if truth {
			return 1, nil
		}
		return 0, nil
	}
	number := 0.0
	return number, e.Is.Decode(&number)
}

// series holds every quantity over time.
type series struct {
	t      []float64
	values [][]float64 // of each quantity; NaN where it has none
}

func newSeries() *series { return &series{values: make([][]float64, len(quantities))} }

// Outcome is what became of a criterion.
type Outcome struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value"` // null if it was never measured
	Limit any      `json:"limit"`
	Pass  bool     `json:"pass"`

	over float64 // by how much the value is beyond its limit, negative if it is within
}

// worse reports whether an outcome is worse than another of the same criterion.
func (o *Outcome) worse(than *Outcome) bool {
	if o.Pass != than.Pass {
		return than.Pass
	}
	return o.Value == nil && than.Value != nil || o.Value != nil && than.Value != nil && o.over > than.over
}

// judge evaluates a criterion.
func (s *series) judge(e *Criterion) Outcome {
	value, ok := s.summary(e)
	o := Outcome{Name: e.Name}
	if o.Name == "" {
		o.Name = e.What
	}
	switch {
	case e.Max != nil:
		o.Limit, o.Pass, o.over = *e.Max, ok && value <= *e.Max, value-*e.Max
	case e.Min != nil:
		o.Limit, o.Pass, o.over = *e.Min, ok && value >= *e.Min, *e.Min-value
	default:
		want, _ := isValue(e)
		o.over = math.Abs(value - want)
		o.Limit, o.Pass = want, ok && o.over <= 1e-9*math.Max(1, math.Abs(want))
		if e.What == "fallen" {
			o.Limit = want != 0
		}
	}
	if ok {
		o.Value = &value
	}
	return o
}

// summary reduces a quantity to one number. The worst is the greatest, and the least where
// the criterion has a min.
func (s *series) summary(e *Criterion) (float64, bool) {
	i := slices.Index(quantities, e.What)
	var values []float64
	for k, x := range s.values[i] {
		if t := s.t[k]; !math.IsNaN(x) && (e.From == nil || t >= *e.From-1e-9) && (e.To == nil || t <= *e.To+1e-9) {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	switch e.Of {
	case "mean":
		sum := 0.0
		for _, x := range values {
			sum += x
		}
		return sum / float64(len(values)), true
	case "rms":
		sum := 0.0
		for _, x := range values {
			sum += x * x
		}
		return math.Sqrt(sum / float64(len(values))), true
	case "last":
		return values[len(values)-1], true
	case "p99":
		slices.Sort(values)
		if e.Min != nil {
			slices.Reverse(values) // 99 % are above
		}
		return values[min(len(values)-1, int(math.Ceil(0.99*float64(len(values))))-1)], true
	}
	if e.Min != nil {
		return slices.Min(values), true
	}
	return slices.Max(values), true
}
