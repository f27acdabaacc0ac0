// Package randmsg fills messages with random values, for tests of what reads and
// writes them.
package randmsg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
)

// Fill gives every field of the message that msg points to a random value:
// finite numbers over their whole range, short strings, lists of up to four items
// within their bounds.
func Fill(r *rand.Rand, msg any) { fill(r, reflect.ValueOf(msg).Elem()) }

var texts = []string{"", "a", "joint_1", "ünïcode \"x\"\n", "línea\tñ 漢字", "seven77"}

func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
			bound, err := strconv.Atoi(v.Type().Field(i).Tag.Get("bound"))
			if err == nil && v.Field(i).Len() > bound {
				v.Field(i).SetLen(bound)
			}
		}
	case reflect.Slice:
		v.SetZero()
		if n := r.IntN(5); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 1)
	case reflect.Float64:
		v.SetFloat(float(r, math.Float64frombits(r.Uint64())))
	case reflect.Float32:
		v.SetFloat(float(r, float64(math.Float32frombits(r.Uint32()))))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> (64 - v.Type().Bits()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits()))
	default:
		panic(fmt.Sprintf("randmsg: a message holds a %s", v.Type()))
	}
}

// float returns x if it is finite, and now and then a number that is exact in either
// width.
func float(r *rand.Rand, x float64) float64 {
	switch {
	case r.IntN(8) == 0:
		return []float64{0, math.Copysign(0, -1), 1, -0.5}[r.IntN(4)]
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0.25
	}
	return x
}
