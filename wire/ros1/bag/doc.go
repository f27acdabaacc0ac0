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
// After a line with the version the file is a sequence of records: a header of names and
// values, and data, each with its length. The first has the position of the index. Chunks
// follow, whose data is a sequence of records again, perhaps compressed: connections, which
// describe topics, and messages. Behind each chunk are the positions of its messages. The
// index at the end repeats the connections and lists the content of each chunk.
//
// A file whose recorder was killed has no index: Open refuses it by ErrUnindexed, and Recover
// reads what chunks there are.
//
// # Reading
//
// Reading never panics, whatever the file has. Memory is allocated for the bytes that are
// present, not for the lengths that the file claims; the unpacked size of a chunk, and of
// chunks that overlap in time, is bounded (Limits).
//
// Reference: wiki.ros.org/Bags/Format/2.0, and what rosbag 1.15 writes.
package bag
