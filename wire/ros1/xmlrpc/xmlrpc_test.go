package xmlrpc

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

var sample = map[string]any{
	"bool": true, "int": -7, "float": 0.1, "text": "a<b>&\"c\" \r\n\tü", "bytes": []byte{0, 1, 255},
	"list": []any{1, "two", []any{}, map[string]any{}}, "empty": "", "time": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "nil": nil,
	"large": math.MaxFloat64, "inf": math.Inf(-1),
}

func TestValuesGoThere(t *testing.T) {
	h := &Handler{Methods: map[string]Method{
		"echo": func(_ context.Context, args []any) (any, error) { return args, nil },
		"fail": func(context.Context, []any) (any, error) { return nil, errors.New("it <is> so") },
	}}
	web := httptest.NewServer(h)
	defer web.Close()
	c := NewClient(nil)
	defer c.Close()
	got, err := c.Call(t.Context(), web.URL+"/any/path", "echo", sample, 3)
	if err != nil || !reflect.DeepEqual(got, []any{sample, 3}) {
		t.Errorf("%v, %v", got, err)
	}
	var fault *Fault
	if _, err := c.Call(t.Context(), web.URL, "fail"); !errors.As(err, &fault) || fault.Text != "it <is> so" {
		t.Errorf("a failure: %v", err)
	}
	if _, err := c.Call(t.Context(), web.URL, "none"); !errors.As(err, &fault) || !strings.Contains(fault.Text, `"none"`) {
		t.Errorf("a method that there is not: %v", err)
	}
	got, err = c.Call(t.Context(), web.URL, "system.multicall", []any{
		map[string]any{"methodName": "echo", "params": []any{1}}, map[string]any{"methodName": "fail", "params": []any{}}})
	want := []any{[]any{[]any{1}}, map[string]any{"faultCode": 1, "faultString": "it <is> so"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("several calls: %v, %v", got, err)
	}
}

// What roscpp and Python send, letter by letter.
func TestCallsOfOthersAreRead(t *testing.T) {
	for text, want := range map[string][]any{
		"<?xml version='1.0'?>\n<methodCall>\n<methodName>getPid</methodName>\n<params>\n<param>\n<value><string>/a</string></value>\n</param>\n</params>\n</methodCall>\n":                       {"/a"},
		`<?xml version="1.0"?><methodCall><methodName>getPid</methodName>` + "\r\n" + `<params><param><value>plain</value></param><param><value><i4>5</i4></value></param></params></methodCall>`: {"plain", 5},
		`<methodCall><methodName>getPid</methodName></methodCall>`: nil,
		`<methodCall><methodName>getPid</methodName><params><param><value><array><data><value><boolean>1</boolean></value><value><double>1e3</double></value></data></array></value></param></params></methodCall>`: {[]any{true, 1000.0}},
	} {
		method, args, err := readCall([]byte(text))
		if err != nil || method != "getPid" || !reflect.DeepEqual(args, want) {
			t.Errorf("%s: %q %v %v", text, method, args, err)
		}
	}
}

func TestHostileCallsAreRefused(t *testing.T) {
	deep := strings.Repeat("<value><array><data>", 1000)
	h := &Handler{Methods: map[string]Method{}, MaxBytes: 1 << 20}
	for name, c := range map[string]struct {
		method, kind, body string
		status             int
	}{
		"too long":         {"POST", "text/xml", strings.Repeat("x", 1<<20+1), http.StatusRequestEntityTooLarge},
		"a form of a page": {"POST", "text/plain", "", http.StatusUnsupportedMediaType},
		"no call":          {"GET", "", "", http.StatusMethodNotAllowed},
		"nested":           {"POST", "text/xml", "<methodCall><methodName>a</methodName><params><param>" + deep, http.StatusOK},
		"an entity":        {"POST", "text/xml", `<!DOCTYPE a [<!ENTITY b "c">]><methodCall><methodName>&b;</methodName></methodCall>`, http.StatusOK},
	} {
		r := httptest.NewRequest(c.method, "/", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || c.status == http.StatusOK && !strings.Contains(w.Body.String(), "<fault>") {
			t.Errorf("%s: %d %.200s", name, w.Code, w.Body)
		}
	}
}

func FuzzXMLRPC(f *testing.F) {
	call, err := appendCall(nil, "echo", []any{sample})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(call)
	f.Add(appendFault(nil, &Fault{1, "x"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = readAnswer(data)
		method, args, err := readCall(data)
		if err != nil {
			return
		}
		again, err := appendCall(nil, method, args)
		if err != nil {
			return // an integer beyond 32 bits
		}
		if _, _, err := readCall(again); err != nil {
			t.Errorf("what was read cannot be read again: %v\n%s", err, again)
		}
	})
}
