// Package arbiter decides who owns which leaf of the robot, now, and why.
//
// A controller asks for leaves: those it needs come together or not at all,
// those it wants come and go while it runs. One request opens one round:
//
//	          request          ready                 all answered, or timeout
//	client ───────────▶ offered ─────▶ asking victims ─────▶ committed
//	                       │ refuse, silence  │ (waiting, if the leaves
//	                       ▼                  ▼  are in another hand-over)
//	                  no owner has lost anything
//
// No owner is disturbed before the winner has said that it can start, and silence
// never wins. A client that loses a leaf it needs quits; one that loses a leaf it
// wants lives on and has it back when it is free.
//
// State is the machine: a fixed-size value that compares with ==. Handle takes
// one Event, with its time, and writes the Messages it causes; nothing in it
// reads a clock, allocates, locks, or knows a name. Client is the other end of
// the wire, in the same style. Machine carries messages of local clients to and
// fro until none is left, so that a hand-over among them takes one step, and
// keeps the history. Direct puts plain calls and names on top.
//
//	m := arbiter.NewMachine(arbiter.Config{Policy: arbiter.PolicyLast})
//	m.Do(&arbiter.Event{At: now, Kind: arbiter.Request, From: c, Request: id, Claim: &claim}, port)
//	owner := m.Owner(leaf)
//
// Times are nanoseconds on any clock that does not run backwards. Methods of
// State, Client and Machine are loop-safe: they neither allocate nor block.
// docs/arbiter.md tells the rules in words, with the scenario format of
// poise arbitrate.
package arbiter
