package robot

import (
	"slices"

	"poise/robot/description"
)

// GetUp declares how a robot gets up after a fall, as robot.yaml has it. Without Belly it declares nothing.
type GetUp struct {
	Left  []Rise // from its left side on its belly
	Right []Rise // the mirror image
	Belly []Rise // from there on its feet
}

// Rise is a pose on the way.
type Rise struct {
	In     float64 // s, or longer where limits need it
	Joints []JointID
	Q      []float64 // of each
}

// GetUp returns how the robot gets up. It is shared: read only.
func (m *Model) GetUp() *GetUp { return &m.getUp }

// describeGetUp takes the poses; those of the left side need a mirror table, which gives the right.
func (b *builder) describeGetUp(d *Description) {
	g := &d.GetUp
	if len(g.Left) > 0 && len(b.m.mirror) == 0 {
		b.Errorf(description.Impossible, d.At(g.Line), "get_up", "left needs a mirror table, by which the right side follows from it")
		return
	}
	b.m.getUp = GetUp{Left: b.rises(d, g.Left), Belly: b.rises(d, g.Belly)}
	for _, s := range b.m.getUp.Left {
		image := Rise{In: s.In}
		for k, j := range s.Joints {
			of := b.m.mirror[j]
			image.Joints, image.Q = append(image.Joints, of.Of), append(image.Q, of.Sign*s.Q[k])
		}
		b.m.getUp.Right = append(b.m.getUp.Right, image)
	}
}

// rises takes steps; joints are of one number each and within their limits, on either side.
func (b *builder) rises(d *Description, steps []description.Rise) (all []Rise) {
	const thing = "get_up"
	for _, s := range steps {
		out := Rise{In: s.In}
		if s.Pose != "" {
			i, ok := b.m.poseByName[s.Pose]
			if !ok {
				b.Errorf(description.Impossible, d.At(s.Line), thing, "pose %q is not declared%s", s.Pose, b.Hint(s.Pose, b.m.PoseNames()))
				continue
			}
			for k, j := range b.m.poses[i].Joints {
				if !b.inLimb(j) {
					continue
				}
				out.Joints, out.Q = append(out.Joints, j), append(out.Q, b.m.poses[i].Q[k][0])
			}
		}
		for _, v := range s.Joints {
			id, ok := b.jointNamed(v.Joint, d.At(v.Line), thing)
			if !ok {
				continue
			}
			switch j := b.m.joints[id]; {
			case j.Kind.NumQ() != 1:
				b.Errorf(description.Impossible, d.At(v.Line), thing, "joint %q takes %d numbers, a step gives one", j.Name, j.Kind.NumQ())
				continue
			case !j.Limits.Contains(v.Value):
				b.Errorf(description.Impossible, d.At(v.Line), thing, "joint %q at %g is outside %s", j.Name, v.Value, j.Limits.Range())
			}
			if b.m.mirror != nil {
				image := b.m.mirror[id]
				if of := b.m.joints[image.Of]; image.Sign != 0 && !of.Limits.Contains(image.Sign*v.Value) {
					b.Errorf(description.Impossible, d.At(v.Line), thing, "joint %q at %g, the image of %q, is outside %s", of.Name, image.Sign*v.Value, v.Joint, of.Limits.Range())
				}
			}
			out.Joints, out.Q = append(out.Joints, id), append(out.Q, v.Value)
		}
		all = append(all, out)
	}
	return all
}

// inLimb reports whether a joint is one of a chain: ears and tails do not help a robot to get up.
func (b *builder) inLimb(j JointID) bool {
	for _, c := range b.m.chains {
		if slices.Contains(c.Joints, j) {
			return true
		}
	}
	return false
}
