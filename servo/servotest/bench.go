package servotest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/servo"
)

// bench is where a clause is tried: it makes machines and closes them.
type bench struct {
	t    testing.TB
	new  func(t testing.TB) Subject
	fake bool
	all  []*machine
}

// machine returns a new driver, not open yet.
func (b *bench) machine() *machine {
	m := &machine{Subject: b.new(b.t).withDefaults(), b: b}
	m.can = m.Driver.Capabilities()
	m.dst = servo.NewMeasurement(m.Joints, m.can.Sensors)
	m.src = make([]servo.Setpoint, m.Joints)
	m.before = make([]servo.Setpoint, m.Joints)
	b.all = append(b.all, m)
	return m
}

// ready returns a new driver that is open and has heard of every joint, which are off.
func (b *bench) ready() (*machine, error) {
	m := b.machine()
	if err := m.open(); err != nil {
		return nil, err
	}
	return m, m.hear()
}

// violation returns what an exchange did that none may do.
func (b *bench) violation() error {
	for _, m := range b.all {
		if m.broken != nil {
			return m.broken
		}
	}
	return nil
}

// machine is a driver under test with the cycle that exchanges with it.
type machine struct {
	Subject
	b      *bench
	can    servo.Capabilities
	n      uint64
	fault  servo.Fault // of the last exchange
	dst    *servo.Measurement
	src    []servo.Setpoint
	before []servo.Setpoint
	broken error // the first violation
}

// open opens the driver as a server does.
func (m *machine) open() error {
	if err := m.Driver.Open(m.b.t.Context()); err != nil {
		return fmt.Errorf("driver.Open: %w", err)
	}
	if c, ok := m.Driver.(servo.Calibrator); ok {
		if err := c.Calibrate(m.b.t.Context()); err != nil {
			return fmt.Errorf("driver.Calibrate: %w", err)
		}
	}
	return nil
}

// close ends a machine that is done with: its goroutines would go on beside those of the next.
func (m *machine) close() error {
	if err := m.Driver.Close(); err != nil {
		return fmt.Errorf("driver.Close: %w", err)
	}
	return nil
}

// poisonAge is no age that a test comes to.
const poisonAge = math.MaxUint32 - 12345

// poison fills the measurement with what no driver writes, so that what it leaves out is
// seen.
func (m *machine) poison() {
	for i := range m.dst.Joints {
		m.dst.Joints[i] = servo.Reading{Position: math.NaN(), Age: poisonAge}
	}
	for i := range m.dst.IMU {
		m.dst.IMU[i].Age = poisonAge
	}
	for i := range m.dst.Touch {
		m.dst.Touch[i].Age = poisonAge
	}
}

// tick exchanges once and lets a period pass.
func (m *machine) tick() {
	m.exchange()
	time.Sleep(time.Duration(m.Period * float64(time.Second)))
}

// exchange exchanges once.
func (m *machine) exchange() {
	m.poison()
	copy(m.before, m.src)
	start := time.Now()
	m.fault = m.Driver.Exchange(m.now(), m.dst, m.src)
	m.judge(time.Since(start))
	m.n++
}

// now is the tick under way.
func (m *machine) now() servo.Tick {
	return servo.Tick{N: m.n, Time: int64(float64(m.n) * m.Period * 1e9), Dt: m.Period}
}

// judge sees whether an exchange kept what holds for all of them.
func (m *machine) judge(took time.Duration) {
	if m.broken != nil {
		return
	}
	if m.b.fake && took > 0 {
		m.broken = fmt.Errorf("driver.Exchange waited for %v in tick %d, must not block", took, m.n)
		return
	}
	for i := range m.dst.Joints {
		switch r := &m.dst.Joints[i]; {
		case r.Age == poisonAge:
			m.broken = fmt.Errorf("driver.Exchange left the reading of joint %d as it was in tick %d, must fill it", i, m.n)
		case r.Age != servo.Never && !r.Finite():
			m.broken = fmt.Errorf("joint %d reads %+v in tick %d, must be finite", i, *r, m.n)
		case m.src[i] != m.before[i] && !(m.src[i] != m.src[i]): // NaN differs from itself
			m.broken = fmt.Errorf("driver.Exchange changed the setpoint of joint %d in tick %d", i, m.n)
		}
	}
	for i := range m.dst.IMU {
		if a := m.dst.IMU[i].Age; a == poisonAge || a != servo.Never && !m.dst.IMU[i].Finite() {
			m.broken = fmt.Errorf("inertial unit %d is %+v in tick %d, must be filled and finite", i, m.dst.IMU[i], m.n)
		}
	}
	for i := range m.dst.Touch {
		if a := m.dst.Touch[i].Age; a == poisonAge || a != servo.Never && !m.dst.Touch[i].Finite() {
			m.broken = fmt.Errorf("contact %d is %+v in tick %d, must be filled and finite", i, m.dst.Touch[i], m.n)
		}
	}
}

// ticks exchanges so many times.
func (m *machine) ticks(n int) {
	for range n {
		m.tick()
	}
}

// until exchanges until something is so, for as long as the subject may take.
func (m *machine) until(what string, so func() bool) error {
	for range m.Ticks {
		m.tick()
		if m.broken != nil {
			return m.broken
		}
		if so() {
			return nil
		}
	}
	return fmt.Errorf("after %d ticks it is not true that %s", m.Ticks, what)
}

// hear exchanges until every part was measured and the bus is well.
func (m *machine) hear() error {
	return m.until("every joint was heard of and the bus is well", func() bool {
		for i := range m.dst.Joints {
			if m.dst.Joints[i].Age == servo.Never {
				return false
			}
		}
		return m.fault == 0
	})
}

// tell sets what every servo is told.
func (m *machine) tell(set func(joint int, s *servo.Setpoint)) {
	for i := range m.src {
		m.src[i] = servo.Setpoint{Stiffness: 1, PlayTime: m.Period}
		set(i, &m.src[i])
	}
}

// hold tells every servo to go somewhere, or stay there.
func (m *machine) hold(at []float64) {
	m.tell(func(i int, s *servo.Setpoint) { s.Mode, s.Position = servo.Position, at[i] })
}

// positions returns the readings.
func (m *machine) positions() []float64 {
	q := make([]float64, m.Joints)
	for i := range q {
		q[i] = m.dst.Joints[i].Position
	}
	return q
}

// settled exchanges for as long as the subject may take and returns where joints are then.
func (m *machine) settled() []float64 {
	m.ticks(m.Ticks)
	return m.positions()
}

// stays wants joints to be within the tolerance of somewhere, which is called what.
func (m *machine) stays(at []float64, what string) error {
	for i, q := range m.positions() {
		if !(math.Abs(q-at[i]) <= m.Tolerance) {
			return fmt.Errorf("%s: joint %d is at %g, must be %g ± %g", what, i, q, at[i], m.Tolerance)
		}
	}
	return nil
}

// shifted returns positions moved by so much.
func shifted(q []float64, by float64) []float64 {
	moved := make([]float64, len(q))
	for i := range q {
		moved[i] = q[i] + by
	}
	return moved
}

// powered returns a mode that holds a joint, or can be used instead.
func (m *machine) powered() (servo.Mode, error) {
	for mode := range m.can.Modes.All {
		if mode.Powered() {
			return mode, nil
		}
	}
	return 0, errors.New("the driver obeys no mode that moves anything")
}

// cancelled is a context that has ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// goroutines lists those of this bubble that wait or run, this one left out; in real time
// of the whole program.
func (b *bench) goroutines() (all []string) {
	if b.fake {
		synctest.Wait()
	}
	text := make([]byte, 1<<20)
	stacks := strings.Split(string(text[:runtime.Stack(text, true)]), "\n\n")
	own := "" // how goroutines of the bubble are marked, on the first line of the first: this one
	if head, _, _ := strings.Cut(stacks[0], "\n"); b.fake {
		if _, mark, ok := strings.Cut(head, "synctest bubble "); ok {
			own = "synctest bubble " + mark
		}
	}
	for _, s := range stacks[1:] {
		if head, _, _ := strings.Cut(s, "\n"); strings.Contains(head, strings.TrimSuffix(own, "]:")) && !strings.Contains(s, "testing/synctest") {
			all = append(all, s)
		}
	}
	return all
}
