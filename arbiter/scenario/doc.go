// Package scenario runs the arbiter on a script of requests and faults, in
// simulated time: the state machines that ship, a wire whose messages can be
// lost, delayed and doubled, and controllers that start, refuse, release and
// crash as the script says. The format is told in docs/arbiter.md.
//
//	s, err := scenario.Parse(data, "yawn.yaml")
//	s.Run(func(f scenario.Frame) { … })   // every change of owner or state
//
// Messages take no time unless the script delays them. At one instant come
// first the messages that arrive, then the script's events in the order of the
// file, each with all that it causes, then what falls due.
package scenario
