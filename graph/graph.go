package graph

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"poise/msgs/registry"
	"poise/problem"
)

// Options are a graph's settings; zero values take the defaults.
type Options struct {
	Now          func() time.Time // for stamps and the age of results; default time.Now
	Node         string           // of what is registered without one; default "/poise"
	KeepResults  time.Duration    // how long a result is kept after its goal's end; default 30 s, at least 10 s
	StatusPeriod time.Duration    // of ROS 1 status topics, by which clients detect a server; default 200 ms
	MaxNames     int              // bound on topics, and on services and actions each; default 16384; clients of a wire have budgets below it
}

// Bounds and defaults.
const (
	minKeepResults      = 10 * time.Second
	defaultKeepResults  = 30 * time.Second
	defaultStatusPeriod = 200 * time.Millisecond
	defaultMaxNames     = 16384
	maxNameLength       = 255
)

// Graph is a set of topics, services and actions.
type Graph struct {
	o Options

	mu       sync.RWMutex
	topics   map[string]*topic
	services map[string]*ServiceServer
	actions  map[string]*ActionServer
	aliases  map[string]string // second name → name
	closed   bool

	watchers watchers
	clients  clients
	hints    hints
	kept     atomic.Int64 // bytes of results of goals that are over

	stop chan struct{}
	done sync.WaitGroup
}

// New returns an empty graph. Close ends it.
func New(o Options) *Graph {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Node == "" {
		o.Node = "/poise"
	}
	if o.KeepResults == 0 {
		o.KeepResults = defaultKeepResults
	}
	o.KeepResults = max(o.KeepResults, minKeepResults)
	if o.StatusPeriod <= 0 {
		o.StatusPeriod = defaultStatusPeriod
	}
	if o.MaxNames <= 0 {
		o.MaxNames = defaultMaxNames
	}
	g := &Graph{o: o, topics: map[string]*topic{}, services: map[string]*ServiceServer{}, actions: map[string]*ActionServer{},
		aliases: map[string]string{}, stop: make(chan struct{})}
	g.hints = hints{now: o.Now}
	g.done.Add(1)
	go g.beat()
	return g
}

// beat publishes the states of goals for ROS 1 clients, and drops old results.
func (g *Graph) beat() {
	defer g.done.Done()
	tick := time.NewTicker(g.o.StatusPeriod)
	defer tick.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-tick.C:
			for _, a := range g.actionServers() {
				a.beat()
			}
		}
	}
}

// Options returns the settings, defaults filled in.
func (g *Graph) Options() Options { return g.o }

// Close ends all actions, services and subscriptions.
func (g *Graph) Close() {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	g.closed = true
	var topics []*topic
	for _, t := range g.topics {
		topics = append(topics, t)
	}
	var services []*ServiceServer
	for _, s := range g.services {
		services = append(services, s)
	}
	g.mu.Unlock()
	close(g.stop)
	g.done.Wait()
	for _, a := range g.actionServers() {
		a.Close()
	}
	for _, s := range services {
		s.Close()
	}
	for _, t := range topics {
		for _, s := range t.subscriptions() {
			s.Close()
		}
	}
	g.watchers.close()
}

// ErrClosed is returned by a closed subscription, goal client, watcher or graph.
var ErrClosed = errors.New("closed")

// NameError is a name that is not valid in ROS.
type NameError struct{ Name, Why string }

func (e *NameError) Error() string { return fmt.Sprintf("name %q %s", e.Name, e.Why) }

// NotFoundError is a service, action or goal that does not exist.
type NotFoundError struct {
	Kind, Name string
	Names      []string // those that there are
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no %s %s%s", e.Kind, e.Name, problem.Hint(e.Name, e.Names))
}

// ExistsError is a service or action that is already served.
type ExistsError struct{ Kind, Name, Owner string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s %s is served by %s already", e.Kind, e.Name, e.Owner)
}

// TypeError is a type other than the one that a topic, service or action has.
type TypeError struct{ Kind, Name, Got, Want string }

func (e *TypeError) Error() string {
	return fmt.Sprintf("%s %s has type %s, not %s", e.Kind, e.Name, e.Want, e.Got)
}

// FullError is a bound that has been reached.
type FullError struct {
	What  string
	Limit int
}

func (e *FullError) Error() string {
	return fmt.Sprintf("no more %s: the limit is %d", e.What, e.Limit)
}

// Clean returns the absolute form of a name, or why it is not valid.
func Clean(name string) (string, error) {
	s := strings.TrimPrefix(name, "/")
	if s == "" || len(s) >= maxNameLength {
		return "", &NameError{Name: name, Why: fmt.Sprintf("must have 1 to %d characters", maxNameLength-1)}
	}
	start := true
	for _, c := range s {
		switch {
		case c == '/' && !start:
			start = true
			continue
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
		default:
			return "", &NameError{Name: name, Why: fmt.Sprintf("may hold letters, digits, _ and single slashes, not %q", c)}
		}
		start = false
	}
	if start {
		return "", &NameError{Name: name, Why: "must not end with a slash"}
	}
	return "/" + s, nil
}

// Alias gives name, and every name below it, a second name.
func (g *Graph) Alias(second, name string) error {
	from, err := Clean(second)
	to, err2 := Clean(name)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	g.mu.Lock()
	_, taken := g.aliases[from]
	if taken || g.topics[from] != nil || g.services[from] != nil || g.actions[from] != nil {
		g.mu.Unlock()
		return &ExistsError{Kind: "name", Name: from, Owner: "another"}
	}
	g.aliases[from] = to
	g.mu.Unlock()
	g.announceBelow(to)
	return nil
}

// announceBelow notifies watchers of a name and all names below it.
func (g *Graph) announceBelow(name string) {
	if g.watchers.count.Load() == 0 {
		return
	}
	for _, c := range g.all() {
		if c.Name == name || strings.HasPrefix(c.Name, name+"/") {
			g.changed(c.Kind, c.Name)
		}
	}
}

// newName returns in full the name of something new of a kind, unless the graph is
// closed, another has the name, or there are too many. g is locked.
func newName[S any](g *Graph, kind, name string, all map[string]*S, owner func(*S) string) (string, error) {
	name, err := g.resolve(name)
	if err != nil {
		return "", err
	}
	switch taken := all[name]; {
	case g.closed:
		return "", ErrClosed
	case taken != nil:
		return "", &ExistsError{Kind: kind, Name: name, Owner: owner(taken)}
	case len(all) >= g.o.MaxNames:
		return "", &FullError{What: kind + "s", Limit: g.o.MaxNames}
	}
	return name, nil
}

// resolve returns the name behind a second name. The caller holds the lock.
func (g *Graph) resolve(name string) (string, error) {
	s, err := Clean(name)
	if err != nil || len(g.aliases) == 0 {
		return s, err
	}
	for at := len(s); at > 0; at = strings.LastIndexByte(s[:at], '/') {
		if to, ok := g.aliases[s[:at]]; ok {
			return to + s[at:], nil
		}
	}
	return s, nil
}

// secondNames returns the other names of a name. The caller holds the lock.
func (g *Graph) secondNames(name string) (names []string) {
	for from, to := range g.aliases {
		if rest, ok := strings.CutPrefix(name, to); ok && (rest == "" || rest[0] == '/') {
			names = append(names, from+rest)
		}
	}
	sort.Strings(names)
	return slices.Compact(names) // a name and one above it may both have the same second name
}

func (g *Graph) node(name string) string {
	if name == "" {
		return g.o.Node
	}
	return name
}

// typeFor returns the registered type of T.
func typeFor[T any]() *registry.Type {
	t, ok := registry.For[T]()
	if !ok {
		panic(fmt.Sprintf("graph: %T is not in the registry", *new(T)))
	}
	return t
}
