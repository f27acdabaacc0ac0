package timing

import (
	"sort"

	"poise/kinematics"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// The measures that follow the joints in the rows of a route, and in its limits.
const (
	Way      = iota // of the tool, m
	Turn            // of the tool, rad
	LinkWay         // of a link whose speed is limited, m
	Measures        // how many there are
)

// Piece is a stretch of a route on which the joints are smooth functions of one
// parameter.
type Piece struct {
	Curve    *spline.Spline // of the joints
	From, To float64        // what is used of it
	Scale    float64        // length of the route per parameter
	Rate     [2]float64     // way and turn of the tool per parameter, at most
	Link     robot.FrameID  // whose speed is limited, NoFrame if none's
	Limits   trajectory.Limits

	segment int // of Curve, where it was last looked at
}

// Length returns how much of a route the piece is.
func (p *Piece) Length() float64 { return (p.To - p.From) * p.Scale }

// StateTo stores the joints at a parameter, and their derivatives by it.
func (p *Piece) StateTo(q, d1, d2 []float64, x float64) {
	p.seek(x)
	p.Curve.SegmentTo(q, d1, d2, p.segment, x)
}

// Route is a chain of pieces as package retime sees it: rows of joints, then the
// measures. It serves one goroutine.
type Route struct {
	pieces []*Piece
	breaks []float64
	joints []robot.JointID
	model  *robot.Model

	data *kinematics.Data // for the speed of a link
	q, v []float64        // whole robot
}

// NewRoute returns the route of joints along pieces; start is a whole
// configuration, for the joints that do not move.
func NewRoute(m *robot.Model, joints []robot.JointID, pieces []*Piece, start []float64) *Route {
	r := &Route{pieces: pieces, joints: joints, model: m, breaks: []float64{0}}
	total := 0.0
	for _, p := range pieces {
		total += p.Length()
		r.breaks = append(r.breaks, total)
		if p.Link != robot.NoFrame && r.data == nil {
			r.data = kinematics.NewData(m)
			r.q, r.v = append([]float64(nil), start...), make([]float64, m.NumV())
		}
	}
	return r
}

// Joints returns how many joints there are; with Measures, Breaks and StateTo a
// Route is a path for package retime.
func (r *Route) Joints() int { return len(r.joints) }

// Measures returns how many rows follow them.
func (r *Route) Measures() int { return Measures }

// Breaks returns where pieces begin, and the end.
func (r *Route) Breaks() []float64 { return r.breaks }

// Length returns the length of the route.
func (r *Route) Length() float64 { return r.breaks[len(r.breaks)-1] }

// PieceAt returns the piece at s: of two that meet there, the earlier.
func (r *Route) PieceAt(s float64) int {
	return min(max(sort.SearchFloat64s(r.breaks, s)-1, 0), len(r.pieces)-1)
}

// StateTo stores joints and measures and their derivatives at s on a piece.
func (r *Route) StateTo(q, dq, ddq []float64, at int, s float64) {
	p, n := r.pieces[at], len(r.joints)
	per := 1 / p.Scale
	x := p.From + (s-r.breaks[at])*per
	p.StateTo(q[:n], dq[:n], ddq[:n], x)
	for j := range n {
		dq[j] *= per
		ddq[j] *= per * per
	}
	q[n+Way], dq[n+Way], ddq[n+Way] = s, p.Rate[Way]*per, 0
	q[n+Turn], dq[n+Turn], ddq[n+Turn] = s, p.Rate[Turn]*per, 0
	q[n+LinkWay], dq[n+LinkWay], ddq[n+LinkWay] = s, 0, 0
	if p.Link != robot.NoFrame {
		dq[n+LinkWay] = r.linkRate(p.Link, q, dq)
	}
}

// seek finds the segment of the curve at x, starting from the last one.
func (p *Piece) seek(x float64) {
	knots := p.Curve.Knots()
	i, last := p.segment, p.Curve.Segments()-1
	if i < last && x > knots[min(i+4, last)] || i > 0 && x < knots[max(i-4, 0)] {
		i = sort.SearchFloat64s(knots, x) - 1
	}
	i = min(max(i, 0), last)
	for i < last && x >= knots[i+1] {
		i++
	}
	for i > 0 && x < knots[i] {
		i--
	}
	p.segment = i
}

// linkRate returns the way of a link per length of the run.
func (r *Route) linkRate(link robot.FrameID, q, dq []float64) float64 {
	for k, j := range r.joints {
		r.q[r.model.Joints()[j].Q] = q[k]
		r.v[r.model.Joints()[j].V] = dq[k]
	}
	r.data.UpdatePosition(r.q)
	r.data.UpdateVelocity(r.v)
	return r.data.Twist(r.data.At(link)).Linear.Norm()
}
