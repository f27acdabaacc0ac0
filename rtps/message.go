package rtps

import (
	"encoding/binary"
	"time"
)

// Kinds of submessages: RTPS 2.5, table 9.13. Others are skipped.
const (
	subAckNack       = 0x06
	subHeartbeat     = 0x07
	subGap           = 0x08
	subInfoTime      = 0x09
	subInfoSource    = 0x0c
	subInfoDest      = 0x0e
	subNackFrag      = 0x12
	subHeartbeatFrag = 0x13
	subData          = 0x15
	subDataFrag      = 0x16
)

// Flags of submessages.
const (
	flagLittle  = 0x01
	flagFinal   = 0x02 // HEARTBEAT, ACKNACK
	flagInvalid = 0x02 // INFO_TS without a time
	flagAlive   = 0x04 // HEARTBEAT: the writer asserts its liveliness
	flagInline  = 0x02 // DATA, DATA_FRAG
	flagPayload = 0x04 // DATA
	flagKey     = 0x08 // DATA: the payload is a key alone
)

const (
	headerSize = 20
	maxSet     = 256 // numbers in a set
)

// packet builds a message. Its buffer is used again and again.
type packet struct{ b []byte }

func (k *packet) begin(prefix Prefix) {
	k.b = append(k.b[:0], 'R', 'T', 'P', 'S', 2, 4, VendorOwn[0], VendorOwn[1])
	k.b = append(k.b, prefix[:]...)
}

// sub begins a submessage and returns where, for close.
func (k *packet) sub(kind, flags byte) int {
	k.b = append(k.b, kind, flags|flagLittle, 0, 0)
	return len(k.b)
}

// close writes the length of a submessage, padded to 4.
func (k *packet) close(at int) {
	for (len(k.b)-at)&3 != 0 {
		k.b = append(k.b, 0)
	}
	binary.LittleEndian.PutUint16(k.b[at-2:], uint16(len(k.b)-at))
}

func (k *packet) u16(x uint16)           { k.b = binary.LittleEndian.AppendUint16(k.b, x) }
func (k *packet) u32(x uint32)           { k.b = binary.LittleEndian.AppendUint32(k.b, x) }
func (k *packet) entities(a, b EntityID) { k.b = append(append(k.b, a[:]...), b[:]...) }

func (k *packet) sequence(n int64) {
	k.u32(uint32(uint64(n) >> 32))
	k.u32(uint32(n))
}

func (k *packet) dest(prefix Prefix) {
	at := k.sub(subInfoDest, 0)
	k.b = append(k.b, prefix[:]...)
	k.close(at)
}

func (k *packet) time(t time.Time) {
	at := k.sub(subInfoTime, 0)
	sec, frac := wireTime(t)
	k.u32(sec)
	k.u32(frac)
	k.close(at)
}

// data appends a whole sample.
func (k *packet) data(reader, writer EntityID, c *change) {
	flags := byte(0)
	if len(c.inline) > 0 {
		flags |= flagInline
	}
	switch {
	case len(c.data) > 0 && c.key:
		flags |= flagKey
	case len(c.data) > 0:
		flags |= flagPayload
	}
	at := k.sub(subData, flags)
	k.u16(0)
	k.u16(16) // bytes from here to the inline QoS
	k.entities(reader, writer)
	k.sequence(c.sequence)
	k.b = append(k.b, c.inline...)
	k.b = append(k.b, c.data...)
	k.close(at)
}

// fragment appends the fragment with a number, counted from 1.
func (k *packet) fragment(reader, writer EntityID, c *change, number uint32, size int) {
	flags := byte(0)
	if len(c.inline) > 0 {
		flags |= flagInline
	}
	at := k.sub(subDataFrag, flags)
	k.u16(0)
	k.u16(28)
	k.entities(reader, writer)
	k.sequence(c.sequence)
	k.u32(number)
	k.u16(1)
	k.u16(uint16(size))
	k.u32(uint32(len(c.data)))
	k.b = append(k.b, c.inline...)
	from := int(number-1) * size
	k.b = append(k.b, c.data[from:min(from+size, len(c.data))]...)
	k.close(at)
}

func (k *packet) heartbeat(reader, writer EntityID, first, last int64, count uint32, final bool) {
	flags := byte(0)
	if final {
		flags = flagFinal
	}
	at := k.sub(subHeartbeat, flags)
	k.entities(reader, writer)
	k.sequence(first)
	k.sequence(last)
	k.u32(count)
	k.close(at)
}

func (k *packet) ackNack(reader, writer EntityID, base int64, missing *set, count uint32) {
	flags := byte(0)
	if missing.bits == 0 && base > 1 {
		flags = flagFinal
	}
	at := k.sub(subAckNack, flags)
	k.entities(reader, writer)
	k.sequence(base)
	k.set(missing)
	k.u32(count)
	k.close(at)
}

func (k *packet) gap(reader, writer EntityID, start, base int64, more *set) {
	at := k.sub(subGap, 0)
	k.entities(reader, writer)
	k.sequence(start)
	k.sequence(base)
	k.set(more)
	k.close(at)
}

func (k *packet) nackFrag(reader, writer EntityID, sequence int64, base uint32, missing *set, count uint32) {
	at := k.sub(subNackFrag, 0)
	k.entities(reader, writer)
	k.sequence(sequence)
	k.u32(base)
	k.set(missing)
	k.u32(count)
	k.close(at)
}

func (k *packet) set(s *set) {
	k.u32(uint32(s.bits))
	for i := range (s.bits + 31) / 32 {
		k.u32(s.words[i])
	}
}

// set is a set of up to 256 numbers, from a base on that it does not know.
type set struct {
	bits  int
	words [maxSet / 32]uint32
}

func (s *set) add(i int) {
	s.words[i/32] |= 1 << (31 - i%32)
	s.bits = max(s.bits, i+1)
}

func (s *set) has(i int) bool { return i < s.bits && s.words[i/32]&(1<<(31-i%32)) != 0 }

// cursor reads the fields of a submessage. After the end everything is zero, and bad is set.
type cursor struct {
	b     []byte
	order binary.ByteOrder
	bad   bool
}

func (c *cursor) take(n int) []byte {
	if n > len(c.b) {
		c.bad, c.b = true, nil
		return nil
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) entity() (e EntityID) {
	copy(e[:], c.take(4))
	return e
}

func (c *cursor) sequence() int64 {
	high := int64(int32(c.u32()))
	return high<<32 | int64(c.u32())
}

func (c *cursor) set() (s set) {
	n := c.u32()
	if n > maxSet {
		c.bad = true
		return s
	}
	for i := range (int(n) + 31) / 32 {
		s.words[i] = c.u32()
	}
	s.bits = int(n)
	return s
}

// dataHead is what stands before the payload of DATA and DATA_FRAG.
type dataHead struct {
	reader, writer EntityID
	sequence       int64

	first     uint32 // of a fragment, its number; 0 of a whole sample
	count     int    // fragments in the submessage
	size      int    // of a fragment
	total     int    // bytes of the sample
	payload   []byte
	status    uint32
	key       GUID // of a sample that is disposed, if it is told
	hasKey    bool
	related   Identity
	isRelated bool
}

// readData reads DATA or DATA_FRAG. ok is false if it makes no sense.
func readData(kind, flags byte, body []byte) (h dataHead, ok bool) {
	c := cursor{b: body, order: byteOrder(flags&flagLittle == 0)}
	c.u16()
	skip := int(c.u16())
	rest := c.b
	h.reader, h.writer, h.sequence = c.entity(), c.entity(), c.sequence()
	if kind == subDataFrag {
		h.first, h.count, h.size, h.total = c.u32(), int(c.u16()), int(c.u16()), int(c.u32())
		if h.first == 0 || h.count == 0 || h.size == 0 || h.total <= 0 {
			return h, false
		}
	}
	if c.bad || h.sequence <= 0 || skip > len(rest) {
		return h, false
	}
	h.payload = rest[skip:]
	if flags&flagInline != 0 {
		size, ok := eachParam(h.payload, flags&flagLittle == 0, h.inline)
		if !ok {
			return h, false
		}
		h.payload = h.payload[size:]
	}
	if kind == subData && flags&(flagPayload|flagKey) == 0 {
		h.payload = nil
	}
	return h, true
}

// inline takes a parameter of the inline QoS.
func (h *dataHead) inline(pid uint16, v value) {
	switch pid {
	case pidStatus:
		if len(v.b) >= 4 {
			h.status = binary.BigEndian.Uint32(v.b) // in this order always
		}
	case pidKeyHash:
		if g, ok := v.guid(); ok {
			h.key, h.hasKey = g, true
		}
	case pidRelated, pidRelatedFastDDS:
		if id, ok := v.identity(); ok {
			h.related, h.isRelated = id, true
		}
	}
}
