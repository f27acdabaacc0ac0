package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

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

// TestAStandstillIsToldOnce: of a goal that stands for a second, also before it moved, and not of one that is called off.
func TestAStandstillIsToldOnce(t *testing.T) {
	began := time.Unix(0, 0)
	var s standstill
	for _, c := range []struct {
		at    float64 // s
		state string
		time  float64 // of the goal, s
		rate  float64
		told  bool
	}{
		{0, "pending", 0, 0, false}, {5, "active", 0, 0, false}, {5.9, "active", 0, 0, false}, {6, "active", 0, 0, true}, {10, "active", 0, 0, false},
		{11, "active", 1, 1, false}, {12, "active", 1, 0, false}, {12.9, "active", 1, 0, false}, {13, "active", 1, 0, true}, {30, "active", 1, 0, false},
		{31, "active", 1.1, 1, false}, {32, "active", 2, 0, false}, {36, "active", 2, 0, true}, // again
		{40, "active", 3, 1, false}, {41, "preempting", 3, 0, false}, {50, "preempting", 3, 0, false},
	} {
		g := &poisemsgs.GoalInfo{State: c.state, Time: c.time, Rate: c.rate}
		if told := s.tells(g, began.Add(time.Duration(c.at*float64(time.Second)))); told != c.told {
			t.Errorf("after %g s: told is %v, want %v", c.at, told, c.told)
		}
	}
}
