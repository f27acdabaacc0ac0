package action

// State is where a goal stands.
type State uint8

// The states of a goal. Those from Recalled on, Active and Preempting excepted,
// are final.
const (
	Pending    State = iota // received, waiting to be accepted
	Recalling               // pending, and its client wants it back
	Active                  // accepted and running
	Preempting              // running, and on its way to a stop
	Recalled                // given back before it ran
	Preempted               // stopped before it was done
	Succeeded
	Aborted  // ended by the server
	Rejected // never accepted
	Lost     // its server is gone; how it ended is unknown
	numStates
)

var stateNames = [numStates]string{
	"pending", "recalling", "active", "preempting",
	"recalled", "preempted", "succeeded", "aborted", "rejected", "lost",
}

func (s State) String() string { return stateNames[s] }

// Terminal reports whether nothing more can happen to the goal.
func (s State) Terminal() bool { return s >= Recalled }

// Waiting reports whether the goal has not been accepted yet.
func (s State) Waiting() bool { return s == Pending || s == Recalling }

// Running reports whether the goal has been accepted and is not over.
func (s State) Running() bool { return s == Active || s == Preempting }

// Event is what can happen to a goal.
type Event uint8

// The events. Cancel is the client's request; Withdraw is the server's word that
// the goal is off.
const (
	Accept Event = iota
	Reject
	Cancel
	Withdraw
	Succeed
	Abort
	Lose
	numEvents
)

var eventNames = [numEvents]string{"accept", "reject", "cancel", "withdraw", "succeed", "abort", "lose"}

func (e Event) String() string { return eventNames[e] }

// Next returns the state that follows s on event e, and whether the event is
// legal there; if not, the state stays.
func Next(s State, e Event) (State, bool) {
	switch {
	case s.Terminal():
		return s, false
	case e == Lose:
		return Lost, true
	case s.Waiting():
		switch e {
		case Accept:
			if s == Recalling {
				return Preempting, true
			}
			return Active, true
		case Reject:
			return Rejected, true
		case Withdraw:
			return Recalled, true
		case Cancel:
			return Recalling, s == Pending
		}
	default:
		switch e {
		case Succeed:
			return Succeeded, true
		case Abort:
			return Aborted, true
		case Withdraw:
			return Preempted, true
		case Cancel:
			return Preempting, s == Active
		}
	}
	return s, false
}

// Cause says why a goal changed its state; the state alone does not tell a goal
// that lost its leg from one whose motor failed.
type Cause uint8

// The causes. Their numbers are stable: wires and records carry them.
const (
	NoCause         Cause = 0
	Finished        Cause = 1  // it did what it was asked to
	ClientCancel    Cause = 2  // the client asked for the end
	Replaced        Cause = 3  // a newer goal took its place
	ConditionsUnmet Cause = 4  // it could not start here and now
	NotGranted      Cause = 5  // a resource it needs was refused
	ResourceLost    Cause = 6  // a resource it needs was taken away
	ServerStopped   Cause = 7  // the server takes no goals
	Fault           Cause = 8  // something broke
	Failed          Cause = 9  // it ran and did not reach what it was asked for
	ServerGone      Cause = 10 // the server is not there any more
	Stopped         Cause = 11 // the whole machine was stopped, or its power switched off
)

var causeNames = [...]string{
	"none", "finished", "client cancel", "replaced", "conditions unmet", "not granted",
	"resource lost", "server stopped", "fault", "failed", "server gone", "stopped",
}

func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return "unknown cause"
}
