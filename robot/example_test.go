package robot_test

import (
	"errors"
	"fmt"

	"poise/robot"
	"poise/urdf"
)

const slider = `<robot name="slider">
  <link name="rail"/>
  <link name="cart"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="slide" type="prismatic">
    <parent link="rail"/> <child link="cart"/> <axis xyz="1 0 0"/>
    <limit lower="0" upper="1.5" velocity="0.5" effort="20"/>
  </joint>
</robot>`

func ExampleBuild() {
	doc, _, err := urdf.Parse([]byte(slider), "slider.urdf")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, warnings, err := robot.Build(doc, robot.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d joint, %g kg, %d warnings\n", m.Name(), len(m.Joints()), m.Mass(), len(warnings))
	for _, j := range m.Joints() {
		fmt.Printf("%s %s %s, %g m/s of %s\n", j.Kind, j.Name, j.Limits.Range(), j.Limits.Velocity.Value, j.Limits.Velocity.Source)
	}
	// Output:
	// slider: 1 joint, 2 kg, 0 warnings
	// prismatic slide 0 … 1.5, 0.5 m/s of slider.urdf:6
}

func ExampleBuild_refused() {
	doc := &urdf.Document{
		Links:  []urdf.Link{{Name: "a"}, {Name: "b", Inertial: &urdf.Inertial{Mass: -1}}},
		Joints: []urdf.Joint{{Name: "j", Type: urdf.Revolute, Parent: "a", Child: "b"}},
	}
	_, _, err := robot.Build(doc, robot.Options{})
	fmt.Println(err)
	fmt.Println(errors.Is(err, robot.NegativeMass), errors.Is(err, robot.Loop))
	// Output:
	// link "b": mass -1 kg is negative
	// joint "j": axis 0 0 0 has no direction
	// joint "j": a revolute or prismatic joint needs a <limit>; one that turns freely is continuous
	// true false
}

func ExampleSet() {
	arm := robot.Leaf(0).With(1).With(2)
	gripper := robot.Leaf(3)
	fmt.Println(arm.Overlaps(gripper), arm.Union(gripper).Len(), arm.Contains(robot.Leaf(2)))
	// Output: false 4 true
}
