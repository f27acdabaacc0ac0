package scenario

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"poise/internal/golden"
	"poise/internal/walks"
	"poise/robot/load"
	"poise/robot/shipped"
)

// setUp gives a bare URDF its limbs and contacts as `poise new-robot` does, with limits that are proposed or without.
func setUp(t *testing.T, name string, limits bool) Robot {
	t.Helper()
	return FromLoaded(walks.SetUp(t, name, golden.Read(t, "robots/"+name+"/"+name+".urdf"), limits))
}

// other is a robot that walks by the same code as the pony, on legs of three joints that end in balls.
func other(t *testing.T, bot Robot, cycle int, gait string, command, seconds, last float64) made {
	t.Helper()
	p := prepare(t, bot, fmt.Sprintf("duration: %g\nperiod: 0.01\ncontrol: {cycle: %d}\ndo: [{at: 0.2, velocity: {x: %g}, gait: %s}]\nexpect: [{what: zmp_margin, of: p99, min: -1, from: 1}]\n", seconds, cycle, command, gait))
	r, err := p.Run(1, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Notes {
		t.Error(n)
	}
	m := figures(r, last)
	t.Logf("%s, cycle %d, %g m/s commanded: %v", gait, cycle, command, m)
	if m.fallen {
		t.Errorf("%s: it fell", gait)
	}
	return m
}

// TestOtherRobotsWalk: go2 from its bare URDF, its contacts and limits set up by Poise, and a generated robot with six legs walk by the
// same code, in physics, in cycles 1 and 2; the whole ways in `make soak`. In cycle 2 the tilt of a trot on points does not grow.
func TestOtherRobotsWalk(t *testing.T) {
	for cycle := 1; cycle <= 2; cycle++ {
		if m := other(t, setUp(t, "go2", true), cycle, "trot", 0.5, 10, 4); m.speed < 0.3 {
			t.Errorf("cycle %d: go2 makes %g m/s", cycle, m.speed)
		}
		if m := other(t, FromLoaded(walks.Hexapod(t)), cycle, "trot", 0.1, 8, 4); m.speed < 0.06 {
			t.Errorf("cycle %d: the hexapod makes %g m/s", cycle, m.speed)
		}
	}
}

// copyOfPony returns a folder with the files of the pony, to be changed.
func copyOfPony(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "pony")
	files, err := fs.Sub(shipped.FS, "pony")
	if err == nil {
		err = os.CopyFS(folder, files)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestSlowJointsWalk: the pony with the 1.57 rad/s of its first description at every joint walks, slowly, by gaits that are derived: it lifts its feet
// less and takes longer steps. It made 9 mm in 16 s by crawling, and trotted backwards.
func TestSlowJointsWalk(t *testing.T) {
	folder := copyOfPony(t)
	file := filepath.Join(folder, "pony.urdf")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	slow := regexp.MustCompile(`velocity="(9|6\.2832)"`).ReplaceAll(text, []byte(`velocity="1.5708"`))
	if err := os.WriteFile(file, slow, 0o644); err != nil || len(slow) == len(text) {
		t.Fatal(err)
	}
	pony := loaded(t, folder, load.Options{})
	if m := other(t, pony, 1, "crawl", 0.05, 16, 9); m.speed < 0.010 || m.tilt > 2 {
		t.Errorf("crawl: %v", m)
	}
	if m := other(t, pony, 1, "trot", 0.05, 12, 7); m.speed < 0.022 || m.tilt > 2 {
		t.Errorf("trot: %v", m)
	}
}

// TestSoakOtherRobots: 5 m of go2 at 0.3 m/s, with the limits that `poise new-robot` proposes and without, 2 m of the hexapod, in cycles 1 and 2.
func TestSoakOtherRobots(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK")
	}
	for cycle := 1; cycle <= 2; cycle++ {
		for _, limits := range []bool{true, false} {
			if m := other(t, setUp(t, "go2", limits), cycle, "trot", 0.5, 22, 10); m.speed < 0.3 || m.way < 5 {
				t.Errorf("go2 in cycle %d, limits %v: %v", cycle, limits, m)
			}
		}
		if m := other(t, FromLoaded(walks.Hexapod(t)), cycle, "trot", 0.1, 30, 10); m.way < 2 {
			t.Errorf("the hexapod in cycle %d: %v", cycle, m)
		}
	}
}

// TestG1StepsInPlace: a robot with two legs, from its bare URDF with its contacts set up by Poise, shifts its weight and takes
// ten steps in place in physics, in cycles 1 and 2: its feet leave the ground and come down by turns. It begins on straight legs, whose knees
// bend forwards from the first tick on; they bent backwards to their limits and jumped, by 314 rad/s². In cycle 2 it fell before its first
// step, as forces had to act at one corner of each sole.
func TestG1StepsInPlace(t *testing.T) {
	for cycle := 1; cycle <= 2; cycle++ {
		t.Run(fmt.Sprint("cycle ", cycle), func(t *testing.T) { stepInPlace(t, cycle) })
	}
}

func stepInPlace(t *testing.T, cycle int) {
	p := prepare(t, setUp(t, "g1", false), fmt.Sprintf("duration: 9\nperiod: 0.01\ncontrol: {cycle: %d}\ndo: [{at: 0.2, velocity: {}, gait: in_place}]\n", cycle))
	const abrupt = 40  // rad/s², of joints while it gets ready
	const upright = 4. // °
	feet := []string{"left_ankle_roll_link", "right_ankle_roll_link"}
	touches, steps := make([]bool, len(feet)), walks.Steps{}
	var before []float64
	r, err := p.Run(1, Watch{Frame: func(f *Frame) {
		for j, v := range f.V {
			if len(before) > 0 && f.T > 0.25 && f.T < 0.9 && math.Abs(v-before[j]) > abrupt*0.01 {
				t.Errorf("%.2f s: coordinate %d goes from %.2f to %.2f rad/s", f.T, j, before[j], v)
			}
		}
		before = append(before[:0], f.V...)
		for i, foot := range feet {
			touches[i] = slices.ContainsFunc(f.Contacts, func(c ContactFrame) bool { return c.Link == foot })
		}
		steps.Look(touches)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Notes {
		t.Error(n)
	}
	tilt := r.Figures["tilt"].Greatest * 180 / math.Pi
	t.Logf("%d steps, tilt %.1f°", steps.Made, tilt)
	if r.Fallen || steps.Made < 10 || tilt > upright {
		t.Errorf("fallen %v, %d steps, tilt %.1f°", r.Fallen, steps.Made, tilt)
	}
}
