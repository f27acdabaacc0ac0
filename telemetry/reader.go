package telemetry

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"regexp"
	"syscall"

	"poise/arbiter"
	"poise/loop"
	"poise/robot"
	"poise/servo"
)

// FormatError says where and why a recording cannot be read.
type FormatError struct {
	At   int64 // bytes from the beginning of the part
	What string
}

func (e *FormatError) Error() string { return fmt.Sprintf("recording: byte %d: %s", e.At, e.What) }

// Bounds of what a recording may ask for before it has been read.
const (
	maxRecord   = 1 << 26 // bytes
	maxJoints   = robot.MaxLeaves
	maxSensors  = 256
	maxPrograms = 1 << 20
	maxPeriod   = 10 // s
)

// Tick is one recorded tick.
type Tick struct {
	servo.Tick
	Stop     uint8
	Late     uint32
	Bus      servo.Fault
	Hash     uint64
	Orders   []Order
	Measured *servo.Measurement // as exchanged; the reader's, until the next tick is read
	Missing  uint64             // ticks that are missing before this one
	position int64
}

// Order is a recorded order; Program is the number of its program, 0 for none.
type Order struct {
	loop.Order
	Number uint64
}

// Reader reads a recording, tick by tick.
type Reader struct {
	Header   Header
	Turned   bool // the ring has overwritten its beginning: the recording begins in the middle
	r        *bufio.Reader
	at       int64
	last     *servo.Measurement
	programs map[uint64][]byte
	ahead    *record  // read, and not used
	more     []string // parts that follow
	open     *os.File // the part that is read
}

type record struct {
	kind    byte
	payload []byte
	at      int64
}

// NewReader reads the header.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{r: bufio.NewReaderSize(from, 1<<16), programs: map[uint64][]byte{}}
	return r, r.begin(&r.Header)
}

// Open opens a recording of one or more parts; see Parts.
func Open(name string) (*Reader, error) {
	parts := Parts(name)
	if len(parts) == 0 {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	file, err := os.Open(parts[0])
	if err != nil {
		return nil, err
	}
	r, err := NewReader(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", parts[0], err)
	}
	r.open, r.more, r.Turned = file, parts[1:], numbered.MatchString(parts[0])
	return r, nil
}

// numbered is the name of a part that is not the first.
var numbered = regexp.MustCompile(`\.[0-9]{6,}$`)

// Close closes what Open has opened.
func (r *Reader) Close() error {
	if r.open == nil {
		return nil
	}
	return r.open.Close()
}

// nextPart goes on with the next part; io.EOF if there is none.
func (r *Reader) nextPart() error {
	if len(r.more) == 0 {
		return io.EOF
	}
	name := r.more[0]
	r.more = r.more[1:]
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	r.open.Close() // it was only read
	r.open = file
	r.r.Reset(file)
	var h Header
	if err := r.begin(&h); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if h.Configuration != r.Header.Configuration || h.Model != r.Header.Model {
		return fmt.Errorf("%s: part of another recording", name)
	}
	return nil
}

// begin reads the header of a part.
func (r *Reader) begin(h *Header) error {
	first := make([]byte, len(magic))
	if _, err := io.ReadFull(r.r, first); err != nil || string(first) != magic {
		return &FormatError{0, fmt.Sprintf("begins with %q, a recording with %q", first, magic)}
	}
	r.at = int64(len(magic))
	rec, err := r.record()
	if err != nil {
		return r.broken(err, r.at)
	}
	if rec.kind != headerRecord {
		return &FormatError{rec.at, "no header"}
	}
	if err := json.Unmarshal(rec.payload, h); err != nil {
		return &FormatError{rec.at, "header: " + err.Error()}
	}
	if h.Joints < 0 || h.Joints > maxJoints || h.Leaves < h.Joints || h.Leaves > robot.MaxLeaves || !(h.Period > 0 && h.Period < maxPeriod) {
		return &FormatError{rec.at, fmt.Sprintf("header: %d joints, %d leaves, period %g s", h.Joints, h.Leaves, h.Period)}
	}
	if s := h.Settings.Sensors; s.IMU < 0 || s.IMU > maxSensors || s.Touch < 0 || s.Touch > maxSensors {
		return &FormatError{rec.at, fmt.Sprintf("header: %d inertial units and %d touch sensors, at most %d of each", s.IMU, s.Touch, maxSensors)}
	}
	r.last = servo.NewMeasurement(h.Joints, h.Settings.Sensors)
	return nil
}

// next reads a record, of the next part if this one is over; io.EOF at the end. A part that
// ends in the middle of a record and is followed by another one was left behind by a disk that
// refused: the gap is told there.
func (r *Reader) next() (*record, error) {
	if rec := r.ahead; rec != nil {
		r.ahead = nil
		return rec, nil
	}
	for {
		rec, err := r.record()
		if err == nil || !errors.Is(err, io.EOF) && !torn(err) || len(r.more) == 0 {
			return rec, err
		}
		if err := r.nextPart(); err != nil {
			return nil, err
		}
	}
}

// tornText tells of a file that ends in the middle of a record.
const tornText = "ends in the middle of a record: the last ticks are missing"

func torn(err error) bool {
	var f *FormatError
	return errors.As(err, &f) && f.What == tornText
}

// record reads a record of this part; io.EOF at its end.
func (r *Reader) record() (*record, error) {
	at := r.at
	kind, err := r.r.ReadByte()
	if err != nil {
		return nil, err
	}
	length, n, err := readUvarint(r.r)
	if err != nil {
		return nil, &FormatError{at, tornText}
	}
	if length > maxRecord {
		return nil, &FormatError{at, fmt.Sprintf("record of %d bytes, at most %d", length, maxRecord)}
	}
	body, err := io.ReadAll(io.LimitReader(r.r, int64(length)+4))
	if err != nil {
		return nil, err
	}
	if uint64(len(body)) != length+4 {
		return nil, &FormatError{at, tornText}
	}
	payload := body[:length]
	if crc32.ChecksumIEEE(payload) != binary.LittleEndian.Uint32(body[length:]) {
		return nil, &FormatError{at, "a record is damaged"}
	}
	r.at += int64(1+n) + int64(len(body))
	return &record{kind, payload, at}, nil
}

func readUvarint(r io.ByteReader) (v uint64, n int, err error) {
	for shift := uint(0); shift < 64; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, n, err
		}
		n++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, n, nil
		}
	}
	return 0, n, errors.New("number too long")
}

// broken makes a FormatError of whatever went wrong.
func (r *Reader) broken(err error, at int64) error {
	var f *FormatError
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, io.EOF):
		return &FormatError{at, "ends too early"}
	}
	return fmt.Errorf("recording: %w", err)
}

// Next reads the next tick, valid until the next call; io.EOF at the end.
func (r *Reader) Next(t *Tick) error {
	missing := uint64(0)
	for {
		rec, err := r.next()
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if err != nil {
			return r.broken(err, r.at)
		}
		c := &cursor{b: rec.payload}
		switch rec.kind {
		case gapRecord:
			missing += c.uvarint()
		case programRecord:
			n := c.uvarint()
			if _, again := r.programs[n]; !again && len(r.programs) >= maxPrograms {
				return &FormatError{rec.at, fmt.Sprintf("more than %d programs", maxPrograms)}
			}
			if !c.bad {
				r.programs[n] = c.b
				c.b = nil
			}
		case checkpointRecord:
			c.b = nil // of a tick that was not asked for
		case endRecord:
		case tickRecord:
			r.tick(c, t)
			t.Missing, t.position = missing, rec.at
		default:
			return &FormatError{rec.at, fmt.Sprintf("unknown kind of record %d", rec.kind)}
		}
		if c.bad || len(c.b) != 0 {
			return &FormatError{rec.at, fmt.Sprintf("record of kind %d has the wrong length", rec.kind)}
		}
		if rec.kind == tickRecord {
			return nil
		}
	}
}

// Program returns what was recorded of a program, by its number.
func (r *Reader) Program(number uint64) ([]byte, bool) {
	blob, ok := r.programs[number]
	return blob, ok
}

// checkpoint reads the checkpoint of the tick that was just read, if it has one.
func (r *Reader) checkpoint(dst *checkpoint) (bool, error) {
	rec, err := r.next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, r.broken(err, r.at)
	}
	if rec.kind != checkpointRecord {
		r.ahead = rec
		return false, nil
	}
	c := &cursor{b: rec.payload}
	for _, v := range [...][]float64{dst.q, dst.v, dst.a, dst.tau} {
		for i := range v {
			v[i] = c.float()
		}
	}
	for i := range dst.writer {
		dst.writer[i] = arbiter.ClientID(c.byte())
	}
	dst.power, dst.faults = loop.Power(c.byte()), int(c.uvarint())
	if c.bad || len(c.b) != 0 {
		return false, &FormatError{rec.at, "checkpoint has the wrong length"}
	}
	return true, nil
}

func (r *Reader) tick(c *cursor, t *Tick) {
	t.N, t.Time, t.Dt, t.Stamp = c.uvarint(), c.varint(), c.float(), c.varint()
	t.Stop, t.Late, t.Bus, t.Hash = c.byte(), uint32(c.uvarint()), servo.Fault(c.uvarint()), c.uint64()
	orders := int(c.byte())
	t.Orders = t.Orders[:0]
	for range min(orders, maxOrders) {
		o := Order{Order: loop.Order{Kind: loop.OrderKind(c.byte()), Controller: arbiter.ClientID(c.byte())}}
		o.Goal, o.Value, o.Number = c.uvarint(), c.float(), c.uvarint()
		t.Orders = append(t.Orders, o)
	}
	c.bad = c.bad || orders > maxOrders
	c.measurement(r.last)
	t.Measured = r.last
}

// cursor takes a payload apart; bad is set when it is too short.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) byte() (x byte) {
	if len(c.b) == 0 {
		c.bad = true
		return 0
	}
	x, c.b = c.b[0], c.b[1:]
	return x
}

func (c *cursor) uint64() uint64 {
	if len(c.b) < 8 {
		c.bad, c.b = true, nil
		return 0
	}
	x := binary.LittleEndian.Uint64(c.b)
	c.b = c.b[8:]
	return x
}

func (c *cursor) float() float64 { return math.Float64frombits(c.uint64()) }

func (c *cursor) uvarint() uint64 {
	x, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return x
}

func (c *cursor) varint() int64 {
	x, n := binary.Varint(c.b)
	if n <= 0 {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return x
}
