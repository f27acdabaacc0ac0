package feetech

import (
	"bytes"
	"encoding/hex"
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

// TestPacketsOfTheVendor: bytes that the vendor's library sends and understands.
func TestPacketsOfTheVendor(t *testing.T) {
	for _, c := range []struct {
		id     int
		ins    byte
		params string
		want   string
	}{
		{1, insRead, "24 02", "FF FF 01 04 02 24 02 D2"},
		{broadcast, insSyncRead, "38 02 01 02", "FF FF FE 06 82 38 02 01 02 3C"},
		{broadcast, insSyncWrite, "2A 02 01 00 08 02 64 80", "FF FF FE 0A 83 2A 02 01 00 08 02 64 80 59"},
	} {
		want := unhex(t, c.want)
		if got := Append(nil, c.id, c.ins, unhex(t, c.params)); !bytes.Equal(got, want) {
			t.Errorf("% X, want % X", got, want)
		}
	}
	p, _, ok := Split(unhex(t, "FF FF 01 04 00 00 04 F6"))
	if !ok || p.ID != 1 || p.Status != 0 || number(&models[0], p.Data) != 1024 {
		t.Errorf("%+v %v", p, ok)
	}
	if scsModel := &models[3]; number(scsModel, []byte{2, 0}) != 512 || !bytes.Equal(word(nil, scsModel, 512), []byte{2, 0}) {
		t.Error("words of an SCS are big-endian")
	}
	if magnitude(-100) != 0x8064 || signed(0x8064, 15) != -100 {
		t.Error("-100 is 8064")
	}
}

// FuzzPacket: what is appended is split again, whatever is in it; garbage breaks nothing.
func FuzzPacket(f *testing.F) {
	f.Add(1, byte(insWrite), []byte{0xFF, 0xFF, 1}, []byte{0xFF, 0xFF, 1, 7, 0})
	f.Fuzz(func(t *testing.T, id int, ins byte, params, garbage []byte) {
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
		if id &= 0xFF; len(params) > 250 || id == 0xFF {
			return
		}
		raw := Append(nil, id, ins, params)
		p, used, ok := Split(raw)
		if !ok || used != len(raw) || p.ID != id || p.Kind != ins || !bytes.Equal(p.Data, params) {
			t.Fatalf("% X is split as %+v %d %v", raw, p, used, ok)
		}
		bad := bytes.Clone(raw)
		bad[len(bad)/2] ^= 1 // one wrong bit is always seen
		if q, _, ok := Split(bad); ok && bytes.Equal(q.Raw, bad) {
			t.Fatalf("% X passes for % X", bad, raw)
		}
	})
}
