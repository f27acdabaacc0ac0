package ros2

import (
	"context"
	"maps"
	"slices"
	"strings"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/rtps"
	"poise/stop"
	"poise/wire/rosnet"
)

// imports are the topics, services and actions of other nodes that are in the graph, of the
// types that Poise knows. The node's lock is held wherever they are changed.
type imports struct {
	n        *Node
	services map[string]*importedService // by name in ROS
	actions  map[string]*importedAction  // by name in ROS
	read     map[string]bool             // topics that other nodes read, by name in ROS
	renamed  map[string]string           // names in ROS of topics that are outside the namespace, by name in the graph
	next     map[string]string           // that renamed becomes
	refused  map[string]bool             // names in ROS that the graph does not take; said once
}

// maxImports bounds services, actions and topics of others in the graph, each.
const maxImports = 1024

func newImports(n *Node) *imports {
	return &imports{n: n, services: map[string]*importedService{}, actions: map[string]*importedAction{}, read: map[string]bool{},
		renamed: map[string]string{}, next: map[string]string{}, refused: map[string]bool{}}
}

// rosType returns the name in ROS of a type of DDS, a/msg/T of a::msg::dds_::T_; empty if it is
// none of ROS.
func rosType(dds string) string {
	parts := strings.Split(dds, "::")
	if len(parts) != 4 || parts[2] != "dds_" || !strings.HasSuffix(parts[3], "_") {
		return ""
	}
	return parts[0] + "/" + parts[1] + "/" + strings.TrimSuffix(parts[3], "_")
}

// ofEveryNode are topics that nodes have for themselves.
var ofEveryNode = map[string]bool{"/rosout": true, "/parameter_events": true}

// topic returns what a writer of another node writes: nil is no topic that is imported.
func (i *imports) topic(w *rtps.EndpointInfo) (ros, name string, typ *registry.Type) {
	n := i.n
	ros, isTopic := strings.CutPrefix(w.Topic, "rt")
	if !isTopic || !strings.HasPrefix(ros, "/") || strings.Contains(ros, "/_action/") || ofEveryNode[ros] || globals[ros] && n.c.Mirror == "" || n.pubs[ros] != nil {
		return ros, "", nil
	}
	typ, _, err := registry.Message(rosType(w.Type))
	if err != nil || !typ.In(n.c.Form) {
		return ros, "", nil
	}
	if name, err = graph.Clean(n.names.Graph(ros)); err != nil || len(i.next) >= maxImports {
		return ros, "", nil
	}
	if info, exists := n.g.TopicInfo(name); exists && (info.Owner != "" || info.Type != nil && info.Type != typ || info.Action != "") {
		return ros, "", nil // it is the server's own, or something else
	}
	i.next[name] = ros
	return ros, name, typ
}

// look takes what is new of others and gives back what is gone. lookAtWriters has called topic.
func (i *imports) look(others []rtps.ParticipantInfo) {
	i.rename()
	i.lookAtReaders(others)
	services, actions := map[string]offer{}, map[string]offer{}
	for _, o := range others {
		for _, r := range o.Readers {
			ros, isService := strings.CutPrefix(r.Topic, "rq")
			ros, isRequest := strings.CutSuffix(ros, "Request")
			if !isService || !isRequest || !strings.HasPrefix(ros, "/") {
				continue
			}
			here := offer{from: o.GUID.Prefix, header: o.Vendor == rtps.VendorCyclone || strings.Contains(string(r.UserData), "serviceid=")}
			kind := rosType(r.Type)
			if name, is := strings.CutSuffix(ros, "/_action/send_goal"); is {
				here.kind = strings.TrimSuffix(kind, "_SendGoal_Request")
				actions[name] = first(actions[name], here)
			} else if !strings.Contains(ros, "/_action/") && !strings.HasPrefix(kind, "rcl_interfaces/") && !strings.HasPrefix(kind, "type_description_interfaces/") {
				here.kind = strings.TrimSuffix(kind, "_Request")
				services[ros] = first(services[ros], here)
			}
		}
	}
	i.lookAtServices(services)
	i.lookAtActions(actions)
}

// offer is a service or an action that another participant offers.
type offer struct {
	from   rtps.Prefix
	kind   string // of it
	header bool   // its requests begin with a header, as those of rmw_cyclonedds
}

// first prefers an offer that is known already.
func first(known, next offer) offer {
	if known.kind != "" {
		return known
	}
	return next
}

// rename has topics outside the namespace read under the names that they have.
func (i *imports) rename() {
	n := i.n
	next := i.next
	i.next = map[string]string{}
	maps.DeleteFunc(next, func(name, ros string) bool { return n.c.Mirror != "" || n.names.ROS(name) == ros })
	if maps.Equal(next, i.renamed) {
		return
	}
	old := i.renamed
	for _, names := range []map[string]string{old, next} {
		for name := range names {
			if old[name] == next[name] {
				continue
			}
			for _, ros := range n.rosNames(name) {
				if s := n.subs[ros]; s != nil && s.name == name {
					s.close()
					delete(n.subs, ros)
				}
			}
		}
	}
	i.renamed = next
	for _, names := range []map[string]string{old, next} {
		for name := range names {
			n.lookAtTopic(name)
		}
	}
}

// lookAtReaders notes what other nodes read: a mirror writes that alone.
func (i *imports) lookAtReaders(others []rtps.ParticipantInfo) {
	n := i.n
	if n.c.Mirror == "" {
		return
	}
	now := map[string]bool{}
	for _, o := range others {
		for _, r := range o.Readers {
			if ros, is := strings.CutPrefix(r.Topic, "rt"); is && strings.HasPrefix(ros, "/") && len(now) < maxImports {
				now[ros] = true
			}
		}
	}
	old := i.read
	i.read = now
	for _, all := range []map[string]bool{old, now} {
		for ros := range all {
			if old[ros] != now[ros] {
				n.lookAtTopic(n.names.Graph(ros))
			}
		}
	}
}

// importedService is a service of another node.
type importedService struct {
	offer
	who    *peer
	typ    *registry.Service
	caller *caller
	server *graph.ServiceServer
}

func (s *importedService) close() {
	s.server.Close()
	s.caller.close()
}

// lookAtServices gives back what is gone and takes what is new.
func (i *imports) lookAtServices(now map[string]offer) {
	n := i.n
	for ros, s := range i.services {
		if now[ros] != s.offer || !n.peers.present(s.who) {
			s.close()
			delete(i.services, ros)
		}
	}
	for ros, o := range now {
		t, _, err := registry.ServiceNamed(o.kind)
		if err != nil || i.services[ros] != nil || n.services[ros] != nil || len(i.services) >= maxImports {
			continue
		}
		enter, stops := n.peers.enter, n.c.Mirror != "" && strings.HasSuffix(ros, "/stop") && rosnet.IsStop(t)
		if stops {
			enter = n.peers.meet // a stop waits for no name
		}
		who, err := enter(o.from)
		if err != nil {
			continue
		}
		s := &importedService{offer: o, who: who, typ: t, caller: newCaller(n, ros, o, t.Request, t.Response)}
		with := graph.ServiceOptions{Node: n.self, MaxCalls: rosnet.MaxStopCalls} // which no client may serve
		if !stops {
			with = graph.ServiceOptions{Node: who.client.Node(), Account: who.account}
		}
		if s.server, err = n.g.Serve(n.names.Graph(ros), o.kind, s.caller.call, with); err != nil {
			i.refuse("service", ros, err)
			continue
		}
		delete(i.refused, ros)
		i.services[ros] = s
	}
}

// busy reports whether calls of a participant, or goals or calls that it was sent, are under way.
func (i *imports) busy(who *peer) bool {
	under := who.calls.Load() > 0
	for _, s := range i.services {
		under = under || s.who == who && s.caller.busy()
	}
	for _, a := range i.actions {
		if a.who == who {
			a.mu.Lock()
			under = under || len(a.goals) > 0
			a.mu.Unlock()
		}
	}
	return under
}

// refuse says once that something of another node is not in the graph.
func (i *imports) refuse(kind, ros string, why error) {
	if !i.refused[ros] && len(i.refused) < maxImports {
		i.refused[ros] = true
		i.n.c.Log.Debug("something of another ROS 2 node is not in the graph", kind, ros, "why", why)
	}
}

// close takes everything out of the graph.
func (i *imports) close() {
	for _, s := range i.services {
		s.close()
	}
	for _, a := range i.actions {
		a.close()
	}
	clear(i.services)
	clear(i.actions)
}

// Remote returns the way of a stop to the robots of a mirrored network.
func (n *Node) Remote() stop.Remote { return rosnet.NewRemote(n.life, mirrored{n}) }

// mirrored is a rosnet.Network.
type mirrored struct{ *Node }

func (m mirrored) Name() string { return strings.Trim(m.c.Mirror, "/") }

func (m mirrored) Services() map[string]*registry.Service {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]*registry.Service, len(m.foreign.services))
	for ros, s := range m.foreign.services {
		all[ros] = s.typ
	}
	return all
}

func (m mirrored) Service(ros string) *registry.Service {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.foreign.services[ros]; s != nil {
		return s.typ
	}
	return nil
}

func (m mirrored) Actions() (all []rosnet.Action) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ros := range slices.Sorted(maps.Keys(m.foreign.actions)) {
		all = append(all, m.foreign.actions[ros])
	}
	return all
}

// CallService calls a service of another node, by its name in ROS.
func (m mirrored) CallService(ctx context.Context, ros string, _ *registry.Service, request any) (any, error) {
	m.mu.Lock()
	s := m.foreign.services[ros]
	m.mu.Unlock()
	if s == nil {
		return nil, errNoService
	}
	return s.caller.call(ctx, request)
}

// statusEnded reports whether a goal of a state is over.
func statusEnded(status int8) bool {
	return status == msgs.StatusSucceeded || status == msgs.StatusCanceled || status == msgs.StatusAborted
}
