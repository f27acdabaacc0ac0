package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"poise/control"
	"poise/control/lookat"
	"poise/control/stance"
	"poise/control/stream"
	"poise/edge"
	"poise/executive"
	"poise/executive/explain"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// serveCommands registers what an instance can be told.
func (in *instance) serveCommands(r *register) {
	e := in.exec
	addService(r, "stop", in.stop)
	addCommand(r, "reset", func(who string, _ *poisemsgs.ResetRequest) *executive.Answer { return e.Reset(who) },
		func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.ResetResponse {
			if ok && in.exec.State().Power != loop.Enabled {
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
	addService(r, "resume", in.resume)
	addCommand(r, "set_speed", func(who string, q *poisemsgs.SetSpeedRequest) *executive.Answer {
		return e.SetSpeed(who, q.Rate, q.Controller)
	}, func(ok bool, text string, why []poisemsgs.Explanation, o executive.Outcome) *poisemsgs.SetSpeedResponse {
		return &poisemsgs.SetSpeedResponse{Success: ok, Message: text, Explanations: why, Achieved: o.Value}
	})
	if in.can.Torque {
		addCommand(r, "set_torque", func(who string, q *poisemsgs.SetTorqueRequest) *executive.Answer {
			return e.SetTorque(who, q.On, q.Resources)
		}, func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.SetTorqueResponse {
			return &poisemsgs.SetTorqueResponse{Success: ok, Message: text, Explanations: why}
		})
	}
	addCommand(r, "switch_controllers", func(who string, q *poisemsgs.SwitchControllersRequest) *executive.Answer {
		return e.SwitchControllers(who, executive.Switch{Start: q.Start, Stop: q.Stop, Strict: q.Strict})
	}, func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.SwitchControllersResponse {
		return &poisemsgs.SwitchControllersResponse{Success: ok, Message: text, Explanations: why}
	})
	addService(r, "check_goal", in.checkGoal)
	addService(r, "get_state", func(ctx context.Context, _ *poisemsgs.GetStateRequest) (*poisemsgs.GetStateResponse, error) {
		state := in.fresh(ctx)
		return &poisemsgs.GetStateResponse{Success: true, State: *edge.Status(&state)}, nil
	})
	addService(r, "robot_info", func(context.Context, *poisemsgs.RobotInfoRequest) (*poisemsgs.RobotInfoResponse, error) {
		return in.s.info(in)
	})
	if _, ok := in.driver.(servo.Placer); ok {
		in.servePlacing(r)
	}
	if by, ok := in.driver.(servo.HandPoser); ok {
		addService(r, "joints_hand_set", func(ctx context.Context, q *poisemsgs.JointsHandSetRequest) (*poisemsgs.JointsHandSetResponse, error) {
			return in.poseByHand(ctx, by, q)
		})
	}
	if in.first {
		listen(r, "joints_marker_set", newest, func(string, *msgs.JointState) {}) // it exists for those who show it
	}
	in.serveStreams(r)
}

// mildest is the stop category that a stop of an unknown one is taken as: whoever
// wants a robot to stop gets a stop.
const mildest = 2

// stop stops the robot and answers when it stands.
func (in *instance) stop(ctx context.Context, q *poisemsgs.StopRequest) (*poisemsgs.StopResponse, error) {
	category, note := q.Category, ""
	if category > mildest {
		category, note = mildest, fmt.Sprintf("category %d is unknown (0, 1, 2) and was taken as %d; ", q.Category, mildest)
	}
	o, err := waitFor(ctx, in.exec.Stop(callerOf(ctx), category))
	if err != nil {
		return nil, err
	}
	if !o.OK() {
		return &poisemsgs.StopResponse{Message: explain.Join(o.Explanations), Explanations: edge.Explanations(o.Explanations)}, nil
	}
	return &poisemsgs.StopResponse{Success: true, Message: fmt.Sprintf("%sstands after %.3f s", note, o.Value)}, nil
}

// resume lets motions go on; all of them includes those of controllers that were paused
// by name.
func (in *instance) resume(ctx context.Context, q *poisemsgs.ResumeRequest) (*poisemsgs.ResumeResponse, error) {
	names := []string{q.Controller}
	if q.Controller == "" {
		for _, c := range in.fresh(ctx).Controllers {
			if c.Paused {
				names = append(names, c.Name)
			}
		}
	}
	var why []explain.Explanation
	for _, name := range names {
		o, err := waitFor(ctx, in.exec.Resume(callerOf(ctx), name))
		if err != nil {
			return nil, err
		}
		why = append(why, o.Explanations...)
	}
	if len(why) > 0 {
		return &poisemsgs.ResumeResponse{Message: explain.Join(why), Explanations: edge.Explanations(why)}, nil
	}
	return &poisemsgs.ResumeResponse{Success: true, Message: "done"}, nil
}

// fresh returns a state that has all that anybody was told before the call. Reports
// run ahead of snapshots by no more than the cycle under way, so the second snapshot
// from now on has what they told.
func (in *instance) fresh(ctx context.Context) executive.State {
	state := in.exec.State()
	for seen, last := 0, state.Tick.N; seen < 2 && !state.Silent && ctx.Err() == nil; {
		time.Sleep(time.Millisecond)
		if state = in.exec.State(); state.Tick.N != last {
			seen, last = seen+1, state.Tick.N
		}
	}
	return state
}

// servePlacing registers how joints are put somewhere at once: as a topic,
// and as a service for those who want to know whether it was.
func (in *instance) servePlacing(r *register) {
	place := func(who string, j *msgs.JointState) *executive.Answer { return in.exec.Place(who, j.Name, j.Position) }
	word := func(ok bool, text string, why []poisemsgs.Explanation, _ executive.Outcome) *poisemsgs.JointsSetResponse {
		return &poisemsgs.JointsSetResponse{Success: ok, Message: text, Explanations: why}
	}
	addCommand(r, "joints_virtual_set", func(who string, q *poisemsgs.JointsSetRequest) *executive.Answer { return place(who, &q.Joints) }, word)
	listen(in.register(), "joints_virtual_set", burst, func(from string, v *msgs.JointState) {
		_, _ = waitFor(in.s.life, place(from, v)) // a topic has no answer; the audit has it
	})
}

// poseByHand moves joints without torque as a hand would.
func (in *instance) poseByHand(ctx context.Context, by servo.HandPoser, q *poisemsgs.JointsHandSetRequest) (*poisemsgs.JointsHandSetResponse, error) {
	var why []explain.Explanation
	names := q.Joints.Name
	if len(q.Joints.Position) != len(names) {
		why = append(why, explain.Because("wrong_size", fmt.Sprintf("%d joints and %d positions", len(names), len(q.Joints.Position))))
	}
	ids := make([]robot.JointID, len(names))
	for i, name := range names {
		id, ok := in.model.Joint(name)
		if ids[i] = id; !ok {
			why = append(why, explain.UnknownName("unknown_joint", "joint", name, in.topics.names))
		}
	}
	if len(why) == 0 {
		for i, id := range ids {
			if !by.PoseByHand(int(id), q.Joints.Position[i]) {
				x := explain.Because("has_torque", fmt.Sprintf("joint %q has torque: a hand cannot move it", names[i])).With("switch the torque of its limb off first: set_torque")
				x.Joint = names[i]
				why = append(why, x)
			}
		}
	}
	result := "ok"
	if len(why) > 0 {
		result = explain.Join(why)
	}
	in.audit(executive.Audit{Who: callerOf(ctx), What: "place by hand", Result: result})
	if len(why) > 0 {
		return &poisemsgs.JointsHandSetResponse{Message: explain.Join(why), Explanations: edge.Explanations(why)}, nil
	}
	return &poisemsgs.JointsHandSetResponse{Success: true, Message: "done"}, nil
}

// serveStreams registers the topics that continuous controllers follow, and the
// messages of controllers outside the process.
func (in *instance) serveStreams(r *register) {
	feed := func(controller string) func(from string, v *msgs.JointState) {
		return func(from string, v *msgs.JointState) { in.feedJoints(from, controller, v) }
	}
	listen(r, "joints_ref", newest, feed("joint_state"))
	listen(r, "controllers/joint_state/ref_joints", newest, feed("joint_state"))
	if _, ok := in.loop.Controller("stance"); ok {
		listen(r, "controllers/stance/target", newest, func(from string, v *msgs.PoseStamped) {
			X, ok := edge.PoseOf(v.Pose)
			relative, known := edge.InBase(in.model, &v.Header)
			switch {
			case !ok:
				in.streamed(from, "stance", "the orientation has no length")
			case !known:
				in.streamed(from, "stance", in.unknownFrame(v.Header.FrameID))
			default:
				in.feed(from, "stance", func(at int64) control.Program { return &stance.Target{At: at, Body: X, Relative: relative} })
			}
		})
	}
	if _, ok := in.loop.Controller("look_at"); ok {
		listen(r, "controllers/look_at/target", newest, func(from string, v *msgs.PointStamped) {
			base, known := edge.InBase(in.model, &v.Header)
			if !known {
				in.streamed(from, "look_at", in.unknownFrame(v.Header.FrameID))
				return
			}
			point := spatial.Vec3{X: v.Point.X, Y: v.Point.Y, Z: v.Point.Z}
			in.feed(from, "look_at", func(at int64) control.Program { return &lookat.Target{At: at, Point: point, InBase: base} })
		})
	}
	in.serveRemotes(r)
}

func (in *instance) unknownFrame(name string) string {
	return fmt.Sprintf("frame %q: %s or %s is understood", name, worldFrame, in.model.Frames()[0].Name)
}

// streamed leaves an audit line about a value of a stream, once a second at most; why
// says why it was not passed on. Whether the controller took it is in its state.
func (in *instance) streamed(from, controller, why string) {
	result := "ok"
	if why != "" {
		result = why
	}
	in.s.repeats.say(in.s.life, strings.Join([]string{in.name, from, controller, result}, "|"), streamEvery, func(leftOut int) {
		in.s.log.Info("audit", "robot", in.name, "who", from, "what", "stream to "+controller, "result", result, "left_out", leftOut)
	})
}

// feed hands a value that was made now to a controller.
func (in *instance) feed(from, controller string, value func(at int64) control.Program) {
	var at int64
	if !in.exec.View(func(now *loop.Snapshot) { at = now.Tick.Time }) {
		return
	}
	in.streamed(from, controller, explain.Join(in.exec.Feed(controller, value(at))))
}

// feedJoints hands a joint state to a stream. A stamp says when it was made: what is
// older than the controller's activation moves nothing.
func (in *instance) feedJoints(from, controller string, v *msgs.JointState) {
	if len(v.Position) != len(v.Name) {
		in.streamed(from, controller, fmt.Sprintf("%d joints and %d positions", len(v.Name), len(v.Position)))
		return
	}
	sample := &stream.Sample{Q: make([]float64, len(in.model.Joints()))}
	for i, name := range v.Name {
		id, ok := in.model.Joint(name)
		if !ok {
			in.streamed(from, controller, fmt.Sprintf("joint %q is unknown", name))
			return
		}
		sample.Joints = sample.Joints.With(robot.LeafID(id))
		sample.Q[id] = v.Position[i]
	}
	stamp := v.Header.Stamp.Nanos()
	if !in.exec.View(func(now *loop.Snapshot) {
		if sample.At = now.Tick.Time; stamp > 0 {
			sample.At = min(now.Tick.Time-(now.Tick.Stamp-stamp), now.Tick.Time)
		}
	}) {
		return
	}
	in.streamed(from, controller, explain.Join(in.exec.Feed(controller, sample)))
}

// maxOutside bounds how many controllers outside are listened to.
const maxOutside = 64

// serveRemotes registers the messages by which controllers outside ask for resources
// and say that they live; who asked is then heard on controllers/NAME/ref_joints.
func (in *instance) serveRemotes(r *register) {
	heard := map[string]bool{} // of this goroutine alone
	listen(r, "resource_request", every, func(from string, v *msgs.ResourceRequest) {
		refuse := func(why string) {
			in.audit(executive.Audit{Who: fmt.Sprintf("%s (%s)", v.RequesterName, from), What: "resource request", Result: why})
			in.topics.assigned.Publish(&msgs.ResourceAssignment{RequestIds: []uint32{v.RequestID}})
		}
		if !heard[v.RequesterName] {
			if len(heard) >= maxOutside {
				refuse(fmt.Sprintf("%d controllers outside have asked already", maxOutside))
				return
			}
			own := in.register()
			listen(own, "controllers/"+v.RequesterName+"/ref_joints", newest, func(from string, j *msgs.JointState) {
				if seat, ok := in.exec.RemoteSeat(v.RequesterName); ok {
					in.feedJoints(from, seat, j)
				}
			})
			if own.err != nil {
				refuse(own.err.Error())
				return
			}
			heard[v.RequesterName] = true
		}
		ask := executive.RemoteRequest{Name: v.RequesterName, ID: v.RequestID, Resources: v.Resources, Pending: v.PriPending, Operational: v.PriOperational}
		why := in.exec.RequestRemote(fmt.Sprintf("%s (%s)", v.RequesterName, from), ask, func(a executive.Assignment) {
			in.topics.assigned.Publish(&msgs.ResourceAssignment{RequestIds: a.Requests, Resources: a.Resources, Owners: a.Owners})
		})
		if len(why) > 0 {
			refuse(explain.Join(why))
		}
	})
	listen(r, "resource_requester_state", every, func(_ string, v *msgs.ResourceRequesterState) {
		in.exec.RemoteState(executive.RemoteState{Name: v.RequesterName, ID: v.RequestID, Operational: v.IsOperational})
	})
}

// checkGoal tells whether a goal, given as JSON, could start now.
func (in *instance) checkGoal(ctx context.Context, q *poisemsgs.CheckGoalRequest) (*poisemsgs.CheckGoalResponse, error) {
	goal, err := in.readGoal(q.Controller, []byte(q.GoalJSON))
	if err != nil {
		return &poisemsgs.CheckGoalResponse{Message: err.Error(), Explanations: edge.Explanations(explain.Errors("bad_goal", err))}, nil
	}
	o, err := waitFor(ctx, in.exec.CheckGoal(callerOf(ctx), goal))
	if err != nil {
		return nil, err
	}
	text := "it could start now"
	if !o.OK() {
		text = explain.Join(o.Explanations)
	}
	return &poisemsgs.CheckGoalResponse{Success: o.OK(), Message: text, Explanations: edge.Explanations(o.Explanations)}, nil
}

// shortNames are what actions are called where only their goals are meant.
var shortNames = map[string]string{"trajectory": "follow_joint_trajectory", "follow": "follow_joint_trajectory", "pose": "go_to_pose"}

// readGoal reads a goal of one of the actions: by its name, by a short one, or by that
// of a controller that is switched on.
func (in *instance) readGoal(name string, text []byte) (executive.Goal, error) {
	for _, full := range []string{name, shortNames[name], "controllers/" + name + "/set_operational"} {
		if read, ok := in.readers[full]; ok {
			return read(text)
		}
	}
	return &executive.Operational{Controller: name, On: true}, nil // which is refused by its name
}
