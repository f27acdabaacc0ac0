package executive

import (
	"fmt"
	"time"

	"poise/arbiter"
	"poise/control"
	"poise/control/follow"
	"poise/external"
	"poise/loop"
	"poise/motion/library"
	"poise/planner/pipeline"
	"poise/planner/queue"
	"poise/problem"
	"poise/robot"
	"poise/servo"
)

// Explanation is why something was refused or ended: the one type of problem.
type Explanation = problem.Problem

// Cycle is a loop as seen from outside; *loop.Loop is one.
type Cycle interface {
	Send(loop.Order) bool
	Stop(category uint8) (number uint64)
	StopState() loop.StopState
	Receive() (loop.Report, bool)
	Snapshot() (*loop.Snapshot, bool)
	Controller(name string) (arbiter.ClientID, bool)
}

// Controller is a controller of the loop, and what the executive has to know of it.
type Controller struct {
	Name  string // as registered with the loop
	Short string // what it does, for people
	Kind  string // such as "follow": goals look for their controllers by it
	// KeepsBalance tells that it keeps the robot on its feet by itself while it is active: a motion of
	// other limbs need not find what it owns in its start pose.
	KeepsBalance bool
	// Replaces tells that its goals take joints from goals of other such controllers, the newer from the older.
	Replaces bool

	// Operate makes the program of a goal Operational on some leaves; now is valid
	// during the call only. Nil is for controllers that are not switched on and off
	// but given goals.
	Operate func(set robot.Set, now *loop.Snapshot) (control.Program, error)
	// Resources are what Operational asks for if the goal does not say.
	Resources []string
	// Remote makes the controller a seat for external controllers.
	Remote bool
}

// Library finds stored motions by name; *library.Library is one. It must be safe
// for concurrent use.
type Library interface {
	Get(name string) (*library.Motion, error)
}

// ApproachLimits are how fast approach moves are.
type ApproachLimits struct {
	Share float64 // of the joints' limits; default 0.5
	Speed float64 // rad/s or m/s where a joint has no velocity limit; default 1
}

// Config makes an Executive. Zero values mean the defaults.
type Config struct {
	Model       *robot.Model
	Loop        Cycle
	Controllers []Controller
	Confirm     loop.Confirmer // of servos that can be silent; nil: what the cycle has done is done
	Absent      robot.Set      // joints whose servos are missing, as Settings.Absent of the loop
	Pipelines   pipeline.Set   // the first is meant where a goal names none
	Library     Library        // stored motions; nil has none
	// Experiment begins an experiment by the request of a goal, or refuses it; it takes nothing. now is
	// valid during the call only. Nil: there are none.
	Experiment func(request any, now *loop.Snapshot) (ExperimentRun, []Explanation)

	FeedbackRate float64       // Hz, of feedback to each goal; default 20
	Patience     time.Duration // how long the cycle may say nothing; default 1 s
	Keep         time.Duration // how long ids of goals that are over stay taken; default 10 s
	Lease        time.Duration // how long an external controller may give no sign of life; default 200 ms
	PerSession   int           // external controllers of one session that may have or ask for resources; default any number
	Plans        *queue.Queue  // shares the processors among plans; default one of its own
	Approach     ApproachLimits
	Follow       follow.Options // defaults of tolerances
	Frozen       func() bool    // reports whether the cycle's time stands still on purpose; nil: never. Concurrent

	// Sinks; each may be nil. They come one at a time, in order.
	Event  func(Event)  // a text command leaves
	Felt   func(Felt)   // a touch-down, a lift-off or an impact
	Notice func(Notice) // power, stops, faults, failures
	Audit  func(Audit)  // every command and goal, and what became of it
	// Snapshot takes every new state that Pump saw, valid during the call only, and returns
	// how long it can do without the next one: Run looks no later than that.
	Snapshot func(*loop.Snapshot) time.Duration

	// Go runs a planning job; nil is a goroutine. Tests run them at once.
	Go func(job func())
}

// Defaults of Config.
const (
	defaultFeedbackRate  = 20.0
	defaultPatience      = time.Second
	defaultKeep          = 10 * time.Second
	defaultApproachShare = 0.5
	defaultApproachSpeed = 1.0

	maxFeedbackRate = 1000 // Hz
)

func (c *Config) setDefaults() {
	orElse(&c.FeedbackRate, defaultFeedbackRate)
	orElse(&c.Patience, defaultPatience)
	orElse(&c.Keep, defaultKeep)
	orElse(&c.Lease, arbiter.DefaultLease)
	orElse(&c.Approach.Share, defaultApproachShare)
	orElse(&c.Approach.Speed, defaultApproachSpeed)
	if c.Plans == nil {
		c.Plans = queue.New(0)
	}
	if c.Go == nil {
		c.Go = func(job func()) { go job() }
	}
}

// check returns the numbers that make no sense.
func (c *Config) check() (errs []error) {
	if !(c.FeedbackRate > 0 && c.FeedbackRate <= maxFeedbackRate) {
		errs = append(errs, fmt.Errorf("executive: feedback at %g Hz, must be above 0 and at most %d", c.FeedbackRate, maxFeedbackRate))
	}
	if c.Patience < 0 || c.Keep < 0 {
		errs = append(errs, fmt.Errorf("executive: patience %v, keep %v: neither may be negative", c.Patience, c.Keep))
	}
	if !(c.Approach.Share > 0 && c.Approach.Share <= 1) || !(c.Approach.Speed > 0) {
		errs = append(errs, fmt.Errorf("executive: approach moves with a share of %g and at %g rad/s, the share must be above 0 and at most 1", c.Approach.Share, c.Approach.Speed))
	}
	return errs
}

// controller returns a controller by name.
func (c *Config) controller(name string) (*Controller, bool) {
	for i := range c.Controllers {
		if c.Controllers[i].Name == name {
			return &c.Controllers[i], true
		}
	}
	return nil, false
}

// pool returns the names of the controllers of a kind.
func (c *Config) pool(kind string) (names []string) {
	for i := range c.Controllers {
		if x := &c.Controllers[i]; x.Kind == kind && !x.Remote {
			names = append(names, x.Name)
		}
	}
	return names
}

func (c *Config) controllerNames() (names []string) {
	for i := range c.Controllers {
		names = append(names, c.Controllers[i].Name)
	}
	return names
}

func orElse[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}

// Event is a text command that leaves with a motion.
type Event struct {
	Tick                   servo.Tick // of the cycle in which it was due
	Goal                   GoalID
	Controller             string  // that performs it
	Motion                 string  // name of the stored motion, if it is one
	Time                   float64 // on the clock of the motion, s
	Type, Command, Options string
}

// Felt is what the robot felt: see external.Event.
type Felt struct {
	external.Event
	Tick     servo.Tick
	Reaction control.Reaction // of the robot, to an impact
}

// Notice is something that every client should know.
type Notice struct {
	Tick        servo.Tick
	Kind        string // "power", "stop", "fault", "fault_cleared", "panic", "limb_safe", "refused"
	Explanation Explanation
	Severity    loop.Severity // of a fault
	Last        *loop.Excerpt // of a panic: the last second of states; valid during the call only
}

// Audit is one line about what a client asked for, and what became of it.
type Audit struct {
	Now    int64  // ns, as given to Pump
	Who    string // as the caller said
	What   string // "stop 2", "follow goal-1"
	Result string // "asked", "ok", "succeeded", or why not
}
