package ros2

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/rtps/rtpstest"
)

// TestParametersAreRead: the six services of a node's parameters, as a client calls them.
func TestParametersAreRead(t *testing.T) {
	network := rtpstest.New(2)
	c := on(network, 0)
	c.Params = map[string]any{"robot_description": "<robot/>", "rate": 2.5, "count": 3, "on": true, "names": []string{"a", "b"}, "limits.j1.max": 1.5, "limits.j2.max": 2.0}
	g := graph.New(graph.Options{})
	defer g.Close()
	n, err := New(g, c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	defer func() { cancel(); <-done }()
	client := newClient(t, network, 1, g)
	ask := func(name string, request, response any) {
		t.Helper()
		typ, _, err := registry.ServiceNamed("rcl_interfaces/srv/" + camel(name))
		if err != nil {
			t.Fatal(err)
		}
		soon, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		k := client.caller("/poise/"+name, typ.Request, typ.Response)
		if err := k.wait(soon, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		if err := k.call(soon, request, response); err != nil {
			t.Fatal(err)
		}
	}
	var got msgs.GetParametersResponse
	ask("get_parameters", &msgs.GetParametersRequest{Names: []string{"robot_description", "rate", "count", "on", "names", "none"}}, &got)
	want := []msgs.ParameterValue{{Type: 4, StringValue: "<robot/>"}, {Type: 3, DoubleValue: 2.5}, {Type: 2, IntegerValue: 3}, {Type: 1, BoolValue: true},
		{Type: 9, StringArrayValue: []string{"a", "b"}}, {}}
	if !reflect.DeepEqual(got.Values, want) {
		t.Errorf("%+v", got.Values)
	}
	var list msgs.ListParametersResponse
	ask("list_parameters", &msgs.ListParametersRequest{Prefixes: []string{"limits"}}, &list)
	if !reflect.DeepEqual(list.Result, msgs.ListParametersResult{Names: []string{"limits.j1.max", "limits.j2.max"}, Prefixes: []string{"limits.j1", "limits.j2"}}) {
		t.Errorf("%+v", list)
	}
	ask("list_parameters", &msgs.ListParametersRequest{Depth: 1}, &list)
	if len(list.Result.Names) != 5 {
		t.Errorf("of depth 1: %+v", list)
	}
	var types msgs.GetParameterTypesResponse
	ask("get_parameter_types", &msgs.GetParameterTypesRequest{Names: []string{"on", "names"}}, &types)
	if !reflect.DeepEqual(types.Types, []uint8{1, 9}) {
		t.Errorf("%+v", types)
	}
	var described msgs.DescribeParametersResponse
	ask("describe_parameters", &msgs.DescribeParametersRequest{Names: []string{"rate", "none"}}, &described)
	if !reflect.DeepEqual(described.Descriptors, []msgs.ParameterDescriptor{{Name: "rate", Type: msgs.ParameterDouble, ReadOnly: true}, {Name: "none"}}) {
		t.Errorf("%+v", described)
	}
	var set msgs.SetParametersResponse
	ask("set_parameters", &msgs.SetParametersRequest{Parameters: []msgs.Parameter{{Name: "rate"}, {Name: "none"}}}, &set)
	if len(set.Results) != 2 || set.Results[0].Successful || !strings.Contains(set.Results[0].Reason, "only read") || !strings.Contains(set.Results[1].Reason, `no parameter "none"`) {
		t.Errorf("%+v", set)
	}
	var atomically msgs.SetParametersAtomicallyResponse
	ask("set_parameters_atomically", &msgs.SetParametersAtomicallyRequest{Parameters: []msgs.Parameter{{Name: "rate"}, {Name: "none"}}}, &atomically)
	if atomically.Result.Successful || !strings.Contains(atomically.Result.Reason, "rate is only read") {
		t.Errorf("%+v", atomically)
	}
}
