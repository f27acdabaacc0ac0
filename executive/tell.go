package executive

import "sync"

// outbox holds calls to the outside until they can be made: in order, one at a time,
// and with nothing locked.
type outbox struct {
	mu         sync.Mutex
	calls      []func()
	delivering bool
}

func (o *outbox) add(call func()) {
	o.mu.Lock()
	o.calls = append(o.calls, call)
	o.mu.Unlock()
}

// deliver makes the calls. A caller that comes while another delivers leaves its calls
// to that one: so a call may call back.
func (o *outbox) deliver() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.delivering {
		return
	}
	o.delivering = true
	defer func() { o.delivering = false }()
	for len(o.calls) > 0 {
		batch := o.calls
		o.calls = nil
		o.mu.Unlock()
		for _, call := range batch {
			call()
		}
		o.mu.Lock()
	}
}

// locked runs f with everything locked, and tells the outside afterwards. What f asks the
// cycle for is looked after at once, also by a Run that rests.
func (e *Executive) locked(f func()) {
	e.catchUp()
	e.mu.Lock()
	f()
	e.stir()
	hurry := e.awaits()
	e.mu.Unlock()
	e.wake()
	if hurry {
		signal(e.hurried)
	}
	e.out.deliver()
}

func (e *Executive) audit(who, what, result string) {
	if sink := e.cfg.Audit; sink != nil {
		line := Audit{Now: e.now, Who: who, What: what, Result: result}
		e.out.add(func() { sink(line) })
	}
}

func (e *Executive) notice(n Notice) {
	if sink := e.cfg.Notice; sink != nil {
		e.out.add(func() { sink(n) })
	}
}
