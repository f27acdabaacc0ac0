package frame

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"time"

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

// PublishCBOR returns a publish frame with the message, a struct or a pointer to one,
// in a form. Lists of numbers are typed arrays of RFC 8746, little-endian, as rosbridge
// sends them; bytes are a byte string.
func PublishCBOR(topic string, msg any, f msgs.Form) []byte {
	return appendCBOR(publishHead(topic), reflect.Indirect(reflect.ValueOf(msg)), f)
}

// PublishRaw returns a publish frame of compression cbor-raw: the message as ROS's peers
// serialize it, and when it left.
func PublishRaw(topic string, at time.Time, data []byte) []byte {
	b := head(publishHead(topic), majorMap, 3)
	b = head(appendCBORText(b, "secs"), majorUint, uint64(at.Unix()))
	b = head(appendCBORText(b, "nsecs"), majorUint, uint64(at.Nanosecond()))
	b = head(appendCBORText(b, "bytes"), majorBytes, uint64(len(data)))
	return append(b, data...)
}

// publishHead is a publish frame up to the value of msg.
func publishHead(topic string) []byte {
	b := head(nil, majorMap, 3)
	b = appendCBORText(appendCBORText(b, "op"), Publish)
	b = appendCBORText(appendCBORText(b, "topic"), topic)
	return appendCBORText(b, "msg")
}

func appendCBORText(b []byte, s string) []byte {
	return append(head(b, majorText, uint64(len(s))), s...)
}

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
		b = head(b, majorMap, uint64(len(fields)))
		for _, x := range fields {
			b = appendCBORText(b, x.name)
			b = appendCBOR(b, v.Field(x.index), f)
		}
		return b
	case reflect.Slice, reflect.Array:
		return appendItems(b, v, f)
	case reflect.String:
		return appendCBORText(b, v.String())
	case reflect.Bool:
		if v.Bool() {
			return append(b, simpleTrue)
		}
		return append(b, simpleFalse)
	case reflect.Float64, reflect.Float32:
		return binary.BigEndian.AppendUint64(append(b, doubleFloat), math.Float64bits(v.Float()))
	}
	if v.CanUint() {
		return head(b, majorUint, v.Uint())
	}
	if n := v.Int(); n < 0 {
		return head(b, majorNegInt, uint64(-(n + 1)))
	}
	return head(b, majorUint, uint64(v.Int()))
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
		panic(fmt.Sprintf("frame: a message holds a %s", v.Type()))
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

// field is a struct's field as one form has it.
type field struct {
	name  string
	index int
}

type structForm struct {
	t reflect.Type
	f msgs.Form
}

var (
	known        sync.Map // structForm → []field
	timeType     = reflect.TypeFor[msgs.Time]()
	durationType = reflect.TypeFor[msgs.Duration]()
)

// fieldsOf reads the tags of a struct once.
func fieldsOf(t reflect.Type, f msgs.Form) []field {
	key := structForm{t, f}
	if v, ok := known.Load(key); ok {
		return v.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		only := tag.Get("form")
		if only == "1" && f != msgs.ROS1 || only == "2" && f != msgs.ROS2 {
			continue
		}
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		if other := tag.Get("ros1"); other != "" && f == msgs.ROS1 {
			name = other
		}
		fields = append(fields, field{name: name, index: i})
	}
	if f == msgs.ROS1 && (t == timeType || t == durationType) {
		fields[0].name, fields[1].name = "secs", "nsecs"
	}
	known.Store(key, fields)
	return fields
}
