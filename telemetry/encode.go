package telemetry

import (
	"bufio"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"reflect"

	"poise/control"
	"poise/loop"
	"poise/servo"
)

// A recording is the magic line, the header, then records:
//
//	kind  length  payload  CRC-32 of the payload
//	byte  uvarint          4 bytes, little endian
//
// Numbers in a payload are uvarints, or eight bytes where they are floats.
const magic = "poise recording 2\n"

// The kinds of records.
const (
	headerRecord     = 1 // JSON
	programRecord    = 2 // its number, what MarshalBinary made of it
	tickRecord       = 3
	checkpointRecord = 4 // of the tick before it
	gapRecord        = 5 // ticks that are missing here
	endRecord        = 6 // nothing: the recording ended in order
)

// Numbers of programs that are not counted: one that could not be written down,
// and values of streams, whose numbers are used again in every tick.
const (
	opaque   = math.MaxUint32
	streamed = opaque - maxOrders // and the ones after it, by order of a tick
)

// memory is how many programs are remembered in order to be written only once.
const memory = 64

type encoder struct {
	w        *bufio.Writer
	buf      []byte             // payload of a tick
	whole    []byte             // a record
	last     *servo.Measurement // of the tick before
	programs [memory]written    // the last ones
	count    uint64             // of programs
}

// written is a program that has a number.
type written struct {
	program control.Program
	number  uint64
}

func newEncoder(w io.Writer, h *Header) (*encoder, error) {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16), last: servo.NewMeasurement(h.Joints, h.Settings.Sensors)}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	if _, err := e.w.WriteString(magic); err != nil {
		return nil, err
	}
	return e, e.record(headerRecord, text)
}

func (e *encoder) flush() error { return e.w.Flush() }

// record writes a record in one piece: whatever ends the file, only whole records
// are in it.
func (e *encoder) record(kind byte, payload []byte) error {
	b := binary.AppendUvarint(append(e.whole[:0], kind), uint64(len(payload)))
	b = binary.LittleEndian.AppendUint32(append(b, payload...), crc32.ChecksumIEEE(payload))
	e.whole = b
	if e.w.Available() < len(b) {
		if err := e.w.Flush(); err != nil {
			return err
		}
	}
	_, err := e.w.Write(b)
	return err
}

func (e *encoder) frame(f *frame) error {
	if f.missing > 0 {
		if err := e.record(gapRecord, binary.AppendUvarint(nil, f.missing)); err != nil {
			return err
		}
	}
	numbers := [maxOrders]uint64{}
	for i := range f.orders {
		var err error
		if numbers[i], err = e.program(&f.orders[i], streamed+uint64(i)); err != nil {
			return err
		}
	}
	b := e.buf[:0]
	b = binary.AppendUvarint(b, f.tick.N)
	b = binary.AppendVarint(b, f.tick.Time)
	b = appendFloat(b, f.tick.Dt)
	b = binary.AppendVarint(b, f.tick.Stamp)
	b = append(b, f.stop)
	b = binary.AppendUvarint(b, uint64(f.late))
	b = binary.AppendUvarint(b, uint64(f.bus))
	b = binary.LittleEndian.AppendUint64(b, f.hash)
	b = append(b, byte(len(f.orders)))
	for i := range f.orders {
		o := &f.orders[i]
		b = append(b, byte(o.Kind), byte(o.Controller))
		b = binary.AppendUvarint(b, o.Goal)
		b = appendFloat(b, o.Value)
		b = binary.AppendUvarint(b, numbers[i])
	}
	b = e.measurement(b, f.measured)
	e.buf = b
	if err := e.record(tickRecord, b); err != nil || !f.point {
		return err
	}
	return e.record(checkpointRecord, appendCheckpoint(nil, &f.check))
}

// program writes the program of an order when it is first used, and returns its
// number: 0 is no program. Values of streams are used once.
func (e *encoder) program(o *loop.Order, once uint64) (uint64, error) {
	p := o.Program
	if p == nil {
		return 0, nil
	}
	same := reflect.TypeOf(p).Comparable() // a pointer, as programs are
	for i := range e.programs {
		if same && e.programs[i].program == p {
			return e.programs[i].number, nil
		}
	}
	blob, ok := write(p)
	if !ok {
		return opaque, nil
	}
	n := once
	if o.Kind != loop.Feed {
		e.count++
		n = e.count
		if same {
			e.programs[n%memory] = written{p, n}
		}
	}
	return n, e.record(programRecord, append(binary.AppendUvarint(nil, n), blob...))
}

// write asks a program to write itself down. One that does not, cannot, or panics
// costs the replay from there on, and nothing else.
func write(p control.Program) (blob []byte, ok bool) {
	m, ok := p.(encoding.BinaryMarshaler)
	if !ok {
		return nil, false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	blob, err := m.MarshalBinary()
	return blob, err == nil
}

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

func appendCheckpoint(b []byte, c *checkpoint) []byte {
	for _, v := range [...][]float64{c.q, c.v, c.a, c.tau} {
		for _, x := range v {
			b = appendFloat(b, x)
		}
	}
	for _, w := range c.writer {
		b = append(b, byte(w))
	}
	b = append(b, byte(c.power))
	return binary.AppendUvarint(b, uint64(c.faults))
}

var _ loop.Tap = (*Recorder)(nil)
