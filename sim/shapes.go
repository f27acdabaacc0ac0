package sim

import (
	"math"

	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// feature is a part of a body that may touch the ground: a ball (a point is one without
// radius), or the lowest point of a circle.
type feature struct {
	body   robot.BodyID
	link   robot.FrameID
	foot   robot.ChainID // whose sole it is, NoChain if it is not a sole
	p      spatial.Vec3  // centre in the body
	radius float64       // of the ball, m

	rim  float64      // radius of the circle, 0 of other shapes
	axis spatial.Vec3 // of the circle, in the body
}

// shape is a convex body for contacts between links.
type shape struct {
	body   robot.BodyID
	link   robot.FrameID
	foot   robot.ChainID // whose sole it is, NoChain if it is not a sole
	kind   urdf.Shape
	pose   spatial.Pose // X_BS
	half   spatial.Vec3 // of a box
	radius float64      // of a sphere, a capsule or a cylinder
	long   float64      // half the length of a capsule or a cylinder

	planes []plane        // of a mesh: faces of its hull
	points []spatial.Vec3 // corners, or centres of the balls of a sphere or capsule, in its axes
	ball   float64        // radius of such balls
	around float64        // radius of the ball about its middle that holds it
}

// Corners of a circle, which its lowest point makes round as soon as it leans, and how close a feature of a shape may be to one of a sole without
// adding to it, m.
const (
	circleCorners = 4
	sameCorner    = 1e-3
)

// compileShapes makes features of declared contacts and of collision shapes.
func (m *Model) compileShapes(c Config) {
	for i, chain := range m.robot.Chains() {
		if chain.Contact != robot.NoContact {
			m.addSole(robot.ChainID(i), chain)
		}
	}
	soles := len(m.features)
	for _, link := range m.robot.Document().Links {
		id, ok := m.robot.Frame(link.Name)
		if !ok || m.fixedTo(m.robot.Frames()[id].Body) {
			continue
		}
		for _, col := range link.Collisions {
			m.addShape(id, col, c.Mesh, soles)
		}
	}
	m.sortFeatures()
	m.compileSolids()
	m.compilePairs(c)
}

// unreadMesh returns the name of a mesh of the robot, of a robot that has no other shapes.
func (m *Model) unreadMesh() string {
	for _, link := range m.robot.Document().Links {
		for _, col := range link.Collisions {
			if col.Geometry.Shape == urdf.Mesh {
				return col.Geometry.Mesh
			}
		}
	}
	return ""
}

// fixedTo reports whether a body cannot move: it touches nothing.
func (m *Model) fixedTo(b robot.BodyID) bool { return len(m.path[b]) == 0 }

// addSole makes features of the points of a contact that lie in its sole: on the level of
// its first point. Points elsewhere hold directions and touch nothing.
func (m *Model) addSole(id robot.ChainID, chain robot.Chain) {
	const level = 1e-6
	tip := m.robot.Frames()[chain.Tip]
	if m.fixedTo(tip.Body) {
		return
	}
	contact := &m.robot.Contacts()[chain.Contact]
	for _, p := range contact.Points {
		if math.Abs(p.Z-contact.Points[0].Z) > level {
			continue
		}
		f := feature{body: tip.Body, link: chain.Tip, foot: id}
		if contact.Sole == 0 {
			f.p = tip.Pose.Apply(p)
			m.features = append(m.features, f)
			continue
		}
		X := tip.Pose.Mul(spatial.Pose{R: spatial.Identity3, P: p})
		m.addCircle(f, X, contact.Sole, 0)
		// over the sole there is a foot
		up := X.Mul(spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{Z: contact.Sole / 2}})
		m.solids = append(m.solids, shape{body: tip.Body, link: chain.Tip, foot: id, kind: urdf.Cylinder, pose: up,
			radius: contact.Sole, long: contact.Sole / 2, around: math.Hypot(contact.Sole, contact.Sole/2)})
	}
}

// addCircle adds the corners of a circle in the x and y of X, and its lowest point.
func (m *Model) addCircle(f feature, X spatial.Pose, radius float64, soles int) {
	for k := range circleCorners {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / circleCorners)
		f.p = X.Apply(spatial.Vec3{X: radius * cos, Y: radius * sin})
		m.add(f, soles)
	}
	f.p, f.rim, f.axis = X.P, radius, X.R.Col(2)
	m.add(f, soles)
}

// add adds a feature unless one of the first so many is there already.
func (m *Model) add(f feature, soles int) {
	for i := range m.features[:soles] {
		s := &m.features[i]
		if s.body == f.body && (s.rim > 0) == (f.rim > 0) && s.radius == f.radius && s.p.Sub(f.p).Norm() < sameCorner {
			return
		}
	}
	m.features = append(m.features, f)
}

// addShape adds the features of a collision shape.
func (m *Model) addShape(link robot.FrameID, col urdf.Collision, mesh func(string) []spatial.Vec3, soles int) {
	frame := &m.robot.Frames()[link]
	X := frame.Pose.Mul(col.Origin.Pose())
	g := &col.Geometry
	f := feature{body: frame.Body, link: link, foot: robot.NoChain}
	s := shape{body: frame.Body, link: link, foot: robot.NoChain, kind: g.Shape, pose: X}
	end := func(z float64) spatial.Pose {
		return X.Mul(spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{Z: z}})
	}
	switch g.Shape {
	case urdf.Sphere:
		f.p, f.radius = X.P, g.Radius
		s.points, s.ball, s.radius, s.around = []spatial.Vec3{{}}, g.Radius, g.Radius, g.Radius
		m.add(f, soles)
	case urdf.Capsule:
		for _, z := range []float64{-g.Length / 2, g.Length / 2} {
			f.p, f.radius = end(z).P, g.Radius
			m.add(f, soles)
			s.points = append(s.points, spatial.Vec3{Z: z})
		}
		s.ball, s.radius, s.long, s.around = g.Radius, g.Radius, g.Length/2, g.Length/2+g.Radius
	case urdf.Box:
		s.half = g.Size.Scale(0.5)
		s.around = s.half.Norm()
		for k := range 8 {
			s.points = append(s.points, boxCorner(s.half, k))
			f.p = X.Apply(s.points[k])
			m.add(f, soles)
		}
	case urdf.Cylinder:
		for _, z := range []float64{-g.Length / 2, g.Length / 2} {
			m.addCircle(f, end(z), g.Radius, soles)
			for k := range circleCorners {
				sin, cos := math.Sincos(2 * math.Pi * float64(k) / circleCorners)
				s.points = append(s.points, spatial.Vec3{X: g.Radius * cos, Y: g.Radius * sin, Z: z})
			}
		}
		s.radius, s.long, s.around = g.Radius, g.Length/2, math.Hypot(g.Length/2, g.Radius)
	case urdf.Mesh:
		if mesh == nil {
			return
		}
		s.points = outermost(mesh(g.Mesh), g.Scale)
		for _, p := range s.points {
			f.p = X.Apply(p)
			m.add(f, soles)
			s.around = math.Max(s.around, p.Norm())
		}
		if len(s.points) == 0 {
			return
		}
		s.planes = hullPlanes(s.points)
	}
	m.shapes = append(m.shapes, s)
}

// boxCorner returns corner k of a box.
func boxCorner(half spatial.Vec3, k int) spatial.Vec3 {
	sign := func(bit int) float64 { return float64(k>>bit&1)*2 - 1 }
	return spatial.Vec3{X: sign(0) * half.X, Y: sign(1) * half.Y, Z: sign(2) * half.Z}
}

// directions is by how many directions the hull of a mesh is felt.
const directions = 128

// outermost returns the corners of a mesh that are the farthest in some direction: those
// of its convex hull that matter. Directions are spread over the sphere by a spiral.
func outermost(corners []spatial.Vec3, scale spatial.Vec3) []spatial.Vec3 {
	if len(corners) == 0 {
		return nil
	}
	kept := make([]bool, len(corners))
	golden := math.Pi * (3 - math.Sqrt(5))
	for k := range directions {
		z := 1 - (2*float64(k)+1)/directions
		r := math.Sqrt(1 - z*z)
		sin, cos := math.Sincos(golden * float64(k))
		u := spatial.Vec3{X: r * cos * scale.X, Y: r * sin * scale.Y, Z: z * scale.Z}
		best := 0
		for i := range corners {
			if u.Dot(corners[i]) > u.Dot(corners[best]) {
				best = i
			}
		}
		kept[best] = true
	}
	var hull []spatial.Vec3
	for i, p := range corners {
		if kept[i] {
			hull = append(hull, spatial.Vec3{X: p.X * scale.X, Y: p.Y * scale.Y, Z: p.Z * scale.Z})
		}
	}
	return hull
}

// sortFeatures brings the features of each body together and finds the ball around them.
func (m *Model) sortFeatures() {
	all := m.features
	m.features = nil
	for b := range m.robot.Bodies() {
		first := len(m.features)
		var sum spatial.Vec3
		for _, f := range all {
			if f.body == robot.BodyID(b) {
				m.features = append(m.features, f)
				sum = sum.Add(f.p)
			}
		}
		n := len(m.features) - first
		if n == 0 {
			continue
		}
		g := bodyFeatures{body: robot.BodyID(b), first: first, last: len(m.features), centre: sum.Scale(1 / float64(n))}
		for _, f := range m.features[first:] {
			g.radius = math.Max(g.radius, f.p.Sub(g.centre).Norm()+f.radius+f.rim)
		}
		g.reach = g.radius + g.centre.Norm()
		m.bodies = append(m.bodies, g)
	}
}
