package rosjson

import (
	"reflect"
	"testing"

	"poise/msgs"
)

// TestMissingFieldsAreZero: what a message does not say is the zero value of ROS, however
// deep it is.
func TestMissingFieldsAreZero(t *testing.T) {
	for _, tc := range []struct {
		text      string
		got, want any
	}{
		{`{}`, &msgs.JointState{}, &msgs.JointState{}},
		{`{"name":["knee"]}`, &msgs.JointState{}, &msgs.JointState{Name: []string{"knee"}}},
		{`{"header":{"frame_id":"base"}}`, &msgs.TransformStamped{}, &msgs.TransformStamped{Header: msgs.Header{FrameID: "base"}}},
		{`{"points":[{"positions":[1]},{}]}`, &msgs.JointTrajectory{}, &msgs.JointTrajectory{Points: []msgs.JointTrajectoryPoint{{Positions: []float64{1}}, {}}}},
		{`{"goal_time_tolerance":{"sec":1}}`, &msgs.FollowJointTrajectoryGoal{}, &msgs.FollowJointTrajectoryGoal{GoalTimeTolerance: msgs.Duration{Sec: 1}}},
	} {
		if err := UnmarshalJSON([]byte(tc.text), tc.got); err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if !reflect.DeepEqual(tc.got, tc.want) {
			t.Errorf("%s reads as %+v, want %+v", tc.text, tc.got, tc.want)
		}
	}
}
