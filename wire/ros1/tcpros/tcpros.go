// Package tcpros is how ROS 1 nodes exchange messages and calls over TCP: a header of names
// and values from each side, then bodies, each with its length before it.
//
//	fields, err := tcpros.ReadHeader(conn, 1<<20)   // of a peer that connects
//	err = tcpros.WriteHeader(conn, tcpros.Header{"callerid": "/poise", …})
//	n, err := tcpros.ReadLength(conn, 8<<20)
//
// Lengths are little-endian and have 32 bits. What is read is bounded before memory is
// taken for it. Publishers keeps a node reading those that the master lists.
//
// Reference: wiki.ros.org/ROS/TCPROS and ROS/Connection Header.
package tcpros

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Header is what a side says first.
type Header map[string]string

// MaxHeader is how long a header may be: definitions of messages are in it.
const MaxHeader = 1 << 20

// LengthError is a length beyond its limit.
type LengthError struct {
	What   string
	Length uint32
	Limit  int
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("%s has %d bytes, the limit is %d", e.What, e.Length, e.Limit)
}

// ReadLength reads a length of what follows.
func ReadLength(r io.Reader) (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// ReadHeader reads a header of at most so many bytes.
func ReadHeader(r io.Reader, most int) (Header, error) {
	n, err := ReadLength(r)
	if err != nil {
		return nil, err
	}
	if int64(n) > int64(most) {
		return nil, &LengthError{What: "the header", Length: n, Limit: most}
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	return ParseHeader(data)
}

// ParseHeader reads the fields of a header, without its length.
func ParseHeader(data []byte) (Header, error) {
	h := Header{}
	for len(data) > 0 {
		if len(data) < 4 {
			return nil, fmt.Errorf("the header ends inside a length")
		}
		n := binary.LittleEndian.Uint32(data)
		data = data[4:]
		if uint64(n) > uint64(len(data)) {
			return nil, fmt.Errorf("a field of the header has %d bytes, %d are left", n, len(data))
		}
		name, value, ok := strings.Cut(string(data[:n]), "=")
		if !ok {
			return nil, fmt.Errorf("the field %.50q of the header has no =", data[:n])
		}
		h[name] = value
		data = data[n:]
	}
	return h, nil
}

// AppendHeader appends a header with its length.
func AppendHeader(b []byte, h Header) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = AppendFields(b, h)
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// AppendFields appends the fields of a header, without its length.
func AppendFields(b []byte, h Header) []byte {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(name)+1+len(h[name])))
		b = append(append(append(b, name...), '='), h[name]...)
	}
	return b
}

// WriteHeader writes a header.
func WriteHeader(w io.Writer, h Header) error {
	_, err := w.Write(AppendHeader(nil, h))
	return err
}

// AppendBody appends what append adds, with its length before it.
func AppendBody(b []byte, add func([]byte) []byte) []byte {
	start := len(b)
	b = add(append(b, 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}
