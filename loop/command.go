package loop

import (
	"math"

	"poise/servo"
	"poise/trajectory/move"
)

// limit makes the command: reference plus offset, through the gate.
func (l *Loop) limit() {
	for j := range l.wish {
		if l.mode[j] != servo.Position {
			l.follow(j)
			continue
		}
		w := l.wish[j]
		if o := l.bridge.Offset(j, l.now); o != (move.State{}) {
			w = move.State{P: w.P + o.P, V: w.V + o.V, A: w.A + o.A}
		}
		q, v, a, cut := l.limiter.Apply(j, w.P, l.tick.Dt)
		if cut != 0 {
			// the command is not what the bridge thinks: begin again from here
			w = move.State{P: q, V: v, A: a}
			l.fresh[j] = true
		}
		l.cut[j] = cut
		// what a reference claims of its speed may be anything
		b := l.limiter.Bounds(j)
		w.V, w.A = within(w.V, b.Velocity), within(w.A, max(b.Acceleration, b.Deceleration))
		l.state[j] = w
		l.command.Q[j], l.command.V[j], l.command.A[j] = w.P, w.V, w.A
	}
}

// within bounds a number, unless rounding is all that it exceeds the bound by.
func within(x, bound float64) float64 {
	if math.Abs(x) <= bound*(1+claimSlack) {
		return x
	}
	return math.Copysign(bound, x)
}

// claimSlack is how far beyond a limit rounding leads a reference that keeps it.
const claimSlack = 1e-6

// follow lets the command of a joint without torque be where the joint is, at
// rest: whoever plans from the command then plans from the truth. A joint that
// was never read has none.
func (l *Loop) follow(j int) {
	l.cut[j] = 0
	if l.reading[j].Age == servo.Never {
		return
	}
	q := l.reading[j].Position
	l.state[j] = move.State{P: q}
	l.limiter.Reset(j, q)
	l.command.Q[j], l.command.V[j], l.command.A[j] = q, 0, 0
}

// stiffSlope is how fast stiffness changes at most, 1/s: a limb that sags must
// not snap.
const stiffSlope = 4

// dynamics completes the command by what is not motion: feed-forward, stiffness,
// base, limbs, supports and typed values.
func (l *Loop) dynamics() {
	m, w := &l.command, &l.merge.Motion
	step := stiffSlope * l.tick.Dt
	for j := range m.Stiff {
		m.Stiff[j] += min(max(w.Stiff[j]-m.Stiff[j], -step), step)
		if l.mode[j] != servo.Position {
			m.Stiff[j] = w.Stiff[j]
		}
	}
	copy(m.Tau, w.Tau)
	copy(m.Limb, w.Limb)
	copy(m.Support, w.Support)
	copy(m.Output, w.Output)
	m.Base = w.Base
	l.poses.apply(l)
}

// invert turns commands into setpoints.
func (l *Loop) invert() {
	for j := range l.setpoint {
		s := l.cfg.Lead.Invert(l.command.Q[j], l.command.V[j], l.tick.Dt)
		s.Mode, s.Stiffness = l.mode[j], l.command.Stiff[j]
		l.setpoint[j] = s
	}
}

// guard makes setpoints sane, whatever the servo model said.
func (l *Loop) guard() {
	for j := range l.setpoint {
		l.guards.Apply(j, &l.setpoint[j], &l.reading[j], l.tick.Dt)
	}
}
