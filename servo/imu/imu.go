// Package imu reads inertial units that send their measurements over a serial line by
// themselves, and writes what they would send. Nothing is sent to a unit.
//
// bno08x is the mode UART-RVC of the Bosch and CEVA units BNO080, BNO085 and BNO086, 100 times a
// second at 115200 baud, 19 bytes:
//
//	AA AA | index | yaw, pitch, roll: 2 each, 0.01° | acceleration x, y, z: 2 each, mg | 3 reserved | sum
//
// wit is what WitMotion's units (WT61, WT901 and relatives) send, by the setting of the unit up to 200
// times a second, at 9600 baud and more, three packets of 11 bytes:
//
//	55 51 | acceleration x, y, z: 2 each, 16 g/32768     | temperature, 2 | sum
//	55 52 | angular velocity x, y, z: 2 each, 2000°/s/32768 | 2           | sum
//	55 53 | roll, pitch, yaw: 2 each, 180°/32768          | version, 2    | sum
//
// Words are little-endian and signed; the sum is that of all bytes before it, of bno08x without AA AA.
// Angles turn about z, then y, then x (yaw, pitch, roll), so that R = Rz·Ry·Rx is the unit's rotation
// in the world.
package imu

import (
	"encoding/binary"
	"math"

	"poise/servo"
	"poise/spatial"
)

// Type is a kind of unit.
type Type struct {
	Name   string  // as in robot.yaml
	Baud   int     // of the factory
	Period float64 // s between two measurements, of the factory

	decoder func() Decoder
	append  func(dst []byte, n int, m *servo.Inertial) []byte
}

// Types are those that are known.
var Types = []Type{
	{Name: "bno08x", Baud: 115200, Period: 0.01, decoder: func() Decoder { return &bno{} }, append: appendBNO},
	{Name: "wit", Baud: 9600, Period: 0.1, decoder: func() Decoder { return &wit{} }, append: appendWit},
}

// Named finds one; "" is the first.
func Named(name string) (*Type, bool) {
	for i := range Types {
		if name == "" || Types[i].Name == name {
			return &Types[i], true
		}
	}
	return nil, false
}

// Names lists them.
func Names() (all []string) {
	for _, t := range Types {
		all = append(all, t.Name)
	}
	return all
}

// Decoder returns what reads the bytes of a unit.
func (t *Type) Decoder() Decoder { return t.decoder() }

// Append adds what a unit sends for its n-th measurement.
func (t *Type) Append(dst []byte, n int, m *servo.Inertial) []byte { return t.append(dst, n, m) }

// Decoder finds measurements in bytes as they arrive. What has no right sum is skipped up to
// the next header.
type Decoder interface {
	// Next looks for a measurement: used bytes are done with. Nothing used means that more
	// have to arrive. Its age is 0, its axes are those of the unit.
	Next(data []byte) (m servo.Inertial, used int, ok bool)
}

const (
	degree  = math.Pi / 180
	gravity = 9.80665
)

// word returns a signed number.
func word(data []byte, at int) float64 { return float64(int16(binary.LittleEndian.Uint16(data[at:]))) }

// vector returns three of them.
func vector(data []byte, at int, unit float64) spatial.Vec3 {
	return spatial.Vec3{X: unit * word(data, at), Y: unit * word(data, at+2), Z: unit * word(data, at+4)}
}

// appendVector adds three numbers, as near as they fit.
func appendVector(dst []byte, unit float64, values ...float64) []byte {
	for _, v := range values {
		n := math.Max(math.MinInt16, math.Min(math.Round(v/unit), math.MaxInt16))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(int16(n)))
	}
	return dst
}

func sum(data []byte) (s byte) {
	for _, b := range data {
		s += b
	}
	return s
}

// find returns where a packet of some size begins, behind its header and with its sum: ok is
// false without such a packet, and the used bytes belong to no packet that can still come.
func find(data []byte, size int, begins func(data []byte) bool, good func(packet []byte) bool) (packet []byte, used int, ok bool) {
	for i := range data {
		rest := data[i:]
		switch {
		case !begins(rest):
			continue
		case len(rest) < size:
			return nil, i, false
		case good(rest[:size]):
			return rest[:size], i + size, true
		}
	}
	return nil, len(data), false
}

// rollPitchYaw returns the angles of a rotation about z, then y, then x.
func rollPitchYaw(Q spatial.Quat) (roll, pitch, yaw float64) {
	R := Q.Matrix()
	pitch = math.Asin(max(-1, min(-R[6], 1)))
	return math.Atan2(R[7], R[8]), pitch, math.Atan2(R[3], R[0])
}
