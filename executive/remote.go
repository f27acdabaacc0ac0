package executive

import (
	"fmt"
	"math"

	"poise/action"
	"poise/arbiter"
	"poise/control/stream"
	"poise/executive/explain"
	"poise/robot"
)

// Controllers outside the process sit on seats of their own, streams that hold the
// lease for them: a request of theirs is a goal of that seat, their state messages
// and their values are the signs of life.

// RemoteRequest asks for resources on behalf of a controller outside.
type RemoteRequest struct {
	Name      string // of the controller outside
	ID        uint32 // of its request
	Resources []string

	// Pending and Operational are priorities of the resources, while it asks and once
	// it runs: one each. One list alone is for both; none takes those of its seat.
	Pending, Operational []float32
}

// ranks words the priorities for the cycle.
func (r *RemoteRequest) ranks(words *explain.Words) (all []stream.Rank, why []Explanation) {
	pending, operational := r.Pending, r.Operational
	if len(pending) == 0 {
		pending = operational
	}
	if len(operational) == 0 {
		operational = pending
	}
	for _, list := range []struct {
		name   string
		values []float32
	}{{"pending", pending}, {"operational", operational}} {
		if n := len(list.values); n != 0 && n != len(r.Resources) {
			why = append(why, explain.Because("invalid", fmt.Sprintf("%d %s priorities for %d resources: there must be one each, or none", n, list.name, len(r.Resources))))
		}
		for i, v := range list.values {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				why = append(why, explain.Because("invalid", fmt.Sprintf("%s priority %d is %v, must be a number", list.name, i+1, v)))
			}
		}
	}
	if len(why) > 0 || len(pending) == 0 {
		return nil, why
	}
	for i, name := range r.Resources {
		set, unknown := words.Set([]string{name})
		why = append(why, unknown...)
		all = append(all, stream.Rank{Leaves: set, Pending: pending[i], Operational: operational[i]})
	}
	return all, why
}

// RemoteState is a sign of life of a controller outside, or its end.
type RemoteState struct {
	Name        string
	ID          uint32 // of the request that it speaks of
	Operational bool
}

// Assignment says who has which resource. Requests are those that it answers.
type Assignment struct {
	Requests  []uint32
	Resources []string
	Owners    []string // "" is nobody
}

// remote is a controller outside on its seat.
type remote struct {
	name    string
	seat    *seat
	request uint32
	goal    GoalID
	owns    robot.Set
	since   int64 // last sign of life, now
	live    bool  // its goal is not over
	tell    func(Assignment)
}

// RequestRemote takes a request of a controller outside. tell is called with every
// change of who has what that concerns it, and once with the answer to the request,
// denial included.
func (e *Executive) RequestRemote(who string, r RemoteRequest, tell func(Assignment)) (why []Explanation) {
	e.locked(func() {
		x, bad := e.remoteSeat(r.Name)
		if bad != nil {
			why = bad
			return
		}
		set, unknown := e.words.Set(r.Resources)
		if len(unknown) > 0 {
			why = unknown
			return
		}
		if e.snap == nil {
			why = []Explanation{e.whySilent()}
			return
		}
		ranks, bad := r.ranks(e.words)
		if bad != nil {
			why = bad
			return
		}
		w, bad := e.operate(x.seat, set)
		if bad != nil {
			why = bad
			return
		}
		if p, ok := w.program.(*stream.Program); ok {
			p.Ranks = ranks
		}
		x.request, x.since, x.tell = r.ID, e.now, tell
		changed := func(c Change) { e.locked(func() { e.remoteChanged(x, r.ID, c) }) }
		id, err := e.submit(who, &job{goal: &ready{x.seat, w}, work: w, watch: Watch{Changed: changed}})
		if err != nil {
			why = explain.Errors("invalid", err)
			return
		}
		x.goal, x.live = id, true
	})
	return why
}

// RemoteState takes a sign of life of a controller outside, or its word that it is
// not operational any more.
func (e *Executive) RemoteState(r RemoteState) {
	e.locked(func() {
		for _, x := range e.remotes {
			if x.name != r.Name || x.request > r.ID {
				continue // of a request that is over
			}
			x.since = e.now
			if !r.Operational && x.live {
				e.endRemote(x)
			}
		}
	})
}

// RemoteSeat returns the controller under which one outside works: where its values
// go.
func (e *Executive) RemoteSeat(name string) (controller string, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.remotes {
		if x.name == name {
			return x.seat.Name, true
		}
	}
	return "", false
}

// remoteSeat finds the seat of a controller outside, or gives it a free one.
func (e *Executive) remoteSeat(name string) (*remote, []Explanation) {
	taken := map[*seat]*remote{}
	for _, x := range e.remotes {
		if x.name == name {
			return x, nil
		}
		taken[x.seat] = x
	}
	var free *remote // seat of one that is gone
	for _, s := range e.seats {
		switch x := taken[s]; {
		case !s.Remote:
		case x == nil:
			x = &remote{name: name, seat: s}
			e.remotes = append(e.remotes, x)
			return x, nil
		case !x.live && free == nil:
			free = x
		}
	}
	if free != nil {
		free.name, free.request, free.owns = name, 0, robot.Set{}
		return free, nil
	}
	return nil, []Explanation{explain.Because("all_busy", fmt.Sprintf("no seat is free for controller %q outside: %d are taken", name, len(e.remotes))).
		With("configure more seats, or let another one end")}
}

// remoteOwns notes what a remote controller has now, and tells it.
func (e *Executive) remoteOwns(s *seat, set robot.Set) {
	for _, x := range e.remotes {
		if x.seat == s && x.live {
			x.owns = set
			e.assign(x, x.request)
		}
	}
}

// remoteChanged follows the goal of a remote controller. The requester is always
// answered, denial included.
func (e *Executive) remoteChanged(x *remote, request uint32, c Change) {
	if x.goal != c.Goal || !c.To.Terminal() {
		return
	}
	x.live, x.owns = false, robot.Set{}
	if c.Cause != action.ClientCancel {
		e.assign(x, request)
	}
}

// assign tells a controller outside who has what.
func (e *Executive) assign(x *remote, request uint32) {
	call := x.tell
	if call == nil || e.snap == nil {
		return
	}
	a := Assignment{Requests: []uint32{request}}
	res, err := e.model.Resources()
	if err != nil {
		return
	}
	for _, r := range res.List() {
		owner := e.ownerOf(r.Set, x)
		if x.owns.Contains(r.Set) {
			owner = x.name
		}
		a.Resources, a.Owners = append(a.Resources, r.Name), append(a.Owners, owner)
	}
	e.out.add(func() { call(a) })
}

// ownerOf names who has all of a resource by the newest state, "" if nobody does. Of
// the one who asks, its own word counts, which is newer.
func (e *Executive) ownerOf(set robot.Set, asks *remote) string {
	owner, first := arbiter.Nobody, true
	for leaf := range set.All {
		if has := e.snap.Owner[leaf]; first || has == owner {
			owner, first = has, false
		} else {
			return ""
		}
	}
	if owner == asks.seat.id {
		return ""
	}
	for _, x := range e.remotes {
		if x.seat.id == owner {
			return x.name
		}
	}
	return e.controllerName(owner)
}

func (e *Executive) remoteAlive(s *seat) {
	for _, x := range e.remotes {
		if x.seat == s {
			x.since = e.now
		}
	}
}

// watchRemotes frees everything of controllers that gave no sign of life for a
// lease.
func (e *Executive) watchRemotes() {
	for _, x := range e.remotes {
		if x.live && e.now-x.since > e.cfg.Lease.Nanoseconds() {
			e.endRemote(x)
			e.notice(Notice{Kind: "refused", Explanation: Explanation{Code: "lease_expired", Owner: x.name,
				Text:  fmt.Sprintf("controller %q outside gave no sign of life; what it had is free", x.name),
				Value: float64(e.now-x.since) * 1e-9, Limit: e.cfg.Lease.Seconds()}})
			x.since = e.now
		}
	}
}

func (e *Executive) endRemote(x *remote) {
	for _, j := range e.jobsOf(x.seat) {
		if j.id == x.goal {
			j.callOff()
		}
	}
}
