package rosnet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
	"poise/stop"
)

// Network is what is mirrored. Names are those of the network, with their slash.
type Network interface {
	Name() string                           // in the graph, without slashes
	Services() map[string]*registry.Service // all that there are
	Service(name string) *registry.Service  // nil without one
	Actions() []Action                      // all that there are
	CallService(ctx context.Context, name string, t *registry.Service, request any) (any, error)
}

// Action is an action of a network.
type Action interface {
	// EndAll cancels every goal, of every client, calls taken when that is told, waits until
	// none is left, and returns what it has done.
	EndAll(ctx context.Context, taken func()) (string, error)
}

// NewRemote returns the way of a stop to the robots of a network, until life ends: it calls the
// services of the network that are called stop or, where there are none, cancels all goals of
// every action.
func NewRemote(life context.Context, n Network) stop.Remote {
	r := &remote{n: n, life: life}
	r.asked = stop.Bounded[stopKind, *remoteStop]{Most: mostAsking, Begin: r.begin}
	return r
}

// remote is a stop.Remote.
type remote struct {
	n     Network
	life  context.Context
	asked stop.Bounded[stopKind, *remoteStop]
}

// stopKind is a stop as the network is asked for it.
type stopKind struct {
	service  string // empty for all robots
	category uint8
}

// mostAsking bounds the stops of one kind that are under way.
const mostAsking = 8

// MaxStopCalls bounds the calls of a stop of the network in the graph; wires do not use them.
const MaxStopCalls = 4096

func (r *remote) Name() string { return r.n.Name() }

// Stops reports whether a service of the network is the stop of a robot. Plain stop always is.
func (r *remote) Stops(service string) bool {
	t := r.n.Service("/" + service)
	return service == "stop" && t == nil || t != nil && IsStop(t)
}

// IsStop reports whether a service of a type, if it is called stop, stops a robot.
func IsStop(t *registry.Service) bool {
	switch t.Request.New().(type) {
	case *poisemsgs.StopRequest, *msgs.TriggerRequest, *msgs.EmptyRequest:
		return true
	}
	return false
}

// stops returns the services that stop robots.
func (r *remote) stops() map[string]*registry.Service {
	const most = 64
	found := map[string]*registry.Service{}
	for name, t := range r.n.Services() {
		if strings.HasSuffix(name, "/stop") && IsStop(t) && len(found) < most {
			found[name] = t
		}
	}
	return found
}

// Stop asks for a stop, and returns at once. ROS has no place for the number of servers that a
// stop came through; package stop ends a circle of them.
func (r *remote) Stop(service string, category uint8, _ int) stop.Progress {
	k := stopKind{service, category}
	if service != "" && r.n.Service("/"+service) == nil {
		k.service = "" // it is not known whose it is: all
	}
	return r.asked.Ask(k, &remoteStop{category: category})
}

// begin asks by a goroutine of its own.
func (r *remote) begin(k stopKind, one *remoteStop, settled func()) {
	go func() {
		r.run(k, one)
		settled()
	}()
}

// run asks every service, or ends every goal, and notes what became of it.
func (r *remote) run(k stopKind, one *remoteStop) {
	ctx, cancel := context.WithTimeout(r.life, stop.Patience)
	defer cancel()
	services := r.stops()
	if k.service != "" {
		services = map[string]*registry.Service{}
		if t := r.n.Service("/" + k.service); t != nil {
			services["/"+k.service] = t
		}
	}
	var work sync.WaitGroup
	do := func(f func() (string, error)) {
		work.Go(func() { one.add(f()) })
	}
	for ros, typ := range services {
		do(func() (string, error) { return r.callStop(ctx, ros, typ, k.category) })
	}
	if len(services) == 0 {
		actions := r.n.Actions()
		if len(actions) == 0 {
			one.add("", errors.New("no service of its network stops it, and no action has goals to end"))
		}
		for _, a := range actions {
			do(func() (string, error) { return a.EndAll(ctx, one.taken) })
		}
	}
	work.Wait()
	one.end()
}

// callStop calls a service that stops a robot, which answers when it stands.
func (r *remote) callStop(ctx context.Context, ros string, t *registry.Service, category uint8) (string, error) {
	request := t.Request.New()
	if q, ok := request.(*poisemsgs.StopRequest); ok {
		q.Category = category
	}
	answer, err := r.n.CallService(ctx, ros, t, request)
	if err != nil {
		return "", fmt.Errorf("service %s: %w", ros, err)
	}
	ok, text := true, "has answered"
	switch a := answer.(type) {
	case *poisemsgs.StopResponse:
		ok, text = a.Success, a.Message
	case *msgs.TriggerResponse:
		ok, text = a.Success, a.Message
	}
	if !ok {
		return "", fmt.Errorf("service %s: it answers: %.300s", ros, text)
	}
	return strings.TrimPrefix(ros, "/") + ": " + text, nil
}

// AwaitEnd waits until an action that was told to cancel all goals has none left, and returns
// what a stop says of it.
func AwaitEnd(ctx context.Context, action string, ended func() bool) (string, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ended() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", fmt.Errorf("action %s: it was told to cancel all goals, and has not ended them", action)
		}
	}
	return action + ": no goal is left", nil
}

// remoteStop is how far a stop is. It is a stop.Progress.
type remoteStop struct {
	category uint8

	mu             sync.Mutex
	isTaken, ended bool
	texts          []string
	problems       []error
}

func (s *remoteStop) taken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isTaken = true
}

// add notes the answer of one service or action.
func (s *remoteStop) add(text string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.problems = append(s.problems, err)
		return
	}
	s.texts = append(s.texts, text)
}

func (s *remoteStop) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *remoteStop) Taken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.problems) == 0 && (s.isTaken || s.ended)
}

func (s *remoteStop) Over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended && len(s.problems) == 0
}

func (s *remoteStop) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended && len(s.problems) > 0
}

func (s *remoteStop) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended && len(s.problems) > 0:
		return "was NOT stopped: " + strings.ReplaceAll(errors.Join(s.problems...).Error(), "\n", "; ")
	case s.ended:
		slices.Sort(s.texts)
		return strings.Join(s.texts, ", ")
	}
	return fmt.Sprintf("is told to stop by category %d, and has not answered yet", s.category)
}
