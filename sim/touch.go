package sim

import (
	"math"

	"poise/robot"
	"poise/spatial"
)

// touch is a contact that there may be in this step.
type touch struct {
	slot        int // where its impulse is kept
	link, other robot.FrameID
	foot        robot.ChainID
	at          spatial.Vec3
	gap         float64

	n, t, s spatial.Vec3 // normal towards the link, and two tangents

	w      [3][6]float64 // of n, t, s: force, then torque about the block's point
	g      [3][6]float64 // Λ·w: twist that a unit impulse gives
	W      [3][3]float64 // w·Λ·w
	normal float64       // 1/W of n
	stick  [3]float64    // inverse of W of t and s: tt, ts, ss
	slide  float64       // inverse of its greatest eigenvalue
	λ      [3]float64    // impulse along n, t, s
	close  float64       // n·v ≥ −close
	out    float64       // impulse that only moves positions

	sticks bool // in a direct guess
}

// impulse returns it in world axes.
func (t *touch) impulse() spatial.Vec3 {
	return t.n.Scale(t.λ[0]).Add(t.t.Scale(t.λ[1])).Add(t.s.Scale(t.λ[2]))
}

// block is all contacts of one body with the ground, or of one body with another. What
// they do to the robot goes through one twist.
type block struct {
	path        []int32
	at          spatial.Vec3 // point of the twist
	y           []float64    // J·L⁻¹, six numbers for each row of the path
	first, last int          // touches, last excluded
}

// Contacts are looked for within a reach: what the point may go in two steps, and a little.
const reach = 5e-4 // m

// detect finds what touches or may touch within the step.
func (d *Data) detect(s *State, input *Input) {
	m := d.m
	d.touches, d.blocks, d.between = d.touches[:0], d.blocks[:0], 0
	if input.Ground == nil && len(m.pairs) == 0 {
		return
	}
	room, g := d.numbers, input.Ground
	if g != nil {
		for i := range m.bodies {
			b := &m.bodies[i]
			X := d.kin.BodyPose(b.body)
			V := d.kin.Twist(placeOf(b.body))
			speed := length(V.Linear) + length(V.Angular)*b.reach
			within := reach + 2*d.m.h*(speed+fallOf(m, d.m.h))
			if g.near(X.R.MulVec(b.centre).Add(X.P), b.radius) > within {
				continue
			}
			first := len(d.touches)
			for f := b.first; f < b.last; f++ {
				d.touchGround(g, f, &X, within, s)
			}
			if len(g.Boxes) > 0 {
				for i := range m.solids {
					if m.solids[i].body == b.body {
						d.touchEdges(g, i, &X, within, s)
					}
				}
			}
			room = d.addBlock(first, m.path[b.body], b.body, robot.World, room)
		}
	}
	d.between = len(d.blocks)
	d.detectPairs(s, room)
}

// length is the norm of a vector whose squares cannot overflow.
func length(v spatial.Vec3) float64 { return math.Sqrt(v.X*v.X + v.Y*v.Y + v.Z*v.Z) }

// fallOf is the speed that gravity gives in a step.
func fallOf(m *Model, h float64) float64 { return h * m.robot.Gravity().Norm() }

// touchGround adds what feature f has with the ground and its boxes.
func (d *Data) touchGround(g *Ground, f int, X *spatial.Pose, within float64, s *State) {
	F := &d.m.features[f]
	p := X.Apply(F.p)
	if F.rim > 0 {
		// the lowest point of a circle: against the normal, in its plane
		_, n := g.surface(p)
		axis := X.R.MulVec(F.axis)
		down := n.Sub(axis.Scale(n.Dot(axis)))
		if l := length(down); l > flatRim {
			p = p.Sub(down.Scale(F.rim / l))
		} else {
			return // flat on the ground: its corners carry
		}
	}
	if gap, n := g.surface(p); gap-F.radius < within {
		d.addTouch(featureSlots*f, F, p, n, gap-F.radius, s)
	}
	if len(g.Boxes) == 0 {
		return
	}
	nearest, gap, n := g.box(p, within+F.radius, -1)
	if nearest < 0 {
		return
	}
	d.addTouch(featureSlots*f+1, F, p, n, gap-F.radius, s)
	if second, gap, m := g.box(p, within+F.radius, nearest); second >= 0 && m.Dot(n) < sameSide {
		d.addTouch(featureSlots*f+2, F, p, m, gap-F.radius, s)
	}
}

// sameSide is the cosine of the angle below which two boxes push the same way.
const sameSide = 0.99

// flatRim is the sine of the tilt below which a circle lies flat.
const flatRim = 1e-3

func (d *Data) addTouch(slot int, F *feature, centre, n spatial.Vec3, gap float64, s *State) {
	t := touch{slot: slot, link: F.link, other: robot.NoFrame, foot: F.foot, gap: gap, n: n, at: centre.Sub(n.Scale(F.radius))}
	t.begin(s.impulse[slot])
	d.touches = append(d.touches, t)
}

// begin chooses tangents and takes over the impulse of the last step.
func (t *touch) begin(last spatial.Vec3) {
	t.t, t.s = tangents(t.n)
	t.λ = [3]float64{math.Max(0, t.n.Dot(last)), t.t.Dot(last), t.s.Dot(last)}
}

// tangents returns two directions across n: along x where n allows it.
func tangents(n spatial.Vec3) (t, s spatial.Vec3) {
	t = spatial.Vec3{X: 1}
	if math.Abs(n.X) > 0.9 {
		t = spatial.Vec3{Y: 1}
	}
	t = t.Sub(n.Scale(n.Dot(t)))
	t = t.Scale(1 / length(t))
	return t, n.Cross(t)
}

// addBlock makes a block of the touches from first on, if there are any, and returns the
// room that is left for rows.
func (d *Data) addBlock(first int, path []int32, body, other robot.BodyID, room []float64) []float64 {
	if first == len(d.touches) {
		return room
	}
	var mean spatial.Vec3
	for i := first; i < len(d.touches); i++ {
		mean = mean.Add(d.touches[i].at)
	}
	b := block{path: path, at: mean.Scale(1 / float64(len(d.touches)-first)), first: first, last: len(d.touches)}
	k := 6 * len(path)
	b.y, room = room[:k:k], room[k:]
	clear(b.y)
	d.addJacobian(&b, body, 1)
	if other != robot.World {
		d.addJacobian(&b, other, -1)
	}
	d.blocks = append(d.blocks, b)
	return room
}

// addJacobian adds the Jacobian of a body at the block's point to its rows.
func (d *Data) addJacobian(b *block, body robot.BodyID, sign float64) {
	X := d.kin.BodyPose(body)
	J, nv := d.jacobian, d.m.robot.NumV()
	d.kin.JacobianTo(J, placeAt(body, X.Inverse().Apply(b.at)))
	for a, r := range b.path {
		v := int(d.m.dof[r])
		y := b.y[6*a : 6*a+6]
		for c := range y {
			y[c] += sign * J[c*nv+v]
		}
	}
}
