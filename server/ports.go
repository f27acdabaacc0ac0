package server

import (
	"poise/control"
	"poise/edge"
	"poise/graph"
	"poise/kinematics"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// ports publishes the state of a robot as controllers read it: joints by chains, limbs in
// the world, supports and typed outputs, each with the number of the cycle.
type ports struct {
	model *robot.Model
	order []robot.JointID // joints by chains, then the others
	names []string        // in that order
	feet  []robot.ChainID

	command, measured  graph.Publisher[msgs.JointState]
	limbs, limbsReal   graph.Publisher[poisemsgs.RigidBodyState]
	support            graph.Publisher[poisemsgs.SupportState]
	outputs            []output
	kin                *kinematics.Data
	position, velocity []float64 // of the whole robot
	root               string
	limbNames          []string
	tips               []kinematics.Place
}

// output is a typed value that is no joint, and its topic.
type output struct {
	name, kind string
	topic      graph.Publisher[poisemsgs.TypedOutput]
}

func newPorts(bot *servedRobot, r *register, feet []robot.ChainID) (*ports, error) {
	m := bot.model
	resources, err := m.Resources()
	if err != nil {
		return nil, err
	}
	p := &ports{model: m, feet: feet, kin: kinematics.NewData(m), position: make([]float64, m.NumQ()), velocity: make([]float64, m.NumV()), root: m.Frames()[0].Name}
	kinematics.NewSpace(m).NeutralTo(p.position)
	seen := make([]bool, len(m.Joints()))
	add := func(j robot.JointID) {
		if !seen[j] {
			seen[j] = true
			p.order, p.names = append(p.order, j), append(p.names, m.Joints()[j].Name)
		}
	}
	for _, c := range m.Chains() {
		for _, j := range c.Joints {
			add(j)
		}
		p.limbNames, p.tips = append(p.limbNames, c.Name), append(p.tips, p.kin.At(c.VirtualTip))
	}
	for j := range m.Joints() {
		add(robot.JointID(j))
	}
	p.command = addTopic[msgs.JointState](r, "joints_sorted", graph.QoS{})
	p.measured = addTopic[msgs.JointState](r, "joints_sorted_real", graph.QoS{})
	p.limbs = addTopic[poisemsgs.RigidBodyState](r, "limbs_cartesian", graph.QoS{})
	p.limbsReal = addTopic[poisemsgs.RigidBodyState](r, "limbs_cartesian_real", graph.QoS{})
	if len(feet) > 0 {
		p.support = addTopic[poisemsgs.SupportState](r, "support", graph.QoS{})
	}
	for _, leaf := range resources.Leaves() {
		if leaf.Kind == robot.OutputLeaf {
			p.outputs = append(p.outputs, output{leaf.Name, leaf.Type, addTopic[poisemsgs.TypedOutput](r, leaf.Name, graph.QoS{})})
		}
	}
	return p, nil
}

// publish tells where the robot is.
func (p *ports) publish(now *loop.Snapshot) {
	command, measured := &now.Command, &now.Measured
	p.command.PublishFunc(func() *msgs.JointState { return p.sorted(now.Tick, command.Q, command.V, command.Tau) })
	p.measured.PublishFunc(func() *msgs.JointState { return p.sorted(now.Tick, measured.Q, measured.V, measured.Effort) })
	p.limbs.PublishFunc(func() *poisemsgs.RigidBodyState { return p.cartesian(now.Tick, command.Q, command.V, &command.Base) })
	p.limbsReal.PublishFunc(func() *poisemsgs.RigidBodyState { return p.cartesian(now.Tick, measured.Q, measured.V, &measured.Base) })
	if len(p.feet) > 0 {
		p.support.PublishFunc(func() *poisemsgs.SupportState { return supportState(p.model, p.feet, now.Tick, command.Support) })
	}
	for i := range p.outputs {
		o := &p.outputs[i]
		o.topic.PublishFunc(func() *poisemsgs.TypedOutput {
			return &poisemsgs.TypedOutput{Header: edge.Header(now.Tick, ""), Name: o.name, Type: o.kind, Value: command.Output[i], Cycle: now.Tick.N}
		})
	}
}

// sorted is a joint state in the order of chains.
func (p *ports) sorted(t servo.Tick, q, v, effort []float64) *msgs.JointState {
	n := len(p.order)
	out := &msgs.JointState{Header: edge.Header(t, ""), Name: p.names, Position: make([]float64, n), Velocity: make([]float64, n), Effort: make([]float64, n)}
	for i, j := range p.order {
		out.Position[i], out.Velocity[i], out.Effort[i] = q[j], v[j], effort[j]
	}
	return out
}

// cartesian tells where limbs are in the world, and how they move.
func (p *ports) cartesian(t servo.Tick, q, v []float64, base *control.BaseRef) *poisemsgs.RigidBodyState {
	m := p.model
	for i, j := range m.Joints() {
		p.position[j.Q], p.velocity[j.V] = q[i], v[i]
	}
	X, twist := spatial.IdentityPose, spatial.Twist{}
	if base.Has {
		X, twist = base.Pose, base.Twist
	}
	out := &poisemsgs.RigidBodyState{Header: edge.Header(t, worldFrame), Cycle: t.N}
	add := func(name string, X spatial.Pose, v spatial.Twist) {
		out.Name, out.Frame = append(out.Name, name), append(out.Frame, edge.Pose(X))
		out.Twist = append(out.Twist, msgs.Twist{Linear: edge.Vector(v.Linear), Angular: edge.Vector(v.Angular)})
	}
	if m.Floating() {
		setBase(p.position, m, X)
		l, w := twist.Linear, twist.Angular
		copy(p.velocity, []float64{l.X, l.Y, l.Z, w.X, w.Y, w.Z})
		add(p.root, X, twist.In(X.R))
	}
	p.kin.UpdatePosition(p.position)
	p.kin.UpdateVelocity(p.velocity)
	for i, tip := range p.tips {
		add(p.limbNames[i], p.kin.Pose(tip), p.kin.Twist(tip))
	}
	return out
}

// supportState tells which feet carry.
func supportState(m *robot.Model, feet []robot.ChainID, t servo.Tick, supports []control.Support) *poisemsgs.SupportState {
	out := &poisemsgs.SupportState{Header: edge.Header(t, ""), Cycle: t.N}
	for _, id := range feet {
		s, contact := &supports[id], ""
		if s.Contact >= 0 && int(s.Contact) < len(m.Contacts()) {
			contact = m.Contacts()[s.Contact].Name
		}
		out.Name, out.Contact, out.Support = append(out.Name, m.Chains()[id].Name), append(out.Contact, contact), append(out.Support, s.Weight)
	}
	return out
}
