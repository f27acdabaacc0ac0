package path

import (
	"math"

	"poise/spatial"
)

// Path is a curve of poses, measured by its length.
type Path interface {
	// Length returns the length, which is never negative.
	Length() float64
	// At returns the pose at length s, and its first two derivatives by s. Outside
	// of 0 … Length a path goes on as it ended.
	At(s float64) State
}

// State is a place on a path.
type State struct {
	Pose spatial.Pose
	D1   spatial.Twist // derivative of position, and rotation, per length
	D2   spatial.Twist // and their derivatives
}

// Coupling says how position and rotation share the length of a path.
type Coupling struct {
	// Lever is the length that one radian counts for, m: with it, a path is as
	// long as the longer of its translation and its rotation times Lever, and both
	// run evenly. Zero measures a path by its translation alone, or by its
	// rotation in radians where there is no translation.
	Lever float64
}

// measure returns the length of a path of some distance and angle, and how much
// translation and rotation there is per length.
func (c Coupling) measure(distance, angle float64) (length, translation, rotation float64) {
	switch {
	case angle != 0 && angle*c.Lever > distance:
		length = angle * c.Lever
		return length, distance / length, 1 / c.Lever
	case distance != 0:
		return distance, 1, angle / distance
	case angle != 0: // no lever to measure it with: radians
		return angle, 0, 1
	}
	return 0, 0, 0
}

// Turn is a rotation about one axis, from Start.
type Turn struct {
	Start spatial.Mat3
	Axis  spatial.Vec3 // in world axes, unit
	Angle float64      // ≥ 0
}

// at returns the rotation after an angle.
func (t Turn) at(angle float64) spatial.Mat3 {
	if angle == 0 {
		return t.Start
	}
	return spatial.AxisAngle(t.Axis, angle).Mul(t.Start)
}

// TurnBetween returns the shortest turn from A to B: the rotation that slerp makes.
func TurnBetween(A, B spatial.Mat3) Turn {
	r := B.Mul(A.Transpose()).Quat().Log()
	axis, ok := r.Unit()
	if !ok {
		return Turn{Start: A, Axis: spatial.Vec3{Z: 1}}
	}
	return Turn{Start: A, Axis: axis, Angle: r.Norm()}
}

// Line is a straight way from one pose to another.
type Line struct {
	start            spatial.Vec3
	along            spatial.Vec3 // unit, or zero
	turn             Turn
	length           float64
	translation, rot float64 // per length
}

// NewLine returns the line from the start to the goal position, turning by t.
func NewLine(start, goal spatial.Vec3, t Turn, c Coupling) *Line {
	d := goal.Sub(start)
	distance := d.Norm()
	along, ok := d.Unit()
	if !ok {
		along = spatial.Vec3{}
	}
	l := &Line{start: start, along: along, turn: t}
	l.length, l.translation, l.rot = c.measure(distance, t.Angle)
	return l
}

// Length returns the length of the line.
func (l *Line) Length() float64 { return l.length }

// At returns the state at length s.
func (l *Line) At(s float64) State {
	return State{
		Pose: spatial.Pose{R: l.turn.at(s * l.rot), P: l.start.Add(l.along.Scale(s * l.translation))},
		D1:   spatial.Twist{Linear: l.along.Scale(l.translation), Angular: l.turn.Axis.Scale(l.rot)},
	}
}

// AtDistance returns the length at which the line has covered a distance.
func (l *Line) AtDistance(d float64) float64 {
	if l.translation == 0 {
		return 0
	}
	return d / l.translation
}

// Arc is a piece of a circle.
type Arc struct {
	centre           spatial.Vec3
	x, y             spatial.Vec3 // unit, from the centre to the start and along the motion there
	radius           float64
	turn             Turn
	length           float64
	translation, rot float64
}

// NewArc returns the arc that begins at start and runs by angle about the unit
// normal through centre, turning by t. Start and centre must differ and the
// normal stand across them.
func NewArc(start, centre, normal spatial.Vec3, angle float64, t Turn, c Coupling) *Arc {
	r := start.Sub(centre)
	radius := r.Norm()
	x, _ := r.Unit()
	a := &Arc{centre: centre, x: x, y: normal.Cross(x), radius: radius, turn: t}
	a.length, a.translation, a.rot = c.measure(math.Abs(angle)*radius, t.Angle)
	if angle < 0 {
		a.y = a.y.Neg()
	}
	return a
}

// Length returns the length of the arc.
func (a *Arc) Length() float64 { return a.length }

// Radius returns the radius of the circle.
func (a *Arc) Radius() float64 { return a.radius }

// At returns the state at length s.
func (a *Arc) At(s float64) State {
	sin, cos := math.Sincos(s * a.translation / a.radius)
	out := a.x.Scale(cos).Add(a.y.Scale(sin))
	along := a.y.Scale(cos).Sub(a.x.Scale(sin))
	k := a.translation
	return State{
		Pose: spatial.Pose{R: a.turn.at(s * a.rot), P: a.centre.Add(out.Scale(a.radius))},
		D1:   spatial.Twist{Linear: along.Scale(k), Angular: a.turn.Axis.Scale(a.rot)},
		D2:   spatial.Twist{Linear: out.Scale(-k * k / a.radius)},
	}
}

// Chain is several paths, each beginning where the one before ends.
type Chain struct {
	parts []Path
	ends  []float64 // length up to the end of each part
}

// NewChain joins paths.
func NewChain(parts ...Path) *Chain {
	c := &Chain{}
	total := 0.0
	for _, p := range parts {
		total += p.Length()
		c.parts, c.ends = append(c.parts, p), append(c.ends, total)
	}
	return c
}

// Length returns the sum of the parts' lengths.
func (c *Chain) Length() float64 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// At returns the state at length s. At a border it is that of the later part.
func (c *Chain) At(s float64) State {
	i := 0
	for i < len(c.ends)-1 && s >= c.ends[i] {
		i++
	}
	if i > 0 {
		s -= c.ends[i-1]
	}
	return c.parts[i].At(s)
}

// Knots returns the lengths at which one part ends and the next begins: where
// derivatives may jump.
func (c *Chain) Knots() []float64 {
	if len(c.ends) < 2 {
		return nil
	}
	return c.ends[:len(c.ends)-1]
}

// Even reports whether position and rotation run at the same rate along the
// whole path: lines, arcs and parts of them.
func Even(p Path) bool {
	switch p := p.(type) {
	case *Line, *Arc:
		return true
	case *Part:
		return Even(p.of)
	}
	return false
}
