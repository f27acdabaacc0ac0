package registry_test

import (
	"testing"

	"poise/msgs"
	"poise/msgs/registry"
)

// TestHashOfJointState: the hash that every ROS 2 peer has of sensor_msgs/msg/JointState.
func TestHashOfJointState(t *testing.T) {
	typ, ok := registry.For[msgs.JointState]()
	if !ok {
		t.Fatal("no JointState")
	}
	const want = "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e"
	for _, f := range []msgs.Form{msgs.ROS2, msgs.Jazzy} {
		if got := typ.Hash(f); got != want {
			t.Errorf("%v: %s, not %s", f, got, want)
		}
	}
}

// TestFormsByDistribution: what differs between Humble, Jazzy and newer ones.
func TestFormsByDistribution(t *testing.T) {
	count := func(typ *registry.Type, f msgs.Form) int { return len(typ.Fields(f)) }
	for _, c := range []struct {
		name                   string
		humble, jazzy, rolling int
	}{
		{"control_msgs/action/FollowJointTrajectory_Feedback", 9, 9, 11},
		{"moveit_msgs/msg/MoveItErrorCodes", 1, 3, 3},
		{"moveit_msgs/action/ExecuteTrajectory_Goal", 1, 2, 2},
		{"moveit_msgs/msg/MotionPlanRequest", 15, 15, 16},
		{"sensor_msgs/msg/JointState", 5, 5, 5},
	} {
		typ, _, err := registry.Message(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if h, j, r := count(typ, msgs.Humble), count(typ, msgs.Jazzy), count(typ, msgs.ROS2); h != c.humble || j != c.jazzy || r != c.rolling {
			t.Errorf("%s has %d fields in Humble, %d in Jazzy, %d in Rolling; not %d, %d, %d", c.name, h, j, r, c.humble, c.jazzy, c.rolling)
		}
	}
}
