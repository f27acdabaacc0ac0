package setup

import (
	"fmt"
	"math"

	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
)

// Where the feet of a robot that stands are, seen from its hips, as shares of the length of a leg.
const (
	carries = 0.25 // that a hip is above its foot at least
	below   = 0.4  // where legs are bent
	outside = 0.55
)

// Lies says why the legs of a robot do not carry its body in the pose that it begins in, "" if they do or it has none.
func Lies(m *robot.Model) string {
	d, q := kinematics.NewData(m), make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	rest := m.RestPositions()
	for i, j := range m.Joints() {
		if j.Kind.NumQ() == 1 {
			q[j.Q] = rest[i]
		}
	}
	d.UpdatePosition(q)
	for _, c := range m.Chains() {
		if !m.Floating() || c.Contact == robot.NoContact || len(c.Joints) == 0 {
			continue
		}
		if high, long := height(d, m, c.Joints, c.Tip); high < carries*long {
			return fmt.Sprintf("in the pose that it begins in the legs do not carry the body: the hip of %s is %.3f m above its foot, at the end of a leg of %.3f m; give a pose stand in robot.yaml in which they do", c.Name, high, long)
		}
	}
	return ""
}

// height returns how high the first joint of a leg is above its tip, and how long the leg is, m.
func height(d *kinematics.Data, m *robot.Model, joints []robot.JointID, tip robot.FrameID) (high, long float64) {
	at := func(j robot.JointID) spatial.Vec3 { return d.BodyPose(m.Joints()[j].Body).P }
	foot := d.Pose(d.At(tip)).P
	for i := range joints {
		next := foot
		if i+1 < len(joints) {
			next = at(joints[i+1])
		}
		long += next.Sub(at(joints[i])).Norm()
	}
	return at(joints[0]).Z - foot.Z, long
}

// bend finds a pose for legs that are stretched out while all joints are at zero, in which they carry the body: feet below and
// outside of their hips, knees as high as they come. It returns a configuration, nil if legs carry it at zero, and
// what could not be found.
func (b *maker) bend(legs []*Limb) (q []float64, note string) {
	lying := false
	for _, l := range legs {
		joints, tip := b.leg(l)
		high, long := height(b.d, b.m, joints, tip)
		lying = lying || high < carries*long
	}
	if !lying || len(legs) == 0 {
		return nil, ""
	}
	q = make([]float64, b.m.NumQ())
	kinematics.NewSpace(b.m).NeutralTo(q)
	for _, j := range b.m.Joints() {
		if j.Kind.NumQ() == 1 && !j.Limits.Contains(0) {
			q[j.Q] = middle(j.Limits)
		}
	}
	for _, l := range legs {
		if !b.bendLeg(l, q) {
			return nil, fmt.Sprintf("stand: while all joints are at zero the legs do not carry the body, and no pose of %s was found in which they do: give one in robot.yaml, poses: stand", l.Name)
		}
	}
	return q, ""
}

// leg returns the joints and the tip of a limb.
func (b *maker) leg(l *Limb) (joints []robot.JointID, tip robot.FrameID) {
	for _, name := range l.Joints {
		if id, ok := b.m.Joint(name); ok {
			joints = append(joints, id)
		}
	}
	tip, _ = b.m.Frame(l.Tip)
	return joints, tip
}

// mostBent bounds the joints of a leg that is bent: of each, three places are where the search begins.
const mostBent = 6

// bendLeg puts the foot of a leg below its hip and out from it, on the side on which it is at zero. q gets the leg.
func (b *maker) bendLeg(l *Limb, q []float64) bool {
	joints, tip := b.leg(l)
	_, long := height(b.d, b.m, joints, tip)
	solver, err := ik.New(b.m, ik.Options{MaxRestarts: 1}, joints, tip)
	hip := b.d.BodyPose(b.m.Joints()[joints[0]].Body).P
	way := b.d.Pose(b.d.At(tip)).P.Sub(hip)
	out, ok := spatial.Vec3{X: way.X, Y: way.Y}.Unit()
	if err != nil || !ok || len(joints) > mostBent {
		return false
	}
	foot := hip.Add(out.Scale(outside * long)).Sub(spatial.Vec3{Z: below * long})
	target := []ik.Target{{Pose: spatial.Pose{R: spatial.Identity3, P: foot}, Tolerance: ik.PositionOnly}}
	d, seed, try := kinematics.NewData(b.m), append([]float64{}, q...), append([]float64{}, q...)
	best, found := math.Inf(-1), append([]float64{}, q...)
	for k := range int(math.Pow(3, float64(len(joints)))) {
		for _, id := range joints {
			j := &b.m.Joints()[id]
			lower, upper := -math.Pi/2, math.Pi/2
			if j.Limits.Lower.Has {
				lower = max(lower, j.Limits.Lower.Value)
			}
			if j.Limits.Upper.Has {
				upper = min(upper, j.Limits.Upper.Value)
			}
			seed[j.Q] = lower + (upper-lower)*float64(1+k%3)/4
			k /= 3
		}
		if solver.SolveTo(try, target, seed).Status != ik.Solved {
			continue
		}
		d.UpdatePosition(try)
		score := 0.0 // high knees; of those that are as high, joints that turn little
		for _, id := range joints {
			j := &b.m.Joints()[id]
			score += d.BodyPose(j.Body).P.Z/long - 1e-3*math.Abs(try[j.Q])
		}
		if score > best {
			best = score
			copy(found, try)
		}
	}
	for _, id := range joints {
		j := &b.m.Joints()[id]
		at := rounded(found[j.Q])
		if !j.Limits.Contains(at) {
			at = found[j.Q]
		}
		q[j.Q] = at
	}
	return !math.IsInf(best, -1)
}

// in returns a maker that looks at the model in another configuration.
func (b *maker) in(q []float64) *maker {
	other := *b
	other.d = kinematics.NewData(b.m)
	other.d.UpdatePosition(q)
	other.stood = q
	return &other
}
