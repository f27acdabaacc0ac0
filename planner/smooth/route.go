package smooth

import (
	"sort"

	"poise/kinematics"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// The measures that follow the joints in the rows of a route, and in its limits.
const (
	wayRow   = iota // of the tool, m
	turnRow         // of the tool, rad
	linkRow         // of a link whose speed is limited, m
	measures        // how many there are
)

// piece is a part of a run on which the joints are smooth functions of one
// parameter: the length of the tool's path, that of a bend, or the way of a
// point-to-point motion.
type piece struct {
	Curve    *spline.Spline // of the joints
	From, To float64        // what is used of it
	Scale    float64        // length of the route per parameter
	Rate     [2]float64     // way and turn of the tool per parameter, at most
	Link     robot.FrameID  // whose speed is limited, NoFrame if none's
	Limits   trajectory.Limits

	onPath  bool                   // the parameter is the length of a path of the tool
	legs    []*leg                 // that it belongs to: two for a bend between them
	done    float64                // of the leg before From, in its parameter
	timed   *trajectory.Trajectory // of a point-to-point motion, if it stands alone
	pace    float64                // and how fast it would go, at most and at its start
	opening float64

	segment int // of Curve, where it was last looked at
}

// Length returns how much of a route the piece is.
func (p *piece) Length() float64 { return (p.To - p.From) * p.Scale }

// StateTo stores the joints at a parameter, and their derivatives by it.
func (p *piece) StateTo(q, d1, d2 []float64, x float64) {
	p.seek(x)
	p.Curve.SegmentTo(q, d1, d2, p.segment, x)
}

// route is a chain of pieces as package retime sees it: rows of joints, then the
// measures. It serves one goroutine.
type route struct {
	pieces []*piece
	breaks []float64
	joints []robot.JointID
	model  *robot.Model

	data *kinematics.Data // for the speed of a link
	q, v []float64        // whole robot
}

// newRoute returns the route of joints along pieces; start is a whole
// configuration, for the joints that do not move.
func newRoute(m *robot.Model, joints []robot.JointID, pieces []*piece, start []float64) *route {
	r := &route{pieces: pieces, joints: joints, model: m, breaks: []float64{0}}
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

// Joints returns how many joints there are; with measures, Breaks and StateTo a
// route is a path for package retime.
func (r *route) Joints() int { return len(r.joints) }

// measures returns how many rows follow them.
func (r *route) Measures() int { return measures }

// Breaks returns where pieces begin, and the end.
func (r *route) Breaks() []float64 { return r.breaks }

// Length returns the length of the route.
func (r *route) Length() float64 { return r.breaks[len(r.breaks)-1] }

// PieceAt returns the piece at s: of two that meet there, the earlier.
func (r *route) PieceAt(s float64) int {
	return min(max(sort.SearchFloat64s(r.breaks, s)-1, 0), len(r.pieces)-1)
}

// StateTo stores joints and measures and their derivatives at s on a piece.
func (r *route) StateTo(q, dq, ddq []float64, at int, s float64) {
	p, n := r.pieces[at], len(r.joints)
	per := r.jointsTo(q[:n], dq[:n], ddq[:n], at, s)
	q[n+wayRow], dq[n+wayRow], ddq[n+wayRow] = s, p.Rate[wayRow]*per, 0
	q[n+turnRow], dq[n+turnRow], ddq[n+turnRow] = s, p.Rate[turnRow]*per, 0
	q[n+linkRow], dq[n+linkRow], ddq[n+linkRow] = s, 0, 0
	if p.Link != robot.NoFrame {
		dq[n+linkRow] = r.linkRate(p.Link, q, dq)
	}
}

// jointsTo stores the joints and their derivatives at s on a piece, and returns its
// parameter per length of the route.
func (r *route) jointsTo(q, dq, ddq []float64, at int, s float64) (per float64) {
	p := r.pieces[at]
	per = 1 / p.Scale
	p.StateTo(q, dq, ddq, p.From+(s-r.breaks[at])*per)
	if per == 1 {
		return per
	}
	for j := range dq {
		dq[j] *= per
		ddq[j] *= per * per
	}
	return per
}

// seek finds the segment of the curve at x, starting from the last one.
func (p *piece) seek(x float64) {
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
func (r *route) linkRate(link robot.FrameID, q, dq []float64) float64 {
	for k, j := range r.joints {
		r.q[r.model.Joints()[j].Q] = q[k]
		r.v[r.model.Joints()[j].V] = dq[k]
	}
	r.data.UpdatePosition(r.q)
	r.data.UpdateVelocity(r.v)
	return r.data.Twist(r.data.At(link)).Linear.Norm()
}
