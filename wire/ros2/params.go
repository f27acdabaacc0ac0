package ros2

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"poise/msgs"
	"poise/msgs/registry"
)

// serveParams offers the node's parameters by the six services that every node of ROS 2 has, and the
// descriptions of types by the seventh. Parameters are set where the robot and the server are configured, and only read here.
func (n *Node) serveParams() error {
	for name, handle := range map[string]func(request any) any{
		"get_parameters":            n.getParams,
		"get_parameter_types":       n.paramTypes,
		"describe_parameters":       n.describeParams,
		"list_parameters":           n.listParams,
		"set_parameters":            n.setParams,
		"set_parameters_atomically": n.setParamsAtomically,
		"get_type_description":      n.describeType,
	} {
		home := "rcl_interfaces"
		if name == "get_type_description" {
			if home = "type_description_interfaces"; n.c.Form == msgs.Humble {
				continue // it came with Iron
			}
		}
		typ, _, err := registry.ServiceNamed(home + "/srv/" + camel(name))
		if err != nil {
			return err
		}
		s := &service{n: n, ros: n.self + "/" + name, request: typ.Request, response: typ.Response,
			handle: func(_ context.Context, _ *peer, request any) (any, error) { return handle(request), nil }}
		if err := s.open(); err != nil {
			return err
		}
		n.params = append(n.params, s)
	}
	return nil
}

// camel returns get_parameters as GetParameters.
func camel(name string) (out string) {
	for _, word := range strings.Split(name, "_") {
		out += strings.ToUpper(word[:1]) + word[1:]
	}
	return out
}

// paramValue returns a parameter as ROS 2 has it; one that does not exist is not set.
func (n *Node) paramValue(name string) (v msgs.ParameterValue) {
	switch value := n.c.Params[name].(type) {
	case bool:
		v.Type, v.BoolValue = msgs.ParameterBool, value
	case int:
		v.Type, v.IntegerValue = msgs.ParameterInteger, int64(value)
	case float64:
		v.Type, v.DoubleValue = msgs.ParameterDouble, value
	case string:
		v.Type, v.StringValue = msgs.ParameterString, value
	case []float64:
		v.Type, v.DoubleArrayValue = msgs.ParameterDoubleArray, value
	case []string:
		v.Type, v.StringArrayValue = msgs.ParameterStringArray, value
	case []int64:
		v.Type, v.IntegerArrayValue = msgs.ParameterIntegerArray, value
	case []bool:
		v.Type, v.BoolArrayValue = msgs.ParameterBoolArray, value
	}
	return v
}

func (n *Node) getParams(request any) any {
	out := &msgs.GetParametersResponse{}
	for _, name := range request.(*msgs.GetParametersRequest).Names {
		out.Values = append(out.Values, n.paramValue(name))
	}
	return out
}

func (n *Node) paramTypes(request any) any {
	out := &msgs.GetParameterTypesResponse{}
	for _, name := range request.(*msgs.GetParameterTypesRequest).Names {
		out.Types = append(out.Types, n.paramValue(name).Type)
	}
	return out
}

func (n *Node) describeParams(request any) any {
	out := &msgs.DescribeParametersResponse{}
	for _, name := range request.(*msgs.DescribeParametersRequest).Names {
		_, exists := n.c.Params[name] // one that does not is not set, and nothing else is said of it
		out.Descriptors = append(out.Descriptors, msgs.ParameterDescriptor{Name: name, Type: n.paramValue(name).Type, ReadOnly: exists})
	}
	return out
}

// listParams lists the parameters below prefixes, not deeper than asked for; 0 is any depth.
func (n *Node) listParams(request any) any {
	q := request.(*msgs.ListParametersRequest)
	out := &msgs.ListParametersResponse{}
	prefixes := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(n.c.Params)) {
		if !listed(name, q) {
			continue
		}
		out.Result.Names = append(out.Result.Names, name)
		if at := strings.LastIndexByte(name, '.'); at >= 0 {
			prefixes[name[:at]] = true
		}
	}
	out.Result.Prefixes = slices.Sorted(maps.Keys(prefixes))
	return out
}

func listed(name string, q *msgs.ListParametersRequest) bool {
	deep := func(rest string) bool { return q.Depth == 0 || uint64(strings.Count(rest, ".")) < q.Depth }
	if len(q.Prefixes) == 0 {
		return deep(name)
	}
	return slices.ContainsFunc(q.Prefixes, func(prefix string) bool {
		rest, below := strings.CutPrefix(name, prefix+".")
		return name == prefix || below && deep(rest)
	})
}

// refusedParam is why a parameter is not set.
func (n *Node) refusedParam(name string) msgs.SetParametersResult {
	if _, exists := n.c.Params[name]; !exists {
		return msgs.SetParametersResult{Reason: fmt.Sprintf("there is no parameter %.100q", name)}
	}
	return msgs.SetParametersResult{Reason: fmt.Sprintf("parameter %s is only read here: it follows from the robot and the configuration of the server", name)}
}

func (n *Node) setParams(request any) any {
	out := &msgs.SetParametersResponse{}
	for _, p := range request.(*msgs.SetParametersRequest).Parameters {
		out.Results = append(out.Results, n.refusedParam(p.Name))
	}
	return out
}

func (n *Node) setParamsAtomically(request any) any {
	out := &msgs.SetParametersAtomicallyResponse{Result: msgs.SetParametersResult{Successful: true}}
	if all := request.(*msgs.SetParametersAtomicallyRequest).Parameters; len(all) > 0 {
		out.Result = n.refusedParam(all[0].Name)
	}
	return out
}

// describeType describes a message's type to those who know it by its hash alone.
func (n *Node) describeType(request any) any {
	q := request.(*msgs.GetTypeDescriptionRequest)
	out := &msgs.GetTypeDescriptionResponse{}
	typ, _, err := registry.Message(q.TypeName)
	switch {
	case err != nil:
		out.FailureReason = err.Error()
		return out
	case !typ.In(n.c.Form):
		out.FailureReason = fmt.Sprintf("%v has no type %s", n.c.Form, q.TypeName)
		return out
	}
	if hash := typ.Hash(n.c.Form); q.TypeHash != "" && q.TypeHash != hash {
		out.FailureReason = fmt.Sprintf("the hash of %s is %s here, not %.100q", q.TypeName, hash, q.TypeHash)
		return out
	}
	out.Successful, out.TypeDescription = true, typ.Description(n.c.Form)
	if q.IncludeTypeSources {
		for _, t := range append([]*registry.Type{typ}, typ.Parts(n.c.Form)...) {
			out.TypeSources = append(out.TypeSources, msgs.TypeSource{TypeName: t.Name(n.c.Form), Encoding: "msg", RawFileContents: t.Text(n.c.Form)})
		}
	}
	return out
}
