package description

import (
	"slices"

	"poise/problem"
)

// Impossible is the code of a declaration that cannot be.
const Impossible problem.Code = "impossible_declaration"

// SafeActions are the words of safe_states.GROUP.do.
var SafeActions = []string{"hold", "crouch then off", "brake", "off"}

// Crouch is the safe action that needs a pose.
const Crouch = "crouch then off"

// LeavingActions are the words of leaving.do; Rest is the one that needs a pose.
var LeavingActions = []string{"hold", "off", Rest}

// Rest is the action of leaving that goes to a pose first.
const Rest = "rest"

// highestServoID is the last address of a servo: 254 speaks to all.
const highestServoID = 253

// Check reports what is wrong with a description whatever the robot is.
func (d *Description) Check(r *problem.Report) {
	fail := func(line int, thing, format string, a ...any) {
		r.Errorf(Impossible, d.At(line), thing, format, a...)
	}
	if !slices.Contains([]string{"", "fixed", "floating"}, d.Base) {
		fail(d.Lines["base"], "base", "%q is neither fixed nor floating", d.Base)
	}
	if d.Gravity != nil && len(d.Gravity) != 3 {
		fail(d.Lines["gravity"], "gravity", "has 3 numbers, not %d", len(d.Gravity))
	}
	for _, x := range []struct {
		key   string
		value *float64
	}{{"transition_acceleration", d.TransitionAcceleration}, {"transition_velocity", d.TransitionVelocity}, {"fast_transition_acceleration", d.FastTransition}} {
		if x.value != nil && *x.value <= 0 {
			fail(d.Lines[x.key], x.key, "%g is not positive", *x.value)
		}
	}
	if d.TransitionVelocity != nil && d.TransitionAcceleration == nil {
		fail(d.Lines["transition_velocity"], "transition_velocity", "goes with transition_acceleration, which is missing")
	}
	if a, b := d.FastTransition, d.TransitionAcceleration; a != nil && (d.TransitionVelocity == nil || b == nil || *a < *b) {
		fail(d.Lines["fast_transition_acceleration"], "fast_transition_acceleration", "goes with transition_velocity and a transition_acceleration below it")
	}
	for _, c := range d.Contacts {
		if len(c.Points) == 0 {
			fail(c.Line, problem.Named("contact", c.Name), "has no point")
		}
		if c.Sole < 0 {
			fail(c.Line, problem.Named("contact", c.Name), "sole %g is negative", c.Sole)
		}
		for _, p := range c.Points {
			if len(p) != 3 {
				fail(c.Line, problem.Named("contact", c.Name), "a point has 3 numbers, not %d", len(p))
			}
		}
	}
	for _, o := range d.Outputs {
		if o.Type == "" {
			fail(o.Line, problem.Named("output", o.Name), "type is missing")
		}
	}
	for _, g := range d.Groups {
		if len(g.Chains)+len(g.Joints)+len(g.Groups)+len(g.Leaves) == 0 {
			fail(g.Line, problem.Named("group", g.Name), "lists nothing")
		}
	}
	for _, s := range d.SafeStates {
		switch thing := problem.Named("safe state of", s.Group); {
		case !slices.Contains(SafeActions, s.Do):
			fail(s.Line, thing, "do: %q is not one of hold, crouch then off, brake, off%s", s.Do, problem.Hint(s.Do, SafeActions))
		case s.Do != Crouch && s.Pose != "":
			fail(s.Line, thing, "pose belongs to crouch then off alone")
		}
	}
	d.checkLeaving(fail)
	d.checkWalking(fail)
	d.checkGetUp(fail)
	d.checkExternal(fail)
	d.checkServos(fail)
	d.checkBuses(fail)
	d.checkIMU(fail)
	d.checkModels(fail)
	d.checkMirror(fail)
}

func (d *Description) checkLeaving(fail func(int, string, string, ...any)) {
	l := &d.Leaving
	if l.Line == 0 {
		return
	}
	switch {
	case !slices.Contains(LeavingActions, l.Do):
		fail(l.Line, "leaving", "do: %q is not one of hold, off, rest%s", l.Do, problem.Hint(l.Do, LeavingActions))
	case l.Do != Rest && (l.Pose != "" || l.Speed != 0 || l.Deadline != 0):
		fail(l.Line, "leaving", "pose, speed and deadline belong to rest alone")
	}
	if s := l.Speed; s != 0 && !(s >= 0.01 && s <= 1) {
		fail(l.Line, "leaving", "speed %g is not within 0.01 … 1 of the joints' limits", s)
	}
	if s := l.Deadline; s != 0 && !(s >= 0.1 && s <= 600) {
		fail(l.Line, "leaving", "deadline %g s is not within 0.1 … 600 s", s)
	}
}

// Reactions are what limbs do when something hits them.
var Reactions = []string{"ignore", "hold", "soften", "retreat"}

func (d *Description) checkExternal(fail func(int, string, string, ...any)) {
	external := &d.External
	within := func(name string, v, low, high float64, unit string) {
		if v != 0 && !(v >= low && v <= high) {
			fail(external.Line, "external_forces", "%s %g is not within %g … %g%s", name, v, low, high, unit)
		}
	}
	within("force_on", external.ForceOn, 1e-3, 1e4, " N")
	within("bandwidth", external.Bandwidth, 1, 1000, " rad/s")
	within("model_error", external.ModelError, 1e-4, 1, "")
	within("delay", external.Delay, 0, 0.2, " s")
	within("lift_gate", external.LiftGate, 0, 10, " s")
	within("impact", external.Impact, 1, 100, " standard deviations")
	for _, r := range external.Impacts {
		if !slices.Contains(Reactions, r.Value) {
			fail(external.Line, "external_forces", "impacts: %q of %q is not one of ignore, hold, soften, retreat%s", r.Value, r.Name, problem.Hint(r.Value, Reactions))
		}
	}
}

func (d *Description) checkServos(fail func(int, string, string, ...any)) {
	type address struct {
		bus string
		id  int
	}
	taken := map[address]string{}
	virtual := make(map[string]bool, len(d.Virtual))
	for _, name := range d.Virtual {
		virtual[name] = true
	}
	for _, s := range d.Servos {
		thing := problem.Named("servo of joint", s.Joint)
		if s.Gear != nil && *s.Gear <= 0 {
			fail(s.Line, thing, "gear %g is not positive", *s.Gear)
		}
		if s.Min != nil && s.Max != nil && *s.Min >= *s.Max {
			fail(s.Line, thing, "min %d is not below max %d", *s.Min, *s.Max)
		}
		if virtual[s.Joint] {
			fail(s.Line, thing, "virtual_joints says that no servo moves it")
		}
		if s.ID == nil {
			if s.Lines["id"] == 0 { // else it cannot be read, which is told already
				fail(s.Line, thing, "id is missing")
			}
			continue
		}
		if *s.ID < 0 || *s.ID > highestServoID {
			fail(s.Line, thing, "id %d is not within 0 … %d", *s.ID, highestServoID)
		}
		at := address{s.Bus, *s.ID}
		if other, ok := taken[at]; ok {
			fail(s.Line, thing, "id %d is that of joint %q already", *s.ID, other)
		}
		taken[at] = s.Joint
	}
}

func (d *Description) checkBuses(fail func(int, string, string, ...any)) {
	line, has := d.Lines["bus"]
	if has && len(d.Buses) > 0 {
		fail(line, "bus", "stands beside buses: one of them is for one line, the other for several")
	}
	if has && d.Bus.Port == "" {
		fail(line, "bus", "port is missing")
	}
	if d.Bus.Baud < 0 {
		fail(line, "bus", "baud %d is negative", d.Bus.Baud)
	}
	var lines []string
	for _, b := range d.Buses {
		lines = append(lines, b.Name)
		if b.Port == "" {
			fail(b.Line, problem.Named("bus", b.Name), "port is missing")
		}
		if b.Baud < 0 {
			fail(b.Line, problem.Named("bus", b.Name), "baud %d is negative", b.Baud)
		}
	}
	for _, s := range d.Servos {
		if len(d.Buses) > 0 && !slices.Contains(lines, s.Bus) {
			fail(s.Line, problem.Named("servo of joint", s.Joint), "bus %q is not in buses%s", s.Bus, problem.Hint(s.Bus, lines))
		}
	}
}

func (d *Description) checkIMU(fail func(int, string, string, ...any)) {
	line, has := d.Lines["imu"]
	if !has {
		return
	}
	if d.IMU.Port == "" {
		fail(line, "imu", "port is missing")
	}
	if d.IMU.Baud < 0 {
		fail(line, "imu", "baud %d is negative", d.IMU.Baud)
	}
	if n := len(d.IMU.Rotation); n != 0 && n != 3 {
		fail(line, "imu", "rotation has %d numbers, must be roll, pitch, yaw", n)
	}
}

func (d *Description) checkModels(fail func(int, string, string, ...any)) {
	for i := range d.Models {
		e := &d.Models[i]
		m, thing := e.Model(), problem.Named("servo model", e.Name)
		if at, given := e.Lines["gear"]; given && e.Gear == 0 {
			fail(at, thing, "gear is 0, must be above 0: leave it out for that of servos.JOINT.gear")
		}
		for _, wrong := range m.Check() {
			fail(e.LineOf(wrong), thing, "%v", wrong)
		}
		if e.Voltage == 0 && d.ServoVoltage == 0 {
			fail(e.Line, thing, "voltage is missing")
		}
	}
	if v := d.ServoVoltage; v < 0 || v > 1000 {
		fail(d.Lines["servo_voltage"], "servo_voltage", "%g V is not within 0 … 1000 V", v)
	}
}

func (d *Description) checkMirror(fail func(int, string, string, ...any)) {
	for _, e := range d.Mirror {
		alone := e.Middle != "" && e.Left == "" && e.Right == ""
		pair := e.Middle == "" && e.Left != "" && e.Right != "" && e.Left != e.Right
		if !alone && !pair {
			fail(e.Line, "mirror", "an entry has left and right, two joints, or middle")
		}
		if e.Sign == nil || *e.Sign != 1 && *e.Sign != -1 {
			fail(e.Line, "mirror", "joint %q: sign must be 1 or -1", e.Left+e.Middle)
		}
	}
}
