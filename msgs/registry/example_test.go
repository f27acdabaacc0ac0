package registry_test

import (
	"fmt"

	"poise/msgs/registry"
)

// A type name asks for a form; the same entry answers both.
func Example() {
	for _, name := range []string{"std_msgs/msg/Header", "std_msgs/Header"} {
		t, form, err := registry.Message(name)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("# %s\n%s", t.Name(form), t.Text(form))
	}
	goal, _, _ := registry.ActionNamed("control_msgs/action/FollowJointTrajectory")
	fmt.Println("md5", goal.MD5())
	// Output:
	// # std_msgs/msg/Header
	// builtin_interfaces/Time stamp
	// string frame_id
	// # std_msgs/Header
	// uint32 seq
	// time stamp
	// string frame_id
	// md5 bc4f9b743838566551c0390c65f1a248
}
