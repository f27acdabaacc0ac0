package bus_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"poise/robot"
	"poise/servo"
	"poise/servo/bus"
	"poise/servo/emulator"
	"poise/servo/families"
	"poise/servo/imu"
	"poise/servo/servotest"
	"poise/spatial"
)

// felt is a bed with an inertial unit on a line of its own.
type felt struct {
	*bed
	unit   *emulator.Unit
	line   bus.Port
	have   emulator.Trouble
	pulled bool
}

// feltModel is a robot whose inertial unit is as a line of robot.yaml says.
func feltModel(t testing.TB, line string) *robot.Model {
	t.Helper()
	return servotest.Turntable(t, 1, "servos: {j1: {id: 1, type: sts3215, zero: 2048}}\nimu: "+line+"\n")
}

// newFelt returns one whose unit is as a line of robot.yaml says.
func newFelt(t testing.TB, line string) *felt {
	t.Helper()
	return addUnit(t, newBed(t, feltModel(t, line), 1_000_000, 0.01, false), 0.01, "")
}

// addUnit gives a bed an inertial unit: that of robot.yaml, or one on a port.
func addUnit(t testing.TB, b *bed, period float64, port string) *felt {
	t.Helper()
	m := b.model
	x := &felt{bed: b}
	servos := x.driver.Dial
	s := bus.DefaultSettings()
	s.Lines, s.Patience, s.IMU = []string{"memory,baud=1000000"}, 0.003, port
	var err error
	if x.driver, err = bus.New(m, period, s, families.All); err != nil {
		t.Fatal(err)
	}
	x.driver.Dial = func(port string, baud int) (bus.Port, error) {
		if port == "memory" {
			return servos(port, baud)
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.pulled {
			return nil, errors.New(port + ": there is no such port")
		}
		kind, _ := imu.Named(m.InertialUnit().Type)
		here, there := bus.Pipe(baud, 0)
		x.line, x.unit = here, x.servos.Unit(there, kind)
		x.unit.Have(x.have)
		go func(u *emulator.Unit) { _ = u.Serve() }(x.unit)
		return here, nil
	}
	return x
}

func (x *felt) suffer(t emulator.Trouble) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.have = t; x.unit != nil {
		x.unit.Have(t)
	}
}

// feltRig steps it.
func feltRig(t *testing.T, x *felt) *rig {
	t.Helper()
	r := newRig(t, x.bed, 0.01)
	r.dst = servo.NewMeasurement(1, servo.Sensors{IMU: 1})
	return r
}

// TestAnInertialUnit on a serial line, of every type and turned on its base: what it measures is in the axes
// of the base link and has its age; broken packets are never believed; silence makes it old, and a port that
// is pulled out is opened again.
func TestAnInertialUnit(t *testing.T) {
	for _, line := range []string{"{port: unit}", "{port: unit, type: wit, baud: 115200}", "{port: unit, rotation: [0.3, -0.2, 1.5]}", "{port: unit, type: wit, rotation: [3.1416, 0, 0]}"} {
		t.Run(line, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				x := newFelt(t, line)
				r := feltRig(t, x)
				kind, _ := imu.Named(x.model.InertialUnit().Type)
				often := uint32(kind.Period/0.01) + 1 // ticks between two measurements
				for k := range 1000 {
					if k == 100 { // it is broken from here on
						x.suffer(emulator.Trouble{Corrupt: 0.5, Loss: 0.2})
					}
					is := spatial.ExpRotation(spatial.Vec3{X: 0.3 * math.Sin(float64(k)*0.01), Y: 0.2, Z: 0.001 * float64(k)})
					x.world.Tilt(is)
					r.tick()
					m := &r.dst.IMU[0]
					if k < 30 {
						continue // it has just been turned
					}
					if k < 100 && m.Age > often {
						t.Fatalf("tick %d: its age is %d", k, m.Age)
					}
					// a rotation of 0.3 rad/s is behind by its age
					behind := 0.004 * float64(m.Age+often+2)
					if off := is.Conj().Mul(m.Orientation).Log().Norm(); off > 0.002+behind {
						t.Fatalf("tick %d: the rotation is off by %g at age %d", k, off, m.Age)
					}
					if off := m.Acceleration.Sub(is.Matrix().TMulVec(spatial.Vec3{Z: 9.80665})).Norm(); off > 0.02+10*behind {
						t.Fatalf("tick %d: the acceleration is off by %g at age %d", k, off, m.Age)
					}
				}
				x.suffer(emulator.Trouble{Silent: true})
				last := r.dst.IMU[0]
				for range 100 {
					r.tick()
				}
				if m := r.dst.IMU[0]; m.Age < 95 || m.Orientation.Conj().Mul(last.Orientation).Log().Norm() > 0.1 || last.Age > m.Age {
					t.Errorf("silent for a second: %+v", m)
				}
				x.mu.Lock()
				x.pulled = true
				x.line.Close()
				x.mu.Unlock()
				for range 100 {
					r.tick()
				}
				if m := r.dst.IMU[0]; m.Age < 195 || r.fault != 0 || r.dst.Joints[0].Age > 3 {
					t.Errorf("pulled out: %+v, the bus %v, joint %+v", m, r.fault, r.dst.Joints[0])
				}
				x.mu.Lock()
				x.pulled = false
				x.mu.Unlock()
				x.suffer(emulator.Trouble{})
				for range 100 {
					r.tick()
				}
				if m := r.dst.IMU[0]; m.Age > often {
					t.Errorf("back again: %+v", m)
				}
			})
		})
	}
}

// TestAnInertialUnitThatIsNotThere is named with its port and what was expected of it.
func TestAnInertialUnitThatIsNotThere(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		x := newFelt(t, "{port: unit}")
		x.suffer(emulator.Trouble{Silent: true})
		if err := x.driver.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "inertial unit on unit: no measurement of a bno08x at 115200 baud within 2s") {
			t.Errorf("silent: %v", err)
		}
		x.pulled = true
		if err := x.driver.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "inertial unit: unit: there is no such port") {
			t.Errorf("without its port: %v", err)
		}
	})
	if _, err := bus.New(feltModel(t, "{port: unit, type: wiz}"), 0.01, bus.DefaultSettings(), families.All); err == nil || !strings.Contains(fmt.Sprint(err), `imu: type "wiz" is not one of bno08x, wit`) {
		t.Errorf("%q", fmt.Sprint(err))
	}
}
