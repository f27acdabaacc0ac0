// Package rosbridge shows the graph to WebSocket clients that speak rosbridge v2:
// roslib in browsers and Node, roslibpy, dashboards. No ROS is needed on either
// side.
//
//	bridge := rosbridge.New(g, rosbridge.Config{Log: log, Audit: audit})
//	http.Handle(rosbridge.Path, bridge)
//	err := bridge.Run(ctx)
//
// A Server is a wire (package wire) and an http.Handler; each connection is a session with five goroutines:
// one reads the socket, one works on what was read, in order, one moves messages of the
// graph into the session's outbox, one writes, one pings. The first decodes nothing and
// waits for nothing, so a cancel acts at once, whatever its client sent before it. No
// client can delay the graph: messages that it does not read in time are dropped, oldest
// first, and a status message tells it how many.
//
// A stream is a topic to which a client subscribes, served are the services and actions that
// it advertises, and both send through its outbox. The packages below are frame, the messages
// on the socket, and client.
//
// # Rules
//
//   - Every op of the protocol is served: topics, services and actions, both those
//     of the graph and those that clients advertise. The five topics of a ROS 1
//     action are the graph's.
//   - A message that cannot be obeyed is answered by a status of level error with the id of the
//     message and the name of what is wrong; a call and a goal by their own negative
//     answer instead. The level at the beginning is warning.
//   - Names come back as the client spelled them, with or without leading slash.
//   - A type name chooses the form of messages: pkg/T is ROS 1's, pkg/msg/T ROS 2's.
//   - Compression none, cbor and cbor-raw are served; png is refused.
//   - A goal that was refused is answered with result false, status 6 and the
//     explanation as values; one that ended otherwise with result true, its result,
//     and status 4 (succeeded), 5 (cancelled) or 6 (aborted, also when a newer goal
//     replaced it).
//   - Goals of a client that goes away run on, unless CancelOnDisconnect says
//     otherwise; everything that it advertised is withdrawn.
//   - Only loopback names may connect; see package wire/loopback.
//
// The protocol has no answer that refuses an advertised topic, no useful authentication
// and no flow control; the limits of this package stand in for the last.
package rosbridge
