package rosjson

import (
	"bytes"
	"math"
	"reflect"
	"strconv"

	"encoding/json"
)

// Marshal writes a message as JSON on one line: fields in message order, lists
// never null, a number that is not finite as null.
func Marshal(msg any) []byte {
	var b bytes.Buffer
	encode(&b, reflect.ValueOf(msg))
	return b.Bytes()
}

func encode(b *bytes.Buffer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		encode(b, v.Elem())
	case reflect.Struct:
		b.WriteByte('{')
		for i := range v.NumField() {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Quote(tagName(v.Type().Field(i))))
			b.WriteByte(':')
			encode(b, v.Field(i))
		}
		b.WriteByte('}')
	case reflect.Slice, reflect.Array:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			encode(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Float64, reflect.Float32:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			b.WriteString("null")
			return
		}
		plain(b, v.Interface())
	default:
		plain(b, v.Interface())
	}
}

// plain writes a scalar as encoding/json does.
func plain(b *bytes.Buffer, x any) {
	out, err := json.Marshal(x)
	if err != nil {
		panic("rosjson: a message holds " + reflect.TypeOf(x).String() + ", which JSON cannot")
	}
	b.Write(out)
}
