package dynamixel

import (
	"bytes"
	"testing"

	"poise/servo/bus"
	"poise/servo/servotest"
)

// TestPacketsOfTheManual: bytes of the e-Manual and of the vendor's library.
func TestPacketsOfTheManual(t *testing.T) {
	servotest.Packets(t, Append, []servotest.Packet{
		{ID: 1, Kind: insRead, Params: "84 00 04 00", Bytes: "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"},
		{ID: broadcast, Kind: insSyncWrite, Params: "74 00 04 00 01 00 08 00 00 02 E8 03 00 00", Bytes: "FF FF FD 00 FE 11 00 83 74 00 04 00 01 00 08 00 00 02 E8 03 00 00 DA 6C"},
	})
	p, used, ok := Split(servotest.Unhex(t, "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0"))
	if !ok || used != 15 || p.ID != 1 || !p.Reply || p.Status != 0 || number(p.Data) != 166 {
		t.Errorf("%+v %d %v", p, used, ok)
	}
}

// TestSplitResynchronises: garbage, half a packet and a broken one before a good one.
func TestSplitResynchronises(t *testing.T) {
	good := Append(nil, 7, insStatus, []byte{0, 1, 2, 3})
	broken := bytes.Clone(good)
	broken[9] ^= 4
	for _, before := range [][]byte{nil, {1, 2, 0xFF}, {0xFF, 0xFF}, broken, {0xFF, 0xFF, 0xFD, 0, 7, 200, 0}} {
		data := append(bytes.Clone(before), good...)
		for !bytes.Equal(before, nil) && len(data) < 300 {
			data = append(data, 0) // so that what looks like a long packet ends
		}
		found := false
		for len(data) > 0 {
			p, used, ok := Split(data)
			if ok && p.ID == 7 && bytes.Equal(p.Data, []byte{1, 2, 3}) {
				found = true
			}
			if used == 0 {
				break
			}
			data = data[used:]
		}
		if !found {
			t.Errorf("after % X the packet is lost", before)
		}
	}
}

// FuzzPacket: what is appended is split again, whatever is in it; garbage breaks nothing.
func FuzzPacket(f *testing.F) {
	f.Add(1, byte(insWrite), []byte{0xFF, 0xFF, 0xFD, 0xFF, 0xFF, 0xFD, 0xFD}, []byte{0xFF, 0xFF, 0xFD, 0x00, 1, 7, 0})
	f.Add(254, byte(insStatus), []byte{0}, []byte{})
	f.Fuzz(func(t *testing.T, id int, ins byte, params, garbage []byte) {
		servotest.Garbage(t, garbage, func(data []byte) (int, bool) { _, used, ok := Split(data); return used, ok })
		if len(params) > 500 || ins == 0xFF {
			return
		}
		raw := Append(nil, id&0xFF, ins, params)
		p, used, ok := Split(raw)
		if !ok || used != len(raw) || p.ID != id&0xFF || p.Kind != ins {
			t.Fatalf("% X is split as %+v %d %v", raw, p, used, ok)
		}
		got := p.Data
		if p.Reply {
			got = append([]byte{byte(p.Status)}, got...)
		}
		if !bytes.Equal(got, params) {
			t.Fatalf("% X came back as % X", params, got)
		}
		if len(raw) > 2 { // one wrong bit is always seen
			bad := bytes.Clone(raw)
			bad[len(bad)/2] ^= 1
			if q, _, ok := Split(bad); ok && bytes.Equal(q.Raw, bad) {
				t.Fatalf("% X passes for % X", bad, raw)
			}
		}
	})
}

// TestRegistersAreWhole: names differ, none overlaps another, signs hold what is written.
func TestRegistersAreWhole(t *testing.T) {
	at := map[int]string{}
	for _, r := range registers() {
		for i := range r.Size {
			if other, taken := at[r.Address+i]; taken {
				t.Errorf("%s lies on %s", r.Name, other)
			}
			at[r.Address+i] = r.Name
		}
	}
	twos := bus.Register{Size: 2, Sign: bus.Twos}
	if bits, err := twos.Bits(-2); err != nil || twos.Value(bits) != -2 || bits != 0xFFFE {
		t.Errorf("%X %v", bits, err)
	}
	if _, err := twos.Bits(40000); err == nil {
		t.Error("40000 fits")
	}
}
