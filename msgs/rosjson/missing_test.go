package rosjson

import (
	"reflect"
	"testing"

	"poise/msgs"
)

// TestMissingFieldsAreZero: what a message does not say is the zero value of ROS, however
// deep it is.
func TestMissingFieldsAreZero(t *testing.T) {
	for _, x := range []struct {
		text      string
		got, want any
	}{
		{`{}`, &msgs.JointState{}, &msgs.JointState{}},
		{`{"name":["knee"]}`, &msgs.JointState{}, &msgs.JointState{Name: []string{"knee"}}},
		{`{"header":{"frame_id":"base"}}`, &msgs.TransformStamped{}, &msgs.TransformStamped{Header: msgs.Header{FrameID: "base"}}},
		{`{"points":[{"positions":[1]},{}]}`, &msgs.JointTrajectory{}, &msgs.JointTrajectory{Points: []msgs.JointTrajectoryPoint{{Positions: []float64{1}}, {}}}},
		{`{"goal_time_tolerance":{"sec":1}}`, &msgs.FollowJointTrajectoryGoal{}, &msgs.FollowJointTrajectoryGoal{GoalTimeTolerance: msgs.Duration{Sec: 1}}},
	} {
		if err := UnmarshalJSON([]byte(x.text), x.got); err != nil {
			t.Errorf("%s: %v", x.text, err)
			continue
		}
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("%s reads as %+v, want %+v", x.text, x.got, x.want)
		}
	}
}
