package robot

import (
	"math"
	"slices"

	"poise/problem"
	"poise/robot/description"
	"poise/servo/model"
	"poise/spatial"
)

// Servo says which servo moves a joint.
type Servo struct {
	Assigned bool
	Bus      string // "" if there is one
	ID       int
	Type     string
	Reversed bool         // counts against the joint's axis
	Zero     float64      // its reading at the joint's zero, in steps of its own
	Gear     float64      // turns of the joint for one of the servo, > 0
	Model    *model.Model // with its gear, nil if none is known

	Limited   bool            // Low and High count
	HasLow    bool            // of those robot.yaml gives Low
	HasHigh   bool            // and High
	Low, High int             // where it may be told to go, in its own steps
	Registers []ServoRegister // what it has to hold when it is used
}

// ServoRegister is what a register of a servo has to hold.
type ServoRegister struct {
	Name  string
	Value int
}

// Bus is a serial line with servos on it.
type Bus struct {
	Name string // "" if there is one
	Port string
	Baud int // 0 is that of the factory
}

// InertialUnit is the one of a robot, on a serial line of its own.
type InertialUnit struct {
	Port     string       // "" if not set
	Baud     int          // 0 is that of the factory
	Type     string       // "" is the usual one
	Rotation spatial.Mat3 // of the unit on the base link, R_BI
}

// NamedPose is a pose of some joints: of robot.yaml, or a group state of the
// SRDF under the name group/state.
type NamedPose struct {
	Name   string
	Joints []JointID
	Q      [][]float64 // of each joint, NumQ numbers
	Source string
}

// Mirrored is the image of a joint in the mirror table: Sign·(position of Of).
type Mirrored struct {
	Of   JointID
	Sign float64 // 1 or −1; 0 where a joint has no image
}

// SafeAction is what a limb does when a fault takes it out of service.
type SafeAction uint8

// The safe actions, in the order of description.SafeActions. The zero value means
// that the robot does not say.
const (
	SafeUnset SafeAction = iota
	SafeHold
	SafeCrouchThenOff
	SafeBrake
	SafeOff
)

func (a SafeAction) String() string {
	if a == SafeUnset {
		return ""
	}
	return description.SafeActions[a-1]
}

// SafeState is a group's safe action; Pose is the index of the pose where it
// crouches, −1 for other actions.
type SafeState struct {
	Do   SafeAction
	Pose int
}

// Leaving is what a robot does when the program that drives it ends. Zero values are not
// declared.
type Leaving struct {
	Do       string // of description.LeavingActions
	Pose     string // of rest
	Speed    float64
	Deadline float64 // s
}

// Leaving returns what robot.yaml declares for the end.
func (m *Model) Leaving() Leaving { return m.leaving }

// External is how a robot feels what touches it. Zero values are not declared.
type External struct {
	Off      bool
	Odometry bool // measured supports are those that are felt, where there are no touch sensors

	ForceOn, Bandwidth, ModelError, Delay, LiftGate, Impact float64 // as package external has them

	Impacts []string // of each chain, one of description.Reactions; "" is not declared
}

// External returns what robot.yaml declares about external forces.
func (m *Model) External() External { return m.external }

// Servo returns the servo of a joint; Assigned is false if it has none.
func (m *Model) Servo(id JointID) Servo { return m.servos[id] }

// Buses returns the lines that robot.yaml names. The slice is shared: read only.
func (m *Model) Buses() []Bus { return m.buses }

// InertialUnit returns the unit that robot.yaml names.
func (m *Model) InertialUnit() InertialUnit { return m.inertial }

// Poses returns the named poses. The slice is shared: read only.
func (m *Model) Poses() []NamedPose { return m.poses }

// Pose finds a named pose; at start-up only.
func (m *Model) Pose(name string) (*NamedPose, bool) {
	i, ok := m.poseByName[name]
	if !ok {
		return nil, false
	}
	return &m.poses[i], true
}

// Mirror returns the image of each joint, nil if the robot has no mirror table.
// The slice is shared: read only.
func (m *Model) Mirror() []Mirrored { return m.mirror }

// SafeState returns what a group does when a fault takes it out of service.
func (m *Model) SafeState(id GroupID) SafeState { return m.safe[id] }

// TransitionAcceleration returns the acceleration for hand-overs of joints
// without an acceleration limit; absent unless robot.yaml has it.
func (m *Model) TransitionAcceleration() Limit { return m.transition }

// TransitionVelocity returns the velocity up to which hand-overs, approaches and moves to
// poses of joints that have an acceleration limit keep to TransitionAcceleration; absent
// unless robot.yaml has it.
func (m *Model) TransitionVelocity() Limit { return m.gentle }

// FastTransitionAcceleration returns the acceleration for hand-overs and stops of joints
// that are faster than TransitionVelocity; absent unless robot.yaml has it.
func (m *Model) FastTransitionAcceleration() Limit { return m.fast }

// describe gives the model its use: what robot.yaml and the SRDF say.
func (b *builder) describe() {
	d := b.opts.Description
	b.m.servos = make([]Servo, len(b.m.joints))
	b.m.poseByName = map[string]int{}
	b.findVirtual()
	if d != nil {
		d.Check(&b.Report)
		b.describeWorld(d)
		b.describeChains(d)
		b.describeServos(d)
	}
	b.describeGroups()
	b.describeStates()
	b.m.safe = make([]SafeState, len(b.m.groups))
	for i := range b.m.safe {
		b.m.safe[i].Pose = -1
	}
	if d != nil {
		b.describePoses(d)
		b.describeMirror(d)
	}
	b.describeResources()
	if d != nil {
		b.describeSafety(d)
		b.describeLeaving(d)
		b.describeWalking(d)
		b.describeGetUp(d)
		b.describeExternal(d)
	}
}

func (b *builder) describeWorld(d *Description) {
	if d.Name != "" {
		b.m.name = d.Name
	}
	if g := d.Gravity; len(g) == 3 {
		b.m.gravity = spatial.Vec3{X: g[0], Y: g[1], Z: g[2]}
	}
	if a := d.TransitionAcceleration; a != nil {
		b.m.transition = Limit{Value: *a, Has: true, Source: d.AtKey("transition_acceleration").String()}
	}
	if v := d.TransitionVelocity; v != nil {
		b.m.gentle = Limit{Value: *v, Has: true, Source: d.AtKey("transition_velocity").String()}
	}
	if a := d.FastTransition; a != nil {
		b.m.fast = Limit{Value: *a, Has: true, Source: d.AtKey("fast_transition_acceleration").String()}
	}
}

// ServoOf returns what a description says of a joint's servo.
func ServoOf(s *description.Servo) Servo {
	servo := Servo{Assigned: true, Bus: s.Bus, Type: s.Type, Reversed: s.Reversed, Zero: s.Zero, Gear: 1}
	if s.ID != nil {
		servo.ID = *s.ID
	}
	if s.Gear != nil {
		servo.Gear = *s.Gear
	}
	if s.Min != nil || s.Max != nil {
		servo.Limited, servo.Low, servo.High = true, math.MinInt32, math.MaxInt32
		if s.Min != nil {
			servo.Low, servo.HasLow = *s.Min, true
		}
		if s.Max != nil {
			servo.High, servo.HasHigh = *s.Max, true
		}
	}
	for _, r := range s.Registers {
		servo.Registers = append(servo.Registers, ServoRegister(r))
	}
	return servo
}

func (b *builder) describeServos(d *Description) {
	m := b.m
	for _, name := range d.Virtual {
		if id, ok := b.jointNamed(name, d.AtKey("virtual_joints"), "virtual_joints"); ok {
			m.joints[id].Virtual = true
		}
	}
	for _, s := range d.Servos {
		id, ok := b.jointNamed(s.Joint, d.At(s.Line), problem.Named("servo of joint", s.Joint))
		if !ok {
			continue
		}
		servo := ServoOf(&s)
		servo.Model = b.modelOf(d, &s, servo.Gear)
		m.servos[id] = servo
	}
	if d.Bus.Port != "" {
		m.buses = append(m.buses, Bus{Port: d.Bus.Port, Baud: d.Bus.Baud})
	}
	for _, x := range d.Buses {
		m.buses = append(m.buses, Bus{Name: x.Name, Port: x.Port, Baud: x.Baud})
	}
	if u := &d.IMU; u.Port != "" {
		m.inertial = InertialUnit{Port: u.Port, Baud: u.Baud, Type: u.Type, Rotation: spatial.FromRPY(0, 0, 0)}
		if len(u.Rotation) == 3 {
			m.inertial.Rotation = spatial.FromRPY(u.Rotation[0], u.Rotation[1], u.Rotation[2])
		}
	}
	for i, j := range m.joints {
		if len(d.Servos) > 0 && !m.servos[i].Assigned && !j.Virtual {
			b.Errorf(description.Impossible, d.AtKey("servos"), problem.Joint(j.Name), "has no servo and is not in virtual_joints")
		}
	}
}

// findModel returns a model by name: of robot.yaml itself, which decides, or of its files.
func (b *builder) findModel(d *Description, name string) (model.Model, bool) {
	for i := range d.Models {
		if d.Models[i].Name == name {
			return d.Models[i].Model(), true
		}
	}
	for _, file := range b.opts.ServoModels {
		if found, ok := file.Find(name); ok {
			return found.Model, true
		}
	}
	return model.Model{}, false
}

// modelOf returns the model of a servo: the one that it names, else that of its joint, else that
// of its type, else what a file has for all others. A model that knows no gear has the servo's.
func (b *builder) modelOf(d *Description, s *description.Servo, gear float64) *model.Model {
	thing := problem.Named("servo of joint", s.Joint)
	var found model.Model
	ok := false
	for _, name := range []string{s.Model, s.Joint, s.Type} {
		if found, ok = b.findModel(d, name); ok && name != "" {
			break
		}
		if ok = false; name == s.Model && name != "" {
			b.Errorf(description.Impossible, d.At(s.Line), thing, "model: %q is in neither servo_models nor servo_model_files%s", s.Model, b.Hint(s.Model, b.modelNames(d)))
			return nil
		}
	}
	for _, file := range b.opts.ServoModels {
		if !ok && file.Default != nil {
			found, ok = file.Default.Model, true
		}
	}
	if !ok {
		return nil
	}
	if found.Gear == 0 {
		found.Gear = 1 / gear
	}
	if found.Voltage == 0 {
		found.Voltage = d.ServoVoltage
	}
	if found.Voltage == 0 && !b.voltless {
		b.voltless = true
		b.Errorf(description.Impossible, d.AtKey("servo_model_files"), thing, "its model has no voltage: servo_voltage says which one servos run at")
	}
	return &found
}

func (b *builder) modelNames(d *Description) (names []string) {
	for i := range d.Models {
		names = append(names, d.Models[i].Name)
	}
	for _, file := range b.opts.ServoModels {
		names = append(names, file.Names()...)
	}
	return names
}

// describeStates reads the group states of the SRDF.
func (b *builder) describeStates() {
	if b.opts.SRDF == nil {
		return
	}
	for _, s := range b.opts.SRDF.States {
		thing := problem.Named("group state", s.Group+"/"+s.Name)
		if _, ok := b.m.groupByName[s.Group]; !ok {
			b.Errorf(description.Impossible, s.Pos, thing, "group %q does not exist%s", s.Group, b.Hint(s.Group, b.m.GroupNames()))
		}
		pose := NamedPose{Name: s.Group + "/" + s.Name, Source: s.Pos.String()}
		for _, v := range s.Joints {
			id, ok := b.m.jointByName[v.Joint]
			if !ok {
				if _, known := b.tree.JointIndex[v.Joint]; !known && !b.virtual[v.Joint] {
					b.jointNamed(v.Joint, v.Pos, thing)
				}
				continue // fixed joints, followers and the base have no say
			}
			if j := b.m.joints[id]; len(v.Value) != j.Kind.NumQ() {
				b.Errorf(description.Impossible, v.Pos, thing, "joint %q takes %d numbers, not %d", j.Name, j.Kind.NumQ(), len(v.Value))
			} else if j.Kind.NumQ() == 1 && !j.Limits.Contains(v.Value[0]) {
				b.Warnf(PoseOutOfLimits, v.Pos, thing, "joint %q at %g is outside %s", j.Name, v.Value[0], j.Limits.Range())
			}
			pose.Joints, pose.Q = append(pose.Joints, id), append(pose.Q, slices.Clone(v.Value))
		}
		b.addPose(pose)
	}
}

// findVirtual notes the virtual joints of the SRDF: that is how it calls the
// base.
func (b *builder) findVirtual() {
	b.virtual = map[string]bool{}
	if s := b.opts.SRDF; s != nil {
		b.tree.checkSemantics(s, &b.Report)
		for _, j := range s.VirtualJoints {
			b.virtual[j.Name] = true
		}
	}
}

// addPose adds a pose; the first of a name keeps it.
func (b *builder) addPose(p NamedPose) (first bool) {
	if _, twice := b.m.poseByName[p.Name]; twice {
		return false
	}
	b.m.poseByName[p.Name] = len(b.m.poses)
	b.m.poses = append(b.m.poses, p)
	return true
}

func (b *builder) describePoses(d *Description) {
	for _, p := range d.Poses {
		thing := problem.Named("pose", p.Name)
		pose := NamedPose{Name: p.Name, Source: d.At(p.Line).String()}
		for _, v := range p.Joints {
			id, ok := b.jointNamed(v.Joint, d.At(v.Line), thing)
			if !ok {
				continue
			}
			switch j := b.m.joints[id]; {
			case j.Kind.NumQ() != 1:
				b.Errorf(description.Impossible, d.At(v.Line), thing, "joint %q takes %d numbers, a pose gives one", j.Name, j.Kind.NumQ())
			case !j.Limits.Contains(v.Value):
				b.Errorf(description.Impossible, d.At(v.Line), thing, "joint %q at %g is outside %s", j.Name, v.Value, j.Limits.Range())
			}
			pose.Joints, pose.Q = append(pose.Joints, id), append(pose.Q, []float64{v.Value})
		}
		if !b.addPose(pose) {
			b.Errorf(BadName, d.At(p.Line), thing, "is the name of a group state already")
		}
	}
}

func (b *builder) describeMirror(d *Description) {
	if len(d.Mirror) == 0 {
		return
	}
	m := b.m
	m.mirror = make([]Mirrored, len(m.joints))
	for _, e := range d.Mirror {
		if e.Middle != "" {
			e.Left, e.Right = e.Middle, e.Middle
		}
		if e.Sign != nil {
			b.mirrorPair(e.Left, e.Right, float64(*e.Sign), d.At(e.Line))
		}
	}
	for i, image := range m.mirror {
		if j := m.joints[i]; image.Sign == 0 && j.Kind.NumQ() == 1 {
			b.Errorf(description.Impossible, d.AtKey("mirror"), "mirror", "joint %q is missing: a mirror table has each joint once", j.Name)
		}
	}
	b.mirrorChains()
}

// mirrorPair makes two joints each other's image, or one its own.
func (b *builder) mirrorPair(leftName, rightName string, sign float64, at problem.Pos) {
	m := b.m
	leftJoint, ok := b.jointNamed(leftName, at, "mirror")
	rightJoint := leftJoint
	if rightName != leftName && ok {
		rightJoint, ok = b.jointNamed(rightName, at, "mirror")
	}
	if !ok {
		return
	}
	l, r := m.joints[leftJoint], m.joints[rightJoint]
	switch {
	case l.Kind.NumQ() != 1 || (l.Kind == Prismatic) != (r.Kind == Prismatic):
		b.Errorf(description.Impossible, at, "mirror", "joints %q and %q do not move alike", l.Name, r.Name)
		return
	case m.mirror[leftJoint].Sign != 0 || m.mirror[rightJoint].Sign != 0:
		b.Errorf(description.Impossible, at, "mirror", "joint %q or %q has an image already: mirroring twice would not give the pose back", l.Name, r.Name)
		return
	}
	m.mirror[leftJoint], m.mirror[rightJoint] = Mirrored{rightJoint, sign}, Mirrored{leftJoint, sign}
	if want := l.Limits.Image(sign, 0); !sameBound(want.Lower, r.Limits.Lower) || !sameBound(want.Upper, r.Limits.Upper) {
		b.Warnf(UnevenMirror, at, "mirror", "joint %q has the range %s, but the image of joint %q has %s",
			r.Name, r.Limits.Range(), l.Name, want.Range())
	}
}

// sameBound compares bounds that are written in decimal digits on both sides.
func sameBound(a, b Limit) bool {
	return a.Has == b.Has && math.Abs(a.Value-b.Value) <= 1e-9*math.Max(1, math.Abs(a.Value))
}

// mirrorChains finds for each chain the one that has the images of its joints.
func (b *builder) mirrorChains() {
	type ends struct{ first, last JointID }
	of := map[ends][]ChainID{} // those with the same ends
	for i, c := range b.m.chains {
		if n := len(c.Joints); n > 0 {
			at := ends{c.Joints[0], c.Joints[n-1]}
			of[at] = append(of[at], ChainID(i))
		}
	}
	for i, c := range b.m.chains {
		n := len(c.Joints)
		if n == 0 {
			continue
		}
		want := make([]JointID, n)
		for k, j := range c.Joints {
			want[k] = b.m.mirror[j].Of
		}
		for _, id := range of[ends{want[0], want[n-1]}] {
			if slices.Equal(b.m.chains[id].Joints, want) {
				b.m.chains[i].Mirror = id
				break
			}
		}
	}
}

// describeLeaving takes what the robot does at the end; its pose must be a declared one.
func (b *builder) describeLeaving(d *Description) {
	l := &d.Leaving
	if l.Do == description.Rest {
		if _, declared := b.m.poseByName[l.Pose]; !declared {
			b.Errorf(description.Impossible, d.At(l.Line), "leaving", "rest needs a declared pose; %q is not one%s", l.Pose, b.Hint(l.Pose, b.m.PoseNames()))
		}
	}
	b.m.leaving = Leaving{Do: l.Do, Pose: l.Pose, Speed: l.Speed, Deadline: l.Deadline}
}

// describeExternal takes how the robot feels; impacts are of declared chains.
func (b *builder) describeExternal(d *Description) {
	x := &d.External
	e := External{Off: x.Off, Odometry: x.Odometry, ForceOn: x.ForceOn, Bandwidth: x.Bandwidth, ModelError: x.ModelError, Delay: x.Delay, LiftGate: x.LiftGate, Impact: x.Impact}
	names := make([]string, len(b.m.chains))
	for i := range b.m.chains {
		names[i] = b.m.chains[i].Name
	}
	for _, r := range x.Impacts {
		id, ok := b.m.chainByName[r.Name]
		if !ok {
			b.Errorf(description.Impossible, d.At(x.Line), "external_forces", "impacts: no chain is named %q%s", r.Name, b.Hint(r.Name, names))
			continue
		}
		if e.Impacts == nil {
			e.Impacts = make([]string, len(b.m.chains))
		}
		e.Impacts[id] = r.Value
	}
	b.m.external = e
}

func (b *builder) describeSafety(d *Description) {
	for _, s := range d.SafeStates {
		at, thing := d.At(s.Line), problem.Named("safe state of", s.Group)
		id, ok := b.m.groupByName[s.Group]
		if !ok || !b.m.groups[id].Resource {
			b.Errorf(description.Impossible, at, thing, "%q is not a resource%s", s.Group, b.Hint(s.Group, b.m.GroupNames()))
			continue
		}
		state := SafeState{Do: SafeAction(1 + slices.Index(description.SafeActions, s.Do)), Pose: -1}
		if state.Do == SafeCrouchThenOff {
			var declared bool
			if state.Pose, declared = b.m.poseByName[s.Pose]; !declared {
				b.Errorf(description.Impossible, at, thing, "crouch then off needs a declared pose; %q is not one%s", s.Pose, b.Hint(s.Pose, b.m.PoseNames()))
				continue
			}
			b.checkCrouch(b.m.groups[id], b.m.poses[state.Pose], at, thing)
		}
		b.m.safe[id] = state
	}
}

// checkCrouch makes sure that the pose places every joint that could stay up.
func (b *builder) checkCrouch(g Group, p NamedPose, at problem.Pos, thing string) {
	for _, j := range g.Joints {
		if !b.m.joints[j].Virtual && !slices.Contains(p.Joints, j) {
			b.Errorf(description.Impossible, at, thing, "pose %q does not place joint %q", p.Name, b.m.joints[j].Name)
		}
	}
}
