package server

import (
	"math"
	"slices"
	"testing"

	"poise/action"
	"poise/control/follow"
	"poise/executive"
	"poise/graph"
	"poise/kinematics"
	"poise/loop"
	"poise/msgs"
	"poise/robot"
	"poise/server/config"
	"poise/servo"
	"poise/servo/sim"
	"poise/trajectory"
)

// stepped is a robot whose cycle the test steps by hand: time is what it says, however
// busy the machine is.
type stepped struct {
	t   *testing.T
	s   *Server
	bot *servedRobot
	n   uint64

	// settle, if it is set, waits in each step until jobs beside the cycle are done or wait for it: in a
	// bubble synctest.Wait, so that a busy machine changes nothing.
	settle func()
}

// still makes a server that is not run, and gives one of its robots torque.
func still(t *testing.T, name string, change func(c *config.Config)) *stepped {
	t.Helper()
	return stillWith(t, name, func(job func()) { job() }, change)
}

// stillWith is still with jobs that are run in some way.
func stillWith(t *testing.T, name string, run func(job func()), change func(c *config.Config)) *stepped {
	t.Helper()
	c := config.Default()
	c.Listen, c.Motions = "127.0.0.1:0", t.TempDir()
	change(&c)
	s, err := New(t.Context(), c, Options{Go: run})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &stepped{t: t, s: s}
	for _, bot := range s.robots {
		if bot.name == name {
			b.bot = bot
		}
	}
	for b.bot.exec.State().Power != loop.Ready {
		b.step()
	}
	b.bot.exec.Power("test", true)
	for b.bot.exec.State().Power != loop.Enabled {
		b.step()
	}
	return b
}

// step lets one period pass, in the cycle and outside of it.
func (b *stepped) step() {
	b.bot.exec.Pump(b.tick())
	if b.settle != nil {
		b.settle()
	}
}

// tick lets one period pass in the cycle alone.
func (b *stepped) tick() (time int64) {
	b.n++
	time = int64(b.n) * int64(b.bot.period)
	b.bot.loop.Step(servo.Tick{N: b.n, Time: time, Dt: b.s.cfg.Loop.Period, Stamp: time})
	return time
}

// seconds lets time pass.
func (b *stepped) seconds(t float64, each func()) {
	for range int(math.Round(t / b.s.cfg.Loop.Period)) {
		b.step()
		each()
	}
}

func (b *stepped) joint(name string) robot.JointID {
	id, ok := b.bot.model.Joint(name)
	if !ok {
		b.t.Fatalf("there is no joint %s", name)
	}
	return id
}

// follow moves joints by so much and waits for the end; each is called in every period.
func (b *stepped) follow(seconds float64, delta map[string]float64, feedback func(f executive.Feedback), each func()) {
	b.t.Helper()
	goal := follow.Goal{Points: []trajectory.Point{{Time: seconds}}}
	for name, d := range delta {
		goal.Joints = append(goal.Joints, name)
		b.bot.exec.View(func(now *loop.Snapshot) {
			goal.Points[0].Position = append(goal.Points[0].Position, now.Command.Q[b.joint(name)]+d)
		})
	}
	end, why := action.Pending, ""
	watch := executive.Watch{Feedback: feedback, Changed: func(c executive.Change) { end, why = c.To, c.Result.Text() }}
	if _, err := b.bot.exec.Submit("test", "", 0, &executive.Follow{Goal: goal}, watch); err != nil {
		b.t.Fatal(err)
	}
	for t := 0.0; end != action.Succeeded; t += b.s.cfg.Loop.Period {
		if b.step(); t > seconds+3 {
			b.t.Fatalf("the motion is %v: %s", end, why)
		}
		each()
	}
}

// counted counts what a topic says.
func counted[T any](b *stepped, topic string) func() int {
	b.t.Helper()
	l, err := graph.Listen[T](b.s.graph, topic, graph.SubscribeOptions{QoS: graph.QoS{Depth: 1 << 14}})
	if err != nil {
		b.t.Fatal(err)
	}
	return l.Subscription.Len
}

// TestDefaultRates counts messages in ten seconds of the cycle: joint states and
// tf 100 Hz, diagnostics 1 Hz; and of a motion of four seconds feedback at 20 Hz.
func TestDefaultRates(t *testing.T) {
	b := still(t, "virtual", func(c *config.Config) { c.Loop.Period = 0.005 })
	type counter struct {
		topic string
		rate  int
		count func() int
	}
	all := []counter{
		{"joint_states", 100, counted[msgs.JointState](b, "joint_states")},
		{"joint_states_real", 100, counted[msgs.JointState](b, "joint_states_real")},
		{"tf", 100, counted[msgs.TFMessage](b, "tf")},
		{"diagnostics", 1, counted[msgs.DiagnosticArray](b, "diagnostics")},
	}
	const seconds = 10
	b.seconds(seconds, func() {})
	for _, c := range all {
		if n := c.count(); n < c.rate*seconds-1 || n > c.rate*seconds+1 {
			t.Errorf("%s spoke %d times in %d s, want %d", c.topic, n, seconds, c.rate*seconds)
		}
	}
	n := 0
	b.follow(4, map[string]float64{"joint52": 0.4}, func(executive.Feedback) { n++ }, func() {})
	if n < 4*20-2 || n > 4*20+2 {
		t.Errorf("feedback came %d times in 4 s, want %d", n, 4*20)
	}
}

// gravityTorques returns what gravity does to each joint: how the height of the centre
// of mass changes with it, times the weight. Nothing of package dynamics is used.
func gravityTorques(m *robot.Model, q []float64) []float64 {
	full := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(full)
	for i, j := range m.Joints() {
		full[j.Q] = q[i]
	}
	d := kinematics.NewData(m)
	height := func() float64 {
		d.UpdatePosition(full)
		com, _ := d.Com() // these robots have mass
		return com.Z
	}
	torques := make([]float64, len(m.Joints()))
	const h, gravity = 1e-5, 9.81
	for i, j := range m.Joints() {
		at := full[j.Q]
		full[j.Q] = at + h
		up := height()
		full[j.Q] = at - h
		torques[i] = m.Mass() * gravity * (up - height()) / (2 * h)
		full[j.Q] = at
	}
	return torques
}

// TestTheRealRobotSags by g(q)/stiffness below its command at rest, with readings that
// scatter as set: on both shipped robots, with stiffness given and by effort.
func TestTheRealRobotSags(t *testing.T) {
	for _, c := range []struct {
		robot     string
		stiffness float64
		least     float64 // rad that the pose bends at least one joint
	}{{"arm6", 0, 0.005}, {"arm6", 2000, 0.01}, {"pony", 0, 1e-4}, {"pony", 40, 1e-4}} {
		b := still(t, "real", func(o *config.Config) {
			o.Robot, o.RealSim, o.Loop.Period, o.Sim.Stiffness = c.robot, true, 0.002, c.stiffness
		})
		if c.robot == "arm6" { // out into the room, where gravity pulls
			b.follow(3, map[string]float64{"joint_2": 0.6, "joint_3": -0.4}, nil, func() {})
		}
		b.seconds(1, func() {}) // thirty time constants
		const n = 4000
		var command []float64
		sum, squares := make([]float64, len(b.bot.model.Joints())), make([]float64, len(b.bot.model.Joints()))
		b.seconds(n*0.002, func() {
			b.bot.exec.View(func(now *loop.Snapshot) {
				command = append(command[:0], now.Command.Q...)
				for i := range sum {
					d := now.Measured.Q[i] - now.Command.Q[i]
					sum[i] += d
					squares[i] += d * d
				}
			})
		})
		if faults := b.bot.exec.State().Faults; len(faults) > 0 {
			t.Errorf("%s: the sag is a fault: %+v", c.robot, faults)
		}
		worst, noise := 0.0, b.s.cfg.Sim.Noise
		for i, torque := range gravityTorques(b.bot.model, command) {
			j := &b.bot.model.Joints()[i]
			stiffness := c.stiffness
			if stiffness == 0 {
				stiffness = sim.StiffnessPerEffort * j.Limits.Effort.Value
			}
			if j.Virtual || stiffness == 0 {
				continue
			}
			mean, want := sum[i]/n, -torque/stiffness
			worst = max(worst, math.Abs(want))
			// what sags is another pose, in which gravity differs by a share of the sag
			if tolerance := 5*noise/math.Sqrt(n) + 0.1*math.Abs(want); math.Abs(mean-want) > tolerance {
				t.Errorf("%s: %s stands %.5f off, g/stiffness is %.5f ± %.5f", c.robot, j.Name, mean, want, tolerance)
			}
			// five standard errors of so many readings
			if deviation := math.Sqrt(squares[i]/n - mean*mean); math.Abs(deviation-noise) > 5*noise/math.Sqrt(2*n) {
				t.Errorf("%s: readings of %s scatter by %.6f, want %.6f", c.robot, j.Name, deviation, noise)
			}
		}
		if worst < c.least {
			t.Errorf("%s: nothing is bent by more than %g rad: the pose proves nothing", c.robot, worst)
		}
	}
}

// TestTheRealRobotLags by its time constant when it moves evenly. The joint turns about
// the vertical, where gravity does nothing.
func TestTheRealRobotLags(t *testing.T) {
	const period = 0.001
	b := still(t, "real", func(c *config.Config) { c.Robot, c.RealSim, c.Loop.Period = "arm6", true, period })
	id := b.joint("joint_1")
	var behind []float64
	b.follow(2, map[string]float64{"joint_1": 1}, nil, func() {
		b.bot.exec.View(func(now *loop.Snapshot) {
			if v := now.Command.V[id]; v > 0.72 { // near its top, where speed hardly changes
				behind = append(behind, (now.Command.Q[id]-now.Measured.Q[id])/v)
			}
		})
	})
	if len(behind) < 50 {
		t.Fatalf("%d readings at speed", len(behind))
	}
	slices.Sort(behind)
	lag, median := b.s.cfg.Sim.Lag, behind[len(behind)/2]
	if median < lag-period || median > lag+3*period { // a setpoint takes a cycle there, a reading one back
		t.Errorf("the robot is %.4f s behind its command, its time constant is %g s", median, lag)
	}
}
