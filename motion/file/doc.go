// Package file reads and writes motion documents: NAME.motion.yaml, one motion per
// file, made to be read by people and compared line by line.
//
// The reader is strict: an unknown key, a key written twice, a value of the wrong
// kind are errors with file and line, all at once. The writer prints the shortest
// decimal that reads back as the same number, a row at a time and six joints to a
// line, so that a changed joint changes one line; and it keeps the comments of the
// file it replaces where what they speak of is still there.
//
// docs/motions.md explains every key.
package file
