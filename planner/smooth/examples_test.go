package smooth_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/edge"
	"poise/internal/golden"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/planner"
	"poise/planner/smooth"
)

// refused stands before words of a refusal.
const refused = "refused: "

// expected is what the examples show: words of a note, "" for none.
var expected = map[string]string{
	"ptp_own_limits": "", "ptp_partial_goal": "", "ptp_link_speed": "velocity limit of link tool0",
	"lin_slows_down": "slowed", "lin_turning_tool": "", "lin_jerk_limited": "", "lin_half_speed": "", "lin_speed_of_a_link": "velocity limit of link link_3",
	"lin_moving_start": "", "lin_bridge": "bridged", "lin_through_singularity": "slowed", "lin_from_singularity": "turns in place",
	"circ_center": "", "circ_half_by_interim": "", "circ_full": "", "circ_by_angle": "",
	"polyline_corner_radii": "", "polyline_points_on_a_line": "",
	"lin_brakes_harder": "", "sequence_out_of_reach": refused + "item 1: ",
	"sequence_blended": "", "sequence_ptp_blends": "", "sequence_smaller_scaling": "", "sequence_gripper": "",
}

func TestExamplesArePlanned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(golden.Root(t), "examples", "plan", "*.*"))
	must(t, err)
	b := arm6(t)
	seen := 0
	for _, f := range files {
		if filepath.Base(f) == "README.md" {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f), ".json"), ".yaml")
		words, ok := expected[name]
		if !ok {
			t.Errorf("nothing is expected of %s", f)
			continue
		}
		seen++
		raw, err := os.ReadFile(f)
		must(t, err)
		var list msgs.MotionSequenceRequest
		if !strings.HasPrefix(name, "sequence") {
			list.Items = make([]msgs.MotionSequenceItem, 1)
			err = rosjson.Unmarshal(raw, &list.Items[0].Req)
		} else {
			err = rosjson.Unmarshal(raw, &list)
		}
		must(t, err)
		var items []planner.Item
		for i := range list.Items {
			req, why := edge.PlanRequest(&list.Items[i].Req)
			if why != nil {
				t.Fatalf("%s: %v", name, why)
			}
			items = append(items, planner.Item{Request: req, Radius: list.Items[i].BlendRadius})
		}
		period := smooth.DefaultSampling
		if testing.Short() {
			period = 0.01
		}
		all, why := (&smooth.Planner{Model: b.m, Sampling: period}).Sequence(context.Background(), items, b.q)
		if no, is := strings.CutPrefix(words, refused); is {
			if why == nil || !strings.Contains(why.Error(), no) || !strings.Contains(why.Error(), "along the path") || !(why.Distance > 0) {
				t.Errorf("%s: %v, want a refusal with %q", name, why, no)
			}
			continue
		}
		if why != nil {
			t.Errorf("%s: %v", name, why)
			continue
		}
		for _, m := range all {
			checkMotion(t, b.m, m, period)
		}
		if notes := planner.Summary(all...); !strings.Contains(notes, words) {
			t.Errorf("%s: notes %q, want %q", name, notes, words)
		} else {
			t.Logf("%s: %.3f s: %s", name, duration(all...), notes)
		}
	}
	if seen != len(expected) {
		t.Errorf("%d examples, want %d", seen, len(expected))
	}
}

// The table of examples names each of them, and tests that exist.
func TestExamplesAreExplained(t *testing.T) {
	root := golden.Root(t)
	raw, err := os.ReadFile(filepath.Join(root, "examples", "plan", "README.md"))
	must(t, err)
	table := string(raw)
	for name := range expected {
		if !strings.Contains(table, "`"+name+".") {
			t.Errorf("%s is not in the table", name)
		}
	}
	var tests strings.Builder
	files, err := filepath.Glob(filepath.Join(root, "planner", "smooth", "*_test.go"))
	must(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		must(t, err)
		tests.Write(text)
	}
	for _, word := range strings.FieldsFunc(table, func(r rune) bool { return strings.ContainsRune("`|, \n()", r) }) {
		if strings.HasPrefix(word, "Test") && !strings.Contains(tests.String(), "func "+word+"(") {
			t.Errorf("there is no %s", word)
		}
	}
}
