package registry

import (
	"reflect"
	"strings"

	"poise/msgs"
)

// builder fills the table. An entry may use only entries above it.
type builder struct {
	messages    map[string]*Type // by ROS 1 name
	messages2   map[string]*Type // ROS 2 names outside the section msg
	services    map[string]*Service
	actions     map[string]*Action
	byGo        map[reflect.Type]*Type
	serviceByGo map[[2]reflect.Type]*Service
	actionByGo  map[[3]reflect.Type]*Action
}

var table = build()

func build() *builder {
	b := &builder{
		messages: map[string]*Type{}, messages2: map[string]*Type{}, services: map[string]*Service{}, actions: map[string]*Action{},
		byGo:        map[reflect.Type]*Type{},
		serviceByGo: map[[2]reflect.Type]*Service{}, actionByGo: map[[3]reflect.Type]*Action{},
	}
	standard(b)
	geometry(b)
	parameters(b)
	descriptions(b)
	goals(b)
	robots(b)
	moveit(b)
	planning(b)
	original(b)
	rosapi(b)
	poise(b)
	return b
}

// message adds a message type.
func message[T any](b *builder, name string, constants ...string) *Type {
	return b.add(name, "msg", "", reflect.TypeFor[T](), constants)
}

// message1 adds a message type that only ROS 1 has.
func message1[T any](b *builder, name string, constants ...string) *Type {
	t := message[T](b, name, constants...)
	t.single, t.only = true, msgs.ROS1
	return t
}

func (b *builder) add(name, section, ros2name string, goType reflect.Type, constants []string) *Type {
	pkg, short, ok := strings.Cut(name, "/")
	if !ok || b.messages[name] != nil {
		panic("registry: bad or double name " + name)
	}
	t := &Type{pkg: pkg, name: short, section: section, ros2name: ros2name, goType: goType}
	if pkg == rosapiROS1 {
		t.ros2pkg = rosapiROS2
	}
	for _, c := range constants {
		t.constants = append(t.constants, constant(c))
	}
	t.fields = describe(goType, b.byGo)
	t.sum = sumOf(t.sumText())
	b.messages[name] = t
	if section != "msg" {
		b.messages2[t.Name(msgs.ROS2)] = t
	}
	// of a struct with two names the first counts
	if b.byGo[goType] == nil {
		b.byGo[goType] = t
	}
	return t
}

// part returns a type of an action in ROS 2 that is not in the table.
func (b *builder) part(a *Action, what string, goType reflect.Type) *Type {
	return &Type{pkg: a.pkg, name: a.name + "_" + what, section: "action", goType: goType, fields: describe(goType, b.byGo)}
}

// service adds a service type. Constants of its halves follow as in a message,
// those of the response after a line "---".
func service[Req, Res any](b *builder, name string, constants ...string) *Service {
	pkg, short, _ := strings.Cut(name, "/")
	var forResponse []string
	for i, c := range constants {
		if c == "---" {
			constants, forResponse = constants[:i], constants[i+1:]
			break
		}
	}
	s := &Service{pkg: pkg, name: short,
		Request:  b.add(name+"Request", "srv", short+"_Request", reflect.TypeFor[Req](), constants),
		Response: b.add(name+"Response", "srv", short+"_Response", reflect.TypeFor[Res](), forResponse)}
	s.sum = sumOf(s.Request.sumText(), s.Response.sumText())
	if b.services[name] != nil {
		panic("registry: double name " + name)
	}
	b.services[name] = s
	key := [2]reflect.Type{reflect.TypeFor[Req](), reflect.TypeFor[Res]()}
	if b.serviceByGo[key] == nil {
		b.serviceByGo[key] = s
	}
	return s
}

// act adds an action type, with constants of its result.
func act[G, F, R any](b *builder, name string, constants ...string) *Action {
	pkg, short, _ := strings.Cut(name, "/")
	part := func(t reflect.Type, what string, constants []string) *Type {
		return b.add(name+what, "action", short+"_"+what, t, constants)
	}
	a := &Action{pkg: pkg, name: short,
		Goal:     part(reflect.TypeFor[G](), "Goal", nil),
		Result:   part(reflect.TypeFor[R](), "Result", constants),
		Feedback: part(reflect.TypeFor[F](), "Feedback", nil),
	}
	a.ActionGoal = message1[msgs.ActionGoal[G]](b, name+"ActionGoal")
	a.ActionResult = message1[msgs.ActionResult[R]](b, name+"ActionResult")
	a.ActionFeedback = message1[msgs.ActionFeedback[F]](b, name+"ActionFeedback")
	a.Action = message1[msgs.Action[G, F, R]](b, name+"Action")
	a.SendGoalRequest = b.part(a, "SendGoal_Request", reflect.TypeFor[msgs.SendGoalRequest[G]]())
	a.SendGoalResponse = b.part(a, "SendGoal_Response", reflect.TypeFor[msgs.SendGoalResponse]())
	a.GetResultRequest = b.part(a, "GetResult_Request", reflect.TypeFor[msgs.GetResultRequest]())
	a.GetResultResponse = b.part(a, "GetResult_Response", reflect.TypeFor[msgs.GetResultResponse[R]]())
	a.FeedbackMessage = b.part(a, "FeedbackMessage", reflect.TypeFor[msgs.FeedbackMessage[F]]())
	if b.actions[name] != nil {
		panic("registry: double name " + name)
	}
	b.actions[name] = a
	key := [3]reflect.Type{reflect.TypeFor[G](), reflect.TypeFor[F](), reflect.TypeFor[R]()}
	if b.actionByGo[key] == nil {
		b.actionByGo[key] = a
	}
	return a
}
