package executive

// locked runs f with everything locked, and tells the outside afterwards.
func (e *Executive) locked(f func()) {
	e.mu.Lock()
	f()
	e.mu.Unlock()
	e.deliver()
}

// tell queues a call to the outside.
func (e *Executive) tell(f func()) { e.calls = append(e.calls, f) }

// deliver makes the queued calls, in order and with nothing locked. Whoever comes
// while another delivers leaves its calls to that one: so a callback may call back.
func (e *Executive) deliver() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.delivering {
		return
	}
	e.delivering = true
	defer func() { e.delivering = false }()
	for len(e.calls) > 0 {
		batch := e.calls
		e.calls = nil
		e.mu.Unlock()
		for _, call := range batch {
			call()
		}
		e.mu.Lock()
	}
}

func (e *Executive) audit(who, what, result string) {
	if sink := e.cfg.Audit; sink != nil {
		line := Audit{Now: e.now, Who: who, What: what, Result: result}
		e.tell(func() { sink(line) })
	}
}

func (e *Executive) notice(n Notice) {
	if sink := e.cfg.Notice; sink != nil {
		e.tell(func() { sink(n) })
	}
}
