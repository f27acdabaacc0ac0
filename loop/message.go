package loop

import (
	"poise/arbiter"
	"poise/control"
	"poise/external"
	"poise/feedforward"
	"poise/floatingbase"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// OrderKind says what an Order asks for. The numbers are stable: records carry
// them.
type OrderKind uint8

// The kinds of orders.
const (
	StartGoal  OrderKind = iota // Controller, Goal, Program
	CancelGoal                  // Controller, Goal (0: whatever runs)
	Run                         // Controller takes goals from now on
	Halt                        // Controller takes none, and what it does is aborted
	SetRate                     // Value: how fast time goes for all motions, 0 … 2
	PowerOn                     // energise every joint; a separate act after every stop
	PowerOff                    // category 1
	Reset                       // after a stop; faults that are gone are forgotten, pauses end; no joint gets torque
	Pause                       // all motions stand still on their paths
	Resume                      // and go on
	GoalRate                    // Controller, Value: of its motion alone
	GoalPause                   // Controller
	GoalResume                  // Controller
	Feed                        // Controller, Program: the newest value of a stream
	Place                       // Program, a control.Placement: puts joints somewhere at once
	Echo                        // Goal comes back in a report: all orders before it were taken
	CheckGoal                   // Controller, Goal, Program: could it start now? Takes nothing
	TorqueOn                    // Program, a control.Torque: energise these joints; the others stay as they are
	TorqueOff                   // Program, a control.Torque: let these joints go at once
	Answer                      // Controller, Value: of an external one, to the question of that number; or SignOfLife, Quits, QuitsRunning
	SetBase                     // Program, a control.BasePlacement: where the base is; odometry goes on from there
	SetModels                   // Program, a control.ServoModels: taken over gradually
	SetCycle                    // Program, a control.Cycle: by which cycle joints are driven
	numOrders
)

// Order is a request from outside. Small, and copied.
type Order struct {
	Kind       OrderKind
	Controller arbiter.ClientID
	Goal       uint64 // the sender's number for it
	Program    control.Program
	Value      float64
}

// ReportKind says what a Report tells. The numbers are stable.
type ReportKind uint8

// The kinds of reports.
const (
	GoalStarted  ReportKind = iota // Controller, Goal
	GoalRejected                   // and why
	GoalEnded                      // Status and why
	OwnerChanged                   // Controller now owns Set
	FaultRaised                    // Fault, Severity, Joint in Reason
	FaultCleared
	Stopped // Value: category; Time and Way of the stop
	PowerChanged
	OrderRefused // Order, and why
	LimbSafe     // Set has reached its safe state
	EventsLeft   // Controller, Goal: the events From … To−1 of its program are due
	Placed       // Goal: the joints of an order Place are where it said
	Echoed       // Goal of an order Echo
	GoalChecked  // Controller, Goal: a reason why it could not start now, or OK; To more follow
	Asked        // External controller, Goal: Set is offered (From 0), or its own from now on (From 1); Value is the question's number
	Felt         // Felt: a touch-down, a lift-off or an impact; Reaction to it
)

// Report is what happened. It carries the tick that caused it.
type Report struct {
	Kind       ReportKind
	Order      OrderKind // that was refused
	Tick       servo.Tick
	Controller arbiter.ClientID
	Goal       uint64
	Status     control.Status
	Reason     control.Reason
	Set        robot.Set
	Fault      FaultKind
	Severity   Severity
	Power      Power
	Value      float64
	From, To   uint32 // of events: by number, To excluded; of a check: how many more reasons follow
	Felt       external.Event
	Reaction   control.Reaction // to what was felt
	Time, Way  float64          // of a stop: s, and the largest way of a joint; of events: the program's own time
	Last       *Excerpt         // of a panic: the last second of states; Release it when read
}

// Activity is what one controller does.
type Activity struct {
	Running   bool // takes goals
	Active    bool // performs Goal; otherwise the rest is of the last one
	Paused    bool
	Cancelled bool // slows down to its end
	HandOver  bool // a joint of it is still on its way to its reference
	Goal      uint64
	Status    control.Status
	Why       control.Reason // of its last tick: one that goes on and waits says why
	Own       robot.Set
	Time      float64 // the program's own clock, s
	Wanted    float64 // how fast that is to go
	Rate      float64 // and goes
	Passed    uint32  // events that have left
	Fed       uint64  // number of the newest value of its stream that it took
}

// Snapshot is the state of the robot after a tick.
type Snapshot struct {
	Tick     servo.Tick
	Command  control.Motion
	Measured control.Measured
	Active   []Activity // of each controller
	Mode     []servo.Mode
	Owner    [robot.MaxLeaves]arbiter.ClientID
	Age      []uint32 // of each leaf: ticks since its owner wrote it
	Power    Power
	Limp     robot.Set // joints without torque
	Stopped  bool      // goals are refused until a reset
	Paused   bool      // all motions stand still on their paths until Resume or Reset
	Wanted   float64   // how fast time is to go
	Rate     float64   // achieved: that of the slowest motion
	Faults   int       // active
	Raised   Raised
	Lost     uint64 // reports for which there was no room
	Cut      []control.Cut

	Inversion servo.InversionState // of servos that are driven by their models

	Cycle1   robot.Set                    // joints that are driven with the torques that the motion needs, or will be
	Needed   []float64                    // [joints] these torques, N·m or N; zero while none is driven so
	Dynamics feedforward.State            // how they were found
	Forces   []floatingbase.ContactWrench // that go with them

	Feels    bool             // what touches the robot is felt: the rest says what, and Measured.Contacts which feet stand
	External []external.Joint // [joints]
	Limbs    []external.Limb  // [chains]
	Outside  spatial.Wrench   // of the world on the whole robot, about its base's origin, world axes

	Cycle2    bool      // all joints are driven by the whole body under strict priorities
	WholeBody WholeBody // how
}
