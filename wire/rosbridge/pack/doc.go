// Package pack writes messages as bytes: CBOR for clients that ask for
// compression, and ROS's own serializations for those that ask for the raw form.
//
//	pack.CBOR(nil, &state, msgs.ROS2)   // {"name":[…],"position":‹typed array›,…}
//	pack.Raw(nil, &state, msgs.ROS1)    // as ROS 1 peers and bags have it
//	pack.Raw(nil, &state, msgs.ROS2)    // CDR, as ROS 2 peers have it
//
// Fields, their order and their names in either form come from the struct tags
// that msgs/registry reads: json, ros1, form. Lists of numbers become typed
// arrays of RFC 8746, little-endian, as rosbridge sends them; bytes a byte string.
//
// # References
//
//   - RFC 8949 (CBOR), RFC 8746 (typed arrays).
//   - ROS 1: wiki.ros.org/roscpp/Overview/MessagesSerializationAndAdaptingTypes.
//   - DDS-XTYPES 1.3, section 7.4.1: XCDR version 1, plain encoding.
package pack
