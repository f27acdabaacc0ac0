package scenario

import (
	"math"
	"slices"

	"poise/control"
	"poise/control/getup"
	"poise/gait"
	"poise/internal/strictyaml"
	"poise/problem"
	"poise/servo/physics"
	"poise/sim/world"
)

// Invalid is the code of what is wrong with a scenario.
const Invalid problem.Code = "invalid_scenario"

// Scenario is a script as its file has it; docs/physics.md explains each key.
type Scenario struct {
	Duration float64     `yaml:"duration"`
	Period   *float64    `yaml:"period"`
	Step     *float64    `yaml:"step"`
	Seed     int         `yaml:"seed"`
	World    world.World `yaml:"world"`
	Start    Start       `yaml:"start"`
	Servos   []Servo     `yaml:"servos"`
	Model    *ServoModel `yaml:"model"`
	Unit     *Unit       `yaml:"unit"`
	Vary     Vary        `yaml:"vary"`
	Control  Control     `yaml:"control"`
	Do       []Action    `yaml:"do"`
	Expect   []Criterion `yaml:"expect"`
	Trace    Trace       `yaml:"trace"`

	File  string         `yaml:"-"`
	Lines map[string]int `yaml:",lines"`
}

// Start is where the robot begins.
type Start struct {
	Line   int             `yaml:",line"`
	Lines  map[string]int  `yaml:",lines"`
	Pose   string          `yaml:"pose"`
	Joints []JointValue    `yaml:"joints"`
	Base   strictyaml.Node `yaml:"base"`
}

// JointValue is a number for a joint.
type JointValue struct {
	Joint string  `yaml:",key"`
	Line  int     `yaml:",line"`
	Value float64 `yaml:",value"`
}

// Servo is a plain servo; the joint "all" stands for every one.
type Servo struct {
	Joint    string   `yaml:",key"`
	Line     int      `yaml:",line"`
	Kp       *float64 `yaml:"kp"`
	Kd       *float64 `yaml:"kd"`
	Armature *float64 `yaml:"armature"`
	Friction *float64 `yaml:"friction"`
	Effort   *float64 `yaml:"effort"`
}

// ServoModel changes the servo models of the robot.
type ServoModel struct {
	Line    int      `yaml:",line"`
	Kp      *float64 `yaml:"kp"`
	Voltage *float64 `yaml:"voltage"`
	Delay   float64  `yaml:"delay"`
	Jitter  float64  `yaml:"jitter"`
	Loss    float64  `yaml:"loss"`
}

// Unit is how much the inertial unit errs; what is not given is typical of a small one.
type Unit struct {
	Line              int      `yaml:",line"`
	RateNoise         *float64 `yaml:"rate_noise"`
	AccelerationNoise *float64 `yaml:"acceleration_noise"`
	RateBias          *float64 `yaml:"rate_bias"`
	AccelerationBias  *float64 `yaml:"acceleration_bias"`
	Delay             *int     `yaml:"delay"`
}

// longestUnitDelay is how many periods late a unit may be read.
const longestUnitDelay = 20

// errors returns how much the unit errs.
func (u *Unit) errors() physics.Errors {
	e := physics.TypicalErrors
	if u == nil {
		return e
	}
	for _, x := range []struct {
		to    *float64
		given *float64
	}{{&e.RateNoise, u.RateNoise}, {&e.AccelerationNoise, u.AccelerationNoise}, {&e.RateBias, u.RateBias}, {&e.AccelerationBias, u.AccelerationBias}} {
		if x.given != nil {
			*x.to = *x.given
		}
	}
	if u.Delay != nil {
		e.Delay = *u.Delay
	}
	return e
}

// Vary is by how much the simulated robot differs from the one that controllers know.
type Vary struct {
	Line     int       `yaml:",line"`
	Servo    float64   `yaml:"servo"`
	Mass     float64   `yaml:"mass"`
	Friction []float64 `yaml:"friction"`
}

// Control is which cycle drives the robot.
type Control struct {
	Line  int `yaml:",line"`
	Cycle int `yaml:"cycle"`
}

// Action is something that happens.
type Action struct {
	Line     int            `yaml:",line"`
	Lines    map[string]int `yaml:",lines"`
	At       *float64       `yaml:"at"`
	Joints   []JointValue   `yaml:"joints"`
	In       float64        `yaml:"in"`
	Play     string         `yaml:"play"`
	Push     *Push          `yaml:"push"`
	Velocity *Velocity      `yaml:"velocity"`
	Gait     string         `yaml:"gait"`
	Friction *float64       `yaml:"friction"`
	Slope    *world.Slope   `yaml:"slope"`
	Voltage  *float64       `yaml:"voltage"`
	Loss     *float64       `yaml:"loss"`
	Payload  *Payload       `yaml:"payload"`
	Grab     *Grab          `yaml:"grab"`
	Drop     *float64       `yaml:"drop"`
	Trouble  *Trouble       `yaml:"trouble"`
	GetUp    string         `yaml:"get_up"` // auto, left, right or belly
}

// Velocity is how the robot is to walk, in its own axes, until it is told otherwise.
type Velocity struct {
	Line int     `yaml:",line"`
	X    float64 `yaml:"x"`   // ahead, m/s
	Y    float64 `yaml:"y"`   // to the left, m/s
	Yaw  float64 `yaml:"yaw"` // rad/s
}

// Push is a force on a link for a time.
type Push struct {
	Line  int             `yaml:",line"`
	Link  string          `yaml:"link"`
	Force strictyaml.Node `yaml:"force"`
	Point strictyaml.Node `yaml:"point"`
	For   float64         `yaml:"for"`
}

// Grab is a spring between a point of a link and a point of the world, for a time.
type Grab struct {
	Line      int             `yaml:",line"`
	Link      string          `yaml:"link"`
	Point     strictyaml.Node `yaml:"point"`
	To        strictyaml.Node `yaml:"to"`
	Stiffness float64         `yaml:"stiffness"`
	For       float64         `yaml:"for"`
}

// Trouble is what is wrong with a servo, for a time.
type Trouble struct {
	Line   int     `yaml:",line"`
	Joint  string  `yaml:"joint"`
	Silent bool    `yaml:"silent"`
	Limp   bool    `yaml:"limp"`
	Jammed bool    `yaml:"jammed"`
	Fault  string  `yaml:"fault"`
	For    float64 `yaml:"for"` // 0: to the end
}

// Payload is a mass that is put on a link.
type Payload struct {
	Line int             `yaml:",line"`
	Link string          `yaml:"link"`
	Mass float64         `yaml:"mass"`
	At   strictyaml.Node `yaml:"at"`
}

// Criterion is something that is expected.
type Criterion struct {
	Line  int             `yaml:",line"`
	Lines map[string]int  `yaml:",lines"`
	Name  string          `yaml:"name"`
	What  string          `yaml:"what"`
	Max   *float64        `yaml:"max"`
	Min   *float64        `yaml:"min"`
	Is    strictyaml.Node `yaml:"is"`
	From  *float64        `yaml:"from"`
	To    *float64        `yaml:"to"`
	Of    string          `yaml:"of"`
}

// Trace says how often a line is written.
type Trace struct {
	Line  int      `yaml:",line"`
	Every *float64 `yaml:"every"`
}

// What a scenario leaves open, s.
const (
	defaultPeriod = 0.01
	defaultStep   = 0.001
	defaultTrace  = 0.01
)

// Parse reads a scenario; file is its name in messages. All that is wrong with its form
// comes at once, each with its line.
func Parse(data []byte, file string) (*Scenario, error) {
	s := &Scenario{File: file}
	if err := strictyaml.Decode(data, file, s); err != nil {
		return nil, err
	}
	c := checker{s: s}
	c.check()
	return s, c.report.Err()
}

// checker gathers what is wrong with a scenario whatever the robot is.
type checker struct {
	s      *Scenario
	report problem.Report
}

func (c *checker) errorf(line int, thing, format string, a ...any) {
	c.report.Errorf(Invalid, problem.Pos{File: c.s.File, Line: max(line, 1)}, thing, format, a...)
}

func (c *checker) check() {
	s := c.s
	switch {
	case s.Lines["duration"] == 0:
		c.errorf(1, "duration", "is missing: how long, in s?")
	case !(s.Duration > 0 && s.Duration <= longest):
		c.errorf(s.Lines["duration"], "duration", "%g s is not within 0 … %g s", s.Duration, float64(longest))
	}
	if !c.checkTimes() {
		return
	}
	if len(s.Servos) > 0 && s.Model != nil {
		c.errorf(s.Lines["model"], "model", "belongs to the servo models, which servos replaces: give one of them")
	}
	c.checkWorld()
	c.checkServos()
	c.checkUnit()
	if k := s.Control.Cycle; k < 0 || k > control.LastCycle {
		c.errorf(s.Control.Line, "control.cycle", "cycle %d is not built; there are 0 to %d", k, control.LastCycle)
	}
	for i := range s.Do {
		c.checkAction(&s.Do[i])
	}
	for i := range s.Expect {
		c.checkCriterion(&s.Expect[i])
	}
}

const longest = 36000 // s

// checkTimes looks at step, period and trace, and shortens the step to one that the period is
// a multiple of: 22.4 ms are no whole number of ms.
func (c *checker) checkTimes() bool {
	s := c.s
	step, period, every := s.step(), s.period(), s.every()
	if !(step >= 1e-5 && step <= 0.005) {
		c.errorf(s.Lines["step"], "step", "%g s is not within 0.00001 … 0.005 s", step)
		return false
	}
	if !(period >= 1e-5 && period <= longestPeriod) {
		c.errorf(s.Lines["period"], "period", "%g s is not within 0.00001 … %g s", period, float64(longestPeriod))
		return false
	}
	if !(every >= 1e-5 && every <= longest) {
		c.errorf(s.Trace.Line, "trace.every", "%g s is not within 0.00001 … %d s", every, longest)
		return false
	}
	fitted := fit(step, period)
	s.Step = &fitted
	return true
}

const longestPeriod = 1 // of control, s

// fit returns the longest step, no longer than the one given, that a period is a multiple of.
func fit(step, period float64) float64 {
	if multiple(period, step) {
		return step
	}
	return period / math.Ceil(period/step)
}

func (c *checker) checkWorld() {
	v := &c.s.Vary
	c.s.World.Check("world.", c.errorf)
	if !(v.Servo >= 0 && v.Servo < 1) || !(v.Mass >= 0 && v.Mass < 1) {
		c.errorf(v.Line, "vary", "servo and mass are shares, 0 … 1")
	}
	if f := v.Friction; f != nil && (len(f) != 2 || f[0] < 0 || f[1] < f[0]) {
		c.errorf(v.Line, "vary.friction", "two numbers are wanted, the least and the greatest")
	}
}

func (c *checker) checkServos() {
	for i := range c.s.Servos {
		e := &c.s.Servos[i]
		for _, given := range []struct {
			name  string
			value *float64
		}{{"kp", e.Kp}, {"kd", e.Kd}, {"armature", e.Armature}, {"friction", e.Friction}, {"effort", e.Effort}} {
			if given.value != nil && *given.value < 0 {
				c.errorf(e.Line, "servos."+e.Joint+"."+given.name, "%g is negative", *given.value)
			}
		}
	}
	if m := c.s.Model; m != nil {
		if m.Kp != nil && !(*m.Kp >= 0) || m.Voltage != nil && !(*m.Voltage > 0) || m.Delay < 0 || m.Jitter < 0 || !(m.Loss >= 0 && m.Loss <= 1) {
			c.errorf(m.Line, "model", "kp, delay and jitter are not negative, voltage is positive, loss a share")
		}
	}
}

func (c *checker) checkUnit() {
	u := c.s.Unit
	if u == nil {
		return
	}
	e := u.errors()
	for _, x := range []struct {
		name  string
		value float64
		most  float64
		unit  string
	}{{"rate_noise", e.RateNoise, 1, "rad/s"}, {"acceleration_noise", e.AccelerationNoise, 10, "m/s²"}, {"rate_bias", e.RateBias, 1, "rad/s"}, {"acceleration_bias", e.AccelerationBias, 10, "m/s²"},
		{"delay", float64(e.Delay), longestUnitDelay, "periods"}} {
		if !(x.value >= 0 && x.value <= x.most) {
			c.errorf(u.Line, "unit."+x.name, "%g is not within 0 … %g %s", x.value, x.most, x.unit)
		}
	}
}

// highestDrop is from how high a robot may be dropped, m.
const highestDrop = 10

// verbs lists what an action may do.
var verbs = []string{"joints", "play", "push", "velocity", "friction", "slope", "voltage", "loss", "payload", "grab", "drop", "trouble", "get_up"}

// checkAction wants an entry of do to have one verb, a time, and no keys of other verbs.
func (c *checker) checkAction(a *Action) {
	var given []string
	for _, verb := range verbs {
		if a.Lines[verb] != 0 {
			given = append(given, verb)
		}
	}
	if len(given) != 1 {
		c.errorf(a.Line, "do", "has %s, must have exactly one of %s", problem.List(given), problem.List(verbs))
		return
	}
	thing := "do: " + given[0]
	if a.At == nil {
		c.errorf(a.Line, thing, "has no time (at)")
	} else if !(*a.At >= 0) {
		c.errorf(a.Line, thing, "at %g s is before the start", *a.At)
	} else if end := c.s.Duration; end > 0 && *a.At >= end {
		c.errorf(a.Line, thing, "at %g s never comes: the scenario ends at %g s (duration)", *a.At, end)
	}
	if a.Lines["in"] != 0 && given[0] != "joints" {
		c.errorf(a.Lines["in"], thing, "in belongs to joints")
	}
	if a.Lines["gait"] != 0 && given[0] != "velocity" {
		c.errorf(a.Lines["gait"], thing, "gait belongs to velocity")
	}
	c.checkVerb(a, given[0], thing)
}

// checkVerb complains about values of an action that are out of their ranges.
func (c *checker) checkVerb(a *Action, verb, thing string) {
	switch verb {
	case "joints":
		if a.In < 0 {
			c.errorf(a.Lines["in"], thing, "in %g s is negative", a.In)
		}
	case "velocity":
		if a.Gait != "" && !slices.Contains(gait.Names, a.Gait) {
			c.errorf(a.Lines["gait"], thing, "gait %q is unknown%s", a.Gait, c.report.Hint(a.Gait, gait.Names))
		}
	case "push":
		if !(a.Push.For > 0) {
			c.errorf(a.Push.Line, thing, "for %g s: a push takes a time", a.Push.For)
		}
	case "grab":
		if !(a.Grab.For > 0) {
			c.errorf(a.Grab.Line, thing, "for %g s: a grab takes a time", a.Grab.For)
		}
	case "trouble":
		if a.Trouble.For < 0 {
			c.errorf(a.Trouble.Line, thing, "for %g s is negative", a.Trouble.For)
		}
	case "get_up":
		if a.GetUp != byUnit && (a.GetUp == "" || !slices.Contains(getup.Names, a.GetUp)) {
			c.errorf(a.Line, thing, "%q is not one of %s, left, right and belly%s", a.GetUp, byUnit, problem.Hint(a.GetUp, append([]string{byUnit}, getup.Names...)))
		}
	case "drop":
		if !(*a.Drop > 0 && *a.Drop <= highestDrop) {
			c.errorf(a.Line, thing, "a height of %g m is not within 0 … %d m", *a.Drop, highestDrop)
		}
	case "friction":
		if *a.Friction < 0 {
			c.errorf(a.Line, thing, "%g is negative", *a.Friction)
		}
	case "loss":
		if !(*a.Loss >= 0 && *a.Loss <= 1) {
			c.errorf(a.Line, thing, "%g is no share, 0 … 1", *a.Loss)
		}
	case "voltage":
		if !(*a.Voltage >= 0) {
			c.errorf(a.Line, thing, "%g V is negative", *a.Voltage)
		}
	case "payload":
		if !(a.Payload.Mass >= 0) {
			c.errorf(a.Payload.Line, thing, "mass %g kg is negative", a.Payload.Mass)
		}
	}
}

// byUnit lets the inertial unit tell how a robot lies that gets up.
const byUnit = "auto"

// steps is how many there are: the last ends at the duration or after it.
func (s *Scenario) steps() int { return int(math.Ceil(s.Duration/s.step() - 1e-6)) }

func (s *Scenario) step() float64 { return or(s.Step, defaultStep) }

func (s *Scenario) period() float64 { return or(s.Period, defaultPeriod) }

func (s *Scenario) every() float64 { return or(s.Trace.Every, defaultTrace) }

func or(x *float64, otherwise float64) float64 {
	if x != nil {
		return *x
	}
	return otherwise
}

// multiple reports whether x is a whole number of steps, at least one.
func multiple(x, step float64) bool {
	n := math.Round(x / step)
	return n >= 1 && math.Abs(x-n*step) < 1e-9*math.Max(1, n)*step+1e-12
}
