// Package ros1 shows a graph to ROS 1: as one node with topics, services and actions, by
// XML-RPC and TCPROS, with no ROS beside it. It joins a master, or is one itself.
//
//	w, err := ros1.New(g, ros1.Config{Master: "http://127.0.0.1:11311"})
//	err = w.Run(ctx)
//
// # How names meet
//
// What the graph's own side publishes and serves is registered at the master under the same
// names, in the node's namespace and remapped (Names). What it reads, action goals among
// it, the node subscribes to. Other ROS nodes are clients in the graph, by their own node
// names, from their first connection until their last has ended and the master does not
// know them any more. What one ROS node publishes and another reads goes between them
// directly, and never through here a second time.
//
// With Imports the topics, services and actions of other nodes are in the graph, too, those of
// known types: topics are read when somebody wants them, calls go to the node that has them,
// goals over actionlib's topics.
//
// The node sees to it that the master has everything registered: it waits for a master that
// is not there, notices one that came back empty, and takes its names back at the end.
//
// # Rules
//
//   - Without Open everything listens on loopback, and connects to this machine alone.
//   - A stop is taken from a connection's first bytes, ahead of every limit (package stop).
//   - Queues are the graph's: a slow reader loses the oldest messages, which are counted.
//   - Nothing here runs in the cycle, and no peer is waited for by another.
package ros1
