package frame

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

func TestHeadOfWhatClientsSend(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Head
	}{
		{"a call", `{"op":"call_service","id":"c","service":"/stop","args":{"category":2}}`,
			Head{Op: CallService, ID: `"c"`, Service: "/stop", Args: []byte(`{"category":2}`)}},
		{"with spaces, nested and escaped", " {\n\"args\" : {\"op\":\"x\",\"s\":\"}\\\"]\\\\\"} , \"\\u006fp\" : \"call\\u005fservice\", \"id\":7.0,\t\"service\":\"stop\"}\n",
			Head{Op: CallService, ID: `7`, Service: "stop", Args: []byte(`{"op":"x","s":"}\"]\\"}`)}},
		{"the last counts", `{"op":"publish","op":"call_service","service":"a","service":"b"}`, Head{Op: CallService, Service: "b"}},
		{"null is nothing", `{"op":"call_service","service":"a","op":null}`, Head{Service: "a"}},
		{"cut in its arguments", `{"op":"call_service","service":"/stop","args":{"cat`, Head{Op: CallService, Service: "/stop", Broken: true}},
		{"cut before the brace", `{"op":"call_service","service":"/stop"`, Head{Op: CallService, Service: "/stop", Broken: true}},
		{"cut in the name", `{"op":"call_service","service":"/stop`, Head{Op: CallService, Broken: true}},
		{"Python's numbers", `{"op":"call_service","service":"stop","args":{"category":NaN}}`,
			Head{Op: CallService, Service: "stop", Args: []byte(`{"category":NaN}`)}},
		{"a quote too many", `{"op":"publish","msg":"he said "x","op":"call_service","service":"stop"}`, Head{Op: Publish, Broken: true}},
		{"two ops and no end", `{"op":"publish","op":"call_service","service":"stop","args":{`, Head{Op: CallService, Service: "stop", Broken: true, Doubtful: true}},
		{"a list", `["op","call_service"]`, Head{Broken: true}},
		{"nothing", ``, Head{Broken: true}},
		{"an empty object", ` { } `, Head{}},
	} {
		if got := ReadHead([]byte(tc.text), false); fmt.Sprintf("%+v", *got) != fmt.Sprintf("%+v", tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.name, *got, tc.want)
		}
	}
}

func TestHeadOfCBOR(t *testing.T) {
	call := map[string]any{"op": "call_service", "service": "/stop", "id": "c", "args": map[string]any{"category": 1}}
	data, err := cbor.Marshal(call)
	if err != nil {
		t.Fatal(err)
	}
	if h := ReadHead(data, true); h.Op != CallService || h.Service != "/stop" || h.ID != `"c"` || !h.CBOR || h.Broken {
		t.Errorf("head %+v", h)
	}
	// lengths that come in pieces: {_ "op": (_ "call_", "service"), "service": "stop"}
	pieces := []byte("\xbf\x62op\x7f\x65call_\x67service\xff\x67service\x64stop\xff")
	if h := ReadHead(pieces, true); h.Op != CallService || h.Service != "stop" || h.Broken {
		t.Errorf("head in pieces %+v", h)
	}
	if h := ReadHead(pieces[:len(pieces)-1], true); h.Op != CallService || h.Service != "stop" || !h.Broken {
		t.Errorf("head of a cut frame %+v", h)
	}
	if h := ReadHead([]byte(`{"op":"status"}`), true); h.Op != Status || h.CBOR {
		t.Errorf("JSON in a binary frame: %+v", h)
	}
}

// FuzzHead compares the head with the whole message: what encoding/json and the CBOR
// decoder can read has the head that they read.
func FuzzHead(f *testing.F) {
	for _, text := range []string{
		`{"op":"call_service","id":"c","service":"/stop","args":{"category":2}}`,
		`{"op":"call\u005fservice","service":"stop","x":[{},"\\",[1,2,{"op":"y"}]]}`,
		`{"op":"publish","topic":"/a","msg":{"data":"` + strings.Repeat(`[1,2],{"a":3},`, 20) + `"},"op":"call_service"}`,
		`{"op":"publish","msg":[` + strings.Repeat(`[0.125,1e3],`, 40) + `[]],"service":"stop"}`, `{}`, `[`, `{"op"`,
	} {
		f.Add([]byte(text), false)
	}
	f.Add([]byte("\xa2\x62op\x6ccall_service\x67service\x64stop"), true)
	f.Fuzz(func(t *testing.T, data []byte, binary bool) {
		h := ReadHead(data, binary)
		isCBOR := IsCBOR(data, binary)
		var m *Message
		var err error
		if isCBOR {
			m, err = ParseCBOR(data)
		} else {
			m, err = Parse(data)
		}
		if err != nil {
			var object map[string]json.RawMessage
			if isCBOR || json.Unmarshal(data, &object) != nil || object == nil {
				return // not an object; finding what can be found must only end
			}
		}
		if len(m.Op)+len(m.Service)+len(m.Topic)+len(m.Action) > longestName/8 {
			return
		}
		if h.Broken || h.Op != m.Op || h.Service != m.Service || h.Topic != m.Topic || h.Action != m.Action || h.ID != m.ID {
			t.Errorf("head of %q is %+v, the message says %+v (%v)", data, h, m, err)
		}
	})
}

// bigGoal is a trajectory of 20,000 points of 38 joints, about 6 MB as JSON.
func bigGoal() []byte {
	point := `{"positions":[` + strings.TrimSuffix(strings.Repeat("0.125,", 38), ",") + `],"time_from_start":{"sec":1,"nanosec":0}},`
	return []byte(`{"op":"send_action_goal","id":"big","action":"/follow_joint_trajectory","args":{"trajectory":{"points":[` +
		strings.TrimSuffix(strings.Repeat(point, 20000), ",") + `]}}}`)
}

// TestSketchOfALongGoal: its head is the same, without a look at its points; where what is
// needed stands behind them, they are looked at.
func TestSketchOfALongGoal(t *testing.T) {
	data := bigGoal()
	sketch, whole := SketchHead(data, false), ReadHead(data, false)
	if !sketch.Partial || whole.Partial || sketch.Broken || sketch.Op != whole.Op || sketch.ID != whole.ID || sketch.Action != whole.Action || sketch.ID != `"big"` {
		t.Errorf("sketch %+v", sketch)
	}
	late := append(data[:len(data)-1:len(data)-1], `,"id":"other"}`...)
	late = append([]byte(`{"op":"send_action_goal","action":"/a",`), late[strings.Index(string(late), `"args"`):]...)
	if sketch := SketchHead(late, false); sketch.Partial || sketch.ID != `"other"` {
		t.Errorf("sketch of a goal whose id comes last: id %s, partial %v", sketch.ID, sketch.Partial)
	}
	stop := []byte(`{"op":"call_service","args":"` + strings.Repeat("x", 1<<20) + `","service":"/stop"}`)
	if sketch := SketchHead(stop, false); sketch.Partial || sketch.Service != "/stop" {
		t.Errorf("sketch of a long call: %s, partial %v", sketch.Service, sketch.Partial)
	}
}

func BenchmarkHeadOfABigGoal(b *testing.B) {
	data := bigGoal()
	for name, read := range map[string]func([]byte, bool) *Head{"whole": ReadHead, "sketch": SketchHead} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				read(data, false)
			}
		})
	}
}
