// Package telemetry keeps what happened: the flight recorder, and the replay that
// proves it.
//
//	loop ──Tick──▶ Recorder ──queue──▶ Run ──▶ file ──▶ Reader ──▶ Replay
//
// The recorder takes what came into each tick: readings as they were swapped,
// orders as they were taken, the stop word, by how much the tick was late; and a
// hash of what came of it. The cycle's side copies into slots made once; files,
// programs and compression are for the caller of Run. If the writer cannot keep
// up, the recording says how many ticks it lacks: the cycle never waits. On the disk a
// recording is a ring that keeps the last ticks.
//
// Replay makes the same loop again, gives it the same ticks, and compares hashes.
// It needs no bus and no clock. docs/realtime.md describes the file.
package telemetry
