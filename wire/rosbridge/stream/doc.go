// Package stream moves what happens in the graph to a client's outbox.
//
// A Stream is a topic that the client reads. However often it subscribes, each message
// comes once, since clients hand it to all their listeners; a Want is what one
// subscription asks for, and the stream serves all of them together. A Pump is the
// goroutine that moves news of streams, and of other sources, when the graph wakes it.
package stream
