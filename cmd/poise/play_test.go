package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheBarShowsHowFarAMotionIs(t *testing.T) {
	for status, want := range map[string]string{
		`{"status":"moving 1.00/2.00 s"}`:         "nod [===============               ] 1.0/2.0 s moving",
		`{"status":"approaching 0.20/0.80 s"}`:    "nod [=======                       ] 0.2/0.8 s approaching",
		`{"status":"moving 3.00 s at 50 %"}`:      "nod moving 3.00 s at 50 %",
		`{"state":"PLANNING"}`:                    "nod PLANNING",
		`{"status":"settling 2.10/2.00 s; more"}`: "nod [==============================] 2.1/2.0 s settling",
	} {
		var out bytes.Buffer
		b := &bar{w: &out, what: "nod"}
		b.show([]byte(status))
		if got := out.String(); got != "\r"+want {
			t.Errorf("%s is drawn as %q, want %q", status, got, want)
		}
		out.Reset()
		b.end()
		if got := out.String(); strings.TrimSpace(got) != "" || len(got) < len(want) {
			t.Errorf("the end leaves %q", got)
		}
	}
	var out bytes.Buffer // not a terminal: nothing is drawn
	b := newBar(&out, "nod")
	b.show([]byte(`{"status":"moving 1.00/2.00 s"}`))
	b.end()
	if out.Len() > 0 {
		t.Errorf("a file gets %q", out.String())
	}
}
