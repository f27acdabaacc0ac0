package sim

import (
	"math"

	"poise/spatial"
)

// Ground is what a robot stands on: a plane through the origin, turned by a slope, with a
// field of heights on it if there is one, and boxes. It may change from step to step.
type Ground struct {
	Friction float64      // coefficient of friction of all contacts
	R        spatial.Mat3 // R_WG: axes of the plane, z out of the ground
	Heights  *Heights     // on the plane; nil is flat
	Boxes    []Box        // at rest in the world
}

// Box is a box that does not move.
type Box struct {
	Pose spatial.Pose // X_WB of its middle
	Half spatial.Vec3 // half of its edges, m
}

// DefaultFriction is that of a ground of which nothing else is known.
const DefaultFriction = 0.8

// Level returns level ground.
func Level() *Ground { return &Ground{Friction: DefaultFriction, R: spatial.Identity3} }

// SetSlope turns the plane: roll then pitch about the fixed axes of the world, rad.
func (g *Ground) SetSlope(roll, pitch float64) { g.R = spatial.FromRPY(roll, pitch, 0) }

// surface returns how far a point is above the plane and its heights, and the way out of
// the ground there.
func (g *Ground) surface(p spatial.Vec3) (gap float64, n spatial.Vec3) {
	n = g.R.Col(2)
	if g.Heights == nil {
		return n.Dot(p), n
	}
	x := g.R.TMulVec(p)
	z, dx, dy := g.Heights.at(x.X, x.Y)
	s := 1 / math.Sqrt(1+dx*dx+dy*dy)
	return (x.Z - z) * s, g.R.MulVec(spatial.Vec3{X: -dx * s, Y: -dy * s, Z: s})
}

// box finds the box that is nearest to a point, but for one of them: how far the point is
// from it, negative inside, and the way out. It is −1 if none is closer than reach.
func (g *Ground) box(p spatial.Vec3, reach float64, but int) (nearest int, gap float64, n spatial.Vec3) {
	nearest, gap = -1, reach
	for i := range g.Boxes {
		if i == but {
			continue
		}
		d, u := g.Boxes[i].distance(p)
		if d <= 0 && g.buried(p, u, -d) {
			d, u = g.Boxes[i].wayUp(p, g.R.Col(2))
		}
		if d < gap {
			nearest, gap, n = i, d, u
		}
	}
	return nearest, gap, n
}

// buried reports whether the way out of a box, some way along n, ends at the ground: what lies on
// the ground is not left by its lower side, however thin it is.
func (g *Ground) buried(p, n spatial.Vec3, way float64) bool {
	const (
		downwards = -0.5 // of n along the ground's own
		close     = 1e-4 // m
	)
	if n.Dot(g.R.Col(2)) > downwards {
		return false
	}
	gap, _ := g.surface(p.Add(n.Scale(way)))
	return gap < close
}

// wayUp is distance for a point inside, without the faces that look down.
func (b *Box) wayUp(p, up spatial.Vec3) (float64, spatial.Vec3) {
	x := b.Pose.R.TMulVec(p.Sub(b.Pose.P))
	least, way := math.Inf(1), up
	for k, at := range [3]struct{ x, half float64 }{{x.X, b.Half.X}, {x.Y, b.Half.Y}, {x.Z, b.Half.Z}} {
		for _, side := range [2]float64{1, -1} {
			n := b.Pose.R.Col(k).Scale(side)
			if d := at.half - side*at.x; n.Dot(up) > -0.5 && d < least {
				least, way = d, n
			}
		}
	}
	return -least, way
}

// distance returns the signed distance of a point from the box and its gradient.
func (b *Box) distance(p spatial.Vec3) (float64, spatial.Vec3) {
	x := b.Pose.R.TMulVec(p.Sub(b.Pose.P))
	out := spatial.Vec3{X: excess(x.X, b.Half.X), Y: excess(x.Y, b.Half.Y), Z: excess(x.Z, b.Half.Z)}
	if d := out.Norm(); d > 0 {
		return d, b.Pose.R.MulVec(out.Scale(1 / d))
	}
	// inside: out by the nearest face
	dx, dy, dz := b.Half.X-math.Abs(x.X), b.Half.Y-math.Abs(x.Y), b.Half.Z-math.Abs(x.Z)
	switch {
	case dz <= dx && dz <= dy:
		return -dz, b.Pose.R.Col(2).Scale(math.Copysign(1, x.Z))
	case dx <= dy:
		return -dx, b.Pose.R.Col(0).Scale(math.Copysign(1, x.X))
	}
	return -dy, b.Pose.R.Col(1).Scale(math.Copysign(1, x.Y))
}

// excess is how far x is outside of ±half, with its sign.
func excess(x, half float64) float64 {
	switch {
	case x > half:
		return x - half
	case x < -half:
		return x + half
	}
	return 0
}

// near returns a lower bound of the distance between the ground and a ball.
func (g *Ground) near(centre spatial.Vec3, radius float64) float64 {
	d := g.R.Col(2).Dot(centre) - radius
	if g.Heights != nil {
		d -= g.Heights.Highest
	}
	if i, b, _ := g.box(centre, d+radius, -1); i >= 0 {
		d = b - radius
	}
	return d
}

// Heights is a field of heights over a rectangle of the ground's x and y, m: straight
// between its points in x and in y, zero outside. Z[i*NY+j] is the height at
// (X0 + i·Cell, Y0 + j·Cell).
type Heights struct {
	X0, Y0, Cell float64
	NX, NY       int
	Z            []float64
	Highest      float64 // of Z, at least 0
}

// at returns the height and its slopes.
func (f *Heights) at(x, y float64) (z, dx, dy float64) {
	u, v := (x-f.X0)/f.Cell, (y-f.Y0)/f.Cell
	if !(u >= 0 && v >= 0 && u < float64(f.NX-1) && v < float64(f.NY-1)) {
		return 0, 0, 0
	}
	i, j := int(u), int(v)
	u, v = u-float64(i), v-float64(j)
	k := i*f.NY + j
	a, b, c, d := f.Z[k], f.Z[k+1], f.Z[k+f.NY], f.Z[k+f.NY+1]
	z = (1-u)*((1-v)*a+v*b) + u*((1-v)*c+v*d)
	dx = ((1-v)*(c-a) + v*(d-b)) / f.Cell
	dy = ((1-u)*(b-a) + u*(d-c)) / f.Cell
	return z, dx, dy
}
