package imu

import (
	"poise/servo"
	"poise/spatial"
)

// Packets of WitMotion.
const (
	witSize         = 11
	witHeader       = 0x55
	witAcceleration = 0x51
	witRate         = 0x52
	witAngle        = 0x53
	witForceUnit    = 16 * gravity / 32768
	witRateUnit     = 2000 * degree / 32768
	witAngleUnit    = 180 * degree / 32768
)

// wit reads the packets of WitMotion: a measurement is three of them, the angles last.
type wit struct {
	m    servo.Inertial
	last byte // kind of the packet before, if nothing was lost since
}

func witBegins(data []byte) bool {
	return data[0] == witHeader && (len(data) < 2 || data[1] >= 0x50 && data[1] <= 0x5A)
}

func witGood(p []byte) bool { return sum(p[:witSize-1]) == p[witSize-1] }

// Next implements Decoder.
func (d *wit) Next(data []byte) (m servo.Inertial, used int, ok bool) {
	p, used, ok := find(data, witSize, witBegins, witGood)
	if used > len(p) {
		d.last = 0 // something was skipped
	}
	if !ok {
		return m, used, false
	}
	before := d.last
	d.last = p[1]
	switch p[1] {
	case witAcceleration:
		d.m.Acceleration = vector(p, 2, witForceUnit)
	case witRate:
		d.m.Rate = vector(p, 2, witRateUnit)
		if before != witAcceleration {
			d.last = 0
		}
	case witAngle:
		angles := vector(p, 2, witAngleUnit)
		d.m.Orientation = spatial.FromRPY(angles.X, angles.Y, angles.Z).Quat()
		return d.m, used, before == witRate
	}
	return m, used, false
}

func appendWit(dst []byte, _ int, m *servo.Inertial) []byte {
	packet := func(kind byte, unit float64, x, y, z float64) {
		start := len(dst)
		dst = append(appendVector(append(dst, witHeader, kind), unit, x, y, z), 0, 0)
		dst = append(dst, sum(dst[start:]))
	}
	roll, pitch, yaw := rollPitchYaw(m.Orientation)
	packet(witAcceleration, witForceUnit, m.Acceleration.X, m.Acceleration.Y, m.Acceleration.Z)
	packet(witRate, witRateUnit, m.Rate.X, m.Rate.Y, m.Rate.Z)
	packet(witAngle, witAngleUnit, roll, pitch, yaw)
	return dst
}
