// Package codec reads and writes messages as ROS's peers exchange them: ROS 1's
// serialization for the ROS 1 form, CDR for ROS 2's.
//
//	c := codec.For(typ, msgs.ROS2)
//	data = c.Append(data[:0], &state)   // no allocation once data is large enough
//	err := c.Decode(data, &state)
//
// A Codec is a plan of one type in one form, made once from the registry; it may be
// used by any number of goroutines.
//
// # Formats
//
// Both write the fields in order, without names: a number in its own width, a fixed
// list as its items, any other list as a count of 32 bits and its items, a string as
// a count and its bytes, a time or duration as two numbers of 32 bits. ROS 1's format
// is little-endian and has no gaps. CDR (version 1 of XCDR, plain) begins with an
// encapsulation header of four bytes that tells the byte order; numbers are aligned
// to their size, counted from behind that header; a string ends with a zero byte,
// which its count includes; a message without fields is one byte. Append writes
// little-endian CDR, Decode reads either order.
//
// # Reading
//
// Decode never panics, whatever the data is, and takes at most 12 bytes of memory for
// each byte of data: the items of a list are counted against the bytes that are left
// before the list is made. A list beyond the bound of its field is refused. Bytes after
// a ROS 1 message are refused, after CDR they are ignored, since DDS pads and newer
// peers may append fields. Strings are taken as they are, valid UTF-8 or not.
//
// # References
//
//   - wiki.ros.org/ROS/Technical%20Overview, "Message serialization and msg MD5 sums".
//   - DDS-XTYPES 1.3, section 7.4.1: XCDR version 1, plain encoding.
package codec
