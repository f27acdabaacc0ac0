// Package frame is the grammar of rosbridge v2: what one WebSocket frame says.
//
// A frame is an object with a word "op"; the other members depend on it:
//
//	{"op":"publish","topic":"/joint_states","msg":{…}}
//
// Parse reads a text frame, ParseCBOR a binary one, both into a Message, whose
// ROS-shaped parts (msg, args, values) stay JSON text until somebody knows their
// type. Append writes a Message, PublishCBOR and PublishRaw a message of a topic in
// the compressions cbor and cbor-raw; Joiner and Split take long messages together and apart. Nothing here
// knows a socket, a clock or the graph.
//
// Reading is tolerant where clients differ (ids may be strings or whole numbers,
// members that we do not know are named in Unknown) and strict where a mistake
// would pass in silence (a member of the wrong kind is an error with its name).
//
// # References
//
//   - rosbridge v2 protocol specification, RobotWebTools/rosbridge_suite, branch ros2.
//   - RFC 8949 (CBOR), RFC 8746 (its typed arrays).
package frame
