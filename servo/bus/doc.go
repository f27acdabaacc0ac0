// Package bus is a serial line with smart servos on it, and the driver of a robot whose
// joints they move.
//
//	cycle ── Exchange ──▶ newest goals ──▶ worker ──▶ Talker ──▶ Line ──▶ Port
//	      ◀── newest states, each with its age ◀──
//
// A Port is the two ends of a cable: a serial port, or memory in which bytes take the time
// that a line takes. A Line cuts what arrives into packets, resynchronises after garbage,
// drops echoes and knows how long an answer may take. A Family is a make of servos: its
// packets, its registers, its models; a Talker speaks with servos of a family on one line.
// The driver has a goroutine for each line, which sends goals and reads states in a rhythm
// of its own, so that an exchange never waits.
//
// Positions are steps of the servo here, everything else is SI; joints begin where steps are
// turned into angles, in joint.go.
package bus
