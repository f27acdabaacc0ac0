package servo

import (
	"math"
	"testing"

	"poise/spatial"
)

func TestNothingIsMeasuredAtFirst(t *testing.T) {
	m := NewMeasurement(2, Sensors{IMU: 1, Touch: 3})
	if len(m.Joints) != 2 || len(m.IMU) != 1 || len(m.Touch) != 3 {
		t.Fatalf("%+v", m)
	}
	if m.Joints[1].Age != Never || m.IMU[0].Age != Never || m.Touch[2].Age != Never {
		t.Errorf("%+v", m)
	}
}

// TestUpdateKeepsWhatIsFinite: a part that is not finite leaves the last one that
// was, a tick older.
func TestUpdateKeepsWhatIsFinite(t *testing.T) {
	s := Sensors{IMU: 1, Touch: 1}
	src, m := NewMeasurement(1, s), NewMeasurement(1, s)
	src.Joints[0] = Reading{Position: 1, Velocity: 2, Effort: 3, Voltage: 4, Temperature: 5}
	src.IMU[0] = Inertial{Orientation: spatial.IdentityQuat, Rate: spatial.Vec3{X: 1}, Acceleration: spatial.Vec3{Z: 9.81}}
	src.Touch[0] = Contact{Force: spatial.Vec3{Z: 7}, Pressed: true}
	m.Update(src)
	if m.Joints[0] != src.Joints[0] || m.IMU[0] != src.IMU[0] || m.Touch[0] != src.Touch[0] {
		t.Fatalf("%+v", m)
	}
	j, i, c := &src.Joints[0], &src.IMU[0], &src.Touch[0]
	for k, x := range []*float64{&j.Position, &j.Velocity,
		&i.Orientation.W, &i.Orientation.Z, &i.Rate.Y, &i.Acceleration.X, &c.Force.Y} {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			was, before := *x, *NewMeasurement(1, s)
			before.Copy(m)
			*x = bad
			m.Update(src)
			*x = was
			wantJoint, wantIMU, wantTouch := uint32(0), uint32(0), uint32(0)
			switch {
			case k < 2:
				wantJoint = 1
			case k < 6:
				wantIMU = 1
			default:
				wantTouch = 1
			}
			if m.Joints[0].Age != wantJoint || m.IMU[0].Age != wantIMU || m.Touch[0].Age != wantTouch {
				t.Fatalf("field %d is %g: ages %d, %d, %d", k, bad, m.Joints[0].Age, m.IMU[0].Age, m.Touch[0].Age)
			}
			if m.Joints[0].Position != 1 || m.Joints[0].Fault&SensorFault != 0 != (wantJoint == 1) || m.IMU[0].Acceleration.Z != 9.81 || m.Touch[0].Force.Z != 7 {
				t.Fatalf("field %d is %g: %+v", k, bad, m)
			}
			m.Update(src)
		}
	}
	j.Position, j.Voltage = 8, math.NaN() // where it is counts all the same
	if m.Update(src); m.Joints[0] != (Reading{Position: 8, Velocity: 2, Effort: 3, Temperature: 5}) {
		t.Errorf("without a voltage: %+v", m.Joints[0])
	}
	j.Position, j.Effort, j.Temperature = 9, math.Inf(-1), math.NaN()
	if m.Update(src); m.Joints[0] != (Reading{Position: 9, Velocity: 2}) {
		t.Errorf("with position and velocity alone: %+v", m.Joints[0])
	}
	if n := testing.AllocsPerRun(100, func() { m.Update(src); m.Copy(src) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPoweredModes(t *testing.T) {
	for m, want := range map[Mode]bool{Off: false, Position: true, Velocity: true, Effort: true, Impedance: true, Brake: false, NumModes: false} {
		if m.Powered() != want {
			t.Errorf("%v: powered %v", m, m.Powered())
		}
	}
}
