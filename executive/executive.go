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
	actions map[string]*Goals
	names   []string          // of actions, by arrival
	waiting map[string][]*job // goals to be prepared, by sender
	live    []*job            // goals that are not over, by arrival
	jobs    map[uint64]*job
	plans   []plannedJob
	faults  []FaultState
	limp    robot.Set // what SetTorque has switched off
	turned  uint64    // tick in which torque last came or went
	halts   uint64    // how often somebody stopped or paused the robot, or took its power
	remotes []*remote
	last    *Kept
}

// New makes an executive of a loop that may run already. Controllers that the loop
// does not have, and names that come twice, are reported all at once.
func New(cfg Config) (*Executive, error) {
	cfg.setDefaults()
	cfg.Controllers = slices.Clone(cfg.Controllers)
	e := &Executive{cfg: cfg, model: cfg.Model, actions: map[string]*Goals{}, waiting: map[string][]*job{}, jobs: map[uint64]*job{},
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

// Submit takes a goal of the action that is the goal's own; see Goals.Submit.
func (e *Executive) Submit(who string, id action.ID, stamp action.Time, g Goal, w Watch) (GoalID, error) {
	goals := e.Goals(g.Action())
	name, err := goals.Submit(who, id, stamp, g, w)
	if err != nil {
		return GoalID{}, err
	}
	return GoalID{Action: goals.name, ID: name}, nil
}

// submit takes a goal of ours that is prepared.
func (e *Executive) submit(who string, j *job) (GoalID, error) {
	j.who = who
	g := e.goalsOf(j.goal.Action())
	id, err := g.submit("", 0, j)
	if err != nil {
		return GoalID{}, err
	}
	return GoalID{Action: g.name, ID: id}, nil
}

// Cancel calls goals of an action off; see Goals.Cancel.
func (e *Executive) Cancel(who, actionName string, id action.ID, before action.Time) int {
	return e.Goals(actionName).Cancel(who, id, before)
}

// CancelAll calls everything off.
func (e *Executive) CancelAll(who string) (n int) {
	e.locked(func() {
		for _, name := range e.names {
			n += e.actions[name].many.Cancel("", 0)
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
			e.actions[name].many.Stop(failed(why))
		}
		e.orders.end(why)
		e.closed = true
	})
}
