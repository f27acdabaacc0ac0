package action

import (
	"fmt"
	"strconv"
)

// ID names a goal. The client chooses it; an empty one is replaced by ours.
type ID string

// Time is a moment on the caller's clock, in nanoseconds. Zero means "not
// given", as in ROS.
type Time int64

// Change is one step in the life of a goal; its first is from Pending to Pending.
type Change[R any] struct {
	ID       ID
	From, To State
	Cause    Cause
	Result   R // meaningful when To is final
	Detail   string
}

// Observer is told everything that happens, in order.
type Observer[G, F, R any] interface {
	Changed(h *Handle[G, F, R], c Change[R])
	Feedback(h *Handle[G, F, R], f F)
}

// Handler is the user's side of a server of many goals. Both are called with the
// goal in its new state; both may act on the handle at once or keep it.
type Handler[G, F, R any] interface {
	Goal(h *Handle[G, F, R])   // a new goal, pending
	Cancel(h *Handle[G, F, R]) // its client wants the end; recalling or preempting
}

// maxEarly is how many cancels of goals that have not come yet are remembered:
// a client that sends more than this without ever sending the goals is not
// cancelling, it is talking nonsense.
const maxEarly = 256

// Many serves any number of goals at once.
type Many[G, F, R any] struct {
	observer Observer[G, F, R]
	handler  Handler[G, F, R]
	running  bool

	goals map[ID]*Handle[G, F, R] // not over yet, or over and not forgotten
	order []*Handle[G, F, R]      // by arrival: what goes out never depends on a map

	early      []ID // cancelled before they came, oldest first
	cancelUpTo Time // goals stamped no later than this are cancelled on arrival
	made       int  // ids made for goals that had none
}

// NewMany returns a server that is stopped: it refuses goals until Start.
func NewMany[G, F, R any](h Handler[G, F, R], o Observer[G, F, R]) *Many[G, F, R] {
	return &Many[G, F, R]{handler: h, observer: o, goals: map[ID]*Handle[G, F, R]{}}
}

// Handle is one goal of a Many. The user owns it; it stays valid for ever, and
// refuses whatever its state does not allow.
type Handle[G, F, R any] struct {
	id     ID
	stamp  Time
	goal   G
	state  State
	server *Many[G, F, R]
}

// ID returns the goal's name.
func (h *Handle[G, F, R]) ID() ID { return h.id }

// Stamp returns when the client says that it asked.
func (h *Handle[G, F, R]) Stamp() Time { return h.stamp }

// Goal returns what was asked for.
func (h *Handle[G, F, R]) Goal() G { return h.goal }

// State returns where the goal stands.
func (h *Handle[G, F, R]) State() State { return h.state }

// Accept starts the goal and reports whether that was legal.
func (h *Handle[G, F, R]) Accept() bool {
	var none R
	return h.step(Accept, NoCause, none, "")
}

// Reject refuses a goal that has not been accepted.
func (h *Handle[G, F, R]) Reject(c Cause, r R, detail string) bool {
	return h.step(Reject, c, r, detail)
}

// Succeed ends a running goal that did what it was asked to.
func (h *Handle[G, F, R]) Succeed(r R, detail string) bool {
	return h.step(Succeed, Finished, r, detail)
}

// Abort ends a running goal that cannot go on.
func (h *Handle[G, F, R]) Abort(c Cause, r R, detail string) bool { return h.step(Abort, c, r, detail) }

// Withdraw ends a goal that its client or a newer goal called off: recalled if
// it never ran, preempted if it did.
func (h *Handle[G, F, R]) Withdraw(c Cause, r R, detail string) bool {
	return h.step(Withdraw, c, r, detail)
}

// Feedback reports the progress of a running goal; a goal that is not running has none
// and the call does nothing.
func (h *Handle[G, F, R]) Feedback(f F) bool {
	if !h.state.Running() {
		return false
	}
	h.server.observer.Feedback(h, f)
	return true
}

func (h *Handle[G, F, R]) step(e Event, c Cause, r R, detail string) bool {
	from := h.state
	to, ok := Next(from, e)
	if !ok {
		return false
	}
	h.state = to
	h.server.observer.Changed(h, Change[R]{ID: h.id, From: from, To: to, Cause: c, Result: r, Detail: detail})
	return true
}

// Start lets the server take goals; it reports whether it was stopped before.
func (m *Many[G, F, R]) Start() bool {
	was := m.running
	m.running = true
	return !was
}

// Stop ends everything: running goals are aborted with result r, waiting ones
// rejected. It reports whether the server was running.
func (m *Many[G, F, R]) Stop(r R) bool {
	if !m.running {
		return false
	}
	m.running = false
	for _, h := range m.snapshot() {
		if h.state.Running() {
			h.Abort(ServerStopped, r, "the server was stopped")
		} else {
			h.Reject(ServerStopped, r, "the server was stopped")
		}
	}
	return true
}

// Running reports whether the server takes goals.
func (m *Many[G, F, R]) Running() bool { return m.running }

// DuplicateError is a goal whose name is in use.
type DuplicateError struct {
	ID    ID
	State State // of the goal that has the name
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("goal %q: the name is in use by a goal that is %s", e.ID, e.State)
}

// Submit takes a goal from a client. An empty id is replaced by one of ours, the
// one returned. A name in use is refused and the goal that has it is not
// disturbed. A goal that was cancelled before it came, or that is stamped no
// later than the last cancel by time, ends at once as recalled.
func (m *Many[G, F, R]) Submit(id ID, stamp Time, goal G) (*Handle[G, F, R], error) {
	if id == "" {
		id = m.makeID(stamp)
	}
	if old, ok := m.goals[id]; ok {
		return nil, &DuplicateError{ID: id, State: old.state}
	}
	h := &Handle[G, F, R]{id: id, stamp: stamp, goal: goal, server: m}
	m.goals[id] = h
	m.order = append(m.order, h)
	var none R
	m.observer.Changed(h, Change[R]{ID: id, From: Pending, To: Pending})
	switch {
	case m.forgetEarly(id) || (stamp != 0 && stamp <= m.cancelUpTo):
		h.step(Cancel, ClientCancel, none, "cancelled before it came")
		h.Withdraw(ClientCancel, none, "cancelled before it came")
	case !m.running:
		h.Reject(ServerStopped, none, "the server is stopped and takes no goals")
	default:
		m.handler.Goal(h)
	}
	return h, nil
}

// makeID names a goal after its stamp and a counter, so that the same inputs
// give the same name.
func (m *Many[G, F, R]) makeID(stamp Time) ID {
	for {
		m.made++
		id := ID("goal-" + strconv.FormatInt(int64(stamp), 10) + "-" + strconv.Itoa(m.made))
		if _, used := m.goals[id]; !used {
			return id
		}
	}
}

// Cancel takes a client's request to end goals, with the meaning of actionlib's
// GoalID: no id and no stamp, all goals; a stamp, all goals stamped no later; an
// id, that goal (with a stamp, both). The cancel of a goal that has not come yet
// is remembered. It returns how many goals it reached.
func (m *Many[G, F, R]) Cancel(id ID, stamp Time) int {
	n := 0
	for _, h := range m.snapshot() {
		all := id == "" && stamp == 0
		if all || h.id == id || (stamp != 0 && h.stamp != 0 && h.stamp <= stamp) {
			if m.cancel(h) {
				n++
			}
		}
	}
	if stamp > m.cancelUpTo {
		m.cancelUpTo = stamp
	}
	if _, known := m.goals[id]; id != "" && !known {
		m.rememberEarly(id)
	}
	return n
}

func (m *Many[G, F, R]) cancel(h *Handle[G, F, R]) bool {
	var none R
	if !h.step(Cancel, ClientCancel, none, "") {
		return false
	}
	m.handler.Cancel(h)
	return true
}

// Forget drops the names of goals that are over, so that the server does not
// grow for ever; keep says which of them to keep (a wire keeps results for a
// while). A forgotten name may be used again.
func (m *Many[G, F, R]) Forget(keep func(h *Handle[G, F, R]) bool) {
	kept := m.order[:0]
	for _, h := range m.order {
		if !h.state.Terminal() || (keep != nil && keep(h)) {
			kept = append(kept, h)
			continue
		}
		delete(m.goals, h.id)
	}
	clear(m.order[len(kept):])
	m.order = kept
}

// Lose ends all goals as lost: their server is gone, and no more is known of them.
func (m *Many[G, F, R]) Lose() {
	var none R
	m.running = false
	for _, h := range m.snapshot() {
		h.step(Lose, ServerGone, none, "the server is gone")
	}
}

// Goals returns the handles that are known, by arrival.
func (m *Many[G, F, R]) Goals() []*Handle[G, F, R] { return m.snapshot() }

// snapshot copies the list: hooks called while it is walked may change it.
func (m *Many[G, F, R]) snapshot() []*Handle[G, F, R] {
	return append([]*Handle[G, F, R](nil), m.order...)
}

func (m *Many[G, F, R]) rememberEarly(id ID) {
	for _, e := range m.early {
		if e == id {
			return
		}
	}
	if len(m.early) == maxEarly {
		m.early = append(m.early[:0], m.early[1:]...)
	}
	m.early = append(m.early, id)
}

func (m *Many[G, F, R]) forgetEarly(id ID) bool {
	for i, e := range m.early {
		if e == id {
			m.early = append(m.early[:i], m.early[i+1:]...)
			return true
		}
	}
	return false
}
