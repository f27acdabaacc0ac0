package shipped_test

import (
	"testing"

	"poise/motion"
	"poise/motion/file"
	"poise/motion/lint"
	"poise/motion/shipped"
	"poise/robot"
	"poise/robot/load"
)

// TestShippedMotionsPassLint wants of each motion that comes with a robot: no finding,
// all joints captured, words that say what it is, and the form in which it is written.
func TestShippedMotionsPassLint(t *testing.T) {
	for name, least := range map[string]int{"pony": 16, "arm6": 7, "so101": 6} {
		bot, err := load.Robot(name, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all := motionsOf(t, name)
		if len(all) < least {
			t.Fatalf("%s: %d motions, want %d", name, len(all), least)
		}
		for i, s := range all {
			if testing.Short() && i%4 != 0 {
				continue
			}
			d := s.Document
			for _, f := range lint.Check(d, bot.Model, lint.Options{}) {
				t.Errorf("%s %s: %v", name, s.Name, f)
			}
			if d.Description == "" || len(d.Tags) == 0 || d.StartPose == "" {
				t.Errorf("%s %s: says too little of itself", name, s.Name)
			}
			if string(file.Write(d, s.Text)) != string(s.Text) {
				t.Errorf("%s %s: is not in the form that is written", name, s.Name)
			}
			wantAllJoints(t, s.Name, d, bot.Model)
		}
	}
}

func wantAllJoints(t *testing.T, name string, d *motion.Document, m *robot.Model) {
	t.Helper()
	for row := range d.Points {
		for _, j := range m.Joints() {
			if _, ok := d.Captured(row, j.Name); !ok {
				t.Errorf("%s: row %d did not capture %s", name, row+1, j.Name)
			}
		}
	}
}

func TestRobotsWithoutMotionsHaveNone(t *testing.T) {
	for _, name := range []string{"", ".", "..", "panda", "pony/nod.motion.yaml", "/pony"} {
		if shipped.Of(name) != nil {
			t.Errorf("%q has motions", name)
		}
	}
}
