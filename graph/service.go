package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// ServiceOptions say how a service is served.
type ServiceOptions struct {
	Timeout  time.Duration // deadline of a call that has none; default 10 s
	MaxCalls int           // calls under way at once; default 64
	Node     string        // of the server; default the graph's own

	Account *budget.Account // of the client that serves it; nil for the server's own
}

const (
	defaultTimeout  = 10 * time.Second
	defaultMaxCalls = 64
)

// Handler answers a call: a pointer to the request in, one to the response out.
type Handler func(ctx context.Context, request any) (response any, err error)

// ServiceServer is the registration of a service.
type ServiceServer struct {
	g       *Graph
	name    string
	node    string
	typ     *registry.Service
	handler Handler
	timeout time.Duration
	slots   chan struct{}
	account *budget.Account
	gone    chan struct{}
	once    sync.Once
}

// Serve registers a service by the name of its type.
func (g *Graph) Serve(name, typeName string, h Handler, o ServiceOptions) (*ServiceServer, error) {
	typ, _, err := registry.ServiceNamed(typeName)
	if err != nil {
		return nil, err
	}
	return g.serve(name, typ, h, o)
}

func (g *Graph) serve(name string, typ *registry.Service, h Handler, o ServiceOptions) (*ServiceServer, error) {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = defaultMaxCalls
	}
	if plain := strings.Trim(name, "/"); o.Account != nil && (plain == "stop" || strings.HasSuffix(plain, "/stop")) {
		return nil, fmt.Errorf("the service %q is reserved: names that end in stop are those of robots, and clients cannot serve them", name)
	}
	s := &ServiceServer{g: g, node: g.node(o.Node), typ: typ, handler: h, timeout: o.Timeout, account: o.Account,
		slots: make(chan struct{}, o.MaxCalls), gone: make(chan struct{})}
	if err := g.addService(name, s); err != nil {
		return nil, err
	}
	g.changed(ServiceKind, s.name)
	return s, nil
}

// addService puts a service into the graph and gives it its name in full.
func (g *Graph) addService(name string, s *ServiceServer) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	name, err := newName(g, "service", name, g.services, func(s *ServiceServer) string { return s.node })
	if err != nil {
		return err
	}
	if err := s.account.Take(budget.Names, 1); err != nil {
		return err
	}
	s.name = name
	g.services[name] = s
	return nil
}

// Close ends the service; calls under way end too.
func (s *ServiceServer) Close() {
	s.once.Do(func() {
		close(s.gone)
		s.g.mu.Lock()
		delete(s.g.services, s.name)
		s.g.mu.Unlock()
		s.account.Give(budget.Names, 1)
		s.g.changed(ServiceKind, s.name)
	})
}

// Service registers a service of a component.
func Service[Req, Res any](g *Graph, name string, h func(ctx context.Context, request *Req) (*Res, error), o ServiceOptions) (*ServiceServer, error) {
	typ, ok := registry.ServiceFor[Req, Res]()
	if !ok {
		panic(fmt.Sprintf("graph: no service of the registry has %T and %T", *new(Req), *new(Res)))
	}
	return g.serve(name, typ, func(ctx context.Context, q any) (any, error) {
		r, err := h(ctx, q.(*Req))
		if r == nil {
			return nil, err // not a nil pointer in an interface
		}
		return r, err
	}, o)
}

// CallError is a call that was not answered.
type CallError struct {
	Service string
	Within  time.Duration // which an answer was waited for
	Err     error
}

func (e *CallError) Error() string {
	if errors.Is(e.Err, context.DeadlineExceeded) {
		return fmt.Sprintf("service %s did not answer within %v", e.Service, e.Within.Round(time.Millisecond))
	}
	return fmt.Sprintf("service %s: %v", e.Service, e.Err)
}

func (e *CallError) Unwrap() error { return e.Err }

// goneError is the end of calls whose service was withdrawn.
type goneError struct{}

func (goneError) Error() string { return "its server has gone" }

// Is makes it a kind of ErrClosed.
func (goneError) Is(target error) bool { return target == ErrClosed }

type callerKey struct{}

// WithCaller names the client behind a call, for Caller and for audits.
func WithCaller(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, callerKey{}, name)
}

// Caller returns the client behind a call, empty if it was not named.
func Caller(ctx context.Context) string {
	name, _ := ctx.Value(callerKey{}).(string)
	return name
}

type accountKey struct{}

// WithAccount names whom a call is charged to.
func WithAccount(ctx context.Context, a *budget.Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

func accountOf(ctx context.Context) *budget.Account {
	a, _ := ctx.Value(accountKey{}).(*budget.Account)
	return a
}

type timeoutKey struct{}

// timeout is the bound that a caller asked for, and the deadline that it gave.
type timeout struct {
	asked    time.Duration
	deadline time.Time
}

// WithTimeout bounds a call. The error of a call that was not answered names this bound;
// of a plain deadline it can only name what was left when the call began.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d)
	deadline, _ := ctx.Deadline()
	return context.WithValue(ctx, timeoutKey{}, timeout{d, deadline}), cancel
}

// timeLeft returns how long a call may take, as it was asked for if that is known.
func (s *ServiceServer) timeLeft(ctx context.Context) time.Duration {
	deadline, has := ctx.Deadline()
	if !has {
		return s.timeout
	}
	if t, ok := ctx.Value(timeoutKey{}).(timeout); ok && t.deadline.Equal(deadline) {
		return t.asked
	}
	return max(0, time.Until(deadline))
}

// Call calls a service with a pointer to its request.
func (g *Graph) Call(ctx context.Context, name string, request any) (any, error) {
	s, err := g.serviceNamed(name)
	if err != nil {
		return nil, err
	}
	if !s.typ.Request.Holds(request) {
		return nil, wrongValue("service", s.name, request, s.typ.Request)
	}
	return s.call(ctx, request)
}

// CallJSON calls a service with its request as JSON: an object, or a list of the
// fields in order, or nothing. A type name is checked if given, and its form is
// that of the answer.
func (g *Graph) CallJSON(ctx context.Context, name, typeName string, args []byte) ([]byte, error) {
	m, err := g.CallMessage(ctx, name, typeName, args)
	if err != nil {
		return nil, err
	}
	return m.JSON(m.form), nil
}

// CallMessage is CallJSON whose answer is not text yet: it may be large. Message.Form is the
// form that it is to be written in. The request is charged to the account of the context
// while the call is under way.
func (g *Graph) CallMessage(ctx context.Context, name, typeName string, args []byte) (*Message, error) {
	s, err := g.serviceNamed(name)
	if err != nil {
		return nil, err
	}
	form := msgs.ROS2
	if typeName != "" {
		asked, f, err := registry.ServiceNamed(typeName)
		if err != nil {
			return nil, err
		}
		if asked != s.typ {
			return nil, &TypeError{Kind: "service", Name: s.name, Got: asked.String(), Want: s.typ.String()}
		}
		form = f
	}
	request := s.typ.Request.New()
	if err := readArgs(args, request, s.typ.Request, form); err != nil {
		return nil, err
	}
	account, cost := accountOf(ctx), rosjson.Memory(request)
	if err := account.Take(budget.Messages, cost); err != nil {
		return nil, err
	}
	defer account.Give(budget.Messages, cost)
	response, err := s.call(ctx, request)
	if err != nil {
		return nil, err
	}
	return &Message{Type: s.typ.Response, Value: response, From: s.node, form: form}, nil
}

// readArgs reads arguments as rosbridge sends them: an object, a list of the fields in
// order, or nothing.
func readArgs(args []byte, dst any, t *registry.Type, f msgs.Form) error {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || bytes.Equal(args, []byte("null")) {
		return nil
	}
	if args[0] != '[' {
		return rosjson.UnmarshalJSON(args, dst)
	}
	fields := t.Fields(f)
	list := json.NewDecoder(bytes.NewReader(args))
	_, err := list.Token() // the bracket
	object := []byte{'{'}
	for i := 0; err == nil && list.More(); i++ {
		if i == len(fields) {
			return fmt.Errorf("more than %d arguments are given, and %s has %d fields", i, t.Name(f), i)
		}
		if i > 0 {
			object = append(object, ',')
		}
		var v json.RawMessage
		if err = list.Decode(&v); err == nil {
			object = strconv.AppendQuote(object, fields[i].Name)
			object = append(append(object, ':'), v...)
		}
	}
	if err == nil {
		_, err = list.Token()
	}
	if err != nil {
		return err
	}
	if list.More() {
		return errors.New("something follows the list of arguments")
	}
	return rosjson.UnmarshalJSON(append(object, '}'), dst)
}

// Call calls a service of the same process.
func Call[Req, Res any](ctx context.Context, g *Graph, name string, request *Req) (*Res, error) {
	r, err := g.Call(ctx, name, request)
	if err != nil {
		return nil, err
	}
	res, ok := r.(*Res)
	if !ok {
		return nil, &TypeError{Kind: "service", Name: name, Got: fmt.Sprintf("%T", *new(Res)), Want: fmt.Sprintf("%T", r)}
	}
	return res, nil
}

func (g *Graph) serviceNamed(name string) (*ServiceServer, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	name, err := g.resolve(name)
	if err != nil {
		return nil, err
	}
	if s := g.services[name]; s != nil {
		return s, nil
	}
	return nil, &NotFoundError{Kind: "service", Name: name, Names: hinted(&g.hints, g.services)}
}

type answer struct {
	response any
	err      error
}

// call runs the handler on a goroutine of its own, so that the caller is free at
// its deadline whatever the handler does.
func (s *ServiceServer) call(ctx context.Context, request any) (any, error) {
	within := s.timeLeft(ctx)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	failed := func(err error) error { return &CallError{Service: s.name, Within: within, Err: err} }
	select {
	case s.slots <- struct{}{}:
	default:
		return nil, failed(&FullError{What: "calls at once", Limit: cap(s.slots)})
	}
	done := make(chan answer, 1)
	go func() {
		defer func() { <-s.slots }()
		done <- s.answer(ctx, request)
	}()
	select {
	case a := <-done:
		if a.err != nil {
			return nil, failed(a.err)
		}
		return a.response, nil
	case <-s.gone:
		return nil, failed(goneError{})
	case <-ctx.Done():
		return nil, failed(ctx.Err())
	}
}

// answer runs the handler. A panic of it fails the call only.
func (s *ServiceServer) answer(ctx context.Context, request any) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{err: fmt.Errorf("the handler panicked: %v", p)}
		}
	}()
	a.response, a.err = s.handler(ctx, request)
	if a.err == nil && !s.typ.Response.Holds(a.response) {
		a.err = wrongValue("the answer of service", s.name, a.response, s.typ.Response)
	}
	return a
}

// wrongValue is the error of a value that is not a pointer to the struct of a type.
func wrongValue(kind, name string, v any, want *registry.Type) error {
	got := "nothing"
	if t, ok := registry.Of(v); ok && reflect.ValueOf(v).Kind() == reflect.Pointer {
		got = t.String()
	} else if v != nil {
		got = fmt.Sprintf("a Go %T", v)
	}
	return &TypeError{Kind: kind, Name: name, Got: got, Want: want.String()}
}
