package control

import (
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
)

// Resolver turns Cartesian references into joints, for every controller: of a limb whose tip
// has a reference and whose joints have none, and of the limbs that stand while their
// controller moves the base. Its memory is made once, for one loop.
type Resolver struct {
	limbs    []resolved
	supports []robot.LeafID // of each chain,
	stands   []bool         // if it has one
	base     robot.LeafID
	floating bool
	data     *kinematics.Data
	index    []int // of each joint in a configuration,
	speed    []int // and in its velocity
	v        []float64
	q        []float64
	near     [2][]float64 // a moment before and after
}

// resolved is a limb as inverse kinematics sees it.
type resolved struct {
	joints robot.Set
	list   []robot.JointID
	tip    kinematics.Place
	solver *ik.Solver

	anchor spatial.Pose // X_WT of a limb that stands while the base moves,
	stands bool         // if it does; then
	tick   uint64       // when it was last used
}

// Inverse kinematics within a tick: the answer is next to the command. A limb of fewer than
// six joints cannot have every pose: one that was rounded counts as the pose it can have.
const (
	limbIterations = 30
	limbRestarts   = 1
	LimbRounding   = 1e-6  // m, rad
	resolveMoment  = 0.004 // s, over which poses become velocities and accelerations of joints
)

// NewLimbSolver returns the inverse kinematics of a limb for use within a tick.
func NewLimbSolver(m *robot.Model, c *robot.Chain) (*ik.Solver, error) {
	o := ik.Options{MaxIterations: limbIterations, MaxRestarts: limbRestarts}
	if len(c.Joints) < 6 {
		o.PositionTolerance, o.RotationTolerance = LimbRounding, LimbRounding
	}
	return ik.New(m, o, c.Joints, c.VirtualTip)
}

// NewResolver returns a resolver for a robot.
func NewResolver(m *robot.Model) (*Resolver, error) {
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	n := m.NumQ()
	r := &Resolver{data: kinematics.NewData(m), q: make([]float64, n), v: make([]float64, m.NumV()), near: [2][]float64{make([]float64, n), make([]float64, n)},
		supports: make([]robot.LeafID, len(m.Chains())), stands: make([]bool, len(m.Chains()))}
	kinematics.NewSpace(m).NeutralTo(r.q)
	for _, j := range m.Joints() {
		r.index, r.speed = append(r.index, j.Q), append(r.speed, j.V)
	}
	for i, l := range res.Leaves() {
		switch l.Kind {
		case robot.SupportLeaf:
			r.supports[l.Chain], r.stands[l.Chain] = robot.LeafID(i), true
		case robot.BaseLeaf:
			r.base, r.floating = robot.LeafID(i), true
		}
	}
	for _, c := range m.Chains() {
		solver, err := NewLimbSolver(m, &c)
		if err != nil {
			return nil, err
		}
		x := resolved{list: c.Joints, tip: r.data.At(c.VirtualTip), solver: solver}
		for _, j := range c.Joints {
			x.joints = x.joints.With(robot.LeafID(j))
		}
		r.limbs = append(r.limbs, x)
	}
	return r, nil
}

// Resolve adds to a reference the joints that follow from its limbs and its base. It refuses
// a limb that is not the controller's, one that has references of some joints as well, and
// one that does not reach. Loop-safe.
func (r *Resolver) Resolve(input *Input, owns robot.Set, ref *Reference) Reason {
	leads := r.floating && ref.Has.Has(r.base) && owns.Has(r.base)
	if leads && ref.Com {
		if why := r.centre(input, ref); why.Code != OK {
			return why
		}
	}
	ready := false
	written := ref.Has
	for i := range r.limbs {
		if !leads && !ref.Limb[i].Has {
			continue
		}
		k := &r.limbs[i]
		tip := BaseRef(ref.Limb[i])
		switch {
		case written.Contains(k.joints): // the controller has resolved it itself
			continue
		case tip.Has && written.Overlaps(k.joints):
			return Because(BadProgram) // two answers for one joint
		case tip.Has:
			for leaf := range k.joints.Minus(owns).All {
				return NotOwned.At(robot.JointID(leaf), float64(leaf), 0)
			}
		case !leads || written.Overlaps(k.joints) || !owns.Contains(k.joints) || !r.carries(i, input, ref):
			continue
		}
		if !ready {
			r.seed(input)
			ready = true
		}
		if !tip.Has { // it stays where it stood when the base began to move
			if !k.stands || k.tick+1+input.Missed < input.Tick.N {
				k.anchor, k.stands = r.commanded(input).Pose.Mul(r.data.Pose(k.tip)), true
			}
			k.tick = input.Tick.N
			tip = BaseRef{Pose: k.anchor, Has: true}
		}
		if !tip.finite() {
			return NonFinite.At(k.list[0], float64(k.list[0]), 0)
		}
		base := r.commanded(input)
		if leads {
			base = ref.Base
		}
		if why := r.solve(k, &base, &tip, ref); why.Code != OK {
			return why
		}
	}
	return Because(OK)
}

// centre turns a reference of the centre of mass into one of the base's origin, with the joints as they are commanded: of
// the centre c seen from the base, P = P_c − R·c, v = v_c − ω×c − ċ, v̇ = v̇_c − ω̇×c − ω×ċ; c̈ is left out.
func (r *Resolver) centre(input *Input, ref *Reference) Reason {
	b := &ref.Base
	if !b.finite() {
		return NonFinite.At(robot.NoJoint, float64(r.base), 0)
	}
	r.seed(input)
	for j, at := range r.speed {
		r.v[at] = input.Cmd.V[j]
	}
	r.data.UpdateVelocity(r.v)
	c, ok := r.data.Com()
	rate, _ := r.data.ComVelocity()
	if !ok {
		return Because(NoMasses)
	}
	ω := b.Twist.Angular
	b.Pose.P = b.Pose.P.Sub(b.Pose.R.MulVec(c))
	b.Twist.Linear = b.Twist.Linear.Sub(ω.Cross(c)).Sub(rate)
	b.Acceleration.Linear = b.Acceleration.Linear.Sub(b.Acceleration.Angular.Cross(c)).Sub(ω.Cross(rate))
	return Because(OK)
}

// commanded is where the base is told to be.
func (r *Resolver) commanded(input *Input) BaseRef {
	if input.Cmd.Base.Has {
		return BaseRef{Pose: input.Cmd.Base.Pose, Has: true}
	}
	return BaseRef{Pose: spatial.IdentityPose, Has: true}
}

// carries reports whether a limb stands, by the reference or by the command.
func (r *Resolver) carries(chain int, input *Input, ref *Reference) bool {
	if !r.stands[chain] {
		return false
	}
	if ref.Has.Has(r.supports[chain]) {
		return ref.Support[chain].Weight > 0
	}
	return input.Cmd.Support[chain].Weight > 0
}

// seed begins at the command.
func (r *Resolver) seed(input *Input) {
	for j, at := range r.index {
		r.q[at] = input.Cmd.Q[j]
	}
	r.data.UpdatePosition(r.q)
}

// solve finds the joints of a limb, and how they move, by differences: q̇ ≈ (q₊ − q₋)/2h,
// q̈ ≈ (q₊ − 2q + q₋)/h².
func (r *Resolver) solve(k *resolved, base, tip *BaseRef, ref *Reference) Reason {
	if out := k.solver.PoseTo(r.q, base.Pose.Inverse().Mul(tip.Pose), r.q); out.Status != ik.Solved {
		code, joint := Unreachable, out.Joint
		if joint == robot.NoJoint {
			code, joint = LimbUnreachable, k.list[0]
		}
		return code.At(joint, max(out.PositionError, out.RotationError), LimbRounding)
	}
	moves := base.Twist != (spatial.Twist{}) || tip.Twist != (spatial.Twist{}) || base.Acceleration != (spatial.Twist{}) || tip.Acceleration != (spatial.Twist{})
	for side, h := range [2]float64{-resolveMoment, resolveMoment} {
		if moves {
			b, t := base.At(h), tip.At(h)
			moves = k.solver.PoseTo(r.near[side], b.Pose.Inverse().Mul(t.Pose), r.q).Status == ik.Solved
		}
	}
	for _, j := range k.list {
		at := r.index[j]
		ref.Q[j], ref.V[j], ref.A[j] = r.q[at], 0, 0
		if moves {
			before, after := r.near[0][at], r.near[1][at]
			ref.V[j] = (after - before) / (2 * resolveMoment)
			ref.A[j] = (after - 2*r.q[at] + before) / (resolveMoment * resolveMoment)
		}
	}
	ref.Has = ref.Has.Union(k.joints)
	return Because(OK)
}
