package executive

import (
	"fmt"
	"math"
	"slices"
	"time"

	"poise/control/stream"
	"poise/executive/explain"
	"poise/loop"
	"poise/problem"
	"poise/robot"
)

// Outside serves external controllers, those in other processes. Each has a seat of the cycle, where a
// stream stands in for it: a request of its is a goal of that seat, what the arbiter asks
// is passed on to it, and its state messages are the answers and signs of life. A name
// belongs to the session that asked by it first, until that leaves or its seat is needed
// by another: what other sessions send under it does not count.
type Outside struct {
	e    *Executive
	list []*remote
}

// Outside returns what serves external controllers.
func (e *Executive) Outside() *Outside { return &e.outside }

// OutsideRequest asks for resources on behalf of an external controller.
type OutsideRequest struct {
	Name      string // of the external controller
	Session   string // that it speaks by
	ID        uint32 // of its request
	Resources []string
	Needed    []bool // of each resource: it cannot run without; none needs none, and its answers decide
	// Pending and Operational are priorities of the resources, while it asks and once
	// it runs: one each. One list alone is for both; none takes those of its seat.
	Pending, Operational []float32
	Lease                float64 // s, how long it may give no sign of life; 0 is the configured one
}

// Bounds of a lease that is asked for, s.
const (
	minLease = 0.01
	maxLease = 60
)

// claim words what is asked for, for the cycle.
func (r *OutsideRequest) claim(words *explain.Words) (p *stream.Program, reasons []Explanation) {
	p = &stream.Program{Lease: r.Lease}
	if len(r.Needed) != 0 && len(r.Needed) != len(r.Resources) {
		reasons = append(reasons, *problem.New("invalid", "%d marks of need for %d resources: there must be one each, or none", len(r.Needed), len(r.Resources)))
	}
	if r.Lease != 0 && !(r.Lease >= minLease && r.Lease <= maxLease) {
		reasons = append(reasons, *problem.New("invalid", "lease %g s, must be %g … %g s, or 0 for the configured one", r.Lease, minLease, float64(maxLease)))
	}
	for i, name := range r.Resources {
		set, unknown := words.Set([]string{name})
		reasons = append(reasons, unknown...)
		if i < len(r.Needed) && r.Needed[i] {
			p.Needs = p.Needs.Union(set)
		} else {
			p.Wants = p.Wants.Union(set)
		}
	}
	p.Wants = p.Wants.Minus(p.Needs)
	ranks, bad := r.ranks(words)
	p.Ranks = ranks
	return p, append(reasons, bad...)
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
				reasons = append(reasons, *problem.New("invalid", "%s priority %d is %v, which is not finite", list.name, i+1, v))
			}
		}
	}
	if len(reasons) > 0 || len(pending) == 0 {
		return nil, reasons
	}
	for i, name := range r.Resources {
		set, _ := words.Set([]string{name})
		all = append(all, stream.Rank{Leaves: set, Pending: pending[i], Operational: operational[i]})
	}
	return all, nil
}

// OutsideState is the answer of an external controller to what it was told last, a sign of
// life, or its end.
type OutsideState struct {
	Name        string
	Session     string // that sent it
	ID          uint32 // of the request that it is about; 0 with Operational is a sign of life alone
	Operational bool
}

// remote is an external controller on its seat.
type remote struct {
	name    string
	session string // whose name it is
	gone    bool   // the session has left
	seat    *seat
	newest  uint32  // request of it
	asks    asked   // in a round that is open
	before  []asked // that asks took the place of, and that are not over: one may have been confirmed, and begin
	runs    asked   // operational
	owns    robot.Set
	beat    int64 // when a sign of life was last passed on, ns
	tell    func(News)
	denied  []Explanation // why its last request was denied, or why it lost what it had
	leftOut leftOut       // of its values
}

// asked is a request of an external controller, and its goal; of none id is empty.
type asked struct {
	id       GoalID
	request  uint32
	named    []string // resources, as it named them
	program  *stream.Program
	offered  robot.Set
	question float64 // that waits for its answer; 0 means no question
}

func (a *asked) live() bool { return a.id.ID != "" }

// lease is the shortest that the controller has: the configured one, or those of its requests.
func (c *remote) lease(configured time.Duration) time.Duration {
	for _, a := range []*asked{&c.asks, &c.runs} {
		if a.live() && a.program != nil && a.program.Lease > 0 {
			configured = min(configured, time.Duration(a.program.Lease*float64(time.Second)))
		}
	}
	return configured
}

func (c *remote) live() bool { return c.asks.live() || c.runs.live() || len(c.before) > 0 }

// Request takes a request of an external controller. tell is called with everything that
// concerns it: offers, changes of its set, grants and denials.
func (o *Outside) Request(who string, r OutsideRequest, tell func(News)) (reasons []Explanation) {
	o.e.locked(func() {
		if reasons = o.request(who, &r, tell); len(reasons) > 0 {
			o.e.rounds.refused(o.e, r.Name, r.ID, reasons)
			if client := o.client(r.Name, r.Session); client != nil && !client.live() {
				client.denied = reasons
			}
		}
	})
	return reasons
}

// Refused notes a request that was refused for its name: why is told where rounds are.
func (o *Outside) Refused(r OutsideRequest, why error) {
	o.e.locked(func() { o.e.rounds.refused(o.e, r.Name, r.ID, problem.All("invalid", why)) })
}

func (o *Outside) request(who string, r *OutsideRequest, tell func(News)) []Explanation {
	e := o.e
	if full := o.full(r.Name, r.Session); full != nil {
		return []Explanation{*full}
	}
	client, reasons := o.seatFor(r.Name, r.Session)
	if reasons != nil {
		return reasons
	}
	program, reasons := r.claim(e.words)
	switch {
	case len(reasons) > 0:
		return reasons
	case program.Needs.Union(program.Wants).Empty():
		return []Explanation{*problem.New("no_resources", "controller %q asks for nothing", r.Name).With("name at least one resource")}
	case e.robot.snap == nil:
		return []Explanation{e.whySilent()}
	case client.live() && r.ID <= client.newest:
		return []Explanation{*problem.New("old_request", "request %d of controller %q is not newer than %d", r.ID, r.Name, client.newest).With("count requests up")}
	}
	client.newest, client.tell, client.denied = r.ID, tell, nil
	client.seat.client = client.name
	changed := func(c Change) { e.locked(func() { o.changed(client, c) }) }
	w := newWork([]string{client.seat.Name}, program)
	id, err := e.submit(who, &job{goal: &ready{seat: client.seat, work: w, client: client.name, request: r.ID}, work: w, watch: Watch{Changed: changed}})
	if err != nil {
		return problem.All("invalid", err)
	}
	if client.asks.live() {
		client.before = append(client.before, client.asks)
	}
	client.asks = asked{id: id, request: r.ID, named: r.Resources, program: program}
	e.rounds.begin(e, client.seat, r.ID).goal = id
	return nil
}

// Report takes an answer or a sign of life of an external controller, or its word that it is
// not operational any more. What is about a request that is over does not count.
func (o *Outside) Report(r OutsideState) {
	o.e.locked(func() {
		client := o.client(r.Name, r.Session)
		if client == nil || !client.live() {
			return
		}
		if r.ID == 0 && r.Operational && client.newest > 0 {
			o.signOfLife(client)
			return
		}
		if r.ID < client.newest && r.ID != client.runs.request {
			return
		}
		if !r.Operational {
			if r.ID >= client.newest {
				o.quit(client)
			} else {
				o.e.rounds.answer(o.e, client.seat, true, "quit")
				client.runs.question = 0
				for _, j := range o.e.goals.of(client.seat) {
					if j.id == client.runs.id { // and no newer one, which may run already
						o.e.orders.send(loop.Order{Kind: loop.Answer, Controller: client.seat.id, Goal: j.number, Value: loop.QuitsRunning})
					}
				}
			}
			return
		}
		answered := false
		for _, a := range []*asked{&client.asks, &client.runs} {
			if a.live() && a.question > 0 && (a.request == r.ID || r.ID == client.newest) {
				o.answer(client, a.question)
				o.e.rounds.answer(o.e, client.seat, a == &client.runs, "confirmed")
				a.question, answered = 0, true
			}
		}
		if !answered {
			o.signOfLife(client)
		}
	})
}

// signOfLife passes a few signs of life in each lease on to the cycle.
func (o *Outside) signOfLife(client *remote) {
	if every := client.lease(o.e.cfg.Lease).Nanoseconds() / 8; o.e.now-client.beat >= every {
		o.answer(client, loop.SignOfLife)
	}
}

// answer passes an answer on to the cycle; 0 is a sign of life, below 0 it quits.
func (o *Outside) answer(client *remote, question float64) {
	client.beat = o.e.now
	o.e.orders.send(loop.Order{Kind: loop.Answer, Controller: client.seat.id, Value: question})
}

// quit ends what an external controller does and asks for.
func (o *Outside) quit(client *remote) {
	o.e.rounds.answer(o.e, client.seat, client.runs.live(), "quit")
	client.asks.question, client.runs.question = 0, 0
	o.answer(client, loop.Quits)
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
			if client.live() {
				o.quit(client)
				o.e.notice(Notice{Kind: "refused", Explanation: Explanation{Code: "session_ended", Owner: client.name,
					Text: fmt.Sprintf("the connection of external controller %q has ended; what it had is free", client.name)}})
			}
		}
	})
}

// Controller returns the controller under which an external one works: where the values go
// that its session publishes.
func (o *Outside) Controller(name, session string) (controller string, ok bool) {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	if client := o.client(name, session); client != nil {
		return client.seat.Name, true
	}
	return "", false
}

// Active reports whether an external controller has, or asks for, resources.
func (o *Outside) Active(name, session string) bool {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	client := o.client(name, session)
	return client != nil && client.live()
}

// client finds an external controller by its name, if it is the session's.
func (o *Outside) client(name, session string) *remote {
	for _, c := range o.list {
		if c.name == name && c.session == session && !c.gone {
			return c
		}
	}
	return nil
}

// on returns the external controller that has a seat, nil if none.
func (o *Outside) on(s *seat) *remote {
	for _, c := range o.list {
		if c.seat == s {
			return c
		}
	}
	return nil
}

// sessionOn returns the session of the controller on a seat, "" if none is active there.
func (o *Outside) sessionOn(s *seat) string {
	if c := o.on(s); c != nil && c.live() {
		return c.session
	}
	return ""
}

// full explains that a session has as many other controllers at work as one may have.
func (o *Outside) full(name, session string) *Explanation {
	n, limit := 0, o.e.cfg.PerSession
	for _, c := range o.list {
		if c.session == session && c.name != name && !c.gone && c.live() {
			n++
		}
	}
	if limit <= 0 || n < limit {
		return nil
	}
	x := problem.New("too_many_controllers", "%s has %d external controllers that have or ask for resources, %d are allowed to one client: there is no place for %q", session, n, limit, name).
		With("let another one end, or set limits.controllers")
	x.Value, x.Limit = float64(n), float64(limit)
	return x
}

// seatFor finds the seat of an external controller, or gives it a free one.
func (o *Outside) seatFor(name, session string) (*remote, []Explanation) {
	for _, client := range o.list {
		switch {
		case client.name != name || client.gone:
		case client.session != session:
			return nil, []Explanation{o.belongs(name, client.session)}
		default:
			return client, nil
		}
	}
	for _, s := range o.e.robot.seats {
		if s.Name == name || s.Kind == name {
			return nil, []Explanation{o.belongs(name, "a controller of the server")}
		}
	}
	var free *remote // seat of one that has nothing
	for _, s := range o.e.robot.seats {
		switch client := o.on(s); {
		case !s.Remote:
		case client == nil:
			client = &remote{name: name, session: session, seat: s}
			o.list = append(o.list, client)
			return client, nil
		case !client.live() && (free == nil || client.gone && !free.gone):
			free = client
		}
	}
	if free != nil {
		*free = remote{name: name, session: session, seat: free.seat}
		return free, nil
	}
	return nil, []Explanation{*problem.New("all_busy", "no seat is free for external controller %q: %d are taken", name, len(o.list)).
		With("configure more seats, or let another one end")}
}

func (o *Outside) belongs(name, owner string) Explanation {
	explanation := *problem.New("name_taken", "the name %q belongs to %s", name, owner).With("choose another name for the external controller")
	explanation.Owner = owner
	return explanation
}

// asked passes a question of the arbiter on to the external controller on a seat.
func (o *Outside) asked(r *loop.Report) {
	s := o.e.robot.seatOf(r.Controller)
	client := o.on(s)
	if s == nil || client == nil || client.gone {
		return // the session has left, and it quits
	}
	kind, a := Offered, &client.asks
	if r.From != 0 {
		kind, a = Reassigned, &client.runs
	}
	a.question, a.offered = r.Value, r.Set
	taker := o.e.robot.controllerName(r.Reason.Who)
	o.e.rounds.asked(o.e, s, r)
	o.news(client, kind, a, r.Set, taker, nil)
}

// owns notes what the controller on a seat has confirmed and has now.
func (o *Outside) owns(s *seat, set robot.Set) {
	if client := o.on(s); client != nil {
		client.owns = set
	}
}

// began notes that the request of an external controller is granted.
func (o *Outside) began(j *job) {
	client := o.on(j.seat)
	if client == nil {
		return
	}
	if client.asks.id == j.id {
		client.runs, client.asks = client.asks, asked{}
	} else if i := client.earlier(j.id); i >= 0 {
		client.runs = client.before[i]
		client.before = slices.Delete(client.before, i, i+1)
	} else {
		return
	}
	client.runs.question = 0
	o.news(client, Granted, &client.runs, client.owns, "", nil)
}

// earlier returns the place of a goal among the requests before the newest, -1 if it is not there.
func (c *remote) earlier(id GoalID) int {
	return slices.IndexFunc(c.before, func(a asked) bool { return a.id == id })
}

// changed follows the goals of an external controller. The requester is always answered,
// denial included.
func (o *Outside) changed(client *remote, c Change) {
	switch {
	case !c.To.Terminal():
	case client.asks.id == c.Goal:
		over := client.asks
		client.asks = asked{}
		client.denied = c.Result.Explanations
		o.e.rounds.over(o.e, client.seat, c.Goal, c.Result.Explanations)
		o.news(client, Denied, &over, client.owns, "", c.Result.Explanations)
	case client.runs.id == c.Goal:
		over := client.runs
		client.runs, client.owns = asked{}, robot.Set{}
		client.denied = c.Result.Explanations
		o.news(client, Ended, &over, robot.Set{}, "", c.Result.Explanations)
	default:
		if i := client.earlier(c.Goal); i >= 0 {
			client.before = slices.Delete(client.before, i, i+1)
		}
	}
	if !client.live() && o.on(client.seat) == client {
		client.seat.client = ""
	}
}
