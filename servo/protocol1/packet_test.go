package protocol1

import (
	"bytes"
	"testing"

	"poise/servo/servotest"
)

// TestPacketsOfTheVendor: bytes that the libraries of Feetech and ROBOTIS send and understand.
func TestPacketsOfTheVendor(t *testing.T) {
	servotest.Packets(t, Append, []servotest.Packet{
		{ID: 1, Kind: insRead, Params: "24 02", Bytes: "FF FF 01 04 02 24 02 D2"},
		{ID: Broadcast, Kind: insSyncRead, Params: "38 02 01 02", Bytes: "FF FF FE 06 82 38 02 01 02 3C"},
		{ID: Broadcast, Kind: insBulkRead, Params: "00 02 01 1E 02 02 24", Bytes: "FF FF FE 09 92 00 02 01 1E 02 02 24 1D"},
		{ID: Broadcast, Kind: insSyncWrite, Params: "2A 02 01 00 08 02 64 80", Bytes: "FF FF FE 0A 83 2A 02 01 00 08 02 64 80 59"},
	})
	p, _, ok := Split(servotest.Unhex(t, "FF FF 01 04 00 00 04 F6"))
	if !ok || p.ID != 1 || p.Status != 0 || (&Layout{}).number(p.Data) != 1024 {
		t.Errorf("%+v %v", p, ok)
	}
	if scs := (&Layout{Big: true}); scs.number([]byte{2, 0}) != 512 || !bytes.Equal(scs.Word(nil, 512), []byte{2, 0}) {
		t.Error("words of an SCS are big-endian")
	}
	if signed(0x8064, 15) != -100 || signed(0x8064, 0) != 0x8064 {
		t.Error("-100 is 8064")
	}
}

// FuzzPacket: what is appended is split again, whatever is in it; garbage breaks nothing.
func FuzzPacket(f *testing.F) {
	f.Add(1, byte(insWrite), []byte{0xFF, 0xFF, 1}, []byte{0xFF, 0xFF, 1, 7, 0})
	f.Fuzz(func(t *testing.T, id int, ins byte, params, garbage []byte) {
		servotest.Garbage(t, garbage, func(data []byte) (int, bool) { _, used, ok := Split(data); return used, ok })
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
