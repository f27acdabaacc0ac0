// Package loop is the cycle: one owner of motion.
//
//	read → estimate → orders + arbitrate → control → aggregate + bridge → limit → dynamics → invert → guard → write → publish
//
// A Loop has no goroutine and no clock: Step runs one tick, and the same ticks,
// readings and orders give the same commands bit for bit. Nothing in Step
// allocates, locks, waits, logs or looks up a name. A runner steps one or more
// loops on a thread of its own; tests step by hand.
//
// Orders come in through a bounded ring: when it is full, the sender is refused. Reports go
// out through a ring that loses nothing, snapshots through a buffer that keeps only
// the newest.
//
// Every joint has exactly one writer: the controller that owns it or, if it is
// unowned, the holder, which brings it to rest by the shortest stop and keeps it there.
// Loss of a resource, a panic, an abort and a stop are therefore the same code.
package loop
