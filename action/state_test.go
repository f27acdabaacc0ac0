package action

import "testing"

// legal is the life of a goal written out by hand, apart from Next: every pair
// that is not listed must be refused.
var legal = map[State]map[Event]State{
	Pending:    {Accept: Active, Reject: Rejected, Cancel: Recalling, Withdraw: Recalled, Lose: Lost},
	Recalling:  {Accept: Preempting, Reject: Rejected, Withdraw: Recalled, Lose: Lost},
	Active:     {Succeed: Succeeded, Abort: Aborted, Cancel: Preempting, Withdraw: Preempted, Lose: Lost},
	Preempting: {Succeed: Succeeded, Abort: Aborted, Withdraw: Preempted, Lose: Lost},
}

func TestEveryPairOfStateAndEvent(t *testing.T) {
	for s := range numStates {
		for e := range numEvents {
			want, ok := legal[s][e]
			got, acted := Next(s, e)
			if acted != ok {
				t.Errorf("Next(%v, %v): legal = %v, want %v", s, e, acted, ok)
			}
			if !ok {
				want = s
			}
			if got != want {
				t.Errorf("Next(%v, %v) = %v, want %v", s, e, got, want)
			}
		}
	}
}

func TestRefusedEventsLeaveTheState(t *testing.T) {
	for s := range numStates {
		for e := range numEvents {
			if got, ok := Next(s, e); !ok && got != s {
				t.Errorf("Next(%v, %v) is refused and yet gives %v", s, e, got)
			}
		}
	}
}

func TestFinalStatesAreFinal(t *testing.T) {
	for s := range numStates {
		if final := len(legal[s]) == 0; s.Terminal() != final {
			t.Errorf("%v.Terminal() = %v, want %v", s, s.Terminal(), final)
		}
		if s.Terminal() == (s.Waiting() || s.Running()) {
			t.Errorf("%v is neither or both of over and under way", s)
		}
	}
}

func TestNamesAreComplete(t *testing.T) {
	for s := range numStates {
		if s.String() == "" {
			t.Errorf("state %d has no name", s)
		}
	}
	for e := range numEvents {
		if e.String() == "" {
			t.Errorf("event %d has no name", e)
		}
	}
	for c := NoCause; c <= ServerGone; c++ {
		if c.String() == "" || c.String() == "unknown cause" {
			t.Errorf("cause %d has no name", c)
		}
	}
	if Cause(200).String() != "unknown cause" {
		t.Error("an unknown cause must say so")
	}
}
