// Package frame reads and writes the messages of rosbridge v2, one per WebSocket frame.
//
// A frame is an object with a member "op"; the other members depend on it:
//
//	{"op":"publish","topic":"/joint_states","msg":{…}}
//
// Parse reads a text frame, ParseCBOR a binary one, both into a Message, whose
// ROS-shaped parts (msg, args, values) stay JSON text until their type is known. Append
// writes a Message, PublishCBOR and PublishRaw a message of a topic in the compressions
// cbor and cbor-raw; Joiner and Split join and split long messages. Nothing here knows a
// socket, a clock or the graph.
//
// Reading is tolerant where clients differ (ids may be strings or whole numbers,
// members that we do not know are named in Unknown) and strict where a mistake
// would pass unnoticed (a member of the wrong kind is an error with its name).
//
// # References
//
//   - rosbridge v2 protocol specification, RobotWebTools/rosbridge_suite, branch ros2.
//   - RFC 8949 (CBOR), RFC 8746 (its typed arrays).
package frame
