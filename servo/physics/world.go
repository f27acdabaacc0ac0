package physics

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"poise/internal/rt"
	"poise/robot"
	servomodel "poise/servo/model"
	"poise/sim"
	"poise/spatial"
)

// World is how the surroundings of a robot behind a Driver are seen and changed while its
// cycle runs. Changes are prepared outside the cycle, cross into it through a ring and take
// effect with the next exchange. Methods are concurrent, but See.
type World struct {
	bus    *Bus
	orders *rt.Ring[order]
	truth  *rt.Latest[Truth]

	mu     sync.Mutex   // among those who change something
	bare   *robot.Model // without payloads
	config sim.Config
	model  *sim.Model // with them
	ground sim.Ground // as it was last set
	slope  [2]float64 // roll and pitch of it
	loads  []spatial.Inertia
	volts  float64 // of the supply; 0 is nominal
	loss   float64
	known  Truth // as it was last seen
}

// Around is what is known of a robot's surroundings besides its Model. The zero value is
// level ground, and meshes that touch nothing.
type Around struct {
	Ground       *sim.Ground                         // nil is level, with the friction of the settings
	Slope        [2]float64                          // roll and pitch that Ground has
	Mesh         func(name string) []spatial.Vec3    // corners of a mesh file
	Touch, Apart [][2]robot.FrameID                  // see sim.Config
	Servos       map[robot.JointID]*servomodel.Model // that differ from those that the robot is said to have
}

// Truth is the state of the simulated robot after an exchange.
type Truth struct {
	Time     float64       // s, of physics
	Q, V     []float64     // NumQ, NumV
	Torque   []float64     // of each motor at its joint
	Contacts []sim.Contact // that carry something
	Pushes   []sim.Push    // that acted, a grab's included
	Grabbed  bool
	Volts    float64 // of the supply, as servos measure it; 0 if none has a voltage
	Broken   sim.Fault
}

// order is a change of the world.
type order struct {
	kind   orderKind
	push   sim.Push
	until  float64 // s that a push lasts
	grab   grab
	value  float64
	ground *sim.Ground
	model  *sim.Model
	data   *sim.Data
	q      []float64
}

type orderKind uint8

const (
	orderPush orderKind = iota
	orderGrab
	orderRelease
	orderGround
	orderVoltage
	orderLoss
	orderModel
	orderPut
	orderLift
)

// grab is a spring that may be there.
type grab struct {
	on bool
	Spring
}

// timedPush is a push that ends.
type timedPush struct {
	push  sim.Push
	until uint64 // step in which it has ended
}

const (
	maxOrders   = 64
	longestPush = 3600 // s
	mostForce   = 1e5  // N
	mostPayload = 1e4  // kg
	highestDrop = 10   // m
)

var errBusy = errors.New("too much happens at once: the cycle has not taken what was ordered before")

func newWorld(b *Bus, model *sim.Model, c sim.Config, slope [2]float64) *World {
	m := model.Robot()
	w := &World{bus: b, orders: rt.NewRing[order](maxOrders), bare: m, config: c, model: model, ground: *b.in.Ground, slope: slope,
		loads: make([]spatial.Inertia, len(m.Bodies())), loss: b.line.Loss}
	room := func(t *Truth) {
		*t = Truth{Q: make([]float64, m.NumQ()), V: make([]float64, m.NumV()), Torque: make([]float64, len(m.Joints())),
			Contacts: make([]sim.Contact, 0, model.Contacts()), Pushes: make([]sim.Push, 0, maxPushes)}
	}
	w.truth = rt.NewLatest(room)
	room(&w.known)
	b.truthTo(&w.known)
	b.world, b.held = w, uint64(heldFor/model.Step())
	return w
}

// See calls f with the newest state, which is f's until it returns, and reports whether
// it was not seen before. It is for one goroutine.
func (w *World) See(f func(t *Truth)) bool {
	t, fresh := w.truth.Load()
	w.mu.Lock()
	if fresh {
		w.known.copy(t)
	}
	w.mu.Unlock()
	f(&w.known)
	return fresh
}

func (t *Truth) copy(src *Truth) {
	q, v, tau, contacts, pushes := t.Q, t.V, t.Torque, t.Contacts[:0], t.Pushes[:0]
	copy(q, src.Q)
	copy(v, src.V)
	copy(tau, src.Torque)
	contacts, pushes = append(contacts, src.Contacts...), append(pushes, src.Pushes...)
	*t = *src
	t.Q, t.V, t.Torque, t.Contacts, t.Pushes = q, v, tau, contacts, pushes
}

// Ground returns the friction, roll and pitch of the ground, the supply's voltage without
// load (0 is nominal) and the mass of all payloads.
func (w *World) Ground() (friction, roll, pitch, volts, payload float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.loads {
		payload += l.Mass
	}
	return w.ground.Friction, w.slope[0], w.slope[1], w.volts, payload
}

// Solid returns what of the ground never changes: its boxes, and the heights on its plane
// or nil.
func (w *World) Solid() ([]sim.Box, *sim.Heights) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ground.Boxes, w.ground.Heights
}

// Pending reports whether the cycle has not taken something yet that was ordered.
func (w *World) Pending() bool { return w.orders.Len() > 0 }

func (w *World) send(o order) error {
	if !w.orders.Send(o) {
		return errBusy
	}
	return nil
}

// body finds the body of a link that can move, and a point of the link in it.
func (w *World) body(link robot.FrameID, point spatial.Vec3) (robot.BodyID, spatial.Vec3, error) {
	f := &w.bare.Frames()[link]
	if f.Body == robot.World {
		return 0, point, fmt.Errorf("link %q cannot move", f.Name)
	}
	return f.Body, f.Pose.Apply(point), nil
}

// Push lets a force in world axes, N, act on a point of a link for a time, s.
func (w *World) Push(link robot.FrameID, point, force spatial.Vec3, seconds float64) error {
	b, at, err := w.body(link, point)
	switch {
	case err != nil:
		return err
	case !force.Finite() || !point.Finite() || force.Norm() > mostForce:
		return fmt.Errorf("a force of %g N: at most %g N are wanted", force.Norm(), float64(mostForce))
	case !(seconds > 0 && seconds <= longestPush):
		return fmt.Errorf("a push of %g s is not within 0 … %d s", seconds, longestPush)
	}
	return w.send(order{kind: orderPush, push: sim.Push{Body: b, Point: at, Force: force}, until: seconds})
}

// Grab draws a point of a link to a point of the world by a damped spring, N/m (0 is one
// that can carry the robot), until Release or the next Grab.
func (w *World) Grab(link robot.FrameID, point, target spatial.Vec3, stiffness float64) error {
	b, at, err := w.body(link, point)
	if err != nil {
		return err
	}
	spring, err := NewSpring(w.bare, b, at, target, stiffness)
	if err != nil {
		return err
	}
	return w.send(order{kind: orderGrab, grab: grab{on: true, Spring: spring}})
}

// Release ends a grab.
func (w *World) Release() error { return w.send(order{kind: orderRelease}) }

// SetFriction changes the coefficient of friction of the ground.
func (w *World) SetFriction(x float64) error {
	if !(x >= 0 && x <= 10) {
		return fmt.Errorf("a friction of %g is not within 0 … 10", x)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.ground
	g.Friction = x
	return w.setGround(g)
}

// SetSlope turns the ground: roll then pitch, rad.
func (w *World) SetSlope(roll, pitch float64) error {
	const steepest = 1.2
	if !(math.Abs(roll) <= steepest && math.Abs(pitch) <= steepest) {
		return fmt.Errorf("a slope of roll %g and pitch %g is not within ±%g rad", roll, pitch, steepest)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.ground
	g.SetSlope(roll, pitch)
	if err := w.setGround(g); err != nil {
		return err
	}
	w.slope = [2]float64{roll, pitch}
	return nil
}

// setGround sends the cycle a ground that is never written again.
func (w *World) setGround(g sim.Ground) error {
	if err := w.send(order{kind: orderGround, ground: &g}); err != nil {
		return err
	}
	w.ground = g
	return nil
}

// SetVoltage changes the supply, V without load.
func (w *World) SetVoltage(v float64) error {
	if !(v >= 0 && v <= 1000) {
		return fmt.Errorf("%g V is not within 0 … 1000 V", v)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.send(order{kind: orderVoltage, value: v}); err != nil {
		return err
	}
	w.volts = v
	return nil
}

// SetLoss changes the share of packets that get lost.
func (w *World) SetLoss(share float64) error {
	if !(share >= 0 && share <= 1) {
		return fmt.Errorf("%g is no share, 0 … 1", share)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loss = share
	return w.send(order{kind: orderLoss, value: share})
}

// SetPayload puts a mass on a link, at a point in its frame, in place of what was put on it
// before. The robot's controllers are not told.
func (w *World) SetPayload(link robot.FrameID, mass float64, at spatial.Vec3) error {
	b, p, err := w.body(link, at)
	if err != nil {
		return err
	}
	if !(mass >= 0 && mass <= mostPayload) || !at.Finite() {
		return fmt.Errorf("a payload of %g kg is not within 0 … %g kg", mass, float64(mostPayload))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.loads[b]
	w.loads[b] = spatial.Inertia{Mass: mass, Com: p}
	bodies := w.bare.Bodies()
	inertias := make([]spatial.Inertia, len(bodies))
	for i := range inertias {
		inertias[i] = bodies[i].Inertia.Add(w.loads[i])
	}
	model, err := sim.NewModel(w.bare.WithInertias(inertias), w.config)
	if err == nil {
		err = w.send(order{kind: orderModel, model: model, data: sim.NewData(model)})
	}
	if err != nil {
		w.loads[b] = before
		return err
	}
	w.model = model
	return nil
}

// PutBack puts the robot back on its feet where it is: its joints as they are given, one
// number each, at rest, with its heading. Pushes and grabs end. Servos keep what they were
// told last.
func (w *World) PutBack(joints []float64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at spatial.Vec3
	heading := 0.0
	if q := w.known.Q; w.bare.Floating() && w.known.Broken == sim.OK {
		R := spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}.Matrix()
		at, heading = spatial.Vec3{X: q[0], Y: q[1], Z: q[2]}, math.Atan2(R[3], R[0])
	}
	q, err := w.model.SettledAt(joints, &w.ground, at, heading)
	if err != nil {
		return err
	}
	return w.send(order{kind: orderPut, q: q})
}

// Drop lifts the robot by a height, m, and lets it fall.
func (w *World) Drop(height float64) error {
	switch {
	case !w.bare.Floating():
		return fmt.Errorf("the base of robot %q is fixed: it cannot be dropped", w.bare.Name())
	case !(height > 0 && height <= highestDrop):
		return fmt.Errorf("a height of %g m is not within 0 … %d m", height, highestDrop)
	}
	return w.send(order{kind: orderLift, value: height})
}

// obey takes what was ordered of the world. Loop-safe.
func (b *Bus) obey() {
	for {
		o, ok := b.world.orders.TryReceive()
		if !ok {
			return
		}
		switch o.kind {
		case orderPush:
			if len(b.acting) < cap(b.acting) {
				b.acting = append(b.acting, timedPush{o.push, b.state.Tick + uint64(math.Max(1, math.Round(o.until/b.model.Step())))})
			}
		case orderGrab:
			if b.grab.on && b.grab.body == o.grab.body && b.grab.point == o.grab.point { // it is dragged on
				o.grab.last, o.grab.seen = b.grab.last, b.grab.seen
			}
			b.grab = o.grab
		case orderRelease:
			b.grab = grab{}
		case orderGround:
			b.in.Ground = o.ground
		case orderVoltage:
			b.SetVoltage(o.value)
		case orderLoss:
			b.SetLoss(o.value)
		case orderModel:
			b.model, b.data = o.model, o.data
		case orderPut:
			b.put(o.q)
		case orderLift:
			b.Lift(o.value)
		}
	}
}

// put places the robot, at rest.
func (b *Bus) put(q []float64) {
	copy(b.state.Q, q)
	b.still()
	b.broken = sim.OK
	b.held = uint64(heldFor / b.model.Step())
	b.acting, b.grab = b.acting[:0], grab{}
	for i := range b.joints {
		j := &b.joints[i]
		j.ramp, j.left, j.n = q[b.model.Robot().Joints()[i].Q], 0, 0
		j.goal.Position = j.ramp
	}
}

// heldFor is how long a robot is held where it was put, s: until its servos have torque, so
// that it need not fall first.
const heldFor = 1.0

// hold reports whether the robot is held for a step more. Loop-safe.
func (b *Bus) hold() bool {
	for i := range b.joints {
		if b.joints[i].goal.Mode.Powered() {
			b.held = 0
			return false
		}
	}
	b.held--
	b.state.Tick++
	b.unit.before(b.state)
	b.unit.after(b.state, b.model.Step())
	return true
}

// Lift takes a floating robot up by a height, m, at rest: it falls from there.
func (b *Bus) Lift(height float64) {
	b.state.Q[2] += height
	b.still()
}

// still takes all motion away, and what motion has left behind.
func (b *Bus) still() {
	b.state.Rest()
	b.unit.forget()
}

// act lets the pushes act whose time is not over, and the grab. Loop-safe.
func (b *Bus) act() {
	b.in.Pushes = b.in.Pushes[:0]
	kept := b.acting[:0]
	for _, p := range b.acting {
		if b.state.Tick < p.until {
			kept = append(kept, p)
			b.in.Pushes = append(b.in.Pushes, p.push)
		}
	}
	b.acting = kept
	if g := &b.grab; g.on {
		b.kin.UpdatePosition(b.state.Q)
		b.in.Pushes = append(b.in.Pushes, g.Push(b.kin, b.model.Step()))
	}
}

// truthTo fills in the state of the robot. Loop-safe.
func (b *Bus) truthTo(t *Truth) {
	t.Time = float64(b.state.Tick) * b.model.Step()
	copy(t.Q, b.state.Q)
	copy(t.V, b.state.V)
	for i := range t.Torque {
		t.Torque[i] = b.data.Torque(i)
	}
	t.Contacts = b.data.ContactsTo(t.Contacts[:0])
	t.Pushes = append(t.Pushes[:0], b.in.Pushes...)
	t.Grabbed, t.Broken = b.grab.on, b.broken
	t.Volts = 0
	for i := range b.motors {
		t.Volts = math.Max(t.Volts, b.volts*b.motors[i].Voltage)
	}
}
