package server_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
)

// TestBalanceAndOdometryAreTold: a robot that stands tells its balance, as it is and as it
// is commanded, and where its odometry has it; and goes on from where it is said to be.
func TestBalanceAndOdometryAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		for _, topic := range []string{"/balance_state", "/balance_state_reference"} {
			m := next[poisemsgs.BalanceState](b, b.subscribe(topic))
			load := 0.0
			for _, f := range m.Loads {
				load += f
			}
			if !m.Stable || !m.Pressed || !m.Carried || len(m.Supports) != 4 || math.Abs(load-9.81*m.Mass) > 0.01 {
				t.Errorf("%s: %+v", topic, m)
			}
			for name, p := range map[string]msgs.Vector3{"zmp": m.ZMP, "cop": m.CoP, "capture point": m.CapturePoint} {
				if math.Hypot(p.X-m.CoM.X, p.Y-m.CoM.Y) > 1e-4 || math.Abs(p.Z) > 1e-6 {
					t.Errorf("%s: %s at %v, mass at %v", topic, name, p, m.CoM)
				}
			}
			if m.Margin < 0.01 || math.Abs(m.Margin-m.CaptureMargin) > 1e-4 || math.Abs(m.Margin-m.CoPMargin) > 1e-4 || math.Abs(m.Margin-m.CoMMargin) > 1e-4 {
				t.Errorf("%s: margins %g %g %g %g", topic, m.Margin, m.CoMMargin, m.CoPMargin, m.CaptureMargin)
			}
		}
		at := next[msgs.Odometry](b, b.subscribe("/odom"))
		if at.Header.FrameID != "world" || at.ChildFrameID != "base_link" || at.Pose.Pose.Position.Z < 0.1 {
			t.Errorf("odom: %+v", at)
		}
		there := at.Pose.Pose
		there.Position.X += 1
		var res poisemsgs.SetOdometryResponse
		if b.call("/set_odometry", &poisemsgs.SetOdometryRequest{Pose: there}, &res); !res.Success {
			t.Errorf("set_odometry: %s", res.Message)
		}
		b.until("odometry goes on there", func() bool {
			return math.Abs(next[msgs.Odometry](b, b.subscribe("/odom")).Pose.Pose.Position.X-there.Position.X) < 1e-9
		})
		there.Orientation = msgs.Quaternion{}
		if b.call("/set_odometry", &poisemsgs.SetOdometryRequest{Pose: there}, &res); res.Success || len(res.Explanations) == 0 {
			t.Errorf("a pose without an orientation is taken: %+v", res)
		}
	})
}

// TestOdometryNamesWhatIsWrong: a pose that cannot be one is refused with its field, its value and
// the limit; one above the ground is where odometry goes on.
func TestOdometryNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		odom := b.subscribe("/odom")
		at := next[msgs.Odometry](b, odom).Pose.Pose
		for _, c := range []struct {
			change func(*msgs.Pose)
			want   []string
		}{
			{func(p *msgs.Pose) { p.Position.X = 1e16 }, []string{"pose.position.x", "1e+16", "100000"}},
			{func(p *msgs.Pose) { p.Position.Y = -1e300 }, []string{"pose.position.y", "-1e+300"}},
			{func(p *msgs.Pose) { p.Position.Z = math.NaN() }, []string{"pose.position.z", "NaN"}},
			{func(p *msgs.Pose) { p.Orientation.X = math.NaN() }, []string{"pose.orientation.x", "NaN"}},
			{func(p *msgs.Pose) { p.Orientation.W = 2 }, []string{"pose.orientation", "length 2", "0.01"}},
			{func(p *msgs.Pose) { p.Orientation = msgs.Quaternion{} }, []string{"pose.orientation", "length 0"}},
			{func(p *msgs.Pose) { p.Orientation = msgs.Quaternion{X: 1} }, []string{"pose.orientation", "3.14", "0.5"}},
		} {
			p := at
			c.change(&p)
			var res poisemsgs.SetOdometryResponse
			b.call("/set_odometry", &poisemsgs.SetOdometryRequest{Pose: p}, &res)
			for _, w := range c.want {
				if res.Success || !strings.Contains(res.Message, w) {
					t.Errorf("%+v: success %t, %q, want %q in it", p, res.Success, res.Message, w)
				}
			}
		}
		high := at
		high.Position.Z = 0.5
		var res poisemsgs.SetOdometryResponse
		if b.call("/set_odometry", &poisemsgs.SetOdometryRequest{Pose: high}, &res); !res.Success {
			t.Errorf("set_odometry: %s", res.Message)
		}
		time.Sleep(3 * time.Second) // of stepped time
		if z := next[msgs.Odometry](b, b.subscribe("/odom")).Pose.Pose.Position.Z; math.Abs(z-0.5) > 1e-9 {
			t.Errorf("the base was said to be at z = 0.5, and is at %g", z)
		}
	})
}

// TestTheBaseIsToldWhenItMoves: base_pose is where tf has the base, and is told once for as long as
// it stays there.
func TestTheBaseIsToldWhenItMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		told := b.subscribe("/base_pose")
		asInTF := func() msgs.Pose {
			base := next[msgs.PoseStamped](b, told)
			tf := next[msgs.TFMessage](b, b.subscribe("/tf")).Transforms[0]
			if base.Header.FrameID != "world" || tf.ChildFrameID != "base_link" || msgs.Vector3(base.Pose.Position) != tf.Transform.Translation || base.Pose.Orientation != tf.Transform.Rotation {
				t.Errorf("base_pose has the base at %+v, tf at %+v", base, tf)
			}
			return base.Pose
		}
		stood := asInTF()
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		defer cancel()
		if text, _, err := told.Next(ctx); err == nil {
			t.Errorf("of a base that rests is told %s", text)
		}
		knees := msgs.JointState{Name: []string{"joint13", "joint23", "joint33", "joint43"}, Position: []float64{0.3, 0.3, 0.3, 0.3}}
		b.must("/joints_virtual_set", &poisemsgs.JointsSetRequest{Joints: knees})
		if now := asInTF(); now == stood {
			t.Errorf("the base is still at %+v", now)
		}
	})
}

// TestOdometryTellsTheTwist: while a robot crouches, `odom` has the velocity at which its pose changes, in the axes of the base.
func TestOdometryTellsTheTwist(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		odom := b.subscribe("/odom")
		g := b.send("/go_to_pose", textType, &msgs.TextActionGoal{Command: msgs.TextCommand{Command: "crouched"}})
		u, _ := b.end(g)
		b.want(u, succeeded)
		fastest, off := 0.0, 0.0
		at := func(m *msgs.Odometry) float64 {
			return float64(m.Header.Stamp.Sec) + 1e-9*float64(m.Header.Stamp.Nanosec)
		}
		first := next[msgs.Odometry](b, odom)
		before, last := first, first
		for last.Pose.Pose.Position.Z > first.Pose.Pose.Position.Z-0.01 || last.Twist.Twist.Linear != (msgs.Vector3{}) {
			now := next[msgs.Odometry](b, odom)
			if span := at(&now) - at(&before); span > 0 { // the middle one of three
				v := msgs.Vector3{X: now.Pose.Pose.Position.X - before.Pose.Pose.Position.X, Z: now.Pose.Pose.Position.Z - before.Pose.Pose.Position.Z}
				fastest = math.Max(fastest, math.Abs(last.Twist.Twist.Linear.Z))
				off = math.Max(off, math.Hypot(v.X/span-last.Twist.Twist.Linear.X, v.Z/span-last.Twist.Twist.Linear.Z))
			}
			before, last = last, now
		}
		if fastest < 0.02 || off > 0.1*fastest {
			t.Errorf("at up to %g m/s the twist is %g m/s off", fastest, off)
		}
	})
}
