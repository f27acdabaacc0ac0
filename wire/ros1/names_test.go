package ros1

import (
	"strings"
	"testing"

	"poise/wire/rosnet"
)

func TestNames(t *testing.T) {
	n, params, err := ReadNames([]string{"__ns:=/robot1/", "__name:=left", "_rate:=5"}, []string{"joint_states:=/states", "~x:=y", "/tf:=/tf_old"})
	if err != nil || n.Self() != "/robot1/left" || params["rate"] != "5" {
		t.Fatalf("%+v %v %v", n, params, err)
	}
	m := rosnet.Mapping{Names: n, Globals: globals}
	for name, want := range map[string]string{
		"/joint_states": "/states", "/stop": "/robot1/stop", "/virtual/joint_states": "/robot1/virtual/joint_states",
		"/left/x": "/robot1/y", "/tf": "/tf_old", "/tf_static": "/tf_static", "/rosout": "/rosout", "/rosout_agg": "/rosout_agg", "/clock": "/clock",
	} {
		if got := m.ROS(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, words := range []string{"__name:=a/b", "__ns:=", "__other:=1", "_:=1", "__ns:=/a b", "__master:=x"} {
		if _, _, err := ReadNames([]string{words}, nil); err == nil || !strings.Contains(err.Error(), ":=") && !strings.Contains(err.Error(), "name") {
			t.Errorf("%s: %v", words, err)
		}
	}
}
