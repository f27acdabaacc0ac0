package estimate

import (
	"math"

	"poise/contact"
	"poise/control"
	"poise/dynamics"
	"poise/floatingbase"
	"poise/kinematics"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// Balance is how a robot stands, by forces. Points are on the horizontal plane through the
// mean height of its soles. The zero value is ready to be filled.
type Balance struct {
	Mass        float64      // kg
	Com         spatial.Vec3 // centre of mass in the world, m
	ComVelocity spatial.Vec3 // m/s
	Ground      float64      // height of the plane, m

	CoP     contact.Point // centre of pressure: of the forces that the feet give
	ZMP     contact.Point // zero-moment point: of the force that the motion needs
	Capture contact.Point // where the centre of mass comes to rest above: com + v·√(height/g)
	HasCoP  bool          // the feet press
	HasZMP  bool          // there is a plane, and the motion needs it to press; Capture exists with it

	Support                                        contact.Polygon // hull of the soles, seen from above
	ComMargin, CoPMargin, ZMPMargin, CaptureMargin float64         // how far inside of it each is, m; negative outside, −∞ without a polygon

	Feet []FootLoad
}

// FootLoad is what a foot that stands carries.
type FootLoad struct {
	Chain robot.ChainID
	Force spatial.Vec3 // on the robot, world axes, N
}

// Balancer finds how a robot stands. It serves one goroutine. Make one with NewBalancer.
type Balancer struct {
	m       *robot.Model
	inverse *floatingbase.Inverse
	kin     *kinematics.Data
	dyn     *dynamics.Data
	answer  floatingbase.Answer
	weight  float64         // N
	gravity float64         // m/s²
	sensed  []robot.ChainID // of touch sensors: the chains with contacts, in the robot's order

	q, v, a, b []float64
	supports   []floatingbase.Support
	sets       []floatingbase.ContactModel // of the robot's contacts
	flat       contact.Soles
	soles      float64 // how many, and the sum of their heights
	height     float64
}

// Friction is that of a ground of which nothing is known.
const Friction = 0.8

// leastPressure is the share of the weight below which a force has no centre.
const leastPressure = 0.05

// NewBalancer returns the balance of a robot with a free base. Without mass it has soles and
// no forces.
func NewBalancer(m *robot.Model) (*Balancer, error) {
	g := m.Gravity().Norm()
	var inverse *floatingbase.Inverse
	if m.Mass()*g > 0 || !m.Floating() {
		var err error
		if inverse, err = floatingbase.NewInverse(m); err != nil {
			return nil, err
		}
	}
	b := &Balancer{m: m, inverse: inverse, kin: kinematics.NewData(m), dyn: dynamics.NewData(m), gravity: g, weight: m.Mass() * g,
		q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV()), b: make([]float64, m.NumV())}
	kinematics.NewSpace(m).NeutralTo(b.q)
	b.sensed = Sensed(m)
	for i := range m.Contacts() {
		b.sets = append(b.sets, floatingbase.NewContactModel(&m.Contacts()[i]))
	}
	return b, nil
}

// Sensed returns the chains whose tips have touch sensors, where a robot has one for each of
// its feet: those with contacts, in the robot's order.
func Sensed(m *robot.Model) (all []robot.ChainID) {
	for i, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			all = append(all, robot.ChainID(i))
		}
	}
	return all
}

// ReferenceTo fills in how a commanded motion stands: the forces are those that inverse
// dynamics with contacts has for its accelerations and supports.
func (b *Balancer) ReferenceTo(dst *Balance, c *control.Motion) {
	b.move(c.Q, c.V, c.A, &c.Base)
	b.stand(c.Support)
	b.begin(dst)
	friction := Friction
	for i := range c.Support {
		if f := c.Support[i].Friction; f > 0 && c.Support[i].Weight > 0 {
			friction = min(friction, f)
		}
	}
	if b.solve(dst, friction) {
		dst.ZMP, dst.HasZMP = b.answer.ZMP, b.answer.HasZMP
	}
	b.judge(dst)
}

// MeasurementTo fills in how a robot stands as it is measured: forces are those of its touch
// sensors where they tell any, else those that its feet must give; what the motion needs
// follows from the acceleration that its inertial unit feels at the base. Joints that
// accelerate are not seen in that. Feet without a sensor stand as the estimate has them.
func (b *Balancer) MeasurementTo(dst *Balance, m *control.Measured) {
	b.move(m.Q, m.V, nil, &m.Base)
	touches := len(m.Touch) == len(b.sensed) && len(b.sensed) > 0
	for i := range m.Touch {
		touches = touches && m.Touch[i].Age != servo.Never
	}
	if touches {
		b.supports = b.supports[:0]
		for i, c := range b.sensed {
			if m.Touch[i].Pressed {
				b.supports = append(b.supports, floatingbase.Support{Chain: c, Contact: b.m.Chains()[c].Contact, Coefficient: 1})
			}
		}
	} else {
		b.stand(m.Support)
	}
	b.begin(dst)
	if len(m.IMU) > 0 && m.IMU[0].Age != servo.Never {
		b.feel(&m.IMU[0], m.Base.Pose.R)
	}
	b.dyn.InverseTo(b.b, b.q, b.v, b.a, dynamics.Load{})
	X := m.Base.Pose
	needed := spatial.Wrench{Force: X.R.MulVec(spatial.Vec3{X: b.b[0], Y: b.b[1], Z: b.b[2]}), Torque: X.R.MulVec(spatial.Vec3{X: b.b[3], Y: b.b[4], Z: b.b[5]})}
	needed.Torque = needed.Torque.Add(X.P.Cross(needed.Force))
	dst.ZMP, dst.HasZMP = b.centre(needed)
	if !(touches && b.pressure(dst, m)) && !(m.Felt && b.feltPressure(dst, m)) {
		b.solve(dst, Friction)
	}
	b.judge(dst)
}

// move takes where a robot is and how it moves; a is nil if that is not known.
func (b *Balancer) move(q, v, a []float64, base *control.BaseRef) {
	clear(b.a)
	X, t := spatial.IdentityPose, spatial.Twist{}
	if base.Has {
		X, t = base.Pose, base.Twist
	}
	R := X.R.Quat()
	copy(b.q, []float64{X.P.X, X.P.Y, X.P.Z, R.X, R.Y, R.Z, R.W})
	copy(b.v, []float64{t.Linear.X, t.Linear.Y, t.Linear.Z, t.Angular.X, t.Angular.Y, t.Angular.Z})
	for i, j := range b.m.Joints() {
		b.q[j.Q], b.v[j.V] = q[i], v[i]
		if a != nil {
			b.a[j.V] = a[i]
		}
	}
	if a != nil {
		l, w := base.Acceleration.Linear, base.Acceleration.Angular
		copy(b.a, []float64{l.X, l.Y, l.Z, w.X, w.Y, w.Z})
	}
	b.kin.UpdatePosition(b.q)
	b.kin.UpdateVelocity(b.v)
}

// feel takes the acceleration of the base from an inertial unit there: what it feels is
// f = Rᵀ·(p̈ − g), and the derivative of the twist's components is Rᵀ·p̈ − ω×v.
func (b *Balancer) feel(u *servo.Inertial, R spatial.Mat3) {
	v := spatial.Vec3{X: b.v[0], Y: b.v[1], Z: b.v[2]}
	a := u.Acceleration.Add(R.TMulVec(b.m.Gravity())).Sub(u.Rate.Cross(v))
	b.a[0], b.a[1], b.a[2] = a.X, a.Y, a.Z
	b.v[3], b.v[4], b.v[5] = u.Rate.X, u.Rate.Y, u.Rate.Z
}

// stand takes the supports that count for something.
func (b *Balancer) stand(supports []control.Support) {
	b.supports = supportsTo(b.supports[:0], b.m, supports)
}

// supportsTo appends the chains that stand. Loop-safe if dst has room.
func supportsTo(dst []floatingbase.Support, m *robot.Model, supports []control.Support) []floatingbase.Support {
	for i := range supports {
		own := m.Chains()[i].Contact
		if s := &supports[i]; s.Weight > 0 && own != robot.NoContact {
			use := s.Contact
			if use == robot.NoContact {
				use = own
			}
			dst = append(dst, floatingbase.Support{Chain: robot.ChainID(i), Contact: use, Coefficient: min(s.Weight, 1)})
		}
	}
	return dst
}

// begin fills in what follows from where the robot is: centre of mass, soles, plane.
func (b *Balancer) begin(dst *Balance) {
	dst.Mass = b.m.Mass()
	dst.Com, _ = b.kin.Com()
	dst.ComVelocity, _ = b.kin.ComVelocity()
	dst.HasCoP, dst.HasZMP, dst.Feet = false, false, dst.Feet[:0]
	b.flat.Clear()
	b.soles, b.height = 0, 0
	for _, s := range b.supports {
		dst.Feet = append(dst.Feet, FootLoad{Chain: s.Chain})
		X := b.kin.Pose(b.kin.At(b.m.Chains()[s.Chain].Tip))
		set := &b.sets[s.Contact]
		for _, p := range set.Soles() {
			b.height, b.soles = b.height+X.Apply(p).Z, b.soles+1
		}
		middles, radius := set.Area()
		for _, p := range middles {
			x := X.Apply(p)
			b.flat.Add(contact.Point{X: x.X, Y: x.Y}, radius)
		}
	}
	if b.soles > 0 {
		b.height /= b.soles
	}
	dst.Ground = b.height
	b.flat.Hull(&dst.Support)
}

// solve takes what inverse dynamics says of the feet; it is false if that has no answer.
func (b *Balancer) solve(dst *Balance, friction float64) bool {
	if b.inverse == nil || b.inverse.Solve(&b.answer, b.q, b.v, b.a, b.supports, friction) != nil {
		return false
	}
	dst.CoP, dst.HasCoP = b.answer.CoP, b.answer.HasCoP
	for i, c := range b.answer.Contacts { // one for each support
		dst.Feet[i].Force = c.Force
	}
	return true
}

// pressure fills in the centre of what touch sensors feel: where in its sole a foot presses is known
// by the moment, if that is felt, and else taken for the middle. It reports whether they feel forces:
// switches do not.
func (b *Balancer) pressure(dst *Balance, m *control.Measured) bool {
	var given spatial.Wrench
	felt, k := false, 0
	for i, c := range b.sensed {
		if !m.Touch[i].Pressed {
			continue
		}
		X := b.kin.Pose(b.kin.At(b.m.Chains()[c].Tip))
		f := X.R.MulVec(m.Touch[i].Force)
		felt = felt || f != (spatial.Vec3{})
		middle := X.Apply(contact.SoleMiddle(b.m.Contacts()[b.m.Chains()[c].Contact].Points))
		given = given.Add(spatial.Wrench{Force: f, Torque: middle.Cross(f).Add(X.R.MulVec(m.Touch[i].Moment))})
		dst.Feet[k].Force = f // pressed ones are the supports
		k++
	}
	if !felt {
		return false
	}
	dst.CoP, dst.HasCoP = b.centre(given)
	return true
}

// feltPressure fills in the centre of the forces that servos feel under the feet that stand, each
// in the middle of its sole.
func (b *Balancer) feltPressure(dst *Balance, m *control.Measured) bool {
	var given spatial.Wrench
	for k := range dst.Feet {
		c := dst.Feet[k].Chain
		f := spatial.Vec3{Z: max(m.Contacts[c].Force, 0)}
		X := b.kin.Pose(b.kin.At(b.m.Chains()[c].Tip))
		given = given.Add(spatial.Wrench{Force: f, Torque: X.Apply(contact.SoleMiddle(b.m.Contacts()[b.m.Chains()[c].Contact].Points)).Cross(f)})
		dst.Feet[k].Force = f
	}
	if dst.CoP, dst.HasCoP = b.centre(given); !dst.HasCoP {
		return false
	}
	return true
}

// centre returns where on the plane of the soles a wrench about the world's origin has no
// horizontal torque.
func (b *Balancer) centre(w spatial.Wrench) (contact.Point, bool) {
	if b.soles == 0 || !(w.Force.Z > leastPressure*b.weight) {
		return contact.Point{}, false
	}
	w.Torque = w.Torque.Sub(spatial.Vec3{Z: b.height}.Cross(w.Force))
	return contact.ZMP(w)
}

// judge fills in the capture point and the margins.
func (b *Balancer) judge(dst *Balance) {
	none := math.Inf(-1)
	dst.ComMargin, dst.CoPMargin, dst.ZMPMargin, dst.CaptureMargin = none, none, none, none
	if b.soles == 0 {
		dst.Capture = contact.Point{}
		return
	}
	if b.weight == 0 {
		return
	}
	time := math.Sqrt(max(dst.Com.Z-b.height, 0) / b.gravity)
	dst.Capture = contact.Point{X: dst.Com.X + time*dst.ComVelocity.X, Y: dst.Com.Y + time*dst.ComVelocity.Y}
	dst.ComMargin = dst.Support.Margin(contact.Point{X: dst.Com.X, Y: dst.Com.Y})
	dst.CaptureMargin = dst.Support.Margin(dst.Capture)
	if dst.HasCoP {
		dst.CoPMargin = dst.Support.Margin(dst.CoP)
	}
	if dst.HasZMP {
		dst.ZMPMargin = dst.Support.Margin(dst.ZMP)
	}
}
