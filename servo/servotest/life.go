package servotest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"poise/servo"
)

// checkCapabilities: they make sense, and do not change.
func checkCapabilities(b *bench) error {
	m := b.machine()
	first := m.can
	if _, err := m.powered(); err != nil {
		return err
	}
	if first.Modes&^servo.AllModes != 0 {
		return fmt.Errorf("modes %b, of which %b do not exist", first.Modes, first.Modes&^servo.AllModes)
	}
	if first.Torque != first.Modes.Has(servo.Off) {
		return fmt.Errorf("torque can be switched: %v, but mode off is obeyed: %v", first.Torque, first.Modes.Has(servo.Off))
	}
	if err := m.open(); err != nil {
		return err
	}
	m.ticks(3)
	open := m.Driver.Capabilities()
	if err := m.Driver.Close(); err != nil {
		return fmt.Errorf("driver.Close: %w", err)
	}
	if closed := m.Driver.Capabilities(); open != first || closed != first {
		return fmt.Errorf("capabilities %+v, %+v when open, %+v when closed: must not change", first, open, closed)
	}
	return nil
}

// closed wants an exchange with a closed driver to be harmless.
func (m *machine) closed() error {
	m.tick()
	if m.fault&servo.BusDown == 0 {
		return fmt.Errorf("driver.Exchange with a closed driver reports %b, must report BusDown", m.fault)
	}
	return m.broken
}

// checkLife: closed, open, closed and open again; twice does nothing.
func checkLife(b *bench) error {
	m := b.machine()
	if err := m.Driver.Close(); err != nil {
		return fmt.Errorf("driver.Close before Open: %w", err)
	}
	if err := m.closed(); err != nil {
		return err
	}
	for i := range m.dst.Joints {
		if a := m.dst.Joints[i].Age; a != servo.Never {
			return fmt.Errorf("before Open joint %d was read %d ticks ago, must be never", i, a)
		}
	}
	for life := range 3 {
		for range 2 {
			if err := m.open(); err != nil {
				return fmt.Errorf("life %d: %w", life+1, err)
			}
		}
		if err := m.hear(); err != nil {
			return fmt.Errorf("life %d: %w", life+1, err)
		}
		for range 2 {
			if err := m.Driver.Close(); err != nil {
				return fmt.Errorf("life %d: Close: %w", life+1, err)
			}
		}
		if err := m.closed(); err != nil {
			return fmt.Errorf("life %d: %w", life+1, err)
		}
		last := m.dst.Joints[0].Age
		m.tick()
		if a := m.dst.Joints[0].Age; a != servo.Never && a <= last {
			return fmt.Errorf("life %d: a reading is %d ticks old after Close, then %d: must grow older", life+1, last, a)
		}
	}
	return nil
}

// checkAnyOrder: a random walk of opening, closing and exchanging.
func checkAnyOrder(b *bench) error {
	m := b.machine()
	rng := rand.New(rand.NewPCG(14, 4))
	open := false
	for range 100 {
		switch rng.IntN(3) {
		case 0:
			if err := m.open(); err != nil {
				return err
			}
			open = true
		case 1:
			if err := m.Driver.Close(); err != nil {
				return fmt.Errorf("driver.Close: %w", err)
			}
			open = false
		default:
			if !open {
				if err := m.closed(); err != nil {
					return err
				}
				continue
			}
			m.tick()
		}
	}
	if err := m.open(); err != nil {
		return err
	}
	return m.hear()
}

// checkCancelledOpen: Open ends when its context does, and can be tried again.
func checkCancelledOpen(b *bench) error {
	m := b.machine()
	if err := m.Driver.Open(cancelled()); err != nil { // a driver that opens at once need not look
		if err := m.closed(); err != nil {
			return err
		}
	}
	if err := m.open(); err != nil {
		return err
	}
	return m.hear()
}

// checkOpenInSilence: without an answer Open fails and leaves the driver closed, or nothing
// was ever measured; when the machine is there, all is well.
func checkOpenInSilence(b *bench) error {
	m := b.machine()
	m.Silence(true)
	if err := m.open(); err != nil {
		if err := m.closed(); err != nil {
			return err
		}
	} else {
		m.ticks(5)
		for i := range m.dst.Joints {
			if a := m.dst.Joints[i].Age; a != servo.Never {
				return fmt.Errorf("the machine is silent, and joint %d was read %d ticks ago", i, a)
			}
		}
	}
	m.Silence(false)
	if err := m.open(); err != nil {
		return err
	}
	return m.hear()
}

// checkGoroutines: Close ends all that Open began, also in the middle of silence.
func checkGoroutines(b *bench) error {
	for _, silent := range []bool{false, true} {
		before := len(b.goroutines())
		m, err := b.ready()
		if err != nil {
			return err
		}
		m.Silence(silent)
		m.ticks(10)
		if err := m.Driver.Close(); err != nil {
			return fmt.Errorf("driver.Close: %w", err)
		}
		m.Silence(false)
		after := b.goroutines()
		for wait := 0; !b.fake && len(after) > before && wait < 100; wait++ { // they may be about to end
			time.Sleep(20 * time.Millisecond)
			after = b.goroutines()
		}
		if n := len(after); n > before {
			return fmt.Errorf("%d goroutines before Open and %d after Close:\n%s", before, n, after[n-1])
		}
	}
	return nil
}

// checkLastSetpoints: what the last exchange before Close says is sent.
func checkLastSetpoints(b *bench) error {
	m, err := b.ready()
	if err != nil || m.Told == nil || !m.can.Torque {
		return err
	}
	mode, err := m.powered()
	if err != nil {
		return err
	}
	at := m.positions()
	m.tell(func(i int, s *servo.Setpoint) { *s = m.towards(mode, at[i], 0) })
	if err := m.until(fmt.Sprintf("the machine was told mode %v", mode), func() bool { return m.told(mode) < 0 }); err != nil {
		return err
	}
	m.tell(func(int, *servo.Setpoint) {})
	m.exchange()
	if err := m.close(); err != nil {
		return err
	}
	if i := m.told(servo.Off); i >= 0 {
		return fmt.Errorf("joint %d was off in the last exchange before Close, and was told mode %v last", i, m.Told(i))
	}
	return nil
}

// told returns the first joint that was told another mode last, or -1.
func (m *machine) told(mode servo.Mode) int {
	for i := range m.Joints {
		if m.Told(i) != mode {
			return i
		}
	}
	return -1
}
