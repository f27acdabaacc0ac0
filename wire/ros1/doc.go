// Package ros1 shows a graph to ROS 1: as one node with topics, services and actions, by
// XML-RPC and TCPROS, with no ROS beside it. It joins a master, or is one itself.
//
//	w, err := ros1.New(g, ros1.Config{Master: "http://127.0.0.1:11311"})
//	err = w.Run(ctx)
//
// # Names
//
// Topics that the graph's own side publishes and services that it serves are registered at the
// master under the same names, in the node's namespace and remapped (Names). The node subscribes
// to the topics that the graph's own side reads, those of action goals among them. Other ROS nodes
// are clients in the graph, by their own node names, from their first connection until the last
// has ended and the master does not list them any more. Messages from one ROS node to another go
// between them directly, and are not relayed here.
//
// With Imports the topics, services and actions of other nodes are in the graph, too, those of
// known types: topics are read while they have subscribers, calls go to the node that has them,
// goals over actionlib's topics.
//
// The node keeps its names registered: it waits for a master that cannot be reached,
// registers again at one that was restarted, and unregisters at the end.
//
// # Rules
//
//   - Without Open everything listens on loopback, and connects to this machine alone.
//   - A stop is taken from a connection's first bytes, ahead of every limit (package stop).
//   - Queues are the graph's: a slow reader loses the oldest messages, which are counted.
//   - Nothing here runs in the cycle, and no peer waits for another.
package ros1
