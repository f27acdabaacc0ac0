package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
)

// encapsulation is the header of plain, little-endian CDR without options.
var encapsulation = [4]byte{0, 1, 0, 0}

// Append appends the message that msg points to. It panics if msg is not a pointer to the
// codec's type.
func (c *Codec) Append(dst []byte, msg any) []byte {
	e := encoder{b: dst, cdr: c.cdr}
	if c.cdr {
		e.b = append(e.b, encapsulation[:]...)
	}
	e.start = len(e.b)
	e.value(&c.root, c.value(msg))
	return e.b
}

// value returns the struct behind a pointer of the codec's type.
func (c *Codec) value(msg any) reflect.Value {
	if !c.typ.Holds(msg) {
		panic(fmt.Sprintf("codec: a %T is not a pointer to a message of type %s", msg, c.typ))
	}
	return reflect.ValueOf(msg).Elem()
}

type encoder struct {
	b     []byte
	start int // alignment counts from here
	cdr   bool
}

// align puts zeros before a number of the given size.
func (e *encoder) align(size int) {
	if !e.cdr {
		return
	}
	for (len(e.b)-e.start)&(size-1) != 0 {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) count(n int) {
	e.align(4)
	e.b = binary.LittleEndian.AppendUint32(e.b, uint32(n))
}

func (e *encoder) value(n *node, v reflect.Value) {
	switch n.op {
	case opBool:
		bit := byte(0)
		if v.Bool() {
			bit = 1
		}
		e.b = append(e.b, bit)
	case opInt:
		e.number(n.size, uint64(v.Int()))
	case opUint:
		e.number(n.size, v.Uint())
	case opFloat:
		// through pointers: a float32 widened and narrowed may change its NaN
		if n.size == 4 {
			e.number(4, uint64(math.Float32bits(*v.Addr().Interface().(*float32))))
		} else {
			e.number(8, math.Float64bits(v.Float()))
		}
	case opString:
		e.text(v.String())
	case opRecord:
		for i := range n.fields {
			f := &n.fields[i]
			e.value(&f.node, v.Field(f.index))
		}
	case opEmpty:
		if e.cdr {
			e.b = append(e.b, 0) // IDL has no empty structs: ROS 2 puts a byte there
		}
	default:
		e.list(n, v)
	}
}

func (e *encoder) list(n *node, v reflect.Value) {
	if n.op != opFixed {
		e.count(v.Len())
	}
	switch n.op {
	case opFloats:
		e.floats(*v.Addr().Interface().(*[]float64))
	case opBytes:
		e.b = append(e.b, v.Bytes()...)
	default:
		for i := range v.Len() {
			e.value(n.item, v.Index(i))
		}
	}
}

func (e *encoder) number(size int, bits uint64) {
	e.align(size)
	switch size {
	case 1:
		e.b = append(e.b, byte(bits))
	case 2:
		e.b = binary.LittleEndian.AppendUint16(e.b, uint16(bits))
	case 4:
		e.b = binary.LittleEndian.AppendUint32(e.b, uint32(bits))
	default:
		e.b = binary.LittleEndian.AppendUint64(e.b, bits)
	}
}

func (e *encoder) floats(list []float64) {
	if len(list) == 0 {
		return // nothing to align either
	}
	e.align(8)
	for _, x := range list {
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(x))
	}
}

func (e *encoder) text(s string) {
	if !e.cdr {
		e.count(len(s))
		e.b = append(e.b, s...)
		return
	}
	e.count(len(s) + 1)
	e.b = append(append(e.b, s...), 0)
}
