package server

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"poise/controllers"
	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
	"poise/robot/summary"
	"poise/servo"
)

// serveCommands registers the services and streams of a robot.
func (bot *servedRobot) serveCommands(r *register) {
	bot.servePower(r)
	bot.serveChoices(r)
	addService(r, "check_goal", bot.checkGoal)
	addService(r, "get_state", func(ctx context.Context, _ *poisemsgs.GetStateRequest) (*poisemsgs.GetStateResponse, error) {
		state := bot.fresh(ctx)
		return &poisemsgs.GetStateResponse{Success: true, State: *edge.Status(&state)}, nil
	})
	addService(r, "robot_info", func(ctx context.Context, _ *poisemsgs.RobotInfoRequest) (*poisemsgs.RobotInfoResponse, error) {
		return bot.s.info(ctx, bot)
	})
	addService(r, "set_up_robot", bot.setUp)
	if _, ok := bot.driver.(servo.Placer); ok {
		bot.servePlacing(r)
	}
	if by, ok := bot.driver.(servo.HandPoser); ok {
		addService(r, "joints_hand_set", func(ctx context.Context, q *poisemsgs.JointsHandSetRequest) (*poisemsgs.JointsHandSetResponse, error) {
			return bot.poseByHand(ctx, by, q)
		})
	}
	if bot.first {
		listen(r, "joints_marker_set", newest, nil, func(string, *msgs.JointState) {}) // it exists for those who show it
	}
	bot.serveServoModels(r)
	bot.serveStreams(r)
}

// servePower registers stop, power, torque, pauses and speed.
func (bot *servedRobot) servePower(r *register) {
	e := bot.exec
	_, err := graph.Service(r.graph, r.name("stop"), bot.stop, graph.ServiceOptions{MaxCalls: maxStops})
	r.fail(err)
	addCommand(r, "reset", func(who string, _ *poisemsgs.ResetRequest) *executive.Answer { return e.Reset(who) },
		func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.ResetResponse {
			if ok && bot.exec.State().Power != loop.Enabled {
				text = "done; the servos have no torque: set_torque gives it back"
			}
			return &poisemsgs.ResetResponse{Success: ok, Message: text, Explanations: why}
		})
	addCommand(r, "set_power", func(who string, q *poisemsgs.SetPowerRequest) *executive.Answer { return e.Power(who, q.On) },
		func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.SetPowerResponse {
			return &poisemsgs.SetPowerResponse{Success: ok, Message: text, Explanations: why}
		})
	addCommand(r, "pause", func(who string, q *poisemsgs.PauseRequest) *executive.Answer { return e.Pause(who, q.Controller) },
		func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.PauseResponse {
			return &poisemsgs.PauseResponse{Success: ok, Message: text, Explanations: why}
		})
	addService(r, "resume", bot.resume)
	addCommand(r, "set_speed", func(who string, q *poisemsgs.SetSpeedRequest) *executive.Answer {
		return e.SetSpeed(who, q.Rate, q.Controller)
	}, func(ok bool, text string, why []poisemsgs.Explanation, o executive.Outcome) *poisemsgs.SetSpeedResponse {
		return &poisemsgs.SetSpeedResponse{Success: ok, Message: text, Explanations: why, Achieved: o.Value}
	})
	if bot.can.Torque {
		addCommand(r, "set_torque", func(who string, q *poisemsgs.SetTorqueRequest) *executive.Answer {
			return e.SetTorque(who, q.On, q.Resources)
		}, func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.SetTorqueResponse {
			return &poisemsgs.SetTorqueResponse{Success: ok, Message: text, Explanations: why}
		})
	}
}

// serveChoices registers where the base is, the cycle, and which controllers are on.
func (bot *servedRobot) serveChoices(r *register) {
	e := bot.exec
	if bot.model.Floating() {
		addCommand(r, "set_odometry", func(who string, q *poisemsgs.SetOdometryRequest) *executive.Answer {
			position, orientation := edge.PlaceOf(q.Pose)
			return e.SetBase(who, position, orientation)
		}, func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.SetOdometryResponse {
			return &poisemsgs.SetOdometryResponse{Success: ok, Message: text, Explanations: why}
		})
	}
	addCommand(r, "switch_cycle", func(who string, q *poisemsgs.SwitchCycleRequest) *executive.Answer {
		return e.SetCycle(who, int(q.Cycle), q.Resources)
	}, func(ok bool, text string, why []poisemsgs.Explanation, o executive.Outcome) *poisemsgs.SwitchCycleResponse {
		if lacks := summary.CycleOneLacks(bot.model); ok && o.Value > 0 && len(lacks) > 0 {
			text = "done; cycle 1 lacks " + strings.Join(lacks, "; it lacks ")
		}
		return &poisemsgs.SwitchCycleResponse{Success: ok, Message: text, Explanations: why}
	})
	addService(r, "switch_controllers", func(ctx context.Context, q *poisemsgs.SwitchControllersRequest) (*poisemsgs.SwitchControllersResponse, error) {
		o, err := waitFor(ctx, e.SwitchControllers(callerOf(ctx), executive.Switch{Start: q.Start, Stop: q.Stop, Strict: q.Strict, Publisher: q.Publisher}))
		if err != nil {
			return nil, err
		}
		text := "done" + unheard(r.graph, q)
		if !o.OK() {
			text = problem.Join(o.Explanations)
		}
		return &poisemsgs.SwitchControllersResponse{Success: o.OK(), Message: text, Explanations: edge.Explanations(o.Explanations)}, nil
	})
}

// unheard says that the publisher whom started controllers are to hear is not there. It may still come.
func unheard(g *graph.Graph, q *poisemsgs.SwitchControllersRequest) string {
	if len(q.Start) == 0 || q.Publisher == "" || q.Publisher == executive.AnyPublisher || g.Present(q.Publisher) {
		return ""
	}
	return fmt.Sprintf("; %s is not connected, and streams are heard from it alone%s", q.Publisher, problem.Hint(q.Publisher, g.Nodes()))
}

// resume lets motions go on; all of them includes those of controllers that were paused
// by name.
func (bot *servedRobot) resume(ctx context.Context, q *poisemsgs.ResumeRequest) (*poisemsgs.ResumeResponse, error) {
	names := []string{q.Controller}
	if q.Controller == "" {
		for _, c := range bot.fresh(ctx).Controllers {
			if c.Paused {
				names = append(names, c.Name)
			}
		}
	}
	var why []problem.Problem
	for _, name := range names {
		o, err := waitFor(ctx, bot.exec.Resume(callerOf(ctx), name))
		if err != nil {
			return nil, err
		}
		why = append(why, o.Explanations...)
	}
	if len(why) > 0 {
		return &poisemsgs.ResumeResponse{Message: problem.Join(why), Explanations: edge.Explanations(why)}, nil
	}
	return &poisemsgs.ResumeResponse{Success: true, Message: "done"}, nil
}

// fresh returns a state that is not older than any report that a client has seen. Reports
// run ahead of snapshots by no more than the cycle under way, so the second snapshot from
// now on has what they reported.
func (bot *servedRobot) fresh(ctx context.Context) executive.State {
	state := bot.exec.State()
	for seen, last := 0, state.Tick.N; seen < 2 && !state.Silent && !bot.s.frozen() && ctx.Err() == nil; {
		time.Sleep(time.Millisecond)
		if state = bot.exec.State(); state.Tick.N != last {
			seen, last = seen+1, state.Tick.N
		}
	}
	return state
}

// servePlacing registers how joints are put somewhere at once: as a topic,
// and as a service for those who want to know whether it was.
func (bot *servedRobot) servePlacing(r *register) {
	place := func(who string, j *msgs.JointState) *executive.Answer { return bot.exec.Place(who, j.Name, j.Position) }
	word := func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.JointsSetResponse {
		return &poisemsgs.JointsSetResponse{Success: ok, Message: text, Explanations: why}
	}
	addCommand(r, "joints_virtual_set", func(who string, q *poisemsgs.JointsSetRequest) *executive.Answer { return place(who, &q.Joints) }, word)
	listen(bot.register(), "joints_virtual_set", burst, nil, func(from string, v *msgs.JointState) {
		_, _ = waitFor(bot.s.life, place(from, v)) // a topic has no answer; the audit has it
	})
}

// poseByHand moves joints without torque as a hand would.
func (bot *servedRobot) poseByHand(ctx context.Context, by servo.HandPoser, q *poisemsgs.JointsHandSetRequest) (*poisemsgs.JointsHandSetResponse, error) {
	var problems []problem.Problem
	names := q.Joints.Name
	if len(q.Joints.Position) != len(names) {
		problems = append(problems, *problem.New("wrong_size", "%d joints and %d positions", len(names), len(q.Joints.Position)))
	}
	if len(names) == 0 {
		problems = append(problems, *problem.New("no_joints", "no joints are named").With("name at least one joint, and its position"))
	}
	ids := make([]robot.JointID, len(names))
	for i, name := range names {
		id, ok := bot.model.Joint(name)
		if ids[i] = id; !ok {
			problems = append(problems, *problem.Unknown("unknown_joint", "joint", name, bot.topics.names))
		} else if i < len(q.Joints.Position) {
			problems = append(problems, noPlace(&bot.model.Joints()[id], q.Joints.Position[i])...)
		}
	}
	if len(problems) == 0 {
		for i, id := range ids {
			if !by.PoseByHand(int(id), q.Joints.Position[i]) {
				x := *problem.New("has_torque", "joint %q has torque: a hand cannot move it", names[i]).With("switch the torque of its limb off first: set_torque")
				x.Joint = names[i]
				problems = append(problems, x)
			}
		}
	}
	result := "ok"
	if len(problems) > 0 {
		result = problem.Join(problems)
	}
	bot.audit(executive.Audit{Who: callerOf(ctx), What: "place by hand", Result: result})
	if len(problems) > 0 {
		return &poisemsgs.JointsHandSetResponse{Message: problem.Join(problems), Explanations: edge.Explanations(problems)}, nil
	}
	return &poisemsgs.JointsHandSetResponse{Success: true, Message: "done"}, nil
}

// handTurns is how many turns an angle without limits may be posed away from zero.
const handTurns = 1000

// noPlace explains why a hand cannot put a joint somewhere: that is not finite, or beyond
// the joint's limits.
func noPlace(j *robot.Joint, at float64) []problem.Problem {
	lower, upper := -handTurns*2*math.Pi, handTurns*2*math.Pi
	if j.Limits.Lower.Has {
		lower = j.Limits.Lower.Value
	}
	if j.Limits.Upper.Has {
		upper = j.Limits.Upper.Value
	}
	x := problem.Problem{Joint: j.Name, Value: at}
	switch {
	case math.IsNaN(at) || math.IsInf(at, 0):
		x.Code, x.Text, x.Value = "not_finite", fmt.Sprintf("the position of joint %q is not finite", j.Name), 0
	case at < lower:
		x.Code, x.Text, x.Limit = "beyond_limit", fmt.Sprintf("joint %q cannot be put to %.6g, its limit is %.6g", j.Name, at, lower), lower
	case at > upper:
		x.Code, x.Text, x.Limit = "beyond_limit", fmt.Sprintf("joint %q cannot be put to %.6g, its limit is %.6g", j.Name, at, upper), upper
	default:
		return nil
	}
	return []problem.Problem{x}
}

// serveStreams registers the topics that controllers follow, and the messages of
// external controllers.
func (bot *servedRobot) serveStreams(r *register) {
	for i := range bot.seats {
		seat := &bot.seats[i]
		if seat.Declaration.Outside {
			bot.outside = seat.Declaration.Streams // of each once it asked for resources, under its own name
			continue
		}
		name := seat.Loop.Name
		for k := range seat.Declaration.Streams {
			s := &seat.Declaration.Streams[k]
			for _, topic := range append([]string{"controllers/" + name + "/" + s.Topic}, s.Also...) {
				bot.follow(r, topic, s, name)
			}
		}
	}
	bot.serveRemotes(r)
	bot.followLeader(r)
}

// streamed leaves an audit line about a value of a stream, once a second at most; why
// says why it was not passed on. Whether the controller took it is in its state.
func (bot *servedRobot) streamed(from, controller, why string) {
	result := "ok"
	if why != "" {
		result = why
	}
	bot.s.repeats.say(bot.s.life, strings.Join([]string{bot.name, from, controller, result}, "|"), streamEvery, func(leftOut int) {
		bot.s.log.Info("audit", "robot", bot.name, "who", from, "what", "stream to "+controller, "result", result, "left_out", leftOut)
	})
}

// feed hands a message of a stream to a controller, which the audit calls by a title.
func (bot *servedRobot) feed(from, controller, title string, s *controllers.Stream, message any) {
	var now servo.Tick
	if !bot.exec.View(func(s *loop.Snapshot) { now = s.Tick }) {
		return
	}
	value, err := s.Read(bot.model, now, message)
	if err != nil {
		bot.exec.Unreadable(from, controller, err)
		bot.streamed(from, title, err.Error())
		return
	}
	bot.streamed(from, title, problem.Join(bot.exec.Feed(from, controller, value)))
}

// checkGoal answers whether a goal, given as JSON, could start now.
func (bot *servedRobot) checkGoal(ctx context.Context, q *poisemsgs.CheckGoalRequest) (*poisemsgs.CheckGoalResponse, error) {
	goal, err := bot.readGoal(q.Controller, []byte(q.GoalJSON))
	if err != nil {
		return &poisemsgs.CheckGoalResponse{Message: err.Error(), Explanations: edge.Explanations(problem.All("bad_goal", err))}, nil
	}
	o, err := waitFor(ctx, bot.exec.CheckGoal(callerOf(ctx), goal))
	if err != nil {
		return nil, err
	}
	text := "it could start now"
	if !o.OK() {
		text = problem.Join(o.Explanations)
	}
	return &poisemsgs.CheckGoalResponse{Success: o.OK(), Message: text, Explanations: edge.Explanations(o.Explanations)}, nil
}

// readGoal reads a goal by the name of its action, of a controller or of its kind. A
// controller stands for its first action, or for being switched on.
func (bot *servedRobot) readGoal(name string, text []byte) (executive.Goal, error) {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "/"), bot.name+"/") // as the graph has it, or without the robot's
	for _, full := range []string{name, bot.actionOf(name)} {
		if a, ok := bot.actions[full]; ok {
			return a.ReadJSON(bot.model, text)
		}
	}
	if why := bot.unfit[name]; why != nil {
		return nil, &problem.Problem{Code: "unfit", Text: why.Error()}
	}
	return &executive.Operational{Controller: name, On: true}, nil // which is refused by its name
}

// actionOf returns the action that a controller stands for.
func (bot *servedRobot) actionOf(controller string) string {
	for i := range bot.seats {
		d := bot.seats[i].Declaration
		if name := bot.seats[i].Loop.Name; name != controller && d.Kind.Name != controller {
			continue
		}
		if len(d.Actions) > 0 {
			return d.Actions[0].Name
		}
	}
	return setOperational(controller)
}
