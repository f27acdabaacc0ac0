// Package bag reads and writes recordings of ROS 1, bag files of format 2.0.
//
//	b, err := bag.Open(file, size)              // what is in it: connections, chunks
//	for m, err := range b.Messages(nil) { … }   // in the order of their times
//
//	w, err := bag.NewWriter(file, bag.Options{Compression: bag.LZ4})
//	id, err := w.Connect(bag.Connection{Topic: "/joint_states", Type: …, MD5: …, Definition: …})
//	err = w.Write(id, at, data)
//	err = w.Close()                             // writes the index
//
// # The format
//
// After a line that names the version the file is a row of records: a header of names and
// values, and data, each with its length. The first says where the index is. Chunks follow,
// whose data is a row of records again, perhaps compressed: connections, which say what a
// topic is, and messages. Behind each chunk stand the places of its messages. The index at
// the end repeats the connections and says what is in which chunk.
//
// A file whose recorder was killed has no index: Open refuses it by ErrUnindexed, and Recover
// reads what chunks there are.
//
// # Reading
//
// Whatever the file is, reading never panics. Memory is taken for what is there, not for what
// the file says is there; what is unpacked of one chunk, and of the chunks that overlap in
// time, is bounded (Limits).
//
// Reference: wiki.ros.org/Bags/Format/2.0, and what rosbag 1.15 writes.
package bag
