package frame

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"poise/internal/budget"
)

func TestParseTakesWhatClientsSend(t *testing.T) {
	yes, four, half := true, 4, 0.5
	for _, tc := range []struct {
		name, text string
		want       Message
	}{
		{"roslib subscribes", `{"op":"subscribe","id":"subscribe:/a:1","type":"std_msgs/String","topic":"/a","compression":"none","throttle_rate":100,"queue_length":3}`,
			Message{Op: Subscribe, ID: `"subscribe:/a:1"`, Type: "std_msgs/String", Topic: "/a", Compression: "none", ThrottleRate: 100, QueueLength: 3}},
		{"an id may be a number", `{"op":"publish","id":7.0,"topic":"a","msg":{"data":null}}`,
			Message{Op: Publish, ID: "7", Topic: "a", Msg: []byte(`{"data":null}`)}},
		{"null is not given", `{"op":"call_service","id":null,"service":"s","args":[],"timeout":0.5}`,
			Message{Op: CallService, Service: "s", Args: []byte("[]"), Timeout: &half}},
		{"result of an action", `{"op":"action_result","id":"g","action":"a","values":{},"status":4,"result":true}`,
			Message{Op: ActionResult, ID: `"g"`, Action: "a", Values: []byte("{}"), Status: &four, Result: &yes}},
		{"what is not known is named", `{"op":"publish","topic":"a","msg":1,"zeta":1,"alpha":2}`,
			Message{Op: Publish, Topic: "a", Msg: []byte("1"), Unknown: []string{"alpha", "zeta"}}},
		{"auth", `{"op":"auth","mac":"m","client":"c","dest":"d","rand":"r","t":1,"level":"l","end":2}`,
			Message{Op: Auth, Level: "l"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Parse([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*got, tc.want) {
				t.Errorf("Parse(%s) =\n%+v, want\n%+v", tc.text, *got, tc.want)
			}
		})
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ name, text, want, id string }{
		{"not JSON", `{"op":`, "not JSON", ""},
		{"not an object", `[1]`, "a frame is an object, not a list", ""},
		{"null", `null`, "a frame is an object, not null", ""},
		{"no op", `{"id":"x"}`, `"op" is missing`, `"x"`},
		{"op of a wrong kind", `{"op":1,"id":3}`, "op: want a string, got a number", "3"},
		{"topic of a wrong kind", `{"op":"publish","id":"a","topic":{}}`, "topic: want a string, got an object", `"a"`},
		{"id of a wrong kind", `{"op":"publish","id":[1]}`, "id: want a string or a whole number, got a list", ""},
		{"broken number", `{"op":"subscribe","queue_length":1.5}`, "queue_length: want a whole number that fits into 32 bits, got 1.5", ""},
		{"huge number", `{"op":"subscribe","queue_length":1e300}`, "queue_length: want a whole number", ""},
		{"two at once", `{"op":"subscribe","topic":1,"type":2}`, "type: want a string", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := Parse([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse(%s): %v, want %q", tc.text, err, tc.want)
			}
			if m.ID != tc.id {
				t.Errorf("id %q, want %q: the answer must carry it", m.ID, tc.id)
			}
		})
	}
}

func TestAppendIsReadBack(t *testing.T) {
	no, six, two := false, 6, 2.5
	for _, m := range []Message{
		{Op: Publish, ID: `"é\"\n"`, Topic: "/a b", Msg: []byte(`{"x":[1,2]}`)},
		{Op: ActionResult, ID: "12", Action: "/go", Values: []byte(`"why not"`), Status: &six, Result: &no},
		{Op: CallService, ID: `"c"`, Service: "/s", Args: []byte(`{}`), Timeout: &two},
		{Op: Subscribe, Topic: "t", Type: "a/msg/B", ThrottleRate: 2.5, QueueLength: 1, FragmentSize: 10, Compression: "cbor"},
		{Op: Advertise, Topic: "t", Latch: true, QueueSize: 5},
		{Op: SendActionGoal, Action: "a", ActionType: "p/action/T", Feedback: true, Args: []byte("{}")},
		{Op: Fragment, ID: `"f"`, Data: "", Num: 0, Total: 1},
		{Op: SetLevel, Level: "none"},
	} {
		text := m.Append(nil)
		if !json.Valid(text) {
			t.Errorf("not JSON: %s", text)
		}
		got, err := Parse(text)
		if err != nil || !reflect.DeepEqual(*got, m) {
			t.Errorf("Parse(Append(%+v)) = %+v, %v", m, *got, err)
		}
	}
}

func TestCBORIsReadAsJSON(t *testing.T) {
	msg := map[string]any{
		"op": "publish", "id": 5, "topic": "/a",
		"msg": map[string]any{
			"f64":  cbor.Tag{Number: 86, Content: []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f}},
			"f32":  cbor.Tag{Number: 85, Content: []byte{0, 0, 0xc0, 0x3f}},
			"f16":  cbor.Tag{Number: 84, Content: []byte{0, 0x3e, 1, 0, 0, 0xfc}},
			"f64b": cbor.Tag{Number: 82, Content: []byte{0x3f, 0xf8, 0, 0, 0, 0, 0, 0}},
			"i32":  cbor.Tag{Number: 78, Content: []byte{0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0}},
			"i8":   cbor.Tag{Number: 72, Content: []byte{0xfe}},
			"u16":  cbor.Tag{Number: 69, Content: []byte{1, 2}},
			"u64":  cbor.Tag{Number: 71, Content: []byte{1, 0, 0, 0, 0, 0, 0, 0}},
			"raw":  []byte{1, 255}, "text": "ü", "nan": math.NaN(), "list": []any{true, nil, -3, 1.25},
		},
	}
	data, err := cbor.Marshal(msg)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseCBOR(data)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"f16":[1.5,5.960464477539063e-08,null],"f32":[1.5],"f64":[1.5,null],"f64b":[1.5],"i32":[-1,2],"i8":[-2],` +
		`"list":[true,null,-3,1.25],"nan":null,"raw":[1,255],"text":"ü","u16":[513],"u64":[1]}`
	if m.Op != Publish || m.ID != "5" || !sameJSON(t, m.Msg, []byte(want)) {
		t.Errorf("ParseCBOR = %+v\nmsg %s\nwant %s", m, m.Msg, want)
	}
}

// sameJSON compares texts whatever the order of members.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Error(err)
	}
	return reflect.DeepEqual(x, y)
}

func TestCBORRefusesWhatItCannotRead(t *testing.T) {
	enc := func(v any) []byte {
		b, err := cbor.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "not CBOR"},
		{"cut short", []byte{0xa1, 0x62}, "not CBOR"},
		{"names that are numbers", enc(map[int]int{1: 2}), "want a string"},
		{"an unknown tag", enc(map[string]any{"op": cbor.Tag{Number: 4242, Content: 1}}), "tag 4242"},
		{"a typed array of a bad length", enc(map[string]any{"op": cbor.Tag{Number: 86, Content: []byte{1}}}), "1 bytes are not"},
		{"a typed array of no bytes", enc(map[string]any{"op": cbor.Tag{Number: 86, Content: 1}}), "a byte string"},
		{"quadruple precision", enc(map[string]any{"op": cbor.Tag{Number: 83, Content: make([]byte, 16)}}), "128 bits"},
		{"a claim of four thousand million items", []byte{0x9a, 0xff, 0xff, 0xff, 0xff}, "not CBOR"},
		{"nested too deep", append(slices.Repeat([]byte{0x81}, 100), 1), "not CBOR"},
		{"tags of tags", append(slices.Repeat([]byte{0xc6}, 1<<20), 1), "nested deeper than 32"},
		{"a string of one kind in another", []byte{0xa1, 0x7f, 0x41, 0x41, 0xff, 0x01}, "another kind"},
		{"what follows", append(enc(map[string]any{"op": "x"}), 1), "1 bytes follow"},
		{"a long number", append([]byte{0xa1, 0x61, 'a', 0xc2, 0x58, 65}, make([]byte, 65)...), "at most 64"},
		{"a text of control characters", append(append([]byte{0xa1, 0x62, 'o', 'p', 0x7a, 0, 2, 0, 0}, make([]byte, 1<<17)...), 0), "4 times the frame"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := ParseCBOR(tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestFragmentsJoinInAnyOrder(t *testing.T) {
	text := []byte(`{"op":"publish","topic":"/ü","msg":{"data":"` + strings.Repeat("äö", 40) + `"}}`)
	for _, size := range []int{1, 5, 16, len(text) - 1} {
		frames := Split(text, size, "x")
		if len(frames) < 2 {
			t.Fatalf("size %d: %d frames", size, len(frames))
		}
		slices.Reverse(frames)
		frames = append(frames[:1], frames...) // and one twice
		account := budget.New(budget.Standard).Open()
		j := Joiner{MaxBytes: 4096, MaxOpen: 1, MaxAge: time.Minute, Account: account}
		var whole []byte
		for _, f := range frames {
			m, err := Parse(f)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Data) > max(size, 4) {
				t.Errorf("size %d: a part of %d bytes", size, len(m.Data))
			}
			got, err := j.Add(m, time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			if got != nil {
				whole = got
			}
		}
		if string(whole) != string(text) || j.Open() != 0 || j.bytes != 0 || account.Held(budget.Frames) != 0 {
			t.Errorf("size %d: joined %q, %d open, %d bytes", size, whole, j.Open(), j.bytes)
		}
	}
	if got := Split(text, len(text), "x"); len(got) != 1 || &got[0][0] != &text[0] {
		t.Error("a text that fits is not split")
	}
}

func TestJoinerIsBounded(t *testing.T) {
	now := time.Unix(100, 0)
	part := func(id string, num, total int, data string) *Message {
		return &Message{Op: Fragment, ID: id, Num: num, Total: total, Data: data}
	}
	for _, tc := range []struct {
		name  string
		parts []*Message
		want  string
	}{
		{"without an id", []*Message{part("", 0, 1, "a")}, "needs an id"},
		{"no parts", []*Message{part("1", 0, 0, "a")}, "total is 0"},
		{"too many parts", []*Message{part("1", 0, 1<<30, "a")}, "total is 1073741824"},
		{"outside", []*Message{part("1", 2, 2, "a")}, "num is 2, want 0 to 1"},
		{"negative", []*Message{part("1", -1, 2, "a")}, "num is -1"},
		{"changes its mind", []*Message{part("1", 0, 2, "a"), part("1", 1, 3, "a")}, "total changed from 2 to 3"},
		{"too many open", []*Message{part("1", 0, 2, "a"), part("2", 0, 2, "a"), part("3", 0, 2, "a")}, "2 fragmented messages are open"},
		{"too large", []*Message{part("1", 0, 2, strings.Repeat("a", 60)), part("2", 0, 2, strings.Repeat("a", 60))}, "more than 100 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := Joiner{MaxBytes: 100, MaxOpen: 2, MaxAge: time.Second}
			var err error
			for _, p := range tc.parts {
				_, err = j.Add(p, now)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	t.Run("what is not finished is forgotten", func(t *testing.T) {
		j := Joiner{MaxBytes: 100, MaxOpen: 1, MaxAge: time.Second}
		if _, err := j.Add(part("1", 0, 2, "a"), now); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Add(part("2", 0, 2, "a"), now.Add(2*time.Second)); err != nil {
			t.Errorf("the old one is still open: %v", err)
		}
	})
}

// TestPartsAreCountedAsTheyCome: what a fragment claims of the others takes nothing, what
// came is charged to its client, and comes back.
func TestPartsAreCountedAsTheyCome(t *testing.T) {
	ledger := budget.New(budget.Standard)
	account := ledger.Open()
	j := Joiner{MaxBytes: 8 << 20, MaxOpen: 16, MaxAge: time.Second, Account: account}
	now := time.Unix(100, 0)
	if n := testing.AllocsPerRun(1, func() {
		for i := range 16 {
			if _, err := j.Add(&Message{Op: Fragment, ID: strconv.Itoa(i), Num: 1, Total: 500000, Data: "x"}, now); err != nil {
				t.Fatal(err)
			}
		}
	}); n > 16*8 {
		t.Errorf("%g allocations", n)
	}
	if held := account.Held(budget.Frames); held != 16*(1+partCost) {
		t.Errorf("%d bytes are charged", held)
	}
	if _, err := j.Add(&Message{Op: Fragment, ID: "a", Num: 0, Total: 2, Data: "x"}, now.Add(time.Minute)); err != nil || account.Held(budget.Frames) != 1+partCost {
		t.Errorf("%v, %d bytes are charged", err, account.Held(budget.Frames))
	}
	// a client that holds all it may cannot add to it
	if err := account.Take(budget.Frames, budget.Standard[budget.Frames].Client-account.Held(budget.Frames)); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Add(&Message{Op: Fragment, ID: "b", Num: 0, Total: 2, Data: "x"}, now.Add(time.Minute)); err == nil || !strings.Contains(err.Error(), "frames: ") {
		t.Errorf("error %v", err)
	}
}

func TestSniffFindsWhoseItIs(t *testing.T) {
	for _, tc := range []struct{ text, op, id, topic string }{
		{`{"op":"publish","id":"a","topic":"/t","msg":{"data":"xxxx`, "publish", `"a"`, "/t"},
		{`{"msg":{"a":[1,{"b":2}],"op":"no"},"op":"publish","id":12,"x`, "publish", "12", ""},
		{`{"msg":[[[[`, "", "", ""},
		{`[1,2`, "", "", ""},
		{``, "", "", ""},
		{`{"msg":{"x":NaN,"s":"}\\\","},"id":"b","op":"publish"}`, "publish", `"b"`, ""},
		{`{"op":"a","op":"b" "id":3}`, "a", "", ""}, // two of a kind: the first
		{`{"op":,"id":"c"}`, "", `"c"`, ""},
		{`{"op" "id":"c"}`, "", "", ""},
	} {
		if m := Sniff([]byte(tc.text)); m.Op != tc.op || m.ID != tc.id || m.Topic != tc.topic {
			t.Errorf("Sniff(%s) = %+v", tc.text, m)
		}
	}
}

func TestDigFindsWhatIsDeeper(t *testing.T) {
	const text = `{"a":{"x":NaN,"b":[{"c":0}],"c":{"d":" 7,}"}},"c":1`
	for _, tc := range []struct{ path, want string }{
		{"a c d", `" 7,}"`}, {"a b", `[{"c":0}]`}, {"a x", "NaN"}, {"c", "1"}, {"a d", ""}, {"c d", ""}, {"z", ""},
	} {
		if got := string(Dig([]byte(text), strings.Fields(tc.path)...)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.path, got, tc.want)
		}
	}
}

func FuzzSniff(f *testing.F) {
	for _, s := range []string{`{"op":"publish","id":"a","topic":"/t","msg":{"data":"x`, `{"msg":[{}],"op":1`, `{"op":NaN,"id":2}`, `{"a\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Sniff(data) // whatever it is
		m, err := Parse(data)
		if err != nil {
			return
		}
		// of a frame as we write it, it finds what is there
		if got := Sniff(m.Append(nil)); got.Op != m.Op || got.ID != m.ID || got.Topic != m.Topic || got.Service != m.Service || got.Action != m.Action {
			t.Errorf("Sniff(%s) = %+v", m.Append(nil), got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"op":"publish","topic":"a","msg":{}}`, `{"op":"fragment","id":1,"data":"x","num":0,"total":2}`, `{`, `{"op":"a","id":1e99}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if m == nil {
			t.Fatal("no message")
		}
		if err != nil {
			return
		}
		m.Unknown = nil
		text := m.Append(nil)
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%s is not read back: %v", text, err)
		}
		if second := again.Append(nil); string(second) != string(text) {
			t.Errorf("%s became %s", text, second)
		}
	})
}

func FuzzCBOR(f *testing.F) {
	for _, v := range []any{map[string]any{"op": "x", "id": 1}, cbor.Tag{Number: 85, Content: []byte{1, 2, 3, 4}}, []any{1.5, nil}} {
		b, err := cbor.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseCBOR(data)
		if m == nil {
			t.Fatal("no message")
		}
		if err != nil {
			return
		}
		// what is read, another reader takes too, and it says the same
		var v struct {
			Op    string `cbor:"op"`
			Topic string `cbor:"topic"`
		}
		strict, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, MaxNestedLevels: 2 * maxNesting}.DecMode()
		if err != nil {
			t.Fatal(err)
		}
		err = strict.Unmarshal(data, &v)
		if _, twice := err.(*cbor.DupMapKeyError); twice {
			return // as in text frames, the last counts
		}
		if err != nil || v.Op != m.Op || v.Topic != m.Topic {
			t.Errorf("%x: %+v, the other reader %+v, %v", data, m, v, err)
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("hällo"), 1)
	f.Add([]byte("\x80\x80\x80\x80\x80\x80"), 4)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if len(text) > 1<<12 {
			return
		}
		total := 0
		for _, frame := range Split(text, size, "f") {
			if len(frame) == 0 && len(text) > 0 {
				t.Fatal("empty frame")
			}
			total += len(frame)
		}
		if total < len(text) {
			t.Errorf("%d bytes of %d", total, len(text))
		}
	})
}

// TestAFrameCostsAFewTimesItsSize: whatever a frame claims to hold, reading it takes no
// tree of it. These are the frames that cost up to 88 times their size.
func TestAFrameCostsAFewTimesItsSize(t *testing.T) {
	const size = 1 << 20
	maps := append([]byte{0xa3, 0x62, 'o', 'p', 0x67}, "publish"...)
	maps = append(append(maps, 0x65), "topic"...)
	maps = append(maps, 0x62, '/', 'x', 0x63, 'm', 's', 'g', 0x9a, 0, 0x10, 0, 0)
	maps = append(maps, slices.Repeat([]byte{0xa0}, size)...)
	var keys, inner strings.Builder
	for i := range size / 12 {
		fmt.Fprintf(&keys, `,"k%06d":0`, i)
		fmt.Fprintf(&inner, `"k%06d":0,`, i)
	}
	for _, tc := range []struct {
		name  string
		data  []byte
		parse func([]byte) (*Message, error)
		most  int // times the size
	}{
		{"empty maps in CBOR", maps, ParseCBOR, 8},
		{"many keys", []byte(`{"op":"publish","topic":"/x"` + keys.String() + `}`), Parse, 1},
		{"many keys of a message", []byte(`{"op":"publish","topic":"/x","msg":{` + inner.String() + `"z":0}}`), Parse, 1},
		{"many empty objects", []byte(`{"op":"publish","topic":"/x","msg":[` + strings.Repeat("{},", size/3) + `{}]}`), Parse, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := tc.parse(tc.data)
			runtime.ReadMemStats(&after)
			if m.Op != Publish || m.Topic != "/x" {
				t.Errorf("%+v, %v", m, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(tc.most*len(tc.data)) {
				t.Errorf("%d bytes for a frame of %d: %.1f times, at most %d are allowed", took, len(tc.data), float64(took)/float64(len(tc.data)), tc.most)
			}
		})
	}
}
