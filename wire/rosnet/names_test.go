package rosnet

import (
	"slices"
	"testing"
)

// TestNamesGoBothWays: what another node has under a name in ROS has one name in the graph, and back.
func TestNamesGoBothWays(t *testing.T) {
	plain := Mapping{Names: Names{Namespace: "/"}, Topics: map[string]string{"/states": "/states_real", "/reference": "/states"}}
	robot := Mapping{Names: Names{Namespace: "/robot1", Remaps: map[string]string{"/robot1/old": "/new"}}, Globals: map[string]bool{"/tf": true}}
	mirror := Mapping{Names: Names{Namespace: "/"}, Mirror: "/real"}
	for _, c := range []struct {
		m     Mapping
		graph string
		ros   []string // of a topic
	}{
		{plain, "/states", []string{"/reference"}}, {plain, "/states_real", []string{"/states_real", "/states"}}, {plain, "/a", []string{"/a"}},
		{robot, "/a", []string{"/robot1/a"}}, {robot, "/tf", []string{"/tf"}}, {robot, "/old", []string{"/new"}},
		{mirror, "/real/a", []string{"/a"}}, {mirror, "/a", nil}, {mirror, "/really/a", nil},
	} {
		if got := c.m.ROSTopics(c.graph); !slices.Equal(got, c.ros) {
			t.Errorf("%+v: %s has the names %v, not %v", c.m, c.graph, got, c.ros)
		}
	}
	for _, c := range []struct {
		m          Mapping
		ros, graph string
	}{
		{plain, "/a", "/a"}, {robot, "/robot1/a", "/a"}, {robot, "/robot10/a", "/robot10/a"}, {robot, "/tf", "/tf"}, {mirror, "/a", "/real/a"},
	} {
		if got := c.m.Graph(c.ros); got != c.graph {
			t.Errorf("%+v: %s is %s in the graph, not %s", c.m, c.ros, got, c.graph)
		}
	}
}
