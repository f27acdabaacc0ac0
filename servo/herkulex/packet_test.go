package herkulex

import (
	"bytes"
	"math"
	"testing"

	"poise/servo/servotest"
)

// TestPacketsOfTheManual: bytes of the manual, of a capture and of the rules.
func TestPacketsOfTheManual(t *testing.T) {
	servotest.Packets(t, Append, []servotest.Packet{
		{ID: 11, Kind: cmdStat, Params: "", Bytes: "FF FF 07 0B 07 0A F4"},
		{ID: broadcast, Kind: cmdReboot, Params: "", Bytes: "FF FF 07 FE 09 F0 0E"},
		{ID: 11, Kind: cmdRAMWrite, Params: "34 01 60", Bytes: "FF FF 0A 0B 03 56 A8 34 01 60"},
		{ID: 11, Kind: cmdRAMWrite, Params: "01 01 02", Bytes: "FF FF 0A 0B 03 00 FE 01 01 02"},
		{ID: 11, Kind: cmdRAMWrite, Params: "30 02 00 00", Bytes: "FF FF 0B 0B 03 30 CE 30 02 00 00"},
		{ID: 11, Kind: cmdRAMRead, Params: "3C 04", Bytes: "FF FF 09 0B 04 3E C0 3C 04"},
		{ID: 253, Kind: cmdEEPRead, Params: "1E 04", Bytes: "FF FF 09 FD 02 EC 12 1E 04"},
		{ID: broadcast, Kind: cmdSJog, Params: "0A 00 02 00 0B 58 02 00 0C", Bytes: "FF FF 10 FE 06 BC 42 0A 00 02 00 0B 58 02 00 0C"},
	})
	for text, status := range map[string]uint16{
		"FF FF 09 0B 47 06 F8 00 42":                   0x4200,
		"FF FF 0F 0B 44 38 C6 3C 04 00 02 00 00 00 42": 0x4200,
		"FF FF 0D FD 44 B2 4C 3A 02 1F 62 00 42":       0x4200,
		"FF FF 0F FD 42 4C B2 1E 04 B8 01 40 1F 00 00": 0,
	} {
		p, used, ok := Split(servotest.Unhex(t, text))
		if !ok || used != len(servotest.Unhex(t, text)) || !p.Reply || p.Status != status {
			t.Errorf("%s: %+v %v", text, p, ok)
		}
	}
	p, _, _ := Split(servotest.Unhex(t, "FF FF 0D FD 44 B2 4C 3A 02 1F 62 00 42"))
	if at := int32(word(p.Data[2:])) & mask(&models[0]); at != 543 {
		t.Errorf("position %d, and dirt above it, must be 543", at)
	}
}

// FuzzPacket: what is appended is split again, whatever is in it; garbage breaks nothing.
func FuzzPacket(f *testing.F) {
	f.Add(1, byte(cmdRAMRead), []byte{58, 2}, []byte{0xFF, 0xFF, 9, 0xFF, 0xFF, 9})
	f.Fuzz(func(t *testing.T, id int, command byte, data, garbage []byte) {
		servotest.Garbage(t, garbage, func(data []byte) (int, bool) { _, used, ok := Split(data); return used, ok })
		if id &= 0xFF; len(data) > maxSize-overhead {
			return
		}
		raw := Append(nil, id, command, data)
		p, used, ok := Split(raw)
		if !ok || used != len(raw) || p.ID != id || p.Kind != command {
			t.Fatalf("% X is split as %+v %d %v", raw, p, used, ok)
		}
		if p.Reply {
			p.Data = append(bytes.Clone(p.Data), byte(p.Status), byte(p.Status>>8))
		}
		if !bytes.Equal(p.Data, data) {
			t.Fatalf("% X came back as % X", data, p.Data)
		}
	})
}

func TestTemperatures(t *testing.T) {
	for raw, want := range map[byte]float64{128: 25.2, 66: 0.05, 200: 62.63} {
		if got := celsius(raw); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d is %g °C, must be %g", raw, got, want)
		}
	}
}
