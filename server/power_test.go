package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/stepped"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// Power over the wire: only set_torque and set_power add torque; what leaving does; gaps of
// the cycle; pauses. One test for each line of the promise.

// limp wants a robot to list just these as limp, and its joints to be free.
func (b *bed) limp(robot string, want ...string) {
	b.t.Helper()
	var a poisemsgs.GetStateResponse
	b.call(robot+"/get_state", &poisemsgs.GetStateRequest{}, &a)
	if len(a.State.Limp)+len(want) > 0 && !slices.Equal(a.State.Limp, want) {
		b.t.Errorf("limp: %v, want %v", a.State.Limp, want)
	}
}

// torque switches torque.
func (b *bed) torque(robot string, on bool, resources ...string) {
	b.t.Helper()
	b.must(robot+"/set_torque", &poisemsgs.SetTorqueRequest{On: on, Resources: resources})
}

// hand reports whether a hand can move a joint of the real robot: it has no torque.
func (b *bed) hand(joint string) bool {
	b.t.Helper()
	at := b.joints("/real/joint_states_real")[joint]
	return b.ask("/real/joints_hand_set", &poisemsgs.JointsHandSetRequest{Joints: msgs.JointState{Name: []string{joint}, Position: []float64{at}}}).Success
}

func withReal(c *config.Config) { c.RealSim = true }

// TestOnlySetTorqueAndSetPowerAddTorque lets the head of the real robot go, and then does
// everything else that there is: stops with their resets, pause and resume, goals with and
// without resume, switching controllers on and off. The head stays limp, and listed, until
// set_torque, and then until set_power.
func TestOnlySetTorqueAndSetPowerAddTorque(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, withReal).stock()
		whole := []string{"leg1", "leg2", "leg3", "leg4", "head", "tail"}
		free := func(what string) {
			t.Helper()
			if st := b.stateOf("/real"); !slices.Contains(st.Limp, "head") || !b.hand("joint52") {
				t.Errorf("%s: limp %v, a hand can move it %v", what, st.Limp, b.hand("joint52"))
			}
		}
		for _, give := range []func(){
			func() { b.torque("/real", true, "head") },
			func() { b.torque("/real", true) },
			func() { b.must("/real/set_power", &poisemsgs.SetPowerRequest{On: true}) },
		} {
			b.torque("/real", false, "head")
			free("let go")
			for category := uint8(2); ; category-- {
				b.must("/real/stop", &poisemsgs.StopRequest{Category: category})
				free("stop")
				b.must("/real/reset", &poisemsgs.ResetRequest{})
				free("reset")
				b.must("/real/resume", &poisemsgs.ResumeRequest{})
				free("resume")
				b.rejected(b.result(b.send("/real/play_motion", textType, play("twitch", "approach resume"))), "torque", "set_torque")
				free("a goal that may undo a stop")
				if category == 0 {
					break
				}
			}
			b.must("/real/set_power", &poisemsgs.SetPowerRequest{On: true}) // category 1 and 0 took all
			b.limp("/real")
			b.torque("/real", false, "head")
			b.rejected(b.result(b.send("/real/play_motion", textType, play("twitch", ""))), "head", "set_torque")
			free("a goal")
			off := b.send("/real/controllers/torque_off/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"head", "tail"}})
			b.begun(off)
			if err := off.Cancel(b.ctx); err != nil {
				t.Fatal(err)
			}
			b.end(off)
			free("cancel of the controller that let go")
			off = b.send("/real/controllers/torque_off/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"head"}})
			b.begun(off)
			b.must("/real/switch_controllers", &poisemsgs.SwitchControllersRequest{Stop: []string{"torque_off"}})
			b.end(off)
			free("halt of the controller that let go")
			if st := b.stateOf("/real"); !slices.Contains(st.Limp, "tail") {
				t.Errorf("the tail has torque again: limp %v", st.Limp)
			}
			give()
			if st := b.stateOf("/real"); slices.Contains(st.Limp, "head") || b.hand("joint52") {
				t.Errorf("the head has no torque: limp %v", st.Limp)
			}
			b.torque("/real", true)
		}
		b.torque("/real", false)
		if st := b.stateOf("/real"); !containsAll(st.Limp, whole) {
			t.Errorf("a robot without torque lists %v", st.Limp)
		}
		b.torque("/real", true, "tail") // limb by limb
		if st := b.stateOf("/real"); slices.Contains(st.Limp, "tail") || !slices.Contains(st.Limp, "head") || st.Power != "enabled" {
			t.Errorf("power %s, limp %v", st.Power, st.Limp)
		}
	})
}

func containsAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(have, s) })
}

// stateOf returns what one of the robots does.
func (b *bed) stateOf(robot string) poisemsgs.RobotStatus {
	b.t.Helper()
	var a poisemsgs.GetStateResponse
	b.call(robot+"/get_state", &poisemsgs.GetStateRequest{}, &a)
	return a.State
}

// result waits for the end of a goal.
func (b *bed) result(g *client.Goal) client.Update {
	b.t.Helper()
	u, err := g.Result(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// TestExecuteNeverEnergises: Execute with the servos off is refused by name of what is off
// and of the service that helps, and switches nothing on.
func TestExecuteNeverEnergises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, withReal).stock()
		b.torque("/real", false)
		b.rejected(b.result(b.execute("/real", "twitch")), "the servos have no torque", "set_torque")
		if p := b.stateOf("/real").Power; p != "ready" {
			t.Errorf("power is %s", p)
		}
		b.torque("/real", true)
		b.torque("/real", false, "head")
		b.rejected(b.result(b.execute("/real", "twitch")), "joint52 of head has no torque", "set_torque")
		b.limp("/real", "head")
		b.torque("/real", true, "head")
		b.want(b.result(b.execute("/real", "twitch")), succeeded)
	})
}

// execute plays a stored motion as the page does, undoing a stop and a pause.
func (b *bed) execute(robot, name string) *client.Goal {
	b.t.Helper()
	return b.send(robot+"/play_motion", textType, play(name, "approach resume"))
}

// TestASimulatedRobotMayStartLimp: as it is declared; and what is limp is listed.
func TestASimulatedRobotMayStartLimp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			c.Robots = append(c.Robots, config.Robot{Name: "iron", Driver: "sim", Start: config.StartLimp})
		})
		st := b.stateOf("/iron")
		if st.Power != "ready" || !slices.Contains(st.Limp, "leg1") || b.state().Power != "enabled" {
			t.Errorf("power %s, limp %v; the other is %s", st.Power, st.Limp, b.state().Power)
		}
		b.must("/iron/set_power", &poisemsgs.SetPowerRequest{On: true})
		b.limp("/iron")
	})
}

// TestLeavingIsDeclaredPerRobot: at the end one robot holds, one is let go and one goes to
// its pose first, at a limited speed, while clients still see it. They are virtual, so this is what
// the cycle decides: TestServosAreLeftAsDeclared sees what servos made of it.
func TestLeavingIsDeclaredPerRobot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			off, rest := c.Robots[0], c.Robots[0]
			off.Name, off.Leaving.Do = "iron", "off"
			rest.Name, rest.Leaving = "straw", config.Leaving{Do: "rest", Pose: "lying", Speed: 0.5, Deadline: 20}
			c.Robots = append(c.Robots, off, rest)
		})
		var pose poisemsgs.NamedPose
		var info poisemsgs.RobotInfoResponse
		b.call("/robot_info", &poisemsgs.RobotInfoRequest{}, &info)
		for _, p := range info.Poses {
			if p.Name == "lying" {
				pose = p
			}
		}
		states := b.subscribe("/straw/joint_states_real")
		b.stop()
		if err := <-b.ended; err != nil {
			t.Error(err)
		}
		b.ended <- nil // for the cleanup
		var last msgs.JointState
		for {
			ctx, cancel := context.WithTimeout(b.ctx, time.Second)
			text, _, err := states.Next(ctx)
			cancel()
			if err != nil {
				break
			}
			if err := client.Read(text, &last); err != nil {
				t.Fatal(err)
			}
		}
		off := 0.0
		for i, name := range pose.Joints {
			if at := slices.Index(last.Name, name); at >= 0 {
				off = max(off, math.Abs(last.Position[at]-pose.Positions[i]))
			}
		}
		if len(pose.Joints) == 0 || off > 0.02 {
			t.Errorf("it was %g rad from its pose when it was last heard of", off)
		}
		for robot, how := range map[string]string{"virtual": "holds", "iron": "without torque", "straw": "without torque"} {
			if lines := b.log.lines("robot is left"); !slices.ContainsFunc(lines, func(s string) bool { return strings.Contains(s, "robot="+robot) && strings.Contains(s, how) }) {
				t.Errorf("%s is not left as declared: %v", robot, lines)
			}
		}
	})
}

// gapClock is a machine whose cycle stands still when the test says.
type gapClock struct {
	stepped.Clock
	gaps chan time.Duration
}

func (c gapClock) SleepUntil(ns int64) {
	c.Clock.SleepUntil(ns)
	select {
	case d := <-c.gaps:
		time.Sleep(d)
	default:
	}
}

// startGaps runs a server whose cycle can stand still.
func startGaps(t *testing.T, change func(c *config.Config)) (*bed, func(time.Duration)) {
	clock := gapClock{gaps: make(chan time.Duration)}
	b := startOn(t, &stepped.Net{}, clock, func(c *config.Config) {
		c.Faults.Gap.Severity, c.Loop.Silence = "hold", 60
		change(c)
	})
	return b.stock(), func(d time.Duration) { clock.gaps <- d }
}

// hasGap reports whether a gap of five seconds is listed as a fault.
func hasGap(st poisemsgs.RobotStatus) bool {
	return slices.ContainsFunc(st.Faults, func(f poisemsgs.FaultInfo) bool {
		return f.Kind == "cycle gap" && strings.Contains(f.Explanation.Text, "5 s without a cycle")
	})
}

// TestACycleGapStopsHardware: a gap of more than 100 ms is a stop of category 2, latched
// and shown, that ends with a reset; the motion does not go on by itself.
func TestACycleGapStopsHardware(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, gap := startGaps(t, func(c *config.Config) { c.Robots[0].AfterGap = config.GapStops })
		g := b.send("/play_motion", textType, play("wag_tail", "loop"))
		b.begun(g)
		gap(90 * time.Millisecond)
		if st := b.state(); st.Stopped || st.Paused {
			t.Fatal("a gap of 90 ms stops the robot")
		}
		gap(5 * time.Second)
		if u := b.result(g); u.Status != aborted {
			t.Errorf("the motion is %d (%s)", u.Status, u.Text)
		}
		st := b.state()
		if !st.Stopped || st.Power != "enabled" || !hasGap(st) {
			t.Errorf("stopped %v, power %s, faults %+v", st.Stopped, st.Power, st.Faults)
		}
		b.rejected(b.result(b.send("/play_motion", textType, play("twitch", "approach"))), "stopped", "reset")
		b.must("/reset", &poisemsgs.ResetRequest{})
		if st := b.state(); st.Stopped || hasGap(st) {
			t.Errorf("after a reset: stopped %v, faults %+v", st.Stopped, st.Faults)
		}
		b.want(b.result(b.send("/play_motion", textType, play("twitch", "approach"))), succeeded)
	})
}

// TestACycleGapStopsLimpHardware: a robot without torque is stopped too, latched and shown,
// and stays limp until it is switched on.
func TestACycleGapStopsLimpHardware(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, gap := startGaps(t, func(c *config.Config) { c.Robots[0].AfterGap = config.GapStops })
		b.must("/set_power", &poisemsgs.SetPowerRequest{On: false})
		b.until("it is limp", func() bool { return b.state().Power == "ready" })
		gap(5 * time.Second)
		b.until("it is stopped", func() bool { return b.state().Stopped })
		time.Sleep(5 * time.Second)
		if st := b.state(); !st.Stopped || !hasGap(st) || st.Power != "ready" {
			t.Errorf("stopped %v, power %s, faults %+v", st.Stopped, st.Power, st.Faults)
		}
		b.must("/reset", &poisemsgs.ResetRequest{})
		if st := b.state(); st.Stopped || hasGap(st) || st.Power != "ready" {
			t.Errorf("after a reset: stopped %v, power %s, faults %+v", st.Stopped, st.Power, st.Faults)
		}
		b.must("/set_power", &poisemsgs.SetPowerRequest{On: true})
		b.want(b.result(b.send("/play_motion", textType, play("twitch", "approach"))), succeeded)
	})
}

// TestACycleGapPausesAVirtualRobot: shown as paused until it is resumed or reset; then the
// motion goes on where it was.
func TestACycleGapPausesAVirtualRobot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, gap := startGaps(t, func(*config.Config) {})
		for _, end := range []func(){
			func() { b.must("/resume", &poisemsgs.ResumeRequest{}) },
			func() { b.must("/reset", &poisemsgs.ResetRequest{}) },
		} {
			g := b.send("/play_motion", textType, play("twitch", "approach"))
			b.begun(g)
			gap(5 * time.Second)
			time.Sleep(3 * time.Second) // more than what was left of the motion
			st := b.state()
			if !st.Paused || st.Stopped || st.WantedRate != 0 || len(st.Goals) != 1 || !hasGap(st) {
				t.Fatalf("paused %v, stopped %v, rate %g, %d goals, faults %+v", st.Paused, st.Stopped, st.WantedRate, len(st.Goals), st.Faults)
			}
			end()
			if st := b.state(); st.Paused || hasGap(st) {
				t.Errorf("paused %v, faults %+v", st.Paused, st.Faults)
			}
			b.want(b.result(g), succeeded)
		}
	})
}

// TestAFaultThatClearsLeavesNoHiddenHold: overruns with severity hold end the motion; when
// they are over and nothing is listed any more, goals are taken and move.
func TestAFaultThatClearsLeavesNoHiddenHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, gap := startGaps(t, func(c *config.Config) {
			c.Faults.Overrun.Severity, c.Faults.Gap.Severity = "hold", "ignore"
		})
		g := b.send("/play_motion", textType, play("wag_tail", "loop"))
		b.begun(g)
		gap(5 * time.Second)
		if u := b.result(g); u.Status != aborted || len(u.Explanations) == 0 || u.Explanations[0].Code != "stopped_by_fault" {
			t.Errorf("the motion is %d (%+v)", u.Status, u.Explanations)
		}
		if st := b.state(); len(st.Faults) == 0 {
			t.Error("the hold is not shown")
		}
		b.until("the fault is over", func() bool { return len(b.state().Faults) == 0 })
		if st := b.state(); st.Stopped || st.Paused || len(st.Limp) > 0 || st.WantedRate != 1 {
			t.Errorf("%+v", st)
		}
		before := b.joints("/joint_states")["joint52"]
		b.want(b.result(b.send("/follow_joint_trajectory", followType, sweep(b.joints("/joint_states"), 1, map[string]float64{"joint52": 0.2}))), succeeded)
		if after := b.joints("/joint_states")["joint52"]; math.Abs(after-before-0.2) > 1e-6 {
			t.Errorf("it went from %g to %g", before, after)
		}
	})
}

// TestPauseIsShownAndEndsWithReset: also after a stop, which ends the motion.
func TestPauseIsShownAndEndsWithReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		g := b.send("/play_motion", textType, play("wag_tail", "loop"))
		b.begun(g)
		b.must("/pause", &poisemsgs.PauseRequest{})
		if st := b.state(); !st.Paused || st.Stopped {
			t.Errorf("paused %v, stopped %v", st.Paused, st.Stopped)
		}
		b.must("/stop", &poisemsgs.StopRequest{Category: 2})
		if st := b.state(); !st.Paused || !st.Stopped {
			t.Errorf("after a stop: paused %v, stopped %v", st.Paused, st.Stopped)
		}
		b.must("/reset", &poisemsgs.ResetRequest{})
		if st := b.state(); st.Paused || st.Stopped || st.WantedRate != 1 {
			t.Errorf("after the reset: paused %v, stopped %v, rate %g", st.Paused, st.Stopped, st.WantedRate)
		}
		b.want(b.result(b.send("/play_motion", textType, play("twitch", "approach"))), succeeded)
	})
}

// TestHandsPutJointsOnlyWhereTheyCanBe: nothing, no number and places beyond the limits are
// refused by joint, value and limit, and nothing moves.
func TestHandsPutJointsOnlyWhereTheyCanBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, withReal)
		b.torque("/real", false, "head")
		for _, c := range []struct{ request, word string }{
			{`{"joints": {"name": [], "position": []}}`, "no joints"},
			{`{}`, "no joints"},
			{`{"joints": {"name": ["joint52"], "position": [null]}}`, "finite"},
			{`{"joints": {"name": ["joint52"], "position": [1e300]}}`, "limit"},
			{`{"joints": {"name": ["joint52"], "position": [-100]}}`, "limit"},
			{`{"joints": {"name": ["joint52"], "position": []}}`, "1 joints and 0 positions"},
		} {
			text, err := b.c.Call(b.ctx, "/real/joints_hand_set", []byte(c.request))
			var a answer
			if err == nil {
				err = json.Unmarshal(text, &a)
			}
			if err != nil || a.Success || !strings.Contains(a.Message, c.word) || len(a.Explanations) == 0 {
				t.Errorf("%s: %v %q, %v", c.request, a.Success, a.Message, err)
			}
		}
		if q := b.joints("/real/joint_states_real")["joint52"]; math.Abs(q) > 0.5 {
			t.Errorf("the joint is at %g", q)
		}
	})
}

// TestNonsenseOnAStreamMovesNothing: 1e308 is refused and shown, its sender is told, the joint stays; the next
// good value is taken, and nothing is shown as refused any more.
func TestNonsenseOnAStreamMovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		own, heard := b.another()
		b.c = own
		on := b.send("/controllers/joint_state/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"head"}})
		b.begun(on)
		publish, err := b.c.Advertise("/joints_ref", "sensor_msgs/msg/JointState", false)
		if err != nil {
			t.Fatal(err)
		}
		at := b.joints("/joint_states")["joint52"]
		refused := func() (all []poisemsgs.Explanation) {
			for _, c := range b.state().Controllers {
				if c.Name == "joint_state" {
					all = c.Refused
				}
			}
			return all
		}
		send := func(q float64) {
			// what the server says of it is looked at below
			_ = publish.Publish(client.Text(&msgs.JointState{Name: []string{"joint52"}, Position: []float64{q}}, msgs.ROS2))
		}
		for _, q := range []float64{1e308, -1e308} {
			b.until("it is refused", func() bool { send(q); return len(refused()) > 0 })
			if x := refused()[0]; x.Joint != "joint52" || x.Code != "beyond_limit" {
				t.Errorf("refused with %+v", x)
			}
			if now := b.joints("/joint_states")["joint52"]; now != at {
				t.Errorf("the joint went from %g to %g", at, now)
			}
			if text := fmt.Sprintf("%g is far beyond its limit", q); heard.with("joints_ref", `"joint52"`, text) == 0 {
				t.Errorf("the sender is not told of %g", q)
			}
			time.Sleep(2 * time.Second) // it is told once a second
			b.until("a good value is taken", func() bool { send(at); return len(refused()) == 0 })
		}
	})
}

// TestRobotInfoSaysWhoAsks: by the name that it is told a client finds its own goals among
// those of others.
func TestRobotInfoSaysWhoAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		var info poisemsgs.RobotInfoResponse
		b.call("/robot_info", &poisemsgs.RobotInfoRequest{}, &info)
		if info.Client == "" || info.SimulatedTime {
			t.Fatalf("robot_info says client %q, simulated time %v", info.Client, info.SimulatedTime)
		}
		g := b.send("/play_motion", textType, &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "motion", Command: "nod"}})
		time.Sleep(500 * time.Millisecond)
		if goals := b.state().Goals; len(goals) != 1 || goals[0].Client != info.Client {
			t.Errorf("the goals are %+v, the client is %q", goals, info.Client)
		}
		b.want(b.endOf(g), succeeded)
	})
}
