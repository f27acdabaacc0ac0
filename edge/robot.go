package edge

import (
	"poise/executive"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// RobotInfo describes a robot. The caller adds what the model does not know: its
// description as text, the period, whether it is simulated.
func RobotInfo(m *robot.Model) (*poisemsgs.RobotInfoResponse, error) {
	resources, err := m.Resources()
	if err != nil {
		return nil, err
	}
	r := &poisemsgs.RobotInfoResponse{Success: true, Name: m.Name(), Base: "fixed", Root: m.Frames()[0].Name}
	if m.Floating() {
		r.Base = "floating"
	}
	owner := map[robot.JointID]string{}
	for _, one := range resources.List() {
		for _, j := range m.Groups()[one.Group].Joints {
			owner[j] = one.Name
		}
	}
	for id, j := range m.Joints() {
		r.Joints = append(r.Joints, poisemsgs.JointInfo{Name: j.Name, Type: j.Kind.String(), Resource: owner[robot.JointID(id)],
			Lower: bound(j.Limits.Lower), Upper: bound(j.Limits.Upper), MaxVelocity: bound(j.Limits.Velocity), MaxAcceleration: bound(j.Limits.Acceleration),
			Continuous: j.Kind == robot.Continuous, HasLimits: j.Limits.Lower.Has && j.Limits.Upper.Has, HasServo: !j.Virtual, MaxEffort: bound(j.Limits.Effort)})
	}
	for _, b := range m.Bodies() {
		if b.Mimic {
			r.Joints = append(r.Joints, poisemsgs.JointInfo{Name: b.Name, Type: b.Kind.String(), Resource: owner[b.Joint], Mimic: true})
		}
	}
	for id, g := range m.Groups() {
		info := poisemsgs.GroupInfo{Name: g.Name, Resource: g.Resource, Joints: jointNames(m, g.Joints), Tip: frameName(m, g.Tip)}
		set := resources.OfGroup(robot.GroupID(id))
		for _, one := range resources.List() {
			if one.Set.Overlaps(set) {
				info.Resources = append(info.Resources, one.Name)
			}
		}
		r.Groups = append(r.Groups, info)
	}
	for _, c := range m.Chains() {
		info := poisemsgs.ChainInfo{Name: c.Name, Joints: jointNames(m, c.Joints), Tip: frameName(m, c.Tip)}
		if c.Contact != robot.NoContact {
			info.Support = "support/" + c.Name
		}
		r.Chains = append(r.Chains, info)
	}
	for _, p := range m.Poses() {
		pose := poisemsgs.NamedPose{Name: p.Name, Joints: jointNames(m, p.Joints)}
		for _, q := range p.Q {
			pose.Positions = append(pose.Positions, q[0])
		}
		r.Poses = append(r.Poses, pose)
	}
	for id, image := range m.Mirror() {
		if image.Sign != 0 && int(image.Of) >= id {
			r.Mirror = append(r.Mirror, poisemsgs.MirrorPair{Left: m.Joints()[id].Name, Right: m.Joints()[image.Of].Name, Sign: image.Sign})
		}
	}
	for _, leaf := range resources.Leaves() {
		if leaf.Kind == robot.OutputLeaf {
			r.Outputs = append(r.Outputs, leaf.Name)
		}
	}
	return r, nil
}

func jointNames(m *robot.Model, ids []robot.JointID) (names []string) {
	for _, id := range ids {
		names = append(names, m.Joints()[id].Name)
	}
	return names
}

func frameName(m *robot.Model, id robot.FrameID) string {
	if id == robot.NoFrame {
		return ""
	}
	return m.Frames()[id].Name
}

// Progress converts how far a goal is.
func Progress(f *executive.Feedback) *poisemsgs.GoalInfo {
	return &poisemsgs.GoalInfo{ID: string(f.Goal.ID), Action: f.Goal.Action, State: f.State.String(), Controller: f.Controller,
		Client: f.Who, Phase: string(f.Phase), Time: f.Time, Duration: f.Duration, Rate: f.Rate}
}

// GoalExplained converts why a goal ended, nil if there is nothing to explain. The
// explanations of a goal that was done are notes.
func GoalExplained(c *executive.Change, all []poisemsgs.Explanation) *poisemsgs.GoalExplanations {
	if len(all) == 0 {
		return nil
	}
	return &poisemsgs.GoalExplanations{Header: Header(c.Tick, ""), Action: c.Goal.Action, Goal: string(c.Goal.ID), Client: c.Who,
		State: c.To.String(), Cause: c.Cause.String(), Explanations: all}
}

// Status converts the state of a robot.
func Status(s *executive.State) *poisemsgs.RobotStatus {
	r := &poisemsgs.RobotStatus{Header: Header(s.Tick, ""), Power: s.Power.String(), Stopped: s.Stopped, Paused: s.Paused, Silent: s.Silent,
		WantedRate: s.Wanted, Rate: s.Rate, Controllers: Controllers(s), Limp: s.Limp, Missing: s.Missing}
	for _, o := range s.Owners {
		r.Owners = append(r.Owners, poisemsgs.Ownership{Resource: o.Resource, Owner: o.Owner})
	}
	for _, g := range s.Goals {
		r.Goals = append(r.Goals, poisemsgs.GoalInfo{ID: string(g.Goal.ID), Action: g.Goal.Action, Client: g.Who, State: g.State.String(),
			Controller: g.Controller, Phase: string(g.Phase), Time: g.Time, Duration: g.Duration, Rate: g.Rate})
	}
	for _, f := range s.Faults {
		r.Faults = append(r.Faults, poisemsgs.FaultInfo{Kind: f.Kind.String(), Joint: f.Joint, Severity: f.Severity.String(),
			Explanation: Explanations([]executive.Explanation{f.Explanation})[0]})
	}
	return r
}

// Controllers converts the states of controllers.
func Controllers(s *executive.State) (all []poisemsgs.ControllerInfo) {
	for _, c := range s.Controllers {
		info := poisemsgs.ControllerInfo{Name: c.Name, Kind: c.Kind, Short: c.Short, Switched: c.Switched, Outside: c.Outside, Client: c.Client, State: "stopped", Running: c.Running, Active: c.Active, Paused: c.Paused,
			Goal: string(c.Goal.ID), Resources: c.Resources, Time: c.Time, Rate: c.Rate}
		switch {
		case c.Paused:
			info.State = "paused"
		case c.Active:
			info.State = "active"
		case c.Running:
			info.State = "running"
		}
		if c.Refused.Code != "" {
			info.Refused = Explanations([]executive.Explanation{c.Refused})
		}
		if c.Waits.Code != "" {
			info.Waits = Explanations([]executive.Explanation{c.Waits})
		}
		all = append(all, info)
	}
	return all
}

// Pose converts a pose to a message.
func Pose(X spatial.Pose) msgs.Pose {
	return msgs.Pose{Position: msgs.Point{X: X.P.X, Y: X.P.Y, Z: X.P.Z}, Orientation: quaternion(X.R)}
}

// Transform converts a pose to a transform.
func Transform(X spatial.Pose) msgs.Transform {
	return msgs.Transform{Translation: Vector(X.P), Rotation: quaternion(X.R)}
}

func quaternion(R spatial.Mat3) msgs.Quaternion {
	q := R.Quat()
	return msgs.Quaternion{X: q.X, Y: q.Y, Z: q.Z, W: q.W}
}

// PoseOf converts a message to a pose; ok is false if its quaternion is zero or non-finite.
func PoseOf(m msgs.Pose) (X spatial.Pose, ok bool) {
	q, ok := quat(m.Orientation).Unit()
	if !ok {
		return spatial.Pose{}, false
	}
	return spatial.Pose{R: q.Matrix(), P: spatial.Vec3{X: m.Position.X, Y: m.Position.Y, Z: m.Position.Z}}, true
}

// PlaceOf returns the numbers of a pose as they are, for those who judge them.
func PlaceOf(m msgs.Pose) (spatial.Vec3, spatial.Quat) {
	return spatial.Vec3{X: m.Position.X, Y: m.Position.Y, Z: m.Position.Z}, quat(m.Orientation)
}

// Vector converts a vector to a message.
func Vector(v spatial.Vec3) msgs.Vector3 { return msgs.Vector3{X: v.X, Y: v.Y, Z: v.Z} }

// DrivenRobot describes what a robot's driver can do.
func DrivenRobot(name, driver string, d servo.Driver) poisemsgs.DrivenRobot {
	can := d.Capabilities()
	_, placed := d.(servo.Placer)
	_, posed := d.(servo.HandPoser)
	r := poisemsgs.DrivenRobot{Name: name, Driver: driver, Simulated: can.Simulated, Exact: can.Exact, Torque: can.Torque, PlacedAtOnce: placed, PosedByHand: posed,
		Stiffness: can.Stiffness && can.Models}
	for m := range can.Modes.All {
		r.Modes = append(r.Modes, m.String())
	}
	return r
}
