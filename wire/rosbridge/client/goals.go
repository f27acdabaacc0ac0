package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/frame"
)

// Update is feedback of a goal or its end; then Done is set.
type Update struct {
	Feedback []byte // JSON text, nil in the last update
	Lost     int    // feedback dropped before this because the reader was slow

	Info *poisemsgs.GoalInfo // how far the goal is, newest first; nil if the server does not say

	Done     bool
	Status   int    // ROS 2's: 4 succeeded, 5 cancelled, 6 aborted
	Rejected bool   // the goal never ran; Text says why
	Result   []byte // JSON text, unless Rejected
	Text     string // why a goal was rejected

	// Explanations are why it ended, if not because it was done, and what else should be
	// known of it; a server that is not Poise gives none.
	Explanations []poisemsgs.Explanation
}

// Goal is a goal under way.
type Goal struct {
	c      *Client
	id     string
	action string
	cancel func(ctx context.Context) error

	mu       sync.Mutex
	info     *poisemsgs.GoalInfo
	last     *Update
	err      error
	once     sync.Once
	over     chan struct{}
	feedback *queue
}

// feedbackQueue is how much feedback waits for a slow reader.
const feedbackQueue = 100

// SendGoal sends a goal as JSON text. A type of ROS 1's form is spoken to over its
// five topics.
func (c *Client) SendGoal(ctx context.Context, action, typ string, args []byte) (*Goal, error) {
	if strings.Count(typ, "/") == 1 {
		return c.sendGoalROS1(ctx, action, typ, args)
	}
	g := c.newGoal(action)
	g.cancel = func(ctx context.Context) error {
		return c.send(ctx, &frame.Message{Op: frame.CancelActionGoal, ID: frame.StringID(g.id), Action: action})
	}
	c.mu.Lock()
	c.goals[g.id] = g
	c.mu.Unlock()
	err := c.send(ctx, &frame.Message{Op: frame.SendActionGoal, ID: frame.StringID(g.id), Action: action, ActionType: typ, Args: args, Feedback: true})
	if err != nil {
		c.forget(g)
		return nil, fmt.Errorf("action %s: %w", action, err)
	}
	return g, nil
}

func (c *Client) newGoal(action string) *Goal {
	return &Goal{c: c, id: c.id("goal", action), action: action, over: make(chan struct{}), feedback: newQueue(feedbackQueue)}
}

func (c *Client) forget(g *Goal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.goals, g.id)
}

// ID returns the goal's name.
func (g *Goal) ID() string { return g.id }

// Cancel asks for the end of the goal; the last update tells when it has ended.
func (g *Goal) Cancel(ctx context.Context) error { return g.cancel(ctx) }

// take takes a message of ROS 2's ops.
func (g *Goal) take(m *frame.Message) {
	if m.Op == frame.ActionFeedback {
		var info poisemsgs.GoalInfo
		if len(m.GoalInfo) > 0 && rosjson.Unmarshal(m.GoalInfo, &info) == nil {
			g.mu.Lock()
			g.info = &info
			g.mu.Unlock()
		}
		g.feedback.put(m.Values)
		return
	}
	u := &Update{Done: true, Result: m.Values}
	if why, err := frame.ReadExplanations(m.Explanations); err == nil {
		u.Explanations = why
	}
	if m.Status != nil {
		u.Status = *m.Status
	}
	if m.Result != nil && !*m.Result {
		u.Rejected, u.Result, u.Text = true, nil, frame.IDText(string(m.Values))
	}
	g.finish(u)
}

func (g *Goal) finish(u *Update) {
	g.mu.Lock()
	g.last = u
	g.mu.Unlock()
	g.end(nil)
}

// end ends the goal for good: nil if its result is there.
func (g *Goal) end(err error) {
	g.once.Do(func() {
		g.mu.Lock()
		g.err = err
		g.mu.Unlock()
		g.c.forget(g)
		close(g.over)
		g.feedback.end(errOver)
	})
}

var errOver = fmt.Errorf("the goal is over")

// Next waits for an update: feedback as long as there is some, then the end.
func (g *Goal) Next(ctx context.Context) (Update, error) {
	f, lost, err := g.feedback.next(ctx)
	if err == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		return Update{Feedback: f, Lost: lost, Info: g.info}, nil
	}
	if err != errOver {
		return Update{}, err
	}
	return g.outcome()
}

// Result waits for the end and returns the last update.
func (g *Goal) Result(ctx context.Context) (Update, error) {
	select {
	case <-g.over:
		return g.outcome()
	case <-ctx.Done():
		return Update{}, ctx.Err()
	}
}

func (g *Goal) outcome() (Update, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return Update{}, fmt.Errorf("action %s: %w", g.action, g.err)
	}
	return *g.last, nil
}

// sendGoalROS1 speaks to an action over its five topics.
func (c *Client) sendGoalROS1(ctx context.Context, action, typ string, args []byte) (*Goal, error) {
	base := strings.TrimSuffix(typ, "Action")
	g := c.newGoal(action)
	results, err := c.Subscribe(action+"/result", base+"ActionResult", SubscribeOptions{})
	if err != nil {
		return nil, err
	}
	feedback, err := c.Subscribe(action+"/feedback", base+"ActionFeedback", SubscribeOptions{})
	if err != nil {
		results.Close()
		return nil, err
	}
	// advertising again what is advertised does nothing
	publish := func(ctx context.Context, part, typ, msg string) error {
		if err := c.send(ctx, &frame.Message{Op: frame.Advertise, Topic: action + part, Type: typ}); err != nil {
			return err
		}
		return c.send(ctx, &frame.Message{Op: frame.Publish, Topic: action + part, Msg: []byte(msg)})
	}
	id := frame.StringID(g.id)
	g.cancel = func(ctx context.Context) error {
		return publish(ctx, "/cancel", "actionlib_msgs/GoalID", `{"id":`+id+`}`)
	}
	if len(args) == 0 {
		args = []byte("{}")
	}
	c.mu.Lock()
	c.goals[g.id] = g
	c.mu.Unlock()
	if err := publish(ctx, "/goal", base+"ActionGoal", `{"goal_id":{"id":`+id+`},"goal":`+string(args)+`}`); err != nil {
		c.forget(g)
		results.Close()
		feedback.Close()
		return nil, fmt.Errorf("action %s: %w", action, err)
	}
	go g.followROS1(results, feedback)
	return g, nil
}

// actionMessage is what result and feedback of all ROS 1 actions have in common.
type actionMessage struct {
	Status struct {
		GoalID struct {
			ID string `json:"id"`
		} `json:"goal_id"`
		Status uint8  `json:"status"`
		Text   string `json:"text"`
	} `json:"status"`
	Result   json.RawMessage `json:"result"`
	Feedback json.RawMessage `json:"feedback"`
}

// followROS1 passes messages of the topics that concern the goal on to it.
func (g *Goal) followROS1(results, feedback *Subscription) {
	ctx, cancel := context.WithCancel(g.c.ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer results.Close()
	defer feedback.Close()
	defer cancel()
	read := func(s *Subscription, use func(*actionMessage)) {
		for {
			text, _, err := s.Next(ctx)
			if err != nil {
				g.end(err)
				return
			}
			var m actionMessage
			if json.Unmarshal(text, &m) == nil && m.Status.GoalID.ID == g.id {
				use(&m)
			}
		}
	}
	wg.Go(func() { read(feedback, func(m *actionMessage) { g.feedback.put(m.Feedback) }) })
	wg.Go(func() { read(results, func(m *actionMessage) { g.finish(fromROS1(m)) }) })
	select {
	case <-g.over:
	case <-ctx.Done():
		g.end(ErrClosed)
	}
}

// fromROS1 returns a result of actionlib with the status numbers of ROS 2.
func fromROS1(m *actionMessage) *Update {
	u := &Update{Done: true, Result: m.Result, Text: m.Status.Text, Status: msgs.StatusAborted}
	switch m.Status.Status {
	case msgs.GoalSucceeded:
		u.Status = msgs.StatusSucceeded
	case msgs.GoalPreempted, msgs.GoalRecalled:
		u.Status = msgs.StatusCanceled
	case msgs.GoalRejected:
		u.Rejected, u.Result = true, nil
	}
	return u
}
