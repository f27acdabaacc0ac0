// Package master is a ROS 1 master: nodes register there what they publish, subscribe to and
// serve, and find each other; and it is the parameter server.
//
//	m := master.New(master.Config{URI: "http://127.0.0.1:11311/"})
//	http.Serve(listener, m)
//	…
//	m.Close()
//
// It answers every call of rosmaster's API with the same codes, notifies subscribers when
// publishers are added or removed, and nodes when parameters change to which they have
// subscribed. The memory that nodes can make it hold is bounded.
//
// Reference: wiki.ros.org/ROS/Master_API, ROS/Parameter Server API, and rosmaster 1.15.
package master

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"poise/wire/ros1/xmlrpc"
)

// Config is how a master is made.
type Config struct {
	URI    string         // where nodes find it
	Client *xmlrpc.Client // that nodes are told with; nil makes one
	Log    *slog.Logger   // nil is silent
}

// Bounds of what nodes can make the master hold.
const (
	maxNodes = 4096
	maxNames = 65536 // registrations of all nodes
)

// Master holds what nodes have registered. It is an http.Handler.
type Master struct {
	c       Config
	handler *xmlrpc.Handler
	tell    *notifier

	mu     sync.Mutex
	nodes  map[string]*node // by name
	names  int              // registrations of all
	types  map[string]string
	pubs   table
	subs   table
	served map[string]service
	params *params
}

// node is a node that has registered something.
type node struct {
	name, uri string
	names     int // registrations
}

// service is who serves it, and where.
type service struct{ node, uri string }

// table has the nodes of every topic, in the order in which they came.
type table map[string][]string

func (t table) has(name, node string) bool { return slices.Contains(t[name], node) }

func (t table) remove(name, node string) {
	t[name] = slices.DeleteFunc(t[name], func(n string) bool { return n == node })
	if len(t[name]) == 0 {
		delete(t, name)
	}
}

func (t table) list() []any {
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, []any{name, strings2any(t[name])})
	}
	return out
}

// New returns a master without nodes.
func New(c Config) *Master {
	if c.Client == nil {
		c.Client = xmlrpc.NewClient(nil)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	m := &Master{c: c, tell: newNotifier(c.Client, c.Log), nodes: map[string]*node{}, types: map[string]string{}, pubs: table{}, subs: table{}, served: map[string]service{}, params: newParams()}
	m.handler = &xmlrpc.Handler{Methods: m.methods()}
	return m
}

// ServeHTTP answers a call.
func (m *Master) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// Close ends what is being told to nodes.
func (m *Master) Close() { m.tell.close() }

// SetParam sets a parameter.
func (m *Master) SetParam(key string, value any) error {
	_, err := m.setParam([]any{"/master", key, value})
	return err
}

// Codes of answers.
const (
	failed  = -1 // the caller's mistake
	success = 1
)

// refusal is an answer with the code of a caller's mistake.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refusef(format string, a ...any) error { return &refusal{fmt.Sprintf(format, a...)} }

// methods returns the API. Every answer is a code, a text and a value.
func (m *Master) methods() map[string]xmlrpc.Method {
	out := map[string]xmlrpc.Method{}
	for name, f := range map[string]func(args []any) (answer, error){
		"getPid": func([]any) (answer, error) { return answer{"", os.Getpid()}, nil },
		"getUri": func([]any) (answer, error) { return answer{"", m.c.URI}, nil },
		"shutdown": func([]any) (answer, error) {
			return answer{}, refusef("this master ends with the program that it is part of")
		},
		"registerPublisher": m.registerPublisher, "unregisterPublisher": m.unregisterPublisher,
		"registerSubscriber": m.registerSubscriber, "unregisterSubscriber": m.unregisterSubscriber,
		"registerService": m.registerService, "unregisterService": m.unregisterService, "lookupService": m.lookupService,
		"lookupNode": m.lookupNode, "getPublishedTopics": m.getPublishedTopics, "getTopicTypes": m.getTopicTypes, "getSystemState": m.getSystemState,
		"setParam": m.setParam, "getParam": m.getParam, "hasParam": m.hasParam, "deleteParam": m.deleteParam, "searchParam": m.searchParam,
		"getParamNames": m.getParamNames, "subscribeParam": m.subscribeParam, "unsubscribeParam": m.unsubscribeParam,
	} {
		out[name] = func(_ context.Context, args []any) (any, error) {
			a, err := f(args)
			if err != nil {
				return []any{failed, err.Error(), 0}, nil
			}
			return []any{success, a.text, a.value}, nil
		}
	}
	return out
}

// answer is that of a call that succeeded.
type answer struct {
	text  string
	value any
}

// texts reads the arguments of a call, all of them texts, the first who calls.
func texts(args []any, names ...string) ([]string, error) {
	if len(args) != len(names) {
		return nil, refusef("ERROR: want %s, got %d arguments", strings.Join(names, ", "), len(args))
	}
	out := make([]string, len(args))
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			return nil, refusef("ERROR: parameter [%s] must be a string", names[i])
		}
		out[i] = s
	}
	return out, nil
}

// aboutName reads the texts of a request whose first two are the caller and a name, and that name in full.
func aboutName(args []any, names ...string) (a []string, name string, err error) {
	if a, err = texts(args, names...); err != nil {
		return nil, "", err
	}
	name, err = resolve(a[1], a[0])
	return a, name, err
}

// resolve returns a name in full, as seen by a caller.
func resolve(name, caller string) (string, error) {
	switch {
	case name == "":
		return "", refusef("ERROR: a name is empty")
	case strings.HasPrefix(name, "~"):
		name = caller + "/" + name[1:]
	case !strings.HasPrefix(name, "/"):
		name = namespaceOf(caller) + name
	}
	if name != "/" {
		name = "/" + strings.Trim(name, "/")
	}
	if len(name) > 1024 || strings.ContainsAny(name, " \n\t\"<>") || strings.Contains(name, "//") {
		return "", refusef("ERROR: the name [%.100s] contains illegal characters", name)
	}
	return name, nil
}

// namespaceOf returns the namespace that a node is in, with a slash at its end.
func namespaceOf(caller string) string {
	return "/" + strings.TrimPrefix(caller[:strings.LastIndexByte(caller, '/')+1], "/")
}

// checkURI refuses what is no address of a node.
func checkURI(text, scheme string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != scheme || u.Host == "" || u.Port() == "" {
		return refusef("ERROR: [%.100s] is no address such as %s://host:port", text, scheme)
	}
	return nil
}

// join counts a registration of a node. One that comes anew with the same name replaces the
// old one, which is told to end. The lock is held.
func (m *Master) join(name, uri string) (*node, error) {
	n := m.nodes[name]
	if n != nil && n.uri != uri {
		m.forget(n)
		m.tell.shutdown(n.uri, name)
		n = nil
	}
	switch {
	case m.names >= maxNames:
		return nil, refusef("ERROR: no more names: the limit is %d", maxNames)
	case n == nil && len(m.nodes) >= maxNodes:
		return nil, refusef("ERROR: no more nodes: the limit is %d", maxNodes)
	}
	if n == nil {
		n = &node{name: name, uri: uri}
		m.nodes[name] = n
	}
	n.names++
	m.names++
	return n, nil
}

// leave counts a registration less; a node without any is gone. The lock is held.
func (m *Master) leave(name string) {
	n := m.nodes[name]
	if n == nil {
		return
	}
	m.names--
	if n.names--; n.names == 0 {
		delete(m.nodes, name)
	}
}

// forget drops everything of a node. The lock is held.
func (m *Master) forget(n *node) {
	for _, topic := range slices.Sorted(maps.Keys(m.pubs)) {
		if m.pubs.has(topic, n.name) {
			m.pubs.remove(topic, n.name)
			m.leave(n.name)
			m.publishersChanged(topic)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(m.subs)) {
		if m.subs.has(topic, n.name) {
			m.subs.remove(topic, n.name)
			m.leave(n.name)
		}
	}
	for name, s := range m.served {
		if s.node == n.name {
			delete(m.served, name)
			m.leave(n.name)
		}
	}
	m.params.unwatchAll(n.name, func() { m.leave(n.name) })
	delete(m.nodes, n.name)
}

// uris returns where the publishers of a topic are. The lock is held.
func (m *Master) uris(topic string) []any {
	out := []any{}
	for _, name := range m.pubs[topic] {
		if n := m.nodes[name]; n != nil {
			out = append(out, n.uri)
		}
	}
	return out
}

// publishersChanged tells the subscribers of a topic. The lock is held.
func (m *Master) publishersChanged(topic string) {
	uris := m.uris(topic)
	for _, name := range m.subs[topic] {
		if n := m.nodes[name]; n != nil {
			m.tell.publishers(n.uri, topic, uris)
		}
	}
}

// anyType is what a subscriber says that takes every type.
const anyType = "*"

// register enters a node for a topic into a table, and returns the arguments and the topic's
// full name. The lock is held.
func (m *Master) register(t table, args []any) (a []string, topic string, err error) {
	if a, err = texts(args, "caller_id", "topic", "topic_type", "caller_api"); err != nil {
		return nil, "", err
	}
	if topic, err = resolve(a[1], a[0]); err == nil {
		err = checkURI(a[3], "http")
	}
	if err != nil {
		return nil, "", err
	}
	if n := m.nodes[a[0]]; n == nil || n.uri != a[3] || !t.has(topic, a[0]) {
		if _, err := m.join(a[0], a[3]); err != nil {
			return nil, "", err
		}
		t[topic] = append(t[topic], a[0])
	}
	return a, topic, nil
}

func (m *Master) registerPublisher(args []any) (answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, topic, err := m.register(m.pubs, args)
	if err != nil {
		return answer{}, err
	}
	if _, known := m.types[topic]; !known || a[2] != anyType {
		m.types[topic] = a[2]
	}
	m.publishersChanged(topic)
	subscribers := []any{}
	for _, name := range m.subs[topic] {
		if n := m.nodes[name]; n != nil {
			subscribers = append(subscribers, n.uri)
		}
	}
	return answer{fmt.Sprintf("Registered [%s] as publisher of [%s]", a[0], topic), subscribers}, nil
}

func (m *Master) unregisterPublisher(args []any) (answer, error) {
	return m.unregister(args, m.pubs, "publisher", func(topic string) {
		m.publishersChanged(topic)
		m.dropType(topic)
	})
}

func (m *Master) unregisterSubscriber(args []any) (answer, error) {
	return m.unregister(args, m.subs, "subscriber", m.dropType)
}

// dropType forgets the type of a topic that no node has any more, so that names that come and
// go do not stay. The lock is held.
func (m *Master) dropType(topic string) {
	if len(m.pubs[topic])+len(m.subs[topic]) == 0 {
		delete(m.types, topic)
	}
}

func (m *Master) unregister(args []any, t table, what string, then func(topic string)) (answer, error) {
	a, topic, err := aboutName(args, "caller_id", "topic", "caller_api")
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[a[0]]
	switch {
	case n == nil:
		return answer{fmt.Sprintf("[%s] is not a registered node", a[0]), 0}, nil
	case n.uri != a[2] || !t.has(topic, a[0]):
		return answer{fmt.Sprintf("[%s] is not a registered %s of [%s]", a[0], what, topic), 0}, nil
	}
	t.remove(topic, a[0])
	m.leave(a[0])
	then(topic)
	return answer{fmt.Sprintf("Unregistered [%s] as %s of [%s]", a[0], what, topic), 1}, nil
}

func (m *Master) registerSubscriber(args []any) (answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, topic, err := m.register(m.subs, args)
	if err != nil {
		return answer{}, err
	}
	if _, known := m.types[topic]; !known && a[2] != anyType {
		m.types[topic] = a[2]
	}
	return answer{fmt.Sprintf("Subscribed to [%s]", topic), m.uris(topic)}, nil
}

func (m *Master) registerService(args []any) (answer, error) {
	a, err := texts(args, "caller_id", "service", "service_api", "caller_api")
	if err != nil {
		return answer{}, err
	}
	name, err := resolve(a[1], a[0])
	if err == nil {
		err = checkURI(a[2], "rosrpc")
	}
	if err == nil {
		err = checkURI(a[3], "http")
	}
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.served[name]; ok { // the last one to register serves
		m.leave(old.node)
		delete(m.served, name)
	}
	if _, err := m.join(a[0], a[3]); err != nil {
		return answer{}, err
	}
	m.served[name] = service{a[0], a[2]}
	return answer{fmt.Sprintf("Registered [%s] as provider of [%s]", a[0], name), 1}, nil
}

func (m *Master) unregisterService(args []any) (answer, error) {
	a, name, err := aboutName(args, "caller_id", "service", "service_api")
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.served[name]; !ok || s.uri != a[2] || s.node != a[0] {
		return answer{fmt.Sprintf("[%s] is not a registered provider of [%s]", a[0], name), 0}, nil
	}
	delete(m.served, name)
	m.leave(a[0])
	return answer{fmt.Sprintf("Unregistered [%s] as provider of [%s]", a[0], name), 1}, nil
}

func (m *Master) lookupService(args []any) (answer, error) {
	_, name, err := aboutName(args, "caller_id", "service")
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.served[name]
	if !ok {
		return answer{}, refusef("no provider")
	}
	return answer{"rosrpc URI: [" + s.uri + "]", s.uri}, nil
}

func (m *Master) lookupNode(args []any) (answer, error) {
	a, name, err := aboutName(args, "caller_id", "node_name")
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[name]
	if n == nil {
		return answer{}, refusef("unknown node [%s]", a[1])
	}
	return answer{"node api", n.uri}, nil
}

func (m *Master) getPublishedTopics(args []any) (answer, error) {
	a, err := texts(args, "caller_id", "subgraph")
	if err != nil {
		return answer{}, err
	}
	below := a[1]
	if below != "" {
		if below, err = resolve(below, a[0]); err != nil {
			return answer{}, err
		}
		below = strings.TrimSuffix(below, "/") + "/"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []any{}
	for _, topic := range slices.Sorted(maps.Keys(m.pubs)) {
		if typ, ok := m.types[topic]; ok && strings.HasPrefix(topic, below) {
			out = append(out, []any{topic, typ})
		}
	}
	return answer{"current topics", out}, nil
}

func (m *Master) getTopicTypes(args []any) (answer, error) {
	if _, err := texts(args, "caller_id"); err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []any{}
	for _, topic := range slices.Sorted(maps.Keys(m.types)) {
		out = append(out, []any{topic, m.types[topic]})
	}
	return answer{"current system state", out}, nil
}

func (m *Master) getSystemState(args []any) (answer, error) {
	if _, err := texts(args, "caller_id"); err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	services := []any{}
	for _, name := range slices.Sorted(maps.Keys(m.served)) {
		services = append(services, []any{name, []any{m.served[name].node}})
	}
	return answer{"current system state", []any{m.pubs.list(), m.subs.list(), services}}, nil
}

func strings2any(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
