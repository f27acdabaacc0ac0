package imu

import (
	"poise/servo"
	"poise/spatial"
)

// Packets of UART-RVC.
const (
	bnoSize    = 19
	bnoHeader  = 0xAA
	bnoPeriod  = 0.01 // s between two
	bnoAngle   = 0.01 * degree
	bnoForce   = 0.001 * gravity
	bnoLongest = 10 // packets that may be lost before the angular velocity is unknown
)

// bno reads UART-RVC. It has no angular velocity in it: that follows from two rotations.
type bno struct {
	heard bool
	index byte
	last  spatial.Quat
}

func bnoBegins(data []byte) bool {
	return data[0] == bnoHeader && (len(data) < 2 || data[1] == bnoHeader)
}

func bnoGood(p []byte) bool { return sum(p[2:bnoSize-1]) == p[bnoSize-1] }

// Next implements Decoder.
func (d *bno) Next(data []byte) (m servo.Inertial, used int, ok bool) {
	p, used, ok := find(data, bnoSize, bnoBegins, bnoGood)
	if !ok {
		return m, used, false
	}
	yaw, pitch, roll := bnoAngle*word(p, 3), bnoAngle*word(p, 5), bnoAngle*word(p, 7)
	m.Orientation = spatial.FromRPY(roll, pitch, yaw).Quat()
	m.Acceleration = vector(p, 9, bnoForce)
	steps := int(p[2] - d.index)
	known := d.heard && steps > 0 && steps <= bnoLongest
	if known {
		m.Rate = d.last.Conj().Mul(m.Orientation).Log().Scale(1 / (bnoPeriod * float64(steps)))
	}
	d.heard, d.index, d.last = true, p[2], m.Orientation
	return m, used, known
}

func appendBNO(dst []byte, n int, m *servo.Inertial) []byte {
	start := len(dst)
	roll, pitch, yaw := rollPitchYaw(m.Orientation)
	dst = append(dst, bnoHeader, bnoHeader, byte(n))
	dst = appendVector(dst, bnoAngle, yaw, pitch, roll)
	dst = appendVector(dst, bnoForce, m.Acceleration.X, m.Acceleration.Y, m.Acceleration.Z)
	dst = append(dst, 0, 0, 0)
	return append(dst, sum(dst[start+2:]))
}
