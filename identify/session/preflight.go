package session

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/arbiter"
	"poise/control/excite"
	"poise/loop"
	"poise/problem"
	"poise/robot"
	"poise/servo"
)

// Check is one thing that was looked at before anything moves.
type Check struct {
	Name         string // of the check: torque, temperature, owner …
	Thing        string // joint, chain or robot
	Value, Limit float64
	Unit         string
	OK           bool
	Text         string // in words
}

// What a pre-flight refuses by.
const (
	Unsafe      problem.Code = "pre_flight"
	hottest                  = 70.0 // °C, unless faults of the robot say less
	mostTilt                 = 0.1  // rad that a base may lean: torques are computed for one that is upright
	mostSilence              = 0.1  // s since a joint was heard of
	mostSpeed                = 0.05 // rad/s at which it may still move
)

// How the robot is held while its legs move.
const (
	Fixed  = "fixed"  // its base is clamped
	Lifted = "lifted" // its base hangs or lies on something, feet in the air
)

// preflight gathers checks.
type preflight struct {
	id     *Identifier
	now    *loop.Snapshot
	checks []Check
}

func (p *preflight) add(c Check) { p.checks = append(p.checks, c) }

// limit adds a check of a number against its greatest value.
func (p *preflight) limit(name, thing string, value, limit float64, unit, what string) {
	p.add(Check{Name: name, Thing: thing, Value: value, Limit: limit, Unit: unit, OK: value <= limit, Text: strings.TrimSpace(fmt.Sprintf("%s %.3g %s", what, value, unit)) + fmt.Sprintf(", at most %.3g may be", limit)})
}

// joints finds the joints of a set that have servos to identify.
func (p *preflight) joints(set robot.Set) (all []robot.JointID) {
	m := p.id.robot.Model
	for leaf := range set.All {
		if int(leaf) >= len(m.Joints()) {
			continue
		}
		if j := robot.JointID(leaf); !m.Joints()[j].Virtual {
			all = append(all, j)
		}
	}
	return all
}

// look checks everything, in the order in which people would.
func (p *preflight) look(joints []robot.JointID, mounting string) {
	p.whole(len(joints))
	for _, j := range joints {
		p.joint(j)
	}
	p.held(joints, mounting)
}

// whole checks the robot.
func (p *preflight) whole(joints int) {
	r, name := &p.id.robot, "robot "+p.id.robot.Name
	if r.Exact {
		p.add(Check{Name: "servos", Thing: name, Text: "joints of this driver are exact: there are no servos to identify"})
	}
	if joints == 0 {
		p.add(Check{Name: "servos", Thing: name, Text: "nothing that was named has a servo"})
	}
	p.add(Check{Name: "power", Thing: name, OK: p.now.Power == loop.Enabled && !p.now.Stopped && !p.now.Paused,
		Text: fmt.Sprintf("power is %v, stopped %v, paused %v", p.now.Power, p.now.Stopped, p.now.Paused)})
	p.faults(name)
	if v := p.now.Measured.Volt; v > 0 && r.LeastVoltage > 0 {
		p.add(Check{Name: "voltage", Thing: name, Value: v, Limit: r.LeastVoltage, Unit: "V", OK: v >= r.LeastVoltage, Text: fmt.Sprintf("the supply has %.3g V, at least %.3g are needed", v, r.LeastVoltage)})
	}
}

// faults looks for those about which something is done: one that is only said, such as a busy computer, changes no motion.
func (p *preflight) faults(name string) {
	var wrong, said []string
	for k, severity := range p.now.Raised {
		switch kind := loop.FaultKind(k).String(); {
		case severity > loop.SeverityWarn:
			wrong = append(wrong, fmt.Sprintf("%s (%v)", kind, severity))
		case severity == loop.SeverityWarn:
			said = append(said, kind)
		}
	}
	c := Check{Name: "faults", Thing: name, Value: float64(len(wrong)), OK: len(wrong) == 0, Text: "none is active"}
	switch {
	case len(wrong) > 0:
		c.Text = "active: " + strings.Join(wrong, ", ") + "; mend what they tell of, then reset"
	case len(said) > 0:
		c.Text = "only warnings are active: " + strings.Join(said, ", ")
	}
	p.add(c)
}

// joint checks a joint and its servo.
func (p *preflight) joint(j robot.JointID) {
	r := &p.id.robot
	name := r.Model.Joints()[j].Name
	thing := problem.Joint(name)
	if r.Model.Servo(j).Model == nil {
		p.add(Check{Name: "model", Thing: thing, Text: "robot.yaml has no servo model of its type: its gain is unknown"})
	}
	p.add(Check{Name: "torque", Thing: thing, OK: !p.now.Limp.Has(robot.LeafID(j)), Text: map[bool]string{true: "it has no torque", false: "it has torque"}[p.now.Limp.Has(robot.LeafID(j))]})
	if age := p.now.Measured.Age[j]; age == servo.Never {
		p.add(Check{Name: "heard", Thing: thing, Text: "it was never read"})
	} else {
		p.limit("heard", thing, float64(age)*r.Period, max(mostSilence, 4*r.Period), "s", "it was last heard of before")
	}
	// one answer that is lost is no fault: for how long it was not heard of is judged above
	if f := p.now.Measured.Fault[j] &^ (servo.NoAnswer | servo.BadPacket); f != 0 {
		p.add(Check{Name: "fault", Thing: thing, Value: float64(f), Text: "its servo reports " + strings.Join(slices.Collect(f.All), ", ")})
	}
	if warm := p.id.tap.temperature(j); warm > 0 {
		p.limit("temperature", thing, warm, p.hottest(), "°C", "its servo has")
	}
	p.limit("rest", thing, math.Abs(p.now.Command.V[j]), mostSpeed, "rad/s", "it moves at")
	p.owner(j, thing)
	b := &p.id.bounds[j]
	q := p.now.Command.Q[j]
	p.add(Check{Name: "range", Thing: thing, Value: q, Limit: min(max(q, b.Lower), b.Upper), Unit: "rad", OK: q >= b.Lower && q <= b.Upper,
		Text: fmt.Sprintf("it is at %.3g rad, its limits are %.3g and %.3g", q, b.Lower, b.Upper)})
}

// hottest is how warm a servo may be at the start: below what is a fault.
func (p *preflight) hottest() float64 {
	if f := p.id.robot.Hottest; f > 0 {
		return min(hottest, f-5)
	}
	return hottest
}

// owner asks who has a joint: one who does not give it to what is asked for keeps it.
func (p *preflight) owner(j robot.JointID, thing string) {
	who := p.now.Owner[j]
	if who == arbiter.NoClient {
		p.add(Check{Name: "owner", Thing: thing, OK: true, Text: "it is unowned"})
		return
	}
	name, yields := p.id.robot.Owner(who)
	text := fmt.Sprintf("controller %s has it, and does not give it away: end what it does first", name)
	if yields {
		text = fmt.Sprintf("controller %s has it, and gives it away", name)
	}
	p.add(Check{Name: "owner", Thing: thing, OK: yields, Text: text})
}

// held checks that nothing falls and nothing is touched: a chain that carries must be commanded to be free.
func (p *preflight) held(joints []robot.JointID, mounting string) {
	r := &p.id.robot
	switch mounting {
	case "", Fixed, Lifted:
	default:
		p.add(Check{Name: "mounting", Thing: "robot " + r.Name, Text: fmt.Sprintf("mounting is %q, must be %s or %s, or empty%s", mounting, Fixed, Lifted,
			problem.Hint(mounting, []string{Fixed, Lifted}))})
		return
	}
	if !r.Model.Floating() {
		p.add(Check{Name: "mounting", Thing: "robot " + r.Name, OK: true, Text: "its base is fixed"})
		return
	}
	for i, c := range r.Model.Chains() {
		carries := c.Contact != robot.NoContact && slices.ContainsFunc(c.Joints, func(j robot.JointID) bool { return slices.Contains(joints, j) })
		if !carries {
			continue
		}
		thing := "chain " + c.Name
		if mounting == "" {
			p.add(Check{Name: "mounting", Thing: thing, Text: "the robot stands on it: clamp the base (mounting fixed) or lift the robot (mounting lifted), and say so"})
			continue
		}
		p.add(Check{Name: "mounting", Thing: thing, OK: true, Text: "it is commanded to be free, and the base is " + mounting})
		p.touches(i, thing)
	}
	p.tilt()
}

// touches looks whether a chain touches something, by its sensor.
func (p *preflight) touches(chain int, thing string) {
	k := p.id.sensor(chain)
	if k < 0 || k >= len(p.now.Measured.Touch) {
		return
	}
	t := &p.now.Measured.Touch[k]
	if t.Age == servo.Never {
		return
	}
	text := "it touches nothing"
	if t.Pressed {
		text = fmt.Sprintf("its sensor is pressed, by %.3g N: it touches something", t.Force.Norm())
	}
	p.add(Check{Name: "touch", Thing: thing, Value: t.Force.Norm(), Unit: "N", OK: !t.Pressed, Text: text})
}

// tilt looks whether the base is upright, by what an inertial unit feels of gravity.
func (p *preflight) tilt() {
	if len(p.now.Measured.IMU) == 0 || p.now.Measured.IMU[0].Age == servo.Never {
		return
	}
	f := p.now.Measured.IMU[0].Acceleration
	if n := f.Norm(); n > 1 {
		p.limit("tilt", "base", math.Acos(max(-1, min(1, f.Z/n))), mostTilt, "rad", "it leans by")
	}
}

// problems are the checks that failed.
func problems(checks []Check) (all []problem.Problem) {
	for _, c := range checks {
		if c.OK {
			continue
		}
		x := problem.New(Unsafe, "%s: %s", c.Name, c.Text)
		x.Thing, x.Value, x.Limit = c.Thing, c.Value, c.Limit
		all = append(all, *x)
	}
	return all
}

// path lists the joints that a log needs besides: those between the base and what moves, and those
// that are carried by it, whose places change its load.
func (id *Identifier) path(moving []robot.JointID) (all []robot.JointID) {
	m := id.robot.Model
	on := map[robot.JointID]bool{}
	for _, c := range m.Chains() {
		if slices.ContainsFunc(c.Joints, func(j robot.JointID) bool { return slices.Contains(moving, j) }) {
			for _, j := range c.Joints {
				on[j] = !m.Joints()[j].Virtual
			}
		}
	}
	for _, j := range moving {
		delete(on, j)
	}
	all = append(all, moving...)
	for j := range m.Joints() {
		if on[robot.JointID(j)] {
			all = append(all, robot.JointID(j))
		}
	}
	return all
}

// limits are what an excitation may use.
func (id *Identifier) options(set robot.Set, joints []robot.JointID, from []float64, q *Request) excite.Options {
	return excite.Options{Model: id.robot.Model, Needs: set, Joints: joints, From: from, Limits: id.limits, Bounds: id.bounds,
		Servo: id.model, Amplitude: q.Amplitude, Duration: q.Duration, Sweeps: q.Sweeps, Seed: q.Seed}
}
