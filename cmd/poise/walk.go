package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"poise/control"
	"poise/executive/explain"
	"poise/gait"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/problem"
	"poise/wire/rosbridge/client"
)

// walkEvery is how often the velocity is told: several times within what it counts for.
const walkEvery = 100 * time.Millisecond

// longestWalk is the longest time that can be given, s: 30 years.
const longestWalk = 1e9

// walkCommand lets the robot of a server walk, until Ctrl-C or for a time, and then stand.
func walkCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	var v msgs.Twist
	fs.Float64Var(&v.Linear.X, "x", 0, "`m/s` to go ahead")
	fs.Float64Var(&v.Linear.Y, "y", 0, "`m/s` to go to the left")
	fs.Float64Var(&v.Angular.Z, "yaw", 0, "`rad/s` to turn to the left")
	name := fs.String("gait", "", "`name` of a gait: crawl, amble, trot, in_place; otherwise by speed")
	seconds := fs.Float64("for", 0, "`s` to walk; otherwise until Ctrl-C")
	return func(args []string) error {
		for _, x := range []struct {
			flag, what string
			value      float64
		}{{"--x", "speed", v.Linear.X}, {"--y", "speed", v.Linear.Y}, {"--yaw", "speed", v.Angular.Z}, {"--for", "time", *seconds}} {
			if math.IsNaN(x.value) || math.IsInf(x.value, 0) {
				return usagef("%s is %g, which is no %s", x.flag, x.value, x.what)
			}
		}
		if fs.Changed("for") && !(*seconds > 0) {
			return usagef("--for is %g: a time is above 0; without --for it walks until Ctrl-C", *seconds)
		}
		if *seconds > longestWalk {
			return usagef("--for is %g: a time is at most %g s; without --for it walks until Ctrl-C", *seconds, float64(longestWalk))
		}
		if *name != "" && !slices.Contains(gait.Names, *name) {
			return usagef("--gait: %s", problem.Unknown("unknown_gait", "gait", *name, gait.Names).Error())
		}
		end, err := r.open(args)
		if err != nil {
			return err
		}
		defer end()
		if err := r.performs("walk", "it does not walk"); err != nil {
			return err
		}
		return r.walk(&v, *name, *seconds)
	}
}

// walk switches the controller on, leads it, and lets it stand in the end.
func (r *remote) walk(v *msgs.Twist, name string, seconds float64) error {
	velocities, err := r.c.Advertise(r.name("cmd_vel"), "geometry_msgs/msg/Twist", false)
	if err != nil {
		return err
	}
	gaits, err := r.c.Advertise(r.name("controllers/walk/gait"), "std_msgs/msg/String", false)
	if err != nil {
		return err
	}
	w, err := r.watchWay()
	if err != nil {
		return err
	}
	g, err := r.c.SendGoal(context.Background(), r.name("controllers/walk/set_operational"), "resource_control_msgs/action/SetOperational",
		client.Text(&msgs.SetOperationalGoal{Operational: true}, msgs.ROS2))
	if err != nil {
		return err
	}
	ended := make(chan client.Update, 1)
	go func() {
		for {
			u, err := g.Next(context.Background())
			if err != nil {
				u = client.Update{Done: true, Text: err.Error()}
			}
			if u.Done {
				ended <- u
				return
			}
		}
	}()
	begun, over := time.Now(), make(<-chan time.Time)
	if seconds > 0 {
		over = time.After(time.Duration(seconds * float64(time.Second)))
	}
	every := time.NewTicker(walkEvery)
	defer every.Stop()
	for {
		select {
		case u := <-ended: // not by us
			return r.ending(u, "walk")
		case <-every.C:
			if err := gaits.Publish(client.Text(&msgs.String{Data: name}, msgs.ROS2)); err != nil {
				return err
			}
			if err := velocities.Publish(client.Text(v, msgs.ROS2)); err != nil {
				return err
			}
			continue
		case <-over:
		case <-r.ctx.Done():
		}
		break
	}
	walks, err := r.now()
	if err != nil {
		return err
	}
	told := time.Since(begun)
	if err := g.Cancel(context.Background()); err != nil {
		return err
	}
	if u := <-ended; u.Status != statusCancelled {
		return r.ending(u, "walk")
	}
	return r.stands(w, told.Seconds(), slower(walks))
}

// slower returns why a robot walks slower than it is told, nil if it does not.
func slower(s *poisemsgs.RobotStatus) []poisemsgs.Explanation {
	for i := range s.Controllers {
		if c := &s.Controllers[i]; c.Kind == "walk" {
			return slices.DeleteFunc(c.Waits, func(x poisemsgs.Explanation) bool {
				return x.Code != string(explain.Code(control.WalksSlower)) && x.Code != string(explain.Code(control.TurnsSlower))
			})
		}
	}
	return nil
}

// way is how a base moves, as base_pose tells.
type way struct {
	sub  *client.Subscription
	read chan struct{} // closed when no more is read

	known    bool
	from, to msgs.Point
	yaw      float64
	turned   float64 // to the left in all, rad
}

// watchWay notes how the base moves from now on, until its end.
func (r *remote) watchWay() (*way, error) {
	sub, err := r.c.Subscribe(r.name("base_pose"), "geometry_msgs/msg/PoseStamped", client.SubscribeOptions{})
	if err != nil {
		return nil, err
	}
	w := &way{sub: sub, read: make(chan struct{})}
	go func() {
		defer close(w.read)
		for {
			var p msgs.PoseStamped
			text, _, err := sub.Next(context.Background())
			if err != nil || rosjson.Unmarshal(text, &p) != nil {
				return
			}
			w.add(&p.Pose)
		}
	}()
	return w, nil
}

func (w *way) add(p *msgs.Pose) {
	o := &p.Orientation
	yaw := math.Atan2(2*(o.W*o.Z+o.X*o.Y), 1-2*(o.Y*o.Y+o.Z*o.Z))
	if !w.known {
		w.known, w.from, w.yaw = true, p.Position, yaw
	}
	w.turned += math.Remainder(yaw-w.yaw, 2*math.Pi)
	w.to, w.yaw = p.Position, yaw
}

// end returns how far it is from where it was, and by how much it turned meanwhile.
func (w *way) end() (far, turned float64) {
	w.sub.Close()
	<-w.read
	return math.Hypot(w.to.X-w.from.X, w.to.Y-w.from.Y), w.turned
}

// walked is how a walk ends.
type walked struct {
	answered
	Seconds  float64                 `json:"seconds"`  // for which it was told a velocity
	Distance float64                 `json:"distance"` // from where it began, m
	Turned   float64                 `json:"turned"`   // to the left, rad
	Slower   []poisemsgs.Explanation `json:"slower"`   // why it did not walk as it was told
}

// stands says that a walk is over and the robot stands, and what came of it, unless something held it up on the way.
func (r *remote) stands(w *way, seconds float64, slower []poisemsgs.Explanation) error {
	state, err := r.now()
	if err != nil {
		return err
	}
	end := walked{Seconds: seconds, Slower: slower}
	end.Distance, end.Turned = w.end()
	turned := math.Round(100*end.Turned)/100 + 0 // not −0
	if end.Slower == nil {
		end.Slower = []poisemsgs.Explanation{}
	}
	if why := heldUp(state); why != "" {
		end.Message = "walk: " + why
		return r.tellEnd(end, false, end.Message)
	}
	end.Success, end.Message = true, fmt.Sprintf("it stands; it came %.3f m far and turned by %.2f rad in %.3g s", end.Distance, turned, seconds)
	for _, x := range slower {
		end.Message += "; " + x.Text
		if x.Help != "" {
			end.Message += "; " + x.Help
		}
	}
	return r.tellEnd(end, true, end.Message)
}

// now returns the state of the robot, also after Ctrl-C.
func (r *remote) now() (*poisemsgs.RobotStatus, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callPatience) // r.ctx ended with Ctrl-C
	defer cancel()
	text, err := r.c.Call(ctx, r.name("get_state"), client.Text(&poisemsgs.GetStateRequest{}, msgs.ROS2))
	if err != nil {
		return nil, r.unanswered(err)
	}
	var a poisemsgs.GetStateResponse
	return &a.State, rosjson.Unmarshal(text, &a)
}

// performs refuses what no controller of the robot does, with the reason that the server has.
func (r *remote) performs(kind, refusal string) error {
	state, err := r.now()
	if err != nil {
		return err
	}
	for i := range state.Controllers {
		if state.Controllers[i].Kind == kind {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(r.ctx, callPatience)
	defer cancel()
	text, err := r.c.Call(ctx, r.name("check_goal"), client.Text(&poisemsgs.CheckGoalRequest{Controller: kind}, msgs.ROS2))
	if err != nil {
		return r.unanswered(err)
	}
	var a poisemsgs.CheckGoalResponse
	if err := rosjson.Unmarshal(text, &a); err != nil {
		return err
	}
	refusal += ": " + a.Message + " (docs/robot-yaml.md)"
	return r.tellEnd(answered{Message: refusal}, false, refusal)
}

// heldUp says what kept a robot from walking on; the empty text is nothing.
func heldUp(s *poisemsgs.RobotStatus) string {
	why := ""
	for _, f := range s.Faults {
		why += ": " + f.Explanation.Text
	}
	switch {
	case s.Stopped:
		return "it was stopped on the way" + why + "; goals are refused until poise reset"
	case s.Paused:
		return "it was paused on the way" + why + "; motions stand still until poise resume"
	case s.Power != "enabled":
		return "its power is " + s.Power + why
	}
	return ""
}
