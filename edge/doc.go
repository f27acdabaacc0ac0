// Package edge turns messages into the plain types that the rest of Poise works
// with, and back.
//
// It is the only place that knows both sides: what a wire calls a thing, and what
// it is. Nothing that a message says is dropped in silence. A field is either
// honoured, or has no bearing (and the function says why), or the message is
// refused by the field's name.
package edge
