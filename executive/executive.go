package executive

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"poise/action"
	"poise/arbiter"
	"poise/executive/desk"
	"poise/executive/explain"
	"poise/executive/wish"
	"poise/loop"
	"poise/robot"
	"poise/servo"
)

// Executive is the outside half of one robot's control. Make one with New; all
// methods are safe for concurrent use.
type Executive struct {
	cfg   Config
	model *robot.Model
	words *explain.Words
	means *wish.Means
	seats []*seat // by the order of Config.Controllers

	workers chan struct{} // room for plans that are made at the same time
	pumping sync.Mutex    // one Pump at a time: snapshots have one reader

	mu      sync.Mutex // all below
	desk    *desk.Desk
	now     int64 // ns, as given to the last Pump
	snap    *loop.Snapshot
	tick    servo.Tick // of snap
	heard   int64      // now when a new tick was last seen
	pumped  bool
	silent  bool
	closed  bool
	servers map[string]*server
	names   []string // of servers, by arrival
	live    []*job   // goals that are not over, by arrival
	jobs    map[uint64]*job
	plans   []planned
	faults  []FaultState
	limp    robot.Set // what SetTorque has switched off
	turned  uint64    // tick in which torque last came or went
	remotes []*remote
	last    *Kept

	calls      []func() // to the outside, in order
	delivering bool
}

// seat is a controller of the loop.
type seat struct {
	*Controller
	id     arbiter.ClientID
	fed    Explanation // why the last value of its stream was refused
	halted bool        // by an order of ours
}

// New makes an executive of a loop that may run already. Controllers that the loop
// does not have, and names that come twice, are reported all at once.
func New(cfg Config) (*Executive, error) {
	cfg.setDefaults()
	cfg.Controllers = slices.Clone(cfg.Controllers)
	e := &Executive{cfg: cfg, model: cfg.Model, servers: map[string]*server{}, jobs: map[uint64]*job{},
		workers: make(chan struct{}, max(cfg.Planning, 1))}
	e.desk = desk.New(cfg.Loop.Send, func(c *desk.Command, o Outcome) { e.audit(c.Who, c.What, o.Text()) })
	words, err := explain.New(cfg.Model, e.controllerName)
	if err != nil {
		return nil, err
	}
	e.words = words
	e.means = &wish.Means{Model: cfg.Model, Words: words, Pipelines: cfg.Pipelines, Library: cfg.Library, Follow: cfg.Follow, Approach: cfg.Approach}
	var errs []error
	seen := map[string]bool{}
	for i := range cfg.Controllers {
		c := &cfg.Controllers[i]
		id, ok := cfg.Loop.Controller(c.Name)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("executive: the loop has no controller %q", c.Name))
		case seen[c.Name]:
			errs = append(errs, fmt.Errorf("executive: controller %q comes twice", c.Name))
		}
		if _, unknown := e.words.Set(c.Resources); len(unknown) > 0 {
			errs = append(errs, fmt.Errorf("executive: controller %q: %w", c.Name, unknown[0]))
		}
		seen[c.Name] = true
		e.seats = append(e.seats, &seat{Controller: c, id: id})
		e.means.Controllers = append(e.means.Controllers, c)
	}
	if !(cfg.FeedbackRate > 0 && cfg.FeedbackRate <= maxFeedbackRate) {
		errs = append(errs, fmt.Errorf("executive: feedback at %g Hz, must be above 0 and at most %d", cfg.FeedbackRate, maxFeedbackRate))
	}
	if cfg.Patience < 0 || cfg.Keep < 0 || cfg.Planning < 0 {
		errs = append(errs, fmt.Errorf("executive: patience %v, keep %v, planning %d: none may be negative", cfg.Patience, cfg.Keep, cfg.Planning))
	}
	if !(cfg.Approach.Share > 0 && cfg.Approach.Share <= 1) || !(cfg.Approach.Speed > 0) {
		errs = append(errs, fmt.Errorf("executive: approach moves with a share of %g and at %g rad/s, the share must be above 0 and at most 1", cfg.Approach.Share, cfg.Approach.Speed))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	e.newest()
	return e, nil
}

// controllerName returns the name of a controller by its number.
func (e *Executive) controllerName(id arbiter.ClientID) string {
	for _, s := range e.seats {
		if s.id == id {
			return s.Name
		}
	}
	return ""
}

// Words returns what puts reasons into words for this robot.
func (e *Executive) Words() *explain.Words { return e.words }

func (e *Executive) seat(name string) (*seat, bool) {
	for _, s := range e.seats {
		if s.Name == name {
			return s, true
		}
	}
	return nil, false
}

func (e *Executive) seatOf(id arbiter.ClientID) *seat {
	for _, s := range e.seats {
		if s.id == id {
			return s
		}
	}
	return nil
}

// pool returns the controllers of a kind.
func (e *Executive) pool(kind string) (all []*seat) {
	for _, s := range e.seats {
		if s.Kind == kind && !s.Remote {
			all = append(all, s)
		}
	}
	return all
}

func (e *Executive) controllerNames() (all []string) {
	for _, s := range e.seats {
		all = append(all, s.Name)
	}
	return all
}

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

// Submit takes a goal from somebody. It returns the goal's name, ours if id is
// empty; a name in use is an error (*action.DuplicateError), and then nothing
// happens. Everything else is told to the watch, a refusal too. stamp is the
// client's time for cancels by time, 0 if it has none.
func (e *Executive) Submit(who string, id action.ID, stamp action.Time, g Goal, w Watch) (name GoalID, err error) {
	v := e.look()
	work, why := v.Prepare(g)
	e.locked(func() {
		if v.Kept != nil {
			e.last = v.Kept
		}
		name, err = e.submit(who, id, stamp, &job{goal: g, watch: w, work: work, why: why})
	})
	return name, err
}

// submit takes a goal that is prepared.
func (e *Executive) submit(who string, id action.ID, stamp action.Time, j *job) (GoalID, error) {
	s := e.server(j.goal.Action())
	j.e, j.server, j.who = e, s, who
	s.incoming = j
	h, err := s.many.Submit(id, stamp, j)
	s.incoming = nil
	if err != nil {
		return GoalID{}, err
	}
	return GoalID{Action: s.name, ID: h.ID()}, nil
}

// Cancel calls goals of an action off, with the meaning of actionlib: no id and no
// stamp, all; a stamp, those stamped no later; an id, that one, also if it has not
// come yet. It returns how many goals it reached; each slows down along its path
// and then ends.
func (e *Executive) Cancel(who, actionName string, id action.ID, before action.Time) (n int) {
	e.locked(func() {
		n = e.server(actionName).many.Cancel(id, before)
		e.audit(who, "cancel "+GoalID{actionName, id}.String(), fmt.Sprintf("%d reached", n))
	})
	return n
}

// CancelAll calls everything off.
func (e *Executive) CancelAll(who string) (n int) {
	e.locked(func() {
		for _, name := range e.names {
			n += e.servers[name].many.Cancel("", 0)
		}
		e.audit(who, "cancel all", fmt.Sprintf("%d reached", n))
	})
	return n
}

// Close ends all goals and commands and takes no more. What runs in the cycle is
// called off; pump once more to be sure that this is sent.
func (e *Executive) Close() {
	e.locked(func() {
		if e.closed {
			return
		}
		for _, j := range e.live {
			if j.number != 0 {
				e.desk.Order(loop.Order{Kind: loop.CancelGoal, Controller: j.seat.id, Goal: j.number})
			}
			if j.stop != nil {
				j.stop()
			}
		}
		why := explain.Because("server_stopped", "the executive was closed")
		for _, name := range e.names {
			e.servers[name].many.Stop(failed(why))
		}
		e.desk.End(why)
		e.closed = true
	})
}

// server is the book of one action's goals.
type server struct {
	e        *Executive
	name     string
	many     *action.Many[*job, Feedback, Result]
	jobs     map[action.ID]*job
	over     map[action.ID]int64 // when each ended, ns
	incoming *job                // being submitted
}

// maxActions is how many names of actions are told apart; more are made up.
const maxActions = 512

func (e *Executive) server(name string) *server {
	s, ok := e.servers[name]
	if !ok && len(e.servers) >= maxActions {
		name = "other"
		s, ok = e.servers[name]
	}
	if !ok {
		s = &server{e: e, name: name, jobs: map[action.ID]*job{}, over: map[action.ID]int64{}}
		s.many = action.NewMany(handler{s}, action.Observer[Feedback, Result](observer{s}))
		if !e.closed {
			s.many.Start()
		}
		e.servers[name] = s
		e.names = append(e.names, name)
	}
	return s
}

// forget frees the names of goals that are long over.
func (s *server) forget(before int64) {
	drop := false
	for id, at := range s.over {
		if at <= before {
			delete(s.over, id)
			delete(s.jobs, id)
			drop = true
		}
	}
	if drop {
		s.many.Forget(func(id action.ID) bool { _, kept := s.over[id]; return kept })
	}
}

// handler keeps the callbacks of package action out of server's own interface.
type handler struct{ s *server }

func (x handler) Goal(h *action.Handle[*job, Feedback, Result])   { h.Goal().begin(h) }
func (x handler) Cancel(h *action.Handle[*job, Feedback, Result]) { h.Goal().cancel() }

// observer tells the outside.
type observer struct{ s *server }

func (x observer) Changed(c action.Change[Result]) {
	s := x.s
	j, known := s.jobs[c.ID]
	if !known {
		j = s.incoming
		s.jobs[c.ID] = j
		j.id = GoalID{Action: s.name, ID: c.ID}
	}
	j.changed(c)
}

func (x observer) Feedback(id action.ID, f Feedback) {
	if call := x.s.jobs[id].watch.Feedback; call != nil {
		x.s.e.tell(func() { call(f) })
	}
}

func failed(why ...Explanation) Result {
	r := Result{Code: "failed", Explanations: why}
	if len(why) > 0 {
		r.Code = why[0].Code
	}
	return r
}

func joinText(all []Explanation) string { return explain.Join(all) }
