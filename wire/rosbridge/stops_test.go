package rosbridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/fxamacker/cbor/v2"

	"poise/loop"
	"poise/stop"
	"poise/wire/rosbridge"
	"poise/wire/rosbridge/frame"
)

// cycle is a robot that stands as soon as it is told to stop.
type cycle struct {
	mu    sync.Mutex
	asked []uint8 // categories
	count uint64
}

func (c *cycle) Stop(category uint8) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, category)
	c.count++
	return c.count
}

func (c *cycle) StopState() loop.StopState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return loop.StopState{Asked: c.count, Taken: c.count, Over: c.count}
}

// take returns the categories that were asked for since the last time.
func (c *cycle) take() []uint8 {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

// lines are two robots, of which each test stops the first.
func lines() (*stop.Line, *cycle) {
	c := &cycle{}
	return stop.New(context.Background(), []stop.Robot{{Name: "virtual", Cycle: c}, {Name: "real", Cycle: &cycle{}}}, nil), c
}

const stands = `{"op":"service_response","id":"s","service":%q,"values":{"success":true,"message":"~stands after 0.000 s","explanations":[]},"result":true}`

// TestAStopWhoseArgumentsCannotBeReadIsOfCategory2, and an empty object does not take the
// torque; what is exactly 0, 1 or 2 is obeyed.
func TestAStopWhoseArgumentsCannotBeReadIsOfCategory2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line, c := lines()
		b := newStepped(t, rosbridge.Config{Stop: line})
		p := b.dial()
		for args, want := range map[string]uint8{
			`{"category":0}`: 0, `{"category":1}`: 1, `{"category":2}`: 2, `[0]`: 0, `[1]`: 1, `{"category":1.0}`: 1,
			`{}`: 2, `[]`: 2, `null`: 2, `{"category":"2"}`: 2, `{"category":"0"}`: 2, `{"category":null}`: 2, `{"category":-1}`: 2, `{"category":256}`: 2,
			`{"category":0,"extra":1}`: 2, `{"extra":1}`: 2, `{"category":{}}`: 2, `{"category":[0]}`: 2, `{"category":0.5}`: 2, `{"category":false}`: 2, `{"Category":0}`: 2,
			`{"category":1e-400}`: 2, `{"category":-0}`: 2, `{"category":0e5}`: 2, `{"category":2,"category":0}`: 2, `{"category":0,"c\u0061tegory":0}`: 2,
			`"0"`: 2, `0`: 2, `[0,0]`: 2, `{"category":NaN}`: 2, `{"category":0` + strings.Repeat(" ", 5000) + `}`: 2,
		} {
			p.send(`{"op":"call_service","id":"s","service":"/stop","args":` + args + `}`)
			p.expect(fmt.Sprintf(stands, "/stop"))
			if got := c.take(); len(got) != 1 || got[0] != want {
				t.Errorf("args %.50s: categories %v, want %d", args, got, want)
			}
		}
		for _, text := range []string{
			`{"op":"call_service","id":"s","service":"/stop"}`,                                      // no arguments
			`{"op":"call_service","id":"s","service":"/stop","type":"no/such/Type","args":{}}`,      // of another type
			`{"op":"call_service","id":"s","service":"/stop","compression":"png","timeout":"soon"}`, // impossible
			`{"op":"call_service","id":"s","service":"/stop","args":{"cat`,                          // cut off
			`{"op":"call_service","id":"s","service":"/stop"`,                                       // cut off
			`{"service":"/stop","id":"s","op":"call_service","args":[[[[`,                           // in another order
			`{"op":"call_service","id":"s","service":"/stop","args":"` + strings.Repeat("x", 9<<20) + `"}`,
			`{"op":"publish","id":"s","topic":"/chatter","msg":"` + strings.Repeat("x", 1<<20) + `","op":"call_service","service":"/stop"}`, // the last op counts
		} {
			p.send(text)
			p.expect(fmt.Sprintf(stands, "/stop"))
			if got := c.take(); len(got) != 1 || got[0] != stop.Mildest {
				t.Errorf("%.80s: categories %v", text, got)
			}
		}
	})
}

// TestAStopIsRecognisedInEveryEncodingAndName that a client can use.
func TestAStopIsRecognisedInEveryEncodingAndName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line, c := lines()
		b := newStepped(t, rosbridge.Config{Stop: line})
		p := b.dial()
		stopped := func(what, service string, category uint8) {
			t.Helper()
			p.expect(fmt.Sprintf(stands, service))
			if got := c.take(); len(got) != 1 || got[0] != category {
				t.Errorf("%s: categories %v, want %d", what, got, category)
			}
		}
		for _, name := range []string{"stop", "/stop", "virtual/stop", "/virtual/stop", "stop/", "//stop", "/virtual//stop/", " /stop"} {
			p.send(fmt.Sprintf(`{"op":"call_service","id":"s","service":%q,"args":{"category":1}}`, name))
			stopped(name, name, 1)
		}
		text := []byte(`{"op":"call_service","id":"s","service":"/stop","args":{"category":1}}`)
		for _, f := range frame.Split(text, 10, "part") {
			p.send(string(f))
		}
		stopped("fragments", "/stop", 1)
		binary := func(v any) {
			t.Helper()
			data, err := cbor.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.conn.Write(t.Context(), websocket.MessageBinary, data); err != nil {
				t.Fatal(err)
			}
		}
		call := map[string]any{"op": "call_service", "id": "s", "service": "/stop", "args": map[string]any{"category": 0}}
		binary(call)
		stopped("CBOR", "/stop", 0)
		call["args"] = map[string]any{}
		binary(call)
		stopped("CBOR without a category", "/stop", 2)
		call["args"] = cbor.Tag{Number: 999, Content: 0}
		binary(call)
		stopped("CBOR that cannot be read", "/stop", 2)
		if err := p.conn.Write(t.Context(), websocket.MessageBinary, text); err != nil {
			t.Fatal(err)
		}
		stopped("JSON in a binary frame", "/stop", 1)
		for what, data := range map[string][]byte{"text with a mark": append([]byte("\xef\xbb\xbf"), text...), "CBOR with its tag": append([]byte("\xd9\xd9\xf7"), must(cbor.Marshal(map[string]any{"op": "call_service", "id": "s", "service": "/stop", "args": map[string]any{"category": 1}}))...)} {
			for _, typ := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
				if typ == websocket.MessageText && what != "text with a mark" {
					continue
				}
				if err := p.conn.Write(t.Context(), typ, data); err != nil {
					t.Fatal(err)
				}
				stopped(what, "/stop", 1)
			}
		}
		// another robot, and what is not a stop
		p.send(`{"op":"call_service","id":"s","service":"/real/stop"}`)
		p.expect(fmt.Sprintf(stands, "/real/stop"))
		for _, text := range []string{`{"op":"call_service","id":"s","service":"/stop/it"}`, `{"op":"call_service","id":"s","service":"/other/stop"}`,
			`{"op":"publish","id":"s","topic":"/chatter","service":"/stop","msg":{"op":"call_service","service":"/stop"}}`, `{"op":"advertise_service","service":"/stop"}`} {
			p.send(text)
		}
		p.settle()
		if got := c.take(); len(got) != 0 {
			t.Errorf("categories %v of what is no stop", got)
		}
	})
}

// TestAStopIsAheadOfEveryLimit of its own client: the rate, calls that wait, a worker that
// does not get on, a queue that is full, an outbox that is not read.
func TestAStopIsAheadOfEveryLimit(t *testing.T) {
	const call = `{"op":"call_service","id":"s","service":"/stop"}`
	t.Run("messages per second", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			line, c := lines()
			b := newStepped(t, rosbridge.Config{Stop: line, Limits: rosbridge.Limits{MessageRate: 0.001}})
			p := b.dial()
			p.send(`{"op":"call_service","id":1,"service":"/set"}`)
			p.expect(`{"op":"service_response","id":1,"service":"/set","values":"~too many messages per second","result":false}`)
			for range 100 {
				p.send(call)
				p.expect(fmt.Sprintf(stands, "/stop"))
			}
			if n := len(c.take()); n != 100 {
				t.Errorf("%d stops of 100", n)
			}
		})
	})
	t.Run("calls under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			line, c := lines()
			b := newStepped(t, rosbridge.Config{Stop: line, Limits: rosbridge.Limits{Calls: 10}})
			p := b.dial()
			for range 11 {
				p.send(`{"op":"call_service","id":1,"service":"/slow"}`)
			}
			p.until(`{"op":"service_response","id":1,"service":"/slow","values":"~too many calls at once: the limit is 10","result":false}`)
			p.send(call)
			p.until(fmt.Sprintf(stands, "/stop"))
			if n := len(c.take()); n != 1 {
				t.Errorf("%d stops", n)
			}
		})
	})
	t.Run("a busy worker and a full queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			line, c := lines()
			b := newBusy(t, line)
			big := strings.Repeat("x", 5<<20)
			for range 4 {
				b.p.send(`{"op":"call_service","id":"big","service":"/set","args":{"x":"` + big + `"}}`)
			}
			b.p.until(`{"op":"service_response","id":"big","service":"/set","values":"~too many bytes wait","result":false}`)
			b.p.send(call)
			b.p.until(fmt.Sprintf(stands, "/stop"))
			if n := len(c.take()); n != 1 {
				t.Errorf("%d stops", n)
			}
			close(b.release)
			b.p.settle()
		})
	})
	t.Run("a full outbox", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			line, c := lines()
			b := newStepped(t, rosbridge.Config{Stop: line, Limits: rosbridge.Limits{QueueBytes: 1000, PongWithin: time.Hour}})
			p := b.dial()
			ignored := strings.Repeat("x", 100<<10)
			for range 100 { // each is answered by a status that quotes the name
				if p.conn.Write(t.Context(), websocket.MessageText, []byte(call)) != nil {
					break // it was cut off because it reads nothing
				}
				_ = p.conn.Write(t.Context(), websocket.MessageText, []byte(`{"op":"subscribe","topic":"/`+ignored+`"}`))
			}
			wait(t, "stops are taken", func() bool { return len(c.take()) > 0 })
		})
	})
	t.Run("thousands of stops", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			line, c := lines()
			b := newStepped(t, rosbridge.Config{Stop: line})
			p := b.dial()
			for range 5000 {
				p.send(call)
			}
			for range 5000 {
				p.expect(fmt.Sprintf(stands, "/stop"))
			}
			if n := len(c.take()); n != 5000 {
				t.Errorf("%d stops of 5000", n)
			}
		})
	})
}

// FuzzStop: a frame that encoding/json, or the CBOR decoder, reads as a call of stop stops
// the robot, and no frame that they read as anything else does.
func FuzzStop(f *testing.F) {
	for _, text := range []string{
		`{"op":"call_service","service":"/stop"}`, `{"op":"call_service","service":"stop","args":{"category":0}}`,
		`{"op":"call_service","service":"/virtual/stop","args":[1],"id":7}`, `{"op":"call\u005fservice","service":"\/stop","x":["\\\"",{"op":1}]}`,
		`{"op":"publish","topic":"/stop","msg":{"op":"call_service","service":"/stop"}}`, `{"op":"call_service","op":"publish","service":"/stop"}`,
		`{"op":"call_service","service":"/stop`, `{"op":"call_service","service":"/stopp"}`, `[{"op":"call_service","service":"/stop"}]`,
	} {
		f.Add([]byte(text), false)
	}
	f.Add([]byte("\xa2\x62op\x6ccall_service\x67service\x64stop"), true)
	f.Fuzz(func(t *testing.T, data []byte, binary bool) {
		line, c := lines()
		taken := rosbridge.Stops(line, data, binary)
		asked := c.take()
		if taken != (len(asked) > 0) && !strings.Contains(string(data), "real") {
			t.Fatalf("taken %v, categories %v", taken, asked)
		}
		var m *frame.Message
		var err error
		if frame.IsCBOR(data, binary) {
			if m, err = frame.ParseCBOR(data); err != nil {
				return
			}
		} else {
			var object map[string]json.RawMessage
			if json.Unmarshal(data, &object) != nil || object == nil {
				return // as far as it can be recognised
			}
			m, _ = frame.Parse(data)
		}
		name := strings.TrimPrefix(m.Service, "/")
		want := m.Op == frame.CallService && (name == "stop" || name == "virtual/stop" || name == "real/stop")
		if taken != want {
			t.Errorf("%q: stop %v, want %v", data, taken, want)
		}
		var args struct {
			Category *int `json:"category"`
		}
		if len(asked) == 1 && asked[0] != stop.Mildest && json.Unmarshal(m.Args, &args) == nil && (args.Category == nil || *args.Category != int(asked[0])) {
			t.Errorf("%q: category %d", data, asked[0])
		}
	})
}
