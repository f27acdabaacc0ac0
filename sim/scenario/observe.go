package scenario

import (
	"cmp"
	"math"
	"slices"

	"poise/contact"
	"poise/kinematics"
	"poise/robot"
	"poise/sim"
	"poise/spatial"
)

// carries is the share of the weight from which on a foot counts as one that stands.
const carries = 0.02

// observed is what is seen of a run.
type observed struct {
	seed     uint64
	order    []happening // by time
	kin      *kinematics.Data
	contacts []sim.Contact
	series   *series
	feet     []foot
	weight   float64

	origin spatial.Vec3 // of the base at the start
	yaw    float64
	stance sim.Stance // at the start

	fallen bool
	fellAt float64
	hull   contact.Polygon
	points []contact.Point
}

// foot is a link that may carry, and its sole.
type foot struct {
	link robot.FrameID
	sole []spatial.Vec3 // corners, in the link's frame
	mid  spatial.Vec3   // of them

	carried  bool         // at the last sample
	at       spatial.Vec3 // its middle then
	slipped  float64      // how far its middle has moved since it touched down
	force    float64      // that it carries, N
	vertical float64      // upwards on it, N
}

func (o *observed) begin(r *run, model *sim.Model) {
	p := r.p
	o.order = slices.Clone(p.actions)
	slices.SortStableFunc(o.order, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
	o.series = newSeries()
	o.weigh(model)
	if p.m.Floating() {
		X := base(r.state.Q)
		o.origin, o.yaw = X.P, yawOf(X.R)
	}
	for _, ch := range p.m.Chains() {
		if ch.Contact == robot.NoContact {
			continue
		}
		o.feet = append(o.feet, soleOf(ch.Tip, &p.m.Contacts()[ch.Contact]))
	}
	r.bus.Try()
	o.contacts = r.bus.Data().ContactsTo(o.contacts[:0])
	if len(o.feet) == 0 {
		// none is declared: what carries at the start is a foot
		for _, c := range o.contacts {
			if c.Other == robot.NoFrame && !slices.ContainsFunc(o.feet, func(f foot) bool { return f.link == c.Link }) {
				o.feet = append(o.feet, foot{link: c.Link})
			}
		}
	}
	o.kin.UpdatePosition(r.state.Q)
	for i := range o.feet {
		o.stance.Feet = append(o.stance.Feet, sim.Foot{Link: o.feet[i].link, Middle: o.feet[i].mid})
	}
	if p.m.Floating() {
		o.stance.Height = o.stance.HeightOver(o.kin, o.origin, r.bus.Input().Ground.R.Col(2))
	}
}

// weigh takes the masses of the simulated robot, which a payload changes.
func (o *observed) weigh(model *sim.Model) {
	o.kin = kinematics.NewData(model.Robot())
	o.weight = model.Robot().Mass() * model.Robot().Gravity().Norm()
	o.stance.Weight = o.weight
}

// soleOf returns the corners of a declared sole.
func soleOf(link robot.FrameID, c *robot.Contact) foot {
	f := foot{link: link, mid: sim.SoleMiddle(c)}
	for _, p := range c.Points {
		if math.Abs(p.Z-c.Points[0].Z) > 1e-6 {
			continue
		}
		if c.Sole == 0 {
			f.sole = append(f.sole, p)
			continue
		}
		const corners = 16
		for k := range corners {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / corners)
			f.sole = append(f.sole, p.Add(spatial.Vec3{X: c.Sole * cos, Y: c.Sole * sin}))
		}
	}
	return f
}

func base(q []float64) spatial.Pose {
	return spatial.Pose{R: spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}.Matrix(), P: spatial.Vec3{X: q[0], Y: q[1], Z: q[2]}}
}

func yawOf(R spatial.Mat3) float64 { return math.Atan2(R[3], R[0]) }

// observe takes a sample of every quantity.
func (r *run) observe(t float64) {
	o := &r.observed
	o.kin.UpdatePosition(r.state.Q)
	o.kin.UpdateVelocity(r.state.V)
	o.contacts = r.bus.Data().ContactsTo(o.contacts[:0])
	values := make([]float64, len(quantities))
	for i := range values {
		values[i] = math.NaN()
	}
	set := func(name string, x float64) { values[slices.Index(quantities, name)] = x }
	r.observeFeet()
	if r.p.m.Floating() {
		X := base(r.state.Q)
		R := X.R
		tilt := math.Acos(math.Max(-1, math.Min(1, R[8])))
		if !o.fallen && o.stance.Fallen(o.kin, X, r.bus.Input().Ground.R.Col(2), o.contacts) {
			o.fallen, o.fellAt = true, t
		}
		set("base.x", X.P.X)
		set("base.y", X.P.Y)
		set("base.z", X.P.Z)
		set("base.roll", math.Atan2(R[7], R[8]))
		set("base.pitch", math.Atan2(-R[6], math.Hypot(R[0], R[3])))
		set("base.yaw", yawOf(R))
		set("tilt", tilt)
		V := R.MulVec(spatial.Vec3{X: r.state.V[0], Y: r.state.V[1], Z: r.state.V[2]})
		set("speed", math.Hypot(V.X, V.Y))
		set("distance", math.Hypot(X.P.X-o.origin.X, X.P.Y-o.origin.Y))
		set("heading", math.Abs(math.Remainder(yawOf(R)-o.yaw, 2*math.Pi)))
		if margin, ok := r.margin(); ok {
			set("zmp_margin", margin)
		}
		slip := 0.0
		for i := range o.feet {
			slip = math.Max(slip, o.feet[i].slipped)
		}
		set("slip", slip)
		set("odometry_error", r.known.off)
		if off, ok := r.forceError(); ok {
			set("force_error", off)
		}
	}
	fallen := 0.0
	if o.fallen {
		fallen = 1
	}
	set("fallen", fallen)
	r.observeJoints(set)
	o.series.t = append(o.series.t, t)
	for i, x := range values {
		o.series.values[i] = append(o.series.values[i], x)
	}
}

// observeJoints samples how far joints are from their targets and how hard motors work.
func (r *run) observeJoints(set func(string, float64)) {
	sum, n, share, power := 0.0, 0, 0.0, 0.0
	for i, j := range r.p.m.Joints() {
		if j.Virtual || j.Kind.NumQ() != 1 {
			continue
		}
		e := r.target(i) - r.state.Q[j.Q]
		sum, n = sum+e*e, n+1
		if limit := r.bus.Limit(i); limit > 0 {
			share = math.Max(share, math.Abs(r.bus.Data().Torque(i))/limit)
		}
		power += r.motors[i].Power(r.bus.Data().Torque(i), r.state.V[j.V])
	}
	if n > 0 {
		set("joint_rms", math.Sqrt(sum/float64(n)))
		set("torque_share", share)
	}
	if r.p.modelled() {
		set("power", power)
	}
}

// target returns where a joint is to be now: where its motor is told to be or, if cycle 1 tells
// that another place on purpose, where the command is.
func (r *run) target(i int) float64 {
	if r.cycle == nil || r.p.s.Control.Cycle == 0 && r.p.lead == 0 {
		return r.bus.Target(i)
	}
	return r.cycle.at(i)
}

// observeFeet finds what each foot carries, and how far those that carry have slipped.
func (r *run) observeFeet() {
	o := &r.observed
	up := r.bus.Input().Ground.R.Col(2)
	for i := range o.feet {
		f := &o.feet[i]
		f.force, f.vertical = 0, 0
		for _, c := range o.contacts {
			if c.Link == f.link && c.Other == robot.NoFrame {
				f.force += c.Force.Dot(up)
				f.vertical += c.Force.Z
			}
		}
		at := o.kin.Pose(o.kin.At(f.link)).Apply(f.mid)
		switch carried := f.force > carries*o.weight; {
		case carried && f.carried:
			f.slipped += at.Sub(f.at).Norm()
			f.at = at
		case carried:
			f.carried, f.at, f.slipped = true, at, 0
		default:
			f.carried = false
		}
	}
}

// margin is how far the zero-moment point is inside the hull of the soles that carry.
func (r *run) margin() (float64, bool) {
	o := &r.observed
	p, ok := sim.ZMP(o.contacts)
	if !ok {
		return 0, false
	}
	o.points = o.points[:0]
	for i := range o.feet {
		f := &o.feet[i]
		if f.force <= carries*o.weight {
			continue
		}
		X := o.kin.Pose(o.kin.At(f.link))
		for _, c := range f.sole {
			x := X.Apply(c)
			o.points = append(o.points, contact.Point{X: x.X, Y: x.Y})
		}
		for _, c := range o.contacts {
			if len(f.sole) == 0 && c.Link == f.link && c.Other == robot.NoFrame {
				o.points = append(o.points, contact.Point{X: c.Point.X, Y: c.Point.Y})
			}
		}
	}
	if len(o.points) == 0 {
		return 0, false
	}
	o.hull.Hull(o.points)
	return o.hull.Margin(p), true
}
