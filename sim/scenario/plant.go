package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"poise/executive"
	"poise/problem"
	"poise/robot"
	"poise/robot/load"
	"poise/servo/model"
	"poise/servo/physics"
	"poise/sim"
	"poise/sim/world"
	"poise/spatial"
	"poise/urdf"
)

// Plant is a scenario with its robot: everything that was named is found.
type Plant struct {
	s       *Scenario
	m       *robot.Model
	mesh    func(name string) []spatial.Vec3
	motions executive.Library
	solid   *world.Solid
	start   []float64 // NumQ, the base of a floating robot where settle is false
	settle  bool
	motors  []physics.Motor // of each joint
	models  []*model.Model  // of joints whose motor is one, nil of others
	plays   bool            // motions are played, so the cycle runs
	lead    float64         // s, by which it tells servos ahead where to be
	actions []happening
	feet    []robot.FrameID // links that may carry; nil if the robot declares none
}

// Robot is a robot and what its files say besides.
type Robot struct {
	Model *robot.Model
	SRDF  *urdf.Semantics                  // nil if there is none
	Mesh  func(name string) []spatial.Vec3 // corners of a mesh, nil if it cannot be read

	Motions executive.Library // that play finds motions in, nil if there are none

	Place func(link string) problem.Pos // of a link in the robot's file; nil if that is unknown
}

// FromLoaded returns the robot that was loaded.
func FromLoaded(l *load.Loaded) Robot {
	return Robot{Model: l.Model, SRDF: l.SRDF, Mesh: world.Meshes(l.Mesh), Place: func(link string) problem.Pos {
		pos := problem.Pos{File: l.File, Line: 1}
		doc, _, _ := urdf.Parse(l.URDF, l.File)
		if doc == nil || filepath.Ext(l.File) == ".xacro" {
			return pos // lines of what xacro made are in no file
		}
		for i := range doc.Links {
			if doc.Links[i].Name == link {
				return doc.Links[i].Pos
			}
		}
		return pos
	}}
}

// placed says where in the robot's file the link is that has no mass.
func placed(err error, r Robot) error {
	var none *sim.NoMass
	if r.Place == nil || !errors.As(err, &none) {
		return errors.New(strings.TrimPrefix(err.Error(), "sim: "))
	}
	thing, text := problem.Named("robot", none.Robot), "has no mass: every link needs an <inertial>"
	if none.Joint != "" {
		thing, text = problem.Link(none.Link), fmt.Sprintf("has no mass for joint %q to move: it needs an <inertial>", none.Joint)
	}
	return &problem.Problem{Code: Invalid, Pos: r.Place(none.Link), Thing: thing, Text: text}
}

// Prepare finds everything that the scenario names in the robot. All that is wrong comes at
// once, each with its line.
func (s *Scenario) Prepare(r Robot) (*Plant, error) {
	c := checker{s: s}
	p := &Plant{s: s, m: r.Model, mesh: r.Mesh, motions: r.Motions, start: make([]float64, r.Model.NumQ())}
	p.solid = s.World.For(r.Model, r.SRDF, "world.", c.errorf)
	p.takeStart(&c)
	p.takeServos(&c)
	for i := range s.Do {
		p.takeAction(&c, &s.Do[i])
	}
	for i := range s.Expect {
		p.checkFloating(&c, &s.Expect[i])
	}
	if err := c.report.Err(); err != nil {
		return nil, err
	}
	p.feet = declaredFeet(r.Model)
	// a robot that cannot be simulated is told before any run
	if _, err := p.build(rand.New(rand.NewPCG(0, 0)), nil, p.motors); err != nil {
		return nil, placed(err, r)
	}
	return p, nil
}

// checkFloating refuses quantities that a robot on a fixed base does not have.
func (p *Plant) checkFloating(c *checker, e *Criterion) {
	switch e.What {
	case "fallen", "joint_rms", "torque_share", "power":
		return
	}
	if !p.m.Floating() {
		c.errorf(e.Line, "expect", "%s is of a robot that floats; the base of %q is fixed (--floating makes it free)", e.What, p.m.Name())
	}
}

func declaredFeet(m *robot.Model) (feet []robot.FrameID) {
	for _, ch := range m.Chains() {
		if ch.Contact != robot.NoContact {
			feet = append(feet, ch.Tip)
		}
	}
	return feet
}

func jointNames(m *robot.Model) []string {
	names := make([]string, len(m.Joints()))
	for i, j := range m.Joints() {
		names[i] = j.Name
	}
	return names
}

func poseNames(m *robot.Model) []string {
	names := make([]string, len(m.Poses()))
	for i, p := range m.Poses() {
		names[i] = p.Name
	}
	return names
}

// takeStart finds the configuration to begin in.
func (p *Plant) takeStart(c *checker) {
	s, st := p.s, &p.s.Start
	for _, b := range p.m.Bodies()[1:] {
		if b.Kind == robot.Floating && !b.Mimic {
			p.start[b.Q+6] = 1
		}
	}
	switch {
	case st.Pose != "" && st.Lines["joints"] != 0:
		c.errorf(st.Line, "start", "has pose and joints: give one of them")
	case st.Pose != "":
		pose, ok := p.m.Pose(st.Pose)
		if !ok {
			c.errorf(st.Line, "start.pose", "%q is unknown%s", st.Pose, c.report.Hint(st.Pose, poseNames(p.m)))
			return
		}
		for k, id := range pose.Joints {
			copy(p.start[p.m.Joints()[id].Q:], pose.Q[k])
		}
	case st.Lines["joints"] != 0:
		for _, v := range st.Joints {
			if id, ok := p.joint(c, v, "start.joints"); ok {
				p.start[p.m.Joints()[id].Q] = v.Value
			}
		}
	default:
		rest := p.m.RestPositions()
		for i, j := range p.m.Joints() {
			if j.Kind.NumQ() == 1 {
				p.start[j.Q] = rest[i]
			}
		}
	}
	for _, j := range p.m.Joints() {
		const slack = 1e-9
		if q := p.start[j.Q]; j.Kind.NumQ() == 1 && !j.Limits.Contains(q) && !j.Limits.Contains(q-slack) && !j.Limits.Contains(q+slack) {
			c.errorf(max(st.Line, s.Lines["start"]), "start", "joint %q begins at %g, outside of its range %s", j.Name, q, j.Limits.Range())
		}
	}
	p.takeBase(c)
}

// joint finds a joint with one coordinate.
func (p *Plant) joint(c *checker, v JointValue, thing string) (robot.JointID, bool) {
	id, ok := p.m.Joint(v.Joint)
	switch {
	case !ok:
		c.errorf(v.Line, thing, "joint %q does not exist%s", v.Joint, c.report.Hint(v.Joint, jointNames(p.m)))
	case p.m.Joints()[id].Kind.NumQ() != 1:
		c.errorf(v.Line, thing, "joint %q has several coordinates", v.Joint)
		ok = false
	}
	return id, ok
}

// takeBase reads start.base: settle, or a pose.
func (p *Plant) takeBase(c *checker) {
	base := p.s.Start.Base
	p.settle = p.m.Floating()
	if base.Line() == 0 {
		return
	}
	word := ""
	if _, mapping := base.Mapping(); !mapping {
		if err := base.Decode(&word); err != nil || word != "settle" {
			c.errorf(base.Line(), "start.base", "%q: settle, or position and orientation", word)
		} else if !p.m.Floating() {
			c.errorf(base.Line(), "start.base", "the base of robot %q is fixed: --floating makes it free", p.m.Name())
		}
		return
	}
	var at struct {
		Position struct {
			X float64 `yaml:"x"`
			Y float64 `yaml:"y"`
			Z float64 `yaml:"z"`
		} `yaml:"position"`
		Orientation *struct {
			X float64 `yaml:"x"`
			Y float64 `yaml:"y"`
			Z float64 `yaml:"z"`
			W float64 `yaml:"w"`
		} `yaml:"orientation"`
	}
	if err := base.Decode(&at); err != nil {
		c.errorf(base.Line(), "start.base", "%v", err)
		return
	}
	if !p.m.Floating() {
		c.errorf(base.Line(), "start.base", "the base of robot %q is fixed: --floating makes it free", p.m.Name())
		return
	}
	p.settle = false
	q := spatial.IdentityQuat
	if o := at.Orientation; o != nil {
		unit, ok := spatial.Quat{X: o.X, Y: o.Y, Z: o.Z, W: o.W}.Unit()
		if !ok {
			c.errorf(base.Line(), "start.base.orientation", "has no length")
		}
		q = unit
	}
	copy(p.start, []float64{at.Position.X, at.Position.Y, at.Position.Z, q.X, q.Y, q.Z, q.W})
}

// takeServos finds the servo of each joint: of the scenario, of the robot's models, or plain.
func (p *Plant) takeServos(c *checker) {
	joints := p.m.Joints()
	p.motors, p.models = make([]physics.Motor, len(joints)), make([]*model.Model, len(joints))
	entries := make([][]*Servo, len(joints)) // of each joint, "all" first
	for _, own := range []bool{false, true} {
		for k := range p.s.Servos {
			e := &p.s.Servos[k]
			switch {
			case own == (e.Joint == "all"):
			case !own:
				for i := range joints {
					entries[i] = append(entries[i], e)
				}
			default:
				if id, ok := p.joint(c, JointValue{Joint: e.Joint, Line: e.Line}, "servos"); ok {
					entries[id] = append(entries[id], e)
				}
			}
		}
	}
	for i := range joints {
		known := p.m.Servo(robot.JointID(i)).Model
		switch {
		case len(entries[i]) > 0:
			p.motors[i] = plain(&joints[i], entries[i])
		case known != nil:
			own := *known
			if o := p.s.Model; o != nil {
				own.Kp, own.Voltage = or(o.Kp, own.Kp), or(o.Voltage, own.Voltage)
			}
			p.models[i] = &own
			p.motors[i] = physics.FromModel(&own)
		default:
			p.motors[i] = physics.Plain(&joints[i])
		}
	}
	if p.s.Model != nil && !p.modelled() {
		c.errorf(p.s.Model.Line, "model", "robot %q has no servo models in its robot.yaml", p.m.Name())
	}
}

// modelled reports whether some joint has a servo model.
func (p *Plant) modelled() bool {
	for _, m := range p.models {
		if m != nil {
			return true
		}
	}
	return false
}

// plain makes the servo that entries of the section servos describe, the last before the
// others. What none says is 0, and the effort that of the URDF.
func plain(j *robot.Joint, entries []*Servo) physics.Motor {
	var m physics.Motor
	if j.Limits.Effort.Has {
		m.Limit = j.Limits.Effort.Value
	}
	limited := false // an entry gives its torque limit
	for _, e := range entries {
		limited = limited || e.Effort != nil
		for _, value := range []struct{ to, from *float64 }{
			{&m.Kp, e.Kp}, {&m.Kd, e.Kd}, {&m.Limit, e.Effort}, {&m.Passive.Armature, e.Armature}, {&m.Passive.Friction, e.Friction},
		} {
			if value.from != nil {
				*value.to = *value.from
			}
		}
	}
	if m.Limit == 0 && (j.Limits.Effort.Has || limited) {
		m.Kp, m.Kd = 0, 0 // it can give nothing
	}
	m.Brake = m.Kd
	return m
}

// drawMotors returns the motors of one run: those of models as far off as vary says.
func (p *Plant) drawMotors(rng *rand.Rand) []physics.Motor {
	motors := append([]physics.Motor(nil), p.motors...)
	share := p.s.Vary.Servo
	if share == 0 {
		return motors
	}
	off := func() float64 { return 1 + share*(2*rng.Float64()-1) }
	for i, known := range p.models {
		if known != nil {
			own := *known
			for k := range own.A {
				own.A[k] *= off()
			}
			motors[i] = physics.FromModel(&own)
			continue
		}
		m := &motors[i]
		m.Kp, m.Kd = m.Kp*off(), m.Kd*off()
		m.Passive.Armature, m.Passive.Damping, m.Passive.Friction = m.Passive.Armature*off(), m.Passive.Damping*off(), m.Passive.Friction*off()
	}
	return motors
}

// ground makes the ground of one run.
func (p *Plant) ground(rng *rand.Rand) *sim.Ground {
	friction := 0.0
	vary := p.s.Vary.Friction
	if vary != nil {
		friction = vary[0] + (vary[1]-vary[0])*rng.Float64()
	}
	g := p.solid.Ground(rng)
	if vary != nil {
		g.Friction = friction
	}
	return g
}

// build makes the model of one run; loads are inertias on bodies besides their own.
func (p *Plant) build(rng *rand.Rand, loads []spatial.Inertia, motors []physics.Motor) (*sim.Model, error) {
	m := p.m
	bodies := m.Bodies()
	inertias := make([]spatial.Inertia, len(bodies))
	for i := range bodies {
		inertias[i] = bodies[i].Inertia
		if share := p.s.Vary.Mass; share > 0 {
			k := 1 + share*(2*rng.Float64()-1)
			inertias[i].Mass *= k
			inertias[i].I = inertias[i].I.Scale(k)
		}
		if loads != nil {
			inertias[i] = inertias[i].Add(loads[i])
		}
	}
	return sim.NewModel(m.WithInertias(inertias), sim.Config{Step: p.s.step(), Passive: physics.PassiveOf(motors), Mesh: p.mesh, Touch: p.solid.Touch, Apart: p.solid.Apart})
}

// place puts the base where the scenario wants it, the soles on the ground.
func (p *Plant) place(q []float64, m *sim.Model, g *sim.Ground) error {
	copy(q, p.start)
	if !p.settle {
		return nil
	}
	joints := make([]float64, len(p.m.Joints()))
	for i, j := range p.m.Joints() {
		joints[i] = q[j.Q]
	}
	settled, err := m.Settled(joints, g)
	if err != nil {
		return err
	}
	copy(q[:7], settled)
	return nil
}
