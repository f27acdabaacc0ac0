package rosjson

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"poise/msgs"
	"poise/msgs/poisemsgs"
)

func TestOneMessageInBothForms(t *testing.T) {
	goal := &msgs.FollowJointTrajectoryGoal{GoalTimeTolerance: msgs.Duration{Sec: 1, Nanosec: 5}}
	goal.Trajectory.Header = msgs.Header{Seq: 9, Stamp: msgs.Time{Sec: 2, Nanosec: 6}, FrameID: "base"}
	goal.Trajectory.JointNames = []string{"knee"}
	one := string(Append(nil, goal, msgs.ROS1))
	two := string(Append(nil, goal, msgs.ROS2))
	wantOne := `{"trajectory":{"header":{"seq":9,"stamp":{"secs":2,"nsecs":6},"frame_id":"base"},"joint_names":["knee"],"points":[]},` +
		`"path_tolerance":[],"goal_tolerance":[],"goal_time_tolerance":{"secs":1,"nsecs":5}}`
	wantTwo := `{"trajectory":{"header":{"stamp":{"sec":2,"nanosec":6},"frame_id":"base"},"joint_names":["knee"],"points":[]},` +
		`"multi_dof_trajectory":{"header":{"stamp":{"sec":0,"nanosec":0},"frame_id":""},"joint_names":[],"points":[]},` +
		`"path_tolerance":[],"component_path_tolerance":[],"goal_tolerance":[],"component_goal_tolerance":[],"goal_time_tolerance":{"sec":1,"nanosec":5}}`
	if one != wantOne {
		t.Errorf("ROS 1:\n%s\nwant\n%s", one, wantOne)
	}
	if two != wantTwo {
		t.Errorf("ROS 2:\n%s\nwant\n%s", two, wantTwo)
	}
	for _, text := range []string{one, two} {
		var back msgs.FollowJointTrajectoryGoal
		if err := UnmarshalJSON([]byte(text), &back); err != nil || back.GoalTimeTolerance != goal.GoalTimeTolerance ||
			back.Trajectory.Header.Stamp != goal.Trajectory.Header.Stamp || back.Trajectory.JointNames[0] != "knee" {
			t.Errorf("%s reads as %+v, %v", text, back, err)
		}
	}
}

func TestErrorCodesCarryTheirWordsInROS2Only(t *testing.T) {
	code := msgs.MoveItErrorCodes{Val: -31, Message: "out of reach", Source: "planner"}
	if got := string(Append(nil, code, msgs.ROS1)); got != `{"val":-31}` {
		t.Error(got)
	}
	if got := string(Append(nil, code, msgs.ROS2)); got != `{"val":-31,"message":"out of reach","source":"planner"}` {
		t.Error(got)
	}
}

func TestASeverityIsCountedAsEachFormCounts(t *testing.T) {
	stamp := msgs.Time{Sec: 1}
	l := &msgs.Log{Header: msgs.Header{Stamp: stamp}, Stamp: stamp, Level: msgs.LogWarn, Severity: 4, Name: "poise", Msg: "x"}
	if got := string(Append(nil, l, msgs.ROS1)); got != `{"header":{"seq":0,"stamp":{"secs":1,"nsecs":0},"frame_id":""},"level":4,"name":"poise","msg":"x","file":"","function":"","line":0,"topics":[]}` {
		t.Error(got)
	}
	if got := string(Append(nil, l, msgs.ROS2)); got != `{"stamp":{"sec":1,"nanosec":0},"level":30,"name":"poise","msg":"x","file":"","function":"","line":0}` {
		t.Error(got)
	}
}

func TestBytesAreBase64AndReadAsListToo(t *testing.T) {
	out := string(Marshal(msgs.ControllerState{State: []uint8{0, 2, 255}}))
	if out != `{"name":[],"request_id":[],"state":"AAL/"}` {
		t.Error(out)
	}
	for _, in := range []string{`{"state":"AAL/"}`, `{"state":[0,2,255]}`} {
		var s msgs.ControllerState
		if err := UnmarshalJSON([]byte(in), &s); err != nil || !reflect.DeepEqual(s.State, []uint8{0, 2, 255}) {
			t.Errorf("%s gives %v, %v", in, s.State, err)
		}
	}
	var id msgs.UUID
	for in, want := range map[string]string{
		`{"uuid":"AAAA"}`:   "uuid: want 16 bytes, got 3",
		`{"uuid":"no"}`:     "uuid: want a list of bytes or base64",
		`{"uuid":[1,2]}`:    "uuid: want a list of 16, got a list of 2",
		`{"uuid":[256]}`:    "uuid[0]: 256 does not fit into uint8",
		`{"uuid":{"a":[]}}`: "uuid: want a list, got an object",
	} {
		if err := UnmarshalJSON([]byte(in), &id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func TestBoundedListsAreBounded(t *testing.T) {
	var p msgs.SolidPrimitive
	for _, read := range []func([]byte, any) error{Unmarshal, UnmarshalJSON} {
		if err := read([]byte(`{"dimensions":[1,2,3,4]}`), &p); err == nil || !strings.Contains(err.Error(), "dimensions: 4 values, at most 3 fit") {
			t.Error(err)
		}
	}
}

func TestLargeWholeNumbersAreExact(t *testing.T) {
	var u msgs.UInt64
	var i msgs.Int64
	if err := UnmarshalJSON([]byte(`{"data":18446744073709551615}`), &u); err != nil || u.Data != math.MaxUint64 {
		t.Errorf("%d, %v", u.Data, err)
	}
	if err := UnmarshalJSON([]byte(`{"data":-9223372036854775808}`), &i); err != nil || i.Data != math.MinInt64 {
		t.Errorf("%d, %v", i.Data, err)
	}
	if err := UnmarshalJSON([]byte(`{"data":3.0}`), &u); err != nil || u.Data != 3 {
		t.Errorf("%d, %v", u.Data, err)
	}
	if err := UnmarshalJSON([]byte(`{"data":-1}`), &u); err == nil {
		t.Error("-1 fits into uint64")
	}
}

func TestOnlyJSONIsJSON(t *testing.T) {
	for _, in := range []string{
		``, ` `, `{`, `{"data"`, `{"data":`, `{"data":}`, `{"data":true`, `{"data":true,}`, `{,}`, `{"data" true}`, `{data:true}`, `{'data':true}`,
		`{"data":tru}`, `{"data":true} x`, `{"data":true}{}`, "{\"data\":\"a\nb\"}", `{"data":"\x"}`, `{"data":"\u12"}`, `{"data":01}`, `{"data":1.}`,
		`{"data":.5}`, `{"data":+1}`, `{"data":1e}`, `{"data":--1}`, `{"data":NaN}`, `{"data":Infinity}`, "{\"data\":true}\x00", `{"x":[1,]}`, `{"x":[,1]}`, `nope`,
	} {
		var b msgs.Bool
		var broken *SyntaxError
		if err := UnmarshalJSON([]byte(in), &b); !errors.As(err, &broken) {
			t.Errorf("%q: %v", in, err)
		}
		if json.Valid([]byte(in)) {
			t.Errorf("%q is JSON: the test is wrong", in)
		}
	}
}

func TestAListCannotTakeFarMoreMemoryThanItsText(t *testing.T) {
	bomb := `{"items":[` + strings.Repeat("{},", 200_000) + `{}]}`
	for _, read := range []func([]byte, any) error{Unmarshal, UnmarshalJSON} {
		var r msgs.MotionSequenceRequest
		if err := read([]byte(bomb), &r); err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%d items were read, %v", len(r.Items), err)
		}
	}
	// and an honest long list is read
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	long := `{"data":[` + strings.Repeat("1,", n) + `1]}`
	var a msgs.Float64MultiArray
	if err := UnmarshalJSON([]byte(long), &a); err != nil || len(a.Data) != n+1 {
		t.Errorf("%d numbers, %v", len(a.Data), err)
	}
}

func TestStringsSurvive(t *testing.T) {
	for _, s := range []string{"", "plain", `"\/`, "line\nbreak\ttab\x01", "<robot name='a'>&amp;</robot>", "пони", "\u2028", "😀"} {
		out := Marshal(msgs.String{Data: s})
		var back, ours msgs.String
		if err := json.Unmarshal(out, &back); err != nil || back.Data != s {
			t.Errorf("%q is written %s, which encoding/json reads as %q, %v", s, out, back.Data, err)
		}
		if err := UnmarshalJSON(out, &ours); err != nil || ours.Data != s {
			t.Errorf("%q comes back as %q, %v", s, ours.Data, err)
		}
	}
	if out := string(Marshal(msgs.String{Data: "a\xffb"})); out != "{\"data\":\"a\ufffdb\"}" {
		t.Errorf("%q", out)
	}
}

// Numbers are written as encoding/json writes them, and come back bit for bit.
func TestNumbersSurvive(t *testing.T) {
	const seed = 9
	r := rand.New(rand.NewPCG(seed, 0))
	n := 20_000
	if testing.Short() {
		n = 1_000
	}
	for range n {
		x := math.Float64frombits(r.Uint64())
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		out := Marshal(msgs.Point{X: x, Y: -x})
		var std, ours msgs.Point
		if err := json.Unmarshal(out, &std); err != nil || std.X != x {
			t.Fatalf("seed %d: %s: %v", seed, out, err)
		}
		if err := UnmarshalJSON(out, &ours); err != nil || ours != std {
			t.Fatalf("seed %d: %s reads as %v, %v", seed, out, ours, err)
		}
		f := float32(x)
		if f32 := Marshal(msgs.Float32{Data: f}); !math.IsInf(float64(f), 0) {
			var back msgs.Float32
			if err := UnmarshalJSON(f32, &back); err != nil || back.Data != f {
				t.Fatalf("seed %d: %s reads as %v, %v", seed, f32, back, err)
			}
		}
	}
}

// FuzzJSON holds the reader of JSON against the reader of trees: what one takes
// the other takes, and reads the same.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"name":"wave","points":[{"time":1,"positions":[1,null,2.5e-3],"enabled":true}],"tags":["a\n","é"]}`,
		`{"joints":[{"name":"a","path_tolerance":[{"position":1}]}],"loop":true}`,
		`{"joints":[{"name":"a","path_tolerance":[{},{}]}],"x":{"y":[[]]}}`,
		`{"points":[{"supports":[1,2`, `{"name":"\ud800"}`, `{"name":1,"name":2}`, `{"goal_time_tolerance":1e999}`, "{\"name\":\"\xff\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !looksLikeJSON(data) {
			return
		}
		var a, b poisemsgs.Motion
		errA := UnmarshalJSON(data, &a)
		n, errB := parseJSON(data)
		if errB == nil {
			errB = fill(n, &b, len(data))
		}
		var broken *SyntaxError
		if (errA == nil) != (errB == nil) {
			t.Fatalf("straight: %v\ntree: %v", errA, errB)
		}
		if errors.As(errA, &broken) && json.Valid(data) && !strings.Contains(errA.Error(), "deeper") && !strings.Contains(errA.Error(), "zero byte") {
			t.Fatalf("valid JSON: %v", errA)
		}
		if errA == nil && string(Marshal(a)) != string(Marshal(b)) {
			t.Fatalf("straight: %s\ntree: %s", Marshal(a), Marshal(b))
		}
	})
}

func BenchmarkAppendJointState(b *testing.B) {
	m := jointState(30)
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], m, msgs.ROS2)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkReadJointState(b *testing.B) {
	data := Append(nil, jointState(30), msgs.ROS2)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var m msgs.JointState
		if err := UnmarshalJSON(data, &m); err != nil {
			b.Fatal(err)
		}
	}
}

func jointState(n int) *msgs.JointState {
	m := &msgs.JointState{}
	for i := range n {
		m.Name = append(m.Name, "joint"+string(rune('a'+i%26)))
		x := math.Sin(float64(i))
		m.Position, m.Velocity, m.Effort = append(m.Position, x), append(m.Velocity, x/3), append(m.Effort, x/7)
	}
	return m
}

func TestWritingAJointStateAllocatesNothing(t *testing.T) {
	m := jointState(30)
	buf := Append(nil, m, msgs.ROS2)
	if n := testing.AllocsPerRun(100, func() { buf = Append(buf[:0], m, msgs.ROS2) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
