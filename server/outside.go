package server

import (
	"fmt"
	"sync"

	"poise/controllers"
	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/servo"
)

// maxOutside bounds how many external controllers are listened to. A name that has
// nothing is given up for a new one.
const maxOutside = 64

// outsiders are the external controllers that have asked for resources. Each
// name belongs to the client that asked by it first, until the client leaves; only that
// client is heard on controllers/NAME/ref_joints.
type outsiders struct {
	bot *servedRobot

	mu     sync.Mutex
	byName map[string]*outsider
	count  uint64 // of requests
}

// outsider is one name.
type outsider struct {
	client  string // whose name it is
	newest  uint64 // request of it
	streams []*graph.Subscription
}

// serveRemotes registers the messages by which external controllers ask for resources
// and say that they live; who asked is then heard on controllers/NAME/ref_joints.
func (bot *servedRobot) serveRemotes(r *register) {
	o := &outsiders{bot: bot, byName: map[string]*outsider{}}
	if r.first { // of every name below, also of those that come later
		r.fail(r.graph.Alias(r.robot+"/controllers", "controllers"))
	}
	listen(r, "resource_request", every, nil, func(from string, v *msgs.ResourceRequest) { o.request(from, edge.Request(from, v)) })
	listen(r, "resource_claim", every, nil, func(from string, v *poisemsgs.ResourceRequest) { o.request(from, edge.NeededRequest(from, v)) })
	listen(r, "resource_requester_state", every, o.mayReport, func(from string, v *msgs.ResourceRequesterState) {
		bot.exec.Outside().Report(executive.OutsideState{Name: v.RequesterName, Session: from, ID: v.RequestID, Operational: v.IsOperational})
	})
	r.graph.OnLeave(o.leave)
}

// request takes a request of an external controller.
func (o *outsiders) request(from string, ask executive.OutsideRequest) {
	bot := o.bot
	who := fmt.Sprintf("%s (%s)", ask.Name, from)
	refuse := func(reason string) {
		bot.audit(executive.Audit{Who: who, What: "resource request", Result: reason})
		a := bot.topics.assignment()
		a.RequestIds = []uint32{ask.ID}
		bot.topics.assigned.PublishTo(from, a)
	}
	if err := o.hear(ask.Name, from); err != nil {
		bot.exec.Outside().Refused(ask, err)
		refuse(err.Error())
		return
	}
	outside := bot.exec.Outside()
	reasons := outside.Request(who, ask, func(n executive.News) { // for this client alone: others are told what has become of it
		bot.topics.assigned.PublishTo(from, &msgs.ResourceAssignment{RequestIds: n.Requests, Resources: n.Resources, Owners: n.Owners})
	})
	if len(reasons) > 0 {
		refuse(problem.Join(reasons))
	}
	if !bot.s.graph.Present(from) { // it left meanwhile, and leave found nothing yet
		outside.Leave(from)
	}
}

// hear listens to the streams of a name on behalf of a client.
func (o *outsiders) hear(name, client string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.bot.s.graph.Present(client) { // what it sent was read after it left
		return fmt.Errorf("%s has left", client)
	}
	for i := range o.bot.seats {
		if seat := &o.bot.seats[i]; seat.Loop.Name == name || seat.Declaration.Kind.Name == name {
			return fmt.Errorf("the name %q belongs to a controller of the server", name)
		}
	}
	o.count++
	if holder := o.byName[name]; holder != nil {
		if holder.client != client {
			return fmt.Errorf("the name %q belongs to %s", name, holder.client)
		}
		holder.newest = o.count
		return nil
	}
	if len(o.byName) >= maxOutside && !o.giveUp() {
		return fmt.Errorf("%d external controllers are at work, which is the limit", maxOutside)
	}
	holder := &outsider{client: client, newest: o.count}
	r := o.bot.register()
	prefix := "controllers/" + name + "/"
	if !r.first {
		prefix = r.robot + "/" + prefix
	}
	for k := range o.bot.outside {
		s := &o.bot.outside[k]
		sub, err := s.Subscribe(r.graph, prefix+s.Topic, func(from string, v any) error {
			if from != client {
				return fmt.Errorf("controller %q belongs to %s, and takes values from it alone", name, client)
			}
			return o.remark(name, client, s, v)
		})
		if err != nil {
			holder.close()
			return err
		}
		holder.streams = append(holder.streams, sub)
		r.receive(sub, func(m *graph.Message) {
			if controller, ok := o.bot.exec.Outside().Controller(name, m.From); ok {
				o.bot.feed(m.From, controller, name, s, m.Value)
			}
		})
	}
	o.byName[name] = holder
	return nil
}

// remark says to a client what of a value does not count: all of it if it cannot be read, or what
// the controller has not asked for.
func (o *outsiders) remark(name, client string, s *controllers.Stream, message any) error {
	value, err := s.Read(o.bot.model, servo.Tick{}, message)
	if err != nil {
		return &graph.Remark{Text: err.Error()}
	}
	if left := o.bot.exec.Outside().NotAsked(name, client, value); left != nil {
		return &graph.Remark{Text: left.Error()}
	}
	return nil
}

// giveUp frees the name that has had nothing for longest, and reports whether there is
// one. The lock is held.
func (o *outsiders) giveUp() bool {
	oldest := ""
	for name, holder := range o.byName {
		if (oldest == "" || holder.newest < o.byName[oldest].newest) && !o.bot.exec.Outside().Active(name, holder.client) {
			oldest = name
		}
	}
	if oldest == "" {
		return false
	}
	o.byName[oldest].close()
	delete(o.byName, oldest)
	return true
}

// leave frees the names of a client that has left.
func (o *outsiders) leave(client string) {
	o.mu.Lock()
	for name, holder := range o.byName {
		if holder.client == client {
			holder.close()
			delete(o.byName, name)
		}
	}
	o.mu.Unlock()
	o.bot.exec.Outside().Leave(client)
}

// mayReport admits signs of life of an external controller from its own client alone.
func (o *outsiders) mayReport(from string, v any) error {
	name := v.(*msgs.ResourceRequesterState).RequesterName
	o.mu.Lock()
	defer o.mu.Unlock()
	if holder := o.byName[name]; holder != nil && holder.client != from {
		return fmt.Errorf("controller %q belongs to %s, whose messages alone count", name, holder.client)
	}
	return nil
}

func (o *outsider) close() {
	for _, s := range o.streams {
		s.Close()
	}
}
