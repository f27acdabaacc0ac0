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
// Many serves any number of goals at once and hands out a handle for each.
// Single serves one active goal and one waiting to replace it, and hides the
// handles. Performer adds the rules of a controller: a goal waits until its
// resources are granted, and ends when one that it needs is lost.
//
// Everything runs in the caller's goroutine; nothing here is safe for concurrent
// use. Every change of state is told to the Observer, in order: a wire turns it
// into status and result messages, a log into lines. The states are those of
// actionlib with our own causes; how a dialect numbers them is the wire's matter.
package action
