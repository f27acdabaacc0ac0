package retime_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/trajectory"
	"poise/trajectory/retime"
	"poise/trajectory/spline"
)

const seed = 7

func rng(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// formula is a path given by one function: all rows and derivatives at s.
type formula struct {
	joints, measures int
	breaks           []float64
	at               func(q, dq, ddq []float64, piece int, s float64)
}

func (f *formula) Joints() int       { return f.joints }
func (f *formula) Measures() int     { return f.measures }
func (f *formula) Breaks() []float64 { return f.breaks }
func (f *formula) StateTo(q, dq, ddq []float64, piece int, s float64) {
	f.at(q, dq, ddq, piece, s)
}

// line is a straight way of n joints by given distances, over s from 0 to 1, with
// a measure: the way of the first joint.
func line(distances ...float64) *formula {
	return &formula{joints: len(distances), measures: 1, breaks: []float64{0, 1},
		at: func(q, dq, ddq []float64, _ int, s float64) {
			clear(ddq)
			for j, d := range distances {
				q[j], dq[j] = d*s, d
			}
			n := len(distances)
			q[n], dq[n] = math.Abs(distances[0])*s, math.Abs(distances[0])
		}}
}

// elbow is a planar arm of two links of 0.5 m whose tool runs along a line at a
// distance from the base: the closer to the full reach, the faster the joints
// where the arm is stretched. Its measure is the way of the tool.
func elbow(height, half float64) *formula {
	const l = 0.5
	return &formula{joints: 2, measures: 1, breaks: []float64{0, 2 * half},
		at: func(q, dq, ddq []float64, _ int, s float64) {
			x := s - half
			r2 := x*x + height*height
			// cosine rule: r² = 2l²(1 + cos q₂); angle to the tool is φ = q₁ + q₂/2
			c := r2/(2*l*l) - 1
			dc, ddc := x/(l*l), 1/(l*l)
			sn := math.Sqrt(1 - c*c)
			q[1] = math.Acos(c)
			dq[1] = -dc / sn
			ddq[1] = -(ddc + dq[1]*dq[1]*c) / sn // from −sin q·q′ = c′
			q[0] = math.Atan2(height, x) - q[1]/2
			dphi := -height / r2
			dq[0] = dphi - dq[1]/2
			ddq[0] = 2*height*x/(r2*r2) - ddq[1]/2
			q[2], dq[2], ddq[2] = s, 1, 0
		}}
}

// bend runs straight, around a quarter circle of a radius, and straight on: q″
// jumps at the two breaks. Its measure is the length.
func bend(straight, radius float64) *formula {
	arc := radius * math.Pi / 2
	return &formula{joints: 2, measures: 1, breaks: []float64{0, straight, straight + arc, 2*straight + arc},
		at: func(q, dq, ddq []float64, piece int, s float64) {
			clear(ddq)
			q[2], dq[2] = s, 1
			switch piece {
			case 0:
				q[0], q[1], dq[0], dq[1] = s, 0, 1, 0
			case 1:
				a := (s - straight) / radius
				sin, cos := math.Sincos(a)
				q[0], q[1] = straight+radius*sin, radius*(1-cos)
				dq[0], dq[1] = cos, sin
				ddq[0], ddq[1] = -sin/radius, cos/radius
			case 2:
				q[0], q[1] = straight+radius, radius+s-straight-arc
				dq[0], dq[1] = 0, 1
			}
		}}
}

// wiggle has one joint that runs evenly and one that turns quickly, once, in the
// middle.
func wiggle() *formula {
	return &formula{joints: 2, measures: 1, breaks: []float64{0, 4},
		at: func(q, dq, ddq []float64, _ int, s float64) {
			x := (s - 2) / 0.15
			e := 0.3 * math.Exp(-x*x)
			q[0], dq[0], ddq[0] = s, 1, 0
			q[1], dq[1], ddq[1] = e, -2*x/0.15*e, (4*x*x-2)/(0.15*0.15)*e
			q[2], dq[2], ddq[2] = s, 1, 0
		}}
}

// randomPath draws a spline through random keys: smooth (0), or with jumps of q″
// (1).
func randomPath(t testing.TB, r *rand.Rand, keys, n, kind int) retime.Path {
	t.Helper()
	var times []float64
	var rows [][]float64
	at := 0.0
	for range keys {
		times = append(times, at)
		at += 0.2 + r.Float64()
		row := make([]float64, n)
		for j := range row {
			row[j] = r.NormFloat64()
		}
		rows = append(rows, row)
	}
	s, err := spline.Natural(times, rows)
	if kind == 1 {
		s, err = spline.Akima(times, rows, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return retime.FromSpline(s)
}

func randomLimits(r *rand.Rand, n int) trajectory.Limits {
	l := trajectory.Limits{Velocity: make([]float64, n), Acceleration: make([]float64, n), Deceleration: make([]float64, n)}
	for j := range n {
		l.Velocity[j] = math.Exp(r.NormFloat64())
		l.Acceleration[j] = 2 * math.Exp(r.NormFloat64())
		l.Deceleration[j] = 2 * math.Exp(r.NormFloat64())
	}
	if r.IntN(3) == 0 {
		l.Deceleration = nil
	}
	return l
}

func repeat(x float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = x
	}
	return v
}

// densest is the worst use of limits by a motion, as found at many instants by a
// check that shares nothing with the solver: velocity, acceleration with and
// against the motion, and jerk as a difference of accelerations.
type densest struct{ vel, acc, jerk, time float64 }

func check(path retime.Path, law *retime.Law, limits []trajectory.Limits, n int) (d densest) {
	rows := path.Joints() + path.Measures()
	m := retime.NewMotion(path, law)
	q, v, a, before := make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows)
	step := law.Duration() / float64(n)
	for i := range n + 1 {
		t := law.Duration() * float64(i) / float64(n)
		m.StateTo(q, v, a, t)
		l := &limits[0]
		if len(limits) > 1 {
			s, _, _ := law.At(t)
			piece := 0
			for piece+2 < len(path.Breaks()) && s >= path.Breaks()[piece+1] {
				piece++
			}
			l = &limits[piece]
		}
		for r := range q {
			_, _, vel, acc, dec, jerk := l.Of(r)
			limit := acc
			if a[r]*v[r] < 0 || v[r] == 0 && dec > acc {
				limit = dec
			}
			d.vel = max(d.vel, math.Abs(v[r])/vel)
			if x := math.Abs(a[r]) / limit; x > d.acc {
				d.acc, d.time = x, t
			}
			if i > 0 {
				d.jerk = max(d.jerk, math.Abs(a[r]-before[r])/step/jerk)
			}
			if math.IsNaN(q[r]) || math.IsNaN(v[r]) || math.IsNaN(a[r]) {
				d.vel = math.Inf(1)
			}
		}
		copy(before, a)
	}
	return d
}
