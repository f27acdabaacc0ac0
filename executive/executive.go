package executive

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"poise/action"
	"poise/executive/explain"
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
	seats []*seat // by the order of Config.Controllers

	workers chan struct{} // room for plans that are made at the same time
	pumping sync.Mutex    // one Pump at a time: snapshots have one reader
	out     outbox        // calls to the outside

	mu      sync.Mutex // all below
	orders  *orders
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
	plans   []plannedJob
	faults  []FaultState
	limp    robot.Set // what SetTorque has switched off
	turned  uint64    // tick in which torque last came or went
	remotes []*remote
	last    *Kept
}

// New makes an executive of a loop that may run already. Controllers that the loop
// does not have, and names that come twice, are reported all at once.
func New(cfg Config) (*Executive, error) {
	cfg.setDefaults()
	cfg.Controllers = slices.Clone(cfg.Controllers)
	e := &Executive{cfg: cfg, model: cfg.Model, servers: map[string]*server{}, jobs: map[uint64]*job{},
		workers: make(chan struct{}, max(cfg.Planning, 1))}
	e.orders = newOrders(cfg.Loop.Send, func(c *command, o Outcome) { e.audit(c.who, c.what, o.Text()) })
	words, err := explain.New(cfg.Model, e.controllerName)
	if err != nil {
		return nil, err
	}
	e.words = words
	errs := cfg.check()
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
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	e.newest()
	return e, nil
}

// Words returns what puts reasons into words for this robot.
func (e *Executive) Words() *explain.Words { return e.words }

// Submit takes a goal from somebody. It returns the goal's name, ours if id is
// empty; a name in use is an error (*action.DuplicateError), and then nothing
// happens. Everything else is told to the watch, a refusal too. stamp is the
// client's time for cancels by time, 0 if it has none.
func (e *Executive) Submit(who string, id action.ID, stamp action.Time, g Goal, w Watch) (name GoalID, err error) {
	v := e.look()
	work, why := v.prepare(g)
	e.locked(func() {
		if v.kept != nil {
			e.last = v.kept
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
			j.callOff()
		}
		why := explain.Because("server_stopped", "the executive was closed")
		for _, name := range e.names {
			e.servers[name].many.Stop(failed(why))
		}
		e.orders.end(why)
		e.closed = true
	})
}
