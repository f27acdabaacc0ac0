package pack

import (
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/frame"
)

// fill gives a value random content of every kind.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
			if bound, err := strconv.Atoi(v.Type().Field(i).Tag.Get("bound")); err == nil && v.Field(i).Len() > bound {
				v.Field(i).SetLen(bound)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.String:
		v.SetString([]string{"", "a", "ünïcode \"x\"\n"}[r.IntN(3)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 1)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(float64(r.IntN(4001)-2000) / 16) // exact in either width
	default:
		if v.CanInt() {
			v.SetInt(int64(r.IntN(255) - 127))
			return
		}
		v.SetUint(uint64(r.IntN(128)))
	}
}

// TestCBORSaysTheSameAsJSON compares two encoders that know nothing of each other,
// for every type there is, in both forms.
func TestCBORSaysTheSameAsJSON(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 1))
	for i, typ := range registry.Messages() {
		if testing.Short() && i%10 != 0 {
			continue
		}
		for _, form := range []msgs.Form{msgs.ROS1, msgs.ROS2} {
			v := typ.New()
			fill(r, reflect.ValueOf(v).Elem())
			text, err := frame.JSON(CBOR(nil, v, form))
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, typ, err)
			}
			a, b := typ.New(), typ.New()
			if err := rosjson.Unmarshal(text, a); err != nil {
				t.Fatalf("seed %d: %s in %v: %v\n%s", seed, typ, form, err, text)
			}
			if err := rosjson.Unmarshal(rosjson.Append(nil, v, form), b); err != nil {
				t.Fatalf("seed %d: %s in %v: %v", seed, typ, form, err)
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("seed %d: %s in %v: by CBOR\n%+v\nby JSON\n%+v", seed, typ, form, a, b)
			}
		}
	}
}

func TestRawBytes(t *testing.T) {
	state := &msgs.JointState{Header: msgs.Header{Stamp: msgs.Time{Sec: 1, Nanosec: 2}, FrameID: "ab"}, Name: []string{"x"}, Position: []float64{1}}
	for _, tc := range []struct {
		name string
		msg  any
		form msgs.Form
		want string
	}{
		{"a string in ROS 1 has its length before it", &msgs.String{Data: "hi"}, msgs.ROS1, "02000000 6869"},
		{"a string in CDR ends with a zero, which counts", &msgs.String{Data: "hi"}, msgs.ROS2, "00010000 03000000 686900"},
		{"an empty message in ROS 1 is nothing", &msgs.Empty{}, msgs.ROS1, ""},
		{"an empty message in CDR is one byte", &msgs.Empty{}, msgs.ROS2, "00010000 00"},
		{"ROS 1 packs without gaps, header with seq", state, msgs.ROS1,
			"00000000 01000000 02000000 02000000 6162" + // seq, stamp, frame_id
				"01000000 01000000 78" + // name
				"01000000 000000000000f03f 00000000 00000000"},
		{"CDR aligns to the size of each number, from behind its header", state, msgs.ROS2,
			"00010000 01000000 02000000 03000000 616200 00" + // stamp, frame_id; at 16
				"01000000 02000000 7800 0000" + // name, to 28
				"01000000 000000000000f03f 00000000 00000000"}, // count at 28, so that the number is at 32
		{"fixed lists have no count", &msgs.Plane{Coef: [4]float64{1, 0, 0, 0}}, msgs.ROS1, "000000000000f03f" + strings.Repeat("00", 24)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, want := hex.EncodeToString(Raw(nil, tc.msg, tc.form)), strings.ReplaceAll(tc.want, " ", ""); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func BenchmarkCBOR(b *testing.B) {
	state := &msgs.JointState{Name: make([]string, 20), Position: make([]float64, 20), Velocity: make([]float64, 20), Effort: make([]float64, 20)}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = CBOR(buf[:0], state, msgs.ROS2)
	}
}
