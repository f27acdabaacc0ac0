package server_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
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
