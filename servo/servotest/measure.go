package servotest

import (
	"fmt"

	"poise/servo"
)

// checkMeasured: every joint and every declared sensor is heard of, and stays fresh.
func checkMeasured(b *bench) error {
	m, err := b.ready()
	if err != nil {
		return err
	}
	if err := m.until("every sensor was heard of", func() bool {
		for i := range m.dst.IMU {
			if m.dst.IMU[i].Age == servo.Never {
				return false
			}
		}
		for i := range m.dst.Touch {
			if m.dst.Touch[i].Age == servo.Never {
				return false
			}
		}
		return true
	}); err != nil {
		return err
	}
	for range 5 * m.Ticks {
		m.tick()
		for i := range m.dst.Joints {
			if a := m.dst.Joints[i].Age; int64(a) > int64(m.Ticks) {
				return fmt.Errorf("joint %d was read %d ticks ago, must be at most %d while the line is well", i, a, m.Ticks)
			}
		}
	}
	return nil
}

// checkAges: while nothing is heard every age grows by one each tick; then all is fresh
// again.
func checkAges(b *bench) error {
	m, err := b.ready()
	if err != nil {
		return err
	}
	for range 2 {
		m.Silence(true)
		m.ticks(m.Ticks) // for what is on its way
		last := servo.NewMeasurement(m.Joints, m.can.Sensors)
		for range 20 {
			last.Copy(m.dst)
			m.tick()
			if err := m.older(last); err != nil {
				return err
			}
		}
		m.Silence(false)
		if err := m.until("readings are fresh again", func() bool {
			for i := range m.dst.Joints {
				if int64(m.dst.Joints[i].Age) > int64(m.Ticks) || m.fault != 0 {
					return false
				}
			}
			return true
		}); err != nil {
			return err
		}
	}
	return nil
}

// older wants everything to be a tick older than last, and otherwise the same.
func (m *machine) older(last *servo.Measurement) error {
	for i := range m.dst.Joints {
		was, is := &last.Joints[i], &m.dst.Joints[i]
		if is.Age != was.Age+1 {
			return fmt.Errorf("the line is silent, and the age of joint %d went from %d to %d, must grow by 1", i, was.Age, is.Age)
		}
		if is.Position != was.Position {
			return fmt.Errorf("the line is silent, and joint %d reads %g after %g", i, is.Position, was.Position)
		}
	}
	for i := range m.dst.IMU {
		if was, is := last.IMU[i].Age, m.dst.IMU[i].Age; is != was+1 {
			return fmt.Errorf("the line is silent, and the age of inertial unit %d went from %d to %d, must grow by 1", i, was, is)
		}
	}
	for i := range m.dst.Touch {
		if was, is := last.Touch[i].Age, m.dst.Touch[i].Age; is != was+1 {
			return fmt.Errorf("the line is silent, and the age of contact %d went from %d to %d, must grow by 1", i, was, is)
		}
	}
	return nil
}

// checkMissedTicks: ticks may be left out, as an overloaded cycle does.
func checkMissedTicks(b *bench) error {
	m, err := b.ready()
	if err != nil {
		return err
	}
	for i := range 50 {
		m.tick()
		m.n += uint64(i % 7)
	}
	return m.hear()
}
