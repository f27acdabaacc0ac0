package tcpros

import (
	"bytes"
	"maps"
	"testing"
)

func TestHeadersGoThere(t *testing.T) {
	h := Header{"callerid": "/poise", "message_definition": "float64 x=1\n", "empty": ""}
	b := AppendHeader([]byte("before"), h)[len("before"):]
	got, err := ReadHeader(bytes.NewReader(b), MaxHeader)
	if err != nil || !maps.Equal(got, h) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ReadHeader(bytes.NewReader(b), len(b)-5); err == nil {
		t.Error("a header beyond its limit is read")
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(AppendFields(nil, Header{"a": "b"}))
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseHeader(data)
		if err != nil {
			return
		}
		again, err := ParseHeader(AppendFields(nil, h))
		if err != nil || !maps.Equal(again, h) {
			t.Errorf("%v, %v", again, err)
		}
	})
}
