// Package client is a client of rosbridge: Go programs use Poise, or any robot behind
// a rosbridge server, by it over a WebSocket.
//
//	c, err := client.Dial(ctx, "ws://127.0.0.1:8080/rosbridge", client.Options{})
//	defer c.Close()
//	sub, err := c.Subscribe("/joint_states", "sensor_msgs/msg/JointState", client.SubscribeOptions{})
//	msg, lost, err := sub.Next(ctx)                        // JSON text
//	values, err := c.Call(ctx, "/stop", []byte(`{"category":2}`))
//	goal, err := c.SendGoal(ctx, "/play_motion", "text_msgs/action/TextAction", args)
//	for update, err := goal.Next(ctx); …                   // feedback, then the result
//
// Values are JSON text; Read and Text turn them into the structs of msgs and back.
//
// A broken connection is opened again, with growing pauses, and its subscriptions
// and advertisements are restored. Calls and goals under way end with
// ErrDisconnected: the server may have obeyed or not, and a goal may still run.
//
// Readers never delay the connection: a Subscription keeps a bounded
// number of messages and counts what it had to drop.
//
// An action type of ROS 1's form (pkg/XAction) is spoken to over its five topics,
// as servers of ROS 1 need it; any other by the action ops of ROS 2.
package client
