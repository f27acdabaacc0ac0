package server_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
)

// TestWalkingByVelocity: a client switches walk on and leads it by cmd_vel. A motion of the head plays while
// it walks, one that needs legs is refused by the name of who has them. When nothing more comes the robot
// stands; when the goal is called off it is over.
func TestWalkingByVelocity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		g := b.send("/controllers/walk/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true})
		b.begun(g)
		publish := b.publish("/cmd_vel", "geometry_msgs/msg/Twist")
		gait := b.publish("/controllers/walk/gait", "std_msgs/msg/String")
		gait(msgs.String{Data: "trot"})
		at := func() msgs.Odometry { return next[msgs.Odometry](b, b.subscribe("/odom")) }
		from := at().Pose.Pose.Position.X
		ahead := msgs.Twist{Linear: msgs.Vector3{X: 0.1}}
		walks := func(metres float64) {
			t.Helper()
			b.until("it has walked", func() bool {
				publish(ahead)
				time.Sleep(100 * time.Millisecond)
				return at().Pose.Pose.Position.X > from+metres
			})
		}
		walks(0.08)
		lie := b.send("/go_to_pose", textType, &msgs.TextActionGoal{Command: msgs.TextCommand{Command: "lying"}})
		b.rejected(b.endOf(lie), "walk")
		nod := b.send("/play_motion", textType, play("nod", ""))
		b.begun(nod)
		walks(0.16)
		b.want(b.endOf(nod), succeeded)
		walks(0.2)
		b.until("it stands, and says why", func() bool {
			v := at().Twist.Twist.Linear
			waits := false
			for _, c := range b.state().Controllers {
				waits = waits || c.Name == "walk" && len(c.Waits) > 0 && c.Waits[0].Code == "stale"
			}
			return waits && math.Hypot(v.X, v.Y) == 0
		})
		publish(msgs.Twist{Angular: msgs.Vector3{Z: math.Inf(1)}})
		b.until("what is no speed is named", func() bool { return len(b.log.lines("msg=audit", "stream to walk", "angular.z", "no speed")) > 0 })
		publish(msgs.Twist{Linear: msgs.Vector3{Z: 1}})
		b.until("what is no walk is named", func() bool { return len(b.log.lines("msg=audit", "stream to walk", "linear.z")) > 0 })
		if err := g.Cancel(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.want(b.endOf(g), cancelled)
		balance := next[poisemsgs.BalanceState](b, b.subscribe("/balance_state"))
		if !balance.Stable || balance.Margin < 0.02 {
			t.Errorf("in the end: %+v", balance)
		}
	})
}

// TestGaitsAreTuned: while it walks, parameters of its gait are taken without a stop, and what cannot be is named with its
// value and the limit; the footsteps that are planned are told.
func TestGaitsAreTuned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		b.begun(b.send("/controllers/walk/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true}))
		publish := b.publish("/cmd_vel", "geometry_msgs/msg/Twist")
		tune := b.publish("/controllers/walk/parameters", "poise_msgs/msg/GaitParameters")
		lifts, swings := 0, map[string]bool{}
		walk := func(seconds float64) int {
			t.Helper()
			lifts = 0
			for range int(seconds / 0.1) {
				publish(msgs.Twist{Linear: msgs.Vector3{X: 0.03}})
				time.Sleep(100 * time.Millisecond)
				for _, s := range next[poisemsgs.FootstepsState](b, b.subscribe("/footsteps_planned")).Steps {
					if s.Swinging && !swings[s.Limb] {
						lifts++
					}
					swings[s.Limb] = s.Swinging
					if math.Abs(s.Y) > 0.2 {
						t.Fatalf("a footstep is planned at %+v", s)
					}
				}
			}
			return lifts
		}
		walk(3)
		slow := walk(6.4)
		tune(poisemsgs.GaitParameters{Gait: "crawl", Period: 0.8, Lift: 0.01})
		walk(2)
		if fast := walk(6.4); slow < 12 || fast < 17*slow/10 {
			t.Errorf("%d steps in 6.4 s, and %d with half the period", slow, fast)
		}
		tune(poisemsgs.GaitParameters{Gait: "crawl", Period: 0.8, Duty: 0.5})
		b.until("it says what is wrong", func() bool { return len(b.log.lines("msg=audit", "stream to walk", "larger duty")) > 0 })
		tune(poisemsgs.GaitParameters{Gait: "crawl", Limbs: []string{"leg1"}})
		b.until("it says how many legs there are", func() bool { return len(b.log.lines("msg=audit", "stream to walk", "1 of the 4 legs")) > 0 })
		tune(poisemsgs.GaitParameters{Gait: "crawl", Limbs: []string{"leg1", "leg2", "leg3", "tail"}})
		b.until("it says what is no leg", func() bool { return len(b.log.lines("msg=audit", "stream to walk", "tail")) > 0 })
	})
}

// TestWalkingToAPlace: walk_to brings the robot to a place seen from where it stands, with the way that is left as feedback;
// footsteps are taken one by one; what cannot be is refused by name.
func TestWalkingToAPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		const typ = "poise_msgs/action/WalkTo"
		at := func() msgs.Point { return next[msgs.Odometry](b, b.subscribe("/odom")).Pose.Pose.Position }
		from := at()
		goal := &poisemsgs.WalkToGoal{Gait: "trot"}
		goal.Target.Header.FrameID, goal.Target.Pose.Position.X, goal.Target.Pose.Orientation.W = "base_link", 0.15, 1
		g := b.send("/walk_to", typ, goal)
		far, near := 0.0, 1.0
		for over := false; !over; {
			u, err := g.Next(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			if over = u.Done; over {
				b.want(u, succeeded)
				break
			}
			var f poisemsgs.WalkToFeedback
			if err := rosjson.Unmarshal(u.Feedback, &f); err != nil {
				t.Fatal(err)
			}
			far, near = max(far, f.DistanceRemaining), min(near, f.DistanceRemaining)
		}
		if to := at(); math.Abs(to.X-from.X-0.15) > 0.02 || math.Abs(to.Y-from.Y) > 0.02 {
			t.Errorf("it went from %+v to %+v", from, to)
		}
		if far < 0.1 || near > 0.03 {
			t.Errorf("it was told to be %g … %g m away", near, far)
		}
		from = at()
		steps := &poisemsgs.WalkToGoal{}
		steps.Target.Header.FrameID = "base_link"
		steps.Footsteps = []poisemsgs.Footstep{{Limb: "leg3", X: -0.05, Y: 0.0386}, {Limb: "leg1", X: 0.11, Y: 0.0386}, {Limb: "leg4", X: -0.05, Y: -0.0386}, {Limb: "leg2", X: 0.11, Y: -0.0386}}
		b.want(b.endOf(b.send("/walk_to", typ, steps)), succeeded)
		if to := at(); to.X-from.X < 0.01 {
			t.Errorf("by footsteps it went from %+v to %+v", from, to)
		}
		for name, change := range map[string]func(g *poisemsgs.WalkToGoal){
			"gallop":                        func(g *poisemsgs.WalkToGoal) { g.Gait = "gallop" },
			"moon":                          func(g *poisemsgs.WalkToGoal) { g.Target.Header.FrameID = "moon" },
			"leg9":                          func(g *poisemsgs.WalkToGoal) { g.Footsteps = []poisemsgs.Footstep{{Limb: "leg9"}} },
			`no leg "head"; there are leg1`: func(g *poisemsgs.WalkToGoal) { g.Footsteps = []poisemsgs.Footstep{{Limb: "head"}} },
			"1e+09 m is not within -10000":  func(g *poisemsgs.WalkToGoal) { g.Target.Pose.Position.Y = 1e9 },
			"NaN m is not within -10000":    func(g *poisemsgs.WalkToGoal) { g.Target.Pose.Position.Z = math.NaN() },
			"speed is 1e+09: a speed is at most 1000 m/s":             func(g *poisemsgs.WalkToGoal) { g.Speed = 1e9 },
			"speed is 1e-06: a speed is at least 0.001 m/s":           func(g *poisemsgs.WalkToGoal) { g.Speed = 1e-6 },
			"position_tolerance is 2000: a tolerance is at most 1000": func(g *poisemsgs.WalkToGoal) { g.PositionTolerance = 2000 },
			"leg1": func(g *poisemsgs.WalkToGoal) { g.Footsteps = []poisemsgs.Footstep{{Limb: "leg1", X: 0.5}} },
		} {
			bad := *goal
			change(&bad)
			b.rejected(b.endOf(b.send("/walk_to", typ, &bad)), name)
		}
	})
}
