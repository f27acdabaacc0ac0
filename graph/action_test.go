package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"poise/action"
	"poise/msgs"
	"poise/msgs/registry"
)

type (
	textGoal    = Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]
	textHandler = ActionCallbacks[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]
)

// keepResults is the least time that a graph keeps results.
const keepResults = 10 * time.Second

// clockOf makes a graph whose clock the test moves.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func clockGraph(t testing.TB) (*Graph, *testClock) {
	c := &testClock{now: time.Unix(1000, 0)}
	g := New(Options{Now: c.Now, StatusPeriod: time.Hour})
	t.Cleanup(g.Close)
	return g, c
}

// keeper is an action server that does what the test says.
type keeper struct {
	goals    []*textGoal
	canceled []*textGoal
}

func (k *keeper) serve(t *testing.T, g *Graph) *ActionServer {
	t.Helper()
	return must[*ActionServer](t)(Action(g, "play_motion", textHandler{
		Goal:   func(h *textGoal) { k.goals = append(k.goals, h) },
		Cancel: func(h *textGoal) { k.canceled = append(k.canceled, h) },
	}, ActionOptions{}))
}

func send(t *testing.T, g *Graph, id action.ID, command string) *GoalClient {
	t.Helper()
	goal := &msgs.TextActionGoal{}
	goal.Command.Command = command
	return must[*GoalClient](t)(g.SendGoal("play_motion", goal, GoalOptions{ID: id}))
}

// news returns all updates that wait, in words.
func news(c *GoalClient) string {
	var words []string
	for {
		u, ok := c.Poll()
		if !ok {
			return strings.Join(words, " ")
		}
		word := u.State.String()
		if u.Feedback != nil {
			word = "feedback:" + u.Feedback.Value.(*msgs.TextActionFeedback).Status
			if u.Lost > 0 {
				word += fmt.Sprintf("(%d lost)", u.Lost)
			}
		}
		if u.Result != nil {
			r := u.Result.Value.(*msgs.TextActionResult)
			word += fmt.Sprintf("(%d,%d,%d %s)", r.ErrorCode, StatusROS1(u.State), StatusROS2(u.State, u.Cause), u.Text)
		}
		words = append(words, word)
	}
}

func TestLivesOfGoals(t *testing.T) {
	for _, tc := range []struct {
		name string
		live func(g *Graph, h *textGoal)
		want string
	}{
		{"success", func(_ *Graph, h *textGoal) {
			h.Accept()
			h.Feedback(&msgs.TextActionFeedback{Status: "half"})
			h.Succeed(msgs.TextActionResult{ErrorCode: 1}, "done")
		}, "pending active feedback:half succeeded(1,3,4 done)"},
		{"rejection", func(_ *Graph, h *textGoal) {
			h.Reject(action.ConditionsUnmet, msgs.TextActionResult{ErrorCode: -1}, "too far")
			h.Accept()
		}, "pending rejected(-1,5,6 too far)"},
		{"cancel", func(g *Graph, h *textGoal) {
			h.Accept()
			if n, err := g.CancelGoals("play_motion", "", h.ID(), 0); n != 1 || err != nil {
				panic("not cancelled")
			}
			h.Withdraw(action.ClientCancel, msgs.TextActionResult{}, "stopped")
		}, "pending active preempting preempted(0,2,5 stopped)"},
		{"cancel before it ran", func(g *Graph, h *textGoal) {
			_, _ = g.CancelGoals("play_motion", "", "", 0)
			h.Withdraw(action.ClientCancel, msgs.TextActionResult{}, "never ran")
		}, "pending recalling recalled(0,8,5 never ran)"},
		{"replacement", func(_ *Graph, h *textGoal) {
			h.Accept()
			h.Withdraw(action.Replaced, msgs.TextActionResult{}, "a newer one came")
		}, "pending active preempted(0,2,6 a newer one came)"},
		{"abort", func(_ *Graph, h *textGoal) {
			h.Accept()
			h.Abort(action.Fault, msgs.TextActionResult{ErrorCode: -4}, "servo lost")
		}, "pending active aborted(-4,4,6 servo lost)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g, _ := clockGraph(t)
			k := &keeper{}
			k.serve(t, g)
			c := send(t, g, "a", "wave")
			if k.goals[0].Value().Command.Command != "wave" {
				t.Error("the goal did not come whole")
			}
			tc.live(g, k.goals[0])
			if got := news(c); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestCancelOneAllOrBeforeATime(t *testing.T) {
	for _, tc := range []struct {
		name  string
		id    action.ID
		stamp action.Time
		want  string
	}{
		{"one", "b", 0, "[b]"},
		{"all", "", 0, "[a b c]"},
		{"before a time", "", 20, "[a b]"},
		{"one and before a time", "c", 10, "[a c]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g, _ := clockGraph(t)
			k := &keeper{}
			k.serve(t, g)
			for i, id := range []action.ID{"a", "b", "c"} {
				must[*GoalClient](t)(g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{ID: id, Stamp: action.Time(10 * (i + 1))}))
			}
			if _, err := g.CancelGoals("play_motion", "", tc.id, tc.stamp); err != nil {
				t.Fatal(err)
			}
			var got []action.ID
			for _, h := range k.canceled {
				got = append(got, h.ID())
			}
			if fmt.Sprint(got) != tc.want {
				t.Errorf("cancelled %v, want %s", got, tc.want)
			}
		})
	}
}

func TestSlowClientsLoseFeedbackButNeverAStateOrTheResult(t *testing.T) {
	g, _ := clockGraph(t)
	k := &keeper{}
	k.serve(t, g)
	c := must[*GoalClient](t)(g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{Queue: 2}))
	h := k.goals[0]
	h.Accept()
	for i := range 6 {
		h.Feedback(&msgs.TextActionFeedback{Status: fmt.Sprint(i)})
	}
	h.Succeed(msgs.TextActionResult{}, "")
	if got := news(c); got != "pending active feedback:4(4 lost) feedback:5 succeeded(0,3,4 )" {
		t.Error(got)
	}
}

func TestAResultIsKeptForAtLeastTenSeconds(t *testing.T) {
	g, clock := clockGraph(t)
	k := &keeper{}
	s := k.serve(t, g)
	send(t, g, "a", "").Close()
	k.goals[0].Accept()
	k.goals[0].Succeed(msgs.TextActionResult{ErrorCode: 7}, "")
	clock.advance(10 * time.Second)
	s.beat()
	c, err := g.WatchGoal("play_motion", "a", GoalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if u, err := c.Result(context.Background()); err != nil || u.Result.Value.(*msgs.TextActionResult).ErrorCode != 7 {
		t.Errorf("after 10 s: %+v, %v", u, err)
	}
	var duplicate *action.DuplicateError
	if _, err := g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{ID: "a"}); !errors.As(err, &duplicate) {
		t.Errorf("the name was free while its result was kept: %v", err)
	}
	clock.advance(time.Minute)
	s.beat()
	var missing *NotFoundError
	if _, err := g.WatchGoal("play_motion", "a", GoalOptions{}); !errors.As(err, &missing) {
		t.Errorf("after a minute: %v", err)
	}
	if n := len(s.views) + len(s.goals.(*handledGoals).many.Goals()); n != 0 {
		t.Errorf("%d goals are still held", n)
	}
}

func TestTheFiveTopicsOfROS1(t *testing.T) {
	g, _ := clockGraph(t)
	k := &keeper{}
	k.serve(t, g)
	read := func(what, typ string) func() string {
		s := must[*Subscription](t)(g.Subscribe("play_motion/"+what, SubscribeOptions{Type: typ}))
		return func() string {
			var all []string
			for {
				m, _, ok := s.Poll()
				if !ok {
					return strings.Join(all, "\n")
				}
				all = append(all, string(m.JSON(s.Form())))
			}
		}
	}
	status := read("status", "actionlib_msgs/GoalStatusArray")
	feedback := read("feedback", "text_msgs/TextActionActionFeedback")
	result := read("result", "text_msgs/TextActionActionResult")
	goal := must[*Advertisement](t)(g.Advertise("play_motion/goal", "text_msgs/TextActionActionGoal", TopicOptions{Node: "ros1 client"}))
	cancel := must[*Advertisement](t)(g.Advertise("play_motion/cancel", "actionlib_msgs/GoalID", TopicOptions{}))

	if err := goal.PublishJSON([]byte(`{"goal_id":{"stamp":{"secs":5,"nsecs":0},"id":"g1"},"goal":{"command":{"command":"wave"}}}`)); err != nil {
		t.Fatal(err)
	}
	if k.goals[0].Value().Command.Command != "wave" || k.goals[0].Caller() != "ros1 client" {
		t.Errorf("came as %+v from %q", k.goals[0].Value(), k.goals[0].Caller())
	}
	head := `{"header":{"seq":0,"stamp":{"secs":1000,"nsecs":0},"frame_id":""},`
	id := `{"goal_id":{"stamp":{"secs":5,"nsecs":0},"id":"g1"},`
	if got := status(); got != head+`"status_list":[`+id+`"status":0,"text":""}]}` {
		t.Errorf("status after the goal: %s", got)
	}
	k.goals[0].Accept()
	k.goals[0].Feedback(&msgs.TextActionFeedback{Status: "half"})
	if got := feedback(); got != head+`"status":`+id+`"status":1,"text":""},"feedback":{"status":"half"}}` {
		t.Errorf("feedback: %s", got)
	}
	_ = status()
	if err := cancel.PublishJSON([]byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if len(k.canceled) != 1 || k.canceled[0] != k.goals[0] {
		t.Fatal("the cancel of all did not come")
	}
	if got := status(); !strings.Contains(got, `"status":6`) {
		t.Errorf("status after the cancel: %s", got)
	}
	k.goals[0].Withdraw(action.ClientCancel, msgs.TextActionResult{ErrorCode: 3}, "stopped")
	if got := result(); got != head+`"status":`+id+`"status":2,"text":"stopped"},"result":{"error_code":3,"error_string":""}}` {
		t.Errorf("result: %s", got)
	}
	for _, i := range g.Topics() {
		if i.Action != "/play_motion" {
			t.Errorf("%s is not shown as a part of the action", i.Name)
		}
	}
}

func TestROS1AndROS2ClientsSeeTheSameGoal(t *testing.T) {
	g, _ := clockGraph(t)
	k := &keeper{}
	k.serve(t, g)
	result := must[Listener[msgs.ActionResult[msgs.TextActionResult]]](t)(Listen[msgs.ActionResult[msgs.TextActionResult]](g, "play_motion/result", SubscribeOptions{}))
	c := send(t, g, "both", "")
	k.goals[0].Accept()
	k.goals[0].Withdraw(action.Replaced, msgs.TextActionResult{}, "")
	r, _, ok := result.Poll()
	if !ok || r.Status.GoalID.ID != "both" || r.Status.Status != msgs.GoalPreempted {
		t.Errorf("ROS 1: %+v", r)
	}
	if u, err := c.Result(context.Background()); err != nil || StatusROS2(u.State, u.Cause) != msgs.StatusAborted {
		t.Errorf("ROS 2: %+v, %v", u, err)
	}
}

// A handler may act at once or from another goroutine; its calls come one at a
// time and in order.
func TestHandlersAreCalledInOrderAndMayActAtOnce(t *testing.T) {
	g := newGraph(t)
	var inside, seen int
	must[*ActionServer](t)(Action(g, "play_motion", textHandler{
		Goal: func(h *textGoal) {
			if inside++; inside != 1 {
				t.Error("two calls at once")
			}
			seen++
			h.Accept()
			h.Feedback(&msgs.TextActionFeedback{})
			h.Succeed(msgs.TextActionResult{ErrorCode: int32(seen)}, "")
			inside--
		},
	}, ActionOptions{MaxGoals: 1000}))
	const clients, each = 8, 20
	var wg sync.WaitGroup
	for c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range each {
				client, err := g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{ID: action.ID(fmt.Sprintf("%d-%d", c, i))})
				if err != nil {
					t.Error(err)
					return
				}
				if u, err := client.Result(context.Background()); err != nil || u.State != action.Succeeded {
					t.Errorf("%+v, %v", u, err)
				}
			}
		}()
	}
	wg.Wait()
	if seen != clients*each {
		t.Errorf("%d goals came, want %d", seen, clients*each)
	}
}

func TestAPanicOfTheHandlerEndsItsGoalOnly(t *testing.T) {
	g := newGraph(t)
	must[*ActionServer](t)(Action(g, "play_motion", textHandler{Goal: func(h *textGoal) {
		if h.Value().Command.Command == "bad" {
			panic("no such page")
		}
		h.Accept()
		h.Succeed(msgs.TextActionResult{}, "")
	}}, ActionOptions{}))
	if got := news(send(t, g, "1", "bad")); got != "pending rejected(-1,5,6 the handler panicked: no such page)" {
		t.Error(got)
	}
	if got := news(send(t, g, "2", "good")); got != "pending active succeeded(0,3,4 )" {
		t.Error(got)
	}
}

func TestAnActionThatEndsTellsItsClients(t *testing.T) {
	for name, end := range map[string]func(*ActionServer){"aborted": (*ActionServer).Close, "lost": (*ActionServer).Lose} {
		g, _ := clockGraph(t)
		k := &keeper{}
		s := k.serve(t, g)
		c := send(t, g, "a", "")
		k.goals[0].Accept()
		end(s)
		if got := news(c); !strings.Contains(got, "pending active "+name) {
			t.Errorf("%s: %s", name, got)
		}
		if _, err := g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{}); err == nil {
			t.Errorf("%s: a goal was taken afterwards", name)
		}
		if n := len(g.Topics()); n != 0 {
			t.Errorf("%s: %d topics are left", name, n)
		}
	}
}

func TestGoalsAreCheckedAndBounded(t *testing.T) {
	g, _ := clockGraph(t)
	k := &keeper{}
	must[*ActionServer](t)(Action(g, "play_motion", textHandler{Goal: func(h *textGoal) { k.goals = append(k.goals, h) }}, ActionOptions{MaxGoals: 2}))
	for _, tc := range []struct{ name, typ, args, want string }{
		{"no", "", `{}`, "there is no action /no"},
		{"play_moton", "", `{}`, `there is no action /play_moton; did you mean "/play_motion"?`},
		{"play_motion", "moveit_msgs/action/MoveGroup", `{}`, "action /play_motion has type text_msgs/action/TextAction, not moveit_msgs/action/MoveGroup"},
		{"play_motion", "", `{"command":{"cmd":"x"}}`, "command.cmd: the message has no such field"},
	} {
		if _, err := g.SendGoalJSON(tc.name, tc.typ, []byte(tc.args), GoalOptions{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
	for range 2 {
		must[*GoalClient](t)(g.SendGoalJSON("play_motion", "text_msgs/TextActionAction", []byte(`{"command":{"command":"x"}}`), GoalOptions{}))
	}
	var full *FullError
	if _, err := g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{}); !errors.As(err, &full) || full.Limit != 2 {
		t.Errorf("a third goal: %v", err)
	}
	// a ROS 1 client hears of it on the result topic
	result := must[Listener[msgs.ActionResult[msgs.TextActionResult]]](t)(Listen[msgs.ActionResult[msgs.TextActionResult]](g, "play_motion/result", SubscribeOptions{}))
	goal := must[*Advertisement](t)(g.Advertise("play_motion/goal", "text_msgs/TextActionActionGoal", TopicOptions{}))
	if err := goal.PublishJSON([]byte(`{"goal_id":{"id":"z"}}`)); err != nil {
		t.Fatal(err)
	}
	if r, _, ok := result.Poll(); !ok || r.Status.Status != msgs.GoalRejected || r.Status.GoalID.ID != "z" || !strings.Contains(r.Status.Text, "the limit is 2") {
		t.Errorf("ROS 1 client: %+v", r)
	}
	// ended goals make room
	k.goals[0].Accept()
	k.goals[0].Succeed(msgs.TextActionResult{}, "")
	must[*GoalClient](t)(g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{}))
}

func TestStatusIsRepeatedForThoseWhoWaitForAServer(t *testing.T) {
	g := New(Options{StatusPeriod: time.Millisecond})
	defer g.Close()
	(&keeper{}).serve(t, g)
	s := must[*Subscription](t)(g.Subscribe("play_motion/status", SubscribeOptions{}))
	for range 3 {
		if _, _, err := s.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoGoalThatFailedTellsOfSuccess: the zero value of many results is the code of
// success, and some clients look at nothing else.
func TestNoGoalThatFailedTellsOfSuccess(t *testing.T) {
	g := newGraph(t)
	for _, typ := range registry.Actions() {
		name := "act_" + strings.ReplaceAll(typ.String(), "/", "_")
		s := must[*ActionServer](t)(g.ServeAction(name, typ.String(), ActionHandler{Goal: func(h *GoalHandle) {
			if !h.Reject(action.ConditionsUnmet, nil, "too cold") {
				t.Errorf("%v was not rejected", typ)
			}
		}}, ActionOptions{}))
		c := must[*GoalClient](t)(g.SendGoal(name, typ.Goal.New(), GoalOptions{}))
		u, err := c.Result(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text := string(u.Result.JSON(msgs.ROS2))
		if strings.Contains(text, `"error_code":0`) || strings.Contains(text, `"error_string":""`) {
			t.Errorf("%v: %s", typ, text)
		}
		s.Close()
	}
	// a server that goes away gives no result either
	held := make(chan *GoalHandle, 1)
	s := must[*ActionServer](t)(g.ServeAction("gone", "control_msgs/action/FollowJointTrajectory", ActionHandler{Goal: func(h *GoalHandle) {
		h.Accept()
		held <- h
	}}, ActionOptions{}))
	c := must[*GoalClient](t)(g.SendGoal("gone", &msgs.FollowJointTrajectoryGoal{}, GoalOptions{}))
	<-held
	s.Lose()
	if u, err := c.Result(t.Context()); err != nil || u.Result.Value.(*msgs.FollowJointTrajectoryResult).ErrorCode >= 0 {
		t.Errorf("%+v, %v", u, err)
	}
}
