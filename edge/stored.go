package edge

import (
	"bytes"
	"fmt"

	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// IsSerialisedGoal tells the bytes of a goal of FollowJointTrajectory as ROS 1 serialises it
// from its text: a text has no zero byte, and the bytes have some, as lengths have 32 bits.
func IsSerialisedGoal(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 }

// StoredGoalText returns the JSON of a serialised control_msgs/FollowJointTrajectoryGoal.
func StoredGoalText(data []byte) ([]byte, error) {
	c, g := storedGoal()
	if err := c.Decode(data, g); err != nil {
		return nil, fmt.Errorf("not a serialised FollowJointTrajectoryGoal: %w", err)
	}
	return rosjson.Append(nil, g, msgs.ROS1), nil
}

// StoredGoalBytes serialises the JSON of a control_msgs/FollowJointTrajectoryGoal as ROS 1 does.
func StoredGoalBytes(text []byte) ([]byte, error) {
	c, g := storedGoal()
	if err := rosjson.UnmarshalJSON(text, g); err != nil {
		return nil, err
	}
	return c.Append(nil, g), nil
}

func storedGoal() (*codec.Codec, *msgs.FollowJointTrajectoryGoal) {
	t, _ := registry.For[msgs.FollowJointTrajectoryGoal]() // it is in the table
	return codec.For(t, msgs.ROS1), &msgs.FollowJointTrajectoryGoal{}
}
