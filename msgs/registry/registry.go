package registry

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"poise/msgs"
	"poise/problem"
)

// Service is a service type.
type Service struct {
	pkg, name         string
	Request, Response *Type
	sum               string
}

// Name returns the full name: std_srvs/srv/SetBool in ROS 2, std_srvs/SetBool in
// ROS 1.
func (s *Service) Name(f msgs.Form) string {
	return fullName(s.Request.home(f), "srv", s.name, f)
}

// String returns the ROS 2 name.
func (s *Service) String() string { return s.Name(msgs.ROS2) }

// MD5 returns the ROS 1 sum over request and response.
func (s *Service) MD5() string { return s.sum }

// Text returns the definition as a .srv file holds it.
func (s *Service) Text(f msgs.Form) string { return s.Request.Text(f) + "---\n" + s.Response.Text(f) }

// Action is an action type.
type Action struct {
	pkg, name              string
	Goal, Result, Feedback *Type

	// ROS 1's messages of the five topics, and the one that has them all.
	ActionGoal, ActionResult, ActionFeedback, Action *Type

	// ROS 2's messages of its services and of its feedback. They are in no listing: what
	// they are follows from the goal, result and feedback.
	SendGoalRequest, SendGoalResponse, GetResultRequest, GetResultResponse, FeedbackMessage *Type
}

// Name returns the full name: control_msgs/action/FollowJointTrajectory in ROS 2;
// in ROS 1, as on its topics, control_msgs/FollowJointTrajectoryAction.
func (a *Action) Name(f msgs.Form) string {
	if f == msgs.ROS1 {
		return a.pkg + "/" + a.name + "Action"
	}
	return fullName(a.pkg, "action", a.name, f)
}

// String returns the ROS 2 name.
func (a *Action) String() string { return a.Name(msgs.ROS2) }

// MD5 returns the ROS 1 sum of the message that has all parts.
func (a *Action) MD5() string { return a.Action.sum }

// Text returns the definition as a .action file holds it.
func (a *Action) Text(f msgs.Form) string {
	return a.Goal.Text(f) + "---\n" + a.Result.Text(f) + "---\n" + a.Feedback.Text(f)
}

func fullName(pkg, section, name string, f msgs.Form) string {
	if f == msgs.ROS1 {
		return pkg + "/" + name
	}
	return pkg + "/" + section + "/" + name
}

// UnknownError is a type name that is not in the table.
type UnknownError struct {
	Kind string // message, service, action
	Name string
	Help string // names that may have been meant, or what a name must be; or empty
}

func (e *UnknownError) Error() string {
	return problem.Problem{Text: fmt.Sprintf("%s type %q is not known here", e.Kind, e.Name), Help: e.Help}.Error()
}

// Message looks up a message type and the form that its name asks for.
func Message(name string) (*Type, msgs.Form, error) {
	short, f, err := split(name, "message", "msg")
	if err != nil {
		return nil, 0, err
	}
	if t := table.messages[short]; t != nil {
		return t, f, nil
	}
	// ROS 2 keeps the parts of services and actions in their own sections
	if t := table.messages2[name]; t != nil {
		return t, msgs.ROS2, nil
	}
	return nil, 0, unknown("message", name, slices.Sorted(maps.Keys(table.messages)))
}

// ServiceNamed looks up a service type and the form that its name asks for.
func ServiceNamed(name string) (*Service, msgs.Form, error) {
	short, f, err := split(name, "service", "srv")
	if err != nil {
		return nil, 0, err
	}
	if s := table.services[short]; s != nil {
		return s, f, nil
	}
	return nil, 0, unknown("service", name, slices.Sorted(maps.Keys(table.services)))
}

// ActionNamed looks up an action type and the form that its name asks for. ROS 1's
// name may end in Action or not: clients write both.
func ActionNamed(name string) (*Action, msgs.Form, error) {
	short, f, err := split(name, "action", "action")
	if err != nil {
		return nil, 0, err
	}
	if a := table.actions[short]; a != nil {
		return a, f, nil
	}
	if a := table.actions[strings.TrimSuffix(short, "Action")]; a != nil && f == msgs.ROS1 {
		return a, f, nil
	}
	return nil, 0, unknown("action", name, slices.Sorted(maps.Keys(table.actions)))
}

// For returns the message type whose values are T.
func For[T any]() (*Type, bool) {
	t, ok := table.byGo[reflect.TypeFor[T]()]
	return t, ok
}

// Of returns the message type of a value or of a pointer to it.
func Of(v any) (*Type, bool) {
	r := reflect.TypeOf(v)
	if r != nil && r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	t, ok := table.byGo[r]
	return t, ok
}

// ServiceFor returns the service type with these request and response structs.
func ServiceFor[Req, Res any]() (*Service, bool) {
	s, ok := table.serviceByGo[[2]reflect.Type{reflect.TypeFor[Req](), reflect.TypeFor[Res]()}]
	return s, ok
}

// ActionFor returns the action type with these structs.
func ActionFor[G, F, R any]() (*Action, bool) {
	a, ok := table.actionByGo[[3]reflect.Type{reflect.TypeFor[G](), reflect.TypeFor[F](), reflect.TypeFor[R]()}]
	return a, ok
}

// Messages returns all message types by name.
func Messages() []*Type { return sorted(table.messages) }

// Services returns all service types by name.
func Services() []*Service { return sorted(table.services) }

// Actions returns all action types by name.
func Actions() []*Action { return sorted(table.actions) }

// The package of rosapi changed its name. Clients use either with either form.
const (
	rosapiROS1 = "rosapi"
	rosapiROS2 = "rosapi_msgs"
)

// split returns pkg/T and the form of a name.
func split(name, kind, section string) (string, msgs.Form, error) {
	parts := strings.Split(name, "/")
	if parts[0] == rosapiROS2 {
		name, parts[0] = rosapiROS1+strings.TrimPrefix(name, rosapiROS2), rosapiROS1
	}
	switch {
	case len(parts) == 2 && parts[0] != "" && parts[1] != "":
		return name, msgs.ROS1, nil
	case len(parts) == 3 && parts[1] == section:
		return parts[0] + "/" + parts[2], msgs.ROS2, nil
	case len(parts) == 3 && kind == "message":
		return "", msgs.ROS2, nil
	}
	return "", 0, &UnknownError{Kind: kind, Name: name, Help: "must be package/" + section + "/Type or package/Type"}
}

// unknown makes the error, with the types of any package that have such a name.
func unknown(kind, name string, known []string) error {
	base := func(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
	bases := make([]string, len(known))
	for i, k := range known {
		bases[i] = base(k)
	}
	near := problem.Near(base(name), bases)
	var whole []string
	for _, k := range known {
		if slices.Contains(near, base(k)) {
			whole = append(whole, k)
		}
	}
	slices.Sort(whole)
	return &UnknownError{Kind: kind, Name: name, Help: problem.Ask(whole)}
}

func sorted[T any](m map[string]T) []T {
	var out []T
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}
