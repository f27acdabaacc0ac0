package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"poise/graph"
	"poise/msgs"
	"poise/wire/rosbridge"
	"poise/wire/rosbridge/client"
)

func Example() {
	// a server with one service
	g := graph.New(graph.Options{})
	defer g.Close()
	_, err := graph.Service(g, "wave", func(_ context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		return &msgs.SetBoolResponse{Success: q.Data, Message: "waved"}, nil
	}, graph.ServiceOptions{})
	if err != nil {
		panic(err)
	}
	bridge := rosbridge.New(g, rosbridge.Config{})
	defer bridge.Close()
	web := httptest.NewServer(bridge)
	defer web.Close()

	// and a client that calls it
	ctx := context.Background()
	c, err := client.Dial(ctx, "ws"+strings.TrimPrefix(web.URL, "http"), client.Options{})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	values, err := c.Call(ctx, "/wave", client.Text(&msgs.SetBoolRequest{Data: true}, msgs.ROS2))
	fmt.Println(string(values), err)
	_, err = c.Call(ctx, "/dance", nil)
	fmt.Println(err)
	// Output:
	// {"success":true,"message":"waved"} <nil>
	// there is no service /dance
}
