package edge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"poise/control"
	"poise/control/lookat"
	"poise/control/stance"
	"poise/control/stream"
	"poise/control/walk"
	"poise/gait"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// JointSample reads a joint state as a value of a stream of joints. Its stamp, if it
// has one, says when it was made, compared with the stamp of now.
func JointSample(m *robot.Model, now servo.Tick, v *msgs.JointState) (control.Program, error) {
	return jointSample(m, now, &poisemsgs.JointStateAccel{Header: v.Header, Name: v.Name, Position: v.Position, Velocity: v.Velocity, Effort: v.Effort})
}

// AccelSample reads a joint state with accelerations.
func AccelSample(m *robot.Model, now servo.Tick, v *poisemsgs.JointStateAccel) (control.Program, error) {
	return jointSample(m, now, v)
}

func jointSample(m *robot.Model, now servo.Tick, v *poisemsgs.JointStateAccel) (control.Program, error) {
	if len(v.Position) != len(v.Name) {
		return nil, fmt.Errorf("%d joints and %d positions", len(v.Name), len(v.Position))
	}
	n := len(m.Joints())
	sample := &stream.Sample{Q: make([]float64, n), At: stamped(now, &v.Header)}
	more := []struct {
		what string
		from []float64
		to   *[]float64
	}{{"velocities", v.Velocity, &sample.V}, {"accelerations", v.Acceleration, &sample.A}, {"efforts", v.Effort, &sample.Tau}}
	for _, x := range more {
		switch len(x.from) {
		case 0:
		case len(v.Name):
			*x.to = make([]float64, n)
		default:
			return nil, fmt.Errorf("%d joints and %d %s: there must be one each, or none", len(v.Name), len(x.from), x.what)
		}
	}
	for i, name := range v.Name {
		id, ok := m.Joint(name)
		if !ok {
			return nil, fmt.Errorf("joint %q is unknown%s", name, problem.Hint(name, m.JointNames()))
		}
		if sample.Joints.Has(robot.LeafID(id)) {
			return nil, fmt.Errorf("joint %q is named twice", name)
		}
		sample.Joints = sample.Joints.With(robot.LeafID(id))
		sample.Q[id] = v.Position[i]
		for _, x := range more {
			if len(x.from) > 0 {
				(*x.to)[id] = x.from[i]
			}
		}
	}
	return sample, nil
}

// EyesSample reads where eyes look and what they show: joints, and typed outputs of the robot
// by their names, such as eye_screens.
func EyesSample(m *robot.Model, now servo.Tick, v *msgs.JointState) (control.Program, error) {
	resources, err := m.Resources()
	if err != nil {
		return nil, err
	}
	for _, n := range []int{len(v.Velocity), len(v.Effort)} {
		if len(v.Position) != len(v.Name) || n != 0 && n != len(v.Name) {
			return nil, fmt.Errorf("%d names, %d positions, %d velocities and %d efforts: there must be one position each, and one of the others each or none", len(v.Name), len(v.Position), len(v.Velocity), len(v.Effort))
		}
	}
	joints := msgs.JointState{Header: v.Header}
	var outputs []stream.Output
	for i, name := range v.Name {
		if leaf, ok := outputLeaf(resources, name); ok {
			if slices.Contains(v.Name[:i], name) {
				return nil, fmt.Errorf("output %q is named twice", name)
			}
			outputs = append(outputs, stream.Output{Leaf: leaf, Value: v.Position[i]})
			continue
		}
		joints.Name, joints.Position = append(joints.Name, name), append(joints.Position, v.Position[i])
		if len(v.Velocity) > 0 {
			joints.Velocity = append(joints.Velocity, v.Velocity[i])
		}
		if len(v.Effort) > 0 {
			joints.Effort = append(joints.Effort, v.Effort[i])
		}
	}
	p, err := JointSample(m, now, &joints)
	if err != nil {
		return nil, err
	}
	sample := p.(*stream.Sample)
	sample.Stream, sample.Output = stream.Outputs, outputs
	return sample, nil
}

// outputLeaf finds a typed leaf by its name.
func outputLeaf(resources *robot.Resources, name string) (robot.LeafID, bool) {
	for i, leaf := range resources.Leaves() {
		if leaf.Kind == robot.OutputLeaf && leaf.Name == name {
			return robot.LeafID(i), true
		}
	}
	return 0, false
}

// SupportSample reads which limbs carry, and with which contact.
func SupportSample(m *robot.Model, now servo.Tick, v *poisemsgs.SupportState) (control.Program, error) {
	if len(v.Support) != len(v.Name) || len(v.Contact) != 0 && len(v.Contact) != len(v.Name) {
		return nil, fmt.Errorf("%d limbs, %d shares of support and %d contacts: there must be one share each, and one contact each or none", len(v.Name), len(v.Support), len(v.Contact))
	}
	sample := &stream.Sample{At: stamped(now, &v.Header), Stream: stream.Supports}
	for i, name := range v.Name {
		id, ok := m.Chain(name)
		if !ok {
			return nil, fmt.Errorf("limb %q is unknown%s", name, problem.Hint(name, m.ChainNames()))
		}
		if m.Chains()[id].Contact == robot.NoContact {
			return nil, fmt.Errorf("limb %q has nothing to stand on", name)
		}
		if !(v.Support[i] >= 0 && v.Support[i] <= 1) {
			return nil, fmt.Errorf("support of limb %q is %g, must be 0 … 1", name, v.Support[i])
		}
		if slices.Contains(v.Name[:i], name) {
			return nil, fmt.Errorf("limb %q is named twice", name)
		}
		s := stream.Support{Chain: id, Weight: v.Support[i]}
		if len(v.Contact) > 0 && v.Contact[i] != "" {
			contact, err := contactNamed(m, v.Contact[i])
			if err != nil {
				return nil, err
			}
			s.Contact = &contact
		}
		sample.Support = append(sample.Support, s)
	}
	return sample, nil
}

// contactNamed finds a contact of a robot.
func contactNamed(m *robot.Model, name string) (robot.ContactID, error) {
	var names []string
	for i, c := range m.Contacts() {
		if c.Name == name {
			return robot.ContactID(i), nil
		}
		names = append(names, c.Name)
	}
	return robot.NoContact, fmt.Errorf("contact %q is unknown%s", name, problem.Hint(name, names))
}

// LimbSample reads where the tips of limbs and the base are to be: limbs by the name of
// their chain, the base by that of the root link or as "base". Limbs are seen from the
// world or, with the root link as frame, from the base. A twist is that of the tip's origin, in
// the axes of the frame.
func LimbSample(m *robot.Model, now servo.Tick, v *poisemsgs.RigidBodyState) (control.Program, error) {
	switch {
	case len(v.Frame) != len(v.Name):
		return nil, fmt.Errorf("%d limbs and %d frames", len(v.Name), len(v.Frame))
	case len(v.Twist) != 0 && len(v.Twist) != len(v.Name):
		return nil, fmt.Errorf("%d limbs and %d twists: there must be one each, or none", len(v.Name), len(v.Twist))
	case len(v.Wrench) != 0:
		return nil, fmt.Errorf("%d wrenches: forces of limbs are not followed, leave them out", len(v.Wrench))
	}
	inBase, known := InBase(m, &v.Header)
	if !known {
		return nil, unknownFrame(m, v.Header.FrameID)
	}
	sample := &stream.Sample{At: stamped(now, &v.Header), Stream: stream.Limbs, InBase: inBase}
	joints := map[robot.JointID]string{}
	for i, name := range v.Name {
		X, ok := PoseOf(v.Frame[i])
		if !ok {
			return nil, fmt.Errorf("limb %q: the orientation has no length", name)
		}
		if name == "base" || name == m.Frames()[0].Name {
			switch {
			case !m.Floating():
				return nil, fmt.Errorf("%q: the base of %s is fixed", name, m.Name())
			case inBase:
				return nil, fmt.Errorf("%q: the base is seen from %s, not from itself", name, WorldFrame)
			}
			if sample.Base != nil {
				return nil, fmt.Errorf("%q: the base is named twice", name)
			}
			sample.Base = &X
			continue
		}
		id, ok := m.Chain(name)
		if !ok {
			return nil, fmt.Errorf("limb %q is unknown%s", name, problem.Hint(name, append(m.ChainNames(), m.Frames()[0].Name)))
		}
		limb := stream.Limb{Chain: id, Pose: X}
		if len(v.Twist) > 0 {
			t := &v.Twist[i]
			limb.Moves, limb.Twist = true, spatial.Twist{Linear: spatial.Vec3(t.Linear), Angular: spatial.Vec3(t.Angular)}
		}
		for _, j := range m.Chains()[id].Joints {
			if other := joints[j]; other == name {
				return nil, fmt.Errorf("limb %q is named twice", name)
			} else if other != "" {
				return nil, fmt.Errorf("limbs %q and %q share joint %s: give one of them", other, name, m.Joints()[j].Name)
			}
			joints[j] = name
		}
		sample.Limbs = append(sample.Limbs, limb)
	}
	if len(v.Name) == 0 {
		return nil, errors.New("no limb is named")
	}
	return sample, nil
}

// stamped returns when a message was made, on the clock of the cycle: by its stamp, if it
// has one, compared with the stamp of now.
func stamped(now servo.Tick, h *msgs.Header) int64 {
	if stamp := h.Stamp.Nanos(); stamp > 0 {
		return min(now.Time-(now.Stamp-stamp), now.Time)
	}
	return now.Time
}

// StanceTarget reads a pose of the body.
func StanceTarget(m *robot.Model, now servo.Tick, v *msgs.PoseStamped) (control.Program, error) {
	X, ok := PoseOf(v.Pose)
	if !ok {
		return nil, errors.New("the orientation has no length")
	}
	relative, known := InBase(m, &v.Header)
	if !known {
		return nil, unknownFrame(m, v.Header.FrameID)
	}
	return &stance.Target{At: now.Time, Body: X, Relative: relative}, nil
}

// LookTarget reads a point to look at.
func LookTarget(m *robot.Model, now servo.Tick, v *msgs.PointStamped) (control.Program, error) {
	base, known := InBase(m, &v.Header)
	if !known {
		return nil, unknownFrame(m, v.Header.FrameID)
	}
	return &lookat.Target{At: now.Time, Point: spatial.Vec3{X: v.Point.X, Y: v.Point.Y, Z: v.Point.Z}, InBase: base}, nil
}

// WalkVelocity reads how the body is to move.
func WalkVelocity(_ *robot.Model, now servo.Tick, v *msgs.Twist) (control.Program, error) {
	for _, x := range []struct {
		name  string
		value float64
	}{{"linear.z", v.Linear.Z}, {"angular.x", v.Angular.X}, {"angular.y", v.Angular.Y}} {
		if x.value != 0 {
			return nil, fmt.Errorf("%s is %g: a robot walks by linear.x, linear.y and angular.z", x.name, x.value)
		}
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"linear.x", v.Linear.X}, {"linear.y", v.Linear.Y}, {"angular.z", v.Angular.Z}} {
		if math.IsNaN(x.value) || math.IsInf(x.value, 0) {
			return nil, fmt.Errorf("%s is %g, which is no speed", x.name, x.value)
		}
	}
	return &walk.Velocity{At: now.Time, Velocity: gait.Velocity{X: v.Linear.X, Y: v.Linear.Y, Yaw: v.Angular.Z}}, nil
}

// WalkGait reads the name of a gait.
func WalkGait(_ *robot.Model, now servo.Tick, v *msgs.String) (control.Program, error) {
	if v.Data != "" && !slices.Contains(gait.Names, v.Data) {
		return nil, walk.UnknownGait(v.Data)
	}
	return &walk.Choice{At: now.Time, Gait: v.Data}, nil
}

func unknownFrame(m *robot.Model, name string) error {
	base := m.Frames()[0].Name
	return fmt.Errorf("frame %q: must be %s or %s%s", name, WorldFrame, base, problem.Hint(name, []string{WorldFrame, base}))
}
