// Package protocol1 is the packets of Dynamixel's Protocol 1.0, which Feetech servos have, too, and who
// speaks with servos by them.
//
//	FF FF | id | length | instruction | parameters | ~(sum from id on)
//
// A reply has an error byte in the place of the instruction; nothing else tells it from a
// request. Where registers lie, the order of bytes in a word and signs are those of a Layout.
package protocol1

import "poise/servo/bus"

// Instructions.
const (
	insPing      = 0x01
	insRead      = 0x02
	insWrite     = 0x03
	insSyncRead  = 0x82
	insSyncWrite = 0x83
	insBulkRead  = 0x92
)

// Broadcast is the id of all servos.
const Broadcast = 0xFE

// overhead is the bytes of a packet besides its parameters.
const overhead = 6

// sum is the check sum over the bytes from the id on.
func sum(data []byte) (s byte) {
	for _, b := range data {
		s += b
	}
	return ^s
}

// Append adds a packet to dst: instruction is the error byte of a reply.
func Append(dst []byte, id int, instruction byte, params []byte) []byte {
	start := len(dst)
	dst = append(dst, 0xFF, 0xFF, byte(id), byte(len(params)+2), instruction)
	dst = append(dst, params...)
	return append(dst, sum(dst[start+2:]))
}

// Split cuts the first packet off what has arrived; see bus.Family. After a bad packet it
// looks again from its second byte, so that a good one inside it is not lost.
func Split(data []byte) (p bus.Packet, used int, ok bool) {
	for i := 0; i < len(data); i++ {
		rest := data[i:]
		switch {
		case rest[0] != 0xFF || len(rest) > 1 && rest[1] != 0xFF || len(rest) > 2 && rest[2] == 0xFF:
			continue
		case len(rest) < 4:
			return bus.Packet{}, i, false
		}
		length := int(rest[3])
		if length < 2 {
			continue
		}
		if len(rest) < 4+length {
			return bus.Packet{}, i, false
		}
		raw := rest[:4+length]
		if sum(raw[2:len(raw)-1]) != raw[len(raw)-1] {
			continue
		}
		return bus.Packet{ID: int(raw[2]), Reply: raw[2] != Broadcast, Kind: raw[4], Status: uint16(raw[4]), Data: raw[5 : len(raw)-1], Raw: raw}, i + len(raw), true
	}
	return bus.Packet{}, len(data), false
}
