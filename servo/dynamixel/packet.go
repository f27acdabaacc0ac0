// Package dynamixel speaks with Dynamixel servos of the X series: Protocol 2.0 of the
// ROBOTIS e-Manual.
//
//	FF FF FD 00 | id | length, 2 | instruction | parameters | CRC, 2
//
// Inside instruction and parameters FF FF FD is sent as FF FF FD FD. A reply has the
// instruction 55, then an error byte, then data.
package dynamixel

import "poise/servo/bus"

// Instructions.
const (
	insPing      = 0x01
	insRead      = 0x02
	insWrite     = 0x03
	insReboot    = 0x08
	insStatus    = 0x55
	insSyncRead  = 0x82
	insSyncWrite = 0x83
)

// broadcast is the id of all servos; header is how a packet begins.
const (
	broadcast  = 0xFE
	headerSize = 7 // up to the length
	overhead   = 10
	maxLength  = 1024 // of what is believed to be a length
)

// crcTable is that of the polynomial 0x8005, most significant bit first.
var crcTable = func() (t [256]uint16) {
	for i := range t {
		c := uint16(i) << 8
		for range 8 {
			if c&0x8000 != 0 {
				c = c<<1 ^ 0x8005
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

// CRC continues a sum over more bytes; it starts from 0.
func CRC(sum uint16, data []byte) uint16 {
	for _, b := range data {
		sum = sum<<8 ^ crcTable[byte(sum>>8)^b]
	}
	return sum
}

// Append adds the packet of an instruction to dst.
func Append(dst []byte, id int, instruction byte, params []byte) []byte {
	start := len(dst)
	dst = append(dst, 0xFF, 0xFF, 0xFD, 0x00, byte(id), 0, 0, instruction)
	a, b := byte(0), instruction // the last two bytes of what may be stuffed
	for _, c := range params {
		dst = append(dst, c)
		if a == 0xFF && b == 0xFF && c == 0xFD {
			dst = append(dst, 0xFD)
			a, b = 0xFD, 0xFD
			continue
		}
		a, b = b, c
	}
	length := len(dst) - start - headerSize + 2
	dst[start+5], dst[start+6] = byte(length), byte(length>>8)
	sum := CRC(0, dst[start:])
	return append(dst, byte(sum), byte(sum>>8))
}

// Split cuts the first packet off what has arrived; see bus.Family. After a bad packet it
// looks again from its second byte, so that a good one inside it is not lost.
func Split(data []byte) (p bus.Packet, used int, ok bool) {
	for i := 0; i < len(data); i++ {
		rest := data[i:]
		for k, h := range [...]byte{0xFF, 0xFF, 0xFD} {
			if k >= len(rest) {
				return bus.Packet{}, i, false // the beginning of a header
			}
			if rest[k] != h {
				rest = nil
				break
			}
		}
		switch {
		case rest == nil:
			continue
		case len(rest) < headerSize:
			return bus.Packet{}, i, false
		}
		length := int(rest[5]) | int(rest[6])<<8
		if rest[3] != 0 || length < 3 || length > maxLength {
			continue
		}
		if len(rest) < headerSize+length {
			return bus.Packet{}, i, false
		}
		raw := rest[:headerSize+length]
		body := raw[headerSize : len(raw)-2]
		if CRC(0, raw[:len(raw)-2]) != uint16(raw[len(raw)-2])|uint16(raw[len(raw)-1])<<8 {
			continue
		}
		p = bus.Packet{ID: int(raw[4]), Kind: body[0], Raw: raw, Data: unstuffed(body[1:], body[0])}
		if p.Reply = body[0] == insStatus && len(p.Data) > 0; p.Reply {
			p.Status, p.Data = uint16(p.Data[0]), p.Data[1:]
		}
		return p, i + len(raw), true
	}
	return bus.Packet{}, len(data), false
}

// unstuffed returns parameters without the bytes that were put between them; the common
// case is that there are none.
func unstuffed(params []byte, instruction byte) []byte {
	a, b := byte(0), instruction
	var out []byte
	for i := 0; i < len(params); i++ {
		c := params[i]
		if out != nil {
			out = append(out, c)
		}
		if a == 0xFF && b == 0xFF && c == 0xFD && i+1 < len(params) && params[i+1] == 0xFD {
			if out == nil {
				out = append(make([]byte, 0, len(params)), params[:i+1]...)
			}
			i++
			a, b = 0xFD, 0xFD
			continue
		}
		a, b = b, c
	}
	if out == nil {
		return params
	}
	return out
}
