// Package action is the life of a goal: asked for, accepted or refused, run,
// cancelled, replaced, finished. It knows no clock, no transport and no robot.
//
//	             ┌──────── accept ────────┐
//	Pending ─────┤                        ▼
//	  │  │       └─ reject ─▶ Rejected   Active ── succeed ─▶ Succeeded
//	  │ cancel                            │  │ └── abort ───▶ Aborted
//	  │  ▼                           cancel  │
//	  │ Recalling ── accept ─▶ Preempting ◀──┘ (finishes as Active does)
//	  │  │                        │
//	  └──┴─ withdraw ─▶ Recalled  └─ withdraw ─▶ Preempted
//
// Many serves any number of goals at once and returns a handle for each.
// Single serves one active goal and one pending goal that may replace it, without
// handles. Performer adds the rules of a controller: a goal waits until its
// resources are granted, and ends when one that it needs is lost.
//
// Everything runs in the caller's goroutine; nothing here is safe for concurrent
// use. The Observer gets every change of state, in order: a wire turns it
// into status and result messages, a log into lines. The states are those of
// actionlib, each end with a cause of our own; wires map them to the numbers of
// ROS 1 and ROS 2.
package action
