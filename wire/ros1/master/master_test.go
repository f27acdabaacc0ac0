package master

import (
	"context"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"poise/wire/ros1/xmlrpc"
)

// call calls a method as a node does.
func call(t *testing.T, m *Master, method string, args ...any) (int, any) {
	t.Helper()
	v, err := m.handler.Methods[method](context.Background(), args)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	list := v.([]any)
	return list[0].(int), list[2]
}

// node is a node that notes what it is told.
func told(t *testing.T) (uri string, calls chan []any) {
	calls = make(chan []any, 100)
	h := &xmlrpc.Handler{Methods: map[string]xmlrpc.Method{}}
	for _, name := range []string{"publisherUpdate", "paramUpdate", "shutdown"} {
		h.Methods[name] = func(_ context.Context, args []any) (any, error) {
			calls <- append([]any{name}, args[1:]...)
			return []any{1, "", 0}, nil
		}
	}
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return web.URL, calls
}

func TestSubscribersAreToldOfPublishers(t *testing.T) {
	m := New(Config{URI: "http://127.0.0.1:11311/"})
	defer m.Close()
	uri, calls := told(t)
	if code, v := call(t, m, "registerSubscriber", "/s", "chatter", "*", uri); code != 1 || !reflect.DeepEqual(v, []any{}) {
		t.Errorf("%d %v", code, v)
	}
	call(t, m, "registerPublisher", "/p", "/chatter", "std_msgs/String", "http://127.0.0.1:5/")
	if got := <-calls; !reflect.DeepEqual(got, []any{"publisherUpdate", "/chatter", []any{"http://127.0.0.1:5/"}}) {
		t.Errorf("told %v", got)
	}
	if _, v := call(t, m, "getPublishedTopics", "/x", ""); !reflect.DeepEqual(v, []any{[]any{"/chatter", "std_msgs/String"}}) {
		t.Errorf("%v", v)
	}
	call(t, m, "unregisterPublisher", "/p", "/chatter", "http://127.0.0.1:5/")
	if got := <-calls; !reflect.DeepEqual(got, []any{"publisherUpdate", "/chatter", []any{}}) {
		t.Errorf("told %v", got)
	}
	if code, _ := call(t, m, "lookupNode", "/x", "/p"); code != -1 {
		t.Error("a node without names is still there")
	}
	if _, v := call(t, m, "getSystemState", "/x"); !reflect.DeepEqual(v, []any{[]any{}, []any{[]any{"/chatter", []any{"/s"}}}, []any{}}) {
		t.Errorf("%v", v)
	}
}

func TestANodeIsReplacedByItsNamesake(t *testing.T) {
	m := New(Config{})
	defer m.Close()
	uri, calls := told(t)
	call(t, m, "registerPublisher", "/n", "/a", "std_msgs/String", uri)
	call(t, m, "registerService", "/n", "/s", "rosrpc://127.0.0.1:9", uri)
	call(t, m, "registerPublisher", "/n", "/b", "std_msgs/String", "http://127.0.0.1:6/")
	if got := <-calls; got[0] != "shutdown" || !strings.Contains(got[1].(string), "same name") {
		t.Errorf("told %v", got)
	}
	if code, _ := call(t, m, "lookupService", "/x", "/s"); code != -1 {
		t.Error("the service of the old node is still there")
	}
	if _, v := call(t, m, "getSystemState", "/x"); !reflect.DeepEqual(v, []any{[]any{[]any{"/b", []any{"/n"}}}, []any{}, []any{}}) {
		t.Errorf("%v", v)
	}
}

func TestParameters(t *testing.T) {
	m := New(Config{})
	defer m.Close()
	uri, calls := told(t)
	get := func(key string) any {
		t.Helper()
		code, v := call(t, m, "getParam", "/ns/node", key)
		if code != 1 {
			return nil
		}
		return v
	}
	call(t, m, "setParam", "/ns/node", "~a/b", 1)
	call(t, m, "setParam", "/ns/node", "rate", 2.5)
	if got := get("/"); !reflect.DeepEqual(got, map[string]any{"ns": map[string]any{"node": map[string]any{"a": map[string]any{"b": 1}}, "rate": 2.5}}) {
		t.Errorf("%v", got)
	}
	if _, v := call(t, m, "searchParam", "/ns/node", "rate"); v != "/ns/rate" {
		t.Errorf("searched: %v", v)
	}
	if _, v := call(t, m, "searchParam", "/ns/node", "a/none"); v != "/ns/node/a/none" {
		t.Errorf("searched: %v", v)
	}
	if code, _ := call(t, m, "searchParam", "/ns/node", "other"); code != -1 {
		t.Error("what is nowhere is found")
	}
	if _, v := call(t, m, "subscribeParam", "/ns/node", uri, "/ns/rate"); v != 2.5 {
		t.Errorf("watched: %v", v)
	}
	call(t, m, "setParam", "/x", "/ns", map[string]any{"rate": 3})
	if got := <-calls; !reflect.DeepEqual(got, []any{"paramUpdate", "/ns/rate", 3}) {
		t.Errorf("told %v", got)
	}
	if code, _ := call(t, m, "deleteParam", "/x", "/ns/none"); code != -1 {
		t.Error("what is not there is deleted")
	}
	call(t, m, "deleteParam", "/x", "/ns")
	if get("/ns/rate") != nil {
		t.Error("a deleted parameter is there")
	}
	if code, _ := call(t, m, "setParam", "/x", "/a"+strings.Repeat("/b", 100), 1); code != -1 {
		t.Error("a parameter nests without bound")
	}
	half := strings.Repeat("x", maxParamBytes/2)
	for range 5 { // each in place of the last
		if err := m.params.set("/big", half); err != nil {
			t.Error(err)
		}
	}
	if m.params.set("/second", half) == nil {
		t.Error("parameters have no bound")
	}
}

// Whatever a node sends, the answer is a code, a text and a value.
func TestWrongArgumentsAreRefused(t *testing.T) {
	m := New(Config{})
	defer m.Close()
	for name, f := range m.handler.Methods {
		for _, args := range [][]any{nil, {"/n"}, {1, 2, 3, 4}, {"/n", "", "", ""}, {"/n", "/t", "type", "gopher://x"}, {"n", "~", nil}, {"/n", []any{}, map[string]any{}}} {
			v, err := f(context.Background(), args)
			if list, ok := v.([]any); err != nil || !ok || len(list) != 3 {
				t.Errorf("%s %v: %v, %v", name, args, v, err)
			}
		}
	}
}
