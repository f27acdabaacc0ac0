package edge

import (
	"errors"
	"fmt"

	"poise/control"
	"poise/control/lookat"
	"poise/control/stance"
	"poise/control/stream"
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
	sample := &stream.Sample{Q: make([]float64, n), At: now.Time}
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
		sample.Joints = sample.Joints.With(robot.LeafID(id))
		sample.Q[id] = v.Position[i]
		for _, x := range more {
			if len(x.from) > 0 {
				(*x.to)[id] = x.from[i]
			}
		}
	}
	if stamp := v.Header.Stamp.Nanos(); stamp > 0 {
		sample.At = min(now.Time-(now.Stamp-stamp), now.Time)
	}
	return sample, nil
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

func unknownFrame(m *robot.Model, name string) error {
	base := m.Frames()[0].Name
	return fmt.Errorf("frame %q: %s or %s is understood%s", name, WorldFrame, base, problem.Hint(name, []string{WorldFrame, base}))
}
