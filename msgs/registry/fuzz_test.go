package registry

import "testing"

// FuzzNames: whatever is asked for, a lookup finds a type by its own name or says
// no; it never panics.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"std_msgs/Header", "std_msgs/msg/Header", "rosapi_msgs/srv/Topics", "a/action/", "//", "rosapi_msgs", "control_msgs/FollowJointTrajectoryAction"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if m, form, err := Message(name); err == nil {
			if again, _, err := Message(m.Name(form)); err != nil || again != m {
				t.Errorf("%q is %s, which is %v, %v", name, m, again, err)
			}
		}
		if s, form, err := ServiceNamed(name); err == nil {
			if again, _, err := ServiceNamed(s.Name(form)); err != nil || again != s {
				t.Errorf("%q is %s, which is %v, %v", name, s, again, err)
			}
		}
		if a, form, err := ActionNamed(name); err == nil {
			if again, _, err := ActionNamed(a.Name(form)); err != nil || again != a {
				t.Errorf("%q is %s, which is %v, %v", name, a, again, err)
			}
		}
	})
}
