// Package actions holds the goals of a graph's actions.
//
// An action is one goal server (package action): many goals, each with states,
// feedback and a result that is kept for a while. It is shown twice, as a ROS 2
// action and as ROS 1's five topics NAME/goal, cancel, status, feedback, result.
//
// Components serve them typed:
//
//	s, err := actions.Serve(g, "play_motion", actions.Callbacks[G, F, R]{Goal: …, Cancel: …}, actions.Options{})
//
// Wires use them by name, with values as any or as JSON: ServeType, Send, SendJSON,
// Watch, Cancel, Refuse. State changes and results are never lost on the way to a
// Client; feedback is, oldest first, when the client is slow.
//
// Everything here may be called from any goroutine. Wake functions are called with
// locks held: they may signal, and nothing else.
package actions
