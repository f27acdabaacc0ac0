package graph_test

import (
	"context"
	"fmt"

	"poise/graph"
	"poise/msgs"
)

// A component publishes a topic; a wire reads it in the form its client asks for.
func ExampleTopic() {
	g := graph.New(graph.Options{})
	defer g.Close()
	pub, err := graph.Topic[msgs.Header](g, "head", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	pub.Publish(&msgs.Header{Seq: 1, Stamp: msgs.Time{Sec: 5}, FrameID: "base"})

	for _, typeName := range []string{"std_msgs/msg/Header", "std_msgs/Header"} {
		sub, err := g.Subscribe("/head", graph.SubscribeOptions{Type: typeName})
		if err != nil {
			fmt.Println(err)
			return
		}
		m, _, _ := sub.Next(context.Background())
		fmt.Printf("%s\n", m.JSON(sub.Form()))
	}
	_, err = g.Subscribe("/head", graph.SubscribeOptions{Type: "std_msgs/msg/String"})
	fmt.Println(err)
	// Output:
	// {"stamp":{"sec":5,"nanosec":0},"frame_id":"base"}
	// {"seq":1,"stamp":{"secs":5,"nsecs":0},"frame_id":"base"}
	// topic /head has type std_msgs/msg/Header, not std_msgs/msg/String
}

// A component serves a request; a wire calls it with JSON.
func ExampleService() {
	g := graph.New(graph.Options{})
	defer g.Close()
	_, err := graph.Service(g, "set_torque", func(ctx context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		return &msgs.SetBoolResponse{Success: q.Data, Message: "asked by " + graph.Caller(ctx)}, nil
	}, graph.ServiceOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := graph.WithCaller(context.Background(), "the page")
	out, err := g.CallJSON(ctx, "set_torque", "std_srvs/srv/SetBool", []byte(`{"data":true}`))
	fmt.Println(string(out), err)
	_, err = g.CallJSON(ctx, "set_torque", "", []byte(`{"on":true}`))
	fmt.Println(err)
	// Output:
	// {"success":true,"message":"asked by the page"} <nil>
	// on: the message has no such field; it has data
}
