package server

import (
	"slices"

	"poise/control"
	"poise/edge"
	"poise/executive"
	"poise/external"
	"poise/graph"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/spatial"
)

// feelings publishes what touches a robot, as its servos feel it.
type feelings struct {
	model    *robot.Model
	names    []string // of the joints
	limbs    []string // of the chains
	forces   graph.Publisher[poisemsgs.ExternalForces]
	contacts graph.Publisher[poisemsgs.ContactStates]
	events   graph.Publisher[poisemsgs.ContactEvent]
}

// newFeelings registers the topics of a robot that feels, nil of one that does not.
func newFeelings(bot *servedRobot, r *register, names []string) *feelings {
	if !bot.feels {
		return nil
	}
	f := &feelings{model: bot.model, names: names}
	for _, c := range bot.model.Chains() {
		f.limbs = append(f.limbs, c.Name)
	}
	f.forces = addTopic[poisemsgs.ExternalForces](r, "external_forces", graph.QoS{})
	f.contacts = addTopic[poisemsgs.ContactStates](r, "contacts_real", graph.QoS{})
	f.events = addTopic[poisemsgs.ContactEvent](r, "contact_events", graph.QoS{Depth: 100})
	return f
}

// publish tells what is felt now.
func (f *feelings) publish(now *loop.Snapshot) {
	if f == nil || !now.Feels {
		return
	}
	f.forces.PublishFunc(func() *poisemsgs.ExternalForces { return f.message(now) })
	f.contacts.PublishFunc(func() *poisemsgs.ContactStates { return f.states(now) })
}

func (f *feelings) message(now *loop.Snapshot) *poisemsgs.ExternalForces {
	out := &poisemsgs.ExternalForces{Header: edge.Header(now.Tick, worldFrame), Name: f.names, Limb: f.limbs, Base: wrench(now.Outside)}
	for i := range now.External {
		j := &now.External[i]
		out.Valid = append(out.Valid, j.Valid)
		out.Servo, out.External, out.Momentum = append(out.Servo, j.Servo), append(out.External, j.External), append(out.Momentum, j.Momentum)
		out.Residual, out.Beyond = append(out.Residual, j.Residual), append(out.Beyond, j.Beyond)
		out.Sigma, out.Friction, out.Band = append(out.Sigma, j.Sigma), append(out.Friction, j.Friction), append(out.Band, j.Band())
	}
	for i := range now.Limbs {
		l := &now.Limbs[i]
		out.Felt, out.Wrench = append(out.Felt, l.Valid), append(out.Wrench, wrench(spatial.Wrench{Force: l.Force, Torque: l.Torque}))
		out.Point = append(out.Point, msgs.Point(edge.Vector(l.Point)))
		out.ForceSigma, out.ForceDoubt = append(out.ForceSigma, edge.Vector(l.Sigma)), append(out.ForceDoubt, edge.Vector(l.Friction))
		out.Unexplained, out.LeastLever = append(out.Unexplained, l.Unexplained), append(out.LeastLever, l.LeastLever)
	}
	return out
}

func (f *feelings) states(now *loop.Snapshot) *poisemsgs.ContactStates {
	out := &poisemsgs.ContactStates{Header: edge.Header(now.Tick, worldFrame)}
	for i := range now.Measured.Contacts {
		c := &now.Measured.Contacts[i]
		if !c.Foot {
			continue
		}
		out.Name, out.State, out.Stands = append(out.Name, f.limbs[i]), append(out.State, c.State.String()), append(out.Stands, c.Carries())
		out.Force, out.Sigma, out.Doubt = append(out.Force, c.Force), append(out.Sigma, c.Sigma), append(out.Doubt, c.Doubt)
		out.Threshold, out.Since = append(out.Threshold, c.On), append(out.Since, c.Since)
		out.Early, out.Late = append(out.Early, c.Early), append(out.Late, c.Late)
	}
	return out
}

// felt tells of a touch-down, a lift-off or an impact.
func (bot *servedRobot) felt(e executive.Felt) {
	f := bot.topics.feelings
	if f == nil {
		return
	}
	out := &poisemsgs.ContactEvent{Header: edge.Header(e.Tick, worldFrame), Kind: e.Kind.String(), Limb: f.limbs[e.Chain], Force: edge.Vector(e.Force), Size: e.Size, Time: e.Time}
	if e.Kind == external.Impact {
		out.Reaction = e.Reaction.String()
		if e.Joint != robot.NoJoint {
			out.Joint = f.names[e.Joint]
		}
	}
	f.events.Publish(out)
}

// feel lets a robot feel what touches it, if its servos behave by known models.
func (bot *servedRobot) feel(s *loop.Settings) {
	some := false
	for _, m := range s.Inversion.Models {
		some = some || m != nil
	}
	x := bot.model.External()
	if bot.feels = some && bot.can.Models && bot.model.Mass() > 0 && !x.Off; !bot.feels {
		return
	}
	s.External = loop.ExternalSettings{On: true, Feeds: x.Odometry, Options: external.Options{ForceOn: x.ForceOn, Bandwidth: x.Bandwidth,
		ModelError: x.ModelError, Delay: x.Delay, LiftGate: x.LiftGate, Impact: x.Impact}}
	if x.Delay == 0 {
		s.External.Delay = bot.can.Lead * bot.period.Seconds()
	}
	for _, name := range x.Impacts {
		s.External.Impacts = append(s.External.Impacts, control.Reaction(max(0, slices.Index(control.ReactionNames[:], name))))
	}
}
