package stage

import (
	"math"

	"poise/contact"
	"poise/control"
	"poise/robot"
	"poise/spatial"
	"poise/wholebody"
)

// Velocities by which something that is behind may catch up.
const (
	baseCatches  = 0.3 // m/s
	baseTurns    = 1.5 // rad/s
	limbCatches  = 0.5 // m/s
	jointCatches = 2.0 // rad/s
	wildest      = 100 // rad/s: a joint that moved by more was put there
)

// ask takes over which positions joints are asked for, and with which velocities they come there.
func (s *Stage) ask(c *control.Motion, a []float64, dt float64) {
	for i := range s.wanted {
		v := (c.Q[i] - s.wanted[i]) / dt
		if !(math.Abs(v) < wildest) {
			v = 0
		}
		s.asked[i], s.wanted[i] = v+dt/2*a[i], c.Q[i]
	}
}

// fix finds the joints that no servo moves: they are where the command has them.
func (s *Stage) fix(c *control.Motion, a []float64, servos *Servos) {
	s.r.Fixed = s.r.Fixed[:0]
	for i, j := range s.m.Joints() {
		if s.fixed[i] = j.Virtual || !servos.Powered(i); !s.fixed[i] {
			continue
		}
		if !servos.Powered(i) && !j.Virtual { // it hangs, and readings are noisy
			s.asked[i] = 0
			s.r.Fixed = append(s.r.Fixed, wholebody.Joint{V: j.V})
		} else {
			s.r.Fixed = append(s.r.Fixed, wholebody.Joint{V: j.V, Acceleration: max(-steepest, min(steepest, a[i]))})
		}
		s.q[j.Q], s.v[j.V] = c.Q[i], s.asked[i]
	}
}

// tasks sets up what the base, limbs and joints are asked for.
func (s *Stage) tasks(c *control.Motion, a []float64, dt float64) {
	s.base(c)
	s.r.HasZMP, s.r.ZMP = c.ZMP.Has, contact.Point{X: c.ZMP.X, Y: c.ZMP.Y}
	s.r.Limbs, s.r.Joints = s.r.Limbs[:0], s.r.Joints[:0]
	s.leaves = [4]robot.Set{}
	s.leaves[groupBase] = s.leaves[groupBase].With(s.leaf)
	s.fadeIn(dt)
	for i := range s.m.Chains() {
		s.cartesic[i] = s.limb(i, &c.Limb[i], c.Point[i])
		s.Limbs[i].Point = s.cartesic[i]
	}
	ω := s.ω
	for i := range s.pull {
		s.pull[i] = math.NaN()
	}
	for i, j := range s.m.Joints() {
		led, rest := s.led(i, c)
		if s.fixed[i] || led && !rest {
			continue
		}
		catch := min(s.bounds[i].Velocity, jointCatches)
		e := max(-catch, min(catch, ω/2*(s.wanted[i]-s.q[j.Q])))
		s.r.Joints = append(s.r.Joints, wholebody.Joint{V: j.V, Acceleration: s.follows[i] * (a[i] + 2*ω*(s.asked[i]+e-s.v[j.V]))})
		if !led {
			s.leaves[groupPosture] = s.leaves[groupPosture].With(robot.LeafID(i))
		}
	}
}

// fadeIn lets a leg that has left the ground follow its own reference gradually: until then it moved as
// the base made it.
func (s *Stage) fadeIn(dt float64) {
	for i := range s.follows {
		s.follows[i] = 1
	}
	for i := range s.feet {
		f := &s.feet[i]
		if !f.can {
			continue
		}
		if f.share > 0 {
			f.free = 0
			continue
		}
		f.free = min(1, f.free+dt/fadeTime)
		if f.planned {
			f.free = 1
		}
		for _, j := range s.m.Chains()[i].Joints {
			s.follows[j] = f.free
		}
	}
}

// led reports whether a joint is of a limb whose point is led, and whether it has what that leaves.
func (s *Stage) led(joint int, c *control.Motion) (led, rest bool) {
	for i := range s.m.Chains() {
		if !s.cartesic[i] {
			continue
		}
		for _, j := range s.m.Chains()[i].Joints {
			if int(j) == joint {
				return true, c.Point[i] && !s.Limbs[i].Lands
			}
		}
	}
	return false, false
}

// base asks the base to be where it is commanded to be.
func (s *Stage) base(c *control.Motion) {
	ref := &c.Base
	R := ref.Pose.R
	now := s.kin.BodyPose(1)
	v, turn := ref.Twist.Linear, ref.Twist.Angular
	lin := now.R.MulVec(spatial.Vec3{X: s.v[0], Y: s.v[1], Z: s.v[2]})
	ang := now.R.MulVec(spatial.Vec3{X: s.v[3], Y: s.v[4], Z: s.v[5]})
	ω := s.ω
	s.lag = ref.Pose.P.Sub(now.P).Norm()
	off := clipped(ref.Pose.P.Sub(now.P).Scale(ω/2), baseCatches)
	tilt := clipped(R.Quat().Mul(now.R.Quat().Conj()).Log().Scale(ω/2), baseTurns)
	s.r.Base.Linear = R.MulVec(ref.Acceleration.Linear.Add(turn.Cross(v))).Add(R.MulVec(v).Add(off).Sub(lin).Scale(2 * ω))
	s.r.Base.Angular = R.MulVec(ref.Acceleration.Angular).Add(R.MulVec(turn).Add(tilt).Sub(ang).Scale(2 * ω))
	s.held = false
	if s.r.HasCom = s.cfg.Com || c.Com; s.r.HasCom {
		s.centre(ref, R.MulVec(ref.Acceleration.Linear.Add(turn.Cross(v))))
		s.r.Com = s.affordable(s.r.Com)
		s.r.Com.Z = s.reachable(s.r.Com, s.r.Base.Angular, now.P)
	} else {
		arm := s.com.Sub(now.P)
		about := s.r.Base.Angular.Cross(arm).Add(ang.Cross(ang.Cross(arm))) // of the centre of mass beside the base's origin
		s.r.Base.Linear = s.affordable(s.r.Base.Linear.Add(about)).Sub(about)
		s.r.Base.Linear.Z = s.reachable(s.r.Base.Linear, s.r.Base.Angular, now.P)
	}
	want := R.MulVec(v)
	if s.low, s.down = ref.Pose.P.Z-now.P.Z, -lin.Z; want.Z < -sinking/2 {
		s.low = 0 // it is to go down
	}
	s.State.Base = 1
	if n := want.Norm(); n > 1e-3 {
		s.State.Base = max(0, min(1, lin.Dot(want)/(n*n)))
	}
}

// centre asks the centre of mass to be where that of the command is: it accelerates as the base does.
func (s *Stage) centre(ref *control.BaseRef, a spatial.Vec3) {
	Q, X := ref.Pose.R.Quat(), ref.Pose.P
	s.qc[0], s.qc[1], s.qc[2], s.qc[3], s.qc[4], s.qc[5], s.qc[6] = X.X, X.Y, X.Z, Q.X, Q.Y, Q.Z, Q.W
	for k, x := range [2]spatial.Vec3{ref.Twist.Linear, ref.Twist.Angular} {
		s.vc[3*k], s.vc[3*k+1], s.vc[3*k+2] = x.X, x.Y, x.Z
	}
	for i, j := range s.m.Joints() {
		s.qc[j.Q], s.vc[j.V] = s.wanted[i], s.asked[i]
	}
	s.asks.UpdatePosition(s.qc)
	s.asks.UpdateVelocity(s.vc)
	com, _ := s.asks.Com()
	v, _ := s.asks.ComVelocity()
	off := clipped(com.Sub(s.com).Scale(s.ω/2), baseCatches)
	s.r.Com = a.Add(v.Add(off).Sub(s.vcom).Scale(2 * s.ω))
}

func clipped(v spatial.Vec3, most float64) spatial.Vec3 {
	if n := v.Norm(); n > most {
		return v.Scale(most / n)
	}
	return v
}

// limb asks the point of a free limb to be where it is commanded to be, or to come down to the
// ground. It reports whether it is led so; otherwise its joints are.
func (s *Stage) limb(i int, ref *control.LimbRef, point bool) bool {
	f := &s.feet[i]
	if f.can && f.share > 0 || !ref.Has && !s.Limbs[i].Lands {
		return false
	}
	chain := &s.m.Chains()[i]
	for _, j := range chain.Joints {
		if s.fixed[j] && !s.m.Joints()[j].Virtual {
			return false
		}
	}
	var origin spatial.Vec3
	if chain.Contact != robot.NoContact {
		origin, _ = s.models[chain.Contact].Origin()
	}
	tip := s.kin.At(chain.Tip)
	place := tip.Offset(spatial.Pose{R: spatial.Identity3, P: origin})
	s.kin.JacobianTo(s.J, place)
	if s.nearlySingular(chain) {
		return false
	}
	X, t, ω := s.kin.Pose(tip), s.kin.Twist(place), s.ω
	limb := wholebody.Limb{Chain: robot.ChainID(i), Turns: turns(chain, s.m)}
	if s.Limbs[i].Lands {
		limb.Linear = spatial.Vec3{Z: -landing}.Sub(t.Linear).Scale(2 * ω)
		limb.Angular = t.Angular.Scale(-2 * ω)
	} else {
		if point {
			limb.Turns, limb.Yields = 0, true
		}
		m := s.motionOf(i, ref, origin)
		off := clipped(m.at.Sub(X.Apply(origin)).Scale(ω/2), limbCatches)
		turn := clipped(m.R.Quat().Mul(X.R.Quat().Conj()).Log().Scale(ω/2), baseTurns)
		limb.Linear = m.linear.Add(m.velocity.Add(off).Sub(t.Linear).Scale(2 * ω))
		limb.Angular = m.angular.Add(m.rate.Add(turn).Sub(t.Angular).Scale(2 * ω))
	}
	if f.can {
		limb.Linear, limb.Angular = limb.Linear.Scale(f.free), limb.Angular.Scale(f.free)
	}
	s.r.Limbs = append(s.r.Limbs, limb)
	for _, j := range chain.Joints {
		s.leaves[groupLimbs] = s.leaves[groupLimbs].With(robot.LeafID(j))
	}
	return true
}

// limbMotion is how a point of a limb's tip is to move, and the tip to turn.
type limbMotion struct {
	at, velocity, linear spatial.Vec3
	R                    spatial.Mat3 // of the tip
	rate, angular        spatial.Vec3
}

// motionOf returns that of a limb that is led.
func (s *Stage) motionOf(i int, ref *control.LimbRef, origin spatial.Vec3) (m limbMotion) {
	chain := &s.m.Chains()[i]
	b := control.BaseRef(*ref)
	X_VT := s.kin.Pose(s.kin.At(chain.VirtualTip)).Inverse().Mul(s.kin.Pose(s.kin.At(chain.Tip)))
	p, R := X_VT.Apply(origin), b.Pose.R
	v, w, vd, wd := b.Twist.Linear, b.Twist.Angular, b.Acceleration.Linear, b.Acceleration.Angular
	m.at, m.R = b.Pose.Apply(p), R.Mul(X_VT.R)
	m.velocity, m.rate = R.MulVec(v.Add(w.Cross(p))), R.MulVec(w)
	m.linear, m.angular = R.MulVec(vd.Add(w.Cross(v)).Add(wd.Cross(p)).Add(w.Cross(w.Cross(p)))), R.MulVec(wd)
	return m
}

// turns is how many components of a tip's rotation its joints can serve beside its point.
func turns(c *robot.Chain, m *robot.Model) int {
	n := 0
	for _, j := range c.Joints {
		if !m.Joints()[j].Virtual {
			n++
		}
	}
	switch {
	case n >= 6:
		return 3
	case n == 5:
		return 2
	}
	return 0
}

// nearlySingular reports whether a limb is nearly straight: its joints hardly move its point, of which J
// has the Jacobian, in some direction.
func (s *Stage) nearlySingular(c *robot.Chain) bool {
	n := len(s.v)
	var G spatial.Mat3
	for _, id := range c.Joints {
		j := &s.m.Joints()[id]
		if j.Virtual {
			continue
		}
		x := [3]float64{s.J[j.V], s.J[n+j.V], s.J[2*n+j.V]}
		for a := range 3 {
			for b := range 3 {
				G[3*a+b] += x[a] * x[b]
			}
		}
	}
	λ, _ := spatial.Principal(G)
	return min(λ[0], λ[1], λ[2]) < singular*singular
}

// limit sets up what torques joints may have: at their speed, and beside those of the tick before.
func (s *Stage) limit(servos *Servos, dt float64) {
	r := &s.r
	r.Before, r.Slew = s.given, s.slews
	for i, j := range s.m.Joints() {
		k, effort := j.V-6, s.bounds[i].Effort
		r.Armature[k], r.Slew[k] = 0, math.Inf(1)
		r.MaxTorque[k], r.MinTorque[k] = math.Inf(1), math.Inf(-1)
		if s.fixed[i] {
			continue
		}
		r.MaxTorque[k], r.MinTorque[k], r.Slew[k] = effort, -effort, effort*dt/slewTime
		if m := servos.Model(i); m != nil {
			at := m.AtJoint()
			volts := servos.Volts
			if !(volts > 0) {
				volts = m.Voltage
			}
			r.Armature[k] = at.A[0] / at.A[3]
			least, most := m.Range(s.v[j.V], 0, volts)
			if least <= most {
				r.MaxTorque[k], r.MinTorque[k] = min(r.MaxTorque[k], max(most, -effort)), max(r.MinTorque[k], min(least, effort))
			}
		}
	}
	if !s.torques { // those of the first tick may be any
		r.Before, r.Slew = nil, nil
	}
}

// afford cuts the accelerations asked of joints to what their motors give in this tick with the rest of the robot at
// rest: posture is above the base, and legs would otherwise turn a head that is too slow.
func (s *Stage) afford() {
	r := &s.r
	s.solver.LoadsTo(s.inertia, s.bias, s.q, s.v, r)
	for i := range r.Joints {
		x := &r.Joints[i]
		k := x.V - 6
		I, bias := s.inertia[x.V], s.bias[x.V]
		if low, high := (r.MinTorque[k]-bias)/I, (r.MaxTorque[k]-bias)/I; low <= high {
			x.Acceleration = max(low, min(high, x.Acceleration))
		}
		if was := s.answer.Acceleration[x.V]; s.torques { // and its torque does not jump
			x.Acceleration = max(was-s.slews[k]/I, min(was+s.slews[k]/I, x.Acceleration))
		}
		s.pull[k] = x.Acceleration
	}
}

// brake sets up by how much joints may accelerate: §6.2 of the design notes has the formula,
//
//	a ≤ min(a_max, (v_max − v)/dt, (√(2·a·(q_max − q − dt·v)) − v)/dt)
//
// with four fifths of the deceleration, so that a joint comes to rest before its limit.
func (s *Stage) brake(dt float64) {
	s.findStanding()
	r := &s.r
	for i, j := range s.m.Joints() {
		k, b := j.V-6, &s.bounds[i]
		r.MaxAcceleration[k], r.MinAcceleration[k] = math.Inf(1), math.Inf(-1)
		if s.fixed[i] {
			continue
		}
		q, v := s.q[j.Q], s.v[j.V]
		up, down := most(b.Acceleration), most(b.Deceleration)
		brake := 0.8 * min(up, down)
		high := min(up, (b.Velocity-v)/dt, (math.Sqrt(2*brake*max(0, b.Upper-q-dt*v))-v)/dt)
		low := max(-up, (-b.Velocity-v)/dt, (-math.Sqrt(2*brake*max(0, q+dt*v-b.Lower))-v)/dt)
		worst := max(up, down)
		high, low = max(-worst, min(worst, high)), max(-worst, min(worst, low))
		if pull := s.pull[k]; s.helps && !s.stands[i] && pull == pull {
			x := max(low, min(high, pull))
			high, low = min(high, max(x, 0)+helpBy), max(low, min(x, 0)-helpBy) // less is allowed: limits are above the balance
		}
		if low > high {
			x := max(-worst, min(worst, -v/dt))
			high, low = x, x
		}
		r.MaxAcceleration[k], r.MinAcceleration[k] = high, low
	}
}

// findStanding finds the joints of limbs that stand.
func (s *Stage) findStanding() {
	clear(s.stands)
	for i := range s.feet {
		if s.feet[i].share > 0 {
			for _, j := range s.m.Chains()[i].Joints {
				s.stands[j] = true
			}
		}
	}
}

// most is a limit of acceleration, where a joint declares one.
func most(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return steepest
	}
	return x
}

// groups of rows that leaves ask for.
const (
	groupPosture = iota
	groupBase
	groupLimbs
)

// tell notes how the levels and the limbs were served.
func (s *Stage) tell() {
	for i := range s.m.Chains() {
		limb := &s.Limbs[i]
		up, asked := 0.0, 0.0
		for _, j := range s.m.Chains()[i].Joints {
			up, asked = up+s.V[j]*s.asked[j], asked+s.asked[j]*s.asked[j]
		}
		if asked > 1e-4 {
			limb.Ratio = max(0, min(1, up/asked))
		}
	}
	s.State.Prevented = s.held
	for i := range s.Limbs {
		s.State.Prevented = s.State.Prevented || s.Limbs[i].Kept
	}
	if s.State.Why == BadInput {
		return
	}
	specs := s.r.Levels
	if specs == nil {
		specs = s.r.Order.Levels()
	}
	s.Levels = s.Levels[:min(len(s.answer.Levels), cap(s.Levels))]
	for k := range s.Levels {
		from, to := &s.answer.Levels[k], &s.Levels[k]
		active := append(to.Active[:0], from.Active...)
		*to = LevelState{Name: from.Name, Residual: from.Residual, Slack: from.Slack, Status: from.Status, Iterations: from.Iterations, Safety: from.Safety, Active: active}
		for n := range specs {
			if specs[n].Name != from.Name {
				continue
			}
			for _, g := range specs[n].Rows {
				to.Asked = to.Asked.Union(s.askedOf(g))
				s.State.Prevented = s.State.Prevented || g == wholebody.CaptureRows && len(active) > 0
			}
		}
	}
}

// askedOf returns the leaves whose references a group of rows serves.
func (s *Stage) askedOf(g wholebody.Rows) robot.Set {
	switch g {
	case wholebody.PostureRows:
		return s.leaves[groupPosture]
	case wholebody.BaseRows, wholebody.BaseHeightTiltRows, wholebody.BasePlaneRows, wholebody.ZMPTrajectoryRows:
		return s.leaves[groupBase]
	case wholebody.LimbRows:
		return s.leaves[groupLimbs]
	}
	return robot.Set{}
}
