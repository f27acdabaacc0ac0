package server_test

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
)

func TestStopCategoriesAndTheWayBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for category, torque := range map[uint8]bool{0: false, 1: false, 2: true} {
			b := start(t, nil).stock()
			g := b.send("/play_motion", textType, play("twitch", ""))
			b.begun(g)
			b.must("/stop", &poisemsgs.StopRequest{Category: category})
			u, _ := b.end(g)
			b.want(u, aborted)
			// the answer may be a snapshot ahead of the state
			b.until("the state tells of the stop, and of the torque", func() bool {
				s := b.state()
				return s.Stopped && (s.Power == "enabled") == torque
			})
			// the only way back, and every refusal names the next step of it
			u, _ = b.end(b.send("/play_motion", textType, play("twitch", "approach")))
			b.rejected(u, "reset")
			if !torque {
				b.refused("/set_torque", &poisemsgs.SetTorqueRequest{On: true}, "reset")
			}
			if a := b.must("/reset", &poisemsgs.ResetRequest{}); !torque && !strings.Contains(a.Message, "set_torque") {
				t.Errorf("reset after stop %d says %q, not what gives the torque back", category, a.Message)
			}
			if !torque {
				u, _ = b.end(b.send("/play_motion", textType, play("twitch", "approach")))
				b.rejected(u, "set_torque")
				b.must("/set_torque", &poisemsgs.SetTorqueRequest{On: true})
			}
			u, _ = b.end(b.send("/play_motion", textType, play("twitch", "approach")))
			b.want(u, succeeded)
		}
	})
}

func TestPauseResumeAndSpeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		g := b.send("/play_motion", textType, play("twitch", ""))
		b.begun(g)
		b.must("/pause", &poisemsgs.PauseRequest{})
		b.until("it stands", func() bool {
			p := b.joints("/joint_states")
			time.Sleep(30 * time.Millisecond)
			return p["joint52"] == b.joints("/joint_states")["joint52"]
		})
		if s := b.state(); s.Rate != 0 || len(s.Goals) != 1 {
			t.Errorf("paused: rate %g, %d goals", s.Rate, len(s.Goals))
		}
		var speed poisemsgs.SetSpeedResponse
		b.call("/set_speed", &poisemsgs.SetSpeedRequest{Rate: 1.5}, &speed)
		b.must("/resume", &poisemsgs.ResumeRequest{})
		u, _ := b.end(g)
		b.want(u, succeeded)
		b.call("/set_speed", &poisemsgs.SetSpeedRequest{Rate: 0.5}, &speed)
		if !speed.Success || speed.Achieved != 0.5 {
			t.Errorf("speed 0.5: %+v", speed)
		}
		b.refused("/set_speed", &poisemsgs.SetSpeedRequest{Rate: 3}, "3")
		b.refused("/pause", &poisemsgs.PauseRequest{Controller: "trajektory"}, "trajectory")
	})
}

func TestControllersAreSwitchedTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		states := func(want ...string) {
			t.Helper()
			var got []string
			for _, c := range b.state().Controllers {
				if c.Name == "pose" || c.Name == "stance" {
					got = append(got, c.Name+" "+c.State)
				}
			}
			if strings.Join(got, ", ") != strings.Join(want, ", ") {
				t.Errorf("the controllers are %q, want %q", got, want)
			}
		}
		states("pose running", "stance running")
		b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"stance"}, Stop: []string{"pose"}, Strict: true})
		states("pose stopped", "stance active")
		b.refused("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"pose", "stanze"}, Strict: true}, "stanze")
		states("pose stopped", "stance active")
		u, _ := b.end(b.send("/go_to_pose", textType, &msgs.TextActionGoal{Command: msgs.TextCommand{Command: "stand"}}))
		if u.Status == succeeded {
			t.Error("a stopped controller performed a goal")
		}
		b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"pose"}, Stop: []string{"stance"}, Strict: true})
		states("pose running", "stance running")
	})
}

func TestAContinuousControllerStaysUntilItIsCalledOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		g := b.send("/controllers/joint_state/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"tail"}})
		var f msgs.SetOperationalFeedback
		for len(f.Resources) == 0 {
			readFeedback(b, g, &f)
		}
		if strings.Join(f.Resources, " ") != "tail" {
			t.Errorf("it owns %q", f.Resources)
		}
		publish := b.publish("/joints_ref", "sensor_msgs/msg/JointState")
		b.until("the tail follows the stream", func() bool {
			publish(msgs.JointState{Name: []string{"tail_joint1"}, Position: []float64{0.4}})
			return math.Abs(b.joints("/joint_states")["tail_joint1"]-0.4) < 1e-3
		})
		if got := b.log.lines("msg=audit", "stream to joint_state", "who=/rosbridge/client_", "result=ok"); len(got) == 0 || len(got) > 30 {
			t.Errorf("%d audit lines of the stream: %q", len(got), got)
		}
		if err := g.Cancel(b.ctx); err != nil {
			t.Fatal(err)
		}
		u, _ := b.end(g)
		b.want(u, cancelled)
		u, _ = b.end(b.send("/controllers/joint_state/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"wing"}}))
		b.rejected(u, "wing")
	})
}

func TestLookingAtAPoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		g := b.send("/controllers/look_at/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true})
		b.begun(g)
		publish := b.publish("/controllers/look_at/target", "geometry_msgs/msg/PointStamped")
		look := func(x, y, z float64, frame string) {
			publish(msgs.PointStamped{Header: msgs.Header{FrameID: frame}, Point: msgs.Point{X: x, Y: y, Z: z}})
		}
		var left, right float64
		// the eyes are there first; the head follows
		look(1, 0.5, 0.3, "world")
		b.until("it looks to the left", func() bool {
			left = b.joints("/joint_states")["joint52"]
			return math.Abs(left) > 0.1
		})
		look(1, -0.5, 0.3, "base_link")
		b.until("it looks to the right", func() bool {
			right = b.joints("/joint_states")["joint52"]
			return right*left < 0 && math.Abs(right) > 0.1
		})
		look(1, 0, 0, "moon")
		b.until("the strange frame is named", func() bool { return len(b.log.lines("msg=audit", "stream to look_at", "moon")) > 0 })
	})
}

func TestStandingWhileTheBodyMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		g := b.send("/controllers/stance/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true})
		b.begun(g)
		before := b.joints("/joint_states")
		publish := b.publish("/controllers/stance/target", "geometry_msgs/msg/PoseStamped")
		target := msgs.PoseStamped{Header: msgs.Header{FrameID: "base_link"}, Pose: msgs.Pose{Position: msgs.Point{Z: -0.01}, Orientation: msgs.Quaternion{W: 1}}}
		b.until("the knees bend", func() bool {
			publish(target)
			return math.Abs(b.joints("/joint_states")["joint13"]-before["joint13"]) > 0.01
		})
		// the balance is told, and the body is lower
		balance := next[poisemsgs.BalanceState](b, b.subscribe("/balance_state"))
		if balance.Mass < 1 || !balance.Stable || len(balance.SupportPoints) < 3 {
			t.Errorf("balance_state: mass %g, stable %v, %d points", balance.Mass, balance.Stable, len(balance.SupportPoints))
		}
		target.Pose.Position = msgs.Point{X: 0.5}
		publish(target)
		b.until("a target out of balance is refused in the state", func() bool {
			for _, c := range b.state().Controllers {
				if c.Name == "stance" && len(c.Refused) > 0 {
					return true
				}
			}
			return false
		})
	})
}

func TestSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		var fk msgs.GetPositionFKResponse
		b.call("/compute_fk", &msgs.GetPositionFKRequest{Header: msgs.Header{FrameID: "base_link"}, FKLinkNames: []string{"bone16"}}, &fk)
		down := poisemsgs.RigidBodyTrajectoryPoint{Pose: fk.PoseStamped[0].Pose}
		up := down
		up.Pose.Position.Z += 0.02
		goal := &poisemsgs.FollowStepSequenceGoal{TimeFromStart: []float64{0, 0.5, 1},
			EeMotion: []poisemsgs.RigidBodyTrajectory{{Name: "leg1", Points: []poisemsgs.RigidBodyTrajectoryPoint{down, up, down}}}}
		before := b.joints("/joint_states")["joint13"]
		check := func(goal *poisemsgs.FollowStepSequenceGoal) *poisemsgs.CheckGoalRequest {
			return &poisemsgs.CheckGoalRequest{Controller: "follow_step_sequence", GoalJSON: string(client.Text(goal, msgs.ROS2))}
		}
		b.must("/check_goal", check(goal))
		if q := b.joints("/joint_states")["joint13"]; q != before {
			t.Errorf("a check moved the leg to %g", q)
		}
		g := b.send("/follow_step_sequence", stepType, goal)
		b.until("the hoof is lifted", func() bool { return math.Abs(b.joints("/joint_states")["joint13"]-before) > 0.02 })
		u, _ := b.end(g)
		b.want(u, succeeded)
		for name, change := range map[string]func(g *poisemsgs.FollowStepSequenceGoal){
			"leg9":   func(g *poisemsgs.FollowStepSequenceGoal) { g.EeMotion[0].Name = "leg9" },
			"append": func(g *poisemsgs.FollowStepSequenceGoal) { g.Append = true },
			"moon":   func(g *poisemsgs.FollowStepSequenceGoal) { g.Header.FrameID = "moon" },
			"length": func(g *poisemsgs.FollowStepSequenceGoal) {
				g.EeMotion[0].Points[1].Pose.Orientation = msgs.Quaternion{}
			},
		} {
			bad := *goal
			bad.EeMotion = []poisemsgs.RigidBodyTrajectory{{Name: "leg1", Points: []poisemsgs.RigidBodyTrajectoryPoint{down, up, down}}}
			change(&bad)
			b.refused("/check_goal", check(&bad), name)
			u, _ := b.end(b.send("/follow_step_sequence", stepType, &bad))
			b.rejected(u, name)
		}
	})
}

// TestAControllerOutside asks for resources as a controller in another process does,
// moves what it got, and loses it when it falls silent.
func TestAControllerOutside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		assigned := b.subscribe("/resource_assignment")
		request := b.publish("/resource_request", "resource_control_msgs/msg/ResourceRequest")
		alive := b.publish("/resource_requester_state", "resource_control_msgs/msg/ResourceRequesterState")
		var id atomic.Uint32
		done := make(chan struct{})
		go func() { // signs of life, as it must give them
			for {
				select {
				case <-done:
					return
				case <-time.After(20 * time.Millisecond):
					alive(msgs.ResourceRequesterState{RequesterName: "wagger", RequestID: id.Load(), IsOperational: true})
				}
			}
		}()
		ref := b.publish("/controllers/wagger/ref_joints", "sensor_msgs/msg/JointState")
		request(msgs.ResourceRequest{RequesterName: "wagger", RequestID: id.Add(1), Resources: []string{"tail"}})
		b.until("the tail is granted", func() bool { return b.owns("wagger", "tail") })
		b.until("the tail follows", func() bool {
			ref(msgs.JointState{Name: []string{"tail_joint2"}, Position: []float64{0.3}})
			return math.Abs(b.joints("/joint_states")["tail_joint2"]-0.3) < 1e-3
		})
		granted := false
		for !granted { // and it was told so
			a := next[msgs.ResourceAssignment](b, assigned)
			for i, r := range a.Resources {
				granted = granted || r == "tail" && a.Owners[i] == "wagger" && len(a.RequestIds) > 0
			}
		}
		close(done) // it falls silent
		b.until("its lease is over", func() bool { return !b.owns("wagger", "tail") })
		request(msgs.ResourceRequest{RequesterName: "wagger", RequestID: id.Add(1), Resources: []string{"wing"}})
		b.until("a denial is told", func() bool { return len(b.log.lines("msg=audit", "wagger", "wing")) > 0 })
		b.until("with its reason", func() bool {
			return slices.ContainsFunc(b.resources().Rounds, func(r poisemsgs.ResourceRound) bool {
				return r.Requester == "wagger" && r.RequestID == 2 && r.Outcome == "denied" && len(r.Why) == 1 && strings.Contains(r.Why[0].Text, `"wing"`)
			})
		})
		request(msgs.ResourceRequest{RequesterName: "trajectory", RequestID: 9, Resources: []string{"tail"}})
		b.until("a name of the server's is refused, with the reason", func() bool {
			return slices.ContainsFunc(b.resources().Rounds, func(r poisemsgs.ResourceRound) bool {
				return r.RequestID == 9 && r.Outcome == "denied" && strings.Contains(r.Why[0].Text, "belongs to a controller of the server")
			})
		})
		request(msgs.ResourceRequest{RequesterName: "wagger", RequestID: id.Add(1), Resources: []string{"tail"}, PriPending: []float32{1, 2}})
		b.until("priorities are read", func() bool { return len(b.log.lines("msg=audit", "2 pending priorities for 1 resources")) > 0 })
	})
}
