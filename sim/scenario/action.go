package scenario

import (
	"math"
	"slices"

	"poise/robot"
	"poise/servo"
	"poise/servo/physics"
	"poise/sim"
	"poise/sim/world"
	"poise/spatial"
)

// happening is an entry of do with everything found.
type happening struct {
	at     float64
	what   *Action
	joints []int   // of joints
	takes  float64 // to move joints, s
	push   sim.Push
	until  float64        // of a push or a grab
	spring physics.Spring // of a grab
	load   spatial.Inertia
	body   robot.BodyID // of a payload

	trouble physics.Trouble // of the one joint in joints
}

// takeAction finds what an entry of do names.
func (p *Plant) takeAction(c *checker, a *Action) {
	entry := happening{at: or(a.At, 0), what: a, takes: a.In}
	switch {
	case a.Lines["joints"] != 0:
		for _, v := range a.Joints {
			if id, ok := p.joint(c, v, "do: joints"); ok {
				entry.joints = append(entry.joints, int(id))
			}
		}
	case a.Play != "":
		p.takePlay(c, a)
	case a.Velocity != nil:
		if p.plays = true; !p.m.Floating() || len(declaredFeet(p.m)) < 2 {
			c.errorf(a.Line, "do: velocity", "robot %q does not walk: it has %d declared feet and needs a base that moves (robot.yaml)", p.m.Name(), len(declaredFeet(p.m)))
		}
	case a.GetUp != "":
		if p.plays = true; len(p.m.GetUp().Belly) == 0 {
			c.errorf(a.Line, "do: get_up", "robot.yaml of %q does not say how it gets up", p.m.Name())
		}
	case a.Push != nil:
		p.takePush(c, &entry, a.Push)
	case a.Payload != nil:
		p.takePayload(c, &entry, a.Payload)
	case a.Grab != nil:
		p.takeGrab(c, &entry, a.Grab)
	case a.Trouble != nil:
		p.takeTrouble(c, &entry, a.Trouble)
	case a.Drop != nil && !p.m.Floating():
		c.errorf(a.Line, "do: drop", "the base of %q is fixed: it cannot be dropped (--floating makes it free)", p.m.Name())
	case a.Voltage != nil || a.Loss != nil:
		if !p.modelled() {
			c.errorf(a.Line, "do", "voltage and loss are of servo models; robot %q has plain servos here", p.m.Name())
		}
	}
	p.actions = append(p.actions, entry)
}

// takeTrouble finds the servo that something is wrong with, and what.
func (p *Plant) takeTrouble(c *checker, entry *happening, u *Trouble) {
	id, ok := p.joint(c, JointValue{Joint: u.Joint, Line: u.Line}, "do: trouble")
	if !ok {
		return
	}
	entry.trouble = physics.Trouble{Silent: u.Silent, Limp: u.Limp, Jammed: u.Jammed}
	if u.Fault != "" {
		if entry.trouble.Fault, ok = servo.FaultNamed(u.Fault); !ok {
			c.errorf(u.Line, "do: trouble.fault", "%q is unknown%s", u.Fault, c.report.Hint(u.Fault, slices.Collect(servo.AllFaults.All)))
		}
	}
	if entry.trouble == (physics.Trouble{}) {
		c.errorf(u.Line, "do: trouble", "nothing is wrong: one of silent, limp, jammed and fault is wanted")
	}
	entry.joints, entry.until = []int{int(id)}, math.Inf(1)
	if u.For > 0 {
		entry.until = entry.at + u.For
	}
}

// takePlay looks whether there is a motion of this name.
func (p *Plant) takePlay(c *checker, a *Action) {
	if p.motions == nil {
		c.errorf(a.Line, "do: play", "there are no stored motions")
		return
	}
	if _, err := p.motions.Get(a.Play); err != nil {
		c.errorf(a.Line, "do: play", "%v", err)
	}
	p.plays = true
}

func (p *Plant) link(c *checker, name string, line int, thing string) (*robot.Frame, bool) {
	id, ok := p.m.Frame(name)
	switch {
	case name == "":
		c.errorf(line, thing, "link is missing")
	case !ok:
		c.errorf(line, thing, "link %q does not exist%s", name, c.report.Hint(name, world.LinkNames(p.m)))
	case p.m.Frames()[id].Body == robot.World:
		c.errorf(line, thing, "link %q cannot move", name)
		ok = false
	}
	if !ok {
		return nil, false
	}
	return &p.m.Frames()[id], true
}

// takePush finds where a push acts: by default at the centre of mass of its link.
func (p *Plant) takePush(c *checker, entry *happening, u *Push) {
	f, ok := p.link(c, u.Link, u.Line, "do: push")
	if !ok {
		return
	}
	force, given, err := world.Vector(u.Force)
	if err != nil || !given {
		c.errorf(u.Line, "do: push.force", "three numbers are wanted, N in world axes")
	}
	at, given, err := world.Vector(u.Point)
	if err != nil {
		c.errorf(u.Line, "do: push.point", "three numbers are wanted, m in the link's frame")
	}
	if !given {
		at = world.Centre(p.m, u.Link)
	}
	entry.push = sim.Push{Body: f.Body, Point: f.Pose.Apply(at), Force: force}
	entry.until = entry.at + u.For
}

// takeGrab finds what a grab holds: by default the centre of mass of its link.
func (p *Plant) takeGrab(c *checker, entry *happening, g *Grab) {
	f, ok := p.link(c, g.Link, g.Line, "do: grab")
	if !ok {
		return
	}
	to, given, err := world.Vector(g.To)
	if err != nil || !given {
		c.errorf(g.Line, "do: grab.to", "three numbers are wanted, m in the world")
	}
	at, given, err := world.Vector(g.Point)
	if err != nil {
		c.errorf(g.Line, "do: grab.point", "three numbers are wanted, m in the link's frame")
	}
	if !given {
		at = world.Centre(p.m, g.Link)
	}
	if entry.spring, err = physics.NewSpring(p.m, f.Body, f.Pose.Apply(at), to, g.Stiffness); err != nil {
		c.errorf(g.Line, "do: grab", "%v", err)
	}
	entry.until = entry.at + g.For
}

func (p *Plant) takePayload(c *checker, entry *happening, l *Payload) {
	f, ok := p.link(c, l.Link, l.Line, "do: payload")
	if !ok {
		return
	}
	at, _, err := world.Vector(l.At)
	if err != nil {
		c.errorf(l.Line, "do: payload.at", "three numbers are wanted, m in the link's frame")
	}
	entry.body, entry.load = f.Body, spatial.Inertia{Mass: l.Mass, Com: f.Pose.Apply(at)}
}
