package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestOneRendering(t *testing.T) {
	for _, tc := range []struct {
		p    Problem
		want string
	}{
		{Problem{Text: "nothing moves"}, "nothing moves"},
		{Problem{Pos: Pos{"arm.urdf", 7}, Thing: Joint("elbow"), Text: "lower limit 2 is above the upper limit 1"},
			`arm.urdf:7: joint "elbow": lower limit 2 is above the upper limit 1`},
		{Problem{Pos: Pos{"a.xacro", 3}, Text: "undefined name", Excerpt: "${x}", Via: "macro leg called at b.xacro:7"},
			`a.xacro:3: undefined name: "${x}" (macro leg called at b.xacro:7)`},
		{Problem{Thing: "row 3", Text: `joint "nee" does not exist`, Help: DidYouMean("nee", []string{"hip", "knee"})},
			`row 3: joint "nee" does not exist; did you mean "knee"?`},
	} {
		if got := tc.p.Error(); got != tc.want {
			t.Errorf("%s\nwant %s", got, tc.want)
		}
	}
}

func TestCodesAreFoundInJoinedErrors(t *testing.T) {
	const tooFast, unknown Code = "too_fast", "unknown_joint"
	err := fmt.Errorf("goal 4: %w", errors.Join(New(tooFast, "9 rad/s"), errors.New("plain")))
	var p *Problem
	if !errors.Is(err, tooFast) || errors.Is(err, unknown) || !errors.As(err, &p) || p.Text != "9 rad/s" {
		t.Errorf("%v, %+v", err, p)
	}
	if errors.Is(&Problem{}, Code("")) {
		t.Error("a problem without a code is of the code without a name")
	}
	if tooFast.Error() != "too fast" {
		t.Errorf("the code reads %q", tooFast.Error())
	}
}

func TestAllTakesErrorsApart(t *testing.T) {
	one := New("own", "mine").With("give it %s", "back")
	all := All("invalid", errors.Join(errors.New("plain"), one, errors.Join(Problem{Code: "deep", Text: "within"})))
	if len(all) != 3 || all[0] != (Problem{Code: "invalid", Text: "plain"}) || all[1] != *one || all[2].Code != "deep" {
		t.Errorf("%+v", all)
	}
	// what is wrapped has more to say than the problem in it
	if all := All("invalid", fmt.Errorf("item 3: %w", one)); len(all) != 1 || all[0].Code != "invalid" || all[0].Text != "item 3: mine; give it back" {
		t.Errorf("%+v", all)
	}
	// In finds them all the same
	if all := In(fmt.Errorf("goal: %w", errors.Join(errors.New("plain"), one, fmt.Errorf("two: %w", Problem{Code: "deep"})))); len(all) != 2 || all[0] != one || all[1].Code != "deep" {
		t.Errorf("%+v", all)
	}
	if In(nil) != nil || In(errors.New("plain")) != nil {
		t.Error("problems in an error that has none")
	}
	if All("x", nil) != nil {
		t.Error("no error is no problem")
	}
}

func TestAllTakesJoinedErrorsApart(t *testing.T) {
	all := All("invalid", errors.Join(errors.New("plain"), New("own", "mine").With("ask"), Problem{Thing: "row 3", Text: "no code"}))
	if len(all) != 3 || all[0].Code != "invalid" || all[1].Code != "own" || all[2].Code != "invalid" {
		t.Errorf("%+v", all)
	}
	if got, want := Join(all), "plain\nmine; ask\nrow 3: no code"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := all[1].WithoutHelp(); got != "mine" || all[1].Help != "ask" {
		t.Errorf("%q, %q", got, all[1].Help)
	}
}

func TestJSONHasWhatThereIs(t *testing.T) {
	p := Problem{Code: "beyond_velocity", Pos: Pos{File: "nod.yaml", Line: 4}, Joint: "head", Value: 3, Limit: 2, Text: "too fast"}
	got, err := json.Marshal(p)
	if want := `{"code":"beyond_velocity","file":"nod.yaml","line":4,"text":"too fast","joint":"head","value":3,"limit":2}`; err != nil || string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	var back Problem
	if err := json.Unmarshal(got, &back); err != nil || back != p {
		t.Errorf("reads back as %+v: %v", back, err)
	}
}

func TestDidYouMean(t *testing.T) {
	motions := []string{"nod", "nod_yes", "shake_head", "bow", "brohoof_begin", "brohoof_end", "yawn"}
	joints := []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"}
	for _, tc := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"foream", []string{"upper_arm", "forearm"}, `did you mean "forearm"?`},
		{"joint_7", []string{"joint_1", "joint_2", "tool"}, `did you mean "joint_1" or "joint_2"?`},
		{"joint_7", joints, ""}, // as near to one as to all
		{"joint1", joints, `did you mean "joint_1"?`},
		{"Joint_3", joints, `did you mean "joint_3"?`},
		{"joint_7", []string{"a", "b"}, ""},
		{"", []string{"a"}, `did you mean "a"?`},
		{"x", nil, ""},
		{"nodd", motions, `did you mean "nod"?`},
		{"NOD", motions, `did you mean "nod"?`},
		{"yaun", motions, `did you mean "yawn"?`},
		{"brohoof", motions, `did you mean "brohoof_begin" or "brohoof_end"?`},
		{"head", motions, `did you mean "shake_head"?`},
		{"gallop", motions, ""},
		{"tial", []string{"trunk", "tail"}, `did you mean "tail"?`},
		{"stnad", []string{"sit", "stand"}, `did you mean "stand"?`},
		{"", motions, ""},
	} {
		if got := DidYouMean(tc.name, tc.candidates); got != tc.want {
			t.Errorf("%q of %q: %s, want %s", tc.name, tc.candidates, got, tc.want)
		}
		if hint := Hint(tc.name, tc.candidates); hint != "" && hint != "; "+tc.want {
			t.Errorf("hint %q", hint)
		}
	}
}

func TestUnknownNamesListWhatThereIs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		names []string
		want  string
	}{
		{"nodd", []string{"nod", "bow"}, `there is no motion "nodd"; did you mean "nod"?`},
		{"gallop", []string{"nod", "bow"}, `there is no motion "gallop"; there are nod, bow`},
		{"gallop", nil, `there is no motion "gallop"; there is none at all`},
		{"x", strings.Split("aa bb cc dd ee ff gg hh ii", " "), `there is no motion "x"; there are aa, bb, cc, dd, ee, ff, gg, hh, …`},
	} {
		if got := Unknown("unknown_motion", "motion", tc.name, tc.names); got.Error() != tc.want || got.Code != "unknown_motion" {
			t.Errorf("%v, want %s", got, tc.want)
		}
	}
}

// TestHintsOfOneReportAreBounded: thousands of wrong names in a robot of thousands of
// links are told, but not all with a hint.
func TestHintsOfOneReportAreBounded(t *testing.T) {
	candidates := make([]string, 5000)
	for i := range candidates {
		candidates[i] = fmt.Sprintf("link_number_%d", i)
	}
	var r Report
	given := 0
	for i := range 100_000 {
		if r.Hint(fmt.Sprintf("link_numbr_%d", i), candidates) != "" {
			given++
		}
	}
	if given == 0 || given > 100 {
		t.Errorf("%d hints given, want some and not more than 100", given)
	}
}

func TestReportKeepsErrorsAndWarningsApart(t *testing.T) {
	var r Report
	if r.Err() != nil {
		t.Error("an empty report is an error")
	}
	r.Warnf("zero_mass", Pos{"r.urdf", 2}, Link("a"), "weighs %g kg", 0.0)
	r.Errorf("loop", Pos{"r.urdf", 3}, "", "a ring")
	if err := r.Err(); !errors.Is(err, Code("loop")) || err.Error() != "r.urdf:3: a ring" || r.Warnings[0].Error() != `r.urdf:2: link "a": weighs 0 kg` {
		t.Errorf("%v, %v", err, r.Warnings)
	}
}

// FuzzNear never fails, and only gives names there are.
func FuzzNear(f *testing.F) {
	f.Add("nod", "nod\nbow")
	f.Add("", "")
	f.Add("\xff", "é\n\n")
	f.Fuzz(func(t *testing.T, name, list string) {
		if len(name) > 100 || len(list) > 1000 {
			return
		}
		names := strings.Split(list, "\n")
		for _, n := range Near(name, names) {
			if !slices.Contains(names, n) {
				t.Errorf("%q is not one of %q", n, names)
			}
		}
	})
}
