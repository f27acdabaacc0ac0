// Package herkulex speaks with HerkuleX servos of the series DRS.
//
//	FF FF | size | id | command | sum 1 | sum 2 | data
//
// The size counts all bytes. A reply has the command plus 40, and two bytes of status at the
// end of its data.
package herkulex

import "poise/servo/bus"

// Commands; a reply has 0x40 more.
const (
	cmdEEPWrite = 0x01
	cmdEEPRead  = 0x02
	cmdRAMWrite = 0x03
	cmdRAMRead  = 0x04
	cmdSJog     = 0x06
	cmdStat     = 0x07
	cmdReboot   = 0x09
	reply       = 0x40
)

const (
	broadcast = 0xFE
	overhead  = 7
	maxSize   = 223 // of a packet
)

// sums returns the two check sums of a packet.
func sums(size, id, command byte, data []byte) (byte, byte) {
	s := size ^ id ^ command
	for _, b := range data {
		s ^= b
	}
	return s & 0xFE, ^s & 0xFE
}

// Append adds a packet to dst.
func Append(dst []byte, id int, command byte, data []byte) []byte {
	size := byte(overhead + len(data))
	one, two := sums(size, byte(id), command, data)
	dst = append(dst, 0xFF, 0xFF, size, byte(id), command, one, two)
	return append(dst, data...)
}

// Split cuts the first packet off what has arrived; see bus.Family. After a bad packet it
// looks again from its second byte, so that a good one inside it is not lost.
func Split(data []byte) (p bus.Packet, used int, ok bool) {
	for i := 0; i < len(data); i++ {
		rest := data[i:]
		switch {
		case rest[0] != 0xFF || len(rest) > 1 && rest[1] != 0xFF:
			continue
		case len(rest) < 3:
			return bus.Packet{}, i, false
		}
		size := int(rest[2])
		if size < overhead || size > maxSize {
			continue
		}
		if len(rest) < size {
			return bus.Packet{}, i, false
		}
		raw := rest[:size]
		one, two := sums(raw[2], raw[3], raw[4], raw[overhead:])
		if raw[5] != one || raw[6] != two {
			continue
		}
		p = bus.Packet{ID: int(raw[3]), Kind: raw[4], Data: raw[overhead:], Raw: raw}
		if n := len(p.Data); raw[4]&reply != 0 && n >= 2 {
			p.Reply = true
			p.Status = uint16(p.Data[n-2]) | uint16(p.Data[n-1])<<8
			p.Data = p.Data[:n-2]
		}
		return p, i + size, true
	}
	return bus.Packet{}, len(data), false
}
