package sim

import (
	"math"

	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// Step moves the state by one step. After a fault the state is what it was. Loop-safe.
func (d *Data) Step(s *State, input *Input) Fault {
	m := d.m
	if len(input.Drives) != len(m.joints) {
		panic("sim: one Drive per joint")
	}
	m.weld(s, input.Drives)
	if d.coasts(input.Drives) {
		d.look(s, input)
		if len(d.touches) == 0 && len(d.rows) == 0 {
			return d.coast(s, input)
		}
	}

	// what acts does so in the middle of the step
	mid := &d.mid
	copy(mid.Q, s.Q)
	copy(mid.V, s.V)
	mid.impulse, mid.bound, mid.dry = s.impulse, s.bound, s.dry
	m.advance(mid, s.V, m.h/2)
	d.look(mid, input)
	if fault := d.free(mid, input.Drives); fault != OK {
		return fault
	}
	d.prepare()
	μ := DefaultFriction
	if input.Ground != nil {
		μ = input.Ground.Friction
	}
	d.guess(μ)
	for range m.sweeps {
		d.sweep(μ)
	}
	if d.refineBias(mid) {
		for range (m.sweeps + 1) / 2 {
			d.sweep(μ)
		}
	}
	m.spread(d.z, d.a)
	clear(d.v)
	for r, v := range m.dof {
		d.v[v] = d.z[r]
	}
	copy(d.push, d.v)
	if d.moveApart() {
		m.spread(d.shift, d.a)
		for r, v := range m.dof {
			d.push[v] += 2 * d.shift[r] // in half the time
		}
	}
	if !bounded(d.push, fastest) || !bounded(d.v, fastest) {
		return Diverged
	}
	d.finish(s, input.Drives)
	return OK
}

// look finds what acts on the robot in a state: pushes, contacts, limits, dry friction.
func (d *Data) look(s *State, input *Input) {
	d.kin.UpdatePosition(s.Q)
	d.kin.UpdateVelocity(s.V)
	d.takePushes(input.Pushes)
	d.detect(s, input)
	d.limits(s)
}

// finish takes over the new velocity, position and impulses.
func (d *Data) finish(s *State, drives []Drive) {
	m := d.m
	copy(s.Q, d.mid.Q)
	copy(s.V, d.v)
	m.advance(s, d.push, m.h/2)
	for i := range m.joints {
		if j := &m.joints[i]; j.row >= 0 {
			d.torque[i] = drives[i].torque(s.Q[j.q], s.V[j.v])
		}
	}
	clear(s.impulse)
	for i := range d.touches {
		s.impulse[d.touches[i].slot] = d.touches[i].impulse()
	}
	clear(s.bound)
	clear(s.dry)
	for i := range d.rows {
		if r := &d.rows[i]; r.limit {
			s.bound[r.joint] = r.λ
		} else {
			s.dry[r.joint] = r.λ
		}
	}
	s.Tick++
}

// weld puts joints that no motor moves where they are to be.
func (m *Model) weld(s *State, drives []Drive) {
	for i := range m.joints {
		if j := &m.joints[i]; j.welded {
			if x := drives[i].Position; x-x == 0 {
				s.Q[j.q] = x
			}
			s.V[j.v] = 0
		}
	}
}

func placeOf(b robot.BodyID) kinematics.Place {
	return kinematics.Place{Body: b, Pose: spatial.IdentityPose}
}

func placeAt(b robot.BodyID, p spatial.Vec3) kinematics.Place {
	return kinematics.Place{Body: b, Pose: spatial.Pose{R: spatial.Identity3, P: p}}
}

// takePushes turns pushes into wrenches on bodies.
func (d *Data) takePushes(pushes []Push) {
	d.pushed = len(pushes) > 0
	if !d.pushed {
		return
	}
	clear(d.wrench)
	for _, p := range pushes {
		w := d.kin.WrenchOnBody(placeAt(p.Body, p.Point), spatial.Wrench{Force: p.Force})
		sum := &d.wrench[p.Body]
		sum.Force, sum.Torque = sum.Force.Add(w.Force), sum.Torque.Add(w.Torque)
	}
}

func (d *Data) load() dynamics.Load {
	l := dynamics.Load{Armature: d.armature}
	if d.pushed {
		l.Wrench = d.wrench
	}
	return l
}

// limits finds joints that reach a limit within the step, and those with dry friction.
func (d *Data) limits(s *State) {
	m, h := d.m, d.m.h
	d.rows = d.rows[:0]
	room := d.rowRoom
	add := func(r row, at int32) {
		r.path = m.path1(at)
		k := len(r.path)
		r.y, room = room[:k:k], room[k:]
		clear(r.y)
		r.y[0] = r.sign
		d.rows = append(d.rows, r)
	}
	for i := range m.joints {
		j := &m.joints[i]
		if j.row < 0 {
			continue
		}
		q, v := s.Q[j.q], s.V[j.v]
		within := limitReach + 2*h*math.Abs(v)
		lower, upper := q-j.lower, j.upper-q
		switch {
		case lower < within && lower <= upper:
			add(row{joint: i, limit: true, sign: 1, hi: math.Inf(1), close: math.Max(lower, 0) / h, beyond: -lower, λ: s.bound[i]}, j.row)
		case upper < within:
			add(row{joint: i, limit: true, sign: -1, hi: math.Inf(1), close: math.Max(upper, 0) / h, beyond: -upper, λ: s.bound[i]}, j.row)
		}
		if f := m.passive[i].dry(v); f > 0 {
			add(row{joint: i, sign: 1, lo: -h * f, hi: h * f, λ: s.dry[i]}, j.row)
		}
	}
}

// limitReach is how near to a limit a joint is watched, rad or m.
const limitReach = 0.01

// free finds the velocity without impulses: (1) of the package comment without λ. A motor
// that would give more than it can gives its limit instead, whatever the motion.
func (d *Data) free(s *State, drives []Drive) Fault {
	m, h := d.m, d.m.h
	d.dyn.MassMatrixTo(d.mass, s.Q, d.load())
	d.biasTo(d.bias, s.Q, s.V)
	clear(d.saturated)
	for round := 0; ; round++ {
		d.assemble(s, drives)
		if !m.factor(d.a) {
			return Singular
		}
		copy(d.z, d.rhs)
		m.carry(d.z, d.a)
		if round == maxSaturations {
			break
		}
		copy(d.rhs, d.z)
		m.spread(d.rhs, d.a)
		again := false
		for i := range m.joints {
			j, D := &m.joints[i], &drives[i]
			if j.row < 0 || D.Limit == 0 || d.saturated[i] != 0 {
				continue
			}
			v := d.rhs[j.row]
			if τ := D.Kp*(D.offset(s.Q[j.q])-m.implicit(i, D.Kp)*h*v) + D.Kd*(D.Velocity-v) + D.Effort; math.Abs(τ) > saturates*D.Limit {
				d.saturated[i], again = math.Copysign(D.Limit, τ), true
			}
		}
		if !again {
			break
		}
	}
	return OK
}

// How often it is asked which motors are too weak, and from where on they are. The last
// answer counts, asked or not.
const (
	maxSaturations = 12
	saturates      = 1 + 1e-9
)

// assemble makes A and the right side of (1).
func (d *Data) assemble(s *State, drives []Drive) {
	m, h := d.m, d.m.h
	nv, n := m.robot.NumV(), m.n
	for r := range n {
		d.rhs[r] = -h * d.bias[m.dof[r]]
	}
	for r := range n {
		v := int(m.dof[r])
		M := d.mass[v*nv : v*nv+nv]
		a := d.a[r*n : r*n+r+1]
		a[r] = M[v]
		vr := s.V[v]
		sum := M[v] * vr // M·v by its lower triangle
		for c := m.up[r]; c >= 0; c = m.up[c] {
			x := M[m.dof[c]]
			a[c] = x
			sum += x * s.V[m.dof[c]]
			d.rhs[c] += x * vr
		}
		d.rhs[r] += sum
	}
	for i := range m.joints {
		j, D, P := &m.joints[i], &drives[i], &m.passive[i]
		if j.row < 0 {
			continue
		}
		r := int(j.row)
		diagonal, force := P.Damping, P.Offset
		switch e := D.offset(s.Q[j.q]); {
		case d.saturated[i] != 0:
			force += d.saturated[i]
		default:
			force += D.Kp*e + D.Kd*D.Velocity + D.Effort
			if D.Slack == 0 || e != 0 {
				diagonal += h * D.Kp * m.implicit(i, D.Kp)
			}
			diagonal += D.Kd
		}
		d.a[r*n+r] += h * diagonal
		d.rhs[r] += h * force
	}
}

// biasTo computes what gravity and velocities ask for. The velocity of a free body is
// counted in its axes as they stand at the beginning of the step, so that turning axes
// ask for nothing.
func (d *Data) biasTo(dst, q, v []float64) {
	clear(d.still)
	for _, f := range d.m.free {
		u := v[f.v : f.v+6]
		d.still[f.v] = u[1]*u[5] - u[2]*u[4] // −ω × v
		d.still[f.v+1] = u[2]*u[3] - u[0]*u[5]
		d.still[f.v+2] = u[0]*u[4] - u[1]*u[3]
	}
	l := d.load()
	l.Armature = nil
	d.dyn.InverseTo(dst, q, v, d.still, l)
}

// refineBias takes what velocities ask for, where they are large, at the middle of the
// step: gyroscopes would gain energy otherwise. It reports whether anything changed.
func (d *Data) refineBias(s *State) bool {
	m, h := d.m, d.m.h
	slow := true
	for _, v := range m.dof {
		slow = slow && h*math.Abs(s.V[v]) < slowTurn
	}
	if slow {
		return false
	}
	copy(d.rhs, d.z)
	m.spread(d.rhs, d.a)
	copy(d.v, s.V)
	for r, v := range m.dof {
		d.v[v] = (s.V[v] + d.rhs[r]) / 2
	}
	d.biasTo(d.push, s.Q, d.v)
	for r, v := range m.dof {
		d.rhs[r] = h * (d.bias[v] - d.push[v])
	}
	m.carry(d.rhs, d.a)
	for r := range d.z {
		d.z[r] += d.rhs[r]
	}
	return true
}

// slowTurn is the motion within a step below which its middle is not asked for, rad or m.
const slowTurn = 1e-3

// advance moves the configuration with u for a time; u counts in the axes that free bodies
// had at the beginning. Their velocity is turned into the new axes.
func (m *Model) advance(s *State, u []float64, dt float64) {
	for i := range m.joints {
		if j := &m.joints[i]; j.row >= 0 {
			s.Q[j.q] += dt * u[j.v]
		}
	}
	for _, p := range m.planar {
		for k := range 3 {
			s.Q[p.q+k] += dt * u[p.v+k]
		}
	}
	for _, f := range m.free {
		q, w, v := s.Q[f.q:f.q+7], u[f.v:f.v+6], s.V[f.v:f.v+3]
		Q := spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}
		R := Q.Matrix()
		moved := R.MulVec(spatial.Vec3{X: dt * w[0], Y: dt * w[1], Z: dt * w[2]})
		turn := spatial.ExpRotation(spatial.Vec3{X: dt * w[3], Y: dt * w[4], Z: dt * w[5]})
		Q, _ = Q.Mul(turn).Unit()
		q[0], q[1], q[2] = q[0]+moved.X, q[1]+moved.Y, q[2]+moved.Z
		q[3], q[4], q[5], q[6] = Q.X, Q.Y, Q.Z, Q.W
		x := turn.Matrix().TMulVec(spatial.Vec3{X: v[0], Y: v[1], Z: v[2]})
		v[0], v[1], v[2] = x.X, x.Y, x.Z
	}
}

// coasts reports whether nothing acts that depends on motion or touches: then a step may
// be one of higher order.
func (d *Data) coasts(drives []Drive) bool {
	if d.m.resists {
		return false
	}
	for i := range drives {
		if d.m.joints[i].row >= 0 && (drives[i].Kp != 0 || drives[i].Kd != 0) {
			return false
		}
	}
	return true
}

// coast is a step of Runge and Kutta's method of fourth order.
func (d *Data) coast(s *State, input *Input) Fault {
	m, h := d.m, d.m.h
	clear(d.tau)
	for i := range m.joints {
		if j := &m.joints[i]; j.row >= 0 {
			d.tau[j.v] = input.Drives[i].clip(input.Drives[i].Effort) + m.passive[i].Offset
			d.torque[i] = input.Drives[i].clip(input.Drives[i].Effort)
		}
	}
	k := &d.stage
	copy(k[0].q, s.Q)
	copy(k[0].v, s.V)
	for i := range k {
		if i > 0 {
			dt := h / 2
			if i == 3 {
				dt = h
			}
			m.space.IntegrateTo(k[i].q, s.Q, k[i-1].v, dt)
			for c, v := range s.V {
				k[i].v[c] = v + dt*k[i-1].a[c]
			}
			if d.pushed {
				d.kin.UpdatePosition(k[i].q)
				d.takePushes(input.Pushes)
			}
		}
		if !d.accelerate(k[i].a, k[i].q, k[i].v) {
			return Singular
		}
	}
	for c := range d.v {
		d.push[c] = (k[0].v[c] + 2*k[1].v[c] + 2*k[2].v[c] + k[3].v[c]) / 6
		d.v[c] = s.V[c] + h*(k[0].a[c]+2*k[1].a[c]+2*k[2].a[c]+k[3].a[c])/6
	}
	if !bounded(d.push, fastest) || !bounded(d.v, fastest) {
		return Diverged
	}
	m.space.IntegrateTo(s.Q, s.Q, d.push, h)
	copy(s.V, d.v)
	clear(s.impulse)
	clear(s.bound)
	clear(s.dry)
	s.Tick++
	return OK
}

// accelerate solves for the acceleration under d.tau.
func (d *Data) accelerate(dst, q, v []float64) bool {
	m := d.m
	nv, n := m.robot.NumV(), m.n
	d.dyn.MassMatrixTo(d.mass, q, d.load())
	d.dyn.BiasTo(d.bias, q, v, d.load())
	for r := range n {
		i := int(m.dof[r])
		a := d.a[r*n : r*n+r+1]
		a[r] = d.mass[i*nv+i]
		for c := m.up[r]; c >= 0; c = m.up[c] {
			a[c] = d.mass[i*nv+int(m.dof[c])]
		}
		d.rhs[r] = d.tau[i] - d.bias[i]
	}
	if !m.factor(d.a) {
		return false
	}
	m.carry(d.rhs, d.a)
	m.spread(d.rhs, d.a)
	clear(dst)
	for r, i := range m.dof {
		dst[i] = d.rhs[r]
	}
	return true
}

func kinPlace(s *shape) kinematics.Place { return kinematics.Place{Body: s.body, Pose: s.pose} }

// path1 returns the rows that carry a row, itself first.
func (m *Model) path1(r int32) []int32 { return m.rowPath[r] }
