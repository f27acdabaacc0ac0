package server_test

import (
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/server/config"
)

// TestMotionsPlayWhileItWalks: yawn, ears and the gaze have the head while the robot walks on, under the names of the robot
// `real`; a motion that needs legs is refused by the name of who has them.
func TestMotionsPlayWhileItWalks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.RealSim = true })
		walk := b.send("/real/controllers/walk/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true})
		b.begun(walk)
		publish := b.publish("/real/cmd_vel", "geometry_msgs/msg/Twist")
		stop := make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Millisecond):
					publish(msgs.Twist{Linear: msgs.Vector3{X: 0.04}})
				}
			}
		}()
		at := func() float64 { return next[msgs.Odometry](b, b.subscribe("/real/odom")).Pose.Pose.Position.X }
		from := at()
		further := func(what string) {
			t.Helper()
			b.until("it walks on after "+what, func() bool { return at() > from+0.02 })
			from = at()
		}
		further("its start")
		for _, motion := range []string{"yawn", "perk_ears"} {
			b.want(b.endOf(b.send("/real/play_motion", textType, play(motion, ""))), succeeded)
			further(motion)
		}
		look := b.send("/real/controllers/look_at/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true})
		b.begun(look)
		further("the gaze")
		if err := look.Cancel(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.want(b.endOf(look), cancelled)
		for _, options := range []string{"approach", ""} { // without one it does not begin in its pose either
			b.rejected(b.endOf(b.send("/real/play_motion", textType, play("paw", options))), `"walk" has it`)
		}
		further("a refusal")
		close(stop)
		<-ended
		if err := walk.Cancel(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.want(b.endOf(walk), cancelled)
	})
}
