package server_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

func play(name, options string) *msgs.TextActionGoal {
	return &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "motion", Command: name, Options: options}}
}

func TestAMotionPlaysAndItsEventsLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		events := b.subscribe("/events")
		g := b.send("/play_motion", textType, play("twitch", ""))
		u, feedback := b.end(g)
		b.want(u, succeeded)
		if feedback < 5 {
			t.Errorf("%d feedbacks in a second, want 20", feedback)
		}
		e := next[poisemsgs.Event](b, events)
		if e.Motion != "twitch" || e.Command.Type != "eyes/action" || e.Command.Command != "blink" || e.Time != 0.5 {
			t.Errorf("the event is %+v", e)
		}
		for _, result := range []string{"result=asked", "result=succeeded"} {
			if got := b.log.lines("msg=audit", "motion twitch", "who=/rosbridge/client_", result); len(got) != 1 {
				t.Errorf("%d audit lines with %s: %q", len(got), result, got)
			}
		}
		u, _ = b.end(b.send("/play_motion", textType, play("twich", "")))
		b.rejected(u, "twich", "twitch")
		// what comes with the robot plays too
		u, _ = b.end(b.send("/play_motion", textType, play("nod", "speed=2")))
		b.want(u, succeeded)
	})
}

// TestWhyAGoalEndedIsToldAsFields: refusals, aborts and notes, beside the result and as
// a topic for those whose dialect has no place for them.
func TestWhyAGoalEndedIsToldAsFields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		ends := b.subscribe("/goal_explanations")
		const joint = "joint52"
		here := b.joints("/joint_states")
		far := sweep(here, 1, map[string]float64{joint: 0.3})
		far.Trajectory.Points[0].Positions[0] += 0.5
		far.PathTolerance = []msgs.JointTolerance{{Name: joint, Position: 0.1}}
		u, _ := b.end(b.send("/follow_joint_trajectory", followType, far))
		b.rejected(u, joint)
		x := u.Explanations[0]
		if x.Code != "start_too_far" || x.Joint != joint || math.Abs(x.Value-0.5) > 0.01 || x.Limit <= 0 || x.Help == "" {
			t.Errorf("explained as %+v", x)
		}
		told := next[poisemsgs.GoalExplanations](b, ends)
		if told.Action != "follow_joint_trajectory" || told.State != "rejected" || told.Cause != "conditions unmet" || told.Client == "" ||
			!strings.HasPrefix(told.Goal, told.Client) || !slices.Equal(told.Explanations, u.Explanations) {
			t.Errorf("told as %+v", told)
		}

		g := b.send("/play_motion", textType, play("twitch", "loop"))
		first := b.begun(g)
		if i := first.Info; i == nil || i.Action != "play_motion" || i.ID == "" || i.Phase != "moving" || i.State != "active" || i.Controller == "" || i.Rate != 1 {
			t.Errorf("how far it is: %+v", i)
		}
		b.call("/stop", &poisemsgs.StopRequest{Category: 2}, &poisemsgs.StopResponse{})
		u, _ = b.end(g)
		b.want(u, aborted)
		if len(u.Explanations) != 1 || u.Explanations[0].Code != "stopping" {
			t.Errorf("stopped: %+v", u.Explanations)
		}
		if told = next[poisemsgs.GoalExplanations](b, ends); told.Goal != first.Info.ID || told.State != "aborted" || told.Cause != "stopped" {
			t.Errorf("told as %+v", told)
		}
		b.call("/reset", &poisemsgs.ResetRequest{}, &poisemsgs.ResetResponse{})

		// a goal of ROS 1's topics: the explanations go by the id that its client chose
		old, err := b.c.SendGoal(b.ctx, "/play_motion", "text_msgs/TextActionAction", client.Text(play("nodd", ""), msgs.ROS1))
		if err != nil {
			t.Fatal(err)
		}
		b.end(old)
		if told = next[poisemsgs.GoalExplanations](b, ends); told.Goal != old.ID() || told.Explanations[0].Code != "unknown_motion" {
			t.Errorf("told as %+v", told)
		}
	})
}

// jumped tells whether the speed of a joint changed from one joint_states message to the
// next by more than the pony's hand-overs do, which assume 8 rad/s².
func jumped(last, m *msgs.JointState, joint string) bool {
	const acceleration = 8 * 1.5
	dt := float64(m.Header.Stamp.Nanos()-last.Header.Stamp.Nanos()) * 1e-9
	return math.Abs(velocity(m, joint)-velocity(last, joint)) > acceleration*dt+1e-3
}

func TestCancelRampsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		states := b.subscribe("/joint_states")
		const joint = "joint52"
		before := b.joints("/joint_states")
		g := b.send("/follow_joint_trajectory", followType, sweep(before, 1.6, map[string]float64{joint: 1.4}))
		b.begun(g)
		for v := 0.0; v < 0.9; { // it moves fast
			m := next[msgs.JointState](b, states)
			v = math.Abs(velocity(&m, joint))
		}
		if err := g.Cancel(b.ctx); err != nil {
			t.Fatal(err)
		}
		u, _ := b.end(g)
		b.want(u, cancelled)
		// every message from the first to the standstill: no jump of speed on the way
		last := next[msgs.JointState](b, states)
		slowed := 0
		for math.Abs(velocity(&last, joint)) > 1e-6 {
			m := next[msgs.JointState](b, states)
			v, w := velocity(&last, joint), velocity(&m, joint)
			if jumped(&last, &m, joint) {
				t.Errorf("the speed of %s jumped from %g to %g rad/s", joint, v, w)
			}
			if math.Abs(w) < math.Abs(v) {
				slowed++
			}
			last = m
		}
		if slowed < 3 {
			t.Errorf("the ramp was seen in %d messages only", slowed)
		}
	})
}

func velocity(m *msgs.JointState, joint string) float64 {
	for i, n := range m.Name {
		if n == joint {
			return m.Velocity[i]
		}
	}
	return math.NaN()
}

func TestANewerGoalTakesThePlaceOfTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		before := b.joints("/joint_states")
		first := b.send("/follow_joint_trajectory", followType, sweep(before, 6, map[string]float64{"joint51": 0.5}))
		b.begun(first)
		now := b.joints("/joint_states")
		second := b.send("/follow_joint_trajectory", followType, sweep(now, 0.8, map[string]float64{"joint51": -0.1}))
		u, _ := b.end(first)
		b.want(u, aborted)
		if !strings.Contains(string(u.Result), "newer goal") {
			t.Errorf("the result %s does not say why", u.Result)
		}
		u, _ = b.end(second)
		b.want(u, succeeded)
		// a goal for other joints runs beside it
		one := b.send("/follow_joint_trajectory", followType, sweep(b.joints("/joint_states"), 1, map[string]float64{"joint51": 0.1}))
		two := b.send("/follow_joint_trajectory", followType, sweep(b.joints("/joint_states"), 1, map[string]float64{"tail_joint1": 0.1}))
		for _, g := range []*client.Goal{one, two} {
			u, _ := b.end(g)
			b.want(u, succeeded)
		}
	})
}

func TestGoalsThatCannotBeDoneSayWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		at := b.joints("/joint_states")
		follow := func(change func(g *msgs.FollowJointTrajectoryGoal)) client.Update {
			g := sweep(at, 1, map[string]float64{"joint51": 0.1})
			change(g)
			u, _ := b.end(b.send("/follow_joint_trajectory", followType, g))
			return u
		}
		b.rejected(follow(func(g *msgs.FollowJointTrajectoryGoal) { g.Trajectory.JointNames[0] = "jonit51" }), `"jonit51"`, `did you mean "joint51"`)
		b.rejected(follow(func(g *msgs.FollowJointTrajectoryGoal) { g.Trajectory.Points[1].Positions[0] = 5 }), "joint51", "limit")
		b.rejected(follow(func(g *msgs.FollowJointTrajectoryGoal) { g.Trajectory.Points[0].Positions[0] += 1 }), "joint51")
		b.rejected(follow(func(g *msgs.FollowJointTrajectoryGoal) { g.Trajectory.Points[1].Effort = []float64{1} }), "effort")
		b.rejected(follow(func(g *msgs.FollowJointTrajectoryGoal) { g.Trajectory.Points = nil }), "point")
		b.unmoved(at, b.joints("/joint_states"))
	})
}

func TestToleranceOfTheRealRobot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.RealSim = true })
		g := sweep(b.joints("/real/joint_states"), 1, map[string]float64{"joint52": 0.6})
		g.PathTolerance = []msgs.JointTolerance{{Name: "joint52", Position: 0.002}}
		u, _ := b.end(b.send("/real/follow_joint_trajectory", followType, g))
		b.want(u, aborted)
		var r msgs.FollowJointTrajectoryResult
		if err := client.Read(u.Result, &r); err != nil {
			t.Fatal(err)
		}
		if r.ErrorCode != msgs.FollowPathToleranceViolated || !strings.Contains(r.ErrorString, "joint52") || !strings.Contains(r.ErrorString, "0.002") {
			t.Errorf("code %d: %s", r.ErrorCode, r.ErrorString)
		}
		// the robot that plays the real one sags, and lags behind
		commanded, measured := b.joints("/real/joint_states"), b.joints("/real/joint_states_real")
		sag := 0.0
		for name, q := range commanded {
			sag = max(sag, math.Abs(measured[name]-q))
		}
		if sag < 1e-3 {
			t.Errorf("the real robot stands within %g rad of its command: it does not sag", sag)
		}
	})
}

func TestJointsWithoutTorqueArePosedByHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.RealSim = true })
		hand := &poisemsgs.JointsHandSetRequest{Joints: msgs.JointState{Name: []string{"tail_joint1"}, Position: []float64{0.2}}}
		b.refused("/real/joints_hand_set", hand, "tail_joint1", "torque")
		b.must("/real/set_torque", &poisemsgs.SetTorqueRequest{On: false, Resources: []string{"tail"}})
		b.must("/real/joints_hand_set", hand)
		b.until("the tail is where the hand put it", func() bool {
			return math.Abs(b.joints("/real/joint_states_real")["tail_joint1"]-0.2) < 0.02
		})
		b.must("/real/set_torque", &poisemsgs.SetTorqueRequest{On: true, Resources: []string{"tail"}})
		if q := b.joints("/real/joint_states")["tail_joint1"]; math.Abs(q-0.2) > 0.05 {
			t.Errorf("with torque again the tail is told to be at %g: it would jump", q)
		}
		hand.Joints.Name[0] = "tail"
		b.refused("/real/joints_hand_set", hand, `"tail"`)
		if got := b.log.lines("msg=audit", "place by hand"); len(got) < 2 {
			t.Errorf("audit lines of hands: %q", got)
		}
	})
}

func TestPlacingTheVirtualRobot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		at := func(q float64) msgs.JointState {
			return msgs.JointState{Name: []string{"joint52"}, Position: []float64{q}}
		}
		b.must("/joints_virtual_set", &poisemsgs.JointsSetRequest{Joints: at(0.3)})
		if q := b.joints("/joint_states")["joint52"]; math.Abs(q-0.3) > 1e-9 {
			t.Errorf("joint52 is at %g, was put at 0.3", q)
		}
		publish := b.publish("/joints_virtual_set", "sensor_msgs/msg/JointState")
		for range 20 { // as a hand that drags
			publish(at(0.1))
		}
		b.until("the topic put it there", func() bool { return math.Abs(b.joints("/joint_states")["joint52"]-0.1) < 1e-9 })
		b.refused("/joints_virtual_set", &poisemsgs.JointsSetRequest{Joints: msgs.JointState{Name: []string{"joint99"}, Position: []float64{0}}}, "joint99")
		g := b.send("/follow_joint_trajectory", followType, sweep(b.joints("/joint_states"), 5, map[string]float64{"joint52": 0.3}))
		b.begun(g)
		b.refused("/joints_virtual_set", &poisemsgs.JointsSetRequest{Joints: at(0)}, "joint52", "trajectory")
		publish(at(-0.5))
		b.until("the refusal is in the audit", func() bool {
			return len(b.log.lines("msg=audit", "who=/rosbridge/client_", "what=place", "trajectory")) > 0
		})
		if q := b.joints("/joint_states")["joint52"]; q < 0.05 {
			t.Errorf("joint52 was put to %g while a goal moved it", q)
		}
		if got := b.log.lines("msg=audit", "what=place", "result=ok"); len(got) == 0 || len(got) > 15 {
			t.Errorf("%d lines for a dragged joint: %q", len(got), got)
		}
	})
}

func TestTextCommandsLeaveWithATrajectory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		events := b.subscribe("/events")
		plain := sweep(b.joints("/joint_states"), 1, map[string]float64{"joint51": 0.2})
		g := &msgs.FollowJointTrajectoryWithActionsGoal{Trajectory: plain.Trajectory}
		for i, word := range []string{"start", "middle", "end"} {
			g.Actions = append(g.Actions, msgs.TextCommandStamped{TimeFromStart: msgs.DurationFromSeconds(0.5 * float64(i)), Command: msgs.TextCommand{Type: "voice/say", Command: word}})
		}
		u, _ := b.end(b.send("/follow_joint_trajectory_with_actions", actionsType, g))
		b.want(u, succeeded)
		for i, word := range []string{"start", "middle", "end"} {
			e := next[poisemsgs.Event](b, events)
			if e.Command.Command != word || math.Abs(e.Time-0.5*float64(i)) > 1e-6 {
				t.Errorf("event %d is %q at %g s", i, e.Command.Command, e.Time)
			}
		}
		// what was received can be kept, with all of it
		b.must("/motions/save_last", &poisemsgs.MotionsSaveLastRequest{Name: "received"})
		if m := get(b, "received").Motion; len(m.Events) != 3 || len(m.Points) != 2 || m.Joints[0].Name != "joint51" {
			t.Errorf("kept: %d events, %d points, %+v", len(m.Events), len(m.Points), m.Joints)
		}
	})
}

func TestPosesAreGoals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		var info poisemsgs.RobotInfoResponse
		b.call("/robot_info", &poisemsgs.RobotInfoRequest{}, &info)
		if len(info.Poses) == 0 || info.Description == "" || info.URDF == "" {
			t.Fatalf("robot_info says %d poses, %q", len(info.Poses), info.Description)
		}
		pose := info.Poses[len(info.Poses)-1]
		goal := &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "pose", Command: pose.Name}}
		u, _ := b.end(b.send("/go_to_pose", textType, goal))
		b.want(u, succeeded)
		at := b.joints("/joint_states")
		for i, name := range pose.Joints {
			if math.Abs(at[name]-pose.Positions[i]) > 1e-6 {
				t.Errorf("%s is at %g, pose %s has it at %g", name, at[name], pose.Name, pose.Positions[i])
			}
		}
		goal.Command.Command = "handstand"
		u, _ = b.end(b.send("/go_to_pose", textType, goal))
		b.rejected(u, "handstand")
	})
}

func TestAGoalCanBeCheckedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		before := b.joints("/joint_states")
		check := func(controller string, goal any) *poisemsgs.CheckGoalRequest {
			return &poisemsgs.CheckGoalRequest{Controller: controller, GoalJSON: string(client.Text(goal, msgs.ROS2))}
		}
		b.must("/check_goal", check("play_motion", play("twitch", "")))
		for _, full := range []string{"/controllers/joint_state/set_operational", "controllers/hold/set_operational", "/virtual/controllers/hold/set_operational"} {
			b.must("/check_goal", check(full, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"tail"}}))
		}
		b.must("/check_goal", check("follow_joint_trajectory", sweep(before, 1, map[string]float64{"joint51": 0.1})))
		b.refused("/check_goal", check("follow_joint_trajectory", sweep(before, 0.1, map[string]float64{"joint51": 1})), "joint51")
		b.refused("/check_goal", check("play_motion", play("twich", "")), "twitch")
		b.refused("/check_goal", check("no_such_thing", &msgs.SetOperationalGoal{}), "no_such_thing")
		b.unmoved(before, b.joints("/joint_states"))
		if s := b.state(); len(s.Goals) > 0 {
			t.Errorf("a check left goals: %+v", s.Goals)
		}
	})
}

// TestPlansCanBeCheckedBeforeTheyAreSent: goals that are planned, and those that were, say
// whether they could start, with the planner's reason or that of the cycle, and move nothing.
func TestPlansCanBeCheckedBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, arm)
		before := b.joints("/joint_states")
		check := func(action string, goal any) *poisemsgs.CheckGoalRequest {
			return &poisemsgs.CheckGoalRequest{Controller: action, GoalJSON: string(client.Text(goal, msgs.ROS2))}
		}
		near, far := lin(b, 0, 0.1, 0), lin(b, 0, 9, 0)
		b.must("/check_goal", check("move_action", &msgs.MoveGroupGoal{Request: near}))
		b.must("/check_goal", check("/virtual/move_action", &msgs.MoveGroupGoal{Request: near, PlanningOptions: msgs.PlanningOptions{PlanOnly: true}}))
		b.refused("/check_goal", check("move_action", &msgs.MoveGroupGoal{Request: far}), "is not reached")
		b.refused("/check_goal", check("move_action", &msgs.MoveGroupGoal{Request: near, PlanningOptions: msgs.PlanningOptions{Replan: true}}), "replan")
		sequence := func(q msgs.MotionPlanRequest) *msgs.MoveGroupSequenceGoal {
			return &msgs.MoveGroupSequenceGoal{Request: msgs.MotionSequenceRequest{Items: []msgs.MotionSequenceItem{{Req: q}}}}
		}
		b.must("/check_goal", check("sequence_move_group", sequence(near)))
		b.refused("/check_goal", check("sequence_move_group", sequence(far)), "item 0", "is not reached")

		var plan msgs.GetMotionPlanResponse
		b.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: near}, &plan)
		goal := &msgs.ExecuteTrajectoryGoal{Trajectory: plan.MotionPlanResponse.Trajectory}
		b.must("/check_goal", check("execute_trajectory", goal))
		goal.Trajectory.JointTrajectory.JointNames[0] = "joint_9"
		b.refused("/check_goal", check("execute_trajectory", goal), "joint_9")

		b.must("/stop", &poisemsgs.StopRequest{Category: 2})
		b.refused("/check_goal", check("move_action", &msgs.MoveGroupGoal{Request: near}), "stop")
		b.unmoved(before, b.joints("/joint_states"))
		if s := b.state(); len(s.Goals) > 0 {
			t.Errorf("a check left goals: %+v", s.Goals)
		}
	})
}
