package robot

import (
	"poise/problem"
	"poise/servo/modelfile"
	"poise/spatial"
	"poise/urdf"
)

// Options say how a document becomes a model. The zero value gives a robot with
// a fixed base and the limits of its URDF.
type Options struct {
	Base           Base            // decides over the description
	Description    *Description    // robot.yaml, nil if there is none
	SRDF           *urdf.Semantics // nil if there is none
	Limits         *LimitTable     // joint_limits.yaml, nil if there is none
	OverrideLimits bool            // the table may loosen what the URDF says
	Cartesian      *CartesianLimits
	ServoModels    []*modelfile.Set // of the files that robot.yaml names

	// MeshExists reports whether a mesh file, named as in the URDF, is there.
	// Nil leaves meshes unchecked.
	MeshExists func(name string) bool
}

// Base says whether the root link is free.
type Base uint8

// Choices of Base.
const (
	BaseAsDescribed Base = iota // by the description; fixed without one
	BaseFixed
	BaseFloating
)

// StandardGravity is the acceleration of free fall unless the robot says
// otherwise, m/s².
const StandardGravity = 9.81

// Build makes a model of a document. It reports every problem at once: errors
// joined (each a *problem.Problem), and warnings of a robot that works all the same. The
// model keeps the document, which must not change any more.
func Build(doc *urdf.Document, opts Options) (*Model, []*problem.Problem, error) {
	b := builder{doc: doc, opts: opts}
	t, ok := newTree(doc, &b.Report)
	checkMeshes(doc, opts.MeshExists, &b.Report)
	if !ok {
		return nil, b.Warnings, b.Err()
	}
	b.tree = t
	b.m = &Model{name: doc.Name, doc: doc, gravity: spatial.Vec3{Z: -StandardGravity}}
	b.chooseBase()
	b.assemble()
	b.checkMass()
	b.limit()
	b.describe()
	if err := b.Err(); err != nil {
		return nil, b.Warnings, err
	}
	return b.m, b.Warnings, nil
}

// builder carries a model while it is made.
type builder struct {
	problem.Report
	doc  *urdf.Document
	opts Options
	tree *tree
	m    *Model

	linkFrame []FrameID         // frame of each link of the document
	jointBody []BodyID          // body of each joint of the document, World if fixed
	followers map[string]*Joint // mimic followers with limits of their own
	virtual   map[string]bool   // joints of the SRDF that stand for the base
	passed    int               // bodies, by the ways of chains and groups
	voltless  bool              // a servo model without a voltage was told of
}

func (b *builder) chooseBase() {
	d := b.opts.Description
	b.m.floating = b.opts.Base == BaseFloating || b.opts.Base == BaseAsDescribed && d != nil && d.Base == "floating"
}

// assemble walks the tree and makes bodies, joints and frames.
func (b *builder) assemble() {
	m := b.m
	m.jointByName = make(map[string]JointID)
	m.frameByName = make(map[string]FrameID, len(b.doc.Links))
	b.linkFrame = make([]FrameID, len(b.doc.Links))
	b.jointBody = make([]BodyID, len(b.doc.Joints))
	b.followers = make(map[string]*Joint)

	m.bodies = append(m.bodies, Body{Rest: spatial.IdentityPose, Joint: NoJoint, Ratio: 1, Link: NoFrame})
	root := World
	if m.floating {
		m.bodies = append(m.bodies, Body{Kind: Floating, Rest: spatial.IdentityPose, Joint: NoJoint, Ratio: 1, Link: NoFrame})
		m.nq, m.nv = Floating.NumQ(), Floating.NumV()
		root = 1
	}
	for _, l := range b.tree.Order {
		if above := b.tree.Up[l]; above < 0 {
			m.bodies[root].Link = b.addFrame(l, root, spatial.IdentityPose)
		} else {
			b.hang(l, above)
		}
	}
	b.bindFollowers()
	m.mass = totalMass(b.doc)
	b.checkSums()
}

// checkSums reports numbers that are finite each and overflow together.
func (b *builder) checkSums() {
	for _, f := range b.m.frames {
		M, X := b.m.bodies[f.Body].Inertia, b.m.bodies[f.Body].Rest
		if !f.Pose.P.Finite() || !X.P.Finite() || !M.Com.Finite() || !finite(M.Mass, b.m.mass) || !finite(M.I[:]...) {
			at := b.doc.Links[b.tree.LinkIndex[f.Name]].Pos
			b.Errorf(NotFinite, at, problem.Link(f.Name), "lengths or masses up to here are too large to add up")
			return
		}
	}
}

// hang puts link l on the joint above it: a fixed one welds it to the parent's
// body, any other makes a body.
func (b *builder) hang(l, above int) {
	m, j := b.m, b.doc.Joints[above]
	f := m.frames[b.linkFrame[b.tree.Parent[above]]]
	X_BJ := f.Pose.Mul(j.Origin.Pose())
	if j.Type == urdf.Fixed {
		b.addFrame(l, f.Body, X_BJ)
		return
	}

	// turn the body frame so that the axis is +z; the link keeps its own frame
	kind := kindOf(j.Type)
	R_JB := spatial.Identity3
	if kind != Floating {
		R_JB = spatial.ZTo(j.Axis)
	}
	body := Body{
		Parent: f.Body, Kind: kind, Name: j.Name, Ratio: 1,
		Rest: X_BJ.Mul(spatial.Pose{R: R_JB}),
		Q:    m.nq, V: m.nv,
	}
	id := BodyID(len(m.bodies))
	b.jointBody[above] = id
	own := Joint{Name: j.Name, Kind: kind, Body: id, Q: m.nq, V: m.nv, Limits: limitsOf(j, &b.Report)}
	if j.Dynamics != nil {
		own.Damping, own.Friction = j.Dynamics.Damping, j.Dynamics.Friction
	}
	if mimic := b.tree.Mimics[above]; mimic.Leader >= 0 {
		body.Mimic, body.Ratio, body.Offset = true, mimic.Ratio, mimic.Offset
		b.followers[j.Name] = &own
	} else {
		body.Joint = JointID(len(m.joints))
		m.jointByName[j.Name] = body.Joint
		m.joints = append(m.joints, own)
		m.nq, m.nv = m.nq+kind.NumQ(), m.nv+kind.NumV()
	}
	m.bodies = append(m.bodies, body)
	m.bodies[id].Link = b.addFrame(l, id, spatial.Pose{R: R_JB.Transpose()})
}

// addFrame adds link l to a body: its frame X_BF and its inertia.
func (b *builder) addFrame(l int, body BodyID, X_BF spatial.Pose) FrameID {
	m, id := b.m, FrameID(len(b.m.frames))
	doc := b.doc.Links[l]
	m.frames = append(m.frames, Frame{Name: doc.Name, Body: body, Pose: X_BF})
	m.frameByName[doc.Name] = id
	b.linkFrame[l] = id
	if doc.Inertial != nil {
		M_B := &m.bodies[body].Inertia
		*M_B = M_B.Add(linkInertia(doc).Transform(X_BF))
	}
	return id
}

// bindFollowers gives each follower its leader's place in the arrays, which is
// known only after the walk.
func (b *builder) bindFollowers() {
	m := b.m
	for i, mimic := range b.tree.Mimics {
		if mimic.Leader < 0 {
			continue
		}
		follower, leader := &m.bodies[b.jointBody[i]], m.bodies[b.jointBody[mimic.Leader]]
		follower.Joint, follower.Q, follower.V = leader.Joint, leader.Q, leader.V
	}
}

// checkMass warns of bodies that a motor would have nothing to move with.
func (b *builder) checkMass() {
	m := b.m
	if m.mass == 0 {
		b.Warnf(ZeroMass, b.doc.Pos, "", "no link of robot %q has a mass: it has kinematics, but no dynamics", m.name)
		return
	}
	for _, body := range m.bodies[1:] {
		if body.Inertia.Mass != 0 || body.Inertia.I != (spatial.Mat3{}) {
			continue
		}
		l := m.frames[body.Link].Name
		b.Warnf(ZeroMass, b.doc.Links[b.tree.LinkIndex[l]].Pos, problem.Link(l), "moves, but neither it nor what is welded to it has a mass")
	}
}

// limit merges the limit file into the joints and looks at the followers.
func (b *builder) limit() {
	m := b.m
	m.cartesian = b.opts.Cartesian
	if t := b.opts.Limits; t != nil {
		for _, e := range t.Joints {
			switch j := b.limited(e.Joint, t.at(e)); {
			case j == nil:
			case j.Kind == Continuous && (e.Limits.Lower.Has || e.Limits.Upper.Has):
				b.Errorf(BadLimit, t.at(e), problem.Joint(j.Name), "a continuous joint has no range; make it revolute in the URDF")
			default:
				t.merge(&j.Limits, e, b.opts.OverrideLimits, &b.Report)
			}
		}
	}
	for _, body := range m.bodies {
		if body.Mimic {
			at := b.doc.Joints[b.tree.JointIndex[body.Name]].Mimic.Pos
			leader := m.joints[body.Joint]
			checkFollower(body.Name, b.followers[body.Name].Limits, leader.Name, leader.Limits, body.Ratio, body.Offset, at, &b.Report)
		}
	}
}

// limited finds the joint that an entry of a limit file means. One that the
// robot does not have is a warning: a file may serve several variants of a
// robot.
func (b *builder) limited(name string, at problem.Pos) *Joint {
	thing := problem.Joint(name)
	if id, ok := b.m.jointByName[name]; ok {
		j := &b.m.joints[id]
		if j.Kind == Planar || j.Kind == Floating {
			b.Warnf(UnusedLimit, at, thing, "limits of a joint with several coordinates are not used")
			return nil
		}
		return j
	}
	if f := b.followers[name]; f != nil {
		return f
	}
	if _, fixed := b.tree.JointIndex[name]; fixed {
		b.Warnf(UnusedLimit, at, thing, "is fixed: its limits are not used")
		return nil
	}
	b.Warnf(UnknownJoint, at, thing, "limits for a joint that the robot does not have%s", b.Hint(name, b.tree.JointNames()))
	return nil
}

func kindOf(t urdf.JointType) Kind {
	switch t {
	case urdf.Continuous:
		return Continuous
	case urdf.Prismatic:
		return Prismatic
	case urdf.Planar:
		return Planar
	case urdf.Floating:
		return Floating
	}
	return Revolute
}
