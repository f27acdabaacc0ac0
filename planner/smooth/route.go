package smooth

import (
	"sort"

	"poise/kinematics"
	"poise/planner"
	"poise/planner/path"
	"poise/planner/transfer"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// leg is one command on its way: a request of a sequence before it has a time.
type leg struct {
	item     int
	task     *planner.Task
	parts    []path.Path        // of the tool; none for PTP
	tool     tool               // Cartesian limits, not scaled
	transfer *transfer.Transfer // PTP
}

func (l *leg) cartesian() bool { return l.task.Command != planner.PTP }

// linkSpeed is the limit on the speed of a link other than the one that follows
// the path, infinite if there is none.
func (l *leg) linkSpeed() float64 {
	if l.task.MaxSpeed > 0 && !(l.cartesian() && l.task.SpeedLink == l.task.Link) {
		return l.task.MaxSpeed
	}
	return inf
}

// piece is a stretch of a run on which the joints are smooth functions of one
// parameter: the length of the tool's path, that of a bend, or the way of a
// point-to-point motion.
type piece struct {
	curve    *spline.Spline
	from, to float64       // what is used of curve
	scale    float64       // length of the run per parameter of curve
	onPath   bool          // the parameter is the length of a path of the tool
	rate     [2]float64    // way and turn of the tool per parameter, at most
	link     robot.FrameID // whose speed is limited, NoFrame if none's
	limits   trajectory.Limits
	legs     []*leg                 // that it belongs to: two for a bend between them
	done     float64                // of the leg before from, in its parameter
	timed    *trajectory.Trajectory // of a point-to-point motion, if it stands alone
	pace     float64                // and how fast it would go, at most and at its start
	opening  float64
	segment  int // of curve, where it was last looked at
}

func (p *piece) length() float64 { return (p.to - p.from) * p.scale }

// route is a run as retime sees it: rows of joints, then the measures.
type route struct {
	pieces []*piece
	breaks []float64
	joints []robot.JointID
	model  *robot.Model

	data *kinematics.Data // for the speed of a link
	q, v []float64        // whole robot
}

func newRoute(m *robot.Model, joints []robot.JointID, pieces []*piece, start []float64) *route {
	r := &route{pieces: pieces, joints: joints, model: m, breaks: []float64{0}}
	total := 0.0
	for _, p := range pieces {
		total += p.length()
		r.breaks = append(r.breaks, total)
		if p.link != robot.NoFrame && r.data == nil {
			r.data = kinematics.NewData(m)
			r.q, r.v = append([]float64(nil), start...), make([]float64, m.NumV())
		}
	}
	return r
}

// Joints, Measures, Breaks and StateTo make a route a path for package retime.
func (r *route) Joints() int       { return len(r.joints) }
func (r *route) Measures() int     { return measures }
func (r *route) Breaks() []float64 { return r.breaks }

func (r *route) StateTo(q, dq, ddq []float64, at int, s float64) {
	p, n := r.pieces[at], len(r.joints)
	per := 1 / p.scale
	x := p.from + (s-r.breaks[at])*per
	p.seek(x)
	p.curve.SegmentTo(q[:n], dq[:n], ddq[:n], p.segment, x)
	for j := range n {
		dq[j] *= per
		ddq[j] *= per * per
	}
	q[n+wayRow], dq[n+wayRow], ddq[n+wayRow] = s, p.rate[wayRow]*per, 0
	q[n+turnRow], dq[n+turnRow], ddq[n+turnRow] = s, p.rate[turnRow]*per, 0
	q[n+linkRow], dq[n+linkRow], ddq[n+linkRow] = s, 0, 0
	if p.link != robot.NoFrame {
		dq[n+linkRow] = r.linkRate(p.link, q, dq)
	}
}

// seek finds the segment of the curve at x, starting from the last one.
func (p *piece) seek(x float64) {
	knots := p.curve.Knots()
	i, last := p.segment, p.curve.Segments()-1
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
