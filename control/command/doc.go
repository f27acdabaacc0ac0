// Package command makes one command of what the owners of a robot ask for.
//
//	references ─▶ hold what nobody owns ─▶ bridge what changed hands ─▶ gate ─▶ command
//
// It is the one hand-over mechanism of the cycle. Every joint has a reference in
// every tick: its owner's, or, where nobody owns it, that of the shortest stop. When
// the reference is new, because the owner, its program or its mind changed, the
// difference to the last command is bridged; when the bridge is over, command and
// reference are the same bit for bit. What comes out has passed the gate of limits,
// whatever the reference was.
//
// A hand-over begins at the last tick, where the command is known; references are
// taken back to there along their own motion. Poses of the base and of limb tips
// glide likewise.
//
// Everything here is pure and loop-safe: no clock, no allocation after New.
package command
