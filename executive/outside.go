package executive

import (
	"fmt"
	"math"

	"poise/action"
	"poise/control/stream"
	"poise/executive/explain"
	"poise/problem"
	"poise/robot"
)

// Outside serves controllers outside the process. They sit on seats of their own,
// streams that hold the lease for them: a request of theirs is a goal of that seat,
// their state messages and their values are the signs of life. A name belongs to the
// session that asked by it first, until that leaves or its seat is needed by another:
// what other sessions send under it does not count.
type Outside struct {
	e    *Executive
	list []*remote
}

// Outside returns what serves controllers outside the process.
func (e *Executive) Outside() *Outside { return &e.outside }

// OutsideRequest asks for resources on behalf of a controller outside.
type OutsideRequest struct {
	Name      string // of the controller outside
	Session   string // that it speaks by
	ID        uint32 // of its request
	Resources []string

	// Pending and Operational are priorities of the resources, while it asks and once
	// it runs: one each. One list alone is for both; none takes those of its seat.
	Pending, Operational []float32
}

// ranks words the priorities for the cycle.
func (r *OutsideRequest) ranks(words *explain.Words) (all []stream.Rank, reasons []Explanation) {
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
			reasons = append(reasons, *problem.New("invalid", "%d %s priorities for %d resources: there must be one each, or none", n, list.name, len(r.Resources)))
		}
		for i, v := range list.values {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				reasons = append(reasons, *problem.New("invalid", "%s priority %d is %v, must be a number", list.name, i+1, v))
			}
		}
	}
	if len(reasons) > 0 || len(pending) == 0 {
		return nil, reasons
	}
	for i, name := range r.Resources {
		set, unknown := words.Set([]string{name})
		reasons = append(reasons, unknown...)
		all = append(all, stream.Rank{Leaves: set, Pending: pending[i], Operational: operational[i]})
	}
	return all, reasons
}

// OutsideState is a sign of life of a controller outside, or its end.
type OutsideState struct {
	Name        string
	Session     string // that sent it
	ID          uint32 // of the request that it speaks of
	Operational bool
}

// Assignment says who has which resource. Requests are those that it answers.
type Assignment struct {
	Requests  []uint32
	Resources []string
	Owners    []string // "" where a resource is unowned
}

// remote is a controller outside on its seat.
type remote struct {
	name    string
	session string // whose name it is
	gone    bool   // the session has left
	seat    *seat
	request uint32
	goal    GoalID
	owns    robot.Set
	since   int64 // last sign of life, ns
	live    bool  // its goal is not over
	tell    func(Assignment)
}

// Request takes a request of a controller outside. tell is called with every change of
// who has what that concerns it, and once with the answer to the request, denial
// included.
func (o *Outside) Request(who string, r OutsideRequest, tell func(Assignment)) (reasons []Explanation) {
	o.e.locked(func() { reasons = o.request(who, &r, tell) })
	return reasons
}

func (o *Outside) request(who string, r *OutsideRequest, tell func(Assignment)) []Explanation {
	e := o.e
	client, reasons := o.seatFor(r.Name, r.Session)
	if reasons != nil {
		return reasons
	}
	set, reasons := e.words.Set(r.Resources)
	switch {
	case len(reasons) > 0:
		return reasons
	case e.robot.snap == nil:
		return []Explanation{e.whySilent()}
	}
	ranks, reasons := r.ranks(e.words)
	if reasons != nil {
		return reasons
	}
	w, reasons := e.operate(client.seat, set)
	if reasons != nil {
		return reasons
	}
	if p, ok := w.program.(*stream.Program); ok {
		p.Ranks = ranks
	}
	client.request, client.since, client.tell = r.ID, e.now, tell
	changed := func(c Change) { e.locked(func() { o.changed(client, r.ID, c) }) }
	id, err := e.submit(who, &job{goal: &ready{client.seat, w}, work: w, watch: Watch{Changed: changed}})
	if err != nil {
		return problem.All("invalid", err)
	}
	client.goal, client.live = id, true
	return nil
}

// Report takes a sign of life of a controller outside, or its word that it is not
// operational any more.
func (o *Outside) Report(r OutsideState) {
	o.e.locked(func() {
		for _, client := range o.list {
			if client.name != r.Name || client.session != r.Session || client.request > r.ID {
				continue // of another session, or of a request that is over
			}
			client.since = o.e.now
			if !r.Operational && client.live {
				o.end(client)
			}
		}
	})
}

// Leave ends what the controllers of a session do: it is gone, and they can give no
// more signs of life. Their names are free at once, their seats when they have let go.
func (o *Outside) Leave(session string) {
	o.e.locked(func() {
		for _, client := range o.list {
			if client.session != session || client.gone {
				continue
			}
			client.gone = true
			if client.live {
				o.end(client)
				o.e.notice(Notice{Kind: "refused", Explanation: Explanation{Code: "session_ended", Owner: client.name,
					Text: fmt.Sprintf("the connection of controller %q outside has ended; what it had is free", client.name)}})
			}
		}
	})
}

// Controller returns the controller under which one outside works: where the values go
// that its session publishes.
func (o *Outside) Controller(name, session string) (controller string, ok bool) {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	for _, client := range o.list {
		if client.name == name && client.session == session && !client.gone {
			return client.seat.Name, true
		}
	}
	return "", false
}

// Active reports whether a controller outside has, or asks for, resources.
func (o *Outside) Active(name, session string) bool {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	for _, client := range o.list {
		if client.name == name && client.session == session && client.live {
			return true
		}
	}
	return false
}

// sessionOn returns the session of the controller on a seat, "" if none is active there.
func (o *Outside) sessionOn(s *seat) string {
	for _, client := range o.list {
		if client.seat == s && client.live {
			return client.session
		}
	}
	return ""
}

// seatFor finds the seat of a controller outside, or gives it a free one.
func (o *Outside) seatFor(name, session string) (*remote, []Explanation) {
	taken := map[*seat]*remote{}
	for _, client := range o.list {
		switch {
		case client.name != name || client.gone:
		case client.session != session:
			return nil, []Explanation{o.belongs(name, client.session)}
		default:
			return client, nil
		}
		taken[client.seat] = client
	}
	for _, s := range o.e.robot.seats {
		if s.Name == name || s.Kind == name {
			return nil, []Explanation{o.belongs(name, "a controller of the server")}
		}
	}
	var free *remote // seat of one that has nothing
	for _, s := range o.e.robot.seats {
		switch client := taken[s]; {
		case !s.Remote:
		case client == nil:
			client = &remote{name: name, session: session, seat: s}
			o.list = append(o.list, client)
			return client, nil
		case !client.live && (free == nil || client.gone && !free.gone):
			free = client
		}
	}
	if free != nil {
		*free = remote{name: name, session: session, seat: free.seat}
		return free, nil
	}
	return nil, []Explanation{*problem.New("all_busy", "no seat is free for controller %q outside: %d are taken", name, len(o.list)).
		With("configure more seats, or let another one end")}
}

func (o *Outside) belongs(name, owner string) Explanation {
	explanation := *problem.New("name_taken", "the name %q belongs to %s", name, owner).With("choose another name for the controller outside")
	explanation.Owner = owner
	return explanation
}

// owns notes what the controller on a seat has now, and tells it.
func (o *Outside) owns(s *seat, set robot.Set) {
	for _, client := range o.list {
		if client.seat == s && client.live {
			client.owns = set
			o.assign(client, client.request)
		}
	}
}

// changed follows the goal of a controller outside. The requester is always answered,
// denial included.
func (o *Outside) changed(client *remote, request uint32, c Change) {
	if client.goal != c.Goal || !c.To.Terminal() {
		return
	}
	client.live, client.owns = false, robot.Set{}
	if c.Cause != action.ClientCancel {
		o.assign(client, request)
	}
}

// assign tells a controller outside who has what.
func (o *Outside) assign(client *remote, request uint32) {
	call := client.tell
	if call == nil || o.e.robot.snap == nil {
		return
	}
	a := Assignment{Requests: []uint32{request}}
	resources, err := o.e.model.Resources()
	if err != nil {
		return
	}
	for _, r := range resources.List() {
		owner := o.ownerOf(r.Set, client)
		if client.owns.Contains(r.Set) {
			owner = client.name
		}
		a.Resources, a.Owners = append(a.Resources, r.Name), append(a.Owners, owner)
	}
	o.e.out.add(func() { call(a) })
}

// ownerOf names the owner of a whole resource by the newest state, "" if it has none. Of
// the one who asks, its own word counts, which is newer.
func (o *Outside) ownerOf(set robot.Set, asks *remote) string {
	owner := o.e.robot.ownerOf(set)
	if owner == asks.seat.id {
		return ""
	}
	for _, client := range o.list {
		if client.seat.id == owner {
			return client.name
		}
	}
	return o.e.robot.controllerName(owner)
}

// alive notes a sign of life from a seat.
func (o *Outside) alive(s *seat) {
	for _, client := range o.list {
		if client.seat == s {
			client.since = o.e.now
		}
	}
}

// expire frees everything of controllers that gave no sign of life for a lease.
func (o *Outside) expire() {
	e := o.e
	for _, client := range o.list {
		if client.live && e.now-client.since > e.cfg.Lease.Nanoseconds() {
			o.end(client)
			e.notice(Notice{Kind: "refused", Explanation: Explanation{Code: "lease_expired", Owner: client.name,
				Text:  fmt.Sprintf("controller %q outside gave no sign of life; what it had is free", client.name),
				Value: float64(e.now-client.since) * 1e-9, Limit: e.cfg.Lease.Seconds()}})
			client.since = e.now
		}
	}
}

// end calls off what a controller outside does.
func (o *Outside) end(client *remote) {
	for _, j := range o.e.goals.of(client.seat) {
		if j.id == client.goal {
			j.callOff()
		}
	}
}
