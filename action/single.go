package action

// Hooks are the user's side of a Single. Each may be nil.
type Hooks[G any] struct {
	// NewGoal is called when a goal has become the pending one.
	NewGoal func(goal G)
	// CancelActive is called when the client wants the active goal to end. The
	// goal is preempting from then on, until CancelActive, SucceedActive or
	// AbortActive of the server ends it. Without the hook it ends at once.
	CancelActive func()
	// DropPending is called when the pending goal is gone before it was accepted:
	// cancelled by its client, or replaced (then NewGoal follows).
	DropPending func()
}

// Single serves one active goal, and one pending that may replace it. Every
// operation says whether it acted, and does nothing where there is no such goal.
type Single[G, F, R any] struct {
	many            *Many[G, F, R]
	hooks           Hooks[G]
	active, pending *Handle[G, F, R] // nil if there is none
}

// NewSingle returns a server that is stopped: it refuses goals until Start.
func NewSingle[G, F, R any](hooks Hooks[G], o Observer[G, F, R]) *Single[G, F, R] {
	s := &Single[G, F, R]{hooks: hooks}
	s.many = NewMany(singleHandler[G, F, R]{s}, o)
	return s
}

// Start lets the server take goals; it reports whether it was stopped before.
func (s *Single[G, F, R]) Start() bool { return s.many.Start() }

// Stop aborts the active goal with result r, rejects the pending one, and takes
// no more. It reports whether the server was running.
func (s *Single[G, F, R]) Stop(r R) bool {
	acted := s.many.Stop(r)
	s.active, s.pending = nil, nil
	return acted
}

// Submit takes a goal from a client and returns its name, ours if it had none;
// see Many.Submit. The handle is kept here: its holder could end the goal
// behind the server's back.
func (s *Single[G, F, R]) Submit(id ID, stamp Time, goal G) (ID, error) {
	h, err := s.many.Submit(id, stamp, goal)
	s.many.Forget(nil) // one server, two goals: names of the past are the wire's matter
	if err != nil {
		return "", err
	}
	return h.id, nil
}

// Cancel takes a client's request to end goals; see Many.Cancel.
func (s *Single[G, F, R]) Cancel(id ID, stamp Time) int { return s.many.Cancel(id, stamp) }

// IsActive reports whether a goal is running.
func (s *Single[G, F, R]) IsActive() bool { return s.active != nil }

// IsPreempting reports whether the running goal is to end at its client's request.
func (s *Single[G, F, R]) IsPreempting() bool {
	return s.active != nil && s.active.state == Preempting
}

// IsPending reports whether a goal waits to be accepted.
func (s *Single[G, F, R]) IsPending() bool { return s.pending != nil }

// ActiveGoal returns the running goal, if there is one.
func (s *Single[G, F, R]) ActiveGoal() (goal G, ok bool) { return goalOf(s.active) }

// PendingGoal returns the waiting goal, if there is one.
func (s *Single[G, F, R]) PendingGoal() (goal G, ok bool) { return goalOf(s.pending) }

func goalOf[G, F, R any](h *Handle[G, F, R]) (goal G, ok bool) {
	if h == nil {
		return goal, false
	}
	return h.goal, true
}

// AcceptPending makes the pending goal the active one. A goal that was active is
// preempted with result r.
func (s *Single[G, F, R]) AcceptPending(r R, detail string) bool {
	if s.pending == nil {
		return false
	}
	next := s.pending
	old := s.active
	s.active, s.pending = next, nil
	if old != nil {
		old.Withdraw(Replaced, r, detail)
	}
	return next.Accept()
}

// RejectPending refuses the pending goal. The active one is not disturbed.
func (s *Single[G, F, R]) RejectPending(c Cause, r R, detail string) bool {
	h := take(&s.pending)
	return h != nil && h.Reject(c, r, detail)
}

// AbortActive ends the active goal, which cannot go on.
func (s *Single[G, F, R]) AbortActive(c Cause, r R, detail string) bool {
	h := take(&s.active)
	return h != nil && h.Abort(c, r, detail)
}

// SucceedActive ends the active goal, which did what it was asked to.
func (s *Single[G, F, R]) SucceedActive(r R, detail string) bool {
	h := take(&s.active)
	return h != nil && h.Succeed(r, detail)
}

// CancelActive ends the active goal as called off by its client.
func (s *Single[G, F, R]) CancelActive(r R, detail string) bool {
	h := take(&s.active)
	return h != nil && h.Withdraw(ClientCancel, r, detail)
}

// Feedback reports the progress of the active goal.
func (s *Single[G, F, R]) Feedback(f F) bool { return s.active != nil && s.active.Feedback(f) }

// take empties a slot before the goal in it changes, so that an observer that
// asks sees the slot as it will be.
func take[H any](slot **H) *H {
	h := *slot
	*slot = nil
	return h
}

// singleHandler keeps the Handler methods out of Single's own interface.
type singleHandler[G, F, R any] struct{ s *Single[G, F, R] }

// Goal puts the goal into the pending slot; one that waited there is recalled.
func (x singleHandler[G, F, R]) Goal(h *Handle[G, F, R]) {
	s := x.s
	if old := take(&s.pending); old != nil {
		var none R
		old.Withdraw(Replaced, none, "replaced by a newer goal before it was accepted")
		call(s.hooks.DropPending)
	}
	s.pending = h
	if s.hooks.NewGoal != nil {
		s.hooks.NewGoal(h.goal)
	}
}

// Cancel ends a pending goal at once; an active one is the user's to wind down.
func (x singleHandler[G, F, R]) Cancel(h *Handle[G, F, R]) {
	s := x.s
	var none R
	switch {
	case h == s.pending:
		s.pending = nil
		h.Withdraw(ClientCancel, none, "cancelled before it was accepted")
		call(s.hooks.DropPending)
	case h == s.active && s.hooks.CancelActive != nil:
		s.hooks.CancelActive()
	case h == s.active:
		s.active = nil
		h.Withdraw(ClientCancel, none, "cancelled by its client")
	}
}

func call(hook func()) {
	if hook != nil {
		hook()
	}
}
