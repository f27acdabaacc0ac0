package setup

import (
	"fmt"
	"math"

	"poise/robot"
	"poise/spatial"
)

// How far from symmetric a robot may be: signs are all that a mirror table needs.
const (
	axisTolerance  = 0.05  // rad between an axis and the image of the other
	placeTolerance = 0.005 // m between the axes
	placeShare     = 0.02  // of the robot's size, beside it
)

// mostMirrored bounds the joints that are compared with each other.
const mostMirrored = 1000

// images finds the mirror image of each joint: with all joints at zero, its axis is that of
// the other seen in a mirror at y = 0. Joints under joints that are each other's image are
// compared only with each other.
type images struct {
	*maker
	below [][]robot.JointID // independent joints below each; the last is for the root
	moved [][]robot.BodyID  // bodies that each joint moves, as itself or mirrored
	of    []robot.JointID
	sign  []int
	room  float64
}

// mirror proposes the mirror table, nil if the robot has no two sides. What hinders it is
// noted if it has.
func (b *maker) mirror(p *Proposal) []Pair {
	joints := b.m.Joints()
	if len(joints) > mostMirrored {
		p.Notes = append(p.Notes, fmt.Sprintf("mirror: the robot has %d joints, more than the %d that are looked at: no table is proposed", len(joints), mostMirrored))
		return nil
	}
	t := &images{maker: b, below: make([][]robot.JointID, len(joints)+1), moved: make([][]robot.BodyID, len(joints)),
		of: make([]robot.JointID, len(joints)), sign: make([]int, len(joints)), room: placeTolerance}
	for i := range t.of {
		t.of[i] = robot.NoJoint
	}
	t.gather()
	t.match(len(joints), len(joints))
	var pairs []Pair
	sided, without := false, ""
	for i, j := range joints {
		of := t.of[i]
		switch {
		case of == robot.NoJoint:
			if without == "" {
				without = j.Name
			}
			sided = sided || sideOf(j.Name) != ""
		case int(of) == i:
			pairs = append(pairs, Pair{j.Name, j.Name, t.sign[i]})
		default:
			sided = true
			left, right := robot.JointID(i), of
			if t.place(left).Y < t.place(right).Y || sideOf(j.Name) == "right" && sideOf(joints[right].Name) == "left" {
				left, right = right, left
			}
			if i < int(of) {
				pairs = append(pairs, Pair{joints[left].Name, joints[right].Name, t.sign[i]})
			}
		}
	}
	if !sided {
		return nil
	}
	if without != "" {
		p.Notes = append(p.Notes, fmt.Sprintf("mirror: joint %q has no image in a mirror at y = 0 while all joints are at zero: no table is proposed", without))
		return nil
	}
	return pairs
}

// gather finds which joints hang on which, and how large the robot is.
func (t *images) gather() {
	bodies := t.m.Bodies()
	for i := 1; i < len(bodies); i++ {
		body := &bodies[i]
		if body.Joint == robot.NoJoint {
			continue
		}
		if math.Abs(math.Abs(body.Ratio)-1) < 1e-9 {
			t.moved[body.Joint] = append(t.moved[body.Joint], robot.BodyID(i))
		}
		if body.Mimic {
			continue
		}
		above := len(t.m.Joints())
		for up := body.Parent; up != robot.World; up = bodies[up].Parent {
			if b := &bodies[up]; b.Joint != robot.NoJoint && !b.Mimic {
				above = int(b.Joint)
				break
			}
		}
		t.below[above] = append(t.below[above], body.Joint)
	}
	size := 0.0
	for i := range t.m.Frames() {
		size = max(size, t.d.Pose(t.d.At(robot.FrameID(i))).P.Norm())
	}
	t.room += placeShare * size
}

func (t *images) place(j robot.JointID) spatial.Vec3 { return t.d.BodyPose(t.m.Joints()[j].Body).P }

// match finds the images of the joints below a among those below b, which are images of
// each other, and then of those below them.
func (t *images) match(a, b int) {
	for _, j := range t.below[a] {
		if t.of[j] != robot.NoJoint {
			continue
		}
		best, sign, least := robot.NoJoint, 0, math.Inf(1)
		for _, k := range t.below[b] {
			if t.of[k] != robot.NoJoint || len(t.below[j]) != len(t.below[k]) {
				continue
			}
			s, off := t.image(j, k)
			if s == 0 {
				continue
			}
			if named(t.m.Joints()[j].Name, t.m.Joints()[k].Name) {
				off -= t.room // of several the one that is called so
			}
			if off < least {
				best, sign, least = k, s, off
			}
		}
		if best == robot.NoJoint {
			continue
		}
		t.of[j], t.of[best], t.sign[j], t.sign[best] = best, j, sign, sign
		t.match(int(j), int(best))
		if best != j {
			t.match(int(best), int(j))
		}
	}
}

// image returns the sign with which k moves as the mirror image of j, 0 if it does not, and
// how far the two are from symmetric. One of k's followers may be where the image is.
func (t *images) image(j, k robot.JointID) (sign int, off float64) {
	joints := t.m.Joints()
	slides := joints[j].Kind == robot.Prismatic
	if joints[j].Kind.NumQ() != 1 || joints[k].Kind.NumQ() != 1 || slides != (joints[k].Kind == robot.Prismatic) {
		return 0, 0
	}
	of := t.d.BodyPose(joints[j].Body)
	mirrored := func(v spatial.Vec3) spatial.Vec3 { return spatial.Vec3{X: v.X, Y: -v.Y, Z: v.Z} }
	axis, at := mirrored(of.R.Col(2)), mirrored(of.P)
	if !slides {
		axis = axis.Neg() // the image of a right-handed turn is left-handed
	}
	off = math.Inf(1)
	for _, id := range t.moved[k] {
		other := t.d.BodyPose(id)
		along := other.R.Col(2)
		cos := along.Dot(axis)
		if math.Abs(cos) < math.Cos(axisTolerance) {
			continue
		}
		apart := at.Sub(other.P)
		if !slides { // where on its axis a hinge is does not matter
			apart = apart.Sub(along.Scale(apart.Dot(along)))
		}
		if d := apart.Norm(); d <= t.room && d < off {
			off, sign = d, 1
			if cos*t.m.Bodies()[id].Ratio < 0 {
				sign = -1
			}
		}
	}
	return sign, off
}

// named tells whether two names are those of a left and a right part.
func named(a, b string) bool {
	wa, wb := words(a), words(b)
	if len(wa) != len(wb) {
		return false
	}
	differ := 0
	for i := range wa {
		if wa[i] == wb[i] {
			continue
		}
		if sides[wa[i]] == "" || sides[wb[i]] == "" {
			return false
		}
		differ++
	}
	return differ > 0
}
