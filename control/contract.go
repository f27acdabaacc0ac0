package control

import (
	"math"

	"poise/arbiter"
	"poise/external"
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
	NonFinite       Code = 17 // Joint, or the leaf Value, was given NaN or an infinity
	BadValue        Code = 18 // Value is not between 0 and Max
	NotActive       Code = 19 // the controller performs nothing that a stream could lead
	NotPlaceable    Code = 20 // joints of this robot cannot be put somewhere at once
	Unreachable     Code = 21 // a limb stays Value m, or rad, away from where it is to be, Max is allowed; Joint is in the way
	Unbalanced      Code = 22 // the centre of mass would be Value m inside its supports, Max is needed
	GoalMissed      Code = 23 // Joint was still Value off at At, when the time to settle was over, Max is allowed
	TooOld          Code = 24 // the motion was to be over Value s ago
	Energised       Code = 25 // joints that it had let go were given torque
	LeaseExpired    Code = 26 // an external controller gave no sign of life for Value s, Max is allowed
	Unanswered      Code = 27 // an external controller did not confirm its offer in time
	Declined        Code = 28 // an external controller does not want what it asked for any more
	LimbUnreachable Code = 29 // the limb of Joint stays Value m, or rad, away from where it is to be, Max is allowed
	BaseTooFar      Code = 30 // the next pose of the base is Value m, or rad, away, Max is allowed
	NothingStands   Code = 31 // no foot stands over which the base could be moved
	NotOwned        Code = 32 // Joint, or the leaf Value, is not the controller's
	TooFast         Code = 33 // Joint was to move at Value rad/s or m/s, at most Max is a velocity for it
	TooSteep        Code = 34 // Joint was to accelerate by Value rad/s² or m/s², at most Max is an acceleration for it
	LimbTooFast     Code = 35 // the limb of Joint was to move at Value m/s or rad/s, at most Max is a velocity for it
	NoMasses        Code = 36 // nothing is known of the robot's masses, which cycle 1 needs
	NotStanding     Code = 37 // the foot of Joint, or the base, is Value m, or rad, away from a stand, Max is allowed
	StandsBeyond    Code = 38 // Joint stands at Value, beyond its limit Max, and would move by itself
	Fallen          Code = 39 // the base is tilted by Value rad, Max is allowed: the loop takes the safe state
	WholeRobotOnly  Code = 40 // cycle 2 is of all joints together
	NoWholeBody     Code = 41 // the robot cannot be driven by its whole body: its base is fixed
	Sunk            Code = 42 // the base is Value m above its feet, Max is needed: the loop takes the safe state
	NotTouched      Code = 43 // the motion waited for a contact for Value s
	AlreadyStands   Code = 44 // the base is Value m above its feet, from Max on it stands: there is nothing to get up from
	OnItsBack       Code = 45 // the base is tilted by Value rad: it lies on neither side, up to Max it would
	NoInertialUnit  Code = 46 // no inertial unit tells how the robot lies or turns
	StillLies       Code = 47 // the base is tilted by Value rad after a part of getting up, Max is allowed
	NeverRead       Code = 48 // nothing was heard of Joint yet, so its servo gets no torque
	StillWalks      Code = 49 // the robot walks, at Value m/s: it has to stand first
	WalksSlower     Code = 50 // the robot walks at Value m/s, Max was told: its legs go no faster so
	TurnsSlower     Code = 51 // the robot turns at Value rad/s as it walks, Max was told: its legs go no faster so
)

var codeNames = [...]string{
	"ok", "bad program", "not running", "start too far", "beyond limit", "not granted", "resource lost",
	"replaced", "cancelled", "panicked", "power off", "stopped by fault", "stale", "tolerance broken",
	"stopping", "full", "unknown", "not finite", "bad value", "not active", "not placeable",
	"unreachable", "unbalanced", "goal missed", "too old", "energised", "lease expired", "unanswered", "declined",
	"limb unreachable", "base too far", "nothing stands", "not owned",
	"too fast", "too steep", "limb too fast",
	"no masses", "not standing", "stands beyond", "fallen", "whole robot only", "no whole body", "sunk", "not touched",
	"already stands", "on its back", "no inertial unit", "still lies", "never read", "still walks",
	"walks slower", "turns slower",
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

// Because returns a reason that is about no joint and no client.
func Because(c Code) Reason { return Reason{Code: c, Joint: robot.NoJoint, Who: arbiter.NoClient} }

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
	Fade     float64         `json:",omitzero"` // s in which dynamics fade it in and out; 0 is their default. A controller that fades Weight itself sets this shorter
	Planned  bool            `json:",omitzero"` // its owner plans the balance: the foot leaves and stands when Weight says so, also where two feet are left
	Led      bool            `json:",omitzero"` // it stands, and moves relative to the base as the reference of its limb: the measured robot is tilted on its feet
	Next     Foothold        `json:",omitzero"` // where it is to stand next
	Swing    float64         `json:",omitzero"` // share of its way through the air that is over, above 0 … 1; 0 if it stands, or that is not known
}

// SwingOf returns the share of a swing that is over at a time; 0 outside of it, or if it has no end. Loop-safe.
func SwingOf(lift, land, now float64) float64 {
	if !(land > lift) || now < lift || now > land || math.IsInf(land, 1) {
		return 0
	}
	return max((now-lift)/(land-lift), math.SmallestNonzeroFloat64)
}

// Foothold is where a foot is put down next, for displays; no stage of the cycle uses it.
type Foothold struct {
	At       spatial.Vec3 // of the sole, world axes
	Yaw      float64
	Has      bool
	Swinging bool // it is on its way there
}

// LimbRef is Cartesian intent: where a chain's tip is to be and how it moves there.
type LimbRef struct {
	Pose         spatial.Pose  // X_WT
	Twist        spatial.Twist // of the tip's origin, in tip axes
	Acceleration spatial.Twist // derivative of Twist, component by component
	Has          bool
}

// Motion is the commanded state of the whole robot. The loop has one, which Shaper
// fills every tick; controllers read it as Input.Cmd, one tick old.
//
// [joints] is one for each joint, in array order; [chains] one for each of
// Model.Chains; [outputs] one for each typed leaf, in the order of leaves.
type Motion struct {
	// filled by Shaper.Limit, or by Shaper.Follow while a joint has no torque
	Q []float64 // [joints] position, rad or m
	V []float64 // [joints] velocity, rad/s or m/s
	A []float64 // [joints] acceleration, rad/s² or m/s²

	// filled by Shaper.Complete
	Tau     []float64 // [joints] feed-forward effort, N·m or N; 0 without torque
	Stiff   []float64 // [joints] share of the servo's full stiffness, 0 … 1
	Base    BaseRef   // pose and motion of the base in the world
	Com     bool      `json:",omitzero"` // its owner leads the centre of mass, and Base follows from that
	ZMP     ZMPRef    `json:",omitzero"` // where its owner has the zero-moment point
	Limb    []LimbRef // [chains] tip of each limb, if one owner has all its joints
	Point   []bool    `json:",omitempty"` // [chains] of Limb only the point counts, see Reference.Point
	Support []Support // [chains] contact of each limb with the ground
	Output  []float64 // [outputs] typed values that are no joints, such as eyelids
}

// ZMPRef is a place on the ground for the zero-moment point, in the world, m.
type ZMPRef struct {
	X, Y float64
	Has  bool
}

// NewMotion returns a motion with room for a robot.
func NewMotion(joints, chains, outputs int) Motion {
	block := make([]float64, 5*joints)
	take := func() []float64 { x := block[:joints:joints]; block = block[joints:]; return x }
	return Motion{Q: take(), V: take(), A: take(), Tau: take(), Stiff: take(),
		Limb: make([]LimbRef, chains), Point: make([]bool, chains), Support: make([]Support, chains), Output: make([]float64, outputs)}
}

// Copy makes m equal to src, which is for the same robot. Loop-safe.
func (m *Motion) Copy(src *Motion) {
	copy(m.Q, src.Q)
	copy(m.V, src.V)
	copy(m.A, src.A)
	copy(m.Tau, src.Tau)
	copy(m.Stiff, src.Stiff)
	copy(m.Limb, src.Limb)
	copy(m.Point, src.Point)
	copy(m.Support, src.Support)
	copy(m.Output, src.Output)
	m.Base, m.Com, m.ZMP = src.Base, src.Com, src.ZMP
}

// Measured is the state of the robot as its servos and sensors tell it, and what is
// concluded from that. The loop has one, filled by its estimate stage every tick from
// what the bus measured at the end of the tick before, ahead of every decision;
// controllers read it as Input.Meas.
type Measured struct {
	Q      []float64        // [joints] position, rad or m; the newest that was finite
	V      []float64        // [joints] velocity, rad/s or m/s
	Effort []float64        // [joints] that the servo gives, N·m or N
	Age    []uint32         // [joints] ticks since it was measured; servo.Never if it was not
	Fault  []servo.Fault    // [joints] that the servo reports
	IMU    []servo.Inertial // [units] the newest that was finite, in its own axes, with its age
	Touch  []servo.Contact  // [sensors] of touch or force, likewise

	Base    BaseRef   // by odometry, from the joints and the feet that stand; Acceleration is zero
	Support []Support // [chains] whether it stands: as it was commanded or, if it is unowned, as it was found
	// Contacts says which feet carry, by the torques of their servos: package external. Where that is not felt they are not Known.
	Contacts []external.Contact // [chains]
	Felt     bool               // Base and Support follow from them
	Volt     float64            // supply, V: the largest of the servos heard in this tick; 0 until one measures it
}

// NewMeasured returns a Measured with memory for a robot.
func NewMeasured(joints, chains int, s servo.Sensors) Measured {
	return Measured{Q: make([]float64, joints), V: make([]float64, joints), Effort: make([]float64, joints),
		Age: make([]uint32, joints), Fault: make([]servo.Fault, joints), Support: make([]Support, chains),
		Contacts: make([]external.Contact, chains), IMU: make([]servo.Inertial, s.IMU), Touch: make([]servo.Contact, s.Touch)}
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
	copy(m.Contacts, src.Contacts)
	m.Base, m.Volt, m.Felt = src.Base, src.Volt, src.Felt
}

// Reference is one controller's partial reference, filled by its Update every tick.
// Of its arrays only the leaves in Has count. The loop resets it before, where
// the fields say so. Shapes as in Motion.
type Reference struct {
	Has robot.Set // leaves that the controller writes in this tick

	Q       []float64 // [joints] position, rad or m
	V       []float64 // [joints] velocity, rad/s or m/s
	A       []float64 // [joints] acceleration, rad/s² or m/s²
	Tau     []float64 // [joints] feed-forward effort, N·m or N; reset to 0
	Stiff   []float64 // [joints] share of full stiffness, 0 lets go; reset to 1
	Base    BaseRef   // pose and motion of the base, if Has its leaf
	Com     bool      // Base.Pose.P and the linear parts of Base are those of the centre of mass, in place of the base's origin
	ZMP     ZMPRef    // where the zero-moment point is to be, if Has the base's leaf: cycle 2 serves it before the base's plane
	Limb    []LimbRef // [chains] tip of each limb; Limb[i].Has says whether it counts
	Point   []bool    // [chains] of Limb[i] only where its point is counts: in cycle 2 its joints follow their own references with what that leaves; else its whole pose
	Support []Support // [chains] contact of each limb
	Output  []float64 // [outputs] typed values

	Peak float64 // share of the limits that the motion may use, 0 … 1; the bridge takes the rest; reset to 1
	Cut  bool    // the reference jumped on purpose: bridge it

	Rate    float64 // how fast the program's clock went; below Input.Rate where limits hold it back; reset to 1
	Time    float64 // the program's clock, s
	Passed  uint32  // events of the program that have left so far; never fewer than a tick ago
	Skipped uint32  // of these, events that did not leave because the program was joined after them
}

// NewReference returns a reference with room for a robot.
func NewReference(joints, chains, outputs int) *Reference {
	block := make([]float64, 5*joints)
	take := func() []float64 { x := block[:joints:joints]; block = block[joints:]; return x }
	return &Reference{Q: take(), V: take(), A: take(), Tau: take(), Stiff: take(),
		Limb: make([]LimbRef, chains), Point: make([]bool, chains), Support: make([]Support, chains), Output: make([]float64, outputs)}
}

// Reset empties the reference before a controller fills it. Loop-safe.
func (r *Reference) Reset() {
	r.Has, r.Base, r.Com, r.ZMP, r.Peak, r.Cut, r.Rate, r.Time, r.Passed, r.Skipped = robot.Set{}, BaseRef{}, false, ZMPRef{}, 1, false, 1, 0, 0, 0
	clear(r.Tau)
	clear(r.Point)
	clear(r.Support)
	clear(r.Output)
	for i := range r.Stiff {
		r.Stiff[i] = 1
	}
	for i := range r.Limb {
		r.Limb[i].Has = false
	}
}

// Input is what a controller sees of the world. It is filled by the loop and read
// only.
type Input struct {
	Tick servo.Tick
	Cmd  *Motion   // the command of the last tick: motions start from here
	Meas *Measured // the newest measured state
	Own  robot.Set // leaves that the controller owns now

	Missed  uint64    // ticks before this one that did not take place: the cycle was late
	Rate    float64   // how fast the program's clock is to go: 1 is as planned, 0 is a pause
	Whole   bool      // joints are driven by the whole body (cycle 2), which holds feet that stand where they are
	Torques robot.Set // joints whose servos get the torques that the motion needs (cycles 1 and 2); the others get positions alone, and lag behind
	Bridge  float64   // of the whole body, whose command need not come to a reference: the farthest that a hand-over still is from it, rad or m
}

// Status is the result of an Update.
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

// Leased is a Program with a lease of its own: how long, s, an external controller that asks
// for it may give no sign of life; 0 is the loop's.
type Leased interface {
	Program
	LeaseTime() float64
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
	// Owned tells of a change of its set: continue, or quit.
	Owned(in *Input, now robot.Set) Status
}

// Lanes is how many streams side by side may lead one controller.
const Lanes = 4

// Laned is a value of one of several streams that lead a controller side by side, such as
// joints and supports. The newest of each lane counts.
type Laned interface {
	Program
	Lane() int // 0 … Lanes-1; a value that is not Laned is of lane 0
}

// Stamped is a Controller that may follow values which have their own times: after ticks that did not
// take place it goes on where it was and is in time again with the next value, so its clock is not
// hurried.
type Stamped interface {
	Stamped() bool
}

// Upright is a controller that has the robot on its feet while it performs. The loop watches for falls, also after it has ended.
type Upright interface {
	// Upright returns how far the base may be tilted, rad, and how high above the mean of its feet it has to be, m:
	// otherwise the robot has fallen.
	Upright() (tilt, height float64)
	// Stands reports whether it is on all its feet and rests there. A cancel or a stop of category 2 waits for that: all joints
	// may be at rest for a moment, while feet that carry nothing any more are about to be lifted.
	Stands() bool
}

// Lying is a controller that moves a robot which does not stand. Cycle 2, which keeps it on its feet, leaves the command to it.
type Lying interface {
	Lying() bool
}

// Seamless is a controller whose programs may go on with the motion of those that they replace.
type Seamless interface {
	// Seamless reports whether the last Start did: its reference is that of the tick before, a tick
	// later, and is not handed over.
	Seamless() bool
}

// Fed is a Controller that follows a stream. Feed gives it the newest value of one
// while it performs a program, before Update of the same tick; of several of a lane that
// came within a tick only the last is given, lower lanes first. A value carries its own stamp: one
// that is older than the program, or out of order, is for the controller to refuse.
type Fed interface {
	Controller
	Feed(in *Input, p Program) Reason
}
