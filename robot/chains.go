package robot

import (
	"slices"

	"poise/problem"
	"poise/robot/description"
	"poise/spatial"
)

// ChainID numbers the chains in the order of robot.yaml.
type ChainID int

// NoChain stands for a chain that is not there.
const NoChain ChainID = -1

// ContactID numbers the named sets of contact points.
type ContactID int

// NoContact stands for a contact that is not there.
const NoContact ContactID = -1

// Chain is a limb: the joints between a link near the body and a link at its
// end.
type Chain struct {
	Name       string
	Base, Tip  FrameID
	VirtualTip FrameID   // behind the tip, over joints that no servo moves; the tip if there is none
	Joints     []JointID // base to virtual tip
	Contact    ContactID // how the tip touches unless told otherwise; a chain with one has a support leaf
	Mirror     ChainID   // its image in the mirror table
}

// Contact is a named set of points in the frame of a chain's tip. They generate
// constraints; forces may act elsewhere.
type Contact struct {
	Name   string
	Points []spatial.Vec3
	Sole   float64 // radius of the flat disc about each point of the sole, m; 0 is a bare point
}

// Chains returns the chains. The slice is shared: read only.
func (m *Model) Chains() []Chain { return m.chains }

// Contacts returns the contact sets. The slice is shared: read only.
func (m *Model) Contacts() []Contact { return m.contacts }

// Chain finds a chain by name; at start-up only.
func (m *Model) Chain(name string) (ChainID, bool) {
	if id, ok := m.chainByName[name]; ok {
		return id, true
	}
	return NoChain, false
}

// Contact finds a contact set by name; at start-up only.
func (m *Model) Contact(name string) (ContactID, bool) {
	if id, ok := m.contactByName[name]; ok {
		return id, true
	}
	return NoContact, false
}

// Path returns the joints that move tip against base, in the order of the way
// from base to tip; a follower counts as its leader. Down is true if base is
// above tip in the tree or on the same body. At start-up only.
func (m *Model) Path(base, tip FrameID) (joints []JointID, down bool) {
	joints, down, _ = m.way(base, tip)
	return joints, down
}

// way is Path, with the number of bodies that it passes.
func (m *Model) way(base, tip FrameID) (joints []JointID, down bool, passed int) {
	a, b := m.frames[base].Body, m.frames[tip].Body
	var up, rest []JointID
	follower := false

	// a parent's number is lower than its child's: climb from the higher one
	for a != b {
		from, to := &a, &up
		if b > a {
			from, to = &b, &rest
		}
		body := m.bodies[*from]
		if body.Joint != NoJoint {
			*to = append(*to, body.Joint)
		}
		follower = follower || body.Mimic
		*from = body.Parent
		passed++
	}
	slices.Reverse(rest)
	joints = append(up, rest...)

	// with its leader on the way too, a follower makes it come twice
	if follower {
		seen := map[JointID]bool{}
		joints = slices.Clone(slices.DeleteFunc(joints, func(id JointID) bool {
			twice := seen[id]
			seen[id] = true
			return twice
		}))
	}
	return joints, a == m.frames[base].Body, passed
}

// maxPassed bounds the bodies that the chains and groups of a robot pass
// together: a short file can name very many long ways.
const maxPassed = maxMembers

// way is the model's, as long as the ways have not become too many: that is
// told once.
func (b *builder) way(base, tip FrameID, at problem.Pos, thing string) (joints []JointID, down, ok bool) {
	if b.passed > maxPassed {
		return nil, false, false
	}
	joints, down, passed := b.m.way(base, tip)
	if b.passed += passed; b.passed > maxPassed {
		b.Errorf(description.Impossible, at, thing, "the chains up to here pass more than %d bodies together", maxPassed)
		return nil, false, false
	}
	return joints, down, true
}

// describeChains reads chains and contacts of the description.
func (b *builder) describeChains(d *Description) {
	b.m.contactByName = make(map[string]ContactID, len(d.Contacts))
	b.m.chainByName = make(map[string]ChainID, len(d.Chains))
	for _, c := range d.Contacts {
		contact := Contact{Name: c.Name, Sole: c.Sole}
		for _, p := range c.Points {
			if len(p) == 3 {
				contact.Points = append(contact.Points, spatial.Vec3{X: p[0], Y: p[1], Z: p[2]})
			}
		}
		b.m.contactByName[c.Name] = ContactID(len(b.m.contacts))
		b.m.contacts = append(b.m.contacts, contact)
	}
	for _, c := range d.Chains {
		b.m.chainByName[c.Name] = ChainID(len(b.m.chains))
		b.m.chains = append(b.m.chains, b.describeChain(c, d))
	}
}

func (b *builder) describeChain(c description.Chain, d *Description) Chain {
	m, at, thing := b.m, d.At(c.Line), problem.Named("chain", c.Name)
	chain := Chain{Name: c.Name, Contact: NoContact, Mirror: NoChain}
	if c.Contact != "" {
		id, ok := m.Contact(c.Contact)
		if !ok {
			b.Errorf(description.Impossible, at, thing, "contact %q is not declared%s", c.Contact, b.Hint(c.Contact, names(m.contacts, func(c *Contact) string { return c.Name })))
		}
		chain.Contact = id
	}
	var okBase, okTip, okVirtual bool
	chain.Base, okBase = b.frameNamed(c.Base, "base", at, thing)
	chain.Tip, okTip = b.frameNamed(c.Tip, "tip", at, thing)
	chain.VirtualTip, okVirtual = chain.Tip, true
	if c.VirtualTip != "" {
		chain.VirtualTip, okVirtual = b.frameNamed(c.VirtualTip, "virtual_tip", at, thing)
	}
	if !okBase || !okTip || !okVirtual {
		return chain
	}
	joints, down, ok := b.way(chain.Base, chain.VirtualTip, at, thing)
	_, below, ok2 := b.way(chain.Tip, chain.VirtualTip, at, thing)
	switch {
	case !ok || !ok2:
	case !down:
		b.Errorf(description.Impossible, at, thing, "base %q is not above tip %q", c.Base, m.frames[chain.VirtualTip].Name)
	case !below:
		b.Errorf(description.Impossible, at, thing, "virtual tip %q is not below tip %q", c.VirtualTip, c.Tip)
	case len(joints) == 0:
		b.Errorf(description.Impossible, at, thing, "no joint moves tip %q against base %q", c.Tip, c.Base)
	}
	chain.Joints = joints
	return chain
}

// frameNamed finds a link for an entry of the description.
func (b *builder) frameNamed(name, key string, at problem.Pos, thing string) (FrameID, bool) {
	id, ok := b.m.frameByName[name]
	switch {
	case name == "":
		b.Errorf(description.Impossible, at, thing, "%s is missing", key)
	case !ok:
		b.Errorf(UnknownLink, at, thing, "%s: link %q does not exist%s", key, name, b.Hint(name, b.tree.LinkNames()))
	}
	return id, ok
}

// jointNamed finds an independent joint for an entry of a file. A follower is
// none: it has no coordinate of its own.
func (b *builder) jointNamed(name string, at problem.Pos, thing string) (JointID, bool) {
	id, ok := b.m.jointByName[name]
	if ok {
		return id, true
	}
	follower := b.followers[name]
	_, fixed := b.tree.JointIndex[name]
	switch {
	case follower != nil:
		leader := b.m.joints[b.m.bodies[follower.Body].Joint].Name
		b.Errorf(description.Impossible, at, thing, "joint %q follows %q and has no value of its own", name, leader)
	case fixed:
		b.Errorf(description.Impossible, at, thing, "joint %q is fixed", name)
	default:
		b.Errorf(UnknownJoint, at, thing, "joint %q does not exist%s", name, b.Hint(name, b.tree.JointNames()))
	}
	return NoJoint, false
}
