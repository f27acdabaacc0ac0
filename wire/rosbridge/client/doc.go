// Package client is the other end of rosbridge: how Go programs use a Poise, or
// any robot behind a rosbridge server, over a WebSocket.
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
// A connection that breaks is made again, with growing pauses, and what was
// subscribed to and advertised is so again. Calls and goals under way end with
// ErrDisconnected: the server may have obeyed or not, and a goal may still run.
//
// Readers never delay the connection: a Subscription keeps a bounded
// number of messages and counts what it had to drop.
//
// An action type of ROS 1's form (pkg/XAction) is spoken to over its five topics,
// as servers of ROS 1 need it; any other by the action ops of ROS 2.
package client
