package rosbridge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/stop"
	"poise/wire/rosbridge"
)

// busy is a bed whose client has a worker that does not get on: the handler of the action
// /busy returns only when it is released.
type busy struct {
	*bed
	p       *peer
	release chan struct{}
}

func newBusy(t *testing.T, line *stop.Line) *busy {
	b := &busy{bed: newStepped(t, rosbridge.Config{Stop: line}), release: make(chan struct{})}
	reached := make(chan struct{})
	must(graph.Action(b.g, "busy", graph.ActionCallbacks[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Goal: func(h *textGoal) {
			close(reached)
			<-b.release
			h.Accept()
			h.Succeed(msgs.TextActionResult{ErrorString: "at last"}, "")
		},
	}, graph.ActionOptions{}))
	b.p = b.dial()
	b.p.send(fmt.Sprintf(sendText, "wait"))
	<-b.came
	b.p.send(`{"op":"send_action_goal","id":"long","action":"/busy","args":{}}`)
	<-reached
	return b
}

const cancelled = `{"op":"action_result","id":%q,"action":"/text","values":{"error_code":0,"error_string":"stopped"},"status":5,"result":true}`

func TestACancelDoesNotWaitForWhatTheSameClientSentBefore(t *testing.T) {
	for name, text := range map[string]string{
		"by the op":      `{"op":"cancel_action_goal","id":"g","action":"/text"}`,
		"by the topic":   `{"op":"publish","topic":"/text/cancel","msg":{"stamp":{"secs":0,"nsecs":0},"id":""}}`,
		"by the service": `{"op":"call_service","service":"/text/_action/cancel_goal","args":{}}`,
		"in fragments":   `{"op":"fragment","id":"f","num":0,"total":1,"data":"{\"op\":\"cancel_action_goal\",\"id\":\"g\",\"action\":\"/text\"}"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBusy(t, nil)
				b.p.send(text)
				b.p.until(fmt.Sprintf(cancelled, "g")) // and the worker has not moved
				close(b.release)
				b.p.until(`{"op":"action_result","id":"long","action":"/busy","values":{"error_code":0,"error_string":"at last"},"status":4,"result":true}`)
				b.p.settle()
			})
		})
	}
}

func TestACancelThatOvertakesItsGoalEndsIt(t *testing.T) {
	for name, text := range map[string]string{
		"one": `{"op":"cancel_action_goal","id":"late","action":"/text"}`,
		"all": `{"op":"publish","topic":"/text/cancel","msg":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBusy(t, nil)
				b.p.send(strings.Replace(fmt.Sprintf(sendText, "wait"), `"g"`, `"late"`, 1))
				b.p.send(text)
				synctest.Wait()
				close(b.release)
				b.p.until(`{"op":"action_result","id":"late","action":"/text","values":"*","status":5,"result":true}`)
				if len(b.came) != 0 {
					t.Error("the goal began")
				}
			})
		})
	}
}

// TestACancelOfAllSparesWhatOthersSentLater: in its turn an old cancel is for the goals of
// its own client alone.
func TestACancelOfAllSparesWhatOthersSentLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBusy(t, nil)
		b.p.send(`{"op":"publish","topic":"/text/cancel","msg":{}}`)
		b.p.until(fmt.Sprintf(cancelled, "g"))
		other := b.dial()
		other.send(strings.Replace(fmt.Sprintf(sendText, "wait"), `"g"`, `"new"`, 1))
		theirs := <-b.came
		close(b.release)
		b.p.settle()
		if s := theirs.State(); !s.Running() {
			t.Errorf("the goal of another client is %v", s)
		}
	})
}

// settle makes sure that everything sent so far has been obeyed, whatever else is there to
// be read.
func (p *peer) settle() {
	p.t.Helper()
	p.send(`{"op":"no_such_op","id":"sync"}`)
	p.until(`{"op":"status","id":"sync","level":"error","msg":"~no_such_op"}`)
}

// slowGoals is a server of goals that takes its time to read one.
type slowGoals struct {
	reading, release chan struct{}
	cancelled        chan action.ID
}

func (s *slowGoals) Submit(graph.GoalRequest, *graph.GoalView) (action.ID, error) {
	close(s.reading)
	<-s.release
	return "", errors.New("it was not worth reading")
}

func (s *slowGoals) Cancel(_ string, id action.ID, _ action.Time) int {
	s.cancelled <- id
	return 1
}

func (s *slowGoals) Stop(bool) {}

// TestACancelReachesAServerThatStillReadsTheGoal, from its own client and from another.
func TestACancelReachesAServerThatStillReadsTheGoal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		goals := &slowGoals{reading: make(chan struct{}), release: make(chan struct{}), cancelled: make(chan action.ID, 1)}
		typ, _, err := registry.ActionNamed("text_msgs/TextAction")
		if err != nil {
			t.Fatal(err)
		}
		must(b.g.ServeGoals("slow_reader", typ, goals, graph.ActionOptions{}))
		own, other := b.dial(), b.dial()
		own.send(`{"op":"send_action_goal","id":"g","action":"/slow_reader","args":{}}`)
		<-goals.reading
		own.send(`{"op":"cancel_action_goal","id":"g","action":"/slow_reader"}`)
		if id := <-goals.cancelled; id == "" {
			t.Error("the cancel of its own client names no goal")
		}
		other.send(`{"op":"call_service","service":"/slow_reader/_action/cancel_goal"}`)
		if id := <-goals.cancelled; id != "" {
			t.Errorf("the cancel of another client is for %q", id)
		}
		close(goals.release)
		own.until(`{"op":"action_result","id":"g","action":"/slow_reader","values":"~not worth reading","status":6,"result":false,"explanations":"*"}`)
	})
}

func TestMessagesKeepTheirOrderBehindABusyWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBusy(t, nil)
		sub := must(b.g.Subscribe("/chatter", graph.SubscribeOptions{QoS: graph.QoS{Depth: 100}}))
		for i := range 100 {
			b.p.send(fmt.Sprintf(`{"op":"publish","topic":"/chatter","msg":{"data":"%d"}}`, i))
		}
		close(b.release)
		for i := range 100 {
			m, _, err := sub.Next(t.Context())
			if err != nil || m.Value.(*msgs.String).Data != fmt.Sprint(i) {
				t.Fatalf("message %d is %+v, %v", i, m, err)
			}
		}
	})
}

// TestWhatWaitsForTheWorkerIsBounded: beyond the bound a message is refused, and the
// socket is still read.
func TestWhatWaitsForTheWorkerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBusy(t, nil)
		big := strings.Repeat("x", 5<<20)
		for range 4 {
			b.p.send(`{"op":"call_service","id":"big","service":"/set","args":{"x":"` + big + `"}}`)
		}
		b.p.until(`{"op":"service_response","id":"big","service":"/set","values":"~too many bytes wait to be worked on: the limit is 17825792","result":false}`)
		b.p.send(`{"op":"cancel_action_goal","id":"g","action":"/text"}`)
		b.p.until(fmt.Sprintf(cancelled, "g"))
		close(b.release)
		b.p.settle()
	})
}
