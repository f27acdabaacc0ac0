package herkulex

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPacketsOfTheManual: bytes of the manual, of a capture and of the rules.
func TestPacketsOfTheManual(t *testing.T) {
	for _, c := range []struct {
		id      int
		command byte
		data    string
		want    string
	}{
		{11, cmdStat, "", "FF FF 07 0B 07 0A F4"},
		{broadcast, cmdReboot, "", "FF FF 07 FE 09 F0 0E"},
		{11, cmdRAMWrite, "34 01 60", "FF FF 0A 0B 03 56 A8 34 01 60"},
		{11, cmdRAMWrite, "01 01 02", "FF FF 0A 0B 03 00 FE 01 01 02"},
		{11, cmdRAMWrite, "30 02 00 00", "FF FF 0B 0B 03 30 CE 30 02 00 00"},
		{11, cmdRAMRead, "3C 04", "FF FF 09 0B 04 3E C0 3C 04"},
		{253, cmdEEPRead, "1E 04", "FF FF 09 FD 02 EC 12 1E 04"},
		{broadcast, cmdSJog, "0A 00 02 00 0B 58 02 00 0C", "FF FF 10 FE 06 BC 42 0A 00 02 00 0B 58 02 00 0C"},
	} {
		want := unhex(t, c.want)
		if got := Append(nil, c.id, c.command, unhex(t, c.data)); !bytes.Equal(got, want) {
			t.Errorf("% X, want % X", got, want)
		}
	}
	for text, status := range map[string]uint16{
		"FF FF 09 0B 47 06 F8 00 42":                   0x4200,
		"FF FF 0F 0B 44 38 C6 3C 04 00 02 00 00 00 42": 0x4200,
		"FF FF 0D FD 44 B2 4C 3A 02 1F 62 00 42":       0x4200,
		"FF FF 0F FD 42 4C B2 1E 04 B8 01 40 1F 00 00": 0,
	} {
		p, used, ok := Split(unhex(t, text))
		if !ok || used != len(unhex(t, text)) || !p.Reply || p.Status != status {
			t.Errorf("%s: %+v %v", text, p, ok)
		}
	}
	p, _, _ := Split(unhex(t, "FF FF 0D FD 44 B2 4C 3A 02 1F 62 00 42"))
	if at := int32(word(p.Data[2:])) & mask(&models[0]); at != 543 {
		t.Errorf("position %d, and dirt above it, must be 543", at)
	}
}

// FuzzPacket: what is appended is split again, whatever is in it; garbage breaks nothing.
func FuzzPacket(f *testing.F) {
	f.Add(1, byte(cmdRAMRead), []byte{58, 2}, []byte{0xFF, 0xFF, 9, 0xFF, 0xFF, 9})
	f.Fuzz(func(t *testing.T, id int, command byte, data, garbage []byte) {
		for rest := garbage; len(rest) > 0; {
			_, used, ok := Split(rest)
			if used < 0 || used > len(rest) || ok && used == 0 {
				t.Fatalf("used %d of %d", used, len(rest))
			}
			if used == 0 {
				break
			}
			rest = rest[used:]
		}
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
