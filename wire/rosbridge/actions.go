package rosbridge

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/frame"
)

// feedbackQueue is how much feedback waits for the pump, which never waits itself.
const feedbackQueue = 128

var errNoAction = errors.New(`the member "action" is missing`)

// goal is a goal of the client on its way through the graph.
type goal struct {
	session  *session
	number   uint64    // of the message that sends it
	graph    action.ID // its name in the graph
	key      string    // in the session's map
	id       string    // JSON text of the client's id; empty if it gave none
	name     string    // of the action, as spelled
	form     msgs.Form
	feedback bool
	silent   bool // sent by ROS 1's topics: only audited
	fragment int
	lane     *lane
	queued   atomic.Bool
	started  bool
	sent     bool // counts as open; with the session's lock

	mu     sync.Mutex
	client *graph.GoalClient
}

func (ses *session) roomForGoal() error {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if limit := ses.server.c.Limits.Goals; ses.open >= limit {
		return &LimitError{What: "too many goals that are not over", Limit: float64(limit)}
	}
	return nil
}

// expectGoal enters a goal that will be sent, as soon as its head is known: from then on
// it can be cancelled. Its id is the client's own; in the graph it gets a name that no
// other client can choose. Nil if a goal with the id is under way.
func (ses *session) expectGoal(name, id string, number uint64) *goal {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.goalSeq++
	g := &goal{session: ses, number: number, id: id, name: name, key: frame.IDText(id),
		graph: action.ID(fmt.Sprintf("%s/%d", ses.client.Node, ses.goalSeq))}
	if id == "" {
		g.key = string(g.graph)
	}
	if ses.goals[g.key] != nil {
		return nil
	}
	ses.goals[g.key] = g
	return g
}

// count makes a goal one that is open.
func (g *goal) count() {
	g.session.mu.Lock()
	defer g.session.mu.Unlock()
	if !g.sent {
		g.sent = true
		g.session.open++
	}
}

// sendGoal sends a goal to an action.
func (ses *session) sendGoal(m *frame.Message) error {
	g := ses.now.goal
	if g != nil && (g.name != m.Action || g.id != m.ID) {
		g.forget() // a frame that does not say the same to all its readers
		g = nil
	}
	if err := ses.trySendGoal(m, g); err != nil {
		g.forget()
		return err
	}
	return nil
}

func (ses *session) trySendGoal(m *frame.Message, g *goal) error {
	switch {
	case m.Action == "":
		return errNoAction
	case m.Compression != "" && m.Compression != "none":
		return fmt.Errorf("compression %q is not served for answers; use none", m.Compression)
	}
	if err := ses.roomForGoal(); err != nil {
		return err
	}
	if g == nil {
		g = ses.expectGoal(m.Action, m.ID, ses.now.number)
	}
	if g == nil {
		// a negative answer would be taken for that of the running goal
		ses.status(levelError, m.ID, fmt.Sprintf("%s: %s: a goal with the id %q is under way; its result will come", m.Op, m.Action, frame.IDText(m.ID)))
		return nil
	}
	g.feedback, g.fragment = m.Feedback, m.FragmentSize
	if m.ActionType != "" {
		_, form, err := registry.ActionNamed(m.ActionType)
		if err != nil {
			g.forget()
			return err
		}
		g.form = form
	}
	g.lane = ses.box.newLane("feedback of "+m.Action, ses.server.c.Limits.Queue, 0)
	g.count()
	client, err := ses.server.g.SendGoalJSON(m.Action, m.ActionType, m.Args, graph.GoalOptions{ID: g.graph, Node: ses.client.Node,
		Queue: feedbackQueue, Wake: func() { ses.pump.wake(g) }, Account: ses.account})
	if err != nil {
		g.forget()
		ses.server.audit(ses, Goal, m.Action, frame.IDText(m.ID), err.Error())
		return err
	}
	g.follow(client)
	return nil
}

// watchGoal follows a goal that came by ROS 1's topics, for limits and audit.
func (ses *session) watchGoal(name, id string) {
	g := &goal{session: ses, number: ses.now.number, graph: action.ID(id), key: name + " " + id, id: frame.StringID(id), name: name, silent: true}
	ses.mu.Lock()
	known := ses.goals[g.key] != nil
	if !known {
		ses.goals[g.key] = g
		g.sent = true
		ses.open++
	}
	ses.mu.Unlock()
	if known {
		return // sent twice: the graph has refused the second
	}
	client, err := ses.server.g.WatchGoal(name, action.ID(id), graph.GoalOptions{Queue: 1, Wake: func() { ses.pump.wake(g) }})
	if err != nil {
		g.forget()
		ses.server.audit(ses, Goal, name, id, err.Error())
		return
	}
	g.follow(client)
}

func (g *goal) follow(client *graph.GoalClient) {
	g.mu.Lock()
	g.client = client
	g.mu.Unlock()
	g.session.pump.wake(g)
}

// forget gives the id of the goal free; nil has none.
func (g *goal) forget() {
	if g == nil {
		return
	}
	g.session.mu.Lock()
	defer g.session.mu.Unlock()
	if g.session.goals[g.key] == g {
		delete(g.session.goals, g.key)
		if g.sent {
			g.session.open--
		}
	}
}

// leave is called when the client has disconnected.
func (g *goal) leave(cancel bool) {
	g.mu.Lock()
	client := g.client
	g.mu.Unlock()
	if client == nil {
		return
	}
	if cancel {
		client.Cancel()
		g.session.server.audit(g.session, Cancel, g.name, frame.IDText(g.id), "the client has gone")
	}
	client.Close()
}

// inPump is for the pump.
func (g *goal) inPump() *atomic.Bool { return &g.queued }

// drain sends the client the updates of its goal.
func (g *goal) drain() (more bool) {
	g.mu.Lock()
	client := g.client
	g.mu.Unlock()
	if client == nil {
		return false // SendGoal has not returned yet; follow wakes again
	}
	for {
		u, ok := client.Poll()
		if !ok {
			return false
		}
		switch {
		case u.Feedback != nil:
			g.tellFeedback(u)
		case u.Result != nil:
			g.forget() // first: the client may use the id again as soon as it has the result
			g.tellResult(u)
			client.Close()
			return false
		case u.State == action.Active && !g.started:
			g.started = true
			g.session.server.audit(g.session, Goal, g.name, frame.IDText(g.id), "accepted")
		}
	}
}

func (g *goal) tellFeedback(u graph.GoalUpdate) {
	if !g.feedback {
		return
	}
	m := frame.Message{Op: frame.ActionFeedback, ID: g.id, Action: g.name, Values: u.Feedback.JSON(g.form)}
	if u.Info != nil {
		m.GoalInfo = rosjson.Append(nil, u.Info, g.form)
	}
	g.lane.lose(u.Lost)
	g.lane.put(g.session.split(m.Append(nil), g.fragment), false)
}

func (g *goal) tellResult(u graph.GoalUpdate) {
	text := u.State.String()
	if u.Text != "" {
		text += ": " + u.Text
	}
	g.session.server.audit(g.session, Goal, g.name, frame.IDText(g.id), text)
	if g.silent {
		return
	}
	if u.State == action.Rejected || u.State == action.Lost {
		why := u.Text
		if why == "" {
			why = u.Cause.String()
		}
		g.session.answerRejected(g.id, g.name, why, u.Explanations)
		return
	}
	status, yes := int(graph.StatusROS2(u.State, u.Cause)), true
	g.session.answerWith(&frame.Message{Op: frame.ActionResult, ID: g.id, Action: g.name,
		Status: &status, Result: &yes, Explanations: frame.AppendExplanations(nil, u.Explanations)}, u.Result, g.form, g.fragment, func(err error) {
		g.session.answerRejected(g.id, g.name, "the goal has ended, and its result is too large: "+err.Error(), whyRefused(err))
	})
}

// answerRejected says that a goal never ran, and why: as a string, since that is what
// clients show, and as explanations, whose fields programs read.
func (ses *session) answerRejected(id, name, text string, why []poisemsgs.Explanation) {
	status, no := int(msgs.StatusAborted), false
	ses.answer(&frame.Message{Op: frame.ActionResult, ID: id, Action: name, Values: frame.AppendString(nil, text),
		Status: &status, Result: &no, Explanations: frame.AppendExplanations(nil, why)}, 0)
}

func sameName(a, b string) bool {
	return strings.TrimPrefix(a, "/") == strings.TrimPrefix(b, "/")
}

// actionOf splits a topic's name if it is one that an action listens to.
func (ses *session) actionOf(topic string) (name, part string) {
	for _, part := range []string{"/goal", "/cancel"} {
		if name, ok := strings.CutSuffix(topic, part); ok {
			if info, known := ses.server.g.TopicInfo(topic); known && info.Action != "" {
				return name, part
			}
		}
	}
	return "", ""
}
