package contact

import (
	"fmt"
	"math"

	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// Foot is a chain that touches the ground. The robot declares a contact for it.
type Foot struct {
	Chain   robot.ChainID   `json:"chain"`
	Contact robot.ContactID `json:"contact"` // which points of it
}

// Ground places one robot on the ground. Make one with NewGround.
type Ground struct {
	m      *robot.Model
	legs   *kinematics.Data   // of the chains that can stand
	whole  *kinematics.Data   // of all bodies, for the centre of mass
	q      []float64          // base at the origin, then the joints
	tips   []kinematics.Place // of each chain
	points []spatial.Vec3     // scratch: contact points in the base
	soles  []spatial.Vec3     // scratch: those that carry
	flat   []Point            // scratch of balance

	v, a    []float64 // base at rest, then the joints
	known   bool      // legs are of q,
	moving  bool      // of v too,
	changes bool      // and of a
	matches []Match   // scratch of Fit
}

// NewGround returns the ground under a robot. Robots with joints of several
// coordinates have no place here: one number per joint cannot describe them.
func NewGround(m *robot.Model) (*Ground, error) {
	for i := range m.Joints() {
		if j := &m.Joints()[i]; j.Kind.NumQ() != 1 {
			return nil, fmt.Errorf("contact: joint %q has %d coordinates, and a pose gives it one number", j.Name, j.Kind.NumQ())
		}
	}
	g := &Ground{m: m, whole: kinematics.NewData(m), q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV()), tips: make([]kinematics.Place, len(m.Chains()))}
	kinematics.NewSpace(m).NeutralTo(g.q)
	var feet []kinematics.Place
	for i, c := range m.Chains() {
		g.tips[i] = g.whole.At(c.Tip)
		if c.Contact != robot.NoContact {
			feet = append(feet, g.tips[i])
		}
	}
	g.legs = kinematics.NewDataFor(m, feet...)
	return g, nil
}

// Model returns the robot.
func (g *Ground) Model() *robot.Model { return g.m }

// DefaultFeetTo appends the chains that stand unless told otherwise, with their
// own contacts.
func (g *Ground) DefaultFeetTo(dst []Foot) []Foot {
	for i, c := range g.m.Chains() {
		if c.Contact != robot.NoContact {
			dst = append(dst, Foot{robot.ChainID(i), c.Contact})
		}
	}
	return dst
}

// pose computes where legs are, seen from the base, unless that is known.
func (g *Ground) pose(joints []float64) {
	if g.set(joints); !g.known {
		g.legs.UpdatePosition(g.q)
		g.known, g.moving, g.changes = true, false, false
	}
}

// set takes the joints; what was known of others is forgotten.
func (g *Ground) set(joints []float64) {
	all := g.m.Joints()
	if len(joints) != len(all) {
		panic("contact: one number per joint")
	}
	same := true
	for i := range all {
		same = same && g.q[all[i].Q] == joints[i]
		g.q[all[i].Q] = joints[i]
	}
	g.known = g.known && same
}

// Move says where the joints are, how they move and how that changes: q, v and a; nil
// is at rest. Loop-safe.
func (g *Ground) Move(q, v, a []float64) {
	g.pose(q)
	if v == nil {
		g.moving, g.changes = false, false
		return
	}
	all := g.m.Joints()
	same := g.moving
	for i := range all {
		same = same && g.v[all[i].V] == v[i]
		g.v[all[i].V] = v[i]
	}
	if !same {
		g.legs.UpdateVelocity(g.v)
		g.moving, g.changes = true, false
	}
	if a == nil {
		g.changes = false
		return
	}
	same = g.changes
	for i := range all {
		same = same && g.a[all[i].V] == a[i]
		g.a[all[i].V] = a[i]
	}
	if !same {
		g.legs.UpdateAcceleration(g.a)
		g.changes = true
	}
}

// level is how far from the sole a contact point still counts as on it, m.
const level = 1e-6

// Carries reports whether a point of a contact set is on the ground: it is level with the
// first one across the tip's z axis.
func Carries(set []spatial.Vec3, p spatial.Vec3) bool { return math.Abs(p.Z-set[0].Z) <= level }

// SoleMiddle returns the mean of the points of a contact set that carry, in the tip's frame.
func SoleMiddle(set []spatial.Vec3) (mean spatial.Vec3) {
	n := 0.0
	for _, p := range set {
		if Carries(set, p) {
			mean, n = mean.Add(p), n+1
		}
	}
	return mean.Scale(1 / max(n, 1))
}

// pointsOf appends the contact points of a foot as seen from the base, and those
// that carry. Upright reports whether the contact keeps the tip upright.
func (g *Ground) pointsOf(d *kinematics.Data, f Foot) (X_BT spatial.Pose, upright bool) {
	X_BT = d.Pose(g.tips[f.Chain])
	all := g.m.Contacts()[f.Contact].Points
	for _, p := range all {
		x := X_BT.Apply(p)
		g.points = append(g.points, x)
		if Carries(all, p) {
			g.soles = append(g.soles, x)
		} else {
			upright = true
		}
	}
	return X_BT, upright
}

// PointsTo appends the contact points of the feet in the world, foot by foot, with
// the base at X_WB. Loop-safe if dst has room.
func (g *Ground) PointsTo(dst []spatial.Vec3, joints []float64, feet []Foot, X_WB spatial.Pose) []spatial.Vec3 {
	g.pose(joints)
	g.points, g.soles = g.points[:0], g.soles[:0]
	for _, f := range feet {
		g.pointsOf(g.legs, f)
	}
	for _, p := range g.points {
		dst = append(dst, X_WB.Apply(p))
	}
	return dst
}

// Settling: iterations of Gauss and Newton's method and the step at which they
// end, rad; how much an upright foot counts beside the heights of the soles; what
// keeps directions that nothing decides.
const (
	settleSteps = 30
	settledStep = 1e-13
	uprightArm  = 1e-5 // m
	undecided   = 1e-15
)

// Settle returns the pose of the base when the robot stands on its feet on the
// plane z = 0, as level as its soles allow: base above the origin, nose along x.
// A robot whose base is fixed stays where it is. Ok is false if there are no feet:
// then the base is at the origin. Loop-safe.
//
// It solves for the tilt that gives all soles the same height: with x, y the place
// of a sole and z its height, seen from their middle, a small turn ω changes z by
// ωx·y − ωy·x. The axis of a foot that stands upright is vertical; this counts where
// soles alone leave a freedom, as on one leg.
func (g *Ground) Settle(joints []float64, feet []Foot) (X_WB spatial.Pose, ok bool) {
	if !g.m.Floating() {
		return spatial.IdentityPose, true
	}
	g.pose(joints)
	g.points, g.soles = g.points[:0], g.soles[:0]
	var axes [maxFeet]spatial.Vec3
	upright := axes[:0]
	for _, f := range feet {
		if X_BT, up := g.pointsOf(g.legs, f); up && len(upright) < maxFeet {
			upright = append(upright, X_BT.R.Col(2))
		}
	}
	if len(g.soles) == 0 {
		return spatial.IdentityPose, false
	}
	R, height := spatial.Identity3, 0.0
	for range settleSteps {
		var ω spatial.Vec3
		ω, height = g.tilt(R, upright)
		R = spatial.ExpRotation(ω).Matrix().Mul(R)
		if ω.Norm() < settledStep {
			break
		}
	}
	R, _ = straighten(R)
	yaw := 0.0
	if x := R.Col(0); math.Hypot(x.X, x.Y) > level {
		yaw = math.Atan2(x.Y, x.X)
	}
	return spatial.Pose{R: spatial.TurnZ(-yaw).Mul(R), P: spatial.Vec3{Z: -height}}, true
}

// maxFeet is how many upright feet decide a tilt; more do not add to it.
const maxFeet = 16

// tilt returns the turn that levels the soles under the rotation R of the base,
// and the mean height of the soles.
func (g *Ground) tilt(R spatial.Mat3, upright []spatial.Vec3) (ω spatial.Vec3, height float64) {
	var mean spatial.Vec3
	for _, p := range g.soles {
		mean = mean.Add(R.MulVec(p))
	}
	mean = mean.Scale(1 / float64(len(g.soles)))
	// normal equations of  ωx·y − ωy·x = −z
	var xx, xy, yy, xz, yz float64
	for _, p := range g.soles {
		d := R.MulVec(p).Sub(mean)
		xx, xy, yy, xz, yz = xx+d.X*d.X, xy+d.X*d.Y, yy+d.Y*d.Y, xz+d.X*d.Z, yz+d.Y*d.Z
	}
	// and of  arm·(axis + ω×axis) having no horizontal part
	for _, b := range upright {
		a := R.MulVec(b).Scale(uprightArm)
		xx, yy = xx+a.Z*a.Z, yy+a.Z*a.Z
		xz, yz = xz-a.X*a.Z, yz-a.Y*a.Z
	}
	xx, yy = xx+undecided, yy+undecided
	det := xx*yy - xy*xy
	return spatial.Vec3{X: (xy*xz - xx*yz) / det, Y: (yy*xz - xy*yz) / det}, mean.Z
}

// straighten returns the rotation nearest to a matrix that is almost one.
func straighten(R spatial.Mat3) (spatial.Mat3, bool) {
	q, ok := R.Quat().Unit()
	return q.Matrix(), ok
}
