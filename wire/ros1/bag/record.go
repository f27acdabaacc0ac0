package bag

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"poise/wire/ros1/tcpros"
)

// magic is a file's first line.
const magic = "#ROSBAG V2.0\n"

// Kinds of records.
const (
	opMessage    = 0x02
	opBag        = 0x03
	opIndex      = 0x04
	opChunk      = 0x05
	opChunkInfo  = 0x06
	opConnection = 0x07
)

// bagHeaderBytes is how long the first record's header and data are together, so that it can
// be written again in its place.
const bagHeaderBytes = 4096

// Time is when a message was received, since 1970.
type Time struct{ Sec, Nsec uint32 }

// Compare returns -1, 0 or 1.
func (t Time) Compare(u Time) int {
	if c := cmp.Compare(t.Sec, u.Sec); c != 0 {
		return c
	}
	return cmp.Compare(t.Nsec, u.Nsec)
}

// Nanoseconds returns the time in ns.
func (t Time) Nanoseconds() int64 { return int64(t.Sec)*1e9 + int64(t.Nsec) }

// FromNanoseconds returns a time of so many ns since 1970.
func FromNanoseconds(n int64) Time { return Time{uint32(n / 1e9), uint32(n % 1e9)} }

// Connection is a topic as one node published it.
type Connection struct {
	Topic      string
	Type       string // such as sensor_msgs/JointState
	MD5        string
	Definition string // the full text of the type
	Caller     string // the node; may be empty
	Latching   bool
}

func (c Connection) header() tcpros.Header {
	h := tcpros.Header{"topic": c.Topic, "type": c.Type, "md5sum": c.MD5, "message_definition": c.Definition}
	if c.Caller != "" {
		h["callerid"] = c.Caller
	}
	if c.Latching {
		h["latching"] = "1"
	}
	return h
}

// Message is a message of a bag. Data is ROS 1's serialization.
type Message struct {
	Connection *Connection
	Time       Time
	Data       []byte
}

// FormatError is a file that is not a bag, or is damaged.
type FormatError struct {
	At  int64 // byte of the file, or of the unpacked chunk that At is in
	Why string
}

func (e *FormatError) Error() string { return fmt.Sprintf("at byte %d: %s", e.At, e.Why) }

func formatf(at int64, format string, a ...any) error {
	return &FormatError{at, fmt.Sprintf(format, a...)}
}

// ErrUnindexed is a bag without an index: its recorder did not come to the end.
var ErrUnindexed = errors.New("the bag has no index: its recorder was ended before it could write one")

// record is one record of the file, its data not yet read.
type record struct {
	at     int64 // where it begins
	header tcpros.Header
	data   int64 // where the data begins
	size   int64 // of the data
}

func (r *record) end() int64 { return r.data + r.size }

// op returns the record's kind, 0 if it says none.
func (r *record) op() byte {
	if v := r.header["op"]; len(v) == 1 {
		return v[0]
	}
	return 0
}

func (r *record) uint32(name string) (uint32, error) {
	v := r.header[name]
	if len(v) != 4 {
		return 0, formatf(r.at, "field %s of a record has %d bytes, not 4", name, len(v))
	}
	return binary.LittleEndian.Uint32([]byte(v)), nil
}

func (r *record) uint64(name string) (uint64, error) {
	v := r.header[name]
	if len(v) != 8 {
		return 0, formatf(r.at, "field %s of a record has %d bytes, not 8", name, len(v))
	}
	return binary.LittleEndian.Uint64([]byte(v)), nil
}

func (r *record) time(name string) (Time, error) {
	v, err := r.uint64(name)
	return Time{uint32(v), uint32(v >> 32)}, err
}

// readRecord reads the header of the record at some byte of a file of some size.
func readRecord(f io.ReaderAt, at, size int64) (*record, error) {
	n, err := readLength(f, at, size)
	if err != nil {
		return nil, err
	}
	if n > tcpros.MaxHeader {
		return nil, formatf(at, "the header of a record has %d bytes, the limit is %d", n, tcpros.MaxHeader)
	}
	if n > size-at-4 {
		return nil, formatf(at, "the header of a record has %d bytes, %d are left", n, size-at-4)
	}
	data := make([]byte, n)
	if err := readFull(f, data, at+4); err != nil {
		return nil, err
	}
	h, err := tcpros.ParseHeader(data)
	if err != nil {
		return nil, formatf(at, "%v", err)
	}
	body, err := readLength(f, at+4+n, size)
	if err != nil {
		return nil, err
	}
	r := &record{at: at, header: h, data: at + 8 + n, size: body}
	if r.end() > size {
		return nil, formatf(at, "the data of a record has %d bytes, %d are left", body, size-r.data)
	}
	return r, nil
}

func readLength(f io.ReaderAt, at, size int64) (int64, error) {
	if size-at < 4 {
		return 0, formatf(at, "a record ends inside a length")
	}
	var b [4]byte
	err := readFull(f, b[:], at)
	return int64(binary.LittleEndian.Uint32(b[:])), err
}

func readFull(f io.ReaderAt, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	return err
}

// appendRecord appends a record.
func appendRecord(b []byte, h tcpros.Header, data []byte) []byte {
	b = tcpros.AppendHeader(b, h)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

func le32(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }

func le64(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }

func (t Time) bytes() string { return le32(t.Sec) + le32(t.Nsec) }
