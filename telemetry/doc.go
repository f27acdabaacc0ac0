// Package telemetry records every tick of the cycle (the flight recorder), and replays
// recordings to verify them.
//
//	loop ──Tick──▶ Recorder ──queue──▶ Run ──▶ file ──▶ Reader ──▶ Replay
//
// The recorder takes the inputs of each tick: readings as they were exchanged,
// orders as they were taken, the stop word, how late the tick was; and a hash of its
// results. In the cycle they are copied into preallocated slots; files,
// programs and compression are the work of the goroutine that calls Run. If the writer
// cannot keep up, the recording has the number of the missing ticks: the cycle never
// waits. On the disk a recording is a ring that keeps the last ticks.
//
// Replay makes the same loop again, gives it the same inputs, and compares hashes.
// It needs no bus and no clock. docs/realtime.md describes the file.
package telemetry
