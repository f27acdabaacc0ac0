package mujoco

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"poise/contact"
	"poise/estimate"
	"poise/servo"
	"poise/spatial"
)

// What package scenario judges walks by, seen in MuJoCo.
const (
	carries      = 0.02        // share of the weight from which on a foot counts as one that stands
	fallenTilt   = math.Pi / 4 // from which on it has fallen,
	fallenHeight = 0.6         // or below which, as a share of its height over its feet when it stood,
	fallenWeight = 0.1         // or once a link that is no foot carries this share of the weight
	margins      = 1.0         // s after which the zero-moment point counts
)

// judging follows a walk in MuJoCo: what is seen of its feet, and what the robot can know of its way by its sensors.
type judging struct {
	d      *driven
	up     spatial.Vec3 // out of the ground
	weight float64
	height float64 // of the base over the feet at the start
	feet   []judgedFoot
	hull   contact.Polygon
	points []contact.Point
	begun  float64 // s
	origin spatial.Pose
	last   spatial.Mat3
	turned float64 // rad, since the start

	margin                   []float64 // of the zero-moment point inside the soles that carry, m
	slip, tilt, heading, way float64   // m, rad, rad, m at most; of the way the last
	fallen                   bool

	odometry *estimate.Odometry
	attitude estimate.Attitude
	input    estimate.Input
	off      float64 // of the base from where odometry has it, m
}

// judgedFoot is a foot and how it has slipped since it touched down.
type judgedFoot struct {
	sole    []spatial.Vec3 // corners, in the tip's frame, seen from the middle
	carried bool
	at      spatial.Vec3
	slipped float64
}

// judgeOf begins to judge a robot that stands.
func judgeOf(t testing.TB, d *driven) *judging {
	t.Helper()
	j := &judging{d: d, up: d.p.world().R.Col(2), origin: d.e.base(), last: d.e.base().R, begun: float64(d.n) * d.period}
	for i := range d.m.Bodies() {
		j.weight += d.m.Bodies()[i].Inertia.Mass * d.p.masses[i] * d.m.Gravity().Norm()
	}
	const corners = 16
	for _, id := range feetOf(d.m) {
		c := &d.m.Contacts()[d.m.Chains()[id].Contact]
		f := judgedFoot{}
		for k := range corners {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / corners)
			f.sole = append(f.sole, spatial.Vec3{X: c.Sole * cos, Y: c.Sole * sin})
		}
		j.feet = append(j.feet, f)
	}
	var err error
	if j.odometry, err = estimate.NewOdometry(d.m); err != nil {
		t.Fatal(err)
	}
	j.odometry.Measure()
	j.odometry.Place(j.origin)
	j.input.Q = make([]float64, len(d.m.Joints()))
	d.e.truth(j.input.Q)
	return j
}

// look takes what was seen in a tick.
func (j *judging) look(float64) {
	d := j.d
	X := d.e.base()
	R := j.last.Transpose().Mul(X.R)
	j.turned += math.Atan2(R[3], R[0])
	j.last = X.R
	j.heading = math.Max(j.heading, math.Abs(j.turned))
	j.tilt = math.Max(j.tilt, math.Acos(math.Max(-1, math.Min(1, X.R.MulVec(spatial.Vec3{Z: 1}).Dot(j.up)))))
	j.way = math.Hypot(X.P.X-j.origin.P.X, X.P.Y-j.origin.P.Y)
	j.fallen = j.fallen || X.R[8] < math.Cos(fallenTilt)
	if e, ok := d.e.(*inMuJoCo); ok {
		for i := range e.Looks {
			j.see(&e.Looks[i], X.P)
		}
	}
	j.follow(d.read)
	j.off = j.odometry.Base().Pose.P.Sub(X.P).Norm()
}

// see takes a look at the feet.
func (j *judging) see(l *Look, base spatial.Vec3) {
	j.points = j.points[:0]
	var middle spatial.Vec3
	for i := range l.Feet {
		f, seen := &j.feet[i], &l.Feet[i]
		middle = middle.Add(seen.Middle.Scale(1 / float64(len(l.Feet))))
		switch carried := seen.Force > carries*j.weight; {
		case carried && f.carried:
			f.slipped += seen.Middle.Sub(f.at).Norm()
			f.at = seen.Middle
		case carried:
			f.carried, f.at, f.slipped = true, seen.Middle, 0
		default:
			f.carried = false
		}
		j.slip = math.Max(j.slip, f.slipped)
		if f.carried {
			for _, c := range f.sole {
				x := seen.Middle.Add(seen.R.MulVec(c))
				j.points = append(j.points, contact.Point{X: x.X, Y: x.Y})
			}
		}
	}
	height := base.Sub(middle).Dot(j.up)
	if j.height == 0 {
		j.height = height
	}
	j.fallen = j.fallen || height < fallenHeight*j.height || l.Beside > fallenWeight*j.weight
	if len(j.points) > 0 && !math.IsNaN(l.ZMP[0]) && float64(j.d.n)*j.d.period-j.begun >= margins {
		j.hull.Hull(j.points)
		j.margin = append(j.margin, j.hull.Margin(contact.Point{X: l.ZMP[0], Y: l.ZMP[1]}))
	}
}

// follow updates odometry by what was measured: joints, touch switches, and the orientation of the inertial unit.
func (j *judging) follow(read *servo.Measurement) {
	m := j.d.m
	for i := range read.Joints {
		if read.Joints[i].Age != servo.Never {
			j.input.Q[i] = read.Joints[i].Position
		}
	}
	j.input.Time, j.input.Feet = float64(j.d.n)*j.d.period, j.input.Feet[:0]
	for k, c := range feetOf(m) {
		if len(read.Touch) > 0 && read.Touch[k].Pressed {
			j.input.Feet = append(j.input.Feet, estimate.Foot{Foot: contact.Foot{Chain: c, Contact: m.Chains()[c].Contact}, Weight: 1})
		}
	}
	j.input.Orientation = estimate.Orientation{}
	if u := &read.IMU[0]; u.Age != servo.Never {
		j.input.Orientation = j.attitude.Update(u, j.odometry.Base().Pose.R, m.Gravity().Norm(), j.d.period)
	}
	j.odometry.Update(&j.input)
}

// inside is how far the measured zero-moment point is inside in 99 % of samples, m.
func (j *judging) inside() float64 {
	if len(j.margin) == 0 {
		return math.NaN()
	}
	slices.Sort(j.margin)
	return j.margin[(len(j.margin)-1)/100]
}

func (j *judging) String() string {
	return fmt.Sprintf("heading %.1f°, tilt %.1f°, ZMP %.1f mm inside in 99 %%, slip %.1f mm, odometry %.1f %%",
		j.heading*180/math.Pi, j.tilt*180/math.Pi, 1e3*j.inside(), 1e3*j.slip, 100*j.off/j.way)
}
