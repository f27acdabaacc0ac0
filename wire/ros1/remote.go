package ros1

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

// Remote returns the way of a stop to the robots of a mirrored network: their services called
// stop, or, without such a service, the end of every goal of every action.
func (n *Node) Remote() stop.Remote {
	r := &remote{n: n}
	r.asked = stop.Bounded[stopKind, *remoteStop]{Most: mostAsking, Begin: r.begin}
	return r
}

// remote is a stop.Remote.
type remote struct {
	n     *Node
	asked stop.Bounded[stopKind, *remoteStop]
}

// stopKind is a stop as the network is asked for it.
type stopKind struct {
	service  string // empty for all robots
	category uint8
}

// Bounds of stops under way: of one kind, and calls in the graph; wires ask Remote instead.
const (
	mostAsking = 8
	maxStops   = 4096
)

func (r *remote) Name() string { return strings.Trim(r.n.c.Mirror, "/") }

// Stops reports whether a service of the network is the stop of a robot. Plain stop always is.
func (r *remote) Stops(service string) bool {
	s := r.n.foreign.serviceNamed("/" + service)
	return service == "stop" && (s == nil || isStop(s.typ)) || s != nil && isStop(s.typ)
}

// isStop reports whether a service of a type, if it is called stop, stops a robot.
func isStop(t *registry.Service) bool {
	switch t.Request.New().(type) {
	case *poisemsgs.StopRequest, *msgs.TriggerRequest, *msgs.EmptyRequest:
		return true
	}
	return false
}

// serviceNamed returns a service of another node, nil if it is not found.
func (i *imports) serviceNamed(ros string) *importedService {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.services[ros]
}

// stops returns the services that stop robots, by name in ROS.
func (i *imports) stops() map[string]*registry.Service {
	const most = 64
	found := map[string]*registry.Service{}
	i.mu.Lock()
	defer i.mu.Unlock()
	for ros, s := range i.services {
		if strings.HasSuffix(ros, "/stop") && isStop(s.typ) && len(found) < most {
			found[ros] = s.typ
		}
	}
	return found
}

// Stop asks for a stop, and returns at once. ROS 1 has no place for the number of servers that a
// stop came through; package stop ends a circle of them.
func (r *remote) Stop(service string, category uint8, _ int) stop.Progress {
	k := stopKind{service, category}
	if service != "" && r.n.foreign.serviceNamed("/"+service) == nil {
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
	ctx, cancel := context.WithTimeout(r.n.life, stop.Patience)
	defer cancel()
	services := r.n.foreign.stops()
	if k.service != "" {
		services = map[string]*registry.Service{}
		if s := r.n.foreign.serviceNamed("/" + k.service); s != nil {
			services["/"+k.service] = s.typ
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
		actions := r.n.foreign.listActions()
		if len(actions) == 0 {
			one.add("", errors.New("no service of its network stops it, and no action has goals to end"))
		}
		for _, a := range actions {
			do(func() (string, error) { return a.endAll(ctx, one.taken) })
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

func (i *imports) listActions() (all []*importedAction) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.actions {
		all = append(all, a)
	}
	return all
}

// endAll cancels every goal of the action, of every client, and waits until none is left.
func (a *importedAction) endAll(ctx context.Context, taken func()) (string, error) {
	if !a.connected() {
		return "", fmt.Errorf("action %s: it is not connected", a.ros)
	}
	a.mu.Lock()
	before := a.heard
	a.mu.Unlock()
	if err := a.cancel.Publish(&msgs.GoalID{}); err != nil { // no id and no time: all goals
		return "", fmt.Errorf("action %s: %w", a.ros, err)
	}
	taken()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		a.mu.Lock()
		over := a.heard > before && a.active == 0
		a.mu.Unlock()
		if over {
			return a.ros + ": no goal is left", nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", fmt.Errorf("action %s: it was told to cancel all goals, and has not ended them", a.ros)
		}
	}
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
