package urdf_test

import (
	"fmt"

	"poise/urdf"
)

// A document is read, looked at and printed again.
func Example() {
	d, warnings, err := urdf.Parse([]byte(`<robot name="pendulum">
  <link name="base"/>
  <link name="rod"/>
  <joint name="swing" type="continuous">
    <parent link="base"/> <child link="rod"/>
    <origin xyz="0 0 1.50"/> <axis xyz="0 1 0"/>
  </joint>
  <gazebo/>
</robot>`), "pendulum.urdf")
	fmt.Println(d.Joints[0].Name, d.Joints[0].Type, d.Joints[0].Pos, warnings, err)
	fmt.Printf("%s", d.Print())
	// Output:
	// swing continuous pendulum.urdf:4 [pendulum.urdf:8: unknown element <gazebo> in <robot>] <nil>
	// <?xml version="1.0"?>
	// <robot name="pendulum">
	//   <link name="base"/>
	//   <link name="rod"/>
	//   <joint name="swing" type="continuous">
	//     <origin xyz="0 0 1.5"/>
	//     <parent link="base"/>
	//     <child link="rod"/>
	//     <axis xyz="0 1 0"/>
	//   </joint>
	// </robot>
}

// Every error of a file is reported at once, with its place and text.
func ExampleParse_errors() {
	_, _, err := urdf.Parse([]byte(`<robot name="bad">
  <link name="base"><inertial><mass value="1,5"/></inertial></link>
  <joint name="swing" type="hinge"/>
</robot>`), "bad.urdf")
	fmt.Println(err)
	// Output:
	// bad.urdf:2: value of <mass>: 1,5 is not a number: "1,5"
	// bad.urdf:2: element <inertia> is missing: "<inertial>"
	// bad.urdf:3: type of <joint> is not one of fixed, revolute, continuous, prismatic, planar, floating: "hinge"
	// bad.urdf:3: element <parent> is missing: "<joint name='swing'>"
	// bad.urdf:3: element <child> is missing: "<joint name='swing'>"
}
