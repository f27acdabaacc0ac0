// Package edge converts messages to the types that the rest of Poise works with, and
// back. It is the only package that knows both.
//
// No field of a message is ignored silently. A field is honoured, or does not matter (and
// the function says why), or the message is refused with the field's name.
package edge
