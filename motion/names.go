package motion

import "poise/motion/document"

// The stored motion and what belongs to it, under the names by which others know them.
type (
	Document  = document.Document  // one stored motion
	Joint     = document.Joint     // a joint that takes part
	Tolerance = document.Tolerance // how far a joint may be off
	Mark      = document.Mark      // where part execution begins or ends
	Point     = document.Point     // a row of the table
	Event     = document.Event     // a text command that leaves at its time
	Part      = document.Part      // what of a document is played, and how
	Goal      = document.Goal      // a motion to be played
	Samples   = document.Samples   // curves at even times
	Curve     = document.Curve     // what one joint does
	Peak      = document.Peak      // what one joint does at most
	Problem   = document.Problem   // one thing that stands in the way
)

// The marks of a row.
const (
	NoMark    = document.NoMark
	StartMark = document.StartMark
	EndMark   = document.EndMark
)

// SupportPrefix begins the name of a goal's column that holds a chain's support.
const SupportPrefix = document.SupportPrefix

// What can be wrong with an edit, a table or a goal; errors.Is finds them.
var (
	ErrOperation    = document.ErrOperation
	ErrRow          = document.ErrRow
	ErrName         = document.ErrName
	ErrUnknownJoint = document.ErrUnknownJoint
	ErrUnknownChain = document.ErrUnknownChain
	ErrMissing      = document.ErrMissing
	ErrOrder        = document.ErrOrder
	ErrMark         = document.ErrMark
	ErrSize         = document.ErrSize
	ErrNotFinite    = document.ErrNotFinite
	ErrMirror       = document.ErrMirror
)
