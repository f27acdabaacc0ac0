package imu

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"poise/servo"
	"poise/spatial"
)

// feed gives bytes to a decoder, some at a time, and returns what it finds.
func feed(d Decoder, data []byte, some int) (all []servo.Inertial) {
	var rest []byte
	for len(data) > 0 {
		n := min(some, len(data))
		rest, data = append(rest, data[:n]...), data[n:]
		for len(rest) > 0 {
			m, used, ok := d.Next(rest)
			if rest = rest[used:]; ok {
				all = append(all, m)
			}
			if used == 0 {
				break
			}
		}
	}
	return all
}

// TestTheDatasheetsPacket: that of the BNO080 datasheet, 1.3.5.2.
func TestTheDatasheetsPacket(t *testing.T) {
	p, err := hex.DecodeString("AAAADE010092FF25088DFEECFFD103000000E7")
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(p)
	before[2], before[18] = 0xDD, 0xE6
	got := feed((&Types[0]).Decoder(), append(before, p...), 100)
	if len(got) != 1 {
		t.Fatalf("%d measurements", len(got))
	}
	roll, pitch, yaw := rollPitchYaw(got[0].Orientation)
	want := spatial.Vec3{X: -0.371 * gravity, Y: -0.020 * gravity, Z: 0.977 * gravity}
	if math.Abs(yaw/degree-0.01) > 1e-6 || math.Abs(pitch/degree+1.10) > 1e-6 || math.Abs(roll/degree-20.85) > 1e-6 || got[0].Acceleration.Sub(want).Norm() > 1e-9 {
		t.Errorf("yaw %g, pitch %g, roll %g, acceleration %v", yaw/degree, pitch/degree, roll/degree, got[0].Acceleration)
	}
	if got[0].Rate.Norm() > 1e-9 {
		t.Errorf("it turns at %v", got[0].Rate)
	}
}

// steady is what a unit measures that turns steadily, some time after it began.
func steady(began spatial.Quat, rate, force spatial.Vec3, t float64) servo.Inertial {
	return servo.Inertial{Orientation: began.Mul(spatial.ExpRotation(rate.Scale(t))), Rate: rate, Acceleration: force}
}

// TestWhatIsSentIsRead, by every type, in pieces, behind garbage, to the resolution of its numbers.
func TestWhatIsSentIsRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(size float64) spatial.Vec3 {
		return spatial.Vec3{X: size * rng.NormFloat64(), Y: size * rng.NormFloat64(), Z: size * rng.NormFloat64()}
	}
	for _, kind := range Types {
		for range 300 {
			began, rate, force := spatial.ExpRotation(draw(1)), draw(1), draw(8)
			sent := []byte{0xAA, 0x55, 0xAA, 0xAA, 0x55, 0x51}
			const count = 12
			for n := range count {
				m := steady(began, rate, force, float64(n)*kind.Period)
				sent = kind.Append(sent, n+250, &m)
			}
			got := feed(kind.Decoder(), sent, 1+rng.IntN(30))
			if len(got) < count-3 {
				t.Fatalf("%s: %d of %d measurements", kind.Name, len(got), count)
			}
			last, want := got[len(got)-1], steady(began, rate, force, (count-1)*kind.Period)
			if off := want.Orientation.Conj().Mul(last.Orientation).Log().Norm(); off > 0.001 {
				t.Errorf("%s: the rotation is off by %g", kind.Name, off)
			}
			if off := last.Acceleration.Sub(force).Norm(); off > 0.02 {
				t.Errorf("%s: the acceleration is off by %g", kind.Name, off)
			}
			if off := last.Rate.Sub(rate).Norm(); off > 0.05 {
				t.Errorf("%s: %v is read as %v", kind.Name, rate, last.Rate)
			}
		}
	}
}

// TestNoBrokenPacketIsBelieved: each bit of a packet turned over, each byte left out.
func TestNoBrokenPacketIsBelieved(t *testing.T) {
	for _, kind := range Types {
		m := steady(spatial.ExpRotation(spatial.Vec3{X: 0.2, Y: -0.3, Z: 1}), spatial.Vec3{}, spatial.Vec3{X: 1, Y: 2, Z: 9}, 0)
		first, second := kind.Append(nil, 7, &m), kind.Append(nil, 8, &m)
		try := func(what string, at int, broken []byte) {
			for _, got := range feed(kind.Decoder(), append(bytes.Clone(first), broken...), 5) {
				if off := m.Orientation.Conj().Mul(got.Orientation).Log().Norm() + got.Acceleration.Sub(m.Acceleration).Norm() + got.Rate.Norm(); off > 0.05 {
					t.Fatalf("%s, %s %d: %+v", kind.Name, what, at, got)
				}
			}
		}
		for bit := range 8 * len(second) {
			broken := bytes.Clone(second)
			broken[bit/8] ^= 1 << (bit % 8)
			try("bit", bit, broken)
		}
		for at := range second {
			try("without byte", at, append(append(bytes.Clone(second[:at]), second[at+1:]...), second...))
		}
	}
}

// FuzzDecoders: any bytes come to an end, and what is measured is finite.
func FuzzDecoders(f *testing.F) {
	m := servo.Inertial{Orientation: spatial.Quat{W: 1}, Acceleration: spatial.Vec3{Z: 9.81}}
	for _, kind := range Types {
		f.Add(kind.Append(kind.Append(nil, 1, &m), 2, &m))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range Types {
			d, rest := kind.Decoder(), data
			for len(rest) > 0 {
				m, used, ok := d.Next(rest)
				if used < 0 || used > len(rest) || ok && (used == 0 || !m.Finite()) {
					t.Fatalf("%s: %+v, %d of %d bytes, %v", kind.Name, m, used, len(rest), ok)
				}
				if used == 0 {
					break
				}
				rest = rest[used:]
			}
		}
	})
}
