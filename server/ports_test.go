package server_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
	"poise/wire/rosbridge/requester"
)

// latest reads a topic once.
func latest[T any](b *bed, topic string) T {
	b.t.Helper()
	s := b.subscribe(topic)
	defer s.Close()
	return next[T](b, s)
}

// TestAHoofFromOutside: an external controller leads a hoof by its pose, with a support and the
// eyes beside it, and reads on the ports where all that is; what the hoof does not
// reach is refused by name.
func TestAHoofFromOutside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		m := b.member(requester.Config{Name: "hoof", Needed: []string{"leg1", "eyes"}}, nil)
		if err := m.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		limb := func(topic string) msgs.Pose {
			s := latest[poisemsgs.RigidBodyState](b, topic)
			if len(s.Frame) != len(s.Name) || len(s.Twist) != len(s.Name) || s.Name[0] != "base_link" || s.Header.FrameID != "world" || s.Cycle == 0 {
				t.Fatalf("%+v", s)
			}
			return s.Frame[slices.Index(s.Name, "leg1")]
		}
		to := limb("/limbs_cartesian")
		to.Position.Z += 0.015
		send := func(pose msgs.Pose) {
			for _, v := range []any{&poisemsgs.SupportState{Name: []string{"leg1"}, Support: []float64{0}},
				&poisemsgs.RigidBodyState{Name: []string{"leg1"}, Frame: []msgs.Pose{pose}}} {
				if err := m.Send(v); err != nil {
					t.Fatal(err)
				}
			}
		}
		off := func(topic string) float64 {
			p := limb(topic).Position
			return math.Hypot(p.X-to.Position.X, math.Hypot(p.Y-to.Position.Y, p.Z-to.Position.Z))
		}
		b.until("the hoof is there", func() bool { send(to); return off("/limbs_cartesian") < 1e-4 && off("/limbs_cartesian_real") < 1e-3 })
		s := latest[poisemsgs.SupportState](b, "/support")
		if i := slices.Index(s.Name, "leg1"); s.Support[i] != 0 || s.Contact[i] != "hoof_flat" || s.Support[slices.Index(s.Name, "leg2")] != 1 || s.Cycle == 0 {
			t.Errorf("%+v", s)
		}
		if s := latest[poisemsgs.SupportState](b, "/support_real"); len(s.Name) != 4 || s.Support[slices.Index(s.Name, "leg1")] != 0 {
			t.Errorf("measured: %+v", s)
		}
		far := to
		far.Position.Z -= 1
		b.until("it is refused by name", func() bool {
			send(far)
			for _, c := range latest[poisemsgs.ControllersState](b, "/controllers_state").Controllers {
				for _, x := range c.Refused {
					if c.Outside && strings.Contains(x.Text, "away from where it is to be") && x.Resource == "leg1" {
						return true
					}
				}
			}
			return false
		})
		if off("/limbs_cartesian") > 1e-4 {
			t.Error("a refused pose has moved the hoof")
		}
	})
}

// TestPortsOfTheCycle: joints in the order of chains, and typed outputs, with the number of the
// cycle that made them: ROS 1's seq, a field in our own messages.
func TestPortsOfTheCycle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		for _, topic := range []string{"/joints_sorted", "/joints_sorted_real"} {
			s, err := b.c.Subscribe(topic, "sensor_msgs/JointState", client.SubscribeOptions{Queue: 100})
			if err != nil {
				t.Fatal(err)
			}
			first, second := next[msgs.JointState](b, s), next[msgs.JointState](b, s)
			s.Close()
			if want := []string{"joint11", "joint12", "joint13", "joint14", "joint15", "joint16", "joint31"}; !slices.Equal(first.Name[:len(want)], want) || len(first.Name) != len(b.joints("/joint_states")) {
				t.Errorf("%s: %v", topic, first.Name)
			}
			period := float64(second.Header.Stamp.Nanos()-first.Header.Stamp.Nanos()) * 1e-9
			if n := second.Header.Seq - first.Header.Seq; first.Header.Seq == 0 || n == 0 || math.Abs(period/float64(n)-0.005) > 1e-6 {
				t.Errorf("%s: cycles %d and %d, %g s apart", topic, first.Header.Seq, second.Header.Seq, period)
			}
		}
		b.begun(b.send("/controllers/joint_state/set_operational", "resource_control_msgs/action/SetOperational", &msgs.SetOperationalGoal{Operational: true, Resources: []string{"eyes"}}))
		eyes := b.publish("/controllers/joint_state/ref_eyes", "sensor_msgs/msg/JointState")
		b.until("the screens show it", func() bool {
			eyes(msgs.JointState{Name: []string{"eye_screens", "eyes_yaw"}, Position: []float64{7, 0.1}})
			o := latest[poisemsgs.TypedOutput](b, "/eye_screens")
			return o.Value == 7 && o.Name == "eye_screens" && o.Type == "display" && o.Cycle > 0 && math.Abs(b.joints("/joint_states")["eyes_yaw"]-0.1) < 1e-3
		})
	})
}
