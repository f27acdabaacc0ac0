package rtps

import (
	"fmt"
	"time"
)

// Prefix names a participant.
type Prefix [12]byte

// EntityID names an endpoint of a participant.
type EntityID [4]byte

// GUID names an endpoint, or with entity 000001c1 a participant.
type GUID struct {
	Prefix Prefix
	Entity EntityID
}

// Bytes returns the 16 bytes of the GUID.
func (g GUID) Bytes() (b [16]byte) {
	copy(b[:], g.Prefix[:])
	copy(b[12:], g.Entity[:])
	return b
}

// guidOf returns the GUID of 16 bytes.
func guidOf(b [16]byte) (g GUID) {
	copy(g.Prefix[:], b[:])
	copy(g.Entity[:], b[12:])
	return g
}

func (g GUID) String() string { return fmt.Sprintf("%x.%x", g.Prefix[:], g.Entity[:]) }

// Vendor names who wrote an implementation.
type Vendor [2]byte

// Vendors that are told apart.
var (
	VendorOwn     = Vendor{0x01, 0x7f} // unassigned
	VendorFastDDS = Vendor{0x01, 0x0f}
	VendorCyclone = Vendor{0x01, 0x10}
	VendorRustDDS = Vendor{0x01, 0x12}
)

func (v Vendor) String() string {
	switch v {
	case VendorOwn:
		return "poise"
	case VendorFastDDS:
		return "Fast DDS"
	case VendorCyclone:
		return "Cyclone DDS"
	case VendorRustDDS:
		return "RustDDS"
	}
	return fmt.Sprintf("vendor %x", v[:])
}

// Identity names a sample: its writer and its number there.
type Identity struct {
	Writer   GUID
	Sequence int64
}

// UnknownSequence is the number of a sample that is not known.
const UnknownSequence int64 = -1 << 32

// Entities that every participant has.
var (
	entityUnknown     = EntityID{}
	entityParticipant = EntityID{0, 0, 1, 0xc1}
	spdpWriter        = EntityID{0, 1, 0, 0xc2}
	spdpReader        = EntityID{0, 1, 0, 0xc7}
	pubsWriter        = EntityID{0, 0, 3, 0xc2}
	pubsReader        = EntityID{0, 0, 3, 0xc7}
	subsWriter        = EntityID{0, 0, 4, 0xc2}
	subsReader        = EntityID{0, 0, 4, 0xc7}
)

// Kinds of user endpoints, the last byte of an EntityID: topics without keys.
const (
	kindWriter = 0x03
	kindReader = 0x04
)

// isWriter reports whether an entity is a writer, built in or not.
func (e EntityID) isWriter() bool {
	k := e[3] & 0x3f
	return k == 2 || k == 3
}

// wireTime returns a time as INFO_TS has it: seconds since 1970 and a fraction of 2^32.
func wireTime(t time.Time) (sec, frac uint32) {
	return uint32(t.Unix()), uint32(uint64(t.Nanosecond()) << 32 / 1e9)
}

// goTime is the opposite of wireTime.
func goTime(sec, frac uint32) time.Time {
	return time.Unix(int64(sec), int64(uint64(frac)*1e9>>32))
}
