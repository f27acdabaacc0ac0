package codec_test

import (
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"poise/internal/randmsg"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
)

var forms = []msgs.Form{msgs.ROS1, msgs.ROS2}

// exists reports whether ROS has the type in a form: some are ROS 1's alone.
func exists(typ *registry.Type, f msgs.Form) bool { return typ.In(f) }

func of(t testing.TB, msg any, f msgs.Form) *codec.Codec {
	t.Helper()
	typ, ok := registry.Of(msg)
	if !ok {
		t.Fatalf("%T is not registered", msg)
	}
	return codec.For(typ, f)
}

func TestBytes(t *testing.T) {
	state := &msgs.JointState{Header: msgs.Header{Stamp: msgs.Time{Sec: 1, Nanosec: 2}, FrameID: "ab"}, Name: []string{"x"}, Position: []float64{1}}
	status := &msgs.ActionStatusArray{StatusList: []msgs.ActionStatus{{GoalInfo: msgs.GoalInfo{GoalID: msgs.UUID{Uuid: [16]uint8{1}}}, Status: 2},
		{GoalInfo: msgs.GoalInfo{GoalID: msgs.UUID{Uuid: [16]uint8{3}}, Stamp: msgs.Time{Sec: 4}}, Status: 5}}}
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
		{"a negative number", &msgs.Int16{Data: -2}, msgs.ROS1, "feff"},
		{"ROS 1 packs without gaps, header with seq", state, msgs.ROS1,
			"00000000 01000000 02000000 02000000 6162" + // seq, stamp, frame_id
				"01000000 01000000 78" + // name
				"01000000 000000000000f03f 00000000 00000000"},
		{"CDR aligns to the size of each number, from behind its header", state, msgs.ROS2,
			"00010000 01000000 02000000 03000000 616200 00" + // stamp, frame_id; at 16
				"01000000 02000000 7800 0000" + // name, to 28
				"01000000 000000000000f03f 00000000 00000000"}, // count at 28, so that the number is at 32
		{"a UUID is bytes, aligned to one", status, msgs.ROS2,
			"00010000 02000000" +
				"01" + strings.Repeat("00", 15) + "00000000 00000000 02" + // to 29
				"03" + strings.Repeat("00", 15) + "000000" + "04000000 00000000 05"}, // uuid to 45, stamp at 48
		{"fixed lists have no count", &msgs.Plane{Coef: [4]float64{1, 0, 0, 0}}, msgs.ROS1, "000000000000f03f" + strings.Repeat("00", 24)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := of(t, tc.msg, tc.form)
			data := c.Append(nil, tc.msg)
			if got, want := hex.EncodeToString(data), strings.ReplaceAll(tc.want, " ", ""); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			back := c.Type().New()
			if err := c.Decode(data, back); err != nil || !reflect.DeepEqual(back, tc.msg) {
				t.Errorf("%v: back came\n%+v, want\n%+v", err, back, tc.msg)
			}
		})
	}
}

// TestDecodeGivesBackWhatWasEncoded for every type there is, in both forms. Fields
// that the form does not have come back zero, so a second trip is compared.
func TestDecodeGivesBackWhatWasEncoded(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 1))
	for _, typ := range registry.Messages() {
		for _, form := range forms {
			if !exists(typ, form) {
				continue
			}
			c := codec.For(typ, form)
			for range 5 {
				msg, first, second := typ.New(), typ.New(), typ.New()
				randmsg.Fill(r, msg)
				prefix := []byte("behind something")
				data := c.Append(prefix, msg)[len(prefix):]
				if err := c.Decode(data, first); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				again := c.Append(nil, first)
				if string(again) != string(data) {
					t.Fatalf("seed %d: %s in %v:\n%x is read and written as\n%x", seed, typ, form, data, again)
				}
				if err := c.Decode(again, second); err != nil || !reflect.DeepEqual(first, second) {
					t.Fatalf("seed %d: %s in %v: %v", seed, typ, form, err)
				}
				if hasOneForm(typ) && !reflect.DeepEqual(first, msg) {
					t.Fatalf("seed %d: %s in %v: got\n%+v, want\n%+v", seed, typ, form, first, msg)
				}
			}
		}
	}
}

// hasOneForm reports whether both forms of a type, and of all inside it, have all
// fields of its struct.
func hasOneForm(t *registry.Type) bool {
	for _, m := range append(t.Parts(msgs.ROS1), append(t.Parts(msgs.ROS2), t)...) {
		for _, f := range forms {
			if len(m.Fields(f)) != m.Go().NumField() {
				return false
			}
		}
	}
	return true
}

// TestErrorsNameTypeFieldAndByte.
func TestErrorsNameTypeFieldAndByte(t *testing.T) {
	for _, tc := range []struct {
		name string
		msg  any
		form msgs.Form
		data string
		want string
	}{
		{"nothing", &msgs.String{}, msgs.ROS1, "", "std_msgs/String: data: at byte 0: 4 bytes are needed, 0 are left"},
		{"a string that is cut", &msgs.String{}, msgs.ROS1, "03000000 6869", "std_msgs/String: data: at byte 4: a string of 3 bytes, 2 are left"},
		{"bytes behind", &msgs.String{}, msgs.ROS1, "01000000 6869", "std_msgs/String: at byte 5: 1 bytes are left behind the message"},
		{"no header", &msgs.String{}, msgs.ROS2, "0001", "std_msgs/msg/String: at byte 0: 2 bytes are too few for the encapsulation header"},
		{"a parameter list", &msgs.String{}, msgs.ROS2, "00030000 00000000", "std_msgs/msg/String: at byte 0: the encapsulation is 0x0003, must be 0x0000 or 0x0001, plain CDR"},
		{"no zero", &msgs.String{}, msgs.ROS2, "00010000 02000000 6869", "std_msgs/msg/String: data: at byte 9: a string of 2 bytes does not end with a zero byte"},
		{"a count beyond the data", &msgs.JointTrajectory{}, msgs.ROS1, "00000000 00000000 00000000 00000000 00000000 ffffffff 00000000 00000000",
			"trajectory_msgs/JointTrajectory: points: at byte 24: 4294967295 items of at least 24 bytes, 8 bytes are left for them"},
		{"deep inside", &msgs.JointTrajectory{}, msgs.ROS1, "00000000 00000000 00000000 00000000 00000000 01000000 00000000 03000000" + strings.Repeat("00", 16),
			"trajectory_msgs/JointTrajectory: points[0].velocities: at byte 32: 3 items of at least 8 bytes, 16 bytes are left for them"},
		{"a list that takes what the list around it needs", &msgs.JointTrajectory{}, msgs.ROS1, "00000000 00000000 00000000 00000000 00000000 02000000 03000000" + strings.Repeat("00", 44),
			"trajectory_msgs/JointTrajectory: points[0].positions: at byte 28: 3 items of at least 8 bytes, 20 bytes are left for them"},
		{"beyond the bound", &msgs.SolidPrimitive{}, msgs.ROS1, "01 04000000" + strings.Repeat("00", 32), "shape_msgs/SolidPrimitive: dimensions: at byte 5: 4 items, at most 3 are allowed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data, err := hex.DecodeString(strings.ReplaceAll(tc.data, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			err = of(t, tc.msg, tc.form).Decode(data, tc.msg)
			var e *codec.Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

// TestWhatPeersDoDifferently is read without complaint.
func TestWhatPeersDoDifferently(t *testing.T) {
	for name, tc := range map[string]struct {
		data string
		msg  any
		want any
	}{
		"an empty request without its byte":     {"00010000", &msgs.TriggerRequest{}, &msgs.TriggerRequest{}},
		"an empty request padded to four bytes": {"00010000 00000000", &msgs.TriggerRequest{}, &msgs.TriggerRequest{}},
		"padding behind a message":              {"00010003 02000000 6100 0000", &msgs.String{}, &msgs.String{Data: "a"}},
		"an empty string without its zero byte": {"00010000 00000000", &msgs.String{}, &msgs.String{}},
		"big-endian numbers":                    {"00000000 00000002 6100 0000 3ff0000000000000", &msgs.JointTolerance{}, nil},
		"a big-endian time":                     {"00000000 00000001 00000002", &msgs.Time{}, &msgs.Time{Sec: 1, Nanosec: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := hex.DecodeString(strings.ReplaceAll(tc.data, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			err = of(t, tc.msg, msgs.ROS2).Decode(data, tc.msg)
			if tc.want == nil {
				if err == nil {
					t.Error("a message that is cut was taken")
				}
				return
			}
			if err != nil || !reflect.DeepEqual(tc.msg, tc.want) {
				t.Errorf("%v: got %+v, want %+v", err, tc.msg, tc.want)
			}
		})
	}
}

// TestNaNKeepsItsBits, of either kind and width.
func TestNaNKeepsItsBits(t *testing.T) {
	for _, bits := range []uint32{0x7fc00001, 0x7f800001, 0xffc12345} {
		for _, form := range forms {
			msg, back := &msgs.Float32MultiArray{Data: []float32{math.Float32frombits(bits)}}, &msgs.Float32MultiArray{}
			c := of(t, msg, form)
			if err := c.Decode(c.Append(nil, msg), back); err != nil || math.Float32bits(back.Data[0]) != bits {
				t.Errorf("%#x came back as %#x, %v", bits, math.Float32bits(back.Data[0]), err)
			}
		}
	}
}

func TestAMistakeOfTheProgramPanics(t *testing.T) {
	c := of(t, &msgs.String{}, msgs.ROS2)
	for name, f := range map[string]func(){
		"another message":             func() { c.Append(nil, &msgs.Bool{}) },
		"a message, not a pointer":    func() { c.Append(nil, msgs.String{}) },
		"decoding into another thing": func() { _ = c.Decode(nil, &msgs.Bool{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			f()
		}()
	}
}

func jointState() *msgs.JointState {
	m := &msgs.JointState{Header: msgs.Header{FrameID: "base"}, Position: make([]float64, 20), Velocity: make([]float64, 20), Effort: make([]float64, 20)}
	for range 20 {
		m.Name = append(m.Name, "left_front_knee")
	}
	return m
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	tf := &msgs.TFMessage{Transforms: make([]msgs.TransformStamped, 20)}
	buffer := make([]byte, 0, 1<<16)
	for _, msg := range []any{jointState(), tf, &msgs.Float32MultiArray{Data: make([]float32, 10)}, &msgs.ActionStatusArray{StatusList: make([]msgs.ActionStatus, 3)}} {
		for _, form := range forms {
			c := of(t, msg, form)
			if n := testing.AllocsPerRun(100, func() { buffer = c.Append(buffer[:0], msg) }); n != 0 {
				t.Errorf("%T in %v: %v allocations", msg, form, n)
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) { benchmark(b, true) }

func BenchmarkDecode(b *testing.B) { benchmark(b, false) }

func benchmark(b *testing.B, encode bool) {
	tf := &msgs.TFMessage{Transforms: make([]msgs.TransformStamped, 20)}
	for _, tc := range []struct {
		name string
		msg  any
		form msgs.Form
	}{
		{"JointState20/ROS1", jointState(), msgs.ROS1}, {"JointState20/CDR", jointState(), msgs.ROS2},
		{"TFMessage20/CDR", tf, msgs.ROS2}, {"Float64/CDR", &msgs.Float64{}, msgs.ROS2},
	} {
		b.Run(tc.name, func(b *testing.B) {
			c := of(b, tc.msg, tc.form)
			data := c.Append(nil, tc.msg)
			dst := c.Type().New()
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if encode {
					data = c.Append(data[:0], tc.msg)
				} else if err := c.Decode(data, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
