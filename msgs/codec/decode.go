package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Error is data that is not a message of the type.
type Error struct {
	Type   string // sensor_msgs/msg/JointState
	Path   string // of the field: points[3].positions; empty for the whole
	Offset int    // in the data, where it goes wrong
	Msg    string
}

func (e *Error) Error() string {
	where := ""
	if e.Path != "" {
		where = e.Path + ": "
	}
	return fmt.Sprintf("%s: %sat byte %d: %s", e.Type, where, e.Offset, e.Msg)
}

// Decode reads a message into the struct that msg points to, which is overwritten and
// after an error not to be used. Lists without items become nil. It panics if msg is not a
// pointer to the codec's type.
func (c *Codec) Decode(data []byte, msg any) error {
	v := c.value(msg)
	v.SetZero()
	d := decoder{data: data, cdr: c.cdr}
	ok := !c.cdr || d.encapsulation()
	ok = ok && d.value(&c.root, v)
	if ok && !c.cdr && d.pos < len(data) {
		ok = d.failf("%d bytes are left behind the message", len(data)-d.pos)
	}
	if ok {
		return nil
	}
	return &Error{Type: c.typ.Name(c.form), Path: d.path, Offset: d.at, Msg: d.problem}
}

// decoder reads data. Its methods report success; the first that fails sets the problem,
// and its callers complete the path.
type decoder struct {
	data     []byte
	pos      int
	start    int // alignment counts from here
	reserved int // bytes that the items of open lists need at least
	cdr      bool
	big      bool

	problem string
	path    string
	at      int
}

func (d *decoder) failf(format string, a ...any) bool {
	d.problem, d.at = fmt.Sprintf(format, a...), d.pos
	return false
}

// inside puts a field or an item before the path of the problem.
func (d *decoder) inside(step string) bool {
	if d.path != "" && d.path[0] != '[' {
		step += "."
	}
	d.path = step + d.path
	return false
}

// encapsulation reads the header of CDR.
func (d *decoder) encapsulation() bool {
	if len(d.data) < len(encapsulation) {
		return d.failf("%d bytes are too few for the encapsulation header", len(d.data))
	}
	switch kind := binary.BigEndian.Uint16(d.data); kind {
	case 0:
		d.big = true
	case 1:
	default:
		return d.failf("the encapsulation is %#04x, must be 0x0000 or 0x0001, plain CDR", kind)
	}
	d.pos, d.start = len(encapsulation), len(encapsulation)
	return true
}

// take moves over size bytes, aligned if they are a number's, and returns where they
// begin.
func (d *decoder) take(size, align int) (at int, ok bool) {
	at = d.pos
	if d.cdr {
		at += -(at - d.start) & (align - 1)
	}
	if size > len(d.data)-at {
		return 0, d.failf("%d bytes are needed, %d are left", size, max(len(d.data)-at, 0))
	}
	d.pos = at + size
	return at, true
}

func (d *decoder) value(n *node, v reflect.Value) bool {
	switch n.op {
	case opBool:
		at, ok := d.take(1, 1)
		if ok {
			v.SetBool(d.data[at] != 0)
		}
		return ok
	case opInt:
		bits, ok := d.number(n.size)
		shift := 64 - 8*n.size
		v.SetInt(int64(bits<<shift) >> shift)
		return ok
	case opUint:
		bits, ok := d.number(n.size)
		v.SetUint(bits)
		return ok
	case opFloat:
		bits, ok := d.number(n.size)
		if n.size == 4 {
			*v.Addr().Interface().(*float32) = math.Float32frombits(uint32(bits))
		} else {
			v.SetFloat(math.Float64frombits(bits))
		}
		return ok
	case opString:
		return d.text(v)
	case opRecord:
		return d.record(n, v)
	case opEmpty:
		if d.cdr && d.pos < len(d.data) {
			d.pos++ // some peers leave the last one out
		}
		return true
	case opFixed:
		return d.items(n, v)
	}
	return d.list(n, v)
}

func (d *decoder) record(n *node, v reflect.Value) bool {
	for i := range n.fields {
		if f := &n.fields[i]; !d.value(&f.node, v.Field(f.index)) {
			return d.inside(f.name)
		}
	}
	return true
}

// number reads the bits of a number.
func (d *decoder) number(size int) (bits uint64, ok bool) {
	at, ok := d.take(size, size)
	if !ok {
		return 0, false
	}
	b := d.data[at:d.pos]
	switch {
	case size == 1:
		bits = uint64(b[0])
	case size == 2 && d.big:
		bits = uint64(binary.BigEndian.Uint16(b))
	case size == 2:
		bits = uint64(binary.LittleEndian.Uint16(b))
	case size == 4 && d.big:
		bits = uint64(binary.BigEndian.Uint32(b))
	case size == 4:
		bits = uint64(binary.LittleEndian.Uint32(b))
	case d.big:
		bits = binary.BigEndian.Uint64(b)
	default:
		bits = binary.LittleEndian.Uint64(b)
	}
	return bits, true
}

func (d *decoder) text(v reflect.Value) bool {
	count, ok := d.number(4)
	if !ok {
		return false
	}
	if count > uint64(len(d.data)-d.pos) {
		return d.failf("a string of %d bytes, %d are left", count, len(d.data)-d.pos)
	}
	at, _ := d.take(int(count), 1)
	b := d.data[at:d.pos]
	if d.cdr && len(b) > 0 {
		last := len(b) - 1
		if b[last] != 0 {
			d.pos = at + last
			return d.failf("a string of %d bytes does not end with a zero byte", count)
		}
		b = b[:last]
	}
	v.SetString(string(b))
	return true
}

// list reads a list with a count. There is room for it only if the data holds as many
// items, beside what the lists around it still need.
func (d *decoder) list(n *node, v reflect.Value) bool {
	count64, ok := d.number(4)
	if !ok {
		return false
	}
	free := max(len(d.data)-d.pos-d.reserved, 0)
	switch {
	case count64 > uint64(free/n.item.least):
		return d.failf("%d items of at least %d bytes, %d bytes are left for them", count64, n.item.least, free)
	case n.max > 0 && count64 > uint64(n.max):
		return d.failf("%d items, at most %d are allowed", count64, n.max)
	case count64 == 0:
		return true
	}
	count := int(count64)
	switch n.op {
	case opBytes:
		at, ok := d.take(count, 1)
		if ok {
			v.SetBytes(append([]byte(nil), d.data[at:d.pos]...))
		}
		return ok
	case opFloats:
		return d.floats(count, v.Addr().Interface().(*[]float64))
	}
	v.Set(reflect.MakeSlice(v.Type(), count, count))
	return d.items(n, v)
}

// items reads the items of a list, which has its length.
func (d *decoder) items(n *node, v reflect.Value) bool {
	d.reserved += v.Len() * n.item.least
	for i := range v.Len() {
		d.reserved -= n.item.least
		if !d.value(n.item, v.Index(i)) {
			return d.inside("[" + strconv.Itoa(i) + "]")
		}
	}
	return true
}

func (d *decoder) floats(count int, dst *[]float64) bool {
	at, ok := d.take(8*count, 8)
	if !ok {
		return false
	}
	out := make([]float64, count)
	for i := range out {
		b := d.data[at+8*i : at+8*i+8]
		if d.big {
			out[i] = math.Float64frombits(binary.BigEndian.Uint64(b))
		} else {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	}
	*dst = out
	return true
}
