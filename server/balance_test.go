package server_test

import (
	"context"
	"math"
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
