package setup

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// level is how far above the lowest point of a foot a point of its sole may be, m.
const level = 0.005

// stand decides whether the robot stands on legs, and gives those feet.
func (b *maker) stand(p *Proposal) {
	p.Base, p.Why = "fixed", "it has no legs"
	if root := b.m.Frames()[0].Name; b.m.Floating() {
		p.Base, p.Why = "floating", "robot.yaml says so"
	} else if slices.Contains(words(root), "world") {
		p.Why = fmt.Sprintf("its root is %q", root)
	}
	var legs []*Limb
	for i := range p.Limbs {
		if l := &p.Limbs[i]; l.Kind == "leg" && l.Base != "" {
			legs = append(legs, l)
		}
	}
	if len(legs) == 0 {
		legs = b.lowLimbs(p)
	}
	if len(legs) < 2 {
		return
	}
	at := b
	q, note := b.bend(legs)
	if note != "" {
		p.Notes = append(p.Notes, note)
	} else if q != nil {
		at, b.stood = b.in(q), q
	}
	for _, l := range legs {
		l.Kind = "leg"
		l.Points, l.Touch = at.soles(l)
	}
	b.goRound(p)
	p.Base, p.Why = "floating", fmt.Sprintf("it stands on %d legs", len(legs))
}

// lowLimbs finds legs that are not called so: mirrored limbs that all reach down to the
// lowest level of the robot, while it hangs on nothing.
func (b *maker) lowLimbs(p *Proposal) (legs []*Limb) {
	if len(p.Mirror) == 0 || slices.Contains(words(b.m.Frames()[0].Name), "world") {
		return nil
	}
	lowest, highest := math.Inf(1), math.Inf(-1)
	for i := range b.m.Frames() {
		z := b.d.Pose(b.d.At(robot.FrameID(i))).P.Z
		lowest, highest = min(lowest, z), max(highest, z)
	}
	const near, long = 0.1, 0.3 // of the height
	for i := range p.Limbs {
		l := &p.Limbs[i]
		if l.Base == "" || l.Kind != "limb" {
			continue
		}
		tip, base := b.height(l.Tip), b.height(l.Base)
		if tip-lowest < near*(highest-lowest) && base-tip > long*(highest-lowest) {
			legs = append(legs, l)
		}
	}
	return legs
}

func (b *maker) height(link string) float64 {
	id, _ := b.m.Frame(link)
	return b.d.Pose(b.d.At(id)).P.Z
}

// plant turns the joints of legs that cannot be at zero so that each foot is below the place
// where it is with all joints at zero, if that is possible; it reports whether it turned
// any. q has a number for each joint.
func (b *maker) plant(p *Proposal, q []float64) (turned bool) {
	d := kinematics.NewData(b.m)
	whole := make([]float64, b.m.NumQ())
	kinematics.NewSpace(b.m).NeutralTo(whole)
	joints := b.m.Joints()
	for _, l := range p.Limbs {
		if len(l.Points) == 0 {
			continue
		}
		tip, _ := b.m.Frame(l.Tip)
		goal := b.d.Pose(b.d.At(tip)).P
		apart := func() float64 { // of the foot from its place, seen from above
			for i, j := range joints {
				if j.Kind.NumQ() == 1 {
					whole[j.Q] = q[i]
				}
			}
			d.UpdatePosition(whole)
			at := d.Pose(d.At(tip)).P
			return math.Hypot(at.X-goal.X, at.Y-goal.Y)
		}
		var free []robot.JointID
		for _, name := range l.Joints {
			if id, ok := b.m.Joint(name); ok && joints[id].Limits.Contains(0) {
				free = append(free, id)
			}
		}
		// joint by joint, in steps that get smaller: few joints, no need for more
		best := apart()
		before := best
		for step := 0.2; step > 1e-4; {
			better := false
			for _, id := range free {
				for _, way := range []float64{step, -step} {
					old := q[id]
					q[id] = rounded(old + way)
					if now := apart(); joints[id].Limits.Contains(q[id]) && now < best {
						best, better = now, true
						break
					}
					q[id] = old
				}
			}
			if !better {
				step /= 2
			}
		}
		turned = turned || best < before-level
	}
	return turned
}

// goRound puts legs counter-clockwise, seen from above, from the front left on, as their
// contacts go round the support polygon; other limbs follow.
func (b *maker) goRound(p *Proposal) {
	angle := func(l Limb) float64 {
		if len(l.Points) == 0 {
			return math.Inf(1)
		}
		id, _ := b.m.Frame(l.Tip)
		at := b.d.Pose(b.d.At(id)).P
		a := math.Atan2(at.Y, at.X)
		if a < 0 {
			a += 2 * math.Pi
		}
		return a
	}
	slices.SortStableFunc(p.Limbs, func(x, y Limb) int { return cmp.Compare(angle(x), angle(y)) })
}

// soles finds where a foot touches the ground while all joints are at zero, or in the pose in which legs
// are bent: the lowest points of the collision shapes of its tip, or of all that is fixed to it, else the tip.
func (b *maker) soles(l *Limb) (points [][3]float64, how string) {
	id, _ := b.m.Frame(l.Tip)
	place := b.d.At(id)
	X_WT := b.d.Pose(place)
	corners, balls := b.shapes([]robot.FrameID{id})
	if len(corners)+len(balls) == 0 {
		corners, balls = b.shapes(b.frames[place.Body])
	}
	if len(balls) == 1 && len(corners) == 0 && b.stood == nil { // a ball rolls: its far side is as good as any
		at := X_WT.Inverse().Apply(balls[0].at)
		hinge := X_WT.Inverse().Apply(b.d.BodyPose(place.Body).P)
		if out, ok := at.Sub(hinge).Unit(); ok {
			at = at.Add(out.Scale(balls[0].radius))
		}
		return [][3]float64{coordinates(at)}, "the end of the ball that is its collision shape"
	}
	for _, ball := range balls {
		corners = append(corners, ball.at.Sub(spatial.Vec3{Z: ball.radius}))
	}
	if len(corners) == 0 {
		return [][3]float64{{}}, "the origin of the tip: it has no collision shape but meshes"
	}
	lowest := slices.MinFunc(corners, func(a, c spatial.Vec3) int { return cmp.Compare(a.Z, c.Z) }).Z
	corners = slices.DeleteFunc(corners, func(v spatial.Vec3) bool { return v.Z > lowest+level })
	for _, c := range extremes(corners) {
		points = append(points, coordinates(X_WT.Inverse().Apply(c)))
	}
	if b.stood != nil {
		return points, "the lowest points of its collision shapes in the pose stand"
	}
	return points, "the lowest points of its collision shapes while all joints are at zero"
}

// extremes returns at most four points: those farthest along the diagonals.
func extremes(points []spatial.Vec3) (found []spatial.Vec3) {
	for _, way := range []spatial.Vec3{{X: 1, Y: 1}, {X: -1, Y: 1}, {X: -1, Y: -1}, {X: 1, Y: -1}} {
		far := slices.MaxFunc(points, func(a, b spatial.Vec3) int { return cmp.Compare(rounded(a.Dot(way)), rounded(b.Dot(way))) })
		if !slices.ContainsFunc(found, func(v spatial.Vec3) bool { return v.Sub(far).Norm() < level }) {
			found = append(found, far)
		}
	}
	return found
}

type ball struct {
	at     spatial.Vec3
	radius float64
}

// shapes returns the corners and balls of the collision shapes of links, in world axes.
func (b *maker) shapes(links []robot.FrameID) (corners []spatial.Vec3, balls []ball) {
	for _, id := range links {
		X_WF := b.d.Pose(b.d.At(id))
		for _, link := range b.m.Document().Links {
			if link.Name != b.m.Frames()[id].Name {
				continue
			}
			for _, c := range link.Collisions {
				X_WG := X_WF.Mul(c.Origin.Pose())
				more, round := outline(&c.Geometry)
				for _, v := range more {
					corners = append(corners, X_WG.Apply(v))
				}
				for _, r := range round {
					balls = append(balls, ball{X_WG.Apply(r.at), r.radius})
				}
			}
		}
	}
	return corners, balls
}

// outline returns the corners or balls of a shape; a mesh has none that are known.
func outline(g *urdf.Geometry) (corners []spatial.Vec3, balls []ball) {
	switch g.Shape {
	case urdf.Box:
		for i := range 8 {
			s := func(bit int, size float64) float64 { return size / 2 * float64(2*(i>>bit&1)-1) }
			corners = append(corners, spatial.Vec3{X: s(0, g.Size.X), Y: s(1, g.Size.Y), Z: s(2, g.Size.Z)})
		}
	case urdf.Cylinder:
		for i := range 8 {
			sin, cos := math.Sincos(float64(i%4)*math.Pi/2 + math.Pi/4)
			corners = append(corners, spatial.Vec3{X: g.Radius * cos, Y: g.Radius * sin, Z: g.Length / 2 * float64(2*(i/4)-1)})
		}
	case urdf.Sphere:
		balls = append(balls, ball{radius: g.Radius})
	case urdf.Capsule:
		balls = append(balls, ball{spatial.Vec3{Z: g.Length / 2}, g.Radius}, ball{spatial.Vec3{Z: -g.Length / 2}, g.Radius})
	}
	return corners, balls
}

func coordinates(v spatial.Vec3) [3]float64 {
	return [3]float64{rounded(v.X), rounded(v.Y), rounded(v.Z)}
}

// rounded returns a length or an angle to tenths of a millimetre or of a milliradian.
func rounded(x float64) float64 {
	r := math.Round(x*1e4) / 1e4
	if r == 0 {
		return 0 // not −0
	}
	return r
}
