// Package motion holds stored motions: what they are, how they are edited, and
// what is sent to be played.
//
//	Document ──Apply(Operation)──▶ Document ──Goal(Part)──▶ follow.Goal ──▶ curves, player
//
// A Document is a table of key points, taught by hand or imported. A row captures
// every joint of the robot, and a list says which joints take part, so that a
// joint can be taken in or left out later without teaching again. Beside the rows
// run two more tracks: supports, which hold from a row to the next, and events,
// which leave at their time.
//
// Every edit is an Operation, plain data that also travels over the wire; Apply
// carries one out and never changes the document it was given, so an editor undoes by
// keeping the documents before. Documents are always saved whole; marks, part and
// scale only decide what a Goal takes from them.
//
// Documents are read and written by motion/file, exchanged with ROS as goals by
// motion/rosgoal, judged by motion/lint, and kept in folders by motion/library.
//
// Times are seconds, positions radians or metres. A position that was not captured
// is NaN: it is never taken for zero.
package motion
