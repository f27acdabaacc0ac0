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
// Owners lose nothing before the winner has confirmed that it can start, and a
// client that does not answer never wins. A client that loses a leaf it needs
// quits; one that loses a leaf it wants continues, and gets it back when it is free.
//
// State is the arbiter's state machine: a fixed-size value that compares with ==.
// Handle takes one Event, with its time, and writes the Messages it causes; it
// reads no clock, allocates nothing, takes no lock and knows no names. Client is
// the state machine of a client, in the same style. Machine delivers the messages
// among local clients until none is left, so that a hand-over among them takes one
// step, and keeps the history. Direct adds plain calls and names.
//
//	m := arbiter.NewMachine(arbiter.Config{Policy: arbiter.PolicyLast})
//	m.Do(&arbiter.Event{At: now, Kind: arbiter.Request, From: c, Request: id, Claim: &claim}, port)
//	owner := m.Owner(leaf)
//
// Times are nanoseconds on any clock that does not run backwards. Methods of
// State, Client and Machine are loop-safe: they neither allocate nor block.
// docs/arbiter.md explains the rules and the scenario format of poise arbitrate.
package arbiter
