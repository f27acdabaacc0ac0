package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
)

// TestStanceStandsOnTheLegsItIsGiven lifts no claim to a leg that was not asked for.
func TestStanceStandsOnTheLegsItIsGiven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		g := b.send("/controllers/stance/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"leg1", "leg2", "leg3"}})
		var f msgs.SetOperationalFeedback
		for len(f.Resources) == 0 {
			readFeedback(b, g, &f)
		}
		if got := strings.Join(f.Resources, " "); got != "leg1 leg2 leg3 base" {
			t.Errorf("it owns %s", got)
		}
		u, _ := b.end(b.send("/controllers/stance/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"head"}}))
		b.rejected(u, "no whole leg")
	})
}

// TestUnreadableMotionsAreListedWithAWarning: one line of the log for each reason, not
// one for each look.
func TestUnreadableMotionsAreListedWithAWarning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, "torn.motion.yaml"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("joints: {joint51: {}\n")
		b := start(t, func(c *config.Config) { c.Motions = dir })
		warnings := func() int { return len(b.log.lines("level=WARN", "a motion cannot be read", "motion=torn")) }
		list := func() (reason string) {
			t.Helper()
			var r poisemsgs.MotionsListResponse
			b.call("/motions/list", &poisemsgs.MotionsListRequest{}, &r)
			for _, m := range r.Motions {
				if m.Name == "torn" {
					reason = m.Error
				}
			}
			return reason
		}
		for range 3 {
			if reason := list(); !strings.Contains(reason, "torn.motion.yaml:1") || warnings() != 1 {
				t.Errorf("listed with %q, %d warnings", reason, warnings())
			}
		}
		write("pionts: []\n")
		if reason := list(); !strings.Contains(reason, "pionts") || warnings() != 2 {
			t.Errorf("changed: listed with %q, %d warnings", reason, warnings())
		}
		write("points: []\n")
		if reason := list(); reason != "" || warnings() != 2 {
			t.Errorf("mended: listed with %q, %d warnings", reason, warnings())
		}
	})
}
