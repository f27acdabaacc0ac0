package registry

import (
	"crypto/md5"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"poise/msgs"
)

// sumOfName finds a sum by ROS 1 name, of whichever kind.
func sumOfName(t *testing.T, name string) string {
	t.Helper()
	if s, _, err := ServiceNamed(name); err == nil {
		return s.MD5()
	}
	m, form, err := Message(name)
	if err != nil || form != msgs.ROS1 {
		t.Fatalf("%s: %v, form %v", name, err, form)
	}
	return m.MD5()
}

// These four reach into nearly all of moveit_msgs, and into shapes, octomaps and
// object types: one wrong field anywhere changes them.
func TestSumsOfTheActionsAndServicesThatROS1PeersAskFor(t *testing.T) {
	for name, want := range map[string]string{
		"control_msgs/FollowJointTrajectoryAction": "bc4f9b743838566551c0390c65f1a248",
		"control_msgs/GripperCommand":              "680acaff79486f017132a7f198d40f08",
		"control_msgs/GripperCommandAction":        "950b2a6ebe831f5d4f4ceaba3d8be01e",
		"moveit_msgs/MoveGroupAction":              "33225407c32b189345eec6893a5a0da3",
		"moveit_msgs/MoveGroupSequenceAction":      "0d3375f4fb59ed3ba86fa746e5d8e219",
		"moveit_msgs/GetMotionPlan":                "110dffa73f82b9b8644f525e7fbd9fc4",
		"moveit_msgs/PlanningSceneComponents":      "bc993e784476960b918b6e7ad5bb58ce",
	} {
		if got := sumOfName(t, name); got != want {
			t.Errorf("md5 of %s = %s, want %s", name, got, want)
		}
	}
}

// TestSumsOfResourceControl: messages of the original's resource control have its fields, and so
// the sums that its clients expect: md5 of the fields, one a line, constants first, as ROS has it.
func TestSumsOfResourceControl(t *testing.T) {
	for name, fields := range map[string]string{
		"ResourceRequest":        "string requester_name\nuint32 request_id\nstring[] resources\nfloat32[] pri_operational\nfloat32[] pri_pending",
		"ResourceAssignment":     "uint32[] request_ids\nstring[] resources\nstring[] owners",
		"ResourceRequesterState": "string requester_name\nuint32 request_id\nbool is_operational",
		"ControllerState":        "uint8 NONOPERATIONAL=0\nuint8 PENDING=1\nuint8 OPERATIONAL=2\nuint8 OPERATIONAL_PENDING=3\nstring[] name\nuint32[] request_id\nuint8[] state",
	} {
		if got, want := sumOfName(t, "resource_control_msgs/"+name), fmt.Sprintf("%x", md5.Sum([]byte(fields))); got != want {
			t.Errorf("md5 of %s = %s, want %s", name, got, want)
		}
	}
}

func TestSumOfTheOriginalServoModel(t *testing.T) {
	const fields = "string name\nfloat64 kp\nfloat64 kgear\nfloat64[4] alpha"
	if got, want := sumOfName(t, "sweetie_bot_servo_model_msg/ServoModel"), fmt.Sprintf("%x", md5.Sum([]byte(fields))); got != want {
		t.Errorf("md5 of ServoModel = %s, want %s", got, want)
	}
}

func TestSumsOfStandardMessagesAreThoseOfROSItself(t *testing.T) {
	if len(standardSums) < 60 {
		t.Fatalf("only %d sums", len(standardSums))
	}
	for name, want := range standardSums {
		if got := sumOfName(t, name); got != want {
			m, _, _ := Message(name)
			t.Errorf("md5 of %s = %s, want %s\n%s", name, got, want, m.Text(msgs.ROS1))
		}
	}
}

func TestNamesAskForAForm(t *testing.T) {
	type lookup func(string) (any, msgs.Form, error)
	message := func(n string) (any, msgs.Form, error) { a, f, err := Message(n); return a.String(), f, err }
	service := func(n string) (any, msgs.Form, error) { a, f, err := ServiceNamed(n); return a.String(), f, err }
	action := func(n string) (any, msgs.Form, error) { a, f, err := ActionNamed(n); return a.String(), f, err }
	for _, tc := range []struct {
		find lookup
		name string
		want string
		form msgs.Form
	}{
		{message, "sensor_msgs/msg/JointState", "sensor_msgs/msg/JointState", msgs.ROS2},
		{message, "sensor_msgs/JointState", "sensor_msgs/msg/JointState", msgs.ROS1},
		{message, "rcl_interfaces/msg/Log", "rcl_interfaces/msg/Log", msgs.ROS2},
		{message, "rosgraph_msgs/Log", "rcl_interfaces/msg/Log", msgs.ROS1},
		{message, "control_msgs/action/FollowJointTrajectory_Goal", "control_msgs/action/FollowJointTrajectory_Goal", msgs.ROS2},
		{message, "control_msgs/FollowJointTrajectoryGoal", "control_msgs/action/FollowJointTrajectory_Goal", msgs.ROS1},
		{message, "control_msgs/FollowJointTrajectoryActionGoal", "control_msgs/FollowJointTrajectoryActionGoal", msgs.ROS1},
		{message, "std_srvs/srv/SetBool_Request", "std_srvs/srv/SetBool_Request", msgs.ROS2},
		{service, "std_srvs/srv/SetBool", "std_srvs/srv/SetBool", msgs.ROS2},
		{service, "std_srvs/SetBool", "std_srvs/srv/SetBool", msgs.ROS1},
		{service, "rosapi/Topics", "rosapi_msgs/srv/Topics", msgs.ROS1},
		{service, "rosapi_msgs/srv/Topics", "rosapi_msgs/srv/Topics", msgs.ROS2},
		{service, "rosapi/srv/Topics", "rosapi_msgs/srv/Topics", msgs.ROS2},
		{action, "control_msgs/action/FollowJointTrajectory", "control_msgs/action/FollowJointTrajectory", msgs.ROS2},
		{action, "control_msgs/FollowJointTrajectoryAction", "control_msgs/action/FollowJointTrajectory", msgs.ROS1},
		{action, "control_msgs/FollowJointTrajectory", "control_msgs/action/FollowJointTrajectory", msgs.ROS1},
		{action, "text_msgs/TextAction", "text_msgs/action/TextAction", msgs.ROS1},
		{action, "text_msgs/TextActionAction", "text_msgs/action/TextAction", msgs.ROS1},
	} {
		got, form, err := tc.find(tc.name)
		if err != nil || got != tc.want || form != tc.form {
			t.Errorf("%s: got %v in form %v, %v; want %s in form %v", tc.name, got, form, err, tc.want, tc.form)
		}
	}
}

func TestUnknownNamesAreRefusedWithTheOneThatWasMeant(t *testing.T) {
	for name, want := range map[string]string{
		"sensor_msgs/msg/JointStat":  `message type "sensor_msgs/msg/JointStat" is not known here; did you mean "sensor_msgs/JointState"?`,
		"geometry_msgs/JointState":   `did you mean "sensor_msgs/JointState"?`,
		"JointState":                 "must be package/msg/Type or package/Type",
		"sensor_msgs/srv/JointState": "is not known here",
		"a/b/c/d":                    "is not known here",
		"":                           "is not known here",
		"//":                         "is not known here",
	} {
		_, _, err := Message(name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func TestBothFormsAreHeldWhereTheyDiffer(t *testing.T) {
	for _, tc := range []struct{ name, ros1, ros2 string }{
		{"std_msgs/Header", "uint32 seq\ntime stamp\nstring frame_id\n", "builtin_interfaces/Time stamp\nstring frame_id\n"},
		{"trajectory_msgs/JointTrajectoryPoint",
			"float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\nduration time_from_start\n",
			"float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\nbuiltin_interfaces/Duration time_from_start\n"},
		{"sensor_msgs/Joy", "Header header\nfloat32[] axes\nint32[] buttons\n", "std_msgs/Header header\nfloat32[] axes\nint32[] buttons\n"},
		{"moveit_msgs/BoundingVolume",
			"shape_msgs/SolidPrimitive[] primitives\ngeometry_msgs/Pose[] primitive_poses\nshape_msgs/Mesh[] meshes\ngeometry_msgs/Pose[] mesh_poses\n",
			"shape_msgs/SolidPrimitive[] primitives\ngeometry_msgs/Pose[] primitive_poses\nshape_msgs/Mesh[] meshes\ngeometry_msgs/Pose[] mesh_poses\n"},
		{"moveit_msgs/GenericTrajectory",
			"Header header\ntrajectory_msgs/JointTrajectory[] joint_trajectory\nCartesianTrajectory[] cartesian_trajectory\n",
			"std_msgs/Header header\ntrajectory_msgs/JointTrajectory[] joint_trajectory\nCartesianTrajectory[] cartesian_trajectory\n"},
	} {
		m, _, err := Message(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Text(msgs.ROS1); got != tc.ros1 {
			t.Errorf("%s in ROS 1:\n%s", tc.name, got)
		}
		if got := m.Text(msgs.ROS2); got != tc.ros2 {
			t.Errorf("%s in ROS 2:\n%s", tc.name, got)
		}
	}
	codes, _, _ := Message("moveit_msgs/MoveItErrorCodes")
	for text, in1 := range map[string]bool{"int32 UNDEFINED=0": false, "string message": false, "string source": false, "int32 SUCCESS=1": true} {
		if strings.Contains(codes.Text(msgs.ROS1), text) != in1 || !strings.Contains(codes.Text(msgs.ROS2), text) {
			t.Errorf("MoveItErrorCodes: %q stands in the wrong form", text)
		}
	}
	follow, _, _ := ActionNamed("control_msgs/FollowJointTrajectory")
	for _, field := range []string{"multi_dof_trajectory", "component_path_tolerance", "multi_dof_index"} {
		if strings.Contains(follow.Text(msgs.ROS1), field) || !strings.Contains(follow.Text(msgs.ROS2), field) {
			t.Errorf("FollowJointTrajectory: %s stands in the wrong form", field)
		}
	}
	shape, _, _ := Message("shape_msgs/SolidPrimitive")
	if !strings.Contains(shape.Text(msgs.ROS2), "float64[<=3] dimensions\ngeometry_msgs/Polygon polygon\n") {
		t.Errorf("SolidPrimitive in ROS 2:\n%s", shape.Text(msgs.ROS2))
	}
}

func TestTextOfServicesAndActions(t *testing.T) {
	s, _, _ := ServiceNamed("std_srvs/SetBool")
	if got := s.Text(msgs.ROS2); got != "bool data\n---\nbool success\nstring message\n" {
		t.Errorf("SetBool:\n%s", got)
	}
	a, _, _ := ActionNamed("text_msgs/TextAction")
	if got := a.Text(msgs.ROS1); got != "TextCommand command\n---\nint32 error_code\nstring error_string\n---\nstring status\n" {
		t.Errorf("TextAction:\n%s", got)
	}
	if got := a.ActionGoal.Text(msgs.ROS1); got != "Header header\nactionlib_msgs/GoalID goal_id\nTextActionGoal goal\n" {
		t.Errorf("TextActionActionGoal:\n%s", got)
	}
}

func TestFullTextNamesEveryPartOnce(t *testing.T) {
	m, _, _ := Message("sensor_msgs/JointState")
	want := "Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n" +
		strings.Repeat("=", 80) + "\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
	if got := m.FullText(msgs.ROS1); got != want {
		t.Errorf("got\n%s", got)
	}
	scene, _, _ := Message("moveit_msgs/PlanningScene")
	full := scene.FullText(msgs.ROS2)
	for _, part := range scene.Parts(msgs.ROS2) {
		if n := strings.Count(full, "MSG: "+part.home(msgs.ROS2)+"/"+part.name+"\n"); n != 1 {
			t.Errorf("%s stands there %d times", part, n)
		}
	}
}

// Every entry must be usable by wires in both forms.
func TestEveryEntryIsSound(t *testing.T) {
	if len(Messages()) < 200 || len(Services()) < 40 || len(Actions()) < 7 {
		t.Fatalf("%d messages, %d services, %d actions", len(Messages()), len(Services()), len(Actions()))
	}
	for _, m := range Messages() {
		found, _, err := Message(m.String())
		if err != nil || found != m {
			t.Errorf("%s is not found by its own name: %v", m, err)
		}
		if v := m.New(); !m.Holds(v) || m.Holds(reflect.ValueOf(v).Elem().Interface()) || m.Holds(nil) {
			t.Errorf("%s does not know its own value", m)
		}
		if len(m.MD5()) != 32 {
			t.Errorf("%s has md5 %q", m, m.MD5())
		}
		for form := range msgs.NumTextForms {
			seen := map[string]bool{}
			for _, f := range m.Fields(form) {
				if seen[f.Name] {
					t.Errorf("%s has %s twice in %v", m, f.Name, form)
				}
				seen[f.Name] = true
			}
		}
	}
	for _, s := range Services() {
		for form := range msgs.NumTextForms {
			if found, f, err := ServiceNamed(s.Name(form)); err != nil || found != s || f != form {
				t.Errorf("%s is not found by its name in %v: %v", s, form, err)
			}
		}
	}
	for _, a := range Actions() {
		for form := range msgs.NumTextForms {
			if found, f, err := ActionNamed(a.Name(form)); err != nil || found != a || f != form {
				t.Errorf("%s is not found by its name in %v: %v", a, form, err)
			}
		}
	}
}

// Answers of Poise begin alike, so that one piece of code can read them all.
func TestEveryAnswerOfPoiseExplainsItself(t *testing.T) {
	n := 0
	for _, s := range Services() {
		if s.pkg != "poise_msgs" {
			continue
		}
		n++
		if !strings.HasPrefix(s.Response.Text(msgs.ROS2), "bool success\nstring message\n") ||
			!strings.Contains(s.Response.Text(msgs.ROS2), "Explanation[] explanations\n") {
			t.Errorf("%s answers\n%s", s, s.Response.Text(msgs.ROS2))
		}
	}
	if n < 20 {
		t.Errorf("only %d services", n)
	}
}
