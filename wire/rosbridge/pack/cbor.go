package pack

import (
	"encoding/binary"
	"math"
	"reflect"

	"poise/msgs"
)

// Major types of CBOR, RFC 8949 section 3.1, in the upper three bits.
const (
	majorUint   = 0 << 5
	majorNegInt = 1 << 5
	majorBytes  = 2 << 5
	majorText   = 3 << 5
	majorArray  = 4 << 5
	majorMap    = 5 << 5
	majorTag    = 6 << 5
	simpleFalse = 0xf4
	simpleTrue  = 0xf5
	doubleFloat = 0xfb
)

// typedTag gives the tag of a little-endian typed array by the kind of its items.
var typedTag = map[reflect.Kind]uint64{
	reflect.Uint16: 69, reflect.Uint32: 70, reflect.Uint64: 71,
	reflect.Int8: 72, reflect.Int16: 77, reflect.Int32: 78, reflect.Int64: 79,
	reflect.Float32: 85, reflect.Float64: 86,
}

// CBOR appends a message, a struct or a pointer to one, in the given form.
func CBOR(b []byte, msg any, f msgs.Form) []byte {
	return appendCBOR(b, reflect.Indirect(reflect.ValueOf(msg)), f)
}

// Object begins a map of n members; Text and the like follow in pairs.
func Object(b []byte, n int) []byte { return head(b, majorMap, uint64(n)) }

// Text appends a string.
func Text(b []byte, s string) []byte { return append(head(b, majorText, uint64(len(s))), s...) }

// Uint appends a whole number.
func Uint(b []byte, n uint64) []byte { return head(b, majorUint, n) }

// Bytes appends a byte string.
func Bytes(b, data []byte) []byte { return append(head(b, majorBytes, uint64(len(data))), data...) }

// head writes a major type and its argument in the shortest way.
func head(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

func appendCBOR(b []byte, v reflect.Value, f msgs.Form) []byte {
	switch v.Kind() {
	case reflect.Struct:
		fields := fieldsOf(v.Type(), f)
		b = Object(b, len(fields))
		for _, x := range fields {
			b = Text(b, x.name)
			b = appendCBOR(b, v.Field(x.index), f)
		}
		return b
	case reflect.Slice, reflect.Array:
		return appendItems(b, v, f)
	case reflect.String:
		return Text(b, v.String())
	case reflect.Bool:
		if v.Bool() {
			return append(b, simpleTrue)
		}
		return append(b, simpleFalse)
	case reflect.Float64, reflect.Float32:
		return binary.BigEndian.AppendUint64(append(b, doubleFloat), math.Float64bits(v.Float()))
	}
	if v.CanUint() {
		return Uint(b, v.Uint())
	}
	if n := v.Int(); n < 0 {
		return head(b, majorNegInt, uint64(-(n + 1)))
	}
	return Uint(b, uint64(v.Int()))
}

func appendItems(b []byte, v reflect.Value, f msgs.Form) []byte {
	kind := v.Type().Elem().Kind()
	if kind == reflect.Uint8 {
		b = head(b, majorBytes, uint64(v.Len()))
		for i := range v.Len() {
			b = append(b, byte(v.Index(i).Uint()))
		}
		return b
	}
	if tag, ok := typedTag[kind]; ok {
		b = head(b, majorTag, tag)
		b = head(b, majorBytes, uint64(v.Len())*uint64(v.Type().Elem().Size()))
		for i := range v.Len() {
			b = appendPlain(b, v.Index(i))
		}
		return b
	}
	b = head(b, majorArray, uint64(v.Len()))
	for i := range v.Len() {
		b = appendCBOR(b, v.Index(i), f)
	}
	return b
}
