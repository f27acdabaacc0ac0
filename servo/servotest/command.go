package servotest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"poise/servo"
)

// towards returns a setpoint of a mode that pulls a joint, which is at q, one way or the
// other: by the goals of its mode, without feed-forward. Where a mode has no goal, all
// numbers are there.
func (m *machine) towards(mode servo.Mode, q, sign float64) servo.Setpoint {
	s := servo.Setpoint{Mode: mode, Stiffness: 1, PlayTime: m.Period,
		Position: q + sign*m.Step, Velocity: sign * m.Step / (float64(m.Ticks) * m.Period), Effort: sign * m.Effort,
		Kp: m.Effort / m.Step, Kd: 0.1 * m.Effort / m.Step}
	switch mode {
	case servo.Position, servo.Impedance:
		s.Velocity, s.Effort = 0, 0
	case servo.Velocity:
		s.Effort = 0
	}
	return s
}

// pulled returns where two machines come to that are told the same mode with opposite goals.
func (b *bench) pulled(mode servo.Mode) (m *machine, start, up, down []float64, err error) {
	var ends [2][]float64
	for k, sign := range []float64{1, -1} {
		if m, err = b.ready(); err != nil {
			return m, nil, nil, nil, err
		}
		at := m.positions()
		if k == 0 {
			start = at
		}
		m.tell(func(i int, s *servo.Setpoint) { *s = m.towards(mode, at[i], sign) })
		m.ticks(m.Ticks)
		ends[k] = m.positions()
		if err := m.close(); err != nil {
			return m, nil, nil, nil, err
		}
	}
	return m, start, ends[0], ends[1], b.violation()
}

// checkOff: a servo that is off gives no effort, whatever its setpoint says besides, also
// after it had torque.
func checkOff(b *bench) error {
	if !b.machine().can.Torque {
		return nil
	}
	for _, mode := range []servo.Mode{servo.Off, servo.Brake} {
		if m := b.machine(); !m.can.Modes.Has(mode) {
			continue
		}
		m, _, up, down, err := b.pulled(mode)
		if err != nil {
			return err
		}
		for i := range up {
			if math.Abs(up[i]-down[i]) > m.Tolerance {
				return fmt.Errorf("mode %v: joint %d follows its setpoint from %g to %g, must not", mode, i, down[i], up[i])
			}
		}
	}
	m, err := b.ready()
	if err != nil {
		return err
	}
	mode, err := m.powered()
	if err != nil {
		return err
	}
	at := m.positions()
	m.tell(func(i int, s *servo.Setpoint) { *s = m.towards(mode, at[i], 1) })
	m.ticks(m.Ticks)
	m.tell(func(i int, s *servo.Setpoint) { *s = m.towards(servo.Off, at[i], 1) })
	return m.until("servos that were switched off give no effort", func() bool {
		for i := range m.dst.Joints {
			if r := &m.dst.Joints[i]; math.Abs(r.Effort) > 0.01*m.Effort {
				return false
			}
		}
		return true
	})
}

// checkModes: every mode that is declared moves joints as it says.
func checkModes(b *bench) error {
	for mode := range b.machine().can.Modes.All {
		if !mode.Powered() {
			continue
		}
		m, start, up, down, err := b.pulled(mode)
		if err != nil {
			return fmt.Errorf("mode %v: %w", mode, err)
		}
		for i := range up {
			switch {
			case mode == servo.Position && (math.Abs(up[i]-start[i]-m.Step) > 2*m.Tolerance || math.Abs(down[i]-start[i]+m.Step) > 2*m.Tolerance):
				return fmt.Errorf("mode position: joint %d was told %g and %g, and is at %g and %g, must be within %g",
					i, start[i]+m.Step, start[i]-m.Step, up[i], down[i], 2*m.Tolerance)
			case up[i]-down[i] < m.Step/2:
				return fmt.Errorf("mode %v: joint %d came to %g and to %g when told the opposite, must differ by %g and more",
					mode, i, up[i], down[i], m.Step/2)
			}
		}
		for i := range m.dst.Joints {
			if f := m.dst.Joints[i].Fault; f&servo.BadMode != 0 {
				return fmt.Errorf("mode %v is declared, and joint %d reports BadMode", mode, i)
			}
		}
	}
	return nil
}

// checkOtherModes: a setpoint of a mode that is not declared, or does not exist, changes
// nothing and is reported.
func checkOtherModes(b *bench) error {
	for mode := range servo.NumModes + 2 {
		m, err := b.ready()
		if err != nil {
			return err
		}
		if m.can.Modes.Has(mode) {
			if err := m.close(); err != nil {
				return err
			}
			continue
		}
		at := m.positions()
		if m.can.Modes.Has(servo.Position) {
			m.hold(at)
			at = m.settled()
		}
		was := m.src[0]
		m.tell(func(i int, s *servo.Setpoint) { *s = m.towards(mode, at[i], 1) })
		if err := m.until(fmt.Sprintf("joints that are told mode %d report BadMode", mode), func() bool { return m.all(servo.BadMode) }); err != nil {
			return err
		}
		m.ticks(m.Ticks)
		if err := m.stays(at, fmt.Sprintf("told mode %d", mode)); err != nil {
			return err
		}
		if m.can.Modes.Has(was.Mode) {
			m.tell(func(i int, s *servo.Setpoint) { *s = was; s.Position = at[i] })
			if err := m.until("BadMode is gone", func() bool { return m.none(servo.BadMode) }); err != nil {
				return err
			}
		}
		if err := m.close(); err != nil {
			return err
		}
	}
	return nil
}

// all reports whether every joint has a fault.
func (m *machine) all(f servo.Fault) bool {
	for i := range m.dst.Joints {
		if m.dst.Joints[i].Fault&f == 0 {
			return false
		}
	}
	return true
}

// none reports whether no joint has a fault.
func (m *machine) none(f servo.Fault) bool {
	for i := range m.dst.Joints {
		if m.dst.Joints[i].Fault&f != 0 {
			return false
		}
	}
	return true
}

// checkNonFinite: a setpoint with a number that is not finite moves nothing, breaks no
// reading, and the next one is obeyed.
func checkNonFinite(b *bench) error {
	fields := []struct {
		name string
		of   func(s *servo.Setpoint) *float64
	}{
		{"Position", func(s *servo.Setpoint) *float64 { return &s.Position }},
		{"Velocity", func(s *servo.Setpoint) *float64 { return &s.Velocity }},
		{"Effort", func(s *servo.Setpoint) *float64 { return &s.Effort }},
		{"Kp", func(s *servo.Setpoint) *float64 { return &s.Kp }},
		{"Kd", func(s *servo.Setpoint) *float64 { return &s.Kd }},
		{"Stiffness", func(s *servo.Setpoint) *float64 { return &s.Stiffness }},
		{"PlayTime", func(s *servo.Setpoint) *float64 { return &s.PlayTime }},
	}
	if !b.machine().can.Modes.Has(servo.Position) {
		return nil // nothing can be held still to look at
	}
	for mode := range servo.NumModes {
		m, err := b.ready()
		if err != nil {
			return err
		}
		at := m.positions()
		m.hold(at)
		at = m.settled()
		for _, f := range fields {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				what := fmt.Sprintf("mode %v with %s %v", mode, f.name, bad)
				m.tell(func(i int, s *servo.Setpoint) {
					s.Mode, s.Position = mode, at[i] // no move, no effort: only the bad number could do something
					*f.of(s) = bad
				})
				m.ticks(5)
				if m.broken != nil {
					return fmt.Errorf("%s: %w", what, m.broken)
				}
				for i, q := range m.positions() {
					if !(math.Abs(q-at[i]) <= m.Step) {
						return fmt.Errorf("%s: joint %d went from %g to %g", what, i, at[i], q)
					}
				}
				m.hold(at)
				m.ticks(5)
			}
		}
		m.ticks(m.Ticks)
		goal := shifted(at, m.Step)
		m.hold(goal)
		m.ticks(m.Ticks)
		for i, q := range m.positions() {
			if math.Abs(q-goal[i]) > 2*m.Tolerance {
				return fmt.Errorf("after setpoints of mode %v that are not finite joint %d is at %g, was told %g", mode, i, q, goal[i])
			}
		}
		if err := m.close(); err != nil {
			return err
		}
	}
	return nil
}

// checkPlacing: what can be placed is there in the next exchange, at rest, with torque and
// without.
func checkPlacing(b *bench) error {
	m, err := b.ready()
	if err != nil {
		return err
	}
	p, ok := m.Driver.(servo.Placer)
	if !ok {
		return nil
	}
	joints := make([]int, m.Joints)
	for i := range joints {
		joints[i] = i
	}
	for _, torque := range []bool{false, true} {
		goal := shifted(m.positions(), m.Step)
		if torque {
			m.hold(m.positions())
			m.ticks(m.Ticks)
		}
		start := time.Now()
		p.Place(joints, goal)
		if took := time.Since(start); b.fake && took > 0 {
			return fmt.Errorf("driver.Place waited for %v, must not block", took)
		}
		if torque {
			m.hold(goal)
		}
		m.tick()
		if err := m.stays(goal, fmt.Sprintf("placed with torque %v", torque)); err != nil {
			return err
		}
		m.ticks(m.Ticks)
		if err := m.stays(goal, fmt.Sprintf("long after placing with torque %v", torque)); err != nil {
			return err
		}
	}
	positions := m.positions()
	if n := testing.AllocsPerRun(100, func() { p.Place(joints, positions) }); n != 0 {
		return fmt.Errorf("driver.Place allocates %v times", n)
	}
	return nil
}

// checkHand: joints without torque go where a hand puts them, the others refuse.
func checkHand(b *bench) error {
	m, err := b.ready()
	if err != nil {
		return err
	}
	h, ok := m.Driver.(servo.HandPoser)
	if !ok {
		return nil
	}
	goal := shifted(m.positions(), m.Step)
	for i, q := range goal {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if h.PoseByHand(i, bad) {
				return fmt.Errorf("a hand puts joint %d to %v, must refuse", i, bad)
			}
		}
		moved := make(chan bool) // a hand is another goroutine
		go func() { moved <- h.PoseByHand(i, q) }()
		if !<-moved {
			return fmt.Errorf("a hand cannot move joint %d, which has no torque", i)
		}
		m.tick()
	}
	m.tick()
	if err := m.stays(goal, "posed by hand"); err != nil {
		return err
	}
	mode, err := m.powered()
	if err != nil {
		return err
	}
	m.tell(func(i int, s *servo.Setpoint) { *s = m.towards(mode, goal[i], 0) })
	if err := m.until("a hand is refused by joints with torque", func() bool {
		for i, q := range goal {
			if h.PoseByHand(i, q) {
				return false
			}
		}
		return true
	}); err != nil {
		return err
	}
	m.tell(func(int, *servo.Setpoint) {})
	if err := m.until("a hand can move joints again that have no torque any more", func() bool { return h.PoseByHand(0, goal[0]) }); err != nil {
		return err
	}
	if err := m.Driver.Close(); err != nil {
		return fmt.Errorf("driver.Close: %w", err)
	}
	if h.PoseByHand(0, goal[0]) {
		return fmt.Errorf("a hand moves a joint of a closed driver")
	}
	return nil
}

// checkAllocations: an exchange allocates nothing, whether servos are off, moving, silent or
// closed.
func checkAllocations(b *bench) error {
	m, err := b.ready()
	if err != nil {
		return err
	}
	count := func(what string) error {
		m.ticks(3)
		n := testing.AllocsPerRun(100, func() {
			m.Driver.Exchange(m.now(), m.dst, m.src)
			m.n++
		})
		if n != 0 {
			return fmt.Errorf("driver.Exchange allocates %v times when %s", n, what)
		}
		return nil
	}
	if err := count("servos are off"); err != nil {
		return err
	}
	at := m.positions()
	for mode := range m.can.Modes.All {
		m.tell(func(i int, s *servo.Setpoint) { *s = m.towards(mode, at[i], 1) })
		if err := count("servos are in mode " + mode.String()); err != nil {
			return err
		}
	}
	m.Silence(true)
	if err := count("the line is silent"); err != nil {
		return err
	}
	m.Silence(false)
	if err := m.Driver.Close(); err != nil {
		return fmt.Errorf("driver.Close: %w", err)
	}
	return count("it is closed")
}
