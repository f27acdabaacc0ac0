package ros1

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
)

// importedAction is an action of another node: goals that the graph sends it go there over
// actionlib's topics. It is in the graph from when the other side is heard.
type importedAction struct {
	i    *imports
	ros  string // its name
	node string
	typ  *registry.Action
	who  *peer

	goal, cancel *graph.Advertisement
	ctx          context.Context
	end          context.CancelFunc

	mu     sync.Mutex
	server *graph.ActionServer // nil until the other side is heard
	goals  map[string]*sentGoal
	count  int
	active int    // goals that the other side works on, of all clients
	heard  uint64 // messages of status
}

// sentGoal is a goal that another node works on.
type sentGoal struct {
	h       *graph.GoalHandle
	missing int // messages of status without it, or since its end without its result
}

// lostAfter is how many messages of status may come, five a second, without a goal or without
// its result, until it is taken for lost.
const lostAfter = 25

// parts are actionlib's topics.
var parts = []string{"/goal", "/cancel", "/status", "/feedback", "/result"}

// lookAtActions gives back what is gone and takes what is new.
func (i *imports) lookAtActions(published, read listing, types map[string]string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	serves := func(ros, node string) bool {
		return read.has(ros+"/goal", node) && published.has(ros+"/status", node) && published.has(ros+"/result", node)
	}
	for ros, a := range i.actions {
		if !serves(ros, a.node) {
			delete(i.actions, ros)
			a.close()
		}
	}
	for topic, nodes := range read {
		ros, isGoal := strings.CutSuffix(topic, "/goal")
		if !isGoal || i.actions[ros] != nil || len(i.actions) >= maxImports {
			continue
		}
		at := slices.IndexFunc(registry.Actions(), func(a *registry.Action) bool { return typeName(a.ActionGoal) == types[topic] })
		of := slices.IndexFunc(nodes, func(node string) bool { return !i.n.isOwnName(node) && serves(ros, node) })
		if at < 0 || of < 0 || slices.Contains(nodes, i.n.self) {
			continue
		}
		a, err := i.speakTo(ros, nodes[of], registry.Actions()[at])
		if err != nil {
			i.n.c.Log.Debug("a ROS 1 action is not in the graph", "action", ros, "node", nodes[of], "why", err)
			continue
		}
		i.actions[ros] = a
	}
}

// speakTo begins to publish and to read the topics of an action of another node.
func (i *imports) speakTo(ros, node string, typ *registry.Action) (*importedAction, error) {
	who, err := i.n.peers.enter(node)
	if err != nil {
		return nil, err
	}
	a := &importedAction{i: i, ros: ros, node: node, typ: typ, who: who, goals: map[string]*sentGoal{}}
	a.ctx, a.end = context.WithCancel(i.n.life)
	if err := a.open(); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *importedAction) open() error {
	side, n := a.i.side, a.i.n
	kinds := map[string]string{"/goal": typeName(a.typ.ActionGoal), "/cancel": "actionlib_msgs/GoalID", "/status": "actionlib_msgs/GoalStatusArray",
		"/feedback": typeName(a.typ.ActionFeedback), "/result": typeName(a.typ.ActionResult)}
	var err error
	if a.goal, err = side.Advertise(a.ros+"/goal", kinds["/goal"], graph.TopicOptions{}); err != nil {
		return err
	}
	if a.cancel, err = side.Advertise(a.ros+"/cancel", kinds["/cancel"], graph.TopicOptions{}); err != nil {
		return err
	}
	for part, came := range map[string]func(any){"/status": a.statusCame, "/feedback": a.feedbackCame, "/result": a.resultCame} {
		sub, err := side.Subscribe(a.ros+part, graph.SubscribeOptions{Type: kinds[part], QoS: graph.QoS{Depth: n.c.Limits.Queue}})
		if err != nil {
			return err
		}
		n.running.Go(func() {
			defer sub.Close()
			for {
				m, _, err := sub.Next(a.ctx)
				if err != nil {
					return
				}
				came(m.Value)
			}
		})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for part, kind := range kinds {
		typ, _, err := registry.Message(kind)
		if err != nil {
			return err
		}
		ros := a.ros + part
		if s := n.subs[ros]; s != nil {
			s.close()
			delete(n.subs, ros)
		}
		delete(n.pubs, ros)
		if part == "/goal" || part == "/cancel" {
			n.pubs[ros] = &publication{g: side, ros: ros, name: ros, typ: typ}
		} else {
			n.subs[ros] = newSubscription(n, side, ros, ros, typ)
		}
	}
	n.keeper.wake()
	return nil
}

// close takes the action out of the graph; goals under way are lost.
func (a *importedAction) close() {
	n := a.i.n
	a.mu.Lock()
	server := a.server
	a.server = nil
	a.mu.Unlock()
	a.end()
	if server != nil {
		server.Lose()
	}
	n.mu.Lock()
	for _, part := range parts {
		ros := a.ros + part
		if s := n.subs[ros]; s != nil && s.g == a.i.side {
			s.close()
			delete(n.subs, ros)
		}
		if p := n.pubs[ros]; p != nil && p.g == a.i.side {
			delete(n.pubs, ros)
		}
	}
	n.mu.Unlock()
	for _, ad := range []*graph.Advertisement{a.goal, a.cancel} {
		if ad != nil {
			ad.Close()
		}
	}
	for _, part := range parts { // clients of the graph may still read or publish them
		n.refreshTopic(n.names.Graph(a.ros) + part)
	}
	n.keeper.wake()
	n.peers.exit(a.who)
}

// connected reports whether goals reach the other node, and its results come.
func (a *importedAction) connected() bool {
	goals, cancels, results := false, false, false
	for _, l := range a.i.n.greet.list() {
		if l.peer != a.who.caller {
			continue
		}
		goals = goals || l.direction == outward && l.topic == a.ros+"/goal"
		cancels = cancels || l.direction == outward && l.topic == a.ros+"/cancel"
		results = results || l.direction == inward && l.topic == a.ros+"/result"
	}
	return goals && cancels && results
}

// show puts the action into the graph when everything is connected.
func (a *importedAction) show() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server != nil || a.ctx.Err() != nil || !a.connected() {
		return
	}
	n := a.i.n
	server, err := n.g.ServeAction(n.names.Graph(a.ros), typeName(a.typ.Action), graph.ActionHandler{Goal: a.send, Cancel: a.callOff},
		graph.ActionOptions{Node: a.who.client.Node(), Account: a.who.account})
	if err != nil {
		n.c.Log.Debug("a ROS 1 action is not in the graph", "action", a.ros, "node", a.node, "why", err)
		return
	}
	a.server = server
}

// send sends a goal of the graph.
func (a *importedAction) send(h *graph.GoalHandle) {
	now := msgs.TimeOf(time.Now().UnixNano())
	a.mu.Lock()
	a.count++
	// as actionlib names goals
	id := fmt.Sprintf("%s-%d-%d.%09d", a.i.n.self, a.count, now.Sec, now.Nanosec)
	a.goals[id] = &sentGoal{h: h}
	a.mu.Unlock()
	m := reflect.New(a.typ.ActionGoal.Go())
	m.Elem().FieldByName("Header").Set(reflect.ValueOf(msgs.Header{Stamp: now}))
	m.Elem().FieldByName("GoalID").Set(reflect.ValueOf(msgs.GoalID{Stamp: now, ID: id}))
	m.Elem().FieldByName("Goal").Set(reflect.ValueOf(h.Value()).Elem())
	if err := a.goal.Publish(m.Interface()); err != nil {
		a.take(id)
		h.Reject(action.ServerGone, a.typ.Result.New(), err.Error())
	}
}

// callOff asks for the end of a goal.
func (a *importedAction) callOff(h *graph.GoalHandle) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, g := range a.goals {
		if g.h == h {
			_ = a.cancel.Publish(&msgs.GoalID{ID: id}) // if the other side is gone the goal ends by that
		}
	}
}

// take returns a goal and forgets it; nil if it is not ours.
func (a *importedAction) take(id string) *graph.GoalHandle {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.goals[id]
	delete(a.goals, id)
	if g == nil {
		return nil
	}
	return g.h
}

func (a *importedAction) find(id string) *graph.GoalHandle {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.goals[id]; g != nil {
		return g.h
	}
	return nil
}

// statusCame follows the goals as the other node lists them.
func (a *importedAction) statusCame(v any) {
	a.show()
	listed := map[string]msgs.GoalStatus{}
	for _, s := range v.(*msgs.GoalStatusArray).StatusList {
		listed[s.GoalID.ID] = s
		if s.Status == msgs.GoalActive || s.Status == msgs.GoalPreempting {
			if h := a.find(s.GoalID.ID); h != nil {
				h.Accept()
			}
		}
	}
	var lost []string
	a.mu.Lock()
	a.heard++
	a.active = 0
	for _, s := range listed {
		if !isOver(s.Status) {
			a.active++
		}
	}
	for id, g := range a.goals {
		s, has := listed[id]
		if has && !isOver(s.Status) {
			g.missing = 0
		} else if g.missing++; g.missing >= lostAfter {
			lost = append(lost, id)
		}
	}
	a.mu.Unlock()
	for _, id := range lost {
		s, has := listed[id]
		if !has {
			s = msgs.GoalStatus{Status: msgs.GoalLost, Text: fmt.Sprintf("%s does not list the goal any more", a.node)}
		}
		if h := a.take(id); h != nil {
			finish(h, s, a.typ.Result.New())
		}
	}
}

// isOver reports whether a status is the last of a goal.
func isOver(status uint8) bool {
	switch status {
	case msgs.GoalPending, msgs.GoalActive, msgs.GoalPreempting, msgs.GoalRecalling:
		return false
	}
	return true
}

func (a *importedAction) feedbackCame(v any) {
	m := reflect.ValueOf(v).Elem()
	status := m.FieldByName("Status").Interface().(msgs.GoalStatus)
	if h := a.find(status.GoalID.ID); h != nil {
		h.Accept()
		h.Feedback(m.FieldByName("Feedback").Addr().Interface())
	}
}

func (a *importedAction) resultCame(v any) {
	m := reflect.ValueOf(v).Elem()
	status := m.FieldByName("Status").Interface().(msgs.GoalStatus)
	if h := a.take(status.GoalID.ID); h != nil {
		finish(h, status, m.FieldByName("Result").Addr().Interface())
	}
}

// finish ends a goal as the other node says.
func finish(h *graph.GoalHandle, s msgs.GoalStatus, result any) {
	if s.Text != "" && s.Status != msgs.GoalSucceeded { // for clients whose wire has no text of a status
		h.Explain([]poisemsgs.Explanation{{Code: "other_node", Text: s.Text}})
	}
	switch s.Status {
	case msgs.GoalSucceeded:
		h.Accept()
		h.Succeed(result, s.Text)
	case msgs.GoalPreempted:
		h.Accept()
		h.Withdraw(action.ClientCancel, result, s.Text)
	case msgs.GoalRecalled:
		h.Withdraw(action.ClientCancel, result, s.Text)
	case msgs.GoalRejected:
		h.Reject(action.ConditionsUnmet, result, s.Text)
	case msgs.GoalAborted:
		h.Accept()
		h.Abort(action.Failed, result, s.Text)
	default:
		h.Accept()
		h.Abort(action.ServerGone, result, s.Text)
	}
}
