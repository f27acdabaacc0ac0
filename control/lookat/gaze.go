package lookat

import (
	"fmt"
	"math"

	"poise/control"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// gaze is what a robot looks with.
type gaze struct {
	eyes, head       part
	eyesSet, headSet robot.Set // resources to ask for; empty if there are none
}

// part is a few joints and the frame that they turn, whose x axis looks.
type part struct {
	joints []robot.JointID
	frame  robot.FrameID
}

// findGaze finds eyes and head by their names: a group "eyes" with a tip, a chain
// "head".
func findGaze(m *robot.Model) (g gaze, err error) {
	res, err := m.Resources()
	if err != nil {
		return g, err
	}
	if id, ok := m.Chain("head"); ok {
		c := &m.Chains()[id]
		g.head = part{joints: c.Joints, frame: c.VirtualTip}
		for _, j := range c.Joints {
			g.headSet = g.headSet.With(res.OfJoint(j))
		}
		if set, ok := res.Find("head"); ok {
			g.headSet = g.headSet.Union(set)
		}
	}
	if id, ok := m.Group("eyes"); ok && m.Groups()[id].Tip != robot.NoFrame {
		e := &m.Groups()[id]
		g.eyes = part{joints: e.Joints, frame: e.Tip}
		g.eyesSet = res.OfGroup(id)
	}
	if len(g.head.joints)+len(g.eyes.joints) == 0 {
		return g, fmt.Errorf("lookat %w: %s has neither a chain head nor a group eyes", control.ErrUnfit, m.Name())
	}
	return g, nil
}

// aimer turns a part of the robot so that an axis points somewhere.
type aimer struct {
	data  *kinematics.Data
	place kinematics.Place
	q     []int     // of each joint: where it stands in a configuration
	v     []int     // and its column
	lower []float64 // of each joint
	upper []float64
	J     []float64 // scratch, 6×NumV
	jy    []float64 // scratch: how each joint turns the axis
	jz    []float64
	step  []float64
	stuck []bool
}

// newAimer keeps this share of each range free at both ends: a joint that comes to
// the end of its range moving has to stop somewhere.
func newAimer(m *robot.Model, p part, bounds []control.Bounds, free float64) *aimer {
	a := &aimer{place: kinematics.NewData(m).At(p.frame), J: make([]float64, 6*m.NumV())}
	a.data = kinematics.NewDataFor(m, a.place)
	for _, id := range p.joints {
		j := &m.Joints()[id]
		a.q, a.v = append(a.q, j.Q), append(a.v, j.V)
		b, spare := &bounds[id], 0.0
		if wide := b.Upper - b.Lower; !math.IsInf(wide, 1) {
			spare = free * wide
		}
		a.lower, a.upper = append(a.lower, b.Lower+spare), append(a.upper, b.Upper-spare)
	}
	n := len(p.joints)
	a.jy, a.jz, a.step, a.stuck = make([]float64, n), make([]float64, n), make([]float64, n), make([]bool, n)
	return a
}

// Aiming: steps of Gauss and Newton's method, when it has arrived, how far joints go
// in one step, and what keeps them where turning them changes nothing.
const (
	aimSteps   = 24
	aimed      = 1e-10 // rad
	longest    = 0.4   // rad
	damping    = 1e-6
	leastFar   = 0.01 // m: a point nearer than this has no direction
	degenerate = 1e-12
)

// direction returns the point as the looking frame sees it, and how far it is.
func (a *aimer) direction(q []float64, point spatial.Vec3) (d spatial.Vec3, far float64, ok bool) {
	a.data.UpdatePosition(q)
	X := a.data.Pose(a.place)
	d = X.R.TMulVec(point.Sub(X.P))
	far = d.Norm()
	if !(far >= leastFar) {
		return d, far, false
	}
	return d.Scale(1 / far), far, true
}

// off returns the angle between the looking axis and a direction.
func off(d spatial.Vec3) float64 { return math.Atan2(math.Hypot(d.Y, d.Z), d.X) }

// aim changes the joints of the configuration q so that the x axis of the frame
// points at a point, both seen from the base, and returns the angle that is left.
// Joints stay within their limits. It goes downhill from where q is, so near
// targets have near answers. A direction has two coordinates, so nothing special
// happens above and below; exactly behind, it turns left. Loop-safe.
func (a *aimer) aim(q []float64, point spatial.Vec3) (remaining float64) {
	remaining = math.Pi
	for range aimSteps {
		d, far, ok := a.direction(q, point)
		if !ok {
			return remaining
		}
		remaining = off(d)
		if remaining < aimed {
			return remaining
		}
		a.columns(far)
		n := math.Hypot(d.Y, d.Z)
		if n < degenerate {
			d.Y, n = 1, 1
		}
		// the turn that brings the axis to d, about y and z of the frame
		a.solve(q, -remaining*d.Z/n, remaining*d.Y/n)
		if !a.advance(q) {
			return remaining
		}
	}
	if d, _, ok := a.direction(q, point); ok {
		remaining = off(d)
	}
	return remaining
}

// centre puts the joints to zero, or as near as they go. Loop-safe.
func (a *aimer) centre(q []float64) {
	for i, at := range a.q {
		q[at] = min(max(0, a.lower[i]), a.upper[i])
	}
}

// columns fills in how fast each joint turns the direction of a point, about y and z
// of the frame: the frame turns, and its origin moves past the point.
func (a *aimer) columns(far float64) {
	nv := len(a.J) / 6
	a.data.BodyJacobianTo(a.J, a.place)
	for i, c := range a.v {
		a.jy[i] = a.J[4*nv+c] - a.J[2*nv+c]/far
		a.jz[i] = a.J[5*nv+c] + a.J[1*nv+c]/far
	}
}

// solve finds the step of least size for a turn, by damped least squares. A joint
// that would leave its range goes to the end of it, and the others do the rest.
func (a *aimer) solve(q []float64, ey, ez float64) {
	clear(a.stuck)
	for range a.q {
		yy, yz, zz := damping, 0.0, damping
		for i := range a.q {
			if !a.stuck[i] {
				yy, yz, zz = yy+a.jy[i]*a.jy[i], yz+a.jy[i]*a.jz[i], zz+a.jz[i]*a.jz[i]
			}
		}
		det := yy*zz - yz*yz
		y, z := (zz*ey-yz*ez)/det, (yy*ez-yz*ey)/det
		again := false
		for i, at := range a.q {
			if a.stuck[i] {
				continue
			}
			a.step[i] = a.jy[i]*y + a.jz[i]*z
			if to := q[at] + a.step[i]; to > a.upper[i] || to < a.lower[i] {
				a.step[i] = min(max(to, a.lower[i]), a.upper[i]) - q[at]
				ey, ez = ey-a.jy[i]*a.step[i], ez-a.jz[i]*a.step[i]
				a.stuck[i], again = true, true
			}
		}
		if !again {
			return
		}
	}
}

// advance takes the step, or as much of it as is trusted; false if it leads nowhere.
func (a *aimer) advance(q []float64) bool {
	size := 0.0
	for _, s := range a.step {
		size = max(size, math.Abs(s))
	}
	if size < aimed/100 {
		return false
	}
	share := min(1, longest/size)
	for i, at := range a.q {
		q[at] += share * a.step[i]
	}
	return true
}
