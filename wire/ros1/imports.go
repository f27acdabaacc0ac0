package ros1

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/wire/ros1/tcpros"
	"poise/wire/rosnet"
)

// imports are the topics, services and actions of other nodes that are in the graph, of the
// types that Poise knows. The master is asked for them again and again, as it tells of topics only.
type imports struct {
	n    *Node
	side *graph.Graph // the topics of actions that are spoken to, apart from those of the graph

	mu       sync.Mutex
	services map[string]*importedService // by name in ROS
	actions  map[string]*importedAction  // by name in ROS
	topics   map[string]*importedTopic   // by name in ROS
	read     map[string]bool             // topics that other nodes read, outside the namespace
	probing  map[string]bool
	passed   map[string]passed // services that are not taken, by name in ROS
}

// passed is a service that was looked at and not taken.
type passed struct {
	uri   string
	again time.Time // when it is looked at again, if it is the same
}

// Bounds of what is imported.
const (
	lookRest    = 20 // times as long as the last look took it is not looked again: the lists of a master may be long
	maxImports  = 512
	maxProbes   = 32 // at a time
	probeWithin = 2 * time.Second
	probeAgain  = 10 * time.Second
)

func newImports(n *Node) *imports {
	return &imports{n: n, side: graph.New(graph.Options{}), services: map[string]*importedService{}, actions: map[string]*importedAction{},
		topics: map[string]*importedTopic{}, read: map[string]bool{}, probing: map[string]bool{}, passed: map[string]passed{}}
}

// isImport reports whether a topic in ROS belongs to an action of another node. It is called
// with the lock of the node.
func (n *Node) isImport(ros string) bool {
	p, s := n.pubs[ros], n.subs[ros]
	return p != nil && p.g != n.g || s != nil && s.g != n.g
}

// run keeps the imports until ctx is done, and takes them back.
func (i *imports) run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		if err := i.look(ctx); err != nil && ctx.Err() == nil {
			i.n.c.Log.Debug("services and actions of ROS 1 are not listed", "why", err)
		}
		select {
		case <-time.After(max(checkEvery, lookRest*time.Since(began))):
		case <-ctx.Done():
		}
	}
	i.mu.Lock()
	services, actions, topics := i.services, i.actions, i.topics
	i.services, i.actions, i.topics = nil, nil, nil
	i.mu.Unlock()
	for _, t := range topics {
		t.close()
	}
	for _, s := range services {
		s.close()
	}
	for _, a := range actions {
		a.close()
	}
}

// listing is what a master says: which nodes have what.
type listing map[string][]string

func (l listing) has(name, node string) bool { return slices.Contains(l[name], node) }

// readListing reads a part of the answer to getSystemState.
func readListing(v any) listing {
	out := listing{}
	list, _ := v.([]any)
	for _, one := range list {
		pair, _ := one.([]any)
		if len(pair) != 2 {
			continue
		}
		name, _ := pair[0].(string)
		nodes, _ := pair[1].([]any)
		for _, node := range nodes {
			if text, ok := node.(string); ok {
				out[name] = append(out[name], text)
			}
		}
	}
	return out
}

// look asks the master what there is, and takes and gives back.
func (i *imports) look(ctx context.Context) error {
	code, v, err := i.n.callMaster(ctx, "getSystemState")
	if err != nil {
		return err
	}
	state, _ := v.([]any)
	if code != success || len(state) != 3 {
		return errors.New("getSystemState: the answer is no three lists")
	}
	code, v, err = i.n.callMaster(ctx, "getTopicTypes")
	if err != nil {
		return err
	}
	if code != success {
		return errors.New("getTopicTypes is refused")
	}
	types := map[string]string{}
	list, _ := v.([]any)
	for _, one := range list {
		if pair, _ := one.([]any); len(pair) == 2 {
			topic, _ := pair[0].(string)
			types[topic], _ = pair[1].(string)
		}
	}
	i.lookAtServices(ctx, readListing(state[2]))
	published, read := readListing(state[0]), readListing(state[1])
	i.lookAtActions(published, read, types)
	i.lookAtTopics(published, types)
	i.lookAtReaders(read)
	return nil
}

// importedService is a service of another node.
type importedService struct {
	n      *Node
	typ    *registry.Service
	node   string
	uri    string
	who    *peer
	server *graph.ServiceServer
}

func (s *importedService) close() {
	s.server.Close()
	s.n.peers.exit(s.who)
}

// ofEveryNode reports whether a service is one that every node has for itself.
func ofEveryNode(ros string) bool {
	return strings.HasSuffix(ros, "/get_loggers") || strings.HasSuffix(ros, "/set_logger_level")
}

// lookAtServices gives back what is gone and looks at what is new.
func (i *imports) lookAtServices(ctx context.Context, all listing) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ros, s := range i.services {
		if !all.has(ros, s.node) {
			delete(i.services, ros)
			s.close()
		}
	}
	for ros, nodes := range all {
		if len(nodes) == 0 || i.n.isOwnName(nodes[0]) || ofEveryNode(ros) || i.services[ros] != nil || i.probing[ros] ||
			len(i.probing) >= maxProbes || len(i.services) >= maxImports {
			continue
		}
		i.probing[ros] = true
		i.n.running.Go(func() { i.take(ctx, ros, nodes[0]) })
	}
	for ros := range i.passed {
		if len(all[ros]) == 0 {
			delete(i.passed, ros)
		}
	}
}

// take looks at a service of another node, and puts it into the graph if its type is known.
func (i *imports) take(ctx context.Context, ros, node string) {
	uri, err := i.serviceURI(ctx, ros)
	i.mu.Lock()
	last := i.passed[ros]
	i.mu.Unlock()
	var s *importedService
	if err == nil && (last.uri != uri || time.Now().After(last.again)) {
		if s, err = i.serve(ctx, ros, node, uri); err != nil {
			i.n.c.Log.Debug("a ROS 1 service is not in the graph", "service", ros, "node", node, "why", err)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.probing, ros)
	switch {
	case s != nil && i.services != nil:
		i.services[ros] = s
		delete(i.passed, ros)
	case s != nil: // the node has ended meanwhile
		s.close()
	case err != nil:
		i.passed[ros] = passed{uri, time.Now().Add(probeAgain)}
	}
}

// serviceURI asks the master where a service is.
func (i *imports) serviceURI(ctx context.Context, ros string) (string, error) {
	code, v, err := i.n.callMaster(ctx, "lookupService", ros)
	if err != nil {
		return "", err
	}
	uri, ok := v.(string)
	if code != success || !ok {
		return "", fmt.Errorf("the master does not know %s", ros)
	}
	return uri, nil
}

// serve offers a service of another node in the graph.
func (i *imports) serve(ctx context.Context, ros, node, uri string) (*importedService, error) {
	t, err := i.probe(ctx, ros, uri)
	if err != nil {
		return nil, err
	}
	who, err := i.n.peers.enter(node)
	if err != nil {
		return nil, err
	}
	call := func(ctx context.Context, request any) (any, error) { return i.n.CallService(ctx, ros, t, request) }
	o := graph.ServiceOptions{Node: who.client.Node(), Account: who.account}
	if i.n.c.Mirror != "" && strings.HasSuffix(ros, "/stop") && rosnet.IsStop(t) {
		o = graph.ServiceOptions{Node: i.n.self, MaxCalls: rosnet.MaxStopCalls} // which no client may serve
	}
	server, err := i.n.g.Serve(i.n.names.Graph(ros), t.Name(msgs.ROS1), call, o)
	if err != nil {
		i.n.peers.exit(who)
		return nil, err
	}
	return &importedService{n: i.n, typ: t, node: node, uri: uri, who: who, server: server}, nil
}

// probe asks a service for its type, as rosservice info does.
func (i *imports) probe(ctx context.Context, ros, uri string) (*registry.Service, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "rosrpc" {
		return nil, fmt.Errorf("%.200q is no address of a service", uri)
	}
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	c, err := i.n.c.dial(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if err := tcpros.WriteHeader(c, tcpros.Header{"callerid": i.n.self, "service": ros, "md5sum": "*", "probe": "1"}); err != nil {
		return nil, err
	}
	h, err := tcpros.ReadHeader(c, maxGreeting)
	if err != nil {
		return nil, err
	}
	if why := h["error"]; why != "" {
		return nil, fmt.Errorf("it refuses: %.500s", why)
	}
	t, _, err := registry.ServiceNamed(h["type"])
	if err != nil {
		return nil, err
	}
	if sum := t.MD5(); sum != h["md5sum"] {
		return nil, fmt.Errorf("its %s has md5sum %.50s, that of Poise has %s", h["type"], h["md5sum"], sum)
	}
	return t, nil
}
