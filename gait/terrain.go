package gait

import "math"

// Box is a box on the ground that is known: a rectangle with a height, turned about the vertical.
type Box struct {
	At     Point   `json:"at"` // its middle, m
	Yaw    float64 `json:"yaw"`
	Length float64 `json:"length"` // along its own x, m
	Width  float64 `json:"width"`
	Height float64 `json:"height"` // of its top above the ground; boxes that overlap are as high as the highest
}

// MostBoxes is how many can be known at once.
const MostBoxes = 64

// terrain is what is known of the ground. Boxes are seen from another frame than the plan: from the ground of the odometry,
// which slips away from the plan's while it walks.
type terrain struct {
	boxes [MostBoxes]Box
	n     int
	at    Point // origin of that frame in the plan,
	yaw   float64
	datum float64 // height there at which the plan is zero
	room  float64 // that a foot keeps from edges, m
}

// Terrain sets the boxes that are known, those beyond MostBoxes are left out, and how far the middle of a foot keeps from their edges, m.
// Heights count from where the robot stands. Loop-safe.
func (p *Planner) Terrain(boxes []Box, room float64) {
	t := &p.terrain
	t.n, t.room = copy(t.boxes[:], boxes), room
	t.settle(p.feet[0].at, p.feet[0].z)
}

// SetHighestStair sets how high or deep a stair from one box to the next may be, m; 0 is any. Where there is a greater one a foot stays.
func (p *Planner) SetHighestStair(most float64) { p.highest = most }

// SetTerrainFrame tells where the frame of the boxes is in the plan's. Feet that are about to be lifted, or in the air, keep to where they were
// planned. Loop-safe.
func (p *Planner) SetTerrainFrame(at Point, yaw float64) { p.terrain.at, p.terrain.yaw = at, yaw }

// settle lets a foot stand as high as it does.
func (t *terrain) settle(foot Point, z float64) {
	t.datum = 0
	t.datum = t.height(foot) - z
}

// local returns a place of the plan in the axes of a box, from its middle.
func (t *terrain) local(b *Box, p Point) Point {
	sin, cos := math.Sincos(t.yaw)
	x, y := p.X-t.at.X, p.Y-t.at.Y
	x, y = cos*x+sin*y-b.At.X, cos*y-sin*x-b.At.Y
	sin, cos = math.Sincos(b.Yaw)
	return Point{X: cos*x + sin*y, Y: cos*y - sin*x}
}

// height returns that of the ground at a place, m.
func (t *terrain) height(p Point) (z float64) {
	for i := range t.n {
		b := &t.boxes[i]
		if u := t.local(b, p); math.Abs(u.X) <= b.Length/2 && math.Abs(u.Y) <= b.Width/2 {
			z = max(z, b.Height)
		}
	}
	return z - t.datum
}

// flat reports whether no edge is within reach of a foot on its way between two places.
func (t *terrain) flat(from, to Point) bool {
	middle := Point{X: (from.X + to.X) / 2, Y: (from.Y + to.Y) / 2}
	r := math.Hypot(to.X-from.X, to.Y-from.Y)/2 + t.room
	for i := range t.n {
		b := &t.boxes[i]
		u := t.local(b, middle)
		outX, outY := math.Abs(u.X)-b.Length/2, math.Abs(u.Y)-b.Width/2
		if max(outX, outY) < r && (outX > -r || outY > -r) {
			return false
		}
	}
	return true
}

// passing is the share of its room in which a foot that passes a box is over it.
const passing = 0.75

// between returns the height of the highest box that a foot passes on a straight way between two places; of none, −∞.
func (t *terrain) between(from, to Point) float64 {
	highest := math.Inf(-1)
	for i := range t.n {
		b := &t.boxes[i]
		u, v := t.local(b, from), t.local(b, to)
		begin, end := 0.0, 1.0 // share of the way that is over it
		for _, x := range [2]struct{ from, to, half float64 }{{u.X, v.X, b.Length/2 + passing*t.room}, {u.Y, v.Y, b.Width/2 + passing*t.room}} {
			if way := x.to - x.from; way != 0 {
				enters, leaves := (-x.half-x.from)/way, (x.half-x.from)/way
				begin, end = max(begin, min(enters, leaves)), min(end, max(enters, leaves))
			} else if math.Abs(x.from) >= x.half {
				end = begin
			}
		}
		if begin < end {
			highest = max(highest, b.Height-t.datum)
		}
	}
	return highest
}

// clear moves a foothold away from edges, by the shorter way on the box or off it; where the edges of two boxes are in the way, from both.
func (t *terrain) clear(p Point) Point {
	for range 2 {
		for i := range t.n {
			b := &t.boxes[i]
			u := t.local(b, p)
			u.X, u.Y = t.beside(u.X, b.Length/2, u.Y, b.Width/2), t.beside(u.Y, b.Width/2, u.X, b.Length/2)
			p = t.back(b, u)
		}
	}
	return p
}

// aside is how far from its place under the body, as a share of the reach, a foot is put down at most to keep away from edges.
const aside = 1.8

// avoid moves a foothold away from edges. Where edges are so close together that the next place without one is out of reach, it stays where it is;
// under is the place of the foot under the body.
func (p *Planner) avoid(to, under Point) Point {
	if p.terrain.n == 0 {
		return to
	}
	at := p.terrain.clear(to)
	if far := math.Hypot(at.X-under.X, at.Y-under.Y); far > aside*p.cfg.Reach && at != to {
		return to
	}
	return at
}

// beside moves a coordinate away from the edges at ±half, if the other one is beside the box.
func (t *terrain) beside(x, half, other, otherHalf float64) float64 {
	off := math.Abs(x) - half // outside of the edge
	if math.Abs(other) > otherHalf+t.room || math.Abs(off) >= t.room {
		return x
	}
	if off < 0 && half >= t.room {
		return math.Copysign(half-t.room, x)
	}
	return math.Copysign(half+t.room, x)
}

// back is the inverse of local.
func (t *terrain) back(b *Box, u Point) Point {
	sin, cos := math.Sincos(b.Yaw)
	x, y := cos*u.X-sin*u.Y+b.At.X, sin*u.X+cos*u.Y+b.At.Y
	sin, cos = math.Sincos(t.yaw)
	return Point{X: cos*x - sin*y + t.at.X, Y: sin*x + cos*y + t.at.Y}
}

// levelRate is how fast the body follows the height of its feet, 1/s.
const levelRate = 7

// rise lets the height of the body follow that of the feet: those in the air count where they come down.
func (p *Planner) rise() { p.level = p.level.at(grid, p.climb()) }

// climb is the jerk of that, by three equal lags.
func (p *Planner) climb() float64 {
	mean := 0.0
	for i := range p.feet {
		f := &p.feet[i]
		z := f.z
		if s := &f.swing; s.land > s.lift && p.last >= s.lift && p.last < s.land {
			z = s.height
		}
		mean += z / float64(len(p.feet))
	}
	const ω = levelRate
	return ω*ω*ω*(mean-p.level.p) - 3*ω*ω*p.level.v - 3*ω*p.level.a
}

// GroundAt returns how high the ground is at a place of the plan, m.
func (p *Planner) GroundAt(at Point) float64 { return p.terrain.height(at) }
