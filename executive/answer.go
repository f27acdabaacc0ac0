package executive

import "poise/problem"

// Outcome is what became of a command.
type Outcome struct {
	Explanations []Explanation // why not; none if it was done
	Value        float64       // of a speed: what was achieved; of a stop: how long it took, s
	Way          float64       // of a stop: the largest way of a joint, rad or m
}

// OK reports whether the command was carried out.
func (o *Outcome) OK() bool { return len(o.Explanations) == 0 }

// Text is "ok", or why not.
func (o *Outcome) Text() string {
	if o.OK() {
		return "ok"
	}
	return problem.Join(o.Explanations)
}

// refused is the outcome of what was not done.
func refused(why ...Explanation) Outcome { return Outcome{Explanations: why} }

// Answer is the outcome of a command, as soon as there is one. Reading it is safe
// for concurrent use.
type Answer struct {
	done    chan struct{}
	outcome Outcome
}

// newAnswer returns an answer that is not there yet.
func newAnswer() *Answer { return &Answer{done: make(chan struct{})} }

// Done is closed when the outcome is there.
func (a *Answer) Done() <-chan struct{} { return a.done }

// Outcome returns the outcome; ok is false while there is none.
func (a *Answer) Outcome() (o Outcome, ok bool) {
	select {
	case <-a.done:
		return a.outcome, true
	default:
		return Outcome{}, false
	}
}

// resolve gives the outcome. Only the first counts; it reports whether this is it.
// For the owner of the answer.
func (a *Answer) resolve(o Outcome) bool {
	if _, over := a.Outcome(); over {
		return false
	}
	a.outcome = o
	close(a.done)
	return true
}
