package urdf

import (
	"strings"
	"testing"
)

// TestUnknownElementsAndAttributesAskWhatWasMeant: a name with a slip in it is told with the
// one that is near, a foreign one without.
func TestUnknownElementsAndAttributesAskWhatWasMeant(t *testing.T) {
	_, warnings, err := Parse([]byte(`<robot name="r">
<link name="a"><visul><geometry><box size="1 1 1"/></geometry></visul><collision><geometry><shpere radius="1"/></geometry></collision></link>
<link name="b"/><jiont name="x"/><gazebo/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lowr="0" lower="-1" upper="1" effort="1" velocity="1"/><axs xyz="0 0 1"/></joint>
</robot>`), "r.urdf")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, w := range warnings {
		all = append(all, w.Msg)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		`unknown element <visul> in <link>; did you mean "visual"?`,
		`unknown element <shpere> in <geometry>; did you mean "sphere"?`,
		`unknown element <jiont> in <robot>; did you mean "joint"?`,
		`unknown attribute lowr of <limit>; did you mean "lower"?`,
		`unknown element <axs> in <joint>; did you mean "axis"?`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "<gazebo> in <robot>;") {
		t.Errorf("a foreign element is near to nothing:\n%s", text)
	}
	if t.Failed() {
		t.Log(text)
	}
}
