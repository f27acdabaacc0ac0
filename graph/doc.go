// Package graph holds the topics, services and actions of Poise.
//
// A component registers a thing once; every wire shows the same graph. Inside,
// values travel as pointers to the structs of package msgs, and a value that has
// been handed over is never written again. A wire asks a message for its text in
// the form its client wants; it is encoded once, however many clients there are.
//
// Components use the typed functions:
//
//	pub, err := graph.Topic[msgs.JointState](g, "joint_states", graph.TopicOptions{})
//	pub.PublishFunc(func() *msgs.JointState { … })   // costs nothing without subscribers
//	sub, err := graph.Listen[msgs.JointState](g, "joints_ref", graph.SubscribeOptions{QoS: graph.QoS{Depth: 1}})
//	srv, err := graph.Service(g, "stop", func(ctx context.Context, q *poisemsgs.StopRequest) (*poisemsgs.StopResponse, error) { … }, graph.ServiceOptions{})
//	act, err := graph.Action(g, "play_motion", graph.ActionCallbacks[G, F, R]{Goal: …, Cancel: …}, graph.ActionOptions{})
//
// Wires use the methods of Graph, by name and with values as any or as JSON:
// Subscribe, Advertise, Call, CallJSON, Serve; ServeGoals, ServeAction, SendGoal, SendGoalJSON,
// WatchGoal, CancelGoals, RefuseGoal. Each program behind a wire is a Client (Join) with a
// node name of its own: listings show it, and Message.From, Caller and GoalRequest.Caller are the
// publisher of a message, the caller of a service and the sender of a goal. OnLeave tells that a client
// has disconnected. A wire that registers names elsewhere learns from a Watcher what was added, removed or
// changed, without polling:
//
//	w := g.Watch(nil)   // everything that exists comes first
//	for {
//		change, err := w.Next(ctx)
//		info, exists := g.TopicInfo(change.Name)   // or ServiceInfo, ActionInfo
//	}
//
// An action shows goals whose lives a GoalServer owns: the executive of
// a robot, or a handler (ServeAction) with the goal machine of package action. It is
// shown twice, as a ROS 2 action and as ROS 1's five topics NAME/goal, cancel, status,
// feedback, result; results are kept for a while. State changes and results are never
// lost on the way to a GoalClient; feedback is, oldest first, when the client is slow.
//
// # Rules
//
//   - Names are absolute; a leading slash may be left out. Alias gives a name, and
//     all names below it, a second one.
//   - Types come from msgs/registry and are checked at registration, subscription,
//     publication and call. The first to use a topic decides its type, except that a
//     component takes the name from clients that used it with another type.
//   - A component's topic is its own: clients cannot publish on it, unless the component
//     admits some of their messages (TopicOptions.Others). A subscriber of
//     a topic that clients publish may filter likewise (SubscribeOptions.Admit). A client
//     whose message is refused is told so.
//   - A publisher offers a quality of service, a subscriber requests one (QoS). Where the
//     offer does not meet the request no message is delivered, and listings say why.
//   - A subscription has a bounded queue, as deep as it requests or publishers offer.
//     When it is full the oldest message is dropped, and the next one delivered has the
//     number of those lost.
//   - A latched publisher gives its last messages to later subscribers.
//   - A call has a deadline, the caller's or the service's own, and ends when
//     either is over, even if the handler does not listen to its context.
//
// Everything here may be called from any goroutine. Wake functions are called with
// locks held: they may signal, and nothing else.
package graph
