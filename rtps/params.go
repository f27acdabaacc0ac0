package rtps

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Parameters of discovery and of inline QoS: RTPS 2.5, table 9.19; those from 0x8000 are
// vendors' own.
const (
	pidPad             = 0x0000
	pidSentinel        = 0x0001
	pidLease           = 0x0002
	pidTopic           = 0x0005
	pidType            = 0x0007
	pidProtocol        = 0x0015
	pidVendor          = 0x0016
	pidReliability     = 0x001a
	pidLiveliness      = 0x001b
	pidDurability      = 0x001d
	pidOwnership       = 0x001f
	pidDeadline        = 0x0023
	pidDestOrder       = 0x0025
	pidLatency         = 0x0027
	pidPartition       = 0x0029
	pidUserData        = 0x002c
	pidUnicast         = 0x002f
	pidDefaultUnicast  = 0x0031
	pidMetaUnicast     = 0x0032
	pidParticipant     = 0x0050
	pidBuiltin         = 0x0058
	pidEndpoint        = 0x005a
	pidName            = 0x0062
	pidKeyHash         = 0x0070
	pidStatus          = 0x0071
	pidRepresentation  = 0x0073
	pidHistory         = 0x0040
	pidRelated         = 0x0083
	pidRelatedFastDDS  = 0x800f
	pidMustUnderstand  = 0x4000
	statusDisposed     = 1
	statusUnregistered = 2
	maxParamText       = 1024 // of a name
	maxUserData        = 8 << 10
	maxListed          = 64 // locators, partitions …
)

// params appends a parameter list, little-endian.
type params struct{ b []byte }

func (p *params) bytes(pid uint16, v []byte) {
	n := (len(v) + 3) &^ 3
	p.b = binary.LittleEndian.AppendUint16(p.b, pid)
	p.b = binary.LittleEndian.AppendUint16(p.b, uint16(n))
	p.b = append(p.b, v...)
	for range n - len(v) {
		p.b = append(p.b, 0)
	}
}

func (p *params) words(pid uint16, words ...uint32) {
	p.b = binary.LittleEndian.AppendUint16(p.b, pid)
	p.b = binary.LittleEndian.AppendUint16(p.b, uint16(4*len(words)))
	for _, w := range words {
		p.b = binary.LittleEndian.AppendUint32(p.b, w)
	}
}

func (p *params) text(pid uint16, s string) {
	v := binary.LittleEndian.AppendUint32(nil, uint32(len(s)+1))
	p.bytes(pid, append(append(v, s...), 0))
}

func (p *params) guid(pid uint16, g GUID) {
	b := g.Bytes()
	p.bytes(pid, b[:])
}

func (p *params) locator(pid uint16, a netip.AddrPort) {
	v := make([]byte, 24)
	binary.LittleEndian.PutUint32(v, 1) // UDPv4
	binary.LittleEndian.PutUint32(v[4:], uint32(a.Port()))
	ip := a.Addr().As4()
	copy(v[20:], ip[:])
	p.bytes(pid, v)
}

func (p *params) octets(pid uint16, data []byte) {
	p.bytes(pid, append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...))
}

func (p *params) end() []byte {
	p.words(pidSentinel)
	return p.b
}

// eachParam calls f with the parameters of a list until the sentinel, and returns how many
// bytes the list has. ok is false if it is cut off.
func eachParam(b []byte, big bool, f func(pid uint16, v value)) (size int, ok bool) {
	order := byteOrder(big)
	for at := 0; len(b)-at >= 4; {
		pid, n := order.Uint16(b[at:]), int(order.Uint16(b[at+2:]))
		if pid == pidSentinel {
			return at + 4, true
		}
		if at += 4; n > len(b)-at {
			return 0, false
		}
		if pid &^= pidMustUnderstand; pid != pidPad {
			f(pid, value{b[at : at+n], order})
		}
		at += n
	}
	return 0, false
}

func byteOrder(big bool) binary.ByteOrder {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// value is that of a parameter. What it does not hold reads as zero, with ok false.
type value struct {
	b     []byte
	order binary.ByteOrder
}

func (v value) word(i int) (uint32, bool) {
	if len(v.b) < 4*i+4 {
		return 0, false
	}
	return v.order.Uint32(v.b[4*i:]), true
}

// octets returns a counted list of bytes.
func (v value) octets(limit int) ([]byte, bool) {
	n, ok := v.word(0)
	if !ok || uint64(n) > uint64(len(v.b)-4) || int(n) > limit {
		return nil, false
	}
	return v.b[4 : 4+n], true
}

func (v value) text() (string, bool) {
	b, ok := v.octets(maxParamText)
	if !ok || len(b) == 0 || b[len(b)-1] != 0 {
		return "", false
	}
	return string(b[:len(b)-1]), true
}

func (v value) guid() (g GUID, ok bool) {
	if len(v.b) < 16 {
		return g, false
	}
	return guidOf([16]byte(v.b[:16])), true
}

// locator returns an IPv4 locator; others are not used.
func (v value) locator() (a netip.AddrPort, ok bool) {
	kind, _ := v.word(0)
	port, _ := v.word(1)
	if len(v.b) < 24 || kind != 1 || port == 0 || port > 65535 {
		return a, false
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(v.b[20:24])), uint16(port)), true
}

// duration returns a Duration_t whose seconds are word i.
func (v value) duration(i int) (time.Duration, bool) {
	sec, _ := v.word(i)
	frac, ok := v.word(i + 1)
	if !ok {
		return 0, false
	}
	if sec >= 0x7fffffff {
		return Infinite, true
	}
	return time.Duration(sec)*time.Second + time.Duration(uint64(frac)*1e9>>32), true
}

// identity returns a GUID and a sequence number.
func (v value) identity() (id Identity, ok bool) {
	if len(v.b) < 24 {
		return id, false
	}
	g, _ := v.guid()
	return Identity{Writer: g, Sequence: int64(int32(v.order.Uint32(v.b[16:])))<<32 | int64(v.order.Uint32(v.b[20:]))}, true
}

func (v value) texts() (list []string, ok bool) {
	n, ok := v.word(0)
	if !ok || n > maxListed {
		return nil, false
	}
	rest := v.b[4:]
	for range n {
		one := value{rest, v.order}
		s, ok := one.text()
		if !ok {
			return nil, false
		}
		list = append(list, s)
		used := (4 + len(s) + 1 + 3) &^ 3
		rest = rest[min(used, len(rest)):]
	}
	return list, true
}
