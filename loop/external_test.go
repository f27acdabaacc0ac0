package loop

import (
	"math"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/external"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	servomodel "poise/servo/model"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// triggered moves as nodder does, on a clock of its own, and passes events.
type triggered struct {
	nodder
	time   float64
	events []float64
}

func (c *triggered) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.time += in.Tick.Dt * in.Rate
	at := *in
	at.Tick.Time = int64((1 + c.time) * 1e9)
	status, why := c.nodder.Update(&at, out)
	if in.Rate == 0 {
		clear(out.V)
		clear(out.A)
	}
	out.Time = c.time
	for _, t := range c.events {
		if t <= c.time {
			out.Passed++
		}
	}
	return status, why
}

// asks is a program whose events are triggers.
type asks struct {
	keep
	triggers []control.Trigger
}

func (p *asks) Trigger(n uint32) (control.Trigger, bool) {
	if int(n) >= len(p.triggers) {
		return control.Trigger{}, false
	}
	return p.triggers[n], true
}

// touchy is a pony in physics whose cycle feels what touches it, without touch sensors.
type touchy struct {
	t    *testing.T
	m    *robot.Model
	bus  *physics.Bus
	l    *Loop
	c    *triggered
	n    uint64
	felt []Report
	over []Report
}

func newTouchy(t *testing.T, s ExternalSettings, c *triggered, p *asks) *touchy {
	t.Helper()
	m := model(t, "pony", load.Options{})
	n := len(m.Joints())
	x := &touchy{t: t, m: m, bus: standingPony(t, m), c: c}
	c.nodder.m = m
	known := make([]*servomodel.Model, n)
	for i := range known {
		known[i] = m.Servo(robot.JointID(i)).Model
	}
	s.On = true
	var err error
	x.l, err = New(Config{Model: m, Bus: x.bus, Controllers: []Registration{{Name: "nod", Controller: c}},
		Settings: Settings{Inversion: servo.InversionConfig{Name: "model", Models: known}, Cycle1: control.JointLeaves(n), External: s,
			Sensors: servo.Sensors{IMU: 1}, Policy: arbiter.PolicyLast}})
	if err != nil {
		t.Fatal(err)
	}
	p.keep = keep{joints: control.JointLeaves(n), q: m.RestPositions()}
	x.run(2)
	x.l.Send(Order{Kind: PowerOn})
	x.run(2)
	x.l.Send(Order{Kind: StartGoal, Controller: 0, Goal: 1, Program: p})
	x.run(1)
	return x
}

func (x *touchy) run(ticks int) {
	for range ticks {
		x.l.Step(servo.Tick{N: x.n, Time: int64(x.n) * 1e7, Dt: 0.01})
		x.n++
		for {
			r, ok := x.l.Receive()
			if !ok {
				break
			}
			switch r.Kind {
			case Felt:
				x.felt = append(x.felt, r)
			case GoalEnded:
				x.over = append(x.over, r)
			}
		}
	}
}

// hit lets a force act on the head for a while.
func (x *touchy) hit(f spatial.Vec3, ticks int) (impact *Report) {
	head, _ := x.m.Chain("head")
	tip := &x.m.Frames()[x.m.Chains()[head].Tip]
	in := x.bus.Input()
	in.Pushes = append(in.Pushes[:0], sim.Push{Body: tip.Body, Point: tip.Pose.P, Force: f})
	x.felt = x.felt[:0]
	x.run(ticks)
	in.Pushes = in.Pushes[:0]
	for i := range x.felt {
		if e := &x.felt[i].Felt; e.Kind == external.LiftOff && e.Size > 1.5 {
			x.t.Errorf("%s is told to lift off with %.2f N on it", x.m.Chains()[e.Chain].Name, e.Size)
		}
	}
	for i := range x.felt {
		if x.felt[i].Felt.Kind == external.Impact && x.felt[i].Felt.Chain == head {
			return &x.felt[i]
		}
	}
	return nil
}

// TestALimbReactsToAnImpact as its robot says: ignore, hold, soften or retreat; as the motion says, if it does.
func TestALimbReactsToAnImpact(t *testing.T) {
	for _, reaction := range []control.Reaction{control.Ignore, control.Hold, control.Soften, control.Retreat} {
		c := &triggered{events: []float64{0.5}}
		m := model(t, "pony", load.Options{})
		nod, _ := m.Joint("joint52")
		c.joints = map[int]float64{int(nod): 0.3}
		head, _ := m.Chain("head")
		p := &asks{triggers: []control.Trigger{{Reaction: reaction, Limbs: control.LimbSet(0).With(head)}}}
		impacts := make([]control.Reaction, len(m.Chains()))
		impacts[head] = control.Hold // the motion says otherwise
		if reaction == control.Hold {
			p.triggers = nil
		}
		x := newTouchy(t, ExternalSettings{Impacts: impacts}, c, p)
		x.run(80) // it settles into its torques
		x.felt = x.felt[:0]
		x.run(70)
		for _, r := range x.felt {
			if r.Felt.Kind == external.Impact {
				t.Fatalf("%v: an impact of nothing: %+v", reaction, r.Felt)
			}
		}
		before := x.l.seats[0].ref.Q[nod]
		e := x.hit(spatial.Vec3{Z: -15}, 15)
		if e == nil {
			t.Errorf("%v: a force of 15 N on the head is not felt: %+v", reaction, x.felt)
			continue
		}
		if e.Reaction != reaction {
			t.Errorf("%v: it reacted by %v", reaction, e.Reaction)
		}
		stood, soft := c.time, x.l.setpoint[nod].Stiffness
		x.run(60)
		went := c.time - stood
		if paused := reaction == control.Hold || reaction == control.Retreat; paused != x.l.seats[0].paused || paused == (went > 0.3) {
			t.Errorf("%v: paused %v, and its clock went on by %g s", reaction, x.l.seats[0].paused, went)
		}
		if (soft < 0.5) != (reaction == control.Soften) {
			t.Errorf("%v: its stiffness is %g", reaction, soft)
		}
		if back := math.Abs(x.l.command.Q[nod] - before); reaction == control.Retreat && back < 0.01 {
			t.Errorf("it is to retreat, and is %g rad from where it was hit", back)
		}
		x.run(350)
		if s := x.l.setpoint[nod].Stiffness; reaction == control.Soften && s < 0.99 {
			t.Errorf("after 4 s it is as soft as %g", s)
		}
	}
}

// TestAMotionWaitsForContact: its clock stands until a foot does; one that does not come makes it fail.
func TestAMotionWaitsForContact(t *testing.T) {
	for _, c := range []struct {
		name   string
		swing  bool
		passes bool
	}{{"for feet that stand", false, true}, {"for a foot to swing that stands", true, false}} {
		m := model(t, "pony", load.Options{})
		leg, _ := m.Chain("leg1")
		k := &triggered{events: []float64{0.5}}
		x := newTouchy(t, ExternalSettings{}, k, &asks{triggers: []control.Trigger{{Waits: true, Swing: c.swing, Timeout: 1, Limbs: control.LimbSet(0).With(leg)}}})
		x.run(120)
		if !x.l.measured.Contacts[leg].Carries() {
			t.Fatalf("leg1 of a pony that stands: %+v", x.l.measured.Contacts[leg])
		}
		if passed := k.time > 0.7; passed != c.passes {
			t.Errorf("%s: its clock is at %g s", c.name, k.time)
		}
		x.run(100)
		if failed := len(x.over) == 1 && x.over[0].Status == control.Failed && x.over[0].Reason.Code == control.NotTouched; failed == c.passes {
			t.Errorf("%s: it ended as %+v", c.name, x.over)
		}
	}
}

// TestOdometryStandsOnWhatIsFelt where there are no touch sensors and the robot is told to.
func TestOdometryStandsOnWhatIsFelt(t *testing.T) {
	x := newTouchy(t, ExternalSettings{Feeds: true}, &triggered{}, &asks{})
	x.run(200)
	m := &x.l.measured
	if !m.Felt {
		t.Fatalf("feet are %+v", m.Contacts)
	}
	load, doubt := 0.0, 0.0
	for i, c := range m.Contacts {
		doubt += c.Doubt
		if c.Foot && (!c.Carries() || m.Support[i].Weight <= 0) {
			t.Errorf("%s: %+v, support %g", x.m.Chains()[i].Name, c, m.Support[i].Weight)
		}
		load += c.Force
	}
	if weight := x.m.Mass() * 9.81; math.Abs(load-weight) > 0.1*weight+doubt {
		t.Errorf("feet feel %.1f N of a weight of %.1f N, %.1f N of it in doubt", load, weight, doubt)
	}
	if off := m.Base.Pose.P.Sub(spatial.Vec3{Z: x.bus.State().Q[2]}); math.Abs(off.Z) > 0.005 {
		t.Errorf("odometry has it %g m off", off.Z)
	}
}
