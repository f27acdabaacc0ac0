package server_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs/poisemsgs"
	"poise/server/config"
)

// get returns a stored motion.
func get(b *bed, name string) (r poisemsgs.MotionsGetResponse) {
	b.t.Helper()
	b.call("/motions/get", &poisemsgs.MotionsGetRequest{Name: name}, &r)
	if !r.Success {
		b.t.Fatalf("motions/get %s: %s", name, r.Message)
	}
	return r
}

func TestMotionsNeedTheVersionThatTheyReplace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		m := get(b, "nod").Motion
		m.Name, m.Description = "mine", "a first try"
		first := b.must("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m})
		if first.Version == "" {
			t.Fatal("what was saved has no version")
		}
		if back := get(b, "mine"); back.Version != first.Version || back.Motion.Description != "a first try" || len(back.Motion.Points) != len(m.Points) {
			t.Errorf("what comes back is another motion: version %q, %q", back.Version, back.Motion.Description)
		}
		// a second person had the first version too
		m.Description = "a second try"
		second := b.must("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m, Version: first.Version})
		m.Description = "another client's"
		if a := b.refused("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m, Version: first.Version}, "mine"); a.Explanations[0].Code != "version_conflict" || a.Explanations[0].Help == "" {
			t.Errorf("the conflict is explained as %+v", a.Explanations[0])
		}
		if a := b.refused("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m}, "mine"); a.Explanations[0].Code != "motion_exists" {
			t.Errorf("saving over it without a version: %+v", a.Explanations[0])
		}
		b.refused("/motions/rename", &poisemsgs.MotionsRenameRequest{From: "mine", To: "ours", Version: first.Version}, "mine")
		b.must("/motions/rename", &poisemsgs.MotionsRenameRequest{From: "mine", To: "ours", Version: second.Version})
		b.refused("/motions/delete", &poisemsgs.MotionsDeleteRequest{Name: "ours", Version: first.Version}, "ours")
		if d := get(b, "ours"); d.Motion.Description != "a second try" {
			t.Errorf("after all refusals it is %q", d.Motion.Description)
		}
		u, _ := b.end(b.send("/play_motion", textType, play("ours", "speed=2")))
		b.want(u, succeeded)
		b.must("/motions/delete", &poisemsgs.MotionsDeleteRequest{Name: "ours", Version: get(b, "ours").Version})
		b.refused("/motions/get", &poisemsgs.MotionsGetRequest{Name: "ours"}, "ours")
		for _, bad := range []string{"", "../out", "a/b", ".hidden"} {
			m.Name = bad
			b.refused("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m})
		}
		if got := b.log.lines("msg=audit", "motion: put mine"); len(got) != 4 {
			t.Errorf("%d audit lines for 4 attempts: %q", len(got), got)
		}
	})
}

func TestMotionsAreJudgedSampledEditedAndExchanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		m := get(b, "nod").Motion
		var sample poisemsgs.MotionsSampleResponse
		b.call("/motions/sample", &poisemsgs.MotionsSampleRequest{Motion: m, Period: 0.1}, &sample)
		if !sample.Success || len(sample.Curves) != len(m.Joints) || len(sample.Times) < 20 || len(sample.Curves[0].Position) != len(sample.Times) {
			t.Errorf("motions/sample: %s, %d curves, %d times", sample.Message, len(sample.Curves), len(sample.Times))
		}
		var lint poisemsgs.MotionsLintResponse
		b.call("/motions/lint", &poisemsgs.MotionsLintRequest{Name: "nod"}, &lint)
		if !lint.Success || len(lint.Findings) > 0 {
			t.Errorf("motions/lint of a shipped motion: %s %v", lint.Message, lint.Findings)
		}
		points, told := len(m.Points), len(m.Events)
		m.Points[1].Positions[slices.Index(m.Columns, "joint51")] = 9
		b.call("/motions/lint", &poisemsgs.MotionsLintRequest{Motion: m}, &lint)
		if len(lint.Findings) == 0 {
			t.Error("a joint far beyond its limit is not found")
		}
		for _, format := range []string{"yaml", "goal", "goal_with_actions"} {
			var out poisemsgs.MotionsExportResponse
			b.call("/motions/export", &poisemsgs.MotionsExportRequest{Name: "nod", Format: format}, &out)
			if !out.Success || out.Text == "" {
				t.Fatalf("motions/export %s: %s", format, out.Message)
			}
			if format == "goal_with_actions" {
				continue // a message, not a file
			}
			var bot poisemsgs.MotionsImportResponse
			b.call("/motions/import", &poisemsgs.MotionsImportRequest{Name: "nod", Text: out.Text}, &bot)
			if events := len(bot.Motion.Events); !bot.Success || len(bot.Motion.Points) != points || format == "yaml" && events != told {
				t.Errorf("motions/import of %s: %s, %d points, %d events", format, bot.Message, len(bot.Motion.Points), len(bot.Motion.Events))
			}
		}
		b.refused("/motions/export", &poisemsgs.MotionsExportRequest{Name: "nod", Format: "bvh"}, "bvh")
		b.refused("/motions/import", &poisemsgs.MotionsImportRequest{Name: "x", Text: "points: 3"})
		b.refused("/motions/edit", &poisemsgs.MotionsEditRequest{Motion: m, Operation: poisemsgs.MotionOperation{Op: "explode"}}, "explode")
	})
}

// TestALibraryThatCannotBeWritten: where no folder can be made and no file written,
// nothing is saved, the reason is clear, and everything else goes on.
func TestALibraryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, folder := range []string{"/proc/poise/motions", "/sys"} {
			b := start(t, func(c *config.Config) { c.Motions = folder })
			m := get(b, "nod").Motion
			m.Name = "mine"
			a := b.refused("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m})
			if !strings.Contains(a.Message, "mine") && !strings.Contains(a.Message, folder) {
				t.Errorf("refused with %q, which names neither motion nor folder", a.Message)
			}
			u, _ := b.end(b.send("/play_motion", textType, play("nod", "speed=2")))
			b.want(u, succeeded)
		}
	})
}
