package rosbridge_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/fxamacker/cbor/v2"

	"poise/wire/rosbridge"
)

// A client that waits for an answer gets one, whatever was wrong with the question.

func TestWhatIsNoJSONIsAnsweredIfItSaysWhoAsks(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	const finite = "not JSON: a number that is not finite is written null"
	// Python's json writes NaN, and roslibpy sends it
	p.send(`{"op":"call_service","id":"c","service":"/set","args":{"data":NaN}}`)
	p.expect(`{"op":"service_response","id":"c","service":"/set","values":"` + finite + `","result":false}`)
	// with the id behind what is wrong
	p.send(`{"op":"send_action_goal","action":"/text","args":{"x":["}",-Infinity]},"id":7}`)
	p.expect(`{"op":"action_result","id":7,"action":"/text","values":"~not JSON","status":6,"result":false,"explanations":"*"}`)
	// in a fragment
	p.send(`{"op":"fragment","id":"f","num":0,"total":1,"data":"{\"op\":\"call_service\",\"id\":\"in\",\"service\":\"/set\",\"args\":{"}`)
	p.expect(`{"op":"service_response","id":"in","service":"/set","values":"~the joined message: not JSON","result":false}`)
	p.send(`{"op":"fragment","id":"g","num":0,"total":1,"data":"nonsense"}`)
	p.expect(`{"op":"status","id":"g","level":"error","msg":"~the joined message: not JSON"}`)
	p.sync()
}

func TestCBORThatHoldsTooMuchIsAnswered(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	data := must(cbor.Marshal(map[string]any{"op": "call_service", "id": "c", "service": "/set",
		"args": map[string]any{"data": cbor.Tag{Number: 86, Content: []byte{1, 2, 3}}}}))
	if err := p.conn.Write(t.Context(), websocket.MessageBinary, data); err != nil {
		t.Fatal(err)
	}
	p.expect(`{"op":"service_response","id":"c","service":"/set","values":"~3 bytes are not a whole number of 8-byte numbers","result":false}`)
}

func TestLongIdsAreRefused(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"subscribe","id":"` + strings.Repeat("i", 5000) + `","topic":"/chatter"}`)
	p.expect(`{"op":"status","level":"error","msg":"subscribe: id: 5000 bytes, at most 4096 are kept"}`)
	p.sync()
}

// TestGoalsOfROS1ThatCannotBeReadAreRejected: on the five topics a client hears only
// results.
func TestGoalsOfROS1ThatCannotBeReadAreRejected(t *testing.T) {
	b := newBed(t, rosbridge.Config{Limits: rosbridge.Limits{Goals: 1}})
	p := b.dial()
	p.send(`{"op":"subscribe","topic":"/text/result","type":"text_msgs/TextActionActionResult"}`)
	// and to some a result is worth nothing without a state
	s := b.dial()
	s.send(`{"op":"subscribe","topic":"/text/status","type":"actionlib_msgs/GoalStatusArray"}`)
	s.until(`{"op":"publish","topic":"/text/status","msg":{"header":"*","status_list":[]}}`)
	rejected := func(id, why string) {
		t.Helper()
		p.until(`{"op":"publish","topic":"/text/result","msg":{"header":"*","status":{"goal_id":{"stamp":"*","id":"` + id +
			`"},"status":5,"text":"~` + why + `"},"result":"*"}}`)
	}
	p.send(`{"op":"publish","id":1,"topic":"/text/goal","msg":{"goal_id":{"id":"g1"},"goal":{"comand":{}}}}`)
	rejected("g1", "goal.comand: the message has no such field; it has command")
	s.until(`{"op":"publish","topic":"/text/status","msg":{"header":"*","status_list":[{"goal_id":{"stamp":"*","id":"g1"},"status":5,"text":"~goal.comand"}]}}`)
	p.send(`{"op":"publish","topic":"/text/goal","msg":{"goal":{"x":[NaN]},"goal_id":{"stamp":{"secs":0},"id":"g0"}}}`)
	rejected("g0", "a number that is not finite is written null")
	p.send(`{"op":"publish","id":2,"topic":"/text/goal","msg":{"goal_id":{"id":"g2"},"goal":{"command":{"command":"wait"}}}}`)
	<-b.came
	p.send(`{"op":"publish","id":3,"topic":"/text/goal","msg":{"goal_id":{"id":"g3"},"goal":{"command":{"command":"wait"}}}}`)
	rejected("g3", "too many goals that are not over: the limit is 1")
	// the name of a goal that runs: its own result is still to come
	p.send(`{"op":"publish","id":4,"topic":"/text/goal","msg":{"goal_id":{"id":"g2"},"goal":5}}`)
	p.send(`{"op":"publish","topic":"/text/cancel","msg":{"id":"g2"}}`)
	p.until(`{"op":"publish","topic":"/text/result","msg":{"header":"*","status":{"goal_id":{"stamp":"*","id":"g2"},"status":2,"text":"as asked"},"result":"*"}}`)
}

// TestWithoutATypeTheFormIsROS2s holds for messages that only ROS 1 has, too: viewers
// read them by the definition that rosapi gives.
func TestWithoutATypeTheFormIsROS2s(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	b.forgetGoals()
	p := b.dial()
	p.send(`{"op":"subscribe","topic":"/text/feedback"}`)
	p.send(`{"op":"publish","topic":"/text/goal","msg":{"goal_id":{"id":"g"},"goal":{"command":{"command":"count"}}}}`)
	p.until(`{"op":"publish","topic":"/text/feedback","msg":{"header":{"stamp":{"sec":"*","nanosec":"*"},"frame_id":""},
		"status":{"goal_id":{"stamp":{"sec":"*","nanosec":"*"},"id":"g"},"status":1,"text":"*"},"feedback":{"status":"3"}}}`)
}

func TestOneTopicMayBeAdvertisedInBothDialects(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"advertise","id":1,"topic":"/both","type":"std_msgs/String"}`)
	p.send(`{"op":"advertise","id":2,"topic":"/both","type":"std_msgs/msg/String"}`)
	p.sync()
	p.send(`{"op":"advertise","id":3,"topic":"/both","type":"std_msgs/msg/Bool"}`)
	p.expect(`{"op":"status","id":3,"level":"error","msg":"advertise: /both is advertised already, as std_msgs/msg/String"}`)
	p.send(`{"op":"advertise","id":4,"topic":"/both","type":"no/Such"}`)
	p.expect(`{"op":"status","id":4,"level":"error","msg":"~\"no/Such\" is not known"}`)
}

func TestCallsSayWhyThereIsNoAnswer(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p, q := b.dial(), b.dial()
	p.send(`{"op":"call_service","id":"t","service":"/slow","timeout":0.05}`)
	p.expect(`{"op":"service_response","id":"t","service":"/slow","values":"service /slow did not answer within 50ms","result":false}`)
	q.send(`{"op":"advertise_service","service":"/theirs","type":"std_srvs/srv/Trigger"}`)
	q.sync()
	p.send(`{"op":"call_service","id":"g","service":"/theirs"}`)
	q.expect(`{"op":"call_service","id":"*","service":"/theirs","args":{}}`)
	q.conn.CloseNow()
	p.expect(`{"op":"service_response","id":"g","service":"/theirs","values":"~has gone","result":false}`)
}

func TestAuditLinesStayShort(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"publish","topic":"/text/cancel","msg":{"id":"` + strings.Repeat("é", 100_000) + `"}}`)
	wait(t, "the entry", func() bool { return len(b.entries()) > 0 })
	if e := b.entries()[0]; len(e.ID)+len(e.Name)+len(e.Result) > 1000 {
		t.Errorf("%d bytes for one cancel", len(e.Result))
	}
}

// TestTheLogSaysPlainlyHowClientsLeave: a client that leaves is no failure.
func TestTheLogSaysPlainlyHowClientsLeave(t *testing.T) {
	lines := make(chan string, 100)
	b := newBed(t, rosbridge.Config{Log: slog.New(slog.NewTextHandler(lineWriter(lines), nil))})
	gone := func(want string) {
		t.Helper()
		for line := range lines {
			if strings.Contains(line, "client gone") {
				if !strings.Contains(line, want) || !strings.Contains(line, "level=INFO") {
					t.Errorf("%s does not say %s", line, want)
				}
				return
			}
		}
	}
	p := b.dial()
	p.conn.Close(websocket.StatusNormalClosure, "")
	gone(`why="closed by the client"`)
	b.dial().conn.CloseNow()
	gone(`why="the connection broke"`)
	p = b.dial()
	p.conn.Close(websocket.StatusInternalError, "")
	gone(`why="closed by the client with code 1011"`)
}

// lineWriter hands on what is logged.
type lineWriter chan<- string

func (w lineWriter) Write(b []byte) (int, error) { w <- string(b); return len(b), nil }
