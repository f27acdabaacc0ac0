package pack

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"poise/msgs"
)

// encapsulation is CDR's header: plain, little-endian, no options.
var encapsulation = []byte{0, 1, 0, 0}

// Raw appends a message as ROS's peers serialize it: ROS 1's format, or CDR with
// its header for ROS 2's.
func Raw(b []byte, msg any, f msgs.Form) []byte {
	v := reflect.Indirect(reflect.ValueOf(msg))
	w := rawWriter{b: b, form: f}
	if f == msgs.ROS2 {
		w.b = append(w.b, encapsulation...)
		w.align = true
	}
	w.start = len(w.b)
	w.value(v)
	return w.b
}

// rawWriter serializes in order of the fields. CDR differs from ROS 1's format by
// alignment, by the zero at the end of a string, and by a byte in empty structs.
type rawWriter struct {
	b     []byte
	start int // alignment counts from here
	form  msgs.Form
	align bool
}

func (w *rawWriter) pad(size int) {
	if !w.align {
		return
	}
	for (len(w.b)-w.start)%size != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *rawWriter) count(n int) {
	w.pad(4)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(n))
}

func (w *rawWriter) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		fields := fieldsOf(v.Type(), w.form)
		if len(fields) == 0 && w.align {
			w.b = append(w.b, 0) // IDL has no empty structs: ROS 2 puts a byte there
		}
		for _, x := range fields {
			w.value(v.Field(x.index))
		}
	case reflect.Slice:
		w.count(v.Len())
		w.items(v)
	case reflect.Array:
		w.items(v)
	case reflect.String:
		w.text(v.String())
	default:
		w.pad(int(v.Type().Size()))
		w.b = appendPlain(w.b, v)
	}
}

func (w *rawWriter) items(v reflect.Value) {
	for i := range v.Len() {
		w.value(v.Index(i))
	}
}

func (w *rawWriter) text(s string) {
	n := len(s)
	if w.align {
		n++
	}
	w.count(n)
	w.b = append(w.b, s...)
	if w.align {
		w.b = append(w.b, 0)
	}
}

// appendPlain appends a number little-endian, in its own width.
func appendPlain(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.Float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v.Float())))
	}
	var bits uint64
	switch {
	case v.CanInt():
		bits = uint64(v.Int())
	case v.CanUint():
		bits = v.Uint()
	default:
		panic(fmt.Sprintf("pack: a message holds a %s", v.Type()))
	}
	switch v.Type().Size() {
	case 1:
		return append(b, byte(bits))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(bits))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(bits))
	}
	return binary.LittleEndian.AppendUint64(b, bits)
}
