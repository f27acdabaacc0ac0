package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func runWords(words ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(&env{in: strings.NewReader(""), out: &o, err: &e}, words)
	return code, o.String(), e.String()
}

func TestInterfaceShowsDefinitionsAndSums(t *testing.T) {
	for _, tc := range []struct{ words, want string }{
		{"show std_srvs/srv/SetBool", "bool data\n---\nbool success\nstring message\n"},
		{"show std_msgs/msg/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"},
		{"show std_msgs/Header", "uint32 seq\ntime stamp\nstring frame_id\n"},
		{"show --ros1 std_msgs/msg/Header", "uint32 seq\ntime stamp\nstring frame_id\n"},
		{"md5 moveit_msgs/MoveGroupAction", "33225407c32b189345eec6893a5a0da3\n"},
		{"md5 moveit_msgs/action/MoveGroup", "33225407c32b189345eec6893a5a0da3\n"},
		{"md5 moveit_msgs/GetMotionPlan", "110dffa73f82b9b8644f525e7fbd9fc4\n"},
		{"md5 sensor_msgs/msg/JointState", "3066dcd76a6cfaef579bd0f34173e9fd\n"},
	} {
		if code, out, errs := runWords(append([]string{"interface"}, strings.Fields(tc.words)...)...); code != exitOK || out != tc.want {
			t.Errorf("%s: exit %d, %q, %s", tc.words, code, out, errs)
		}
	}
	code, out, _ := runWords("interface", "list")
	for _, want := range []string{"sensor_msgs/msg/JointState\n", "poise_msgs/srv/Stop\n", "control_msgs/action/FollowJointTrajectory\n"} {
		if !strings.Contains(out, want) || code != exitOK {
			t.Errorf("list: exit %d, without %s", code, want)
		}
	}
	if strings.Contains(out, "_Request") || strings.Contains(out, "ActionGoal\n") {
		t.Error("list shows parts of services and actions")
	}
	var infos []interfaceInfo
	if _, out, _ := runWords("interface", "list", "--json"); json.Unmarshal([]byte(out), &infos) != nil || len(infos) < 100 {
		t.Errorf("%d types as JSON", len(infos))
	}
}

func TestInterfaceRefusesWhatItDoesNotKnow(t *testing.T) {
	if code, _, errs := runWords("interface", "show", "geometry_msgs/msg/JointState"); code != exitFailure || !strings.Contains(errs, `did you mean "sensor_msgs/JointState"`) {
		t.Errorf("exit %d, %s", code, errs)
	}
	for _, words := range [][]string{{"interface"}, {"interface", "show"}, {"interface", "draw", "x"}} {
		if code, _, _ := runWords(words...); code != exitUsage {
			t.Errorf("%v: exit %d", words, code)
		}
	}
}
