// Package ros2 shows a graph to ROS 2: as one node with topics, services and actions over DDS,
// by package rtps, with no ROS beside it.
//
//	n, err := ros2.New(g, ros2.Config{Domain: 0, Form: msgs.Jazzy})
//	err = n.Run(ctx)
//
// # Names
//
// Topics that the graph's own side publishes and services that it serves are offered under the
// same names, in the node's namespace and remapped (Names): a topic NAME is rt/NAME in DDS, a
// service the pair rq/NAMERequest and rr/NAMEReply, an action three services and two topics below
// NAME/_action. The node reads the topics that the graph's own side reads. Other participants are
// clients in the graph, by the names of their nodes, from the first topic or service that they share
// with it until they leave or their lease expires.
//
// # What ROS 2 cannot express
//
//   - A call that fails is answered by a response whose success is false and whose message
//     says why, if its type has such fields. If it has none it is not answered.
//   - The reason why a goal is refused is in the error_string of its result, which a client may request.
//   - A goal that another one replaced is aborted.
//
// # Rules
//
//   - CDR has no names: peers must speak the distribution of Config.Form where they differ.
//   - Without Open nothing goes to another machine, and nothing is taken from there.
//   - A stop is taken when its request comes, ahead of every limit (package stop).
//   - How requests and answers are correlated differs between middlewares, and is recognised from the request (correlate.go).
//   - Nothing here runs in the cycle, and no peer waits for another.
package ros2
