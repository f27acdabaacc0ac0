package executive

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"poise/action"
	"poise/executive/explain"
	"poise/problem"
	"poise/robot"
)

// Executive is the outside half of one robot's control. Make one with New; all
// methods are safe for concurrent use.
type Executive struct {
	cfg   Config
	model *robot.Model
	words *explain.Words

	pumping sync.Mutex    // one Pump at a time: snapshots have one reader
	pumps   atomic.Uint64 // that are over
	out     outbox        // calls to the outside
	wants   atomic.Int64  // ns after which the sink of states wants the next one
	stirred chan struct{} // ends a rest of Run
	hurried chan struct{} // an order has left that a client waits for
	quick   float64       // how many times Run may look early; its own
	quickAt int64         // when that was counted, ns
	resting atomic.Bool   // Run waits longer than pumpPeriod

	mu       sync.Mutex // all below
	asked    int64      // ns, as given to the last Pump
	now      int64      // the same without the time that stood still
	pumped   bool
	closed   bool
	shown    uint64            // tick of the state that the sink was shown, and one
	ahead    int64             // ns, by which Run's clock is ahead of the cycle's at least
	aheadAt  int64             // ns, as asked
	stirs    bool              // something was asked for or told since Run looked for it
	changes  uint64            // how often that was so
	lastBusy int64             // ns, as asked
	robot    robotState        // what is known of the robot
	orders   *orders           // to the cycle, and commands that wait for their outcome
	goals    goalBook          // the goals and their lives
	waiting  map[string][]*job // goals to be prepared, by sender
	plans    []plannedJob      // that came back
	outside  Outside           // external controllers
	rounds   rounds            // of requests, the last ones
	last     *Kept
}

// New makes an executive of a loop that may run already. Controllers that the loop
// does not have, and names that come twice, are reported all at once.
func New(cfg Config) (*Executive, error) {
	cfg.setDefaults()
	cfg.Controllers = slices.Clone(cfg.Controllers)
	e := &Executive{cfg: cfg, model: cfg.Model, goals: newGoalBook(), waiting: map[string][]*job{}, stirred: make(chan struct{}, 1), hurried: make(chan struct{}, 1), quick: quickPumps, ahead: math.MaxInt64 / 2}
	e.outside.e = e
	e.orders = newOrders(cfg.Loop.Send, func(c *command, o Outcome) { e.audit(c.who, c.what, o.Text()) })
	words, err := explain.New(cfg.Model, e.robot.controllerName)
	if err != nil {
		return nil, err
	}
	words = words.WithMissing(cfg.Absent)
	e.words = words
	e.robot.model, e.robot.words = cfg.Model, words
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
		e.robot.seats = append(e.robot.seats, &seat{Controller: c, id: id})
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
		for _, name := range e.goals.names {
			n += e.goals.actions[name].many.Cancel("", 0)
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
		for _, j := range e.goals.live {
			j.callOff()
		}
		why := *problem.New("server_stopped", "the executive was closed")
		for _, name := range e.goals.names {
			e.goals.actions[name].many.Stop(failed(why))
		}
		e.orders.end(why)
		e.closed = true
	})
}
