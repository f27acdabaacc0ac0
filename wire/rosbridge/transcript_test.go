package rosbridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/wire/rosbridge"
	"poise/wire/rosbridge/frame"
)

// These tests are transcripts: each op, frame by frame, as a client without any
// library would send and see it.

func TestSubscribeAndPublish(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"subscribe","id":"s1","topic":"/chatter","type":"std_msgs/msg/String"}`)
	p.sync()
	b.chatter.Publish(&msgs.String{Data: "hällo"})
	p.expect(`{"op":"publish","topic":"/chatter","msg":{"data":"hällo"}}`)
	p.send(`{"op":"unsubscribe","id":"s1","topic":"/chatter"}`)
	p.sync()
	b.chatter.Publish(&msgs.String{Data: "without a listener"})
	p.sync()
}

func TestNamesComeBackAsSpelled(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"subscribe","topic":"chatter"}`)
	p.sync()
	b.chatter.Publish(&msgs.String{Data: "x"})
	p.expect(`{"op":"publish","topic":"chatter","msg":{"data":"x"}}`)
}

func TestTheTypeNameChoosesTheForm(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	for _, tc := range []struct{ typeName, header string }{
		{"sensor_msgs/msg/JointState", `{"stamp":{"sec":3,"nanosec":4},"frame_id":"base"}`},
		{"sensor_msgs/JointState", `{"seq":0,"stamp":{"secs":3,"nsecs":4},"frame_id":"base"}`},
		{"", `{"stamp":{"sec":3,"nanosec":4},"frame_id":"base"}`},
	} {
		p := b.dial()
		p.send(fmt.Sprintf(`{"op":"subscribe","topic":"/joint_states","type":%q}`, tc.typeName))
		// latched: it comes without being published again
		p.expect(`{"op":"publish","topic":"/joint_states","msg":{"header":` + tc.header +
			`,"name":["a","b"],"position":[1.5,-2],"velocity":[],"effort":[]}}`)
	}
}

func TestOneTopicOneFormPerConnection(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"subscribe","id":1,"topic":"/chatter","type":"std_msgs/msg/String"}`)
	p.send(`{"op":"subscribe","id":2,"topic":"/chatter","type":"std_msgs/String"}`)
	p.expect(`{"op":"status","id":2,"level":"error","msg":"~one topic has one form"}`)
	p.send(`{"op":"subscribe","id":3,"topic":"/chatter","type":"std_msgs/msg/Bool"}`)
	p.expect(`{"op":"status","id":3,"level":"error","msg":"~topic /chatter has type std_msgs/msg/String"}`)
}

func TestTwoSubscriptionsGetEachMessageOnce(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"subscribe","id":"a","topic":"/chatter"}`)
	p.send(`{"op":"subscribe","id":"b","topic":"/chatter"}`)
	p.sync()
	b.chatter.Publish(&msgs.String{Data: "1"})
	p.expect(`{"op":"publish","topic":"/chatter","msg":{"data":"1"}}`)
	p.sync()
	p.send(`{"op":"unsubscribe","id":"a","topic":"/chatter"}`)
	p.sync()
	b.chatter.Publish(&msgs.String{Data: "2"})
	p.expect(`{"op":"publish","topic":"/chatter","msg":{"data":"2"}}`)
	p.send(`{"op":"unsubscribe","topic":"/chatter"}`)
	p.send(`{"op":"unsubscribe","id":"b","topic":"/chatter"}`)
	p.expect(`{"op":"status","id":"b","level":"error","msg":"~\"/chatter\" is not subscribed"}`)
}

func TestALateSubscriptionGetsWhatIsLatched(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	for id := range 3 {
		p.send(fmt.Sprintf(`{"op":"subscribe","id":%d,"topic":"/joint_states","type":"sensor_msgs/msg/JointState"}`, id))
		p.expect(`{"op":"publish","topic":"/joint_states","msg":"*"}`)
	}
	p.send(`{"op":"subscribe","id":0,"topic":"/joint_states"}`) // known already
	p.sync()
}

func TestAdvertiseAndPublish(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	sub := must(b.g.Subscribe("mine", graph.SubscribeOptions{}))
	p := b.dial()
	p.send(`{"op":"advertise","id":"a1","topic":"/mine","type":"std_msgs/String","latch":true,"queue_size":5}`)
	p.send(`{"op":"publish","id":"p1","topic":"/mine","msg":{"data":"one"},"latch":true}`)
	m, _, err := sub.Next(t.Context())
	if err != nil || m.Value.(*msgs.String).Data != "one" {
		t.Fatal(m, err)
	}
	if m.From != "/rosbridge/client_1" {
		t.Errorf("from %s", m.From)
	}
	late := b.dial()
	late.send(`{"op":"subscribe","topic":"/mine"}`)
	late.expect(`{"op":"publish","topic":"/mine","msg":{"data":"one"}}`)

	p.send(`{"op":"unadvertise","id":"a1","topic":"/mine"}`)
	p.send(`{"op":"unadvertise","id":"a1","topic":"/mine"}`)
	p.expect(`{"op":"status","id":"a1","level":"error","msg":"~\"/mine\" is not advertised"}`)
}

func TestPublishOnATopicThatExistsNeedsNoAdvertise(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	sub := must(b.g.Subscribe("chatter", graph.SubscribeOptions{}))
	p := b.dial()
	p.send(`{"op":"publish","topic":"chatter","msg":{"data":"me too"}}`)
	if m, _, err := sub.Next(t.Context()); err != nil || m.Value.(*msgs.String).Data != "me too" {
		t.Fatal(m, err)
	}
}

func TestWhatIsUnknownIsNamed(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	for _, tc := range []struct{ name, send, want string }{
		{"op", `{"op":"dance","id":1}`, `the op \"dance\" is not known`},
		{"no op", `{"id":1}`, `\"op\" is missing`},
		{"topic to read", `{"op":"subscribe","id":1,"topic":"/nowhere"}`, `\"/nowhere\" is not known`},
		{"topic to write", `{"op":"publish","id":1,"topic":"/nowhere","msg":{}}`, `\"/nowhere\" is not known`},
		{"topic missing", `{"op":"subscribe","id":1}`, `\"topic\" is missing`},
		{"type of a topic", `{"op":"subscribe","id":1,"topic":"/x","type":"std_msgs/msg/Strng"}`, `std_msgs/msg/Strng`},
		{"type to advertise", `{"op":"advertise","id":1,"topic":"/x","type":"a/B"}`, `\"a/B\" is not known`},
		{"type not given", `{"op":"advertise","id":1,"topic":"/x"}`, `\"type\" is missing`},
		{"another type", `{"op":"advertise","id":1,"topic":"/chatter","type":"std_msgs/Bool"}`, `has type std_msgs/msg/String`},
		{"a bad name", `{"op":"advertise","id":1,"topic":"/a//b c","type":"std_msgs/Bool"}`, `/a//b c`},
		{"field", `{"op":"publish","id":1,"topic":"/chatter","msg":{"dat":"x"}}`, `dat`},
		{"kind of a field", `{"op":"publish","id":1,"topic":"/chatter","msg":{"data":5}}`, `data`},
		{"msg missing", `{"op":"publish","id":1,"topic":"/chatter"}`, `\"msg\" is missing`},
		{"service type", `{"op":"advertise_service","id":1,"service":"/s","type":"a/B"}`, `\"a/B\" is not known`},
		{"service taken", `{"op":"advertise_service","id":1,"service":"/set","type":"std_srvs/SetBool"}`, `/set is served`},
		{"service to take back", `{"op":"unadvertise_service","id":1,"service":"/s"}`, `\"/s\" is not advertised`},
		{"answer to nothing", `{"op":"service_response","id":1,"service":"/s","values":{},"result":true}`, `no call waits`},
		{"action type", `{"op":"advertise_action","id":1,"action":"/s","type":"a/B"}`, `\"a/B\" is not known`},
		{"action to take back", `{"op":"unadvertise_action","id":1,"action":"/s"}`, `\"/s\" is not advertised`},
		{"goal to cancel", `{"op":"cancel_action_goal","id":1,"action":"/text"}`, `no goal with the id`},
		{"feedback on nothing", `{"op":"action_feedback","id":1,"action":"/a","values":{}}`, `no goal with the id`},
		{"result of nothing", `{"op":"action_result","id":1,"action":"/a","values":{},"status":4,"result":true}`, `no goal with the id`},
		{"level", `{"op":"set_level","id":1,"level":"loud"}`, `level is \"loud\"`},
		{"png", `{"op":"png","id":1,"data":""}`, `PNG compression is not served`},
		{"png for a topic", `{"op":"subscribe","id":1,"topic":"/chatter","compression":"png"}`, `compression \"png\" is not served`},
		{"bson for a topic", `{"op":"subscribe","id":1,"topic":"/chatter","compression":"bson"}`, `compression \"bson\" is not served`},
		{"rate", `{"op":"subscribe","id":1,"topic":"/chatter","throttle_rate":-1}`, `throttle_rate is -1`},
		{"queue", `{"op":"subscribe","id":1,"topic":"/chatter","queue_length":-1}`, `queue_length is -1`},
		{"size", `{"op":"subscribe","id":1,"topic":"/chatter","fragment_size":-1}`, `fragment_size is -1`},
		{"op", `{"op":"subscrbe","id":1}`, `the op \"subscrbe\" is not known here; did you mean \"subscribe\"?`},
		{"member of a wrong kind", `{"op":"subscribe","id":1,"topic":7}`, `topic: want a string, got a number`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p.t = t
			p.send(tc.send)
			p.expect(`{"op":"status","id":1,"level":"error","msg":"~` + tc.want + `"}`)
		})
	}
	p.t = t
	p.send(`not JSON`)
	p.expect(`{"op":"status","level":"error","msg":"~not JSON"}`)
	p.send(`[1,2]`)
	p.expect(`{"op":"status","level":"error","msg":"~a frame is an object"}`)
	p.send(`{"op":"subscribe","topic":"/chatter","qos":1}`)
	p.expect(`{"op":"status","level":"warning","msg":"~\"qos\""}`)
	p.send(`{"op":"subscribe","topic":"/chatter","qos":1}`) // told once
	p.sync()
}

func TestCallService(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	for _, tc := range []struct{ name, send, want string }{
		{"arguments as an object", `{"op":"call_service","id":"c","service":"/set","args":{"data":true}}`,
			`{"op":"service_response","id":"c","service":"/set","values":{"success":true,"message":"was told"},"result":true}`},
		{"arguments as a list", `{"op":"call_service","id":7,"service":"set","args":[true]}`,
			`{"op":"service_response","id":7,"service":"set","values":{"success":true,"message":"was told"},"result":true}`},
		{"no arguments, no id", `{"op":"call_service","service":"/set"}`,
			`{"op":"service_response","service":"/set","values":{"success":false,"message":"was told"},"result":true}`},
		{"a refusal", `{"op":"call_service","id":"c","service":"/fail","args":{}}`,
			`{"op":"service_response","id":"c","service":"/fail","values":"~knee says no","result":false}`},
		{"a timeout", `{"op":"call_service","id":"c","service":"/slow","args":{},"timeout":0.05}`,
			`{"op":"service_response","id":"c","service":"/slow","values":"~/slow","result":false}`},
		{"no such service", `{"op":"call_service","id":"c","service":"/nope"}`,
			`{"op":"service_response","id":"c","service":"/nope","values":"~/nope","result":false}`},
		{"no such field", `{"op":"call_service","id":"c","service":"/set","args":{"dta":1}}`,
			`{"op":"service_response","id":"c","service":"/set","values":"~dta","result":false}`},
		{"another type", `{"op":"call_service","id":"c","service":"/set","type":"std_srvs/Trigger"}`,
			`{"op":"service_response","id":"c","service":"/set","values":"~std_srvs/srv/SetBool","result":false}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p.t = t
			p.send(tc.send)
			p.expect(tc.want)
		})
	}
}

func TestAdvertiseService(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p, q := b.dial(), b.dial()
	p.send(`{"op":"advertise_service","service":"/double","type":"std_srvs/srv/SetBool"}`)
	p.sync()
	q.send(`{"op":"call_service","id":"c1","service":"/double","args":{"data":true}}`)
	p.expect(`{"op":"call_service","id":"service_request:/double:1","service":"/double","args":{"data":true}}`)
	p.send(`{"op":"service_response","id":"service_request:/double:1","service":"/double","values":{"success":true,"message":"by a client"},"result":true}`)
	q.expect(`{"op":"service_response","id":"c1","service":"/double","values":{"success":true,"message":"by a client"},"result":true}`)

	q.send(`{"op":"call_service","id":"c2","service":"/double","args":{}}`)
	p.expect(`{"op":"call_service","id":"service_request:/double:2","service":"/double","args":{"data":false}}`)
	p.send(`{"op":"service_response","id":"service_request:/double:2","service":"/double","values":"I will not","result":false}`)
	q.expect(`{"op":"service_response","id":"c2","service":"/double","values":"~I will not","result":false}`)

	q.send(`{"op":"call_service","id":"c3","service":"/double","args":{}}`)
	p.expect(`{"op":"call_service","id":"service_request:/double:3","service":"/double","args":{"data":false}}`)
	p.send(`{"op":"service_response","id":"service_request:/double:3","service":"/double","values":{"sucess":true},"result":true}`)
	p.expect(`{"op":"status","id":"service_request:/double:3","level":"error","msg":"~sucess"}`)
	q.expect(`{"op":"service_response","id":"c3","service":"/double","values":"~sucess","result":false}`)

	// a call that waits ends with its server
	q.send(`{"op":"call_service","id":"c4","service":"/double","args":{}}`)
	p.expect(`{"op":"call_service","id":"*","service":"/double","args":{"data":false}}`)
	p.conn.CloseNow()
	q.expect(`{"op":"service_response","id":"c4","service":"/double","values":"~/double","result":false}`)
	wait(t, "the service is gone", func() bool {
		_, err := b.g.CallJSON(t.Context(), "/double", "", nil)
		return err != nil && strings.Contains(err.Error(), "there is no service")
	})
}

func TestUnadvertiseService(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"advertise_service","service":"/mine","type":"std_srvs/Trigger"}`)
	p.send(`{"op":"unadvertise_service","service":"/mine"}`)
	p.send(`{"op":"call_service","id":1,"service":"/mine"}`)
	p.expect(`{"op":"service_response","id":1,"service":"/mine","values":"~/mine","result":false}`)
}

const sendText = `{"op":"send_action_goal","id":"g","action":"/text","action_type":"text_msgs/action/TextAction","feedback":true,"args":{"command":{"command":%q}}}`

func TestSendActionGoal(t *testing.T) {
	for _, tc := range []struct {
		name, command string
		want          []string
	}{
		{"succeeds", "count", []string{
			`{"op":"action_feedback","id":"g","action":"/text","values":{"status":"1"}}`,
			`{"op":"action_feedback","id":"g","action":"/text","values":{"status":"2"}}`,
			`{"op":"action_feedback","id":"g","action":"/text","values":{"status":"3"}}`,
			`{"op":"action_result","id":"g","action":"/text","values":{"error_code":0,"error_string":"counted"},"status":4,"result":true}`}},
		{"is aborted", "fall", []string{
			`{"op":"action_result","id":"g","action":"/text","values":{"error_code":0,"error_string":"fell"},"status":6,"result":true}`}},
		{"is rejected", "refuse", []string{
			`{"op":"action_result","id":"g","action":"/text","values":"the left knee is hot","status":6,"result":false}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, rosbridge.Config{})
			p := b.dial()
			p.send(fmt.Sprintf(sendText, tc.command))
			for _, w := range tc.want {
				p.expect(w)
			}
			// the id may be used again once the goal is over
			p.send(fmt.Sprintf(sendText, "refuse"))
			p.expect(`{"op":"action_result","id":"g","action":"/text","values":"the left knee is hot","status":6,"result":false}`)
		})
	}
}

func TestFeedbackOnlyIfAskedFor(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"send_action_goal","id":"g","action":"/text","args":{"command":{"command":"count"}}}`)
	p.expect(`{"op":"action_result","id":"g","action":"/text","values":{"error_code":0,"error_string":"counted"},"status":4,"result":true}`)
}

func TestGoalThatNeverRan(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	for _, tc := range []struct{ name, send, why, code string }{
		{"no such action", `{"op":"send_action_goal","id":"g","action":"/nope","args":{}}`, "/nope", "unknown_action"},
		{"no such type", `{"op":"send_action_goal","id":"g","action":"/text","action_type":"a/action/B","args":{}}`, "a/action/B", "bad_request"},
		{"another type", `{"op":"send_action_goal","id":"g","action":"/text","action_type":"control_msgs/action/FollowJointTrajectory","args":{}}`, "has type text_msgs/action/TextAction", "wrong_type"},
		{"no such field", `{"op":"send_action_goal","id":"g","action":"/text","args":{"comand":1}}`, "comand", "bad_request"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p.t = t
			p.send(tc.send)
			p.expect(`{"op":"action_result","id":"g","action":"*","values":"~` + tc.why + `","status":6,"result":false,"explanations":[{"code":"` + tc.code +
				`","text":"~` + tc.why + `","joint":"","resource":"","owner":"","help":"","at":0,"value":0,"limit":0}]}`)
		})
	}
}

func TestCancelActionGoal(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(fmt.Sprintf(sendText, "wait"))
	<-b.came
	p.send(fmt.Sprintf(sendText, "wait")) // the id is in use
	p.expect(`{"op":"status","id":"g","level":"error","msg":"~is under way"}`)
	p.send(`{"op":"cancel_action_goal","id":"g","action":"/text"}`)
	p.expect(`{"op":"action_result","id":"g","action":"/text","values":{"error_code":0,"error_string":"stopped"},"status":5,"result":true}`)
}

func TestCancelAllByService(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(fmt.Sprintf(sendText, "wait"))
	<-b.came
	p.send(`{"op":"call_service","service":"/text/_action/cancel_goal","args":{}}`)
	p.until(`{"op":"action_result","id":"g","action":"/text","values":{"error_code":0,"error_string":"stopped"},"status":5,"result":true}`)
}

func TestReplacedGoal(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(fmt.Sprintf(sendText, "wait"))
	<-b.came
	p.send(strings.Replace(fmt.Sprintf(sendText, "wait"), `"g"`, `"h"`, 1))
	p.expect(`{"op":"action_result","id":"g","action":"/text","values":{"error_code":0,"error_string":"replaced"},"status":6,"result":true}`)

	// the same by ROS 1's topics: preempted
	ros1 := b.dial()
	ros1.send(`{"op":"subscribe","topic":"/text/result","type":"text_msgs/TextActionActionResult"}`)
	goal := `{"op":"publish","topic":"/text/goal","msg":{"goal_id":{"id":%q},"goal":{"command":{"command":"wait"}}}}`
	ros1.send(`{"op":"advertise","topic":"/text/goal","type":"text_msgs/TextActionActionGoal"}`)
	ros1.send(fmt.Sprintf(goal, "one"))
	ros1.send(fmt.Sprintf(goal, "two"))
	ros1.until(`{"op":"publish","topic":"/text/result","msg":{"header":"*","status":{"goal_id":{"stamp":"*","id":"one"},"status":2,"text":"a newer goal came"},
		"result":{"error_code":0,"error_string":"replaced"}}}`)
}

func TestGoalsOfROS1(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"advertise","topic":"/text/goal","type":"text_msgs/TextActionActionGoal"}`)
	p.send(`{"op":"advertise","topic":"/text/cancel","type":"actionlib_msgs/GoalID"}`)
	p.send(`{"op":"subscribe","topic":"/text/result","type":"text_msgs/TextActionActionResult"}`)
	p.send(`{"op":"subscribe","topic":"/text/feedback","type":"text_msgs/TextActionActionFeedback"}`)
	p.send(`{"op":"subscribe","topic":"/text/status","type":"actionlib_msgs/GoalStatusArray"}`)
	// there is a status before there is a goal: that is how clients know the server
	p.until(`{"op":"publish","topic":"/text/status","msg":{"header":{"seq":"*","stamp":{"secs":"*","nsecs":"*"},"frame_id":""},"status_list":[]}}`)
	p.send(`{"op":"publish","topic":"/text/goal","msg":{"goal_id":{"stamp":{"secs":0,"nsecs":0},"id":"g1"},"goal":{"command":{"command":"wait"}}}}`)
	p.until(`{"op":"publish","topic":"/text/status","msg":{"header":"*","status_list":[{"goal_id":{"stamp":"*","id":"g1"},"status":1,"text":"*"}]}}`)
	(<-b.came).Feedback(&msgs.TextActionFeedback{Status: "half"})
	p.until(`{"op":"publish","topic":"/text/feedback","msg":{"header":"*","status":{"goal_id":{"stamp":"*","id":"g1"},"status":1,"text":"*"},"feedback":{"status":"half"}}}`)
	p.send(`{"op":"publish","topic":"/text/cancel","msg":{"id":"g1"}}`)
	p.until(`{"op":"publish","topic":"/text/result","msg":{"header":"*","status":{"goal_id":{"stamp":"*","id":"g1"},"status":2,"text":"as asked"},
		"result":{"error_code":0,"error_string":"stopped"}}}`)
	p.send(`{"op":"publish","topic":"/text/goal","msg":{"goal_id":{"id":"g2"},"goal":{"command":{"command":"refuse"}}}}`)
	p.until(`{"op":"publish","topic":"/text/result","msg":{"header":"*","status":{"goal_id":{"stamp":"*","id":"g2"},"status":5,"text":"the left knee is hot"},"result":"*"}}`)
}

func TestAdvertiseAction(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p, q := b.dial(), b.dial()
	p.send(`{"op":"advertise_action","action":"/climb","type":"text_msgs/action/TextAction"}`)
	p.sync()
	goal := strings.Replace(fmt.Sprintf(sendText, "up"), "/text", "/climb", 1)
	incoming := func() string {
		t.Helper()
		m, err := frame.Parse(p.read())
		if err != nil || m.Op != frame.SendActionGoal || m.Action != "/climb" || m.ActionType != "text_msgs/action/TextAction" || !strings.Contains(string(m.Args), `"up"`) {
			t.Fatalf("came %+v, %v", m, err)
		}
		return m.ID
	}
	q.send(goal)
	id := incoming()
	p.send(`{"op":"action_feedback","id":` + id + `,"action":"/climb","values":{"status":"step"}}`)
	q.expect(`{"op":"action_feedback","id":"g","action":"/climb","values":{"status":"step"}}`)
	p.send(`{"op":"action_feedback","id":` + id + `,"action":"/climb","values":{"stat":"step"}}`)
	p.expect(`{"op":"status","id":` + id + `,"level":"error","msg":"~stat"}`)
	p.send(`{"op":"action_result","id":` + id + `,"action":"/climb","values":{"error_string":"top"},"status":4,"result":true}`)
	q.expect(`{"op":"action_result","id":"g","action":"/climb","values":{"error_code":0,"error_string":"top"},"status":4,"result":true}`)

	q.send(goal)
	id = incoming()
	q.send(`{"op":"cancel_action_goal","id":"g","action":"/climb"}`)
	p.expect(`{"op":"cancel_action_goal","id":` + id + `,"action":"/climb"}`)
	p.send(`{"op":"action_result","id":` + id + `,"action":"/climb","values":{},"status":5,"result":true}`)
	q.expect(`{"op":"action_result","id":"g","action":"/climb","values":{"error_code":0,"error_string":""},"status":5,"result":true}`)

	q.send(goal)
	id = incoming()
	p.send(`{"op":"action_result","id":` + id + `,"action":"/climb","status":6,"result":false}`)
	q.expect(`{"op":"action_result","id":"g","action":"/climb","values":{"error_code":-1,"error_string":"its server gives no reason"},"status":6,"result":true}`)

	// what Poise adds to the protocol is passed on
	q.send(goal)
	id = incoming()
	p.send(`{"op":"action_feedback","id":` + id + `,"action":"/climb","values":{"status":"step"},"goal_info":{"phase":"moving","time":1,"duration":2}}`)
	q.expect(`{"op":"action_feedback","id":"g","action":"/climb","values":{"status":"step"},"goal_info":{"id":"","action":"","client":"","state":"","controller":"","phase":"moving","time":1,"duration":2,"rate":0}}`)
	p.send(`{"op":"action_result","id":` + id + `,"action":"/climb","values":{},"status":6,"result":true,"explanations":[{"code":"slippery","text":"it rains","limit":3}]}`)
	q.expect(`{"op":"action_result","id":"g","action":"/climb","values":{"error_code":0,"error_string":""},"status":6,"result":true,"explanations":[{"code":"slippery","text":"it rains","joint":"","resource":"","owner":"","help":"","at":0,"value":0,"limit":3}]}`)

	// a goal whose server vanishes is answered
	q.send(goal)
	incoming()
	p.conn.CloseNow()
	q.expect(`{"op":"action_result","id":"g","action":"/climb","values":"*","status":6,"result":false}`)
}

func TestUnadvertiseAction(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"advertise_action","action":"/climb","type":"text_msgs/TextAction"}`)
	p.send(`{"op":"advertise_action","id":1,"action":"/climb","type":"text_msgs/TextAction"}`)
	p.expect(`{"op":"status","id":1,"level":"error","msg":"~already"}`)
	p.send(`{"op":"unadvertise_action","action":"/climb"}`)
	p.sync()
	if _, err := b.g.CancelGoals("/climb", "", "", 0); err == nil {
		t.Error("the action is still there")
	}
}

func TestFragments(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	// in: a call in three parts, out of order
	for _, f := range []string{
		`{"op":"fragment","id":"f","data":"service\":\"/set\",","num":1,"total":3}`,
		`{"op":"fragment","id":"f","data":"{\"op\":\"call_service\",\"id\":\"c\",\"","num":0,"total":3}`,
		`{"op":"fragment","id":"f","data":"\"args\":{\"data\":true}}","num":2,"total":3}`,
	} {
		p.send(f)
	}
	p.expect(`{"op":"service_response","id":"c","service":"/set","values":{"success":true,"message":"was told"},"result":true}`)
	p.send(`{"op":"fragment","id":"f","data":"{\"op\":\"fragment\"}","num":0,"total":1}`)
	p.expect(`{"op":"status","id":"f","level":"error","msg":"~a fragment itself"}`)
	p.send(`{"op":"fragment","id":"f","data":"{{","num":0,"total":1}`)
	p.expect(`{"op":"status","id":"f","level":"error","msg":"~not JSON"}`)

	// out: a topic and an answer in parts of at most 20 bytes
	join := frame.Joiner{MaxBytes: 1 << 20, MaxOpen: 1, MaxAge: time.Hour}
	together := func(want string) {
		t.Helper()
		for {
			m, err := frame.Parse(p.read())
			if err != nil || m.Op != frame.Fragment || len(m.Data) > 20 {
				t.Fatalf("frame %+v, %v", m, err)
			}
			whole, err := join.Add(m, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if whole == nil {
				continue
			}
			if !like(whole, want) {
				t.Fatalf("joined %s, want %s", whole, want)
			}
			return
		}
	}
	p.send(`{"op":"subscribe","topic":"/joint_states","fragment_size":20}`)
	together(`{"op":"publish","topic":"/joint_states","msg":"*"}`)
	p.send(`{"op":"call_service","id":"c","service":"/set","args":{},"fragment_size":20}`)
	together(`{"op":"service_response","id":"c","service":"/set","values":{"success":false,"message":"was told"},"result":true}`)
	p.send(`{"op":"send_action_goal","id":"g","action":"/text","args":{"command":{"command":"count"}},"fragment_size":20}`)
	together(`{"op":"action_result","id":"g","action":"/text","values":{"error_code":0,"error_string":"counted"},"status":4,"result":true}`)
}

func TestSetLevelAndStatus(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"set_level","level":"none"}`)
	p.send(`{"op":"dance"}`)
	p.send(`{"op":"set_level","level":"error"}`)
	p.send(`{"op":"subscribe","topic":"/chatter","qos":1}`) // only a warning
	p.send(`{"op":"status","level":"info","msg":"hello from a client"}`)
	p.sync()
	p.send(`{"op":"set_level","level":"warning"}`)
	p.send(`{"op":"auth","mac":"m","client":"c","dest":"d","rand":"r","t":0,"level":"admin","end":0}`)
	p.expect(`{"op":"status","level":"warning","msg":"~auth"}`)
}

func TestThrottleRate(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"subscribe","topic":"/chatter","throttle_rate":3600000}`)
	p.sync()
	for i := range 50 {
		b.chatter.Publish(&msgs.String{Data: fmt.Sprint(i)})
	}
	p.expect(`{"op":"publish","topic":"/chatter","msg":{"data":"0"}}`)
	p.sync() // the others wait for their hour
	p.send(`{"op":"subscribe","id":"fast","topic":"/chatter"}`)
	p.sync()
}

func TestCBOR(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(`{"op":"subscribe","topic":"/joint_states","type":"sensor_msgs/msg/JointState","compression":"cbor"}`)
	typ, data, err := p.conn.Read(t.Context())
	if err != nil || typ != websocket.MessageBinary {
		t.Fatal(typ, err)
	}
	// position is a typed array: tag 86, sixteen bytes
	if !strings.Contains(string(data), "\xd8\x56\x50") {
		t.Errorf("no typed array of float64 in %q", data)
	}
	m, err := frame.ParseCBOR(data)
	if err != nil || m.Op != frame.Publish || m.Topic != "/joint_states" || !like(m.Msg, `{"header":{"stamp":{"sec":3,"nanosec":4},"frame_id":"base"},
		"name":["a","b"],"position":[1.5,-2],"velocity":[],"effort":[]}`) {
		t.Errorf("%s, %v", m.Msg, err)
	}

	for name, form := range map[string]msgs.Form{"sensor_msgs/JointState": msgs.ROS1, "sensor_msgs/msg/JointState": msgs.ROS2} {
		raw := b.dial()
		raw.send(`{"op":"subscribe","topic":"/joint_states","type":"` + name + `","compression":"cbor-raw"}`)
		if _, data, err = raw.conn.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		m, err = frame.ParseCBOR(data)
		if err != nil || m.Op != frame.Publish || m.Topic != "/joint_states" || !like(m.Msg, `{"secs":"*","nsecs":"*","bytes":"*"}`) {
			t.Fatalf("%s, %v", m.Msg, err)
		}
		var inside struct{ Bytes []int }
		must(0, json.Unmarshal(m.Msg, &inside))
		var bytes []byte
		for _, x := range inside.Bytes {
			bytes = append(bytes, byte(x))
		}
		typ, _ := registry.For[msgs.JointState]()
		var state msgs.JointState
		if err := codec.For(typ, form).Decode(bytes, &state); err != nil || state.Header.FrameID != "base" || len(state.Name) != 2 || state.Position[1] != -2 {
			t.Errorf("%s: %+v, %v", name, state, err)
		}
	}

	// in: a call as a binary frame; the answer is text, as for every client
	call := []byte("\xa4\x62op\x6ccall_service\x62id\x07\x67service\x64/set\x64args\x81\xf5")
	if err := p.conn.Write(t.Context(), websocket.MessageBinary, call); err != nil {
		t.Fatal(err)
	}
	p.expect(`{"op":"service_response","id":7,"service":"/set","values":{"success":true,"message":"was told"},"result":true}`)
	if err := p.conn.Write(t.Context(), websocket.MessageBinary, []byte(`{"op":"call_service","id":8,"service":"/set"}`)); err != nil {
		t.Fatal(err)
	}
	p.expect(`{"op":"service_response","id":8,"service":"/set","values":{"success":false,"message":"was told"},"result":true}`)
	if err := p.conn.Write(t.Context(), websocket.MessageBinary, []byte{0xff}); err != nil {
		t.Fatal(err)
	}
	p.expect(`{"op":"status","level":"error","msg":"~not CBOR"}`)
}

func TestAudit(t *testing.T) {
	b := newBed(t, rosbridge.Config{})
	p := b.dial()
	p.send(fmt.Sprintf(sendText, "count"))
	p.until(`{"op":"action_result","id":"g","action":"/text","values":"*","status":4,"result":true}`)
	<-b.came
	p.send(strings.Replace(fmt.Sprintf(sendText, "refuse"), `"g"`, `"r"`, 1))
	p.until(`{"op":"action_result","id":"r","action":"/text","values":"*","status":6,"result":false}`)
	p.send(strings.Replace(fmt.Sprintf(sendText, "wait"), `"g"`, `"w"`, 1))
	<-b.came
	p.send(`{"op":"cancel_action_goal","id":"w","action":"/text"}`)
	p.until(`{"op":"action_result","id":"w","action":"/text","values":"*","status":5,"result":true}`)
	p.send(`{"op":"call_service","id":"c","service":"/fail","args":{}}`)
	p.until(`{"op":"service_response","id":"c","service":"/fail","values":"*","result":false}`)
	p.send(`{"op":"publish","topic":"/chatter","msg":{"data":"a"}}`)
	p.send(`{"op":"publish","topic":"/chatter","msg":{"data":"b"}}`)
	p.send(`{"op":"publish","topic":"/text/goal","msg":{"goal_id":{"id":"five"},"goal":{"command":{"command":"fall"}}}}`)
	p.send(`{"op":"call_service","id":"t","service":"/rosapi/get_time","args":{}}`) // asks, moves nothing
	p.until(`{"op":"service_response","id":"t","service":"/rosapi/get_time","values":"*","result":true}`)
	want := []string{
		"goal /text g accepted", "goal /text g succeeded: done", "goal /text r rejected: the left knee is hot",
		"goal /text w accepted", "cancel /text w done", "goal /text w preempted: as asked",
		"call /fail c service /fail: knee says no", "publish /chatter  done", "goal /text five aborted: a leg slipped",
	}
	var got []string
	wait(t, "all entries", func() bool {
		got = nil
		for _, e := range b.entries() {
			got = append(got, fmt.Sprintf("%s %s %s %s", e.Kind, e.Name, e.ID, e.Result))
			if e.Client.Node != "/rosbridge/client_1" || e.Client.Addr == "" || e.Time.IsZero() {
				t.Fatalf("who was it? %+v", e)
			}
		}
		return len(got) >= len(want)
	})
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || g == w
		}
		if !found {
			t.Errorf("no entry %q in\n%s", w, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}

func TestGoalsOfAClientThatVanishes(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		t.Run(fmt.Sprintf("cancel %v", cancel), func(t *testing.T) {
			b := newBed(t, rosbridge.Config{CancelOnDisconnect: cancel})
			p := b.dial()
			p.send(fmt.Sprintf(sendText, "wait"))
			h := <-b.came
			p.conn.CloseNow()
			wait(t, "the client is gone", func() bool { return b.server.Stats().Clients == 0 })
			if got := h.State(); cancel && got != action.Preempted || !cancel && got != action.Active {
				t.Errorf("the goal is %v", got)
			}
		})
	}
}
