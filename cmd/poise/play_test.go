package main

import (
	"bytes"
	"strings"
	"testing"

	"poise/msgs/poisemsgs"
)

func TestTheBarShowsHowFarAMotionIs(t *testing.T) {
	for _, tc := range []struct {
		goal poisemsgs.GoalInfo
		want string
	}{
		{poisemsgs.GoalInfo{Phase: "moving", Time: 1, Duration: 2}, "nod [===============               ] 1.0/2.0 s moving"},
		{poisemsgs.GoalInfo{Phase: "approaching", Time: 0.2, Duration: 0.8}, "nod [=======                       ] 0.2/0.8 s approaching"},
		{poisemsgs.GoalInfo{Phase: "moving", Time: 3, Rate: 0.5}, "nod moving 3.00 s at 50 %"},
		{poisemsgs.GoalInfo{Phase: "planning"}, "nod planning"},
		{poisemsgs.GoalInfo{Phase: "settling", Time: 2.1, Duration: 2}, "nod [==============================] 2.1/2.0 s settling"},
	} {
		var out bytes.Buffer
		b := &bar{w: &out, what: "nod"}
		b.show(&tc.goal)
		if got := out.String(); got != "\r"+tc.want {
			t.Errorf("%+v is drawn as %q, want %q", tc.goal, got, tc.want)
		}
		out.Reset()
		b.end()
		if got := out.String(); strings.TrimSpace(got) != "" || len(got) < len(tc.want) {
			t.Errorf("the end leaves %q", got)
		}
	}
	var out bytes.Buffer // not a terminal: nothing is drawn
	b := newBar(&out, "nod")
	b.show(&poisemsgs.GoalInfo{Phase: "moving", Time: 1, Duration: 2})
	b.end()
	if out.Len() > 0 {
		t.Errorf("a file gets %q", out.String())
	}
}
