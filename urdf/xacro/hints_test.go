package xacro

import (
	"strings"
	"testing"
)

// TestExpressionsAskWhatWasMeant: an undefined name is told with the property, the local name,
// the function or the argument that is near.
func TestExpressionsAskWhatWasMeant(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`<xacro:property name="wheel_radius" value="1"/><a v="${wheel_raduis * 2}"/>`, `did you mean "wheel_radius"?`},
		{`<xacro:macro name="m" params="side"><a v="${sied}"/></xacro:macro><xacro:m side="1"/>`, `did you mean "side"?`},
		{`<a v="${radian(90)}"/>`, `did you mean "radians"?`},
		{`<a v="${[lenght for length in [1]]}"/>`, `did you mean "length"?`},
		{`<xacro:arg name="prefix" default="x"/><a v="$(arg prefx)"/>`, `did you mean "prefix"?`},
		{`<xacro:arg name="prefix" default="x"/><a v="$(eval prefx)"/>`, `did you mean "prefix"?`},
	} {
		_, err := Expand("main.xacro", Config{Files: inMemory("main.xacro", robot(c.text))})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n%v\nwant %s", c.text, err, c.want)
		}
	}
	if _, err := Expand("main.xacro", Config{Files: inMemory("main.xacro", robot(`<a v="${zebra}"/>`))}); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("nothing is near: %v", err)
	}
}
