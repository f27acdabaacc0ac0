package control

import (
	"poise/arbiter"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// Code says what a Reason is about. The numbers are stable: records and wires
// carry them.
type Code uint16

// The codes.
const (
	OK              Code = 0
	BadProgram      Code = 1 // not a program of this controller
	NotRunning      Code = 2 // the controller is stopped and takes no goals
	StartTooFar     Code = 3 // Joint is Value away from where the motion starts, Max is allowed
	BeyondLimit     Code = 4 // Joint would come to Value, its limit is Max
	NotGranted      Code = 5 // a resource it needs is with Who
	ResourceLost    Code = 6 // taken by Who
	Replaced        Code = 7
	Cancelled       Code = 8
	Panicked        Code = 9 // the controller's own code failed
	PowerOff        Code = 10
	StoppedByFault  Code = 11 // Value is the fault
	Stale           Code = 12 // nothing was heard for Value s, Max is allowed
	ToleranceBroken Code = 13 // Joint was Value off at At, Max is allowed
	Stopping        Code = 14 // a stop is under way
	Full            Code = 15 // no room for another order
	Unknown         Code = 16 // no such controller or goal
	NotANumber      Code = 17 // Joint, or the leaf Value, was not given a number
	BadValue        Code = 18 // Value is not between 0 and Max
	NotActive       Code = 19 // the controller performs nothing that a stream could lead
	NotVirtual      Code = 20 // the robot is real, and cannot be put somewhere at once
	Unreachable     Code = 21 // a limb stays Value m, or rad, away from where it is to be, Max is allowed; Joint is in the way
	Unbalanced      Code = 22 // the centre of mass would be Value m inside its supports, Max is needed
	GoalMissed      Code = 23 // Joint was still Value off at At, when the time to settle was over, Max is allowed
	TooOld          Code = 24 // the motion was to be over Value s ago
)

var codeNames = [...]string{
	"ok", "bad program", "not running", "start too far", "beyond limit", "not granted", "resource lost",
	"replaced", "cancelled", "panicked", "power off", "stopped by fault", "stale", "tolerance broken",
	"stopping", "full", "unknown", "not a number", "bad value", "not active", "not virtual",
	"unreachable", "unbalanced", "goal missed", "too old",
}

func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "unknown code"
}

// Reason is why something was refused or ended: small enough to cross the border
// by value. Words are made at the edge.
type Reason struct {
	Code           Code
	Joint          robot.JointID // NoJoint if it is not about one
	Who            arbiter.ClientID
	At, Value, Max float64
}

// Because returns a reason that is about no joint and nobody.
func Because(c Code) Reason { return Reason{Code: c, Joint: robot.NoJoint, Who: arbiter.Nobody} }

// BaseRef is where the base is and how it moves.
type BaseRef struct {
	Pose  spatial.Pose  // X_WB
	Twist spatial.Twist // of the base's origin, in base axes
	// Acceleration is the derivative of Twist, component by component: the order and
	// meaning that package dynamics has for a free base. The acceleration of the
	// origin in the world, in base axes, is Linear + ω×v.
	Acceleration spatial.Twist
	Has          bool
}

// Support is the contact of one chain with the world. The zero values of Wrench,
// Friction and Normal say nothing: no force is asked for, and the ground is what the
// world has by default.
type Support struct {
	Weight   float64         // 0 is free, 1 carries
	Contact  robot.ContactID // which points of the chain touch
	Wrench   spatial.Wrench  `json:",omitzero"` // reference of what the ground does to the robot, about the contact's first point, world axes
	Friction float64         `json:",omitzero"` // coefficient of the ground there; 0 is unknown
	Normal   spatial.Vec3    `json:",omitzero"` // of the ground, out of it, unit, world axes; 0 is unknown
}

// LimbRef is Cartesian intent: where a chain's tip is to be and how it moves there.
type LimbRef struct {
	Pose         spatial.Pose  // X_WT
	Twist        spatial.Twist // of the tip's origin, in tip axes
	Acceleration spatial.Twist // derivative of Twist, component by component
	Has          bool
}

// Motion is the commanded state of the whole robot. There is one, and the loop
// owns it.
type Motion struct {
	Q, V, A, Tau []float64 // of each joint; Tau is feed-forward, N·m
	Stiff        []float64 // of each joint: share of full stiffness, 0 is limp
	Base         BaseRef
	Limb         []LimbRef // of each chain: intent of whoever owns all its joints
	Support      []Support // of each chain
	Output       []float64 // of each typed leaf
}

// NewMotion returns a motion with room for a robot.
func NewMotion(joints, chains, outputs int) Motion {
	block := make([]float64, 5*joints)
	take := func() []float64 { x := block[:joints:joints]; block = block[joints:]; return x }
	return Motion{Q: take(), V: take(), A: take(), Tau: take(), Stiff: take(),
		Limb: make([]LimbRef, chains), Support: make([]Support, chains), Output: make([]float64, outputs)}
}

// Copy makes m equal to src, which is for the same robot. Loop-safe.
func (m *Motion) Copy(src *Motion) {
	copy(m.Q, src.Q)
	copy(m.V, src.V)
	copy(m.A, src.A)
	copy(m.Tau, src.Tau)
	copy(m.Stiff, src.Stiff)
	copy(m.Limb, src.Limb)
	copy(m.Support, src.Support)
	copy(m.Output, src.Output)
	m.Base = src.Base
}

// Measured is what the robot says of itself, and what is concluded from that. The
// estimate stage fills it, before anything is decided.
type Measured struct {
	Q, V, Effort []float64        // of each joint: the last finite ones
	Age          []uint32         // ticks since each was measured; servo.Never if it was not
	Fault        []servo.Fault    // of each joint
	IMU          []servo.Inertial // of each inertial unit, in its own axes, with its age: the last finite one
	Touch        []servo.Contact  // of each touch or force sensor, likewise
	Base         BaseRef          // by odometry, from the joints and the feet that stand; Acceleration is zero
	Support      []Support        // of each chain: whether it stands, as it was commanded or, if nobody commands it, as it was found
	Volt         float64          // of the supply, V; 0 if no servo measures it
}

// NewMeasured returns room for what a robot says.
func NewMeasured(joints, chains int, s servo.Sensors) Measured {
	return Measured{Q: make([]float64, joints), V: make([]float64, joints), Effort: make([]float64, joints),
		Age: make([]uint32, joints), Fault: make([]servo.Fault, joints), Support: make([]Support, chains),
		IMU: make([]servo.Inertial, s.IMU), Touch: make([]servo.Contact, s.Touch)}
}

// Copy makes m equal to src, which is for the same robot. Loop-safe.
func (m *Measured) Copy(src *Measured) {
	copy(m.Q, src.Q)
	copy(m.V, src.V)
	copy(m.Effort, src.Effort)
	copy(m.Age, src.Age)
	copy(m.Fault, src.Fault)
	copy(m.IMU, src.IMU)
	copy(m.Touch, src.Touch)
	copy(m.Support, src.Support)
	m.Base, m.Volt = src.Base, src.Volt
}

// Reference is one controller's partial wish. What it does not have is nobody's
// business.
type Reference struct {
	Has        robot.Set
	Q, V, A    []float64 // of each joint
	Tau, Stiff []float64 // feed-forward, and share of full stiffness: 0 lets go
	Base       BaseRef
	Limb       []LimbRef
	Support    []Support // of each chain
	Output     []float64 // of each typed leaf
	Peak       float64   // share of the limits that it may use, 0 … 1
	Cut        bool      // "I jumped on purpose": bridge me
	Rate       float64   // how fast its time really went; less than Input.Rate while limits hold it back
	Time       float64   // the program's own clock, s
	Passed     uint32    // how many events of the program have left so far: never fewer than a tick ago
	Skipped    uint32    // and how many of them did not: the program was joined after them
}

// NewReference returns a reference with room for a robot.
func NewReference(joints, chains, outputs int) *Reference {
	block := make([]float64, 5*joints)
	take := func() []float64 { x := block[:joints:joints]; block = block[joints:]; return x }
	return &Reference{Q: take(), V: take(), A: take(), Tau: take(), Stiff: take(),
		Limb: make([]LimbRef, chains), Support: make([]Support, chains), Output: make([]float64, outputs)}
}

// Reset empties the reference before a controller fills it. Loop-safe.
func (r *Reference) Reset() {
	r.Has, r.Base, r.Peak, r.Cut, r.Rate, r.Time, r.Passed, r.Skipped = robot.Set{}, BaseRef{}, 1, false, 1, 0, 0, 0
	clear(r.Tau)
	clear(r.Support)
	clear(r.Output)
	for i := range r.Stiff {
		r.Stiff[i] = 1
	}
	for i := range r.Limb {
		r.Limb[i].Has = false
	}
}

// Input is what a controller sees of the world.
type Input struct {
	Tick servo.Tick
	Cmd  *Motion   // the command of the last tick: start from here
	Meas *Measured // what the robot says
	Own  robot.Set // what the controller owns now
	Rate float64   // how fast time shall go for motions: 1 is as planned, 0 is a pause
}

// Status is how a controller got on.
type Status uint8

// The statuses.
const (
	Going  Status = iota
	Done          // the goal is reached
	Failed        // the goal cannot be reached; the reason says why
	Quit          // it lost what it cannot do without
)

// Program is a checked, immutable piece of work for one kind of controller. It
// crosses the border by pointer and is never written again.
type Program interface {
	Claim() (needs, wants robot.Set)
}

// Ranked is a Program with priorities of its own where rank says so, instead of those
// that its controller was registered with.
type Ranked interface {
	Program
	Rank(leaf robot.LeafID) (pending, operational float32, own bool)
}

// Controller produces references for part of the body. All methods run inside the
// cycle: they must not block, allocate, log or look at a clock. A panic is the
// controller's own fault and stops what it owned.
type Controller interface {
	// Check says whether the program could start now; it takes nothing.
	Check(in *Input, p Program) Reason
	// Start begins from the command; a refusal leaves no trace.
	Start(in *Input, p Program) Reason
	// Update fills out for this tick.
	Update(in *Input, out *Reference) (Status, Reason)
	// Owned tells of a change of its set: live on, or quit.
	Owned(in *Input, now robot.Set) Status
}

// Fed is a Controller that follows a stream. Feed gives it the newest value of one
// while it performs a program, before Update of the same tick; of several that
// came within a tick only the last is given. A value carries its own stamp: one
// that is older than the program, or out of order, is for the controller to refuse.
type Fed interface {
	Controller
	Feed(in *Input, p Program) Reason
}
