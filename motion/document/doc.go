// Package document holds the stored motion itself: a table of key points, and the
// goal that is played of it.
//
//	Document ──Goal(Part)──▶ Goal ──▶ Curve, Sample, Peaks
//
// A row captures every joint of the robot, and a list says which joints take part, so
// that a joint can be taken in or left out later without teaching again. Beside the
// rows run two more tracks: supports, which hold from a row to the next, and events,
// which leave at their time.
//
// Everything here is data that is asked and never edited; package motion edits it and
// gives all of it the names by which others know it.
package document
