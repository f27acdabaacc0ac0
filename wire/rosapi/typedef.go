package rosapi

import (
	"slices"

	"poise/msgs"
	"poise/msgs/registry"
	api "poise/msgs/rosapimsgs"
)

// details serves the fields of types.
func (s *node) details() {
	add(s, "message_details", func(q *api.MessageDetailsRequest) (*api.MessageDetailsResponse, error) {
		t, form, err := registry.Message(q.Type)
		if err != nil {
			return nil, err
		}
		return &api.MessageDetailsResponse{Typedefs: typedefs(t, form)}, nil
	})
	add(s, "service_request_details", func(q *api.ServiceRequestDetailsRequest) (*api.ServiceRequestDetailsResponse, error) {
		x, form, err := registry.ServiceNamed(q.Type)
		if err != nil {
			return nil, err
		}
		return &api.ServiceRequestDetailsResponse{Typedefs: typedefs(x.Request, form)}, nil
	})
	add(s, "service_response_details", func(q *api.ServiceResponseDetailsRequest) (*api.ServiceResponseDetailsResponse, error) {
		x, form, err := registry.ServiceNamed(q.Type)
		if err != nil {
			return nil, err
		}
		return &api.ServiceResponseDetailsResponse{Typedefs: typedefs(x.Response, form)}, nil
	})
	add(s, "action_goal_details", func(q *api.ActionGoalDetailsRequest) (*api.ActionGoalDetailsResponse, error) {
		x, form, err := registry.ActionNamed(q.Type)
		if err != nil {
			return nil, err
		}
		return &api.ActionGoalDetailsResponse{Typedefs: typedefs(x.Goal, form)}, nil
	})
	add(s, "action_result_details", func(q *api.ActionResultDetailsRequest) (*api.ActionResultDetailsResponse, error) {
		x, form, err := registry.ActionNamed(q.Type)
		if err != nil {
			return nil, err
		}
		return &api.ActionResultDetailsResponse{Typedefs: typedefs(x.Result, form)}, nil
	})
	add(s, "action_feedback_details", func(q *api.ActionFeedbackDetailsRequest) (*api.ActionFeedbackDetailsResponse, error) {
		x, form, err := registry.ActionNamed(q.Type)
		if err != nil {
			return nil, err
		}
		return &api.ActionFeedbackDetailsResponse{Typedefs: typedefs(x.Feedback, form)}, nil
	})
}

// interfaces returns the names of all types, as ROS 2 calls them.
func interfaces() (names []string) {
	for _, t := range registry.Messages() {
		names = append(names, t.String())
	}
	for _, x := range registry.Services() {
		names = append(names, x.String())
	}
	for _, x := range registry.Actions() {
		names = append(names, x.String())
	}
	slices.Sort(names)
	return names
}

// typedefs describes a type and, behind it, every type inside it once.
func typedefs(t *registry.Type, form msgs.Form) []api.TypeDef {
	defs := []api.TypeDef{typedef(t, form)}
	for _, part := range t.Parts(form) {
		defs = append(defs, typedef(part, form))
	}
	// times are built in, but clients look up the fields of every type
	for _, d := range slices.Clone(defs) {
		for _, name := range d.Fieldtypes {
			def, ok := timeDefs[name]
			known := func(d api.TypeDef) bool { return d.Type == name }
			if ok && !slices.ContainsFunc(defs, known) {
				defs = append(defs, def)
			}
		}
	}
	return defs
}

// timeDefs are the built-in times of either form.
var timeDefs = map[string]api.TypeDef{
	"time":                            timeDef("time", "secs", "uint32", "nsecs"),
	"duration":                        timeDef("duration", "secs", "int32", "nsecs"),
	"builtin_interfaces/msg/Time":     timeDef("builtin_interfaces/msg/Time", "sec", "int32", "nanosec"),
	"builtin_interfaces/msg/Duration": timeDef("builtin_interfaces/msg/Duration", "sec", "int32", "nanosec"),
}

func timeDef(name, seconds, secondsType, nanos string) api.TypeDef {
	nanosType := "uint32"
	if name == "duration" {
		nanosType = "int32"
	}
	return api.TypeDef{Type: name, Fieldnames: []string{seconds, nanos}, Fieldtypes: []string{secondsType, nanosType},
		Fieldarraylen: []int32{registry.Scalar, registry.Scalar}, Examples: []string{"0", "0"}}
}

func typedef(t *registry.Type, form msgs.Form) api.TypeDef {
	d := api.TypeDef{Type: t.Name(form)}
	for _, x := range t.Fields(form) {
		name := x.TypeName(form)
		d.Fieldnames = append(d.Fieldnames, x.Name)
		d.Fieldtypes = append(d.Fieldtypes, name)
		d.Fieldarraylen = append(d.Fieldarraylen, int32(x.List))
		d.Examples = append(d.Examples, example(name, &x))
	}
	for _, c := range t.Constants(form) {
		d.Constnames = append(d.Constnames, c.Name)
		d.Constvalues = append(d.Constvalues, c.Value)
	}
	return d
}

// example returns the zero value as text.
func example(typeName string, x *registry.Field) string {
	_, isTime := timeDefs[typeName]
	switch {
	case x.List != registry.Scalar:
		return "[]"
	case x.Message() != nil || isTime:
		return "{}"
	case typeName == "string":
		return ""
	case typeName == "bool":
		return "False"
	case typeName == "float32" || typeName == "float64":
		return "0.0"
	}
	return "0"
}
