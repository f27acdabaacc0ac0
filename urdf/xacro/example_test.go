package xacro_test

import (
	"fmt"
	"testing/fstest"

	"poise/internal/xmltree"
	"poise/urdf/locate"
	"poise/urdf/xacro"
)

func ExampleExpand() {
	files := fstest.MapFS{"robot.xacro": {Data: []byte(`
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="links" default="1"/>
  <xacro:macro name="chain" params="n">
    <xacro:if value="${n > 0}">
      <link name="link_${n}" length="${0.1 * n}"/>
      <xacro:chain n="${n - 1}"/>
    </xacro:if>
  </xacro:macro>
  <xacro:chain n="$(arg links)"/>
</robot>`)}}
	args, err := xacro.ParseArgs([]string{"links:=3"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := xacro.Expand("robot.xacro", xacro.Config{Files: locate.Files{FS: files}, Args: args})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(xmltree.Print(r.Root)))
	fmt.Println("the first link is written at", r.Root.Children[0].Pos)
	// Output:
	// <?xml version="1.0"?>
	// <robot name="arm">
	//   <link name="link_3" length="0.30000000000000004"/>
	//   <link name="link_2" length="0.2"/>
	//   <link name="link_1" length="0.1"/>
	// </robot>
	// the first link is written at robot.xacro:6
}

func ExampleExpand_mistakes() {
	files := fstest.MapFS{"robot.xacro": {Data: []byte(`<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="leg" params="name"><link name="${nam}"/></xacro:macro>
<xacro:leg name="left"/>
<xacro:lag name="right"/>
</robot>`)}}
	_, err := xacro.Expand("robot.xacro", xacro.Config{Files: locate.Files{FS: files}})
	fmt.Println(err)
	// Output:
	// robot.xacro:2: undefined name: "${nam}" (macro leg called at robot.xacro:3); did you mean "name" or "nan"?
	// robot.xacro:4: unknown macro; known are [leg]: "<xacro:lag>"; did you mean "leg"?
}
