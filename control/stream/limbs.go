package stream

import (
	"math"

	"poise/control"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
)

// Limb is where the virtual tip of a chain is to be.
type Limb struct {
	Chain robot.ChainID `json:"chain"`
	Pose  spatial.Pose  `json:"pose"`  // X_WT, or X_BT if the sample is InBase
	Twist spatial.Twist `json:"twist"` // of the tip's origin, in the axes of that frame
	Moves bool          `json:"moves"` // Twist counts
}

// chain is a limb as inverse kinematics sees it.
type chain struct {
	joints robot.Set
	list   []robot.JointID
	tip    kinematics.Place
	solver *ik.Solver
	anchor spatial.Pose // X_WT where it stands while the base is led,
	stands bool         // if it does
}

// limbs resolves Cartesian references into joints. Its memory is made once.
type limbs struct {
	chains   []chain
	data     *kinematics.Data
	index    kinematics.Index // of each joint in a configuration
	q, later []float64
	base     robot.LeafID
	floating bool
	out      Sample    // the resolved sample
	v        []float64 // its velocities, where twists say some
}

// fastestLimb is the largest coordinate of a twist that is one of a limb, m/s or rad/s.
const fastestLimb = 100

// twistStep is over which twists become velocities of joints, s.
const twistStep = 0.004

// Largest distance to the next pose of the base: legs go there joint by joint, so feet
// stay where they stand only while steps are small.
const (
	baseStep = 0.02 // m
	baseTurn = 0.05 // rad
)

func newLimbs(m *robot.Model) (l limbs, err error) {
	n := len(m.Joints())
	l = limbs{data: kinematics.NewData(m), index: kinematics.NewIndex(m), q: make([]float64, m.NumQ()), later: make([]float64, m.NumQ()), v: make([]float64, n)}
	l.out.Q = make([]float64, n)
	kinematics.NewSpace(m).NeutralTo(l.q)
	for _, c := range m.Chains() {
		s, err := control.NewLimbSolver(m, &c)
		if err != nil {
			return l, err
		}
		x := chain{list: c.Joints, tip: l.data.At(c.VirtualTip), solver: s}
		for _, j := range c.Joints {
			x.joints = x.joints.With(robot.LeafID(j))
		}
		l.chains = append(l.chains, x)
	}
	return l, nil
}

// release forgets where feet stand.
func (l *limbs) release() {
	for i := range l.chains {
		l.chains[i].stands = false
	}
}

// resolve turns the Cartesian references of a sample into those of joints. It refuses a
// limb that is not the controller's, and one that does not reach its pose. The answer is
// valid until the next call. Loop-safe.
func (c *Controller) resolve(input *control.Input, s *Sample) (*Sample, control.Reason) {
	l := &c.limbs
	l.out.At, l.out.Stream, l.out.Joints, l.out.V = s.At, s.Stream, robot.Set{}, nil
	X_WB := spatial.IdentityPose
	if input.Cmd.Base.Has {
		X_WB = input.Cmd.Base.Pose
	}
	l.index.ConfigurationTo(l.q, input.Cmd.Q) // for anchors
	if s.Base != nil {
		if why := c.stand(input, s, X_WB); why.Code != control.OK {
			return nil, why
		}
		X_WB = *s.Base
	}
	for leaf := range c.own.Intersect(c.given).All { // seeds: where joints are on their way to
		l.q[l.index[leaf]] = c.goal[leaf]
	}
	moves := s.Base == nil
	for i := range s.Limbs {
		x := &s.Limbs[i]
		X_BT := x.Pose
		if !s.InBase {
			X_BT = X_WB.Inverse().Mul(x.Pose)
		}
		l.chains[x.Chain].stands = false
		if why := c.solve(int(x.Chain), X_BT); why.Code != control.OK {
			return nil, why
		}
		moves = moves && x.Moves && l.differentiate(x, X_BT, X_WB, s.InBase)
	}
	for i := range l.chains {
		if k := &l.chains[i]; s.Base != nil && k.stands {
			if why := c.solve(i, X_WB.Inverse().Mul(k.anchor)); why.Code != control.OK {
				return nil, why
			}
		}
	}
	if moves {
		l.out.V = l.v
	}
	return &l.out, control.Because(control.OK)
}

// stand anchors the feet that stand, over which the base is led to a new pose.
func (c *Controller) stand(input *control.Input, s *Sample, X_WB spatial.Pose) control.Reason {
	l := &c.limbs
	if !l.floating || !input.Own.Has(l.base) {
		return control.NotOwned.At(robot.NoJoint, float64(l.base), 0)
	}
	if d := s.Base.P.Sub(X_WB.P).Norm(); d > baseStep {
		return control.BaseTooFar.At(robot.NoJoint, d, baseStep)
	}
	if d := X_WB.R.Transpose().Mul(s.Base.R).Quat().Log().Norm(); d > baseTurn {
		return control.BaseTooFar.At(robot.NoJoint, d, baseTurn)
	}
	l.data.UpdatePosition(l.q)
	any := false
	for i := range l.chains {
		k := &l.chains[i]
		if !c.said[i] {
			c.weight[i] = input.Cmd.Support[i].Weight
		}
		switch {
		case !c.stands[i] || c.weight[i] <= 0 || s.speaksOf(i):
			k.stands = false
			continue
		case !k.stands:
			k.anchor, k.stands = X_WB.Mul(l.data.Pose(k.tip)), true
		}
		c.said[i], any = true, true
	}
	if !any {
		return control.Because(control.NothingStands)
	}
	return control.Because(control.OK)
}

// speaksOf reports whether a sample says where a chain's tip is to be.
func (s *Sample) speaksOf(chain int) bool {
	for i := range s.Limbs {
		if int(s.Limbs[i].Chain) == chain {
			return true
		}
	}
	return false
}

// solve finds the joints of a limb whose tip is to be at X_BT.
func (c *Controller) solve(i int, X_BT spatial.Pose) control.Reason {
	l := &c.limbs
	k := &l.chains[i]
	for leaf := range k.joints.Minus(c.own).All {
		return control.NotOwned.At(robot.JointID(leaf), float64(leaf), 0)
	}
	if k.joints.Overlaps(l.out.Joints) {
		return control.Because(control.BadProgram) // two limbs over one joint
	}
	if r := k.solver.PoseTo(l.q, X_BT, l.q); r.Status != ik.Solved {
		joint := r.Joint
		code := control.Unreachable
		if joint == robot.NoJoint {
			code, joint = control.LimbUnreachable, k.list[0]
		}
		return code.At(joint, max(r.PositionError, r.RotationError), control.LimbRounding)
	}
	for _, j := range k.list {
		l.out.Q[j] = l.q[l.index[j]]
	}
	l.out.Joints = l.out.Joints.Union(k.joints)
	return control.Because(control.OK)
}

// differentiate turns the twist of a limb that was just solved into velocities of its joints.
func (l *limbs) differentiate(x *Limb, X_BT, X_WB spatial.Pose, inBase bool) bool {
	v, w := x.Twist.Linear, x.Twist.Angular
	if !inBase {
		v, w = X_WB.R.TMulVec(v), X_WB.R.TMulVec(w)
	}
	X := spatial.Pose{P: X_BT.P.Add(v.Scale(twistStep)), R: spatial.ExpRotation(w.Scale(twistStep)).Matrix().Mul(X_BT.R)}
	k := &l.chains[x.Chain]
	if k.solver.PoseTo(l.later, X, l.q).Status != ik.Solved {
		return false
	}
	for _, j := range k.list {
		l.v[j] = (l.later[l.index[j]] - l.q[l.index[j]]) / twistStep
	}
	return true
}

// sane reports what of the Cartesian references of a sample is no place for this robot.
func (l *limbs) sane(s *Sample) control.Reason {
	if s.Base != nil && !isPose(s.Base) {
		return control.NonFinite.At(robot.NoJoint, float64(l.base), 0)
	}
	for i := range s.Limbs {
		x := &s.Limbs[i]
		if x.Chain < 0 || int(x.Chain) >= len(l.chains) {
			return control.Because(control.BadProgram)
		}
		if !isPose(&x.Pose) || x.Moves && !(x.Twist.Linear.Finite() && x.Twist.Angular.Finite()) {
			return control.NonFinite.At(l.chains[x.Chain].list[0], 0, 0)
		}
		if v := max(largest(x.Twist.Linear), largest(x.Twist.Angular)); x.Moves && v > fastestLimb {
			return control.LimbTooFast.At(l.chains[x.Chain].list[0], v, fastestLimb)
		}
	}
	return control.Because(control.OK)
}

// largest returns the largest coordinate of a vector: it does not overflow, as the norm may.
func largest(v spatial.Vec3) float64 { return max(math.Abs(v.X), math.Abs(v.Y), math.Abs(v.Z)) }

// isPose reports whether a tip can be there: numbers, and a rotation.
func isPose(X *spatial.Pose) bool {
	const roundoff = 1e-6 // of a quaternion in a message
	E := X.R.Transpose().Mul(X.R)
	for i, e := range E {
		if d := e - spatial.Identity3[i]; !(d <= roundoff && d >= -roundoff) {
			return false
		}
	}
	return X.P.Finite() && X.R.Col(0).Cross(X.R.Col(1)).Dot(X.R.Col(2)) > 0
}
